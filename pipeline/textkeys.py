"""When two texts count as the same: the fold key, and the exact key."""

from __future__ import annotations

import hashlib
import unicodedata


def fold(text: str) -> str:
    """NFC, every run of Unicode white space (as `str.isspace` knows it, NBSP included) to one space, ends stripped.

    Case, punctuation and words never fold.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def fold_key(text: str) -> str:
    """64 hex digits: SHA-256 of the folded text. Chunks with equal fold keys are twins."""
    return text_sha256(fold(text))


def text_sha256(text: str) -> str:
    """64 hex digits: SHA-256 of the text as it stands. Equal texts are stored and embedded once."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
