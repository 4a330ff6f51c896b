"""XML: the text between its tags. Elements are paragraphs, short ones beside each other lines; an element in the middle
of a text is part of it. No DTD is looked up, no external entity, nothing on the network.

A file that is not well-formed is read as the plain text that it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pipeline.extract.decode import decode_page
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.html import visible_text
from pipeline.extract.odf import extract_flat_odf
from pipeline.extract.plain import check_length, clean
from pipeline.extract.records import Extracted, Source
from pipeline.extract.sax import Attributes, NotWellFormed, parse

_BLANKS = re.compile(r"[ \t\r\n]+")
_ROOT = re.compile(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
_MARKUP = re.compile(r"</?(?:p|br|div|a|b|i|em|strong|ul|ol|li|img|span|table|h[1-6])\b[^<>]*>", re.I)
_FEEDS = ("rss", "feed", "RDF")  # their texts are web pages of their own
_UNSEEN = ("style", "script", "metadata")  # of a drawing
_SVG = "http://www.w3.org/2000/svg"
_MAX_DEPTH = 10_000
_MAX_ELEMENTS = 4_000_000
_SHORT = 80  # characters, up to which neighbours are lines


def extract_xml(source: Source) -> Extracted:
    """Raises `ExtractionFailed` when it is no text, or a bomb of entities."""
    decoded = decode_page(source.data)
    found = _ROOT.search(decoded.text[:20_000])
    root = found[1] if found else ""
    if root == "html":
        return Extracted("html", visible_text(decoded.text, source.max_chars, is_xhtml=True), warnings=decoded.warnings)
    if root == "document" and "urn:oasis:names:tc:opendocument" in decoded.text[:20_000]:
        return extract_flat_odf(source)
    reader = _Reader(source.max_chars, is_feed=root in _FEEDS)
    try:
        parse(decoded.text.encode("utf-8"), reader.start, reader.end, reader.text, encoding="utf-8")
    except NotWellFormed as error:
        check_length(len(decoded.text), source.max_chars)
        warning = f"{error.reason}: read as plain text"
        return Extracted("text", decoded.text, warnings=(*decoded.warnings, warning))
    text = clean(reader.result())
    check_length(len(text), source.max_chars)
    return Extracted("xml", text, warnings=decoded.warnings)


@dataclass(slots=True)
class _Element:
    number: int
    mixed: bool = False  # whether text stands directly in it, so that elements in it are part of a sentence


@dataclass(slots=True)
class _Reader:
    max_chars: int
    is_feed: bool
    _open: list[_Element] = field(default_factory=lambda: [_Element(0)])
    _count: int = 0
    _pieces: list[str] = field(default_factory=list)
    _chars: int = 0
    _parent: int = 0  # of the block that is being collected: the number of the element around its element
    _skipped: int = 0
    _parts: list[str] = field(default_factory=list)
    _last: tuple[int, int] = (0, 0)  # of the last block: its parent, its length

    def start(self, full: str, attributes: Attributes) -> None:
        namespace, _, name = full.rpartition("}")
        if self._skipped or (namespace == _SVG and name in _UNSEEN):
            self._skipped += 1
            return
        if not self._open[-1].mixed:
            self._flush()
        self._count += 1
        if self._count > _MAX_ELEMENTS:
            raise ExtractionFailed(f"too many elements: more than {_MAX_ELEMENTS:,}", "too_large")
        if len(self._open) > _MAX_DEPTH:
            raise ExtractionFailed(f"nested too deeply: more than {_MAX_DEPTH:,} levels", "too_large")
        self._open.append(_Element(self._count))

    def end(self, full: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        self._open.pop()

    def text(self, text: str) -> None:
        if self._skipped:
            return
        if text.isspace():
            if self._pieces:
                self._pieces.append(text)
            return
        element = self._open[-1]
        if not self._pieces:
            self._parent = self._open[-2].number if len(self._open) > 1 else 0
        element.mixed = True  # also when it began with an element: that was part of this text
        self._pieces.append(text)
        self._chars += len(text)
        if self._chars > self.max_chars:
            check_length(self._chars, self.max_chars)

    def result(self) -> str:
        self._flush()
        return "".join(self._parts)

    def _flush(self) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        if self.is_feed and _MARKUP.search(text):
            text = visible_text(text, self.max_chars)
        else:
            text = _BLANKS.sub(" ", text).strip()
        if not text:
            return
        parent, length = self._last
        if self._parts:
            close = parent == self._parent and max(length, len(text)) <= _SHORT
            self._parts.append("\n" if close else "\n\n")
            self._chars += 1
        self._last = (self._parent, len(text))
        self._parts.append(text)
