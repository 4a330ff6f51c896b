"""Which extractor reads a file: by its suffix where the content agrees, else by its content.

The modules of the formats are imported when the first file of their kind comes up: a reading process starts fast.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.extract import gz, plain
from pipeline.extract.decode import decode_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, Source
from pipeline.extract.unread import unread_parts

HEAD_BYTES = 65_536  # what recognising by content looks at

Content = Literal["", "pdf", "zip", "ole", "rtf", "mail"]

_PDF_MAGIC = b"%PDF-"
_RTF_MAGIC = re.compile(rb"\s*\{\\rtf")
_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Text that is laid out for a program, not for a reader: nothing in it would be found or read as it stands.
_NOT_FOR_READERS = re.compile(rb"\s*%!PS")
# Atomic, or a row of comments could be matched in too many ways.
_BEFORE_HTML = rb"(?:\xef\xbb\xbf)?(?>\s|<\?xml[^>]*>|<!--(?:(?!-->).)*-->)*+"
_LOOKS_LIKE_HTML = re.compile(_BEFORE_HTML + rb"<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_LOOKS_LIKE_XML = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*<\0?\?\0?x\0?m\0?l\b")
_HEADER_LINE = re.compile(rb"(?:From [^\n]+\n|>?[A-Za-z][\w-]{1,50}:[^\n]*\n(?:[ \t][^\n]*\n)*)", re.I)
_IN_MAILS_ONLY = re.compile(rb"^(?:Message-ID|MIME-Version|Received|Return-Path|Delivered-To):", re.I | re.M)
_IN_MAILS = re.compile(rb"^(?:From|To|Subject|Date|Message-ID|MIME-Version|Received|Content-Type):", re.I | re.M)


@dataclass(frozen=True, slots=True)
class Extractor:
    """One kind of file. `suffixes` are lower-case with their dot; `markup` is what the splitter is told. `content` is
    what such a file must hold; where it is empty the extractor sees for itself."""

    kind: str
    suffixes: frozenset[str]
    extract: Callable[[Source], Extracted]
    markup: Literal["plain", "markdown"] = "plain"
    content: Content = ""


def _html(source: Source) -> Extracted:
    from pipeline.extract.html import extract_html

    return extract_html(source)


def _pdf(source: Source) -> Extracted:
    from pipeline.extract.pdf import extract_pdf

    return extract_pdf(source)


def _packed(source: Source) -> Extracted:
    from pipeline.extract.packed_document import extract_packed

    return extract_packed(source)


def _flat_odf(source: Source) -> Extracted:
    from pipeline.extract.odf import extract_flat_odf

    return extract_flat_odf(source)


def _rtf(source: Source) -> Extracted:
    from pipeline.extract.rtf import extract_rtf

    return extract_rtf(source)


def _mail(source: Source) -> Extracted:
    from pipeline.extract.mail import extract_mail

    return extract_mail(source)


def _json(source: Source) -> Extracted:
    from pipeline.extract.json_text import extract_json

    return extract_json(source)


def _json_lines(source: Source) -> Extracted:
    from pipeline.extract.json_text import extract_json_lines

    return extract_json_lines(source)


def _notebook(source: Source) -> Extracted:
    from pipeline.extract.notebook import extract_notebook

    return extract_notebook(source)


def _xml(source: Source) -> Extracted:
    from pipeline.extract.xml_text import extract_xml

    return extract_xml(source)


def _old_office(source: Source) -> Extracted:
    from pipeline.extract.old_office import refuse

    return refuse(source)


def _suffixes(names: str) -> frozenset[str]:
    return frozenset(f".{name}" for name in names.split())


_TEXT = Extractor(
    "text",
    _suffixes(
        "txt text log rst adoc asciidoc org tex bib srt vtt yaml yml toml ini cfg conf properties env ics vcf diff "
        "patch"
    ),
    plain.extract_text,
)
_CODE = Extractor(
    "code",
    _suffixes(
        "py pyi js mjs cjs jsx ts tsx vue svelte java kt kts scala groovy gradle c h cc cpp cxx hpp hh cs fs go "
        "rs swift m mm rb php pl pm lua r jl hs ml mli ex exs erl clj lisp el scm sh bash zsh fish ps1 bat cmd awk css "
        "scss sass less graphql proto tf cmake mk make dockerfile nix zig dart pas f f90 asm s v vhd vb sql xsd xsl "
        "xslt"
    ),
    plain.extract_code,
)
_PDF = Extractor("pdf", _suffixes("pdf"), _pdf, content="pdf")
_HTML = Extractor("html", _suffixes("html htm xhtml xht"), _html)
_RTF = Extractor("rtf", _suffixes("rtf"), _rtf, content="rtf")
_XML = Extractor("xml", _suffixes("xml rss atom svg dbk docbook dita fb2 tei kml gpx"), _xml)
_MAIL = Extractor("email", _suffixes("eml mht mhtml"), _mail, content="mail")
_DOCX = Extractor("docx", _suffixes("docx docm dotx dotm"), _packed, content="zip")
_OLD_OFFICE = Extractor("old office", _suffixes("doc xls xlt ppt pps msg"), _old_office, content="ole")

BUILT_IN = (
    _TEXT,
    _CODE,
    Extractor("markdown", _suffixes("md markdown mdx mkd"), plain.extract_markdown, "markdown"),
    Extractor("csv", _suffixes("csv tsv tab"), plain.extract_csv),
    _HTML,
    _PDF,
    _DOCX,
    Extractor("pptx", _suffixes("pptx pptm ppsx ppsm potx potm"), _packed, content="zip"),
    Extractor("xlsx", _suffixes("xlsx xlsm xltx xltm xlsb"), _packed, content="zip"),
    Extractor("odt", _suffixes("odt ott"), _packed, content="zip"),
    Extractor("ods", _suffixes("ods ots"), _packed, content="zip"),
    Extractor("odp", _suffixes("odp otp"), _packed, content="zip"),
    Extractor("odg", _suffixes("odg otg"), _packed, content="zip"),
    Extractor("odt", _suffixes("fodt"), _flat_odf),
    Extractor("ods", _suffixes("fods"), _flat_odf),
    Extractor("odp", _suffixes("fodp"), _flat_odf),
    Extractor("epub", _suffixes("epub"), _packed, content="zip"),
    _RTF,
    Extractor("json", _suffixes("json geojson webmanifest"), _json),
    Extractor("json", _suffixes("jsonl ndjson"), _json_lines),
    Extractor("notebook", _suffixes("ipynb"), _notebook, "markdown"),
    _XML,
    _MAIL,
    _OLD_OFFICE,
)
_NONE_OF_OURS = ("not text", "a container", "an archive of")  # reasons that say no more than that
_SAID_AS = {"html": "a web page", "text": "plain text", "code": "source code", "email": "a mail", "xml": "XML"}


class Registry:
    """The extractors there are. Later ones take a suffix from earlier ones."""

    def __init__(self, extractors: Iterable[Extractor] = BUILT_IN) -> None:
        self.extractors = tuple(extractors)
        self._by_suffix = {suffix: one for one in self.extractors for suffix in one.suffixes}

    def extractor_for(self, name: str, head: bytes) -> Extractor:
        """Who reads a file called `name` that begins with `head` (`HEAD_BYTES` of it are enough).

        Raises `ExtractionFailed` ("unknown kind: .exe") for binary files of no known suffix.
        """
        if head.startswith(gz.MAGIC):
            inner_head = gz.unpack_head(head, HEAD_BYTES)
            try:
                inner = self._by_name_or_content(gz.inner_name(name), inner_head)
            except ExtractionFailed as error:
                raise (_nested() if inner_head.startswith(gz.MAGIC) else _unknown(name)) from error
            _check_packed(inner)
            return inner
        return self._by_name_or_content(name, head)

    def extract(self, source: Source) -> tuple[Extractor, Extracted]:
        """The text of a file, and who read it. Raises `ExtractionFailed`."""
        name = source.name
        packed = source.data.startswith(gz.MAGIC)
        if packed:
            self.extractor_for(name, source.data[:HEAD_BYTES])  # nothing is unpacked that is not read
            source = replace(source, name=gz.inner_name(name), data=gz.unpack(source.data))
        extractor = self._by_name_or_content(source.name, source.data[:HEAD_BYTES])
        if packed:
            _check_packed(extractor)
        try:
            extracted = extractor.extract(source)
        except ExtractionFailed as error:
            if suffix_of(source.name) not in self._by_suffix and error.reason.startswith(_NONE_OF_OURS):
                raise _unknown(name) from error  # its head looked like one of ours, the rest is not
            raise
        if extracted.text and (told := unread_parts(extracted.kind, source.data)):
            extracted = replace(extracted, warnings=(*extracted.warnings, told))
        return extractor, self._with_its_kind(source.name, extracted)

    def _with_its_kind(self, name: str, extracted: Extracted) -> Extracted:
        """With a warning where the name says something else, or the extractor has not said already."""
        named = self._by_suffix.get(suffix_of(name))
        if named is None or named.kind == extracted.kind or any("read as" in one for one in extracted.warnings):
            return extracted
        said = _SAID_AS.get(extracted.kind, extracted.kind.upper())
        return replace(extracted, warnings=(f"named {suffix_of(name)}, but read as {said}", *extracted.warnings))

    def _by_name_or_content(self, name: str, head: bytes) -> Extractor:
        named = self._by_suffix.get(suffix_of(name))
        certain = _certain(head)
        if certain is not None and (named is None or named.content != certain.content):
            return certain
        if named is None:
            return self._by_content(name, head)
        if not named.content or not head or _holds(head, mail=_IN_MAILS) == named.content:
            return named
        try:
            return self._by_content(name, head)
        except ExtractionFailed:
            return named  # it knows best what is wrong with the file

    def _by_content(self, name: str, head: bytes) -> Extractor:
        if _PDF_MAGIC in head[:1024]:
            return _PDF
        if _LOOKS_LIKE_HTML.match(head):
            return _HTML
        if _is_mail(head, _IN_MAILS_ONLY):
            return _MAIL
        if not _NOT_FOR_READERS.match(head) and _decodes(head):
            return _XML if _LOOKS_LIKE_XML.match(head) else _TEXT
        raise _unknown(name)


def suffix_of(name: str) -> str:
    """Lower-case with its dot, empty where there is none (`Makefile`, `.profile`)."""
    return os.path.splitext(name)[1].lower()


def _certain(head: bytes) -> Extractor | None:
    """What a file that begins so is beyond doubt, whatever it is called."""
    if head.startswith(b"PK"):
        from pipeline.extract.packed_document import may_be_document

        return _DOCX if may_be_document(head) else None
    if head.startswith(_OLE_MAGIC):
        return _OLD_OFFICE
    if _RTF_MAGIC.match(head):
        return _RTF
    return _PDF if head.startswith(_PDF_MAGIC) else None


def _holds(head: bytes, *, mail: re.Pattern[bytes]) -> Content:
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    if head.startswith(_OLE_MAGIC):
        return "ole"
    if _RTF_MAGIC.match(head):
        return "rtf"
    if _PDF_MAGIC in head[:1024]:
        return "pdf"
    return "mail" if _is_mail(head, mail) else ""


def _is_mail(head: bytes, telling: re.Pattern[bytes]) -> bool:
    """Whether it begins with header lines of which one is telling."""
    position = 0
    while (line := _HEADER_LINE.match(head, position)) is not None:
        position = line.end()
    return position > 0 and telling.search(head[:position]) is not None


def _nested() -> ExtractionFailed:
    return ExtractionFailed("an archive inside another is not opened", "unknown_kind")


def _check_packed(inner: Extractor) -> None:
    if inner.content in ("zip", "ole"):
        raise _nested()


def _decodes(head: bytes) -> bool:
    if len(head) == HEAD_BYTES:
        # Cut at a line end, so that no character is cut in two; text without one line end in 64 KB is data
        head = head[: head.rfind(b"\n") + 1 or HEAD_BYTES - HEAD_BYTES % 4]
        head = head[: len(head) - len(head) % 2] if b"\0" in head else head
    try:
        decode_text(head)
    except ExtractionFailed:
        return False
    return True


def _unknown(name: str) -> ExtractionFailed:
    suffix = suffix_of(name)
    if suffix == ".gz":
        suffix = suffix_of(gz.inner_name(name)) + suffix
    shown = suffix.encode("utf-8", "backslashreplace").decode() if suffix else "no suffix, and not text"
    return ExtractionFailed(f"unknown kind: {shown}", "unknown_kind")
