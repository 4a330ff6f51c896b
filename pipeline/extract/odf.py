"""OpenDocument: ODT, ODS, ODP and ODG, packed or flat (one XML file).

Texts as DOCX: body, then notes, then each header and footer once, deleted text left out. A page is a sheet of a
spreadsheet (cells as they are shown, which the file holds) or a slide (with its notes).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from pipeline.extract.cells import MAX_CELLS, TOO_MANY_CELLS, Rows, cell_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.flow import Flow
from pipeline.extract.package import ENCRYPTED, Package, walk_part, walked
from pipeline.extract.pages import put_together
from pipeline.extract.plain import check_length, clean, says_something
from pipeline.extract.records import Extracted, Source
from pipeline.extract.sax import Attributes, NotWellFormed, Rules, value, walk

_KINDS = {"office:text": "odt", "office:spreadsheet": "ods", "office:presentation": "odp", "office:drawing": "odg"}
_MARGINS = ("header", "header-left", "header-first", "footer", "footer-left", "footer-first")
_EVERY_SLIDE = ("date-time", "page-number", "header", "footer")
_UNSEEN = (
    "text:tracked-changes", "text:note-citation", "text:ruby-text", "text:hidden-text", "text:hidden-paragraph",
    "office:annotation", "office:forms", "office:binary-data", "office:scripts", "svg:title", "svg:desc",
)  # fmt: skip
_MOST_SPACES = 100


def read_odf(package: Package, max_chars: int) -> Extracted:
    """Raises `ExtractionFailed` when the document itself cannot be read."""
    manifest = "META-INF/manifest.xml"
    if package.has(manifest) and b"encryption-data" in package.read(manifest):
        raise ExtractionFailed(ENCRYPTED, "encrypted")
    reader = _Document(max_chars)
    walk_part(package, "content.xml", reader.rules())
    complete = not package.has("styles.xml") or walked(package, "styles.xml", reader.rules())
    return reader.result(() if complete else ("headers and footers could not be read",))


def extract_flat_odf(source: Source) -> Extracted:
    """One XML file. Raises `ExtractionFailed` when it is none of ours."""
    reader = _Document(source.max_chars)
    try:
        walk(source.data, reader.rules())
    except NotWellFormed as error:
        raise ExtractionFailed(f"a damaged OpenDocument file: {error.reason}") from error
    return reader.result(())


@dataclass(slots=True)
class _Place:
    """Where paragraphs go, and how many lists they are in there."""

    flow: Flow
    lists: int = 0


@dataclass(slots=True)
class _Paragraph:
    pieces: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)  # what hangs on it


@dataclass(slots=True)
class _Sheet:
    """The sheet of a spreadsheet that is being read: its row and its cell so far."""

    name: str
    rows: Rows
    shapes: Flow
    row: int = 1
    row_repeated: int = 1
    column: int = 1
    column_repeated: int = 1
    cells: list[tuple[int, str]] = field(default_factory=list)
    cell: list[str] | None = None  # the paragraphs of the open cell


class _Document:
    """Reads `content.xml` and `styles.xml`, or the two in one."""

    def __init__(self, max_chars: int) -> None:
        self.kind = ""
        self._max_chars = max_chars
        self._cells = MAX_CELLS  # that may still come
        self._body = Flow(max_chars)
        self._pages: list[str] = []
        self._notes: list[str] = []
        self._margins: dict[str, None] = {}
        self._places: list[_Place] = []
        self._paragraphs: list[list[_Paragraph]] = [[]]  # open ones, by place
        self._sheet: _Sheet | None = None
        self._style = ""
        self._hidden_styles: set[str] = set()
        self._hidden_sheets: list[str] = []

    def result(self, warnings: tuple[str, ...]) -> Extracted:
        if not self.kind:
            raise ExtractionFailed("not an OpenDocument file: it has no body")
        if self._hidden_sheets:
            warnings = (*warnings, f"hidden and left out: {', '.join(self._hidden_sheets[:20])}")
        if self.kind != "odt":
            text, pages = put_together(map(clean, self._pages), self._max_chars)
            return Extracted(self.kind, text, pages, tuple(map(clean, warnings)))
        text = clean("\n\n".join(filter(None, [self._body.result(), *self._notes, *self._margins])))
        check_length(len(text), self._max_chars)
        return Extracted(self.kind, text, warnings=warnings)

    def rules(self) -> Rules:
        def unseen(attributes: Attributes) -> bool:
            return True

        return Rules(
            {
                **dict.fromkeys(_UNSEEN, unseen),
                **{name: partial(self._begin_body, kind) for name, kind in _KINDS.items()},
                **{f"style:{name}": self._begin_margin for name in _MARGINS},
                "style:style": self._begin_style, "style:text-properties": self._display,
                "style:table-properties": self._display,
                "text:p": self._begin_paragraph, "text:h": self._begin_paragraph, "text:span": self._span,
                "text:s": self._spaces, "text:tab": lambda _: self._text("\t"),
                "text:line-break": lambda _: self._text("\n"),
                "text:section": self._section, "text:list": self._begin_list,
                "text:note-body": self._begin_place, "draw:text-box": self._begin_place,
                "draw:page": self._begin_place, "draw:frame": self._frame,
                "table:table": self._begin_table, "table:table-row": self._begin_row,
                "table:table-cell": self._begin_cell, "table:covered-table-cell": self._covered_cell,
            },
            {
                "office:text": self._places.clear,
                **{f"style:{name}": self._end_margin for name in _MARGINS},
                "text:p": self._end_paragraph, "text:h": lambda: self._end_paragraph(heading=True),
                "text:list": self._end_list, "text:note-body": lambda: self._notes.append(self._end_place()),
                "draw:text-box": lambda: self._hang_on(self._end_place()),
                "draw:page": lambda: self._pages.append(self._end_place()),
                "table:table": self._end_table, "table:table-row": self._end_row, "table:table-cell": self._end_cell,
            },
            self._text,
        )  # fmt: skip

    # --- styles: only what hides something ---

    def _begin_style(self, attributes: Attributes) -> None:
        self._style = value(attributes, "name")

    def _display(self, attributes: Attributes) -> None:
        if value(attributes, "display") in ("none", "false"):
            self._hidden_styles.add(self._style)

    def _is_hidden(self, attributes: Attributes) -> bool:
        return value(attributes, "style-name") in self._hidden_styles

    def _span(self, attributes: Attributes) -> bool:
        return self._is_hidden(attributes)

    def _section(self, attributes: Attributes) -> bool:
        return value(attributes, "display") == "none"

    def _frame(self, attributes: Attributes) -> bool:
        return self.kind == "odp" and value(attributes, "class") in _EVERY_SLIDE

    # --- places ---

    def _begin_body(self, kind: str, attributes: Attributes) -> None:
        self.kind = kind
        if kind == "odt":
            self._places.append(_Place(self._body))

    def _begin_place(self, attributes: Attributes) -> None:
        self._places.append(_Place(Flow(self._max_chars)))
        self._paragraphs.append([])

    def _end_place(self) -> str:
        self._paragraphs.pop()
        return self._places.pop().flow.result()

    def _hang_on(self, text: str) -> None:
        """On the paragraph that a text box stands in."""
        if self._paragraphs[-1]:
            self._paragraphs[-1][-1].boxes.append(text)
        elif text and (flow := self._flow) is not None:
            flow.insert(text)

    def _begin_margin(self, attributes: Attributes) -> bool:
        if value(attributes, "display") == "false":
            return True
        self._begin_place(attributes)
        return False

    def _end_margin(self) -> None:
        if says_something(text := self._end_place()):
            self._margins[text] = None

    @property
    def _flow(self) -> Flow | None:
        if self._places:
            return self._places[-1].flow
        return self._sheet.shapes if self._sheet is not None else None

    # --- paragraphs ---

    def _begin_paragraph(self, attributes: Attributes) -> bool:
        if self._is_hidden(attributes):
            return True
        self._paragraphs[-1].append(_Paragraph())
        return False

    def _text(self, text: str) -> None:
        if self._paragraphs[-1]:
            self._paragraphs[-1][-1].pieces.append(text)

    def _spaces(self, attributes: Attributes) -> None:
        count = value(attributes, "c") or "1"
        self._text(" " * min(int(count) if count.isdecimal() else 1, _MOST_SPACES))

    def _end_paragraph(self, *, heading: bool = False) -> None:
        paragraph = self._paragraphs[-1].pop()
        text = "".join(paragraph.pieces)
        if self._paragraphs[-1]:  # it stands in a shape, and the shape in a paragraph
            self._paragraphs[-1][-1].boxes += [text, *paragraph.boxes]
            return
        if self._sheet is not None and self._sheet.cell is not None and not self._places:
            self._sheet.cell.append(cell_text(text))
            return
        flow = self._flow
        if flow is not None:
            in_list = bool(self._places and self._places[-1].lists) and not heading
            flow.paragraph("li" if in_list else "p", text)
            for box in filter(None, paragraph.boxes):
                flow.insert(box)

    def _begin_list(self, attributes: Attributes) -> None:
        if self._places:
            self._places[-1].lists += 1
            self._places[-1].flow.enter("ul")

    def _end_list(self) -> None:
        if self._places:
            self._places[-1].lists -= 1
            self._places[-1].flow.leave("ul")

    # --- tables, and the sheets of a spreadsheet ---

    def _begin_table(self, attributes: Attributes) -> bool:
        if self._places:
            self._places[-1].flow.enter("table")
        elif self.kind == "ods" and self._sheet is None:
            name = value(attributes, "name")
            if self._is_hidden(attributes):
                self._hidden_sheets.append(name)
                self._pages.append("")
                return True
            self._sheet = _Sheet(name, Rows(self._max_chars, self._cells), Flow(self._max_chars))
        return False

    def _end_table(self) -> None:
        if self._places:
            self._places[-1].flow.leave("table")
        elif (sheet := self._sheet) is not None:
            self._sheet = None
            self._cells -= sheet.rows.cells
            body = "\n\n".join(filter(None, (sheet.rows.text(), sheet.shapes.result())))
            self._pages.append(f"{sheet.name}\n\n{body}" if body else "")

    def _begin_row(self, attributes: Attributes) -> None:
        if self._places:
            self._places[-1].flow.enter("tr")
        elif self._sheet is not None:
            self._sheet.cells.clear()
            self._sheet.column = 1
            self._sheet.row_repeated = _count(attributes, "number-rows-repeated")

    def _end_row(self) -> None:
        if self._places:
            self._places[-1].flow.leave("tr")
        elif (sheet := self._sheet) is not None:
            for row in range(sheet.row, sheet.row + sheet.row_repeated) if sheet.cells else ():
                sheet.rows.add(row, sheet.cells)
            sheet.row += sheet.row_repeated

    def _begin_cell(self, attributes: Attributes) -> None:
        if self._places:
            place = self._places[-1]
            place.flow.enter("td")
            self._places.append(_Place(place.flow))  # lists around the table do not make its paragraphs items
            self._paragraphs.append([])
        elif self._sheet is not None:
            self._sheet.column_repeated = _count(attributes, "number-columns-repeated")
            self._sheet.cell = []

    def _end_cell(self) -> None:
        if self._places:
            self._paragraphs.pop()
            self._places.pop()
            self._places[-1].flow.leave("td")
        elif (sheet := self._sheet) is not None and sheet.cell is not None:
            text = "\n".join(filter(None, sheet.cell))
            if text:
                if len(sheet.cells) + sheet.column_repeated > MAX_CELLS:
                    raise ExtractionFailed(TOO_MANY_CELLS, "too_large")
                columns = range(sheet.column, sheet.column + sheet.column_repeated)
                sheet.cells += [(column, text) for column in columns]
            sheet.column += sheet.column_repeated
            sheet.cell = None

    def _covered_cell(self, attributes: Attributes) -> bool:
        if self._sheet is not None and not self._places:
            self._sheet.column += _count(attributes, "number-columns-repeated")
        return True


def _count(attributes: Attributes, name: str) -> int:
    count = value(attributes, name)
    return max(1, int(count)) if count.isdecimal() and len(count) < 10 else 1
