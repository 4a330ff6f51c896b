"""Rows as CSV that a spreadsheet reads as data and never as formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from pipeline.words.plain import lines_of

# What spreadsheets take for the beginning of a formula, their full-width forms among them.
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
Cell = str | int | float | bool | None


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """RFC 4180, with the byte order mark by which spreadsheets know UTF-8. Texts that would be formulas get an
    apostrophe before them, and what cannot be seen is named; numbers are numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_safe(name) for name in header])
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return "\N{ZERO WIDTH NO-BREAK SPACE}" + out.getvalue()


def _safe(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    # NULs end a cell, or the file, in some readers; half characters cannot be written; a terminal obeys its codes.
    text = lines_of(cell, len(cell))
    return f"'{text}" if text.lstrip(" \N{NO-BREAK SPACE}").startswith(_FORMULA) else text
