"""Which sets of shingles share much: an exact join, on numpy alone.

Who shares `least` of a set's shingles shares one of its rarest few (prefix filter: Chaudhuri et al., "A primitive
operator for similarity joins", 2006), and several of its rarest few more (Wang et al., "Can we beat the prefix
filtering?", 2012). So each set is looked up by its rarest shingles alone, in all sets that are at least as large, and
every pair that is found is then counted in full. Shingles that stand in more than `MOST_HOLDERS` sets lead only to
the largest `HUBS` of them: a family of thousands is found by its head, not by all its pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipeline.duplicates.sets import Hashes, Numbers, Sets
from pipeline.progress import CancelToken

MOST_HOLDERS = 100
HUBS = 32
HITS = 3  # of a set's rarest shingles that a pair has to share before it is counted in full
_PART = 8_000_000  # hashes that are sorted together
_BLOCK = 4_000_000  # lookups that are made together

Flags = NDArray[np.bool_]
Indexes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of sets by number: `small[i]` has at most as many shingles as `large[i]`, and they share `shared[i]`.
    Ordered by `small`, then `large`. `crowded` flags the sets that were looked up by a shingle with more holders than
    are all looked at: of their pairs, those with the largest of these are here."""

    small: Numbers
    large: Numbers
    shared: Numbers
    crowded: Flags

    def __len__(self) -> int:
        return len(self.small)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The shingles that several sets hold, numbered from the rarest on: `codes` is sorted and holds set number << 32 |
    shingle number; shingle r stands in the sets `holders[starts[r]:starts[r] + counts[r]]`, as far as looked up."""

    codes: Numbers
    offsets: Numbers
    holders: Indexes
    starts: Numbers
    counts: Numbers
    crowded: Flags


def no_pairs(sets: int) -> Pairs:
    """The pairs of so many sets before any was looked for."""
    nothing = np.zeros(0, np.int64)
    return Pairs(nothing, nothing, nothing, np.zeros(sets, np.bool_))


def pairs_sharing(sets: Sets, least: float, *, cancel: CancelToken | None = None) -> Pairs:
    """All pairs that share at least `least` (0..1) of the smaller one's shingles."""
    return _joined(_rank(sets, sets.sizes, cancel), sets.sizes, least, None, cancel)


def pairs_since(
    sets: Sets, before: Pairs, changed: Flags, least: float, *, cancel: CancelToken | None = None
) -> Pairs | None:
    """What `pairs_sharing` says of these sets, from what it said before some of them changed: `before` holds the pairs
    of the others, in the numbers of now. None where only a look at everything can tell."""
    sizes = sets.sizes
    again = changed | before.crowded
    some = sets.only(_among(sets.hashes, sets.hashes[np.repeat(again, sizes)]))
    ranked = _rank(some, sizes, cancel)
    if _tips(ranked, changed, again):
        return None
    fresh = _joined(ranked, sizes, least, (changed, again), cancel)
    kept = ~again[before.small]
    small = np.concatenate([before.small[kept], fresh.small])
    large = np.concatenate([before.large[kept], fresh.large])
    shared = np.concatenate([before.shared[kept], fresh.shared])
    order = np.lexsort((large, small))
    return Pairs(small[order], large[order], shared[order], fresh.crowded & again)


def _tips(ranked: _Ranked, changed: Flags, again: Flags) -> bool:
    """Whether a shingle has too many holders now that had not before, and a set holds it that is not looked up."""
    numbers = ranked.codes & 0xFFFFFFFF
    owners = ranked.codes >> 32
    now = np.bincount(numbers, minlength=len(ranked.counts))
    new = np.bincount(numbers[changed[owners]], minlength=len(ranked.counts))
    tipped = (now > MOST_HOLDERS) & (now - new <= MOST_HOLDERS)
    return bool((tipped[numbers] & ~again[owners]).any())


def _joined(
    ranked: _Ranked,
    sizes: Numbers,
    least: float,
    only: tuple[Flags, Flags] | None,
    cancel: CancelToken | None,
) -> Pairs:
    found: list[tuple[Numbers, Numbers, Numbers]] = []
    crowded = np.zeros(len(sizes), np.bool_)
    for small, large in _candidates(ranked, sizes, least, only, crowded):
        if cancel is not None:
            cancel.check()
        shared = shared_of(ranked.codes, ranked.offsets, small, large)
        enough = shared >= least * sizes[small] - 1e-9
        found.append((small[enough], large[enough], shared[enough]))
    if not found:
        return replace(no_pairs(len(sizes)), crowded=crowded)
    small, large, shared = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((large, small))
    return Pairs(small[order], large[order], shared[order], crowded)


