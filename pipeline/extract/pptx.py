"""PPTX: of each slide its title, its other texts and tables in order, and the speaker's notes. A page is a slide."""

from __future__ import annotations

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.flow import Flow
from pipeline.extract.opc import DrawingText, diagram_text, main_part, relations
from pipeline.extract.package import Package, walk_part, walked
from pipeline.extract.pages import put_together, some_numbers
from pipeline.extract.plain import clean
from pipeline.extract.records import Extracted
from pipeline.extract.sax import Attributes, Rules, value

_TITLES = ("title", "ctrTitle")
_LISTS = ("body", "obj", "")  # placeholders whose paragraphs are bullets, unless the slide says otherwise
_EVERY_SLIDE = ("ftr", "hdr")
_NO_TEXT = ("sldNum", "dt", "sldImg")


def read_pptx(package: Package, max_chars: int) -> Extracted:
    """Slides that cannot be read are named in `warnings`. Raises `ExtractionFailed` where none can."""
    main = main_part(package)
    related = relations(package, main)
    ids: list[str] = []

    def take(attributes: Attributes) -> None:
        # Its own id is called the same as the relation's, but for the namespace.
        ids.append(next((found for name, found in attributes.items() if name.endswith("}id")), ""))

    walk_part(package, main, Rules({"p:sldId": take}))
    parts = [related[i].target if i in related else "" for i in ids]
    footers: dict[str, None] = {}
    texts: list[str] = []
    unread: list[int] = []
    for number, part in enumerate(parts, 1):
        slide = _Slide(package, part, max_chars)
        if not slide.read():
            unread.append(number)
        footers |= slide.footers
        texts.append(slide.text)
    if parts and len(unread) == len(parts) and not any(texts):
        raise ExtractionFailed("a damaged PPTX: none of its slides can be read")
    if footers and texts:  # the same on every slide, so once
        texts[0] = "\n\n".join(filter(None, (texts[0], *footers)))
    text, pages = put_together(map(clean, texts), max_chars)
    named = "slide" if len(unread) == 1 else "slides"
    warnings = (f"{named} {some_numbers(unread)} could not be read",) if unread else ()
    return Extracted("pptx", text, pages, warnings)


class _Slide:
    """One slide and its notes."""

    def __init__(self, package: Package, part: str, max_chars: int) -> None:
        self.text = ""
        self.footers: dict[str, None] = {}
        self._package, self._part, self._max_chars = package, part, max_chars
        self._related = relations(package, part)
        self._title, self._rest, self._footer = Flow(max_chars), Flow(max_chars), Flow(max_chars)
        self._drawing = DrawingText(self._rest)
        self._listing = False
        self._is_notes = False

    def read(self) -> bool:
        """False when something could not be read; `text` is then what could."""
        complete = walked(self._package, self._part, self._rules())
        self._is_notes = True
        for relation in self._related.values():
            if relation.kind == "notesSlide":
                complete &= walked(self._package, relation.target, self._rules())
        self.text = "\n\n".join(filter(None, (self._title.result(), self._rest.result())))
        self.footers = dict.fromkeys(filter(None, [clean(self._footer.result())]))
        return complete

    def _rules(self) -> Rules:
        drawing = self._drawing.rules
        return Rules(
            {
                **drawing.starts,
                "p:sp": self._begin_shape, "p:ph": self._placeholder, "dgm:relIds": self._diagram,
            },
            {**drawing.ends, "p:sp": self._end_shape},
            drawing.text,
        )  # fmt: skip

    def _begin_shape(self, attributes: Attributes) -> None:
        self._drawing.flow, self._drawing.tag = self._rest, "p"
        self._drawing.leave_out = self._is_notes  # but for the notes themselves

    def _placeholder(self, attributes: Attributes) -> None:
        kind = value(attributes, "type")
        drawing = self._drawing
        if self._is_notes:
            drawing.leave_out = kind != "body"
            return
        drawing.leave_out = kind in _NO_TEXT
        if kind in _TITLES:
            drawing.flow = self._title
        elif kind in _EVERY_SLIDE:
            drawing.flow = self._footer
        elif kind in _LISTS:
            drawing.tag = "li"
            self._rest.enter("ul")
            self._listing = True

    def _end_shape(self) -> None:
        if self._listing:
            self._rest.leave("ul")
            self._listing = False
        self._drawing.flow, self._drawing.tag, self._drawing.leave_out = self._rest, "p", False

    def _diagram(self, attributes: Attributes) -> None:
        relation = self._related.get(value(attributes, "dm"))
        if relation is not None:
            text = diagram_text(self._package, relation.target, self._max_chars)
            if text:
                self._rest.insert(text)
