"""Rows read from the pages of a SQLite file one by one, without its head, its schema or its trees.

For files that SQLite refuses: what stands on a page that is whole can still be read. See https://sqlite.org/fileformat.html
("B-tree Pages", "Record Format", "The Write-Ahead Log").
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

Value = int | float | str | bytes | None
Row = tuple[Value, ...]

_TABLE_LEAF, _INDEX_LEAF = 0x0D, 0x0A
_HEAD_BYTES = 100  # of the file, at the beginning of its first page
_LOG_HEAD, _FRAME_HEAD = 32, 24
_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_MOST_COLUMNS = 64


class PageRows:
    """Iterates over the rows of all leaf pages that can be made out, those of the log beside the file included.
    Rows with overflow pages are passed over."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._log = file.with_name(f"{file.name}-wal")

    def __iter__(self) -> Iterator[Row]:
        pages = self._newest_pages()
        for page in sorted(pages):
            yield from pages[page]

    def _newest_pages(self) -> dict[int, list[Row]]:
        """Rows by page number; a page in the log stands for the older one in the file."""
        pages: dict[int, list[Row]] = {}
        size = 4096
        if self._file.is_file():
            with self._file.open("rb") as stream:
                size = _page_size(stream.read(_HEAD_BYTES), size)
                stream.seek(0)
                number = 0
                while page := stream.read(size):
                    number += 1
                    if rows := _rows_of(page, _HEAD_BYTES if number == 1 else 0):
                        pages[number] = rows
        if self._log.is_file():
            with self._log.open("rb") as stream:
                stream.seek(_LOG_HEAD)
                while len(frame := stream.read(_FRAME_HEAD + size)) == _FRAME_HEAD + size:
                    number = int.from_bytes(frame[:4], "big")
                    pages[number] = _rows_of(frame[_FRAME_HEAD:], _HEAD_BYTES if number == 1 else 0)
        return pages


def _page_size(head: bytes, otherwise: int) -> int:
    stated = int.from_bytes(head[16:18], "big")
    stated = 65_536 if stated == 1 else stated
    return stated if stated in {1 << power for power in range(9, 17)} else otherwise


def _rows_of(page: bytes, start: int) -> list[Row]:
    if len(page) < start + 8 or page[start] not in (_TABLE_LEAF, _INDEX_LEAF):
        return []
    rows: list[Row] = []
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    for cell in range(count):
        place = start + 8 + 2 * cell
        at = int.from_bytes(page[place : place + 2], "big")
        try:
            rows.append(_row_at(page, at, has_rowid=page[start] == _TABLE_LEAF))
        except (IndexError, ValueError):
            continue  # overwritten, or continued on another page
    return rows


def _row_at(page: bytes, at: int, *, has_rowid: bool) -> Row:
    """Raises IndexError or ValueError when no whole row stands there."""
    length, at = _varint(page, at)
    if has_rowid:
        _, at = _varint(page, at)
    end = at + length
    if end > len(page):
        raise ValueError("it goes on elsewhere")
    header, position = _varint(page, at)
    body = at + header
    values: list[Value] = []
    while position < at + header:
        kind, position = _varint(page, position)
        value, body = _value(page, body, kind)
        values.append(value)
        if body > end or len(values) > _MOST_COLUMNS:
            raise ValueError("no row")
    return tuple(values)


def _value(page: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in (0, 8, 9):
        return (None if kind == 0 else kind - 8), at
    if kind in _WIDTHS:
        end = at + _WIDTHS[kind]
        return int.from_bytes(page[at:end], "big", signed=True), end
    if kind == 7:
        return 0.0, at + 8  # no row that is looked for holds one
    if kind < 12:
        raise ValueError("no such kind")
    end = at + (kind - 12) // 2
    return (page[at:end] if kind % 2 == 0 else page[at:end].decode("utf-8")), end


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(9):
        byte = page[at + step]
        if step == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    raise ValueError("unreachable")