def shared_of(codes: Numbers, offsets: Numbers, small: Numbers, large: Numbers) -> Numbers:
    """How many entries the sets `small[i]` and `large[i]` share. `codes` is sorted: set number << 32 | entry."""
    shared = np.zeros(len(small), np.int64)
    lengths = offsets[small + 1] - offsets[small]
    for start, end in _blocks(lengths, _BLOCK // 4):
        part = lengths[start:end]
        wanted = codes[_ragged(offsets[small[start:end]], part)] & 0xFFFFFFFF
        wanted |= np.repeat(large[start:end] << 32, part)
        places = np.searchsorted(codes, wanted)
        places[places == len(codes)] = 0
        hit = codes[places] == wanted if len(codes) else np.zeros(0, np.bool_)
        before = np.zeros(len(hit) + 1, np.int64)
        np.cumsum(hit, out=before[1:])
        ends = np.cumsum(part)
        shared[start:end] = before[ends] - before[ends - part]
    return shared


def _candidates(
    ranked: _Ranked, sizes: Numbers, least: float, only: tuple[Flags, Flags] | None, crowded: Flags
) -> Iterator[tuple[Numbers, Numbers]]:
    """(small, large) of every pair that can share enough, and few others. `only` flags the sets that changed, and those
    that are looked up again: pairs with a changed one, or of one that is looked up. Sets `crowded` (see `Pairs`)."""
    held = np.diff(ranked.offsets)
    needed = np.maximum(np.ceil(least * sizes - 1e-9).astype(np.int64), 1)
    hits = np.minimum(HITS, needed)
    every = np.flatnonzero(held >= needed)
    many = held[every] - needed[every] + hits[every]
    for start, end in _blocks(many, _BLOCK):
        yield from _looked_up(ranked, sizes, every[start:end], many[start:end], hits, only, crowded)


def _looked_up(
    ranked: _Ranked,
    sizes: Numbers,
    able: Numbers,
    looked_up: Numbers,
    hits: Numbers,
    only: tuple[Flags, Flags] | None,
    crowded: Flags,
) -> Iterator[tuple[Numbers, Numbers]]:
    """The candidates of these sets, each looked up by so many of its rarest shingles."""
    entries = ranked.codes[_ragged(ranked.offsets[able], looked_up)] & 0xFFFFFFFF
    work = ranked.counts[entries]
    ends = np.cumsum(looked_up)
    crowded[np.repeat(able, looked_up)[ranked.crowded[entries]]] = True
    before = np.zeros(len(entries) + 1, np.int64)
    np.cumsum(work, out=before[1:])
    for start, end in _blocks(before[ends] - before[ends - looked_up], _BLOCK):
        first = int(ends[start - 1]) if start else 0
        own, many = entries[first : ends[end - 1]], work[first : ends[end - 1]]
        large = ranked.holders[_ragged(ranked.starts[own], many)].astype(np.int64)
        place = np.repeat(np.repeat(np.arange(start, end), looked_up[start:end]), many)
        small = able[place]
        right = (sizes[large] > sizes[small]) | ((sizes[large] == sizes[small]) & (large > small))
        if only is not None:
            right &= only[1][small] | only[0][large]
        keys = (small[right] << 32) | large[right]
        keys.sort()
        if not len(keys):
            continue
        firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        times = np.diff(np.append(firsts, len(keys)))
        keys = keys[firsts]
        enough = times >= hits[keys >> 32]
        yield keys[enough] >> 32, keys[enough] & 0xFFFFFFFF


def _rank(sets: Sets, sizes: Numbers, cancel: CancelToken | None) -> _Ranked:
    owners = np.repeat(np.arange(len(sets), dtype=np.int32), sets.sizes)
    holders: list[Indexes] = []
    counts: list[Numbers] = []
    for places in _parts(sets.hashes):
        if cancel is not None:
            cancel.check()
        values = sets.hashes[places]
        order = np.argsort(values)
        values = values[order]
        firsts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])) if len(values) else places
        many = np.diff(np.append(firsts, len(values)))
        several = many > 1
        holders.append(owners[places[order]][np.repeat(several, many)])
        counts.append(many[several])
    del owners, places, values, order
    return _numbered(np.concatenate(holders), np.concatenate(counts), sizes)


def _numbered(holders: Indexes, counts: Numbers, sizes: Numbers) -> _Ranked:
    order = np.argsort(counts, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    codes = holders.astype(np.int64)
    codes <<= 32
    ends = np.cumsum(counts)
    for start, end in _blocks(counts, _BLOCK):
        codes[ends[start] - counts[start] : ends[end - 1]] |= np.repeat(rank[start:end], counts[start:end])
    codes.sort()
    offsets = np.searchsorted(codes, np.arange(len(sizes) + 1, dtype=np.int64) << 32)
    starts = ends - counts
    crowded = counts > MOST_HOLDERS
    looked_up = counts.copy()
    for group in np.flatnonzero(crowded).tolist():
        start, end = int(starts[group]), int(starts[group] + counts[group])
        those = holders[start:end]
        holders[start:end] = those[np.lexsort((-those, -sizes[those]))]
        looked_up[group] = HUBS
    return _Ranked(codes, offsets, holders, starts[order], looked_up[order], crowded[order])


def _parts(hashes: Hashes) -> Iterator[Numbers]:
    """The places of all hashes in parts, equal hashes in the same."""
    bits = max(0, int(np.ceil(np.log2(max(1, len(hashes)) / _PART))))
    if not bits:
        yield np.arange(len(hashes))
        return
    bits = min(bits, 8)
    highest = np.empty(len(hashes), np.uint8)
    for start in range(0, len(hashes), _PART):
        highest[start : start + _PART] = hashes[start : start + _PART] >> np.uint64(64 - bits)
    for part in range(1 << bits):
        yield np.flatnonzero(highest == part)


def _among(hashes: Hashes, wanted: Hashes) -> Flags:
    """Which of the hashes are among the wanted ones."""
    wanted = np.unique(wanted)
    if not len(wanted):
        return np.zeros(len(hashes), np.bool_)
    places = np.searchsorted(wanted, hashes)
    places[places == len(wanted)] = 0
    return np.asarray(wanted[places] == hashes)


def _ragged(starts: Numbers, lengths: Numbers) -> Numbers:
    """The indexes starts[0], starts[0] + 1, ... of all runs, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    indexes = np.repeat(starts - (ends - lengths), lengths)
    indexes += np.arange(total, dtype=np.int64)
    return indexes


def _blocks(work: Numbers, most: int) -> Iterator[tuple[int, int]]:
    """Cut a list of pieces of work into blocks of at most `most` each, a larger piece alone."""
    ends = np.cumsum(work)
    start = 0
    while start < len(work):
        done = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield start, end
        start = end
