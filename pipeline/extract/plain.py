"""Plain text and Markdown: stored as they stand, line ends and all."""

from __future__ import annotations

from pipeline.extract.decode import decode_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, Source


def extract_text(source: Source) -> Extracted:
    """The decoded text, otherwise verbatim. Raises `ExtractionFailed` when the bytes are not text."""
    return _verbatim(source, "text")


def extract_markdown(source: Source) -> Extracted:
    """As `extract_text`: the marks stay, for a chunk must be found again in its file."""
    return _verbatim(source, "markdown")


def _verbatim(source: Source, kind: str) -> Extracted:
    decoded = decode_text(source.data)
    check_length(len(decoded.text), source.max_chars)
    return Extracted(kind, decoded.text, warnings=decoded.warnings)


def check_length(chars: int, max_chars: int) -> None:
    """Raise `ExtractionFailed` when a text is longer than the limit (code points)."""
    if chars > max_chars:
        raise ExtractionFailed(f"too much text: more than {max_chars:,} characters")
