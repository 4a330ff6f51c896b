"""PDF, through PDFium: the text layer of each page, its lines put together into paragraphs.

PDFium gives characters in the order of the page's content, with line ends where the writing position jumps, and U+FFFE
in place of a hyphen at a line's end. Positions of a few characters per line tell paragraphs from wrapped lines.
"""

from __future__ import annotations

import ctypes
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.pdf_layout import Blocks, Line, Vocabulary, page_separator, pitch_of
from pipeline.extract.plain import check_length
from pipeline.extract.records import Extracted, Source
from pipeline.records import Page

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfTextPage

MAGIC = b"%PDF-"
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
_HYPHEN = "\ufffe"
_USUAL_SIZE = 10.0  # points, where PDFium knows none
_BREAKS = re.compile(f"(\r\n|[\r\n]|{_HYPHEN})")
# Controls, noncharacters and lone surrogates that broken fonts map to: they are no text.
_JUNK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def extract_pdf(source: Source) -> Extracted:
    """Text and pages. Pages that cannot be read are named in `warnings`; pages without a text layer are empty spans.

    Raises `ExtractionFailed` for encrypted and damaged files, and where no page can be read.
    """
    document = opened_pdf(source.data)
    try:
        return _read(document, source.max_chars)
    finally:
        document.close()


def opened_pdf(data: bytes) -> PdfDocument:
    """The document, to be closed by the caller. Raises `ExtractionFailed`."""
    import pypdfium2  # 60 ms: not before a PDF turns up

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        encrypted = getattr(error, "err_code", None) == _PASSWORD_ERROR
        raise ExtractionFailed(_why_not_opened(data, encrypted), "encrypted" if encrypted else "damaged") from error


def _why_not_opened(data: bytes, encrypted: bool) -> str:
    if encrypted:
        return "encrypted: it needs a password"
    return "a damaged PDF: it cannot be opened" if MAGIC in data[:1024] else "not a PDF: the file is damaged"


def _read(document: PdfDocument, max_chars: int) -> Extracted:
    import pypdfium2

    count = len(document)
    if not count:
        raise ExtractionFailed("a damaged PDF: it has no pages")
    pages: list[list[Line]] = []
    unread: list[int] = []
    chars = 0
    for index in range(count):
        try:
            lines = _page_lines(document, index)
        except pypdfium2.PdfiumError:
            lines = []
            unread.append(index + 1)
        chars += sum(len(line.text) for line in lines)
        check_length(chars, max_chars)
        pages.append(lines)
    if len(unread) == count:
        raise ExtractionFailed("a damaged PDF: none of its pages can be read")
    pitch = pitch_of(pages)
    text, spans = _put_together([Blocks(lines, pitch) for lines in pages])
    told = _warnings(unread, has_form=bool(document.get_formtype()))
    bare = [number for number, lines in enumerate(pages, start=1) if not lines and number not in unread]
    if bare and len(bare) + len(unread) < count:
        told += (f"no text on {_pages(bare)} (blank, or a picture)",)
    return Extracted("pdf", text, spans, told)


def _warnings(unread: list[int], *, has_form: bool) -> tuple[str, ...]:
    form = ("it has a form, whose fields are not read",) if has_form else ()
    if not unread:
        return form
    return (f"{_pages(unread)} could not be read", *form)


def _pages(numbers: list[int]) -> str:
    named = ", ".join(map(str, numbers[:20])) + (", ..." if len(numbers) > 20 else "")
    return f"{'page' if len(numbers) == 1 else 'pages'} {named}"


def _put_together(pages: list[Blocks]) -> tuple[str, tuple[Page, ...]]:
    known: list[Vocabulary] = []

    def vocabulary() -> Vocabulary:  # most documents are not hyphenated and never need it
        if not known:
            known.append(Vocabulary.of([line.text for page in pages for line in page.lines]))
        return known[0]

    parts: list[str] = []
    bounds: list[tuple[int, int] | None] = []  # None: a page without text
    length = 0
    last: Blocks | None = None
    for page in pages:
        if not page.lines:
            bounds.append(None)
            continue
        if last is not None:
            separator = page_separator(last, page, vocabulary)
            if separator is None:
                parts[-1] = parts[-1][:-1]
                length -= 1
                bounds = [(b[0], min(b[1], length)) if b else None for b in bounds]
            else:
                parts.append(separator)
                length += len(separator)
        start = length
        for index, line in enumerate(page.lines):
            between = page.separator(index, vocabulary) if index else ""
            parts += (between, line.text)
            length += len(between) + len(line.text)
        bounds.append((start, length))
        last = page
    return "".join(parts), _spans(bounds)


