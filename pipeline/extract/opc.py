"""What DOCX, PPTX and XLSX have in common: parts that refer to each other, and drawings in DrawingML."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import partial

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.flow import Flow
from pipeline.extract.package import Package, beside, walked, without_escapes
from pipeline.extract.sax import Attributes, Rules, value

_TABLE = {"a:tbl": "table", "a:tr": "tr", "a:tc": "td"}
_KINDS = {"word": "docx", "ppt": "pptx", "xl": "xlsx"}


@dataclass(frozen=True, slots=True)
class Relation:
    """`kind` is the last part of its type (`footnotes`); `target` is a part's name."""

    kind: str
    target: str


def relations(package: Package, part: str) -> dict[str, Relation]:
    """What a part refers to, by id; an empty `part` is the package itself. Links to outside are left out, and what a
    damaged list would say."""
    folder, name = posixpath.split(part)
    place = posixpath.join(folder, "_rels", f"{name}.rels")
    if not package.has(place):
        return {}
    found: dict[str, Relation] = {}

    def take(attributes: Attributes) -> None:
        if value(attributes, "TargetMode") != "External":
            target = without_escapes(value(attributes, "Target"))
            kind = value(attributes, "Type").rpartition("/")[2]
            found[value(attributes, "Id")] = Relation(kind, beside(part, target.partition("#")[0]))

    walked(package, place, Rules({"rel:Relationship": take}))
    return found


def main_part(package: Package) -> str:
    """The document itself. Empty when there is none: then it is no Office file."""
    main = next((r.target for r in relations(package, "").values() if r.kind == "officeDocument"), "")
    usual = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml")
    return main if package.has(main) else next((part for part in usual if package.has(part)), "")


def office_kind(main: str) -> str:
    """`docx`, `pptx` or `xlsx`, after the folder of its main part; empty for a drawing or whatever else there is."""
    if main.endswith(".bin"):
        raise ExtractionFailed("a binary workbook: save it as XLSX", "old_format")
    return _KINDS.get(main.partition("/")[0].lower(), "")


def choices() -> Rules:
    """Of alternative contents (`mc:AlternateContent`) takes the first choice only: all of them say the same."""
    taken: list[bool] = []

    def choose(attributes: Attributes) -> bool:
        if taken and not taken[-1]:
            taken[-1] = True
            return False
        return bool(taken)

    return Rules(
        {"mc:AlternateContent": lambda _: taken.append(False), "mc:Choice": choose, "mc:Fallback": choose},
        {"mc:AlternateContent": taken.pop},
    )


class DrawingText:
    """Paragraphs of DrawingML (`a:p`) and its tables: slides, notes, diagrams, shapes."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow  # where they go
        self.tag = "p"  # what a paragraph is
        self.leave_out = False  # whether paragraphs are read and not kept
        self._pieces: list[str] = []
        self._inside = False
        alternatives = choices()
        self.rules = Rules(
            {
                **alternatives.starts,
                "a:p": lambda _: self._pieces.clear(), "a:t": self._begin, "a:br": lambda _: self._pieces.append("\n"),
                "a:fld": self._is_slide_number,
                **{name: partial(self._enter, tag) for name, tag in _TABLE.items()},
            },
            {
                **alternatives.ends,
                "a:p": self._end, "a:t": self._stop,
                **{name: partial(self._leave, tag) for name, tag in _TABLE.items()},
            },
            self._text,
        )  # fmt: skip

    def _enter(self, tag: str, attributes: Attributes) -> None:
        self.flow.enter(tag)

    def _leave(self, tag: str) -> None:
        self.flow.leave(tag)

    @staticmethod
    def _is_slide_number(attributes: Attributes) -> bool:
        return value(attributes, "type") == "slidenum"

    def _begin(self, attributes: Attributes) -> None:
        self._inside = True

    def _stop(self) -> None:
        self._inside = False

    def _text(self, text: str) -> None:
        if self._inside:
            self._pieces.append(text)

    def _end(self) -> None:
        if not self.leave_out:
            self.flow.paragraph(self.tag, "".join(self._pieces))
        self._pieces.clear()


def diagram_text(package: Package, part: str, max_chars: int) -> str:
    """The words of a diagram (SmartArt); empty when it cannot be read."""
    drawing = DrawingText(Flow(max_chars))
    drawing.tag = "li"
    walked(package, part, drawing.rules)
    return drawing.flow.result()
