"""A large library in a fresh process: opened by its first question, asked more, and how much memory that takes; then
a file more, as a folder that is watched gets it, and many more.

    python -m tests.bench.opening LIBRARY

The process prints one JSON object. The library is written straight into the store, in transactions as small as a run's:
to index a million texts would take a day.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, overload
from unittest.mock import patch

import numpy as np

from pipeline import index_run
from pipeline.embed.port import Vectors
from pipeline.index import index_library
from pipeline.library import save_vectors
from pipeline.query import QueryEngine
from pipeline.settings import resolve
from pipeline.store import vectors
from pipeline.store.catalog import Catalog
from pipeline.store.schema import DATABASE_NAME, open_for_writing
from pipeline.store.vectors import VECTORS_NAME
from pipeline.store.writer import CatalogWriter, NewText
from pipeline.textkeys import fold_key, text_sha256
from tests.bench.corpus import paragraph
from tests.bench.figures import Row, Target
from tests.bench.memory import peak
from tests.bench.querying import document_of
from tests.support.encoder import WordEncoder
from tests.support.two_indexes import both, differences

_ROOT = Path(__file__).resolve().parents[2]
_SIDE = 384
_QUESTIONS = 9
_PER_DOCUMENT, _BATCH = 10, 250  # texts; of one document, of one transaction
_LATER = 6_001  # texts that come later, one of them by itself
_REMOVED = 200  # documents that go later
_MEMORY_MB = 4_000  # half of a computer of 8 GB


def opening(place: Path, *, chunks: int) -> list[Row]:
    """A library of so many different texts, one chunk each."""
    texts = _Texts(chunks + _LATER)
    library, log = _write(place / "large", texts, chunks)
    command = [sys.executable, "-m", "tests.bench.opening", str(library)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, check=True)
    found = json.loads(done.stdout)
    memory, _ = peak(command)
    what = f"{chunks:,} chunks, no copies, {found['index']}"
    return [
        Row("opening", f"opened and asked, {what}", found["opened"], "s", target=Target("value", "at most", 5)),
        Row("opening", "  the next question to trace, without its vector", found["next_ms"], "ms"),
        Row("opening", "  the questions after that, median", found["other_ms"], "ms"),
        Row("opening", "    of which searching", found["search_ms"], "ms", target=Target("value", "at most", 100)),
        Row("opening", "  peak memory of that process", memory, "MB", target=Target("value", "at most", _MEMORY_MB)),
        Row(
            "opening",
            "  largest log of the database while it was written",
            log,
            "MB",
            target=Target("value", "at most", 100),
        ),
        *_grown(place / "large", library, texts, chunks, command),
    ]


def _grown(folder: Path, library: Path, texts: _Texts, chunks: int, command: Sequence[str]) -> list[Row]:
    """One file more, in a run that is told of it; then many texts more, and some documents fewer; then all written."""
    rows: list[Row] = []
    new = folder / "files" / "one more.txt"
    new.write_text(texts[chunks], "utf-8")
    saved: list[float] = []
    save = index_run.save_vectors

    def timed(*given: Any) -> None:
        began = time.perf_counter()
        save(*given)
        saved.append(time.perf_counter() - began)

    began = time.perf_counter()
    with patch.object(index_run, "save_vectors", timed):
        report = index_library(library, only=[new], encoder=_Random())
    run = time.perf_counter() - began
    if (report.added, report.texts, len(saved)) != (1, chunks + 1, 1):
        raise AssertionError(f"one file more was to be indexed: {report}")
    rows += [
        Row("opening", "one file added by itself, the run", run, "s"),
        Row("opening", "  of which saving", saved[0], "s", target=Target("value", "at most", 1)),
        Row("opening", "  opened and asked after it", _opened(command), "s", target=Target("value", "at most", 5)),
    ]
    with _changing(library) as (writer, catalog):
        _add(writer, catalog.roots()[0].id, folder / "files", texts, chunks + 1, chunks + _LATER)
        with writer.change():
            writer.remove_documents(range(1, _REMOVED + 1))
            writer.remove_unheld_texts()
        began = time.perf_counter()
        save_vectors(library, catalog)
        kept = time.perf_counter() - began
    what = f"{_LATER:,} texts added and {_REMOVED * _PER_DOCUMENT:,} removed"
    rows += [
        Row("opening", f"{what}, saved", kept, "s"),
        Row("opening", "  opened and asked after it", _opened(command), "s", target=Target("value", "at most", 5)),
        *_compared(folder, library),
    ]
    (library / VECTORS_NAME).unlink()
    gaps: list[float] = []
    with _changing(library) as (_, catalog):
        began = last = time.perf_counter()

        def watch(share: float) -> None:
            nonlocal last
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

        save_vectors(library, catalog, watch)
        whole = time.perf_counter() - began
    return [
        *rows,
        Row("opening", "the whole file of vectors saved", whole, "s"),
        Row(
            "opening",
            "  longest time in which a cancel waits",
            max(gaps) * 1000,
            "ms",
            target=Target("value", "at most", 200),
        ),
    ]


def _opened(command: Sequence[str]) -> float:
    done = subprocess.run(list(command), cwd=_ROOT, capture_output=True, check=True)
    return float(json.loads(done.stdout)["opened"])


def _compared(folder: Path, library: Path) -> list[Row]:
    """The same questions to the scan and to the flat index, which holds all vectors in memory."""
    with both(library, _Random(), folder) as engines:
        compared, different = differences(engines, [f"question {number}" for number in range(_QUESTIONS)])
    return [
        Row(
            "opening",
            f"traces that differ from the flat index's, of {compared} (all, without the best document, in it alone)",
            len(different),
            "",
            target=Target("value", "at most", 0),
        )
    ]


def _write(folder: Path, texts: _Texts, count: int) -> tuple[Path, float]:
    """The library of the first `count` texts, and the megabytes of its log when that was largest."""
    files, library = folder / "files", folder / "library"
    files.mkdir(parents=True)
    with _changing(library) as (writer, catalog):
        encoder = _Random()
        with writer.change():
            root = writer.add_root("files", str(files))
            writer.bind_model(encoder.fingerprint, encoder.name, encoder.source, encoder.dimension)
        log = _add(writer, root, files, texts, 0, count)
        save_vectors(library, catalog)
    return library, log


def _add(writer: CatalogWriter, root: int, files: Path, texts: _Texts, start: int, end: int) -> float:
    log = files.parent / "library" / f"{DATABASE_NAME}-wal"
    worst = 0
    for first in range(start, end, _BATCH):
        some = texts[first : min(end, first + _BATCH)]
        rows = np.random.default_rng(first).standard_normal((len(some), _SIDE), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        with writer.change():
            writer.add_texts(
                NewText(text_sha256(text), fold_key(text), text, 200, vectors.blob_of(row))
                for text, row in zip(some, rows, strict=True)
            )
            for at in range(0, len(some), _PER_DOCUMENT):
                name = f"document {first + at:07}.txt"
                writer.put_document(document_of(root, files / name, some[at : at + _PER_DOCUMENT]))
        worst = max(worst, log.stat().st_size)
    return worst / 1e6


@contextmanager
def _changing(library: Path) -> Iterator[tuple[CatalogWriter, Catalog]]:
    db = open_for_writing(library)
    try:
        yield CatalogWriter(db), Catalog(db, library)
    finally:
        db.close()


class _Texts(Sequence[str]):
    """Different paragraphs, made when they are asked for: a million of them need not be held. They share a body."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._bodies = [paragraph(random.Random(number)) for number in range(1_000)]

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(self._count))]
        if not 0 <= at < self._count:
            raise IndexError(at)
        return f"Record {at}. {self._bodies[at % len(self._bodies)]}"

    def __iter__(self) -> Iterator[str]:
        return (self[at] for at in range(self._count))


def _ask(library: Path) -> dict[str, float | str]:
    engine, settings = QueryEngine(library, _Random()), resolve()
    asked: list[tuple[float, float]] = []
    began = time.perf_counter()
    trace = engine.ask("open it", settings)
    opened = time.perf_counter() - began
    for number in range(_QUESTIONS):
        began = time.perf_counter()
        trace = engine.ask(f"question {number}", settings)
        asked.append(((time.perf_counter() - began) * 1000, trace.timings_ms.search))
    engine.close()
    assert trace.index is not None
    return {
        "opened": opened,
        "next_ms": asked[0][0],
        "other_ms": statistics.median(total for total, _ in asked[1:]),
        "search_ms": statistics.median(search for _, search in asked[1:]),
        "index": f"{trace.index.kind}, {'exact' if trace.index.exact else 'not exact'}",
    }


class _Random(WordEncoder):
    """Questions point anywhere, as the texts' vectors do."""

    def __init__(self) -> None:
        super().__init__(_SIDE)

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = [np.random.default_rng(zlib.crc32(text.encode())).standard_normal(_SIDE) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32)


if __name__ == "__main__":
    print(json.dumps(_ask(Path(sys.argv[1]))))
