"""Plain text, Markdown, source code and tables of values: stored as they stand, line ends and all."""

from __future__ import annotations

import re

from pipeline.extract.decode import decode_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, Source

# What no format should hold as text and some do: NUL and other controls, and halves of surrogate pairs.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_HALVES = re.compile("[\ud800-\udfff]")


def extract_text(source: Source) -> Extracted:
    """The decoded text, otherwise verbatim. Raises `ExtractionFailed` when the bytes are not text."""
    return _verbatim(source, "text")


def extract_markdown(source: Source) -> Extracted:
    """As `extract_text`: the marks stay, for a chunk must be found again in its file."""
    return _verbatim(source, "markdown")


def extract_code(source: Source) -> Extracted:
    """As `extract_text`."""
    return _verbatim(source, "code")


def extract_csv(source: Source) -> Extracted:
    """As `extract_text`: a line is a row."""
    return _verbatim(source, "csv")


def _verbatim(source: Source, kind: str) -> Extracted:
    decoded = decode_text(source.data)
    check_length(len(decoded.text), source.max_chars)
    return Extracted(kind, decoded.text, warnings=decoded.warnings)


def check_length(chars: int, max_chars: int) -> None:
    """Raise `ExtractionFailed` when a text is longer than the limit (code points)."""
    if chars > max_chars:
        raise ExtractionFailed(f"too much text: more than {max_chars:,} characters", "too_large")


def clean(text: str) -> str:
    """Without controls, and with U+FFFD in place of lone surrogates: what a text taken from a format may hold."""
    return _HALVES.sub("\ufffd", _CONTROLS.sub("", text))


def says_something(margin: str) -> bool:
    """Whether a header or footer is more than the number of the page."""
    return any(map(str.isalpha, margin))
