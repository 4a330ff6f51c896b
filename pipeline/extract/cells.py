"""Rows of cells -> lines, the same for every kind of spreadsheet: cells parted by tabs, a gap between rows ends a
paragraph, nothing for what is empty."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.plain import check_length

MAX_CELLS = 2_000_000  # with something in them, in one workbook
TOO_MANY_CELLS = f"too many cells: more than {MAX_CELLS:,}"
_MOST_TABS = 8  # between two cells, however many empty ones there are


class Rows:
    """One sheet. Raises `ExtractionFailed` when it has more characters or cells than it may."""

    def __init__(self, max_chars: int, max_cells: int = MAX_CELLS) -> None:
        self.cells = 0
        self._max_chars, self._max_cells = max_chars, max_cells
        self._chars = 0
        self._lines: list[str] = []
        self._last_row = 0  # the last one that had text

    def text(self) -> str:
        return "\n".join(self._lines)

    def add(self, row: int, cells: Sequence[tuple[int, str]]) -> None:
        """The row of this number, its cells in order by the number of their column. Numbers count from 1."""
        parts: list[str] = []
        last = 0
        for column, text in cells:
            if text:
                if parts:
                    parts.append("\t" * max(1, min(column - last, _MOST_TABS)))
                parts.append(text)
                last = column
                self.cells += 1
                self._chars += len(text) + 1
                if self.cells > self._max_cells:
                    raise ExtractionFailed(TOO_MANY_CELLS, "too_large")
                if self._chars > self._max_chars:  # before a cell that is repeated a million times is written out
                    check_length(self._chars, self._max_chars)
        if not parts:
            return
        if self._lines and row > self._last_row + 1:
            parts.insert(0, "\n")
        self._last_row = row
        self._lines.append("".join(parts))


def cell_text(text: str) -> str:
    """A text as it stands in its cell: on lines of its own where it has some, but no tab, which parts cells."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").strip()
