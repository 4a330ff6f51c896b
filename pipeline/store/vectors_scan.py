"""Scans over many vectors, split over the processors. The only module that imports faiss.

Nothing here decides an answer: a scan proposes, and `pipeline.store.vectors` ranks what it proposes by exact scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

import faiss
import numpy as np
import numpy.typing as npt

from pipeline.embed.cores import usable_cores
from pipeline.embed.port import Vectors

Positions = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

_LEAST_PER_PART = 8_192  # vectors: below it, handing a part to another thread costs more than it saves
_LEVELS = 255
# Of a sum of single-precision products, both here and in faiss: far above what was ever seen, far below what counts.
ROUNDING = 1e-5


Part = TypeVar("Part")
Found = tuple[Positions, Scores]


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(usable_cores(), thread_name_prefix="scan", initializer=_alone)


def _alone() -> None:
    """From here on, faiss works in this thread alone: one query it would not split, and start a team all the same."""
    faiss.omp_set_num_threads(1)


def _each(search: Callable[[Part], Found], parts: Sequence[Part]) -> list[Found]:
    """What the search finds in each part, all parts at the same time."""
    if len(parts) == 1:
        _alone()
        return [search(parts[0])]
    return list(_threads().map(search, parts))


def _parts(count: int) -> list[slice]:
    pieces = max(1, min(usable_cores(), count // _LEAST_PER_PART))
    ends = [count * number // pieces for number in range(pieces + 1)]
    return [slice(start, end) for start, end in pairwise(ends)]


def _merged(found: Sequence[Found], width: int) -> Found:
    """The best `width` of several parts' answers, best first."""
    positions = np.concatenate([each for each, _ in found])
    scores = np.concatenate([each for _, each in found])
    order = np.argsort(-scores, kind="stable")[:width]
    return positions[order], scores[order]


def best_of(rows: Vectors, query: Vectors, width: int) -> Found:
    """The best `width` of these rows, shape (n, dimension), best first; scores within `ROUNDING` of the exact ones."""

    def search(part: slice) -> Found:
        piece = rows[part]
        scores, found = faiss.knn(query.reshape(1, -1), piece, min(width, len(piece)), faiss.METRIC_INNER_PRODUCT)
        return found[0].astype(np.int64) + part.start, scores[0].astype(np.float64)

    return _merged(_each(search, _parts(len(rows))), width)


@dataclass(frozen=True, slots=True)
class Grid:
    """How numbers become bytes: `low` becomes 0 and `low + span` 255. No vector's bytes stand for one that is further
    than `error` from it."""

    low: float
    span: float
    error: float = 0.0

    @staticmethod
    def over(low: float, high: float) -> Grid:
        return Grid(float(np.float32(low)), float(np.float32(max(high - low, 1e-6))))

    def encoded(self, rows: Vectors) -> Bytes:
        """Shape of `rows`."""
        levels = np.clip((rows - np.float32(self.low)) * np.float32(_LEVELS / self.span), 0, _LEVELS)
        return np.asarray(levels.astype(np.uint8), dtype=np.uint8)

    def distances(self, rows: Vectors, codes: Bytes) -> Scores:
        """How far what each row of bytes stands for is from the row itself, at most."""
        off = codes.astype(np.float32)
        off += np.float32(0.5)
        off *= np.float32(self.span / _LEVELS)
        off += np.float32(self.low)
        off -= rows
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", off, off).astype(np.float64)) + ROUNDING, np.float64)


class EightBitScan:
    """Vectors at one byte a number: a quarter of the memory to read, which is what a scan waits for.

    Its scores are within `slack(query)` of the exact ones, so whoever looks that much deeper misses nothing.
    """

    def __init__(self, count: int, dimension: int, grid: Grid, fill: Callable[[Bytes], None]) -> None:
        """`fill` is called with the place of each part's bytes, in order, to be filled with them."""
        self.grid = grid
        self._count = count
        self._parts: list[tuple[slice, Any]] = []
        for part in _parts(count):
            index = faiss.IndexScalarQuantizer(
                dimension, faiss.ScalarQuantizer.QT_8bit_uniform, faiss.METRIC_INNER_PRODUCT
            )
            faiss.copy_array_to_vector(np.array([grid.low, grid.span], np.float32), index.sq.trained)
            index.is_trained = True
            size = _size(part)
            index.codes.resize(size * dimension)
            fill(faiss.rev_swig_ptr(index.codes.data(), size * dimension))
            index.ntotal = size
            self._parts.append((part, index))

    def __len__(self) -> int:
        return self._count

    def slack(self, query: Vectors) -> float:
        return self.grid.error * float(np.linalg.norm(query)) + ROUNDING

    def best(self, query: Vectors, width: int, alive: npt.NDArray[np.bool_] | None) -> Found:
        """The `width` best by the bytes, best first. `alive`, shape (len,), tells which count, None: all."""

        def search(piece: tuple[slice, Any]) -> Found:
            part, index = piece
            parameters = None
            if alive is not None:
                bits = np.packbits(alive[part], bitorder="little")
                # Any: the library's stubs do not know the keywords that its constructors take.
                parameters = _any(faiss.SearchParameters)(sel=_any(faiss.IDSelectorBitmap)(bits))
            scores, found = index.search(query.reshape(1, -1), min(width, _size(part)), params=parameters)
            known = found[0] >= 0
            return found[0][known].astype(np.int64) + part.start, scores[0][known].astype(np.float64)

        return _merged(_each(search, self._parts), width)

    def codes(self) -> Iterator[Bytes]:
        """The bytes of each part, in order, shape (bytes,); to be read at once."""
        for part, index in self._parts:
            yield faiss.rev_swig_ptr(index.codes.data(), _size(part) * index.d)


def _size(part: slice) -> int:
    return int(part.stop - part.start)


def _any(value: Any) -> Any:
    return value
