"""A large library in a fresh process: opened by its first question, asked more, and how much memory that takes.

    python -m tests.bench.opening LIBRARY

The process prints one JSON object. The library is written straight into the store: to index a million texts would take
a day.
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
from pathlib import Path
from typing import overload

import numpy as np

from pipeline.embed.port import Vectors
from pipeline.query import QueryEngine
from pipeline.settings import resolve
from tests.bench.corpus import paragraph
from tests.bench.figures import Row, Target
from tests.bench.memory import peak
from tests.bench.querying import write_library
from tests.support.encoder import WordEncoder

_ROOT = Path(__file__).resolve().parents[2]
_SIDE = 384
_QUESTIONS = 9
_MEMORY_MB = 4_000  # half of a computer of 8 GB


def opening(place: Path, *, chunks: int) -> list[Row]:
    """A library of so many different texts, one chunk each."""
    library = write_library(place / "large", WordEncoder(_SIDE), _Texts(chunks), _vectors(chunks), range(chunks))
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
    ]


def _vectors(count: int) -> Vectors:
    rows = np.random.default_rng(7).standard_normal((count, _SIDE), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


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
