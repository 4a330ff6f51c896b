"""Passages that nearly stand in two places: the same join as of documents, on the passages' own shingles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pipeline.duplicates.ground import FEWEST_SHINGLES, LEAST_SHARED, NearPassages
from pipeline.duplicates.join import pairs_sharing, pairs_since
from pipeline.duplicates.kept import KEPT_PASSAGES, keep_pairs, kept_pairs
from pipeline.duplicates.sets import sets_of_kept
from pipeline.duplicates.shingles import packed
from pipeline.progress import CancelToken
from pipeline.store.duplicates import DuplicateCatalog


def near_passages(
    library: Path, rows: DuplicateCatalog, tell: Callable[[int], None], cancel: CancelToken
) -> NearPassages:
    """Every pair of the library's different passages that share enough; what did not change is taken from the scan
    before. `tell` hears how many passages were read."""
    numbers: list[int] = []
    keys: list[str] = []

    def read() -> list[bytes]:
        blobs = []
        for number, key, text, kept in rows.passage_shingles():
            numbers.append(number)
            keys.append(key)
            blobs.append(packed(text) if kept is None else kept)
            tell(len(numbers))
        return blobs

    sets = sets_of_kept(read())
    sizes = sets.sizes
    long_enough = np.repeat(sizes >= FEWEST_SHINGLES, sizes)
    sets = sets.only(long_enough)
    kept = kept_pairs(library / KEPT_PASSAGES, keys, sizes)
    pairs = None
    if kept is not None:
        pairs = pairs_since(sets, kept.pairs, ~kept.known, LEAST_SHARED, cancel=cancel)
    if pairs is None:
        pairs = pairs_sharing(sets, LEAST_SHARED, cancel=cancel)
    keep_pairs(library / KEPT_PASSAGES, keys, sizes, pairs, {})
    named = np.array(numbers, np.int64)
    together = sizes[pairs.small] + sizes[pairs.large] - pairs.shared
    return NearPassages(named[pairs.small], named[pairs.large], pairs.shared / np.maximum(together, 1))
