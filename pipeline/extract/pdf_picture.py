"""One page of a PDF as a picture, with a passage of its text marked. Runs in a reading process, as the extractor does.

The passage is found again by its characters: what the extractor put together (wrapped lines, hyphenated words, broken
pages) and what PDFium gives now differ in white space and hyphens, and in nothing else while the file is the same.
"""

from __future__ import annotations

import ctypes
import math
import re
from typing import TYPE_CHECKING, Any

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.pdf import opened_pdf, text_units
from pipeline.extract.records import Box, PagePicture, PageWanted

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

MOST_PIXELS = 12_000_000  # 48 MB; a sheet of any size is drawn smaller rather than not at all
MOST_WIDTH = 4_000
_MOST_MARKS = 4_000
_FEWEST = 12  # characters that must agree where a passage is found by its two ends only
_ENDS = 48
# Not compared: white space, hyphens (the extractor joins words over lines), controls, halves of pairs, noncharacters.
_PASSED_OVER = re.compile("[\\s\x00-\x20\x7f-\xa0\xad\u2010\u2011\\-\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffd-\uffff]")


def draw_page(data: bytes, wanted: PageWanted) -> PagePicture:
    """Raises `ExtractionFailed` when the file or the page cannot be drawn; MemoryError goes through."""
    from pypdfium2 import PdfiumError

    document = opened_pdf(data)
    try:
        if not 1 <= wanted.page <= len(document):
            raise ExtractionFailed(f"it has {len(document)} pages now, and no page {wanted.page}")
        try:
            page = document[wanted.page - 1]
        except PdfiumError as error:
            raise ExtractionFailed(f"page {wanted.page} is damaged") from error
        try:
            return _draw(page, wanted, len(document))
        except (PdfiumError, ValueError) as error:  # a size of nothing, too
            raise ExtractionFailed(f"page {wanted.page} cannot be drawn") from error
        finally:
            page.close()
    finally:
        document.close()


def _draw(page: PdfPage, wanted: PageWanted, pages: int) -> PagePicture:
    across, down = page.get_size()
    if not (across > 0 and down > 0 and math.isfinite(across * down)):
        raise ExtractionFailed(f"page {wanted.page} has no size")
    width = min(max(wanted.width, 1), MOST_WIDTH)
    scale = min(width / across, wanted.scale or math.inf, math.sqrt(MOST_PIXELS / (across * down)))
    if min(across, down) * scale < 1:
        raise ExtractionFailed(f"page {wanted.page} is too narrow to be drawn")
    bitmap = page.render(scale=scale, prefer_bgrx=True, may_draw_forms=False)
    try:
        marks = _marks(page, wanted, bitmap.width, bitmap.height)
        return PagePicture(
            page=wanted.page,
            pages=pages,
            width=bitmap.width,
            height=bitmap.height,
            stride=bitmap.stride,
            pixels=bytes(bitmap.buffer),
            marks=marks,
        )
    finally:
        bitmap.close()


# --- the passage on the page ---------------------------------------------------------------------------------------


def _marks(page: PdfPage, wanted: PageWanted, width: int, height: int) -> tuple[Box, ...]:
    if wanted.start >= wanted.end:
        return ()
    text_page = page.get_textpage()
    try:
        span = span_on_page(text_units(text_page), wanted.text, wanted.start, wanted.end)
        if span is None:
            return ()
        return _boxes(page, text_page, span, width, height)
    finally:
        text_page.close()


def span_on_page(units: str, text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where `text[start:end]` stands in a page's characters; None where it does not. `text` is what the extractor
    made of the page: how much of it stands before the passage tells one of several equal passages from the others."""
    known, at = _compared(units)
    passage, _ = _compared(_as_units(text[start:end]))
    if not passage:
        return None
    expected = len(_compared(_as_units(text[:start]))[0])
    found = _nearest(known, passage, expected)
    if found is not None:
        return at[found], at[found + len(passage) - 1] + 1
    if len(passage) < 2 * _FEWEST:
        return None
    # A sign in the middle that reads otherwise now: both ends have to be there, about as far apart.
    length = min(_ENDS, max(_FEWEST, len(passage) // 4))
    first = _nearest(known, passage[:length], expected)
    last = _nearest(known, passage[-length:], expected + len(passage) - length)
    if first is None or last is None or abs(last + length - first - len(passage)) > len(passage) // 10 + 8:
        return None
    return at[first], at[last + length - 1] + 1


def _nearest(known: str, passage: str, expected: int) -> int | None:
    after = known.find(passage, max(0, expected))
    before = known.rfind(passage, 0, expected + len(passage))
    found = [place for place in (before, after) if place >= 0]
    return min(found, key=lambda place: abs(place - expected)) if found else None


def _compared(units: str) -> tuple[str, list[int]]:
    """The characters that are compared, and the place of each."""
    at = [place for place, unit in enumerate(units) if not _PASSED_OVER.match(unit)]
    return "".join(units[place] for place in at), at


def _as_units(text: str) -> str:
    """One character a UTF-16 unit, as PDFium counts."""
    if text.isascii():
        return text
    raw = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(raw[i] | raw[i + 1] << 8) for i in range(0, len(raw), 2))


def _boxes(page: PdfPage, text_page: PdfTextPage, span: tuple[int, int], width: int, height: int) -> tuple[Box, ...]:
    """Boxes of the characters in pixels, one a line of text as it stands there."""
    import pypdfium2.raw as pdfium

    first, last = span
    count = min(max(0, pdfium.FPDFText_CountRects(text_page, first, last - first)), _MOST_MARKS)
    edges = [ctypes.c_double() for _ in range(4)]
    found: list[Box] = []
    for index in range(count):
        if not pdfium.FPDFText_GetRect(text_page, index, *edges):
            continue
        left, top, right, bottom = (edge.value for edge in edges)
        corners = [_pixel(pdfium, page, width, height, x, y) for x, y in ((left, top), (right, bottom))]
        (x1, y1), (x2, y2) = corners
        found.append(Box(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1)))
    return tuple(_joined([box for box in found if box.width > 0 and box.height > 0]))


def _pixel(pdfium: Any, page: PdfPage, width: int, height: int, x: float, y: float) -> tuple[int, int]:
    """A point of the page in the picture, whatever the page's rotation and crop."""
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, across, down)
    return across.value, down.value


def _joined(boxes: list[Box]) -> list[Box]:
    """Pieces of one line (a word in bold, a space between) as one box."""
    lines: list[Box] = []
    for box in boxes:
        last = lines[-1] if lines else None
        if last is not None:
            overlap = min(last.top + last.height, box.top + box.height) - max(last.top, box.top)
            gap = max(box.left - (last.left + last.width), last.left - (box.left + box.width))
            if overlap * 2 > min(last.height, box.height) and gap < 2 * max(last.height, box.height):
                lines[-1] = _around(last, box)
                continue
        lines.append(box)
    return lines


def _around(one: Box, other: Box) -> Box:
    left, top = min(one.left, other.left), min(one.top, other.top)
    right = max(one.left + one.width, other.left + other.width)
    return Box(left, top, right - left, max(one.top + one.height, other.top + other.height) - top)
