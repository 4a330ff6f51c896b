"""HTML: the text that a reader of the page sees.

Block elements are paragraphs (a blank line between them), `<br>`, list items and table rows are lines, table cells are
separated by a tab, and `<pre>` is verbatim; all other white space collapses as in a browser. So a plain text and its
HTML rendering have the same paragraphs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipeline.extract.decode import decode_page
from pipeline.extract.plain import check_length
from pipeline.extract.records import Extracted, Source

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNSEEN = _words(
    "head title script style template noscript noframes iframe object svg canvas audio video datalist rp "
    "annotation annotation-xml -comment !doctype"
)
_PARAGRAPHS = _words(
    "html body address article aside blockquote caption center details dialog div dl fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend main nav p search section summary table"
)
_LINES = _words("dd dt li optgroup option tr")
_LISTS = _words("dir menu ol ul")
_CELLS = _words("td th")
_VERBATIM = _words("listing plaintext pre textarea xmp")
_VOID = _words("area base br col embed hr img input link meta param source track wbr")

_BLANKS = re.compile("[ \t\n\r\f]+")  # what CSS collapses; a no-break space stays
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_XHTML = re.compile(rb"\s*(?:<\?xml\b|<!DOCTYPE\s[^>]{0,80}XHTML)", re.I)
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*?)?)/>")


def extract_html(source: Source) -> Extracted:
    """The visible text. Raises `ExtractionFailed` when the bytes are not text."""
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    decoded = decode_page(source.data)
    page = decoded.text
    if source.name.lower().endswith((".xhtml", ".xht")) or _XHTML.match(source.data[:256]):
        # To an HTML parser <script/> is a start tag, and would swallow the rest of the page.
        page = _SELF_CLOSED.sub(_open_and_close, page)
    try:
        # "scripting": <noscript> then is one text, as for a reader's browser, and is left out as a whole
        parser = LexborHTMLParser(page, scripting=True)
    except SelectolaxError as error:
        raise MemoryError from error  # nothing is wrong enough to be no HTML
    text = _visible_text(parser)
    check_length(len(text), source.max_chars)
    return Extracted("html", text, warnings=decoded.warnings)


def _open_and_close(tag: re.Match[str]) -> str:
    name = tag[1]
    return tag[0] if name.lower() in _VOID else f"<{name}{tag[2]}></{name}>"


def _visible_text(parser: LexborHTMLParser) -> str:
    """Walks by hand, for it needs to know when an element ends, and never recurses: pages nest as deep as they like."""
    root = parser.root
    if root is None:
        return ""
    hidden = _hidden_elements(parser)
    writer = _Writer()
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag or ""
        below = None
        if tag == "-text":
            writer.text(node.text_content or "")
        elif tag not in _UNSEEN and not (hidden and node.mem_id in hidden):
            writer.enter(tag)
            below = node.first_child
            if below is None:
                writer.leave(tag)
        if below is not None:
            node = below
            continue
        while (following := node.next) is None:
            node = node.parent
            if node is None or node.mem_id == root.mem_id:
                return writer.result()
            writer.leave(node.tag or "")
        node = following
    return writer.result()


def _hidden_elements(parser: LexborHTMLParser) -> set[int]:
    hidden = {node.mem_id for node in parser.css("[hidden], dialog:not([open])")}
    for node in parser.css("[style]"):
        if _HIDING.search(node.attributes.get("style") or ""):
            hidden.add(node.mem_id)
    return hidden


class _Writer:
    """Collects text; separators wait until the next text shows that they separate something."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._breaks = 0  # line ends due before the next text: 1 a line, 2 a paragraph
        self._tabs = 0  # table cells begun on this line since the last text
        self._blank = False  # a space is due before the next text on this line
        self._lists = 0  # how many lists we are in
        self._verbatim = 0  # how many <pre> we are in
        self._lines = 0  # line ends written, to know whether a cell took more than one line
        self._rows: list[tuple[int, int]] = []  # of each open row: cells begun, parts before its text
        self._cells: list[int] = []  # of each open cell: `_lines` where its text began, -1 while it has none
        self._cell_fresh = False  # at the start of a cell, whose first block must not break the row

    def result(self) -> str:
        return "".join(self._parts)

    def text(self, text: str) -> None:
        if self._verbatim:
            self._write_verbatim(text)
            return
        text = _BLANKS.sub(" ", text).replace("\u00ad", "")
        body = text.strip(" ")
        if not body:
            self._blank = self._blank or bool(text)
            return
        self._separate(spaced=self._blank or text[0] == " ")
        self._parts.append(body)
        self._blank = text[-1] == " "

    def enter(self, tag: str) -> None:
        if tag == "br":
            if self._verbatim:
                self._write_verbatim("\n")
            else:
                self._break(min(2, self._breaks + 1))
        elif tag in _CELLS:
            self._enter_cell()
        elif tag in _LISTS:
            self._break(1 if self._lists else 2)
            self._lists += 1
        else:
            if tag == "tr":
                self._rows.append((0, len(self._parts)))
            self._block(tag)
            if tag in _VERBATIM:
                self._verbatim += 1

    def leave(self, tag: str) -> None:
        if tag == "br":
            return
        if tag in _CELLS:
            if self._cells.pop() == self._lines:
                self._breaks = 0  # one line of text, whatever blocks it stood in
            self._cell_fresh = False
        elif tag in _LISTS:
            self._lists -= 1
            self._break(1 if self._lists else 2)
        else:
            if tag in _VERBATIM:
                self._verbatim -= 1
                self._end_verbatim()
            if tag == "tr":
                self._rows.pop()
                self._tabs = 0
            self._block(tag)

    def _enter_cell(self) -> None:
        if self._rows:
            cells, parts = self._rows[-1]
            if cells and (not self._breaks or len(self._parts) == parts):  # no tab behind a cell of several paragraphs
                self._tabs += 1
            self._rows[-1] = (cells + 1, parts)
        self._blank = False
        self._cells.append(-1)
        self._cell_fresh = True

    def _block(self, tag: str) -> None:
        if tag in _PARAGRAPHS or (tag in _VERBATIM and tag != "textarea"):
            self._break(2)
        elif tag in _LINES or tag == "textarea":
            self._break(1)

    def _break(self, lines: int) -> None:
        self._blank = False
        if not self._cell_fresh:
            self._breaks = max(self._breaks, lines)

    def _separate(self, *, spaced: bool) -> None:
        if self._parts:
            if self._breaks or self._tabs:
                self._parts.append("\n" * self._breaks + "\t" * self._tabs)
                self._lines += self._breaks
            elif spaced:
                self._parts.append(" ")
        self._breaks = self._tabs = 0
        if self._cell_fresh:
            self._cell_fresh = False
            self._cells[-1] = self._lines

    def _write_verbatim(self, text: str) -> None:
        if text:
            self._separate(spaced=self._blank)
            self._blank = False
            self._parts.append(text)
            self._lines += text.count("\n")

    def _end_verbatim(self) -> None:
        while self._parts and not (kept := self._parts[-1].rstrip("\r\n")):
            self._parts.pop()
        if self._parts:
            self._parts[-1] = kept
