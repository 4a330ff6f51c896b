"""Many sets of shingles at once: one array of hashes, cut into sets by offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pipeline.duplicates.shingles import PLACES, SHINGLE_WORDS, hash_of, words

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int64]
_BATCH = 4_000  # texts that are hashed together


@dataclass(frozen=True, slots=True)
class Sets:
    """`hashes[offsets[i]:offsets[i + 1]]` is set i, sorted, each hash once."""

    hashes: Hashes
    offsets: Numbers  # one more than there are sets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Numbers:
        return np.diff(self.offsets)

    def __getitem__(self, number: int) -> Hashes:
        return self.hashes[self.offsets[number] : self.offsets[number + 1]]

    def only(self, wanted: NDArray[np.bool_]) -> Sets:
        """The same sets with those hashes alone for which `wanted`, one flag a hash, is true."""
        counts = np.zeros(len(self.hashes) + 1, np.int64)
        np.cumsum(wanted, out=counts[1:])
        return Sets(self.hashes[wanted], counts[self.offsets])


def sets_of_kept(kept: Iterable[bytes]) -> Sets:
    """Sets as `pipeline.duplicates.shingles.packed` makes them. Raises ValueError on a length that none has."""
    blobs = list(kept)
    if any(len(blob) % 8 for blob in blobs):
        raise ValueError("these are no shingles")
    offsets = np.zeros(len(blobs) + 1, np.int64)
    np.cumsum([len(blob) // 8 for blob in blobs], out=offsets[1:])
    hashes = np.frombuffer(b"".join(blobs), "<u8").astype(np.uint64, copy=False)
    return Sets(hashes, offsets)


def sets_of_texts(texts: Iterable[str]) -> Sets:
    """The sets of these texts, the same as those that are kept."""
    hashes: list[Hashes] = []
    sizes: list[Numbers] = [np.zeros(1, np.int64)]
    for batch in _batches(texts):
        found, counts = _of_batch(batch)
        hashes.append(found)
        sizes.append(counts)
    if not hashes:
        return Sets(np.zeros(0, np.uint64), np.zeros(1, np.int64))
    return Sets(_joined(hashes), np.cumsum(np.concatenate(sizes)))


def _joined(parts: list[Hashes]) -> Hashes:
    """All parts as one array; each is let go as soon as it is copied, so that memory never holds all of them twice."""
    joined = np.empty(sum(map(len, parts)), np.uint64)
    end = len(joined)
    while parts:
        part = parts.pop()
        joined[end - len(part) : end] = part
        end -= len(part)
    return joined


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(texts)
    while batch := list(islice(waiting, _BATCH)):
        yield batch


def _of_batch(texts: Sequence[str]) -> tuple[Hashes, Numbers]:
    found, counts = _in_order(texts)
    ends = np.cumsum(counts)
    start = 0
    for end in ends.tolist():
        found[start:end].sort()
        start = end
    first = np.ones(len(found), np.bool_)
    first[1:] = found[1:] != found[:-1]
    starts = ends - counts
    first[starts[counts > 0]] = True
    before = np.zeros(len(found) + 1, np.int64)
    np.cumsum(first, out=before[1:])
    return found[first], before[ends] - before[starts]


def _in_order(texts: Sequence[str]) -> tuple[Hashes, Numbers]:
    """The shingles of all texts one after the other, and how many each has."""
    flat: list[str] = []
    lengths: list[int] = []
    for text in texts:
        own = words(text)
        padding = SHINGLE_WORDS - len(own) if 0 < len(own) < SHINGLE_WORDS else 0
        flat += own
        flat += [""] * padding
        lengths.append(len(own) + padding)
    hashed = np.fromiter(map(hash_of, flat), np.uint64, len(flat))
    if "" in flat:
        hashed[np.fromiter((not word for word in flat), np.bool_, len(flat))] = 0
    if len(hashed) < SHINGLE_WORDS:
        return np.zeros(0, np.uint64), np.zeros(len(texts), np.int64)
    one, two, three = (np.uint64(place) for place in PLACES)
    mixed = hashed[:-2] * one
    mixed += hashed[1:-1] * two
    mixed += hashed[2:] * three
    # A run of three must not reach from one text into the next.
    within = np.ones(len(mixed), np.bool_)
    ends = np.cumsum(lengths)[:-1]
    for back in (1, 2):
        across = ends - back
        within[across[(across >= 0) & (across < len(mixed))]] = False
    counts = np.maximum(np.array(lengths, np.int64) - (SHINGLE_WORDS - 1), 0)
    return mixed[within], counts
