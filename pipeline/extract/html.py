"""HTML: the text that a reader of the page sees, laid out by `pipeline.extract.flow`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipeline.extract.decode import decode_page
from pipeline.extract.flow import Flow
from pipeline.extract.records import Extracted, Source

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNSEEN = _words(
    "head title script style template noscript noframes iframe object svg canvas audio video datalist rp "
    "annotation annotation-xml -comment !doctype"
)
_VOID = _words("area base br col embed hr img input link meta param source track wbr")

_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_XHTML = re.compile(rb"\s*(?:<\?xml\b|<!DOCTYPE\s[^>]{0,80}XHTML)", re.I)
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*?)?)/>")


def extract_html(source: Source) -> Extracted:
    """The visible text. Raises `ExtractionFailed` when the bytes are not text."""
    decoded = decode_page(source.data)
    is_xhtml = source.name.lower().endswith((".xhtml", ".xht")) or _XHTML.match(source.data[:256]) is not None
    text = visible_text(decoded.text, source.max_chars, is_xhtml=is_xhtml)
    return Extracted("html", text, warnings=decoded.warnings)


def visible_text(page: str, max_chars: int, *, is_xhtml: bool = False) -> str:
    """What a reader of this page sees. Raises `ExtractionFailed` when it is more than `max_chars`."""
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    if is_xhtml:
        # To an HTML parser <script/> is a start tag, and would swallow the rest of the page.
        page = _SELF_CLOSED.sub(_open_and_close, page)
    try:
        # "scripting": <noscript> then is one text, as for a reader's browser, and is left out as a whole
        parser = LexborHTMLParser(page, scripting=True)
    except SelectolaxError as error:
        raise MemoryError from error  # nothing is wrong enough to be no HTML
    return _laid_out(parser, max_chars)


def _open_and_close(tag: re.Match[str]) -> str:
    name = tag[1]
    return tag[0] if name.lower() in _VOID else f"<{name}{tag[2]}></{name}>"


def _laid_out(parser: LexborHTMLParser, max_chars: int) -> str:
    """Walks by hand, for it needs to know when an element ends, and never recurses: pages nest as deep as they like."""
    root = parser.root
    if root is None:
        return ""
    hidden = _hidden_elements(parser)
    flow = Flow(max_chars)
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag or ""
        below = None
        if tag == "-text":
            flow.text(node.text_content or "")
        elif tag not in _UNSEEN and not (hidden and node.mem_id in hidden):
            flow.enter(tag)
            below = node.first_child
            if below is None:
                flow.leave(tag)
        if below is not None:
            node = below
            continue
        while (following := node.next) is None:
            node = node.parent
            if node is None or node.mem_id == root.mem_id:
                return flow.result()
            flow.leave(node.tag or "")
        node = following
    return flow.result()


def _hidden_elements(parser: LexborHTMLParser) -> set[int]:
    hidden = {node.mem_id for node in parser.css("[hidden], dialog:not([open])")}
    for node in parser.css("[style]"):
        if _HIDING.search(node.attributes.get("style") or ""):
            hidden.add(node.mem_id)
    return hidden
