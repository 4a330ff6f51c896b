"""Two documents side by side as rows: what differs in full, what is common folded. Owns no truth: it shows a
comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import zip_longest
from typing import Any, Literal

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.family_difference import Comparison, Part, Stretch, in_rows
from pipeline.words.phrases import count

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
FETCHED = 60  # rows at a time


class CompareRole(IntEnum):
    """What a row can be asked for beside its text."""

    ROW = Qt.ItemDataRole.UserRole + 1  # CompareRow


@dataclass(frozen=True, slots=True)
class CompareRow:
    """A line of the comparison. A `fold` stands for common words, shown or not; a `text` row has its two sides."""

    kind: Literal["fold", "text"]
    stretch: int  # which stretch of the comparison it belongs to
    left: tuple[Part, ...] = ()
    right: tuple[Part, ...] = ()
    words: int = 0
    open: bool = False
    differs: bool = False

    @property
    def sentence(self) -> str:
        """What a fold says."""
        is_, them = ("is", "it") if self.words == 1 else ("are", "them")
        return f"{count(self.words, 'word')} {is_} the same" + ("" if self.open else f": show {them}")


class ComparisonRows(QAbstractListModel):
    """Rows of one comparison; every stretch of common words can be unfolded and folded."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._comparison: Comparison | None = None
        self._rows: list[CompareRow] = []
        self._coming: Iterator[CompareRow] = iter(())  # rows that were not asked for yet
        self._next: CompareRow | None = None  # the first of them
        self._open: set[int] = set()

    def show(self, comparison: Comparison | None) -> None:
        """Show this comparison, everything common folded; None shows none."""
        self.beginResetModel()
        self._comparison, self._open = comparison, set()
        self._coming = self._all() if comparison is not None else iter(())
        self._next = next(self._coming, None)
        self._rows = self._taken(FETCHED)
        self.endResetModel()

    def _all(self) -> Iterator[CompareRow]:
        stretches = self._comparison.stretches if self._comparison is not None else ()
        for number, stretch in enumerate(stretches):
            yield from self._rows_of(number, stretch)

    def _taken(self, most: int) -> list[CompareRow]:
        """The next rows, at most so many."""
        taken: list[CompareRow] = []
        while self._next is not None and len(taken) < most:
            taken.append(self._next)
            self._next = next(self._coming, None)
        return taken

    def canFetchMore(self, parent: Index = _NOWHERE) -> bool:
        return self._next is not None

    def fetchMore(self, parent: Index = _NOWHERE) -> None:
        """Each row is measured before it is shown; a long comparison is so a few at a time."""
        rows = self._taken(FETCHED)
        if rows:
            self.beginInsertRows(_NOWHERE, len(self._rows), len(self._rows) + len(rows) - 1)
            self._rows += rows
            self.endInsertRows()

    @property
    def rows(self) -> list[CompareRow]:
        return self._rows

    def toggle(self, at: int) -> None:
        """Unfold or fold the common words that the row at `at` stands for."""
        comparison = self._comparison
        if comparison is None or not 0 <= at < len(self._rows) or self._rows[at].differs:
            return
        number = self._rows[at].stretch
        first = next(place for place, row in enumerate(self._rows) if row.stretch == number)
        held = sum(row.stretch == number for row in self._rows)
        self._open ^= {number}
        made = list(self._rows_of(number, comparison.stretches[number]))
        if len(made) > held:
            self.beginInsertRows(_NOWHERE, first + 1, first + len(made) - held)
            self._rows[first : first + held] = made
            self.endInsertRows()
        else:
            self.beginRemoveRows(_NOWHERE, first + 1, first + held - len(made))
            self._rows[first : first + held] = made
            self.endRemoveRows()
        self.dataChanged.emit(self.index(first), self.index(first))

    def next_difference(self, at: int, step: int = 1) -> int | None:
        """The next place from here, in this direction, where the two differ."""
        own = self._rows[at].stretch if 0 <= at < len(self._rows) else None
        place = at + step
        while place >= 0:
            if place >= len(self._rows):
                if self._next is None:
                    return None
                self.fetchMore()
            row = self._rows[place]
            if row.differs and row.stretch != own:
                while place > 0 and self._rows[place - 1].stretch == row.stretch:
                    place -= 1
                return place
            place += step
        return None

    def _rows_of(self, number: int, stretch: Stretch) -> Iterator[CompareRow]:
        opened = number in self._open
        if stretch.same:
            yield CompareRow("fold", number, words=stretch.words, open=opened)
        if not stretch.same or opened:
            for left, right in zip_longest(in_rows(stretch.left), in_rows(stretch.right)):
                yield CompareRow("text", number, left or (), right or (), differs=not stretch.same)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        at = index.row()
        if not 0 <= at < len(self._rows):
            return None
        row = self._rows[at]
        if role == CompareRole.ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row_text(row)
        return None


def row_text(row: CompareRow) -> str:
    """A row for screen readers and the clipboard."""
    if row.kind == "fold":
        return row.sentence
    left, right = ("".join(part.text for part in side) for side in (row.left, row.right))
    return f"Left: {left}\nRight: {right}" if row.differs else left
