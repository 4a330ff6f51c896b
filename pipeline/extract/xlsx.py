"""XLSX: each sheet's name and its rows, cells as they are shown (the cached results of formulas). A page is a sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.extract.cells import MAX_CELLS, Rows, cell_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.flow import Flow
from pipeline.extract.opc import DrawingText, Relation, main_part, relations
from pipeline.extract.package import DamagedPart, Package, read_part, walk_part, walked
from pipeline.extract.pages import put_together
from pipeline.extract.plain import check_length, clean
from pipeline.extract.records import Extracted
from pipeline.extract.sax import Attributes, Rules, parse, value
from pipeline.extract.xlsx_formats import NumberFormats

_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_COLUMN = re.compile("[A-Za-z]{1,3}")
_ALL_SHOWN = ("", "visible")


def read_xlsx(package: Package, max_chars: int) -> Extracted:
    """Sheets that are hidden or cannot be read are named in `warnings`. Raises `ExtractionFailed` where none can."""
    main = main_part(package)
    related = relations(package, main)
    workbook = _Workbook()
    walk_part(package, main, workbook.rules())
    parts = {relation.kind: relation.target for relation in related.values()}
    unread: list[str] = []
    strings = _Strings(max_chars)
    if "sharedStrings" in parts and not walked(package, parts["sharedStrings"], strings.rules()):
        unread.append("some of the texts")
    styles = _Styles()
    if "styles" in parts and not walked(package, parts["styles"], styles.rules()):
        unread.append("the number formats")
    formats = NumberFormats.of(styles.ids, styles.codes, from_1904=workbook.from_1904)

    texts: list[str] = []
    hidden: list[str] = []
    failed = 0
    cells = MAX_CELLS
    for name, relation_id, state in workbook.sheets:
        relation = related.get(relation_id, Relation("worksheet", ""))
        sheet = _Sheet(strings.items, formats, Rows(max_chars, cells))
        body = ""
        if state not in _ALL_SHOWN:
            hidden.append(name)
        else:
            if relation.kind == "worksheet" and not _read(package, relation.target, sheet):
                unread.append(f"sheet {name}")
                failed += 1
            body = "\n\n".join(filter(None, (sheet.rows.text(), _shapes(package, relation.target, max_chars))))
        cells -= sheet.rows.cells
        texts.append(clean(f"{name}\n\n{body}") if body else "")
    if workbook.sheets and failed == len(workbook.sheets) and not any(texts):
        raise ExtractionFailed("a damaged XLSX: none of its sheets can be read")
    text, pages = put_together(texts, max_chars)
    warnings = [f"{', '.join(unread[:20])} could not be read"] if unread else []
    if hidden:
        warnings.append(f"hidden and left out: {', '.join(hidden[:20])}")
    return Extracted("xlsx", text, pages, tuple(map(clean, warnings)))


def _read(package: Package, part: str, sheet: _Sheet) -> bool:
    """False when it is damaged; `sheet` then has what stands before."""
    try:
        read_part(package, part, sheet.read)
    except DamagedPart:
        return False
    return True


def _shapes(package: Package, sheet: str, max_chars: int) -> str:
    """What stands in the text boxes and shapes that lie on a sheet."""
    drawing = DrawingText(Flow(max_chars))
    for relation in relations(package, sheet).values():
        if relation.kind == "drawing":
            walked(package, relation.target, drawing.rules)
    return drawing.flow.result()


class _Workbook:
    """The sheets: name, id of the relation to its part, state."""

    def __init__(self) -> None:
        self.sheets: list[tuple[str, str, str]] = []
        self.from_1904 = False

    def rules(self) -> Rules:
        return Rules({"x:sheet": self._sheet, "x:workbookPr": self._properties})

    def _sheet(self, attributes: Attributes) -> None:
        self.sheets.append((value(attributes, "name"), value(attributes, "id"), value(attributes, "state")))

    def _properties(self, attributes: Attributes) -> None:
        self.from_1904 = value(attributes, "date1904") in ("1", "true")


class _Styles:
    """Number formats: `ids` by cell style, `codes` of those that the workbook defines itself."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.codes: dict[int, str] = {}

    def rules(self) -> Rules:
        return Rules(
            {
                "x:numFmt": self._code, "x:xf": self._cell_style,
                "x:cellStyleXfs": lambda _: True, "x:dxfs": lambda _: True,
            }
        )  # fmt: skip

    def _code(self, attributes: Attributes) -> None:
        self.codes[_number(value(attributes, "numFmtId"))] = value(attributes, "formatCode")

    def _cell_style(self, attributes: Attributes) -> None:
        self.ids.append(_number(value(attributes, "numFmtId")))


