"""Runs of words that many texts hold and that are no passage by themselves: a footer, cut with what precedes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pipeline.duplicates.boilerplate import COMMON, EXAMPLES
from pipeline.duplicates.join import Flags
from pipeline.duplicates.records import Boilerplate
from pipeline.duplicates.sets import Numbers, Sets
from pipeline.duplicates.shingles import SHINGLE_WORDS, shingles_in_order, words
from pipeline.store.duplicates import DocumentRow
from pipeline.words.plain import first_words

_FEWEST = 8  # shingles of a run
_LOOKED_AT = 2_000  # texts in which runs are looked for; who holds them is counted among all
_MOST = 20
_MORE = 1.5  # times as many texts hold a run than one that it is a part of: then it is the one to tell
Run = tuple[tuple[str, ...], tuple[int, ...]]  # its words with case folded, the numbers of the texts that hold it


def common_runs(sets: Sets, often: Flags, text_of: Callable[[int], str]) -> list[Run]:
    """The runs of words that at least `COMMON` texts hold, the longest first, each once."""
    commons = sets.only(often).sizes
    numbers = np.flatnonzero(commons >= _FEWEST)
    numbers = numbers[:: max(1, -(-len(numbers) // _LOOKED_AT))]
    times: Counter[tuple[int, ...]] = Counter()
    spelt: dict[tuple[int, ...], tuple[str, ...]] = {}
    for number in numbers.tolist():
        own = slice(int(sets.offsets[number]), int(sets.offsets[number + 1]))
        there = set(sets.hashes[own][often[own]].tolist())
        text = text_of(number)
        found, spoken = shingles_in_order(text), words(text)
        begun = 0
        for place, shingle in enumerate((*found, None)):
            if shingle in there:
                continue
            if place - begun >= _FEWEST:
                run = tuple(found[begun:place])
                times[run] += 1
                spelt.setdefault(run, tuple(spoken[begun : place + SHINGLE_WORDS - 1]))
            begun = place + 1
    likely = sorted((run for run, count in times.most_common(_MOST) if count > 1), key=len, reverse=True)
    runs: list[Run] = []
    for run in likely:
        held = _holders(sets, run)
        longer = [each for each in runs if _within(spelt[run], each[0])]
        if len(held) < COMMON or any(len(held) < _MORE * len(each[1]) for each in longer):
            continue
        runs = [each for each in runs if each not in longer]
        runs.append((spelt[run], tuple(held)))
    return runs


def boilerplate_of(
    runs: Sequence[Run],
    texts: Sequence[tuple[int, ...]],
    documents: Sequence[DocumentRow],
    families: Mapping[int, int],
    told: Sequence[Boilerplate],
) -> tuple[Boilerplate, ...]:
    """The runs in documents that are not of one family, as they are reported, without those that `told` has as a
    passage. `texts` holds the numbers of the documents with each text, `families` the number of a row id's family."""
    known = [tuple(words(each.opening.rstrip("\u2026 "))) for each in told if each.opening]
    found: list[Boilerplate] = []
    for run, numbers in runs:
        rows = [documents[number] for text in numbers for number in texts[text]]
        apart = len({families.get(row.id, -row.id) for row in rows}) >= COMMON
        if apart and not any(_within(each[:_FEWEST], run) or _within(run, each) for each in known):
            names = sorted(row.doc_id for row in rows)
            found.append(Boilerplate("repeated", first_words(" ".join(run)), len(names), tuple(names[:EXAMPLES])))
    return tuple(found)


def _holders(sets: Sets, run: Sequence[int]) -> list[int]:
    wanted = np.unique(np.array(run, np.uint64))
    places: Numbers = np.flatnonzero(sets.hashes == wanted[0])
    owners = np.searchsorted(sets.offsets, places, side="right") - 1
    return [owner for owner in owners.tolist() if np.isin(wanted, sets[owner]).all()]


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(whole)} "