def _spans(bounds: list[tuple[int, int] | None]) -> tuple[Page, ...]:
    spans: list[Page] = []
    end = 0
    for number, bound in enumerate(bounds, 1):
        start, end = bound or (end, end)
        spans.append(Page(number, start, end))
    return tuple(spans)


def _page_lines(document: PdfDocument, index: int) -> list[Line]:
    """Raises `PdfiumError` when the page cannot be loaded."""
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            return _lines(text_page)
        finally:
            text_page.close()
    finally:
        page.close()


def _lines(page: PdfTextPage) -> list[Line]:
    units = text_units(page)
    place = _Places(page)
    lines: list[Line] = []
    start = 0
    pieces = _BREAKS.split(units)
    for piece, separator in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        stripped = piece.strip()
        if stripped:
            first = start + len(piece) - len(piece.lstrip())
            lines.append(place.line(stripped, first, hyphen=separator == _HYPHEN))
        elif separator == _HYPHEN and lines:  # nothing but a hyphen: it belongs to what stands before
            lines[-1] = _with_hyphen(lines[-1])
        start += len(piece) + len(separator)
    lines = [line for line in lines if line.text]
    if lines and lines[-1].hyphen:  # nothing follows that the word could go on in
        lines[-1] = _with_hyphen(lines[-1])
    return lines


def _with_hyphen(line: Line) -> Line:
    return replace(line, text=line.text + "-", hyphen=False)


def text_units(page: PdfTextPage) -> str:
    """The page's characters, one per index of PDFium's list (halves of surrogate pairs each their own)."""
    import pypdfium2.raw as pdfium

    count: int = page.count_chars()
    buffer = (ctypes.c_ushort * (count + 1))()
    written: int = pdfium.FPDFText_GetText(page, 0, count, buffer) if count else 0
    if written == count + 1:
        units = bytes(buffer)[: 2 * count].decode("utf-16-le", "surrogatepass")
        if len(units) == count:
            return units
    # The list holds characters that GetText leaves out or pairs up: ask for each, so that indices agree.
    chars = (pdfium.FPDFText_GetUnicode(page, i) for i in range(count))
    return "".join(_HYPHEN if c == 2 else chr(c) if c <= 0x10FFFF else "\ufffd" for c in chars)


class _Places:
    """Where characters stand. One set of C variables for a page: making them costs more than the calls."""

    def __init__(self, page: PdfTextPage) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._page = page.raw
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._box_ref, self._matrix_ref = ctypes.byref(self._box), ctypes.byref(self._matrix)
        self._x_ref, self._y_ref = ctypes.byref(self._x), ctypes.byref(self._y)

    def line(self, units: str, first: int, *, hyphen: bool) -> Line:
        last = first + len(units) - 1
        samples = (first, (first + last) // 2, last)  # one alone may be a footnote mark or a bullet
        left, word_right = self._edges(first)[0], self._edges(first + len(units.split(None, 1)[0]) - 1)[1]
        right = self._edges(last)[1]
        baseline = sorted(map(self._baseline, samples))[1]
        size = sorted(map(self._size, samples))[1] or _USUAL_SIZE
        text = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # pairs to characters
        return Line(_JUNK.sub("", text).strip(), left, right, baseline, size, max(0.0, word_right - left), hyphen)

    def _edges(self, index: int) -> tuple[float, float]:
        """Left and right edge of a character, side bearings included; zeros where PDFium does not know."""
        known = self._pdfium.FPDFText_GetLooseCharBox(self._page, index, self._box_ref)
        return (self._box.left, self._box.right) if known else (0.0, 0.0)

    def _baseline(self, index: int) -> float:
        self._pdfium.FPDFText_GetCharOrigin(self._page, index, self._x_ref, self._y_ref)
        return float(self._y.value)

    def _size(self, index: int) -> float:
        """The font's size as it stands on the page: many programs set size 1 and scale."""
        matrix = self._matrix
        if not self._pdfium.FPDFText_GetMatrix(self._page, index, self._matrix_ref):
            return 0.0
        return float(self._pdfium.FPDFText_GetFontSize(self._page, index)) * math.hypot(matrix.c, matrix.d)