class _Strings:
    """The texts that cells share, without how they are pronounced."""

    def __init__(self, max_chars: int) -> None:
        self.items: list[str] = []
        self._max_chars = max_chars
        self._chars = 0
        self._pieces: list[str] = []
        self._inside = False

    def rules(self) -> Rules:
        return Rules(
            {"x:t": self._begin, "x:rPh": lambda _: True}, {"x:t": self._stop, "x:si": self._end}, self._text
        )  # fmt: skip

    def _begin(self, attributes: Attributes) -> None:
        self._inside = True

    def _stop(self) -> None:
        self._inside = False

    def _text(self, text: str) -> None:
        if self._inside:
            self._pieces.append(text)

    def _end(self) -> None:
        text = cell_text(_without_escapes("".join(self._pieces)))
        self._pieces.clear()
        self._chars += len(text)
        check_length(self._chars, self._max_chars)
        self.items.append(text)


class _Sheet:
    """The rows of one sheet."""

    def __init__(self, strings: Sequence[str], formats: NumberFormats, rows: Rows) -> None:
        self.rows = rows
        self._strings, self._formats = strings, formats
        self._columns: dict[str, int] = {}

    def read(self, data: bytes) -> None:
        """One call a sheet, and local variables: a sheet has hundreds of thousands of cells."""
        pieces: list[str] = []
        cells: list[tuple[int, str]] = []  # of this row: the column, the text
        inside = False
        row = column = 0
        cell: Attributes = {}

        def start(full: str, attributes: Attributes) -> None:
            nonlocal inside, cell, row, column
            name = full[full.rfind("}") + 1 :]
            if name in ("v", "t"):
                inside = True
            elif name == "c":
                cell = attributes
                pieces.clear()
            elif name == "row":
                number = attributes.get("r", "")
                row = int(number) if number.isdecimal() and len(number) < 9 else row + 1
                column = 0
                cells.clear()

        def end(full: str) -> None:
            nonlocal inside, column
            name = full[full.rfind("}") + 1 :]
            if name in ("v", "t"):
                inside = False
            elif name == "rPh":  # how the text is pronounced
                pieces.clear()
            elif name == "c":
                column = self._column(cell.get("r", "")) or column + 1
                if pieces:
                    cells.append((column, self._shown("".join(pieces), cell.get("t", "n"), cell.get("s", "0"))))
            elif name == "row":
                self.rows.add(row, cells)

        def text(piece: str) -> None:
            if inside:
                pieces.append(piece)

        parse(data, start, end, text)

    def _column(self, reference: str) -> int:
        """The number in `BC23`, from 1; 0 when there is none."""
        letters = reference.rstrip("0123456789")
        number = self._columns.get(letters)
        if number is None:
            number = 0
            for letter in letters.upper() if _COLUMN.fullmatch(letters) else "":
                number = number * 26 + ord(letter) - 64
            self._columns[letters] = number
        return number

    def _shown(self, raw: str, kind: str, style: str) -> str:
        if kind == "s":
            index = _number(raw)
            return self._strings[index] if 0 <= index < len(self._strings) else ""
        if kind == "n":
            return self._formats.shown(raw.strip(), _number(style))
        if kind == "b":
            return "FALSE" if raw.strip() == "0" else "TRUE"
        return cell_text(_without_escapes(raw))


def _without_escapes(text: str) -> str:
    """`_x000D_` and the like are characters that XML cannot hold."""
    return _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text) if "_x" in text else text


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return -1
