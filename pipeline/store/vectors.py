"""The vector index: inner product of normalised vectors, one vector per equal text, always ranked by exact scores.

A small library's vectors are held in memory and looked through one by one. A large one's are scanned at one byte a
number, and what the scan proposes is ranked by the exact vectors, which stay on the disk. A byte's error is bounded,
so the scan looks as much deeper as it takes to prove that nothing better was missed: both answer the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from pipeline.embed.port import Vectors
from pipeline.errors import LibraryDamaged
from pipeline.store import vectors_file
from pipeline.store.vectors_file import VECTORS_NAME, Ids, Stamp, StoredVectors, Truth, Unusable, Watch, glance
from pipeline.store.vectors_scan import ROUNDING, Positions, Scores, best_of

__all__ = ["VECTORS_NAME", "Ids", "Scores", "Stamp", "Unusable", "VectorIndex", "Watch", "glance"]

# Two runs of the model over one text differ by up to 1e-7 a score, depending on what else is in the batch. Scores are
# given and compared at 4 decimals, so that such dust decides no order: equal scores fall back to the document order.
SCORE_DECIMALS = 4
_HALF = 0.5 * 10**-SCORE_DECIMALS
_AT_ONCE = 4096
OTHER_STATE = "it was made from another state of the library"
_WIDER, _LEAST = 4, 64  # so many times as many are proposed as are asked for, and so many more
_DEEP = 50_000  # candidates; beyond it, all rows are read in order


class VectorIndex:
    """Exact nearest neighbours over (id, vector) pairs. Not safe for use by two threads at once.

    `truth` gives the vectors of ids from the catalog, in the place of rows that turn out damaged on the disk.
    """

    def __init__(self, dimension: int, stored: StoredVectors | None = None, truth: Truth | None = None) -> None:
        self.dimension = dimension
        self.truth = truth
        self._stored = stored
        self._alive = np.ones(len(stored) if stored else 0, np.bool_)
        self._dead = 0
        # Those that are held in memory: all of a small library, what came since of a large one.
        self._count = 0
        self._ids, self._rows = np.empty(0, np.int64), np.empty((0, dimension), np.float32)

    def __len__(self) -> int:
        return self._count + len(self._alive) - self._dead

    @property
    def kind(self) -> str:
        """How a search goes about it: `flat` looks at every vector, `8-bit scan` at its bytes first."""
        return "flat" if self._stored is None else "8-bit scan"

    @property
    def damaged(self) -> bool:
        """Whether a row on the disk turned out damaged since the file was opened."""
        return self._stored is not None and self._stored.damaged

    @property
    def added(self) -> int:
        """How many vectors are held in memory beside those of a file."""
        return self._count if self._stored is not None else 0

    def close(self) -> None:
        if self._stored is not None:
            self._stored.close()

    @property
    def last(self) -> int:
        """The highest id that it holds or has held on the disk, 0 for none."""
        stored = int(self._stored.ids[-1]) if self._stored is not None and len(self._stored) else 0
        return max(stored, int(self._ids[: self._count].max(initial=0)))

    def ids(self) -> Ids:
        """All ids, shape (len,), in no promised order."""
        held = self._ids[: self._count]
        return held.copy() if self._stored is None else np.concatenate([self._stored.ids[self._alive], held])

    def add(self, ids: Ids, vectors: Vectors) -> None:
        """`ids` of shape (n,), `vectors` of shape (n, dimension), rows of length 1. Ids must be new."""
        needed = self._count + len(ids)
        if needed > len(self._ids):
            room = max(needed, 2 * self._count if self._count else 0)
            more_ids, more_rows = np.empty(room, np.int64), np.empty((room, self.dimension), np.float32)
            more_ids[: self._count], more_rows[: self._count] = self._ids[: self._count], self._rows[: self._count]
            self._ids, self._rows = more_ids, more_rows
        self._ids[self._count : needed], self._rows[self._count : needed] = ids, vectors
        self._count = needed

    def remove(self, ids: Ids) -> None:
        if not len(ids):
            return
        keep = ~np.isin(self._ids[: self._count], ids)
        if not keep.all():
            self._ids, self._rows = self._ids[: self._count][keep], self._rows[: self._count][keep]
            self._count = len(self._ids)
        if self._stored is not None:
            self._alive[_places(self._stored.ids, ids)] = False
            self._dead = len(self._alive) - int(self._alive.sum())

    def search(self, vector: Vectors, limit: int, only: Ids | None = None) -> tuple[Ids, Scores]:
        """The best `limit` ids and their scores, best first, and behind them every further id whose score equals the
        last one's, so that a cut never depends on the order of insertion. `only` restricts the search to those ids.
        `vector` has shape (dimension,)."""
        if limit <= 0 or not len(self) or (only is not None and not len(only)):
            return np.empty(0, np.int64), np.empty(0, np.float64)
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if only is not None:
            return _first(*self._of(only, query), limit)
        width = _WIDER * limit + _LEAST
        while width < min(len(self), _DEEP):
            ids, scores, bound = self._proposed(query, limit, width)
            # Nothing that was not looked at scores more than `bound`.
            if len(scores) >= limit and bound < np.partition(scores, -limit)[-limit] - 2 * _HALF:
                return _first(ids, _rounded(scores), limit)
            width *= 4
        return _first(*self.everything(query), limit)

    def everything(self, vector: Vectors) -> tuple[Ids, Scores]:
        """Every id and its score, best first, shape (len,); ids of equal score in no promised order."""
        query = np.ascontiguousarray(vector, dtype=np.float32)
        ids, scores = [self._ids[: self._count]], [_exact(self._rows[: self._count], query)]
        if self._stored is not None:
            for part, rows in self._stored.blocks(self._true):
                alive = self._alive[part]
                ids.append(self._stored.ids[part][alive])
                scores.append(_exact(rows, query)[alive])
        every, all_scores = np.concatenate(ids), _rounded(np.concatenate(scores))
        order = np.argsort(-all_scores, kind="stable")
        return every[order], all_scores[order]

    def save(self, folder: Path, stamp: Stamp) -> None:
        """Write `vectors.faiss` whole or not at all."""
        vectors_file.write(folder, stamp, self.dimension, len(self), self._blocks())

    # --- parts of a search ---

    def _of(self, ids: Ids, query: Vectors) -> tuple[Ids, Scores]:
        """Those of these ids that the index holds, and their scores, best first."""
        held = np.flatnonzero(np.isin(self._ids[: self._count], ids))
        found, scores = [self._ids[held]], [_exact(self._rows[held], query)]
        if self._stored is not None:
            places = _places(self._stored.ids, ids)
            places = places[self._alive[places]]
            found.append(self._stored.ids[places])
            scores.append(_exact(self._stored.take(places, self._true), query))
        every, all_scores = np.concatenate(found), _rounded(np.concatenate(scores))
        order = np.argsort(-all_scores, kind="stable")
        return every[order], all_scores[order]

    def _proposed(self, query: Vectors, limit: int, width: int) -> tuple[Ids, Scores, float]:
        """Ids that may be among the best `limit`, their exact scores, and what nothing else scores more than."""
        ids: list[Ids] = []
        scores: list[Scores] = []
        bound = -np.inf
        if self._count:
            held = self._rows[: self._count]
            places, rough = best_of(held, query, width)
            ids.append(self._ids[places])
            scores.append(_exact(held[places], query))
            if len(places) < self._count:
                bound = rough[-1] + ROUNDING
        if self._stored is not None:
            places, rough, missed = self._scanned(self._stored, query, limit, width)
            ids.append(self._stored.ids[places])
            scores.append(_exact(self._stored.take(places, self._true), query))
            bound = max(bound, missed)
        return np.concatenate(ids), np.concatenate(scores), bound

    def _scanned(
        self, stored: StoredVectors, query: Vectors, limit: int, width: int
    ) -> tuple[Positions, Scores, float]:
        """Positions that may be among the best `limit`, their rough scores, and what no other position scores more
        than."""
        slack = stored.scan.slack(query)
        places, rough = stored.scan.best(query, width, self._alive if self._dead else None)
        bound = rough[-1] + slack if len(places) < len(self._alive) - self._dead else -np.inf
        if len(places) > limit:
            # Two errors below the last place, no rough score can belong to one of the best: its row is not read.
            possible = int(np.sum(rough >= rough[limit - 1] - 2 * slack - 2 * _HALF))
            if possible < len(places):
                bound = max(bound, rough[possible] + slack)
                places, rough = places[:possible], rough[:possible]
        return places, rough, float(bound)

    def _true(self, ids: Ids) -> Vectors:
        if self.truth is None:
            raise LibraryDamaged("the library's vectors are damaged: open the library again")
        return self.truth(ids)

    def _blocks(self) -> Iterator[tuple[Ids, Vectors]]:
        """All ids, ascending, with their vectors."""
        if self._stored is not None:
            for part, rows in self._stored.blocks(self._true):
                alive = self._alive[part]
                yield self._stored.ids[part][alive], rows[alive]
        order = np.argsort(self._ids[: self._count])
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            yield self._ids[some], self._rows[some]


def _places(ascending: Ids, wanted: Ids) -> Positions:
    """Where those of the wanted ids stand that are among the ascending ones."""
    places = np.searchsorted(ascending, np.unique(wanted))
    places = places[places < len(ascending)]
    return np.asarray(places[np.isin(ascending[places], wanted)], dtype=np.int64)


def _exact(rows: Vectors, query: Vectors) -> Scores:
    """The inner products in double precision: the same wherever and beside whatever a row is looked at."""
    return np.asarray(rows.astype(np.float64) @ query.astype(np.float64), dtype=np.float64)


def _rounded(scores: Scores) -> Scores:
    return np.asarray(np.round(scores, SCORE_DECIMALS), dtype=np.float64)


def _first(ids: Ids, scores: Scores, limit: int) -> tuple[Ids, Scores]:
    """Best first: `limit` of them and those that score as the last of these."""
    order = np.argsort(-scores, kind="stable")
    keep = len(scores) if len(scores) <= limit else int(np.sum(scores >= scores[order[limit - 1]]))
    return ids[order[:keep]], scores[order[:keep]]


def load(folder: Path, stamp: Stamp, dimension: int, truth: Truth | None = None) -> tuple[VectorIndex | None, str]:
    """The stored index if it is exactly of `stamp`, else None and the reason why it has to be made again."""
    found, reason = latest(folder, truth)
    if found is None:
        return None, reason
    if (found.stamp, found.index.dimension) != (stamp, dimension):
        found.index.close()
        return None, OTHER_STATE
    return found.index, ""


@dataclass(frozen=True, slots=True)
class Found:
    """The index that the file holds, and the state of the library that it is of."""

    stamp: Stamp
    index: VectorIndex


def latest(folder: Path, truth: Truth | None = None) -> tuple[Found | None, str]:
    """The stored index, of whatever state; None, and why, where there is no sound one."""
    try:
        stamp, dimension, held = vectors_file.read(folder)
    except Unusable as reason:
        return None, f"it {reason}"
    if isinstance(held, StoredVectors):
        return Found(stamp, VectorIndex(dimension, held, truth)), ""
    index = VectorIndex(dimension)
    index.add(*held)
    return Found(stamp, index), ""


def build(rows: Iterable[tuple[int, bytes]], dimension: int) -> VectorIndex:
    """An index in memory of (id, vector as little-endian float32 bytes) rows."""
    index = VectorIndex(dimension)
    for ids, vectors in in_blocks(rows, dimension):
        index.add(ids, vectors)
    return index


def write(
    folder: Path,
    stamp: Stamp,
    dimension: int,
    count: int,
    rows: Iterable[tuple[int, bytes]],
    watch: Watch | None = None,
) -> None:
    """Write `vectors.faiss` of exactly `count` (id, vector) rows in ascending order, holding few of them in memory at a
    time. Raises `OSError`, and what `watch` raises."""
    vectors_file.write(folder, stamp, dimension, count, in_blocks(rows, dimension), watch)


def in_blocks(rows: Iterable[tuple[int, bytes]], dimension: int) -> Iterator[tuple[Ids, Vectors]]:
    """(id, bytes) rows as ids of shape (n,) and vectors of shape (n, dimension), some at a time."""
    left = iter(rows)
    while some := list(islice(left, _AT_ONCE)):
        ids, blobs = zip(*some, strict=True)
        yield np.array(ids, np.int64), vectors_of(blobs, dimension)


def vectors_of(blobs: Sequence[bytes], dimension: int) -> Vectors:
    """Shape (len(blobs), dimension), not to be written to."""
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), dimension).astype(np.float32, copy=False)


def blob_of(vector: Vectors) -> bytes:
    """A vector of shape (dimension,) as little-endian float32 bytes."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
