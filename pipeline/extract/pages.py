"""Pages, slides, sheets -> one text that knows where each of them stands."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.extract.plain import check_length
from pipeline.records import Page

_BETWEEN = "\n\n"


def put_together(texts: Iterable[str], max_chars: int) -> tuple[str, tuple[Page, ...]]:
    """The texts of all pages in order, an empty one for a page without text. What stands between two belongs to
    neither. Raises `ExtractionFailed` when it is more than `max_chars`."""
    parts: list[str] = []
    pages: list[Page] = []
    length = 0
    for number, text in enumerate(texts, 1):
        if text and parts:
            parts.append(_BETWEEN)
            length += len(_BETWEEN)
        pages.append(Page(number, length, length + len(text)))
        if text:
            parts.append(text)
            length += len(text)
            check_length(length, max_chars)
    return "".join(parts), tuple(pages)


def some_numbers(numbers: list[int]) -> str:
    """For a sentence: the first twenty."""
    return ", ".join(map(str, numbers[:20])) + (", ..." if len(numbers) > 20 else "")
