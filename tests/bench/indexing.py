"""Indexing: a folder of copies against the plain pipeline, and an unchanged folder against a bare walk."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.embed.port import Encoder
from pipeline.index import IndexReport, index_library
from tests.bench.corpus import Corpus, make_corpus
from tests.bench.figures import Row, Target, alternating
from tests.bench.plain import PlainPipeline
from tests.support.encoder import WordEncoder

_HALF_THE_TIME = Target("ratio", "at most", 0.5)
AN_EIGHTH = Target("ratio", "at most", 0.125)  # of many versions of the same documents


def index_copies(
    place: Path,
    encoder: Encoder,
    model: Any,
    *,
    chunks: int,
    runs: int,
    copies: float = 0.6,
    target: Target = _HALF_THE_TIME,
) -> list[Row]:
    """Both index the same folder, of which this share are copies, into nothing; the model is loaded already."""
    corpus = make_corpus(place / "copies", chunks, copies=copies)
    warm_up(place, encoder, model)
    libraries = itertools.count()
    reports: list[IndexReport] = []
    plains: list[PlainPipeline] = []

    def ours(_: int) -> float:
        began = time.perf_counter()
        reports.append(index_library(place / f"library {next(libraries)}", [corpus.folder], encoder=encoder))
        return time.perf_counter() - began

    def plain(_: int) -> float:
        plains.append(PlainPipeline(model))
        began = time.perf_counter()
        plains[-1].add_folder(corpus.folder)
        return time.perf_counter() - began

    seconds, plain_seconds = alternating(runs, ours, plain)
    report, every_chunk = reports[-1], len(plains[-1].chunks)
    if report.chunks != every_chunk:
        raise AssertionError(f"the two did not index the same: {report.chunks} chunks against {every_chunk}")
    what = f"{report.chunks} chunks of {corpus.files} files, {1 - report.texts / report.chunks:.0%} copies"
    against = f"plain pipeline, same files and chunker, median of {runs}"
    return [
        Row("indexing", f"indexing {what}", seconds, "s", plain_seconds, against, target),
        Row("indexing", "texts embedded", report.embedded, "", every_chunk, "plain pipeline"),
        Row(
            "indexing",
            "seconds per 100 texts embedded",
            seconds / report.embedded * 100,
            "s",
            plain_seconds / every_chunk * 100,
            "plain pipeline, per 100 of its own",
        ),
    ]


def warm_up(place: Path, encoder: Encoder, model: Any) -> None:
    """What is paid once a process (lazy imports, the model's first run) is in no figure of either side."""
    tiny: Corpus = make_corpus(place / "warm up", 8, seed=6)
    index_library(place / "library warm up", [tiny.folder], encoder=encoder)
    PlainPipeline(model).add_folder(tiny.folder)


def index_unchanged(place: Path, *, files: int, runs: int) -> list[Row]:
    """A folder that was indexed already. The encoder is a cheap one, for nothing is embedded here."""
    corpus = make_corpus(place / "unchanged", files, per_file=1, size=60)
    library = place / "library unchanged"
    encoder = WordEncoder(32)
    index_library(library, [corpus.folder], encoder=encoder)

    def ours(_: int) -> float:
        began = time.perf_counter()
        report = index_library(library, encoder=encoder)
        seconds = time.perf_counter() - began
        if report.unchanged != corpus.files:
            raise AssertionError(f"{report.unchanged} of {corpus.files} files unchanged")
        return seconds * 1000

    def walk(_: int) -> float:
        return _milliseconds(lambda: [os.stat(os.path.join(at, n)) for at, _, ns in os.walk(corpus.folder) for n in ns])

    value, bare = alternating(runs, ours, walk)
    name = f"indexing again, {corpus.files:,} small files unchanged"
    against = f"bare os.walk and os.stat, median of {runs}"
    aim = Target("ratio", "at most", 3)
    return [Row("indexing", name, value, "ms", bare, against, aim, bound=bare, bound_is="a bare walk with stat")]


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000
