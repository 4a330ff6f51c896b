"""Reading files: megabytes a second of extraction and of chunking, each beside the bare library call."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import TypeVar

import pypdfium2
from selectolax.lexbor import LexborHTMLParser
from semantic_text_splitter import MarkdownSplitter
from tokenizers import Tokenizer

from pipeline.chunk import split
from pipeline.embed.folder import default_model_folder
from pipeline.extract.reader import TokenCounter
from pipeline.extract.records import Source
from pipeline.extract.registry import Registry
from tests.bench.corpus import make_corpus
from tests.bench.figures import Row, alternating

_SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample" / "documents"
_TOKEN_LIMIT = 256

Part = TypeVar("Part")


def read(place: Path, *, characters: int, runs: int) -> list[Row]:
    corpus = make_corpus(place / "reading", max(8, characters // 900), copies=0.0)
    text = "\n\n".join(file.read_text("utf-8") for file in sorted(corpus.folder.rglob("*.md")))
    return [*_extraction(text, runs), *_chunking(text, runs)]


def _chunking(text: str, runs: int) -> list[Row]:
    # As a document would be: in files of about 20,000 characters.
    texts = [text[start : start + 20_000] for start in range(0, len(text), 20_000)]
    size = sum(len(part.encode()) for part in texts) / 1e6
    splitter = MarkdownSplitter(1000)
    tokenizer_file = str(default_model_folder() / "tokenizer.json")
    counter = TokenCounter(tokenizer_file)

    def counted(part: str) -> object:
        counter.forget()
        return split(part, markup="markdown", token_counter=counter, token_limit=_TOKEN_LIMIT)

    ours, bare = alternating(
        runs,
        _speed(size, texts, lambda part: split(part, markup="markdown")),
        _speed(size, texts, splitter.chunks),
    )
    # Sized by a tokenizer the library is so slow that a part of the text has to do.
    few = texts[:3]
    few_size = sum(len(part.encode()) for part in few) / 1e6
    by_tokens = MarkdownSplitter.from_huggingface_tokenizer(Tokenizer.from_file(tokenizer_file), _TOKEN_LIMIT)
    ours_checked, bare_sized = alternating(
        runs, _speed(few_size, few, counted), _speed(few_size, few, by_tokens.chunks)
    )
    return [
        Row("reading", "chunking by characters", ours, "MB/s", bare, "semantic-text-splitter by characters"),
        Row("reading", "chunking with tokens", ours_checked, "MB/s", bare_sized, "semantic-text-splitter by tokens"),
    ]


def _extraction(text: str, runs: int) -> list[Row]:
    registry = Registry()
    html = _html(text)
    pdfs = [file.read_bytes() for file in sorted(_SAMPLE.rglob("*.pdf"))]
    kinds: list[tuple[str, str, list[bytes], Callable[[bytes], object]]] = [
        ("Markdown", "a.md", [text.encode()], lambda data: data.decode("utf-8")),
        ("HTML", "a.html", [html], lambda data: LexborHTMLParser(data).text()),
        ("PDF", "a.pdf", pdfs, _bare_pdf),
    ]
    against = ("bytes.decode", "selectolax, text()", "pypdfium2, get_text_range()")
    rows = []
    for (kind, name, files, bare), what in zip(kinds, against, strict=True):
        if not files:
            continue
        size = sum(map(len, files)) / 1e6
        sides = (
            _speed(size, files, partial(_extract, registry, name)),
            _speed(size, files, bare),
        )
        ours, baseline = alternating(runs, *sides)
        rows.append(Row("reading", f"extracting {kind}", ours, "MB/s", baseline, what))
    return rows


def _extract(registry: Registry, name: str, data: bytes) -> object:
    return registry.extract(Source(name, data))


def _speed(size: float, parts: Sequence[Part], work: Callable[[Part], object]) -> Callable[[int], float]:
    def run(_: int) -> float:
        began = time.perf_counter()
        for part in parts:
            work(part)
        return size / (time.perf_counter() - began)

    return run


def _html(text: str) -> bytes:
    paragraphs = "".join(f"<div class='row'><p>{escape(part)}</p></div>\n" for part in text.split("\n\n"))
    head = "<head><title>Records</title><style>p { margin: 0 }</style></head>"
    return f"<!doctype html><html>{head}<body><main>{paragraphs}</main></body></html>".encode()


def _bare_pdf(data: bytes) -> object:
    document = pypdfium2.PdfDocument(io.BytesIO(data))
    try:
        return [page.get_textpage().get_text_range() for page in document]
    finally:
        document.close()
