"""DOCX: what a reader of the printed document sees, changes accepted.

Headings, paragraphs, list items and tables in order, text boxes behind the paragraph that holds them; then footnotes,
endnotes, and each header and footer once. It has no pages: where they break is known only when it is laid out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pipeline.extract.flow import Flow
from pipeline.extract.opc import Relation, choices, diagram_text, main_part, relations
from pipeline.extract.package import Package, walk_part, walked
from pipeline.extract.plain import check_length, clean, says_something
from pipeline.extract.records import Extracted
from pipeline.extract.sax import Attributes, Rules, value

_OFF = ("0", "false", "off", "none")
_SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")
_MAX_STYLE_DEPTH = 20  # more, and they refer to each other in a circle


def read_docx(package: Package, max_chars: int) -> Extracted:
    """Raises `ExtractionFailed` when the document itself cannot be read; of its other parts a warning tells."""
    main = main_part(package)
    related = relations(package, main)
    kinds = {relation.kind: relation.target for relation in related.values()}
    unread: list[str] = []

    styles = _Styles()
    if "styles" in kinds and not walked(package, kinds["styles"], styles.rules()):
        styles = _Styles()
    body = _Body(package, styles, related, max_chars)
    walk_part(package, main, body.rules())
    texts = [body.result()]
    for kind in ("footnotes", "endnotes"):
        if kind in kinds:
            notes = _Body(package, styles, relations(package, kinds[kind]), max_chars)
            if not walked(package, kinds[kind], notes.rules()):
                unread.append(f"the {kind}")
            texts.append(notes.result())
    margins, damaged = _margins(package, styles, [related[i] for i in body.margin_ids if i in related], max_chars)
    texts += margins
    unread += damaged
    text = clean("\n\n".join(filter(None, texts)))
    check_length(len(text), max_chars)
    warnings = [f"{' and '.join(unread)} could not be read"] if unread else []
    if body.holds_foreign_parts:
        warnings.append("it holds other files, which are not read")
    return Extracted("docx", text, warnings=tuple(warnings))


def _margins(package: Package, styles: _Styles, margins: list[Relation], max_chars: int) -> tuple[list[str], list[str]]:
    """Each header and footer that says something of its own, and which could not be read."""
    texts: dict[str, None] = {}
    unread: dict[str, None] = {}
    for margin in dict.fromkeys(margins):
        content = _Body(package, styles, relations(package, margin.target), max_chars)
        if walked(package, margin.target, content.rules()):
            if says_something(text := content.result()):
                texts[text] = None
        else:
            unread[f"a {margin.kind}"] = None
    return list(texts), list(unread)


@dataclass(slots=True)
class _Styles:
    """Which paragraph styles make list items, and which make headings."""

    numbered: dict[str, bool] = field(default_factory=dict)
    headings: set[str] = field(default_factory=set)
    bases: dict[str, str] = field(default_factory=dict)
    default: str = ""
    _style: str = ""

    def rules(self) -> Rules:
        return Rules(
            {
                "w:style": self._begin, "w:basedOn": self._based, "w:numId": self._numbered,
                "w:outlineLvl": self._outlined, "w:pPrChange": lambda _: True,
            }
        )  # fmt: skip

    def is_item(self, style: str) -> bool:
        """A heading with a number is no list item."""
        chain = list(self._chain(style or self.default))
        if any(one in self.headings for one in chain):
            return False
        return next((self.numbered[one] for one in chain if one in self.numbered), False)

    def is_heading(self, style: str) -> bool:
        return any(one in self.headings for one in self._chain(style))

    def _chain(self, style: str) -> Iterator[str]:
        for _ in range(_MAX_STYLE_DEPTH):
            if not style:
                return
            yield style
            style = self.bases.get(style, "")

    def _begin(self, attributes: Attributes) -> bool:
        self._style = value(attributes, "styleId")
        if value(attributes, "type") != "paragraph":
            return True
        if value(attributes, "default") in ("1", "true", "on"):
            self.default = self._style
        return False

    def _based(self, attributes: Attributes) -> None:
        self.bases[self._style] = value(attributes, "val")

    def _numbered(self, attributes: Attributes) -> None:
        self.numbered[self._style] = value(attributes, "val") != "0"

    def _outlined(self, attributes: Attributes) -> None:
        if value(attributes, "val") != "9":  # body text
            self.headings.add(self._style)


@dataclass(slots=True)
class _Paragraph:
    pieces: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)  # what stands in text boxes that hang on it
    style: str = ""
    numbered: bool | None = None  # None: as its style says
    outlined: bool = False
    goes_on: bool = False  # its end was deleted: the next paragraph belongs to it


@dataclass(slots=True)
class _Story:
    """A run of paragraphs: the body, a cell, a text box. `listing` is whether its last one was a list item."""

    listing: bool = False
    carried: list[str] = field(default_factory=list)


class _Body:
    """Reads a part that holds paragraphs: the document, its notes, a header."""

    def __init__(self, package: Package, styles: _Styles, related: dict[str, Relation], max_chars: int) -> None:
        self.margin_ids: list[str] = []  # the headers and footers that its sections refer to
        self.holds_foreign_parts = False
        self._package, self._styles, self._related, self._max_chars = package, styles, related, max_chars
        self._flows = [Flow(max_chars)]
        self._stories = [_Story()]
        self._paragraphs: list[_Paragraph] = []
        self._fields: list[bool] = []  # of each open field: whether its result has begun
        self._in_properties = self._in_text = self._hidden = False
        self._in_row_properties = self._row_deleted = False

    def result(self) -> str:
        """All of it, also when it ended too early."""
        self._end_story()
        return self._flows[0].result()

    def rules(self) -> Rules:
        alternatives = choices()
        out = self._leave_out
        return Rules(
            {
                **alternatives.starts,
                "w:p": self._begin_paragraph, "w:pPr": self._begin_properties, "w:pStyle": self._style,
                "w:numId": self._numbered, "w:outlineLvl": self._outlined, "w:r": self._begin_run,
                "w:vanish": self._vanish, "w:t": self._begin_text, "m:t": self._begin_text,
                "w:tab": self._tab, "w:ptab": self._tab, "w:br": self._break, "w:cr": self._break,
                "w:noBreakHyphen": self._hyphen, "w:sym": self._symbol, "w:fldChar": self._field,
                "w:del": self._deleted, "w:moveFrom": self._deleted, "w:rt": out,
                "w:pPrChange": out, "w:rPrChange": out, "w:sectPrChange": out, "w:trPrChange": out,
                "w:tcPrChange": out, "w:tblPrChange": out, "w:tblPrExChange": out, "w:numberingChange": out,
                "w:tbl": self._begin_table, "w:tr": self._begin_row, "w:tc": self._begin_cell,
                "w:trPr": self._begin_row_properties,
                "w:txbxContent": self._begin_box, "w:footnote": self._begin_note, "w:endnote": self._begin_note,
                "w:headerReference": self._margin, "w:footerReference": self._margin,
                "w:altChunk": self._foreign, "dgm:relIds": self._diagram,
            },
            {
                **alternatives.ends,
                "w:p": self._end_paragraph, "w:pPr": self._end_properties, "w:r": self._end_run,
                "w:t": self._end_text, "m:t": self._end_text, "w:trPr": self._end_row_properties,
                "w:tbl": self._end_table, "w:tr": lambda: self._flow.leave("tr"), "w:tc": self._end_cell,
                "w:txbxContent": self._end_box, "w:footnote": self._end_story, "w:endnote": self._end_story,
            },
            self._text,
        )  # fmt: skip

    @property
    def _flow(self) -> Flow:
        return self._flows[-1]

    @staticmethod
    def _leave_out(attributes: Attributes) -> bool:
        return True

    # --- paragraphs ---

    def _begin_paragraph(self, attributes: Attributes) -> None:
        self._paragraphs.append(_Paragraph())

    def _begin_properties(self, attributes: Attributes) -> None:
        self._in_properties = True

    def _end_properties(self) -> None:
        self._in_properties = False

    def _style(self, attributes: Attributes) -> None:
        if self._paragraphs:
            self._paragraphs[-1].style = value(attributes, "val")

    def _numbered(self, attributes: Attributes) -> None:
        if self._paragraphs and self._in_properties:
            self._paragraphs[-1].numbered = value(attributes, "val") != "0"

    def _outlined(self, attributes: Attributes) -> None:
        if self._paragraphs and self._in_properties:
            self._paragraphs[-1].outlined = value(attributes, "val") != "9"

    def _end_paragraph(self) -> None:
        paragraph = self._paragraphs.pop()
        story = self._stories[-1]
        if paragraph.goes_on:
            story.carried += paragraph.pieces
        else:
            text = "".join([*story.carried, *paragraph.pieces])
            story.carried = []
            self._write(text, is_item=self._is_item(paragraph))
        for box in paragraph.boxes:
            self._flow.insert(box)

    def _is_item(self, paragraph: _Paragraph) -> bool:
        if paragraph.numbered is None:
            return self._styles.is_item(paragraph.style) and not paragraph.outlined
        return paragraph.numbered and not paragraph.outlined and not self._styles.is_heading(paragraph.style)

    def _write(self, text: str, *, is_item: bool) -> None:
        story = self._stories[-1]
        if is_item != story.listing and not text.isspace() and text:
            story.listing = is_item
            (self._flow.enter if is_item else self._flow.leave)("ul")
        self._flow.paragraph("li" if is_item else "p", text)

    def _end_story(self) -> None:
        """What was to go on has nowhere to; a list ends."""
        story = self._stories[-1]
        if story.carried:
            self._write("".join(story.carried), is_item=False)
        if story.listing:
            self._flow.leave("ul")
        self._stories[-1] = _Story()

    # --- runs ---

    def _begin_run(self, attributes: Attributes) -> None:
        self._hidden = False

    def _end_run(self) -> None:
        self._hidden = False

    def _vanish(self, attributes: Attributes) -> None:
        if not self._in_properties and value(attributes, "val") not in _OFF:
            self._hidden = True

    def _begin_text(self, attributes: Attributes) -> None:
        self._in_text = True

    def _end_text(self) -> None:
        self._in_text = False

    def _text(self, text: str) -> None:
        if self._in_text:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._paragraphs and not self._hidden and all(self._fields):
            self._paragraphs[-1].pieces.append(text)

    def _tab(self, attributes: Attributes) -> None:
        if not self._in_properties:  # there it is a tab stop
            self._add("\t")

    def _break(self, attributes: Attributes) -> None:
        self._add("\n")

    def _hyphen(self, attributes: Attributes) -> None:
        self._add("\u2011")

    def _symbol(self, attributes: Attributes) -> None:
        """A character of a symbol font, which mostly has no meaning outside of it."""
        try:
            code = int(value(attributes, "char"), 16)
        except ValueError:
            return
        if 0x20 <= code < 0xE000:
            self._add(chr(code))

    def _field(self, attributes: Attributes) -> None:
        step = value(attributes, "fldCharType")
        if step == "begin":
            self._fields.append(False)
        elif step == "separate" and self._fields:
            self._fields[-1] = True
        elif step == "end" and self._fields:
            self._fields.pop()

    # --- changes that were tracked ---

    def _deleted(self, attributes: Attributes) -> bool:
        if self._in_properties and self._paragraphs:
            self._paragraphs[-1].goes_on = True  # it is the paragraph's end that was deleted
        elif self._in_row_properties:
            self._row_deleted = True
        return True

    # --- tables, boxes, notes ---

    def _begin_table(self, attributes: Attributes) -> None:
        self._end_story()
        self._flow.enter("table")

    def _end_table(self) -> None:
        self._flow.leave("table")

    def _begin_row(self, attributes: Attributes) -> None:
        self._row_deleted = False
        self._flow.enter("tr")

    def _begin_row_properties(self, attributes: Attributes) -> None:
        self._in_row_properties = True

    def _end_row_properties(self) -> None:
        self._in_row_properties = False

    def _begin_cell(self, attributes: Attributes) -> bool:
        if self._row_deleted:
            return True
        self._stories.append(_Story())
        self._flow.enter("td")
        return False

    def _end_cell(self) -> None:
        self._end_story()
        self._stories.pop()
        self._flow.leave("td")

    def _begin_box(self, attributes: Attributes) -> None:
        self._flows.append(Flow(self._max_chars))
        self._stories.append(_Story())

    def _end_box(self) -> None:
        self._end_story()
        self._stories.pop()
        self._hang_on(self._flows.pop().result())

    def _hang_on(self, text: str) -> None:
        if not text:
            return
        if self._paragraphs:
            self._paragraphs[-1].boxes.append(text)
        else:
            self._flow.insert(text)

    def _begin_note(self, attributes: Attributes) -> bool:
        return value(attributes, "type") in _SEPARATORS

    def _diagram(self, attributes: Attributes) -> None:
        relation = self._related.get(value(attributes, "dm"))
        if relation is not None:
            self._hang_on(diagram_text(self._package, relation.target, self._max_chars))

    def _margin(self, attributes: Attributes) -> None:
        self.margin_ids.append(value(attributes, "id"))

    def _foreign(self, attributes: Attributes) -> None:
        self.holds_foreign_parts = True
