"""Which extractor reads a file: by its suffix, and by its content where the suffix says nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from pipeline.extract import html, pdf, plain
from pipeline.extract.decode import decode_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, Source

HEAD_BYTES = 65_536  # what recognising by content looks at

# Text that is laid out for a program, not for a reader: nothing in it would be found or read as it stands.
_NOT_FOR_READERS = re.compile(rb"\s*(?:\{\\rtf|%!PS)")
# Atomic, or a row of comments could be matched in too many ways.
_BEFORE_HTML = rb"(?:\xef\xbb\xbf)?(?>\s|<\?xml[^>]*>|<!--(?:(?!-->).)*-->)*+"
_LOOKS_LIKE_HTML = re.compile(_BEFORE_HTML + rb"<(?:!doctype\s+html|html)\b", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Extractor:
    """One kind of file. `suffixes` are lower-case with their dot; `markup` is what the splitter is told."""

    kind: str
    suffixes: frozenset[str]
    extract: Callable[[Source], Extracted]
    markup: Literal["plain", "markdown"] = "plain"


def _suffixes(names: str) -> frozenset[str]:
    return frozenset(f".{name}" for name in names.split())


_TEXT = Extractor(
    "text",
    _suffixes(
        "txt text log rst adoc asciidoc org tex bib srt vtt csv tsv json jsonl ndjson yaml yml toml ini cfg conf "
        "properties env xml xsd xsl sql ics vcf diff patch "
        "py pyi ipynb js mjs cjs jsx ts tsx vue svelte java kt kts scala groovy gradle c h cc cpp cxx hpp hh cs fs go "
        "rs swift m mm rb php pl pm lua r jl hs ml mli ex exs erl clj lisp el scm sh bash zsh fish ps1 bat cmd awk css "
        "scss sass less graphql proto tf cmake mk make dockerfile nix zig dart pas f f90 asm s v vhd vb"
    ),
    plain.extract_text,
)
_MARKDOWN = Extractor("markdown", _suffixes("md markdown mdx mkd"), plain.extract_markdown, "markdown")
_HTML = Extractor("html", _suffixes("html htm xhtml xht"), html.extract_html)
_PDF = Extractor("pdf", _suffixes("pdf"), pdf.extract_pdf)


class Registry:
    """The extractors there are. Later ones take a suffix from earlier ones."""

    def __init__(self, extractors: Iterable[Extractor] = (_TEXT, _MARKDOWN, _HTML, _PDF)) -> None:
        self.extractors = tuple(extractors)
        self._by_suffix = {suffix: one for one in self.extractors for suffix in one.suffixes}

    def extractor_for(self, name: str, head: bytes) -> Extractor:
        """Who reads a file called `name` that begins with `head` (`HEAD_BYTES` of it are enough).

        Raises `ExtractionFailed` ("unknown kind: .exe") for binary files of no known suffix.
        """
        known = self._by_suffix.get(suffix_of(name))
        return known or self._by_content(name, head)

    def extract(self, source: Source) -> tuple[Extractor, Extracted]:
        """The text of a file, and who read it. Raises `ExtractionFailed`."""
        extractor = self.extractor_for(source.name, source.data[:HEAD_BYTES])
        try:
            return extractor, extractor.extract(source)
        except ExtractionFailed as error:
            if suffix_of(source.name) not in self._by_suffix and error.reason.startswith("not text"):
                raise _unknown(source.name) from error  # its head looked like text, the rest is not
            raise

    def _by_content(self, name: str, head: bytes) -> Extractor:
        if pdf.MAGIC in head[:1024]:
            return _PDF
        if _LOOKS_LIKE_HTML.match(head):
            return _HTML
        if not _NOT_FOR_READERS.match(head) and _decodes(head):
            return _TEXT
        raise _unknown(name)


def suffix_of(name: str) -> str:
    """Lower-case with its dot, empty where there is none (`Makefile`, `.profile`)."""
    return os.path.splitext(name)[1].lower()


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
    shown = suffix.encode("utf-8", "backslashreplace").decode() if suffix else "no suffix, and not text"
    return ExtractionFailed(f"unknown kind: {shown}")
