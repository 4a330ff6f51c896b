"""Renderings of one text share their twins, whatever format they are in."""

from __future__ import annotations

import pytest

from pipeline.chunk import split
from pipeline.extract.records import Source
from pipeline.extract.registry import Registry
from pipeline.textkeys import fold_key
from tests.support.renderings import paragraphs, renderings

TEXTS = paragraphs(60)
RENDERINGS = renderings(TEXTS)

# Least share of a rendering's chunks that are twins of the plain text's. Where it is not all: Markdown (and a notebook)
# keeps the marks of its headings, a page of a PDF may break a paragraph, a mail begins with its subject, JSON with the
# names of its keys.
AT_LEAST = {
    ".txt": 1.0, ".txt.gz": 1.0, ".html": 1.0, ".pdf": 0.9, ".docx": 1.0, ".odt": 1.0, ".fodt": 1.0, ".rtf": 1.0,
    ".epub": 1.0, ".xml": 1.0, ".eml": 0.9, ".md": 0.6, ".ipynb": 0.6, ".json": 0.0,
}  # fmt: skip


def keys(suffix: str) -> list[str]:
    extractor, extracted = Registry().extract(Source(f"rules{suffix}", RENDERINGS[suffix]))
    return [fold_key(extracted.text[start:end]) for start, end in split(extracted.text, markup=extractor.markup)]


def share(suffix: str, of: set[str]) -> float:
    found = keys(suffix)
    return sum(key in of for key in found) / len(found)


def test_every_rendering_is_judged() -> None:
    assert set(RENDERINGS) == set(AT_LEAST)


@pytest.mark.parametrize("suffix", AT_LEAST)
def test_chunks_are_twins_of_those_of_the_plain_text(suffix: str) -> None:
    shared = share(suffix, set(keys(".txt")))
    print(f"{suffix}: {shared:.2f} of its chunks are twins of the plain text's")
    assert shared >= AT_LEAST[suffix]


def test_a_notebook_and_its_markdown_share_all() -> None:
    assert share(".ipynb", set(keys(".md"))) == 1.0
