"""What a scan finds out once: the texts of a library and what they share. Families are made from it (`making.py`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.duplicates.decided import NOTHING_DECIDED, Decided
from pipeline.duplicates.join import Pairs
from pipeline.duplicates.records import Alike, Weighty
from pipeline.duplicates.sets import Numbers
from pipeline.store.duplicates import ChunkColumns, DocumentRow

# Of the smaller text, whatever the settings say: so thresholds can be moved without a new scan. Two that resemble each
# other from 0.25 on share that much.
LEAST_SHARED = 0.40
FEWEST_SHINGLES = 8  # a shorter text is found by being equal alone
SMALLEST_WITHOUT_TEXT = 1024  # bytes; a smaller file without text is nothing that one would keep a copy of

Differing = tuple[tuple[Weighty, ...], int]  # the first of them, and how many there are


@dataclass(frozen=True, slots=True)
class NearPassages:
    """Pairs of different passages that share enough: pair i is of the folded texts `one[i]` and `other[i]`, numbered
    as in `ChunkColumns`, with that `similarity`."""

    one: Numbers
    other: Numbers
    similarity: NDArray[np.float64]

    def at_least(self, near: float) -> dict[int, list[int]]:
        """Each text that is near others from that similarity on, with those."""
        found: dict[int, list[int]] = {}
        chosen = self.similarity >= near - 1e-9
        for one, other in zip(self.one[chosen].tolist(), self.other[chosen].tolist(), strict=True):
            found.setdefault(one, []).append(other)
            found.setdefault(other, []).append(one)
        return found


@dataclass(frozen=True, slots=True)
class Ground:
    """`documents` are in the order of their doc_ids. `texts[t]` holds the numbers of the documents with text t, whose
    key is `keys[t]`; documents without any text are in no text, or in one by their bytes (`readable` tells which).
    `pairs` are those that share enough, and more than boilerplate. `differing` remembers what
    was found to differ, by (head, member, member is a part) of texts."""

    library: Path
    generation: int
    token: str
    documents: Sequence[DocumentRow]
    texts: Sequence[tuple[int, ...]]
    keys: Sequence[str]
    readable: Sequence[bool]
    sizes: Numbers
    pairs: Pairs
    chunks: ChunkColumns
    decided: Decided = NOTHING_DECIDED
    passages: NearPassages | None = None
    alike: tuple[Alike, ...] = ()
    differing: dict[tuple[int, int, bool], Differing] = field(default_factory=dict)


def family_key(contents: Iterable[str]) -> str:
    """64 hex digits that name a set of contents, each by its content key, whatever their paths."""
    return hashlib.sha256("\n".join(sorted(set(contents))).encode()).hexdigest()


def grouped(documents: Sequence[DocumentRow]) -> tuple[list[tuple[int, ...]], list[str], list[bool]]:
    """(texts, keys, readable) as a `Ground` has them, by key. Every document with text needs its fold key."""
    found: dict[tuple[str, bool], list[int]] = {}
    for number, document in enumerate(documents):
        if document.chunks and document.fold_key:
            found.setdefault((document.fold_key, True), []).append(number)
        elif not document.chunks and document.content_sha256 and document.size >= SMALLEST_WITHOUT_TEXT:
            found.setdefault((document.content_sha256, False), []).append(number)
    names = sorted(found)
    return [tuple(found[name]) for name in names], [key for key, _ in names], [readable for _, readable in names]
