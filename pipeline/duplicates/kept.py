"""What a scan found out about pairs of texts, kept beside the library: the next scan looks only at what changed.

It goes by what the texts are, never by where they stand, and is nothing but a saving: a file that is missing, damaged
or of another version costs time. It holds numbers and words that differ, is read as arrays, and nothing is unpickled.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.duplicates.ground import FEWEST_SHINGLES, LEAST_SHARED, Differing
from pipeline.duplicates.join import HUBS, MOST_HOLDERS, Flags, Pairs
from pipeline.duplicates.records import Weighty
from pipeline.duplicates.sets import Numbers
from pipeline.duplicates.shingles import METHOD

KEPT_NAME = "library.duplicates"
KEPT_PASSAGES = "library.passages"
_VERSION = json.dumps([2, METHOD, LEAST_SHARED, FEWEST_SHINGLES, MOST_HOLDERS, HUBS])


@dataclass(frozen=True, slots=True)
class KeptPairs:
    """The pairs of an earlier scan in the numbers of this one; `known` flags the texts that it saw."""

    pairs: Pairs
    known: Flags
    differing: Mapping[tuple[int, int, bool], Differing]


def kept_pairs(kept: Path, keys: Sequence[str], sizes: Numbers) -> KeptPairs | None:
    """What an earlier scan kept in that file, for texts with these keys; None where there is nothing of use."""
    try:
        with kept.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if str(file["version"]) != _VERSION:
                return None
            old_keys = _keys(file)
            old_sizes = file["sizes"]
            columns = [file[name].astype(np.int64) for name in ("small", "large", "shared")]
            old_crowded = file["crowded"].astype(np.bool_)
            differing = json.loads(file["differing"].tobytes().decode("utf-8"))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    now = {key: number for number, key in enumerate(keys)}
    number_of = np.array([now.get(key, -1) for key in old_keys], np.int64)
    # The same key with another size: shingles were made in another way.
    there = number_of >= 0
    number_of[there] = np.where(sizes[number_of[there]] == old_sizes[there], number_of[there], -1)
    known = np.zeros(len(keys), np.bool_)
    known[number_of[number_of >= 0]] = True
    try:
        small, large = number_of[columns[0]], number_of[columns[1]]
        both = (small >= 0) & (large >= 0)
        crowded = np.zeros(len(keys), np.bool_)
        crowded[number_of[old_crowded & (number_of >= 0)]] = True
        return KeptPairs(
            Pairs(small[both], large[both], columns[2][both], crowded),
            known,
            _differing_in(differing, number_of),
        )
    except (IndexError, ValueError, TypeError):
        return None


def keep_pairs(
    kept: Path,
    keys: Sequence[str],
    sizes: Numbers,
    pairs: Pairs,
    differing: Mapping[tuple[int, int, bool], Differing],
) -> None:
    """Keep these in that file for the next scan, where its folder can be written."""
    told = [
        [head, member, part, total, [[word.kind, word.in_head, word.in_member] for word in words]]
        for (head, member, part), (words, total) in differing.items()
    ]
    columns = {
        "version": np.array(_VERSION),
        "keys": np.frombuffer(bytes.fromhex("".join(keys)), np.uint8),
        "sizes": sizes,
        "small": pairs.small.astype(np.int32),
        "large": pairs.large.astype(np.int32),
        "shared": pairs.shared.astype(np.int32),
        "crowded": pairs.crowded,
        "differing": np.frombuffer(json.dumps(told).encode("utf-8"), np.uint8),
    }
    with suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=f"{kept.name}.", dir=kept.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **columns)  # type: ignore[arg-type]  # the stubs take columns for flags
            os.replace(name, kept)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


def _keys(file: Any) -> list[str]:
    together = file["keys"].tobytes().hex()
    return [together[start : start + 64] for start in range(0, len(together), 64)]


def _differing_in(told: Any, number_of: Numbers) -> dict[tuple[int, int, bool], Differing]:
    found: dict[tuple[int, int, bool], Differing] = {}
    for old_head, old_member, part, total, words in told:
        head, member = int(number_of[old_head]), int(number_of[old_member])
        if head >= 0 and member >= 0:
            found[head, member, bool(part)] = (tuple(Weighty(*map(str, word)) for word in words), int(total))  # type: ignore[arg-type]
    return found
