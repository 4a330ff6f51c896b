"""Asking: the whole trace against the plain query, at many chunks, with copies, and in a crowded library.

The libraries are written straight into the store: the documents' vectors are random unit vectors, the questions are
encoded by the real model, once for each side.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.port import Encoder, Vectors
from pipeline.library import save_vectors
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.settings import resolve
from pipeline.store import vectors
from pipeline.store.catalog import Catalog
from pipeline.store.schema import open_for_writing
from pipeline.store.writer import CatalogWriter, FileFacts, NewChunk, NewDocument, NewText
from pipeline.textkeys import fold_key, text_sha256
from tests.bench.corpus import paragraph
from tests.bench.figures import Row, Target, alternating
from tests.bench.plain import PlainPipeline

_PER_DOCUMENT = 10
_TARGET = Target("ratio", "at most", 1.5)
_CROWDED = Target("ratio", "at most", 3)


@dataclass(frozen=True, slots=True)
class Case:
    """A library of `chunks` chunks that hold `texts` different texts. The best answer's text is held `crowd` times."""

    name: str
    chunks: int
    texts: int
    crowd: int = 1
    target: Target | None = None


def cases(chunks: int) -> list[Case]:
    crowd = chunks // 10
    return [
        Case("no copies", chunks, chunks, target=_TARGET),
        Case("60 % copies", chunks, chunks * 2 // 5, target=_TARGET),
        Case(f"crowded: the best text held {crowd:,} times", chunks, chunks - crowd + 1, crowd, _CROWDED),
    ]


def query(place: Path, encoder: Encoder, model: Any, *, chunks: int, questions: int) -> list[Row]:
    """The time of each case, and where it goes."""
    asked = [f"Which depot keeps record {number} and who {verb} it?" for number, verb in _numbered(questions + 2)]
    rows: list[Row] = []
    for number, case in enumerate(cases(chunks)):
        engine, plain = build(place / f"query {number}", case, encoder, model, asked)
        try:
            rows += _measured(case, engine, plain, asked)
        finally:
            engine.close()
    return rows


def _numbered(count: int) -> list[tuple[int, str]]:
    verbs = ("signs", "reviews", "returns", "measures")
    return [(number, verbs[number % len(verbs)]) for number in range(count)]


def _measured(case: Case, engine: QueryEngine, plain: PlainPipeline, asked: Sequence[str]) -> list[Row]:
    settings = resolve()
    traces: list[Trace] = []
    for question in asked[:2]:  # opens the library, fills the caches of both
        engine.ask(question, settings)
        plain.ask(question)
    questions = asked[2:]

    def ours(number: int) -> float:
        began = time.perf_counter()
        traces.append(engine.ask(questions[number], settings))
        return (time.perf_counter() - began) * 1000

    def theirs(number: int) -> float:
        began = time.perf_counter()
        plain.ask(questions[number])
        return (time.perf_counter() - began) * 1000

    value, baseline = alternating(len(questions), ours, theirs)
    _check(case, traces)
    against = f"encode, IndexFlatIP, texts: median of {len(questions)} questions"
    rounds = traces[-1].rounds
    detail = f"{len(rounds)} round{'s' if len(rounds) > 1 else ''}, {len(traces[-1].candidates)} candidates"
    name = f"question to trace, {case.chunks:,} chunks, {case.name}"
    rows = [Row("query", name, value, "ms", baseline, against, case.target)]
    for name, figure in (
        ("encoding", lambda trace: trace.timings_ms.embed),
        ("searching", lambda trace: trace.timings_ms.search),
        ("selecting", lambda trace: trace.timings_ms.select),
    ):
        median = statistics.median(_all(figure, traces))
        rows.append(Row("query", f"  of which {name} ({detail})", median, "ms"))
    return rows


def _all(figure: Callable[[Trace], float], traces: Sequence[Trace]) -> list[float]:
    return [figure(trace) for trace in traces]


def _check(case: Case, traces: Sequence[Trace]) -> None:
    for trace in traces:
        if len(trace.evidence) != 5 or trace.library.chunks != case.chunks or trace.library.texts != case.texts:
            raise AssertionError(f"{case.name}: {len(trace.evidence)} blocks of {trace.library}")


# --- the library ------------------------------------------------------------------------------------------------


def build(
    folder: Path, case: Case, encoder: Encoder, model: Any, questions: Sequence[str]
) -> tuple[QueryEngine, PlainPipeline]:
    """The same chunks, texts and vectors for both sides; the documents are real files, so that the look at their
    freshness is a real one."""
    chance = np.random.default_rng(7)
    rows = chance.standard_normal((case.texts, encoder.dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if case.crowd > 1:  # text 0 answers every question best
        towards = encoder.encode(list(questions)).mean(axis=0)
        rows[0] = towards / np.linalg.norm(towards)
    words = random.Random(7)
    texts = [paragraph(words) for _ in range(case.texts)]
    held = np.concatenate([np.arange(case.texts), np.zeros(case.crowd - 1, np.int64)])
    more = chance.integers(1 if case.crowd > 1 else 0, case.texts, case.chunks - len(held))
    order = chance.permutation(np.concatenate([held, more]))
    library = write_library(folder, encoder, texts, rows, order.tolist())
    plain = PlainPipeline(model)
    plain.chunks = [(_path(folder, place), texts[number]) for place, number in enumerate(order)]
    plain.set_vectors(rows[order])
    return QueryEngine(library, encoder), plain


def _path(folder: Path, place: int) -> str:
    return str(folder / "files" / f"document {place // _PER_DOCUMENT:06}.txt")


def write_library(folder: Path, encoder: Encoder, texts: Sequence[str], rows: Vectors, order: Sequence[int]) -> Path:
    """The library of these texts, their vectors and the texts' numbers in the order of their chunks."""
    files, library = folder / "files", folder / "library"
    files.mkdir(parents=True)
    db = open_for_writing(library)
    try:
        writer = CatalogWriter(db)
        with writer.change():
            root = writer.add_root("files", str(files))
            writer.bind_model(encoder.fingerprint, encoder.name, encoder.source, encoder.dimension)
            writer.add_texts(
                NewText(text_sha256(text), fold_key(text), text, 200, vectors.blob_of(row))
                for text, row in zip(texts, rows, strict=True)
            )
            for start in range(0, len(order), _PER_DOCUMENT):
                held = [texts[number] for number in order[start : start + _PER_DOCUMENT]]
                writer.put_document(document_of(root, Path(_path(folder, start)), held))
        save_vectors(library, Catalog(db, library))
    finally:
        db.close()
    return library


def document_of(root: int, file: Path, texts: Sequence[str]) -> NewDocument:
    """These texts as a document, one chunk each; the file is written."""
    text = "\n\n".join(texts)
    file.write_text(text, "utf-8")
    facts = file.stat()
    chunks, start = [], 0
    for piece in texts:
        chunks.append(NewChunk(start, start + len(piece), None, None, text_sha256(piece)))
        start += len(piece) + 2
    return NewDocument(
        root,
        f"files/{file.name}",
        FileFacts(
            file.name,
            facts.st_size,
            facts.st_mtime_ns,
            facts.st_ctime_ns,
            facts.st_ino,
            facts.st_dev,
            facts.st_nlink,
        ),
        "indexed",
        kind="text",
        content_sha256=text_sha256(text),
        text=text,
        chunks=tuple(chunks),
    )
