"""The vector index alone, at sizes that nobody waits to embed: against FAISS' flat index and against the memory.

The vectors are made, in families as texts of one subject form them, with the closeness that 11,000 real chunks had
(nearest neighbour about 0.72, twentieth about 0.50; a question's first 0.66, twentieth 0.62, two-hundredth 0.53).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import faiss
import numpy as np

from pipeline.embed.port import Vectors
from pipeline.store import vectors, vectors_file
from pipeline.store.vectors import Ids, Stamp, VectorIndex
from pipeline.store.vectors_file import SCANNED_FROM
from tests.bench.bounds import bytes_a_second
from tests.bench.figures import Row, Target, alternating

DIMENSION = 384
_STAMP = Stamp("bench", 1, "bench", "bench")
_BLOCK = 50_000
_QUESTIONS = 30
_MOST_EXACT_MS = {100_000: 10.0, 1_000_000: 100.0}


def search(place: Path, *, sizes: tuple[int, ...]) -> list[Row]:
    rows: list[Row] = []
    for size in sizes:
        rows += _measured(place, size)
    return rows


def like_texts(count: int, seed: int) -> Iterator[Vectors]:
    """Unit vectors, some at a time; the families are those of every other call, whatever the seed."""
    families = np.random.default_rng(1)
    spread = (1 / np.sqrt(np.arange(1, DIMENSION + 1) + 8)).astype(np.float32)
    spread /= np.linalg.norm(spread)
    heads = families.standard_normal((4_000, DIMENSION)).astype(np.float32) * spread
    chance = np.random.default_rng(seed)
    for start in range(0, count, _BLOCK):
        size = min(_BLOCK, count - start)
        own = chance.standard_normal((size, DIMENSION)).astype(np.float32) * spread
        rows = heads[chance.integers(0, len(heads), size)] + chance.uniform(0.3, 0.9, (size, 1)).astype("f4") * own
        yield rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _measured(place: Path, size: int) -> list[Row]:
    folder = place / f"search {size}"
    folder.mkdir()
    flat = faiss.IndexFlatIP(DIMENSION)

    for some in like_texts(size, 7):
        flat.add(some)
    every = faiss.rev_swig_ptr(flat.get_xb(), size * DIMENSION).reshape(size, DIMENSION)

    def blocks() -> Iterator[tuple[Ids, Vectors]]:
        for start in range(0, size, _BLOCK):
            rows = every[start : start + _BLOCK]
            yield np.arange(start, start + len(rows), dtype=np.int64), rows

    began = time.perf_counter()
    vectors_file.write(folder, _STAMP, DIMENSION, size, blocks())
    written = time.perf_counter() - began
    began = time.perf_counter()
    index, reason = vectors.load(folder, _STAMP, DIMENSION)
    opened = time.perf_counter() - began
    if index is None:
        raise AssertionError(reason)
    try:
        questions = np.vstack(list(like_texts(_QUESTIONS + 1, 11)))
        return _rows(index, flat, questions, size, written, opened)
    finally:
        index.close()


def _rows(
    index: VectorIndex, flat: faiss.IndexFlatIP, questions: Vectors, size: int, written: float, opened: float
) -> list[Row]:
    index.search(questions[-1], 20)
    rows = []
    for limit in (20, 200):
        recalls = []

        def ours(number: int, limit: int = limit, recalls: list[float] = recalls) -> float:
            began = time.perf_counter()
            ids, _ = index.search(questions[number], limit)
            took = (time.perf_counter() - began) * 1000
            expected = flat.search(questions[number : number + 1], limit)[1][0]
            recalls.append(len(set(ids.tolist()) & set(expected.tolist())) / limit)
            return took

        def plain(number: int, limit: int = limit) -> float:
            began = time.perf_counter()
            flat.search(questions[number : number + 1], limit)
            return (time.perf_counter() - began) * 1000

        value, baseline = alternating(_QUESTIONS, ours, plain)
        width = 1 if size >= SCANNED_FROM else 4
        bound = size * DIMENSION * width / bytes_a_second() * 1000
        most = _MOST_EXACT_MS.get(size)
        rows += [
            Row(
                "search",
                f"search among {size:,} texts, best {limit} ({index.kind}, exact)",
                value,
                "ms",
                baseline,
                f"IndexFlatIP, median of {_QUESTIONS}",
                Target("value", "at most", most) if most else None,
                bound,
                f"reading {'the bytes' if width == 1 else 'the vectors'} once",
            ),
            Row("search", f"  recall@{limit}", statistics.mean(recalls), "", target=Target("value", "at least", 0.98)),
        ]
    read = size * DIMENSION * (1 if size >= SCANNED_FROM else 4) / bytes_a_second()
    return [
        *rows,
        Row(
            "search", f"  opening {size:,} vectors", opened, "s", bound=read, bound_is="reading what is kept in memory"
        ),
        Row("search", f"  writing them, with {'bytes and checks' if size >= SCANNED_FROM else 'checks'}", written, "s"),
    ]
