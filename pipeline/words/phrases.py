"""Numbers, lists and names as words of a sentence. Free of Qt.

File names inside sentences are isolated where they run right to left, so that the words around them stay in order.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from pipeline.words.plain import one_line


def number(value: int | float) -> str:
    """1234 -> "1,234"."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}"


def count(value: int, one: str, many: str | None = None) -> str:
    """(1, "file") -> "1 file"; (2, "copy", "copies") -> "2 copies"."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def ordinal(value: int) -> str:
    """8 -> "8th"."""
    ending = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value:,}{ending}"


def listed(values: Sequence[int | str], most: int = 3) -> str:
    """(2, 5, 9) -> "2, 5 and 9"; beyond `most`: "2, 5, 9 and 4 more"."""
    shown = values if len(values) <= most + 1 else values[:most]  # thousands of ranks are never put into words
    words = [number(value) if isinstance(value, int) else value for value in shown]
    if len(values) > len(shown):
        return f"{', '.join(words)} and {number(len(values) - most)} more"
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""


def isolated(text: str) -> str:
    """`text` as one word of a left-to-right sentence, whatever its own direction."""
    if not text.isascii() and any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in text):
        return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"
    return text


def file_name(path_or_id: str | None) -> str:
    """The last part of a path or a doc_id, as a word of a sentence: controls visible, its direction its own."""
    if not path_or_id:
        return "this file"
    name = path_or_id.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return isolated(one_line(name)) or "this file"


def pages(first: int | None, last: int | None) -> str:
    """ "p. 2", "p. 2-3", or nothing for formats without pages."""
    if first is None:
        return ""
    return f"p. {first}" if last is None or last == first else f"p. {first}\N{EN DASH}{last}"
