"""Almost equal texts: shown as such, folded only on request.

Resemblance of two texts is the Jaccard index of their sets of 3-word shingles (Broder, "On the resemblance and
containment of documents", 1997). Words are what white space separates, as they stand: case and punctuation count.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from pipeline.records import Candidate, Fate, NearTwin
from pipeline.select.outcome import Block, Outcome

SHINGLE_WORDS = 3
Shingle = tuple[str, ...]


def shingles(text: str) -> frozenset[Shingle]:
    """The set of runs of three words; a shorter text is one shingle."""
    words = text.split()
    if len(words) <= SHINGLE_WORDS:
        return frozenset([tuple(words)])
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def near_pairs(texts: Sequence[str], threshold: float) -> dict[tuple[int, int], float]:
    """(i, j) with i < j -> resemblance, for all pairs of at least `threshold` (0..1) that share a shingle. Exact."""
    sets = [shingles(text) for text in texts]
    pairs = {}
    for first, second in _possible_pairs(sets, threshold):
        both = len(sets[first] & sets[second])
        similarity = both / (len(sets[first]) + len(sets[second]) - both)
        if similarity >= threshold:
            pairs[(first, second)] = similarity
    return pairs


def _possible_pairs(sets: Sequence[frozenset[Shingle]], threshold: float) -> set[tuple[int, int]]:
    """All pairs that can reach `threshold`, and few others, without comparing all with all.

    Prefix filter (Chaudhuri et al., "A primitive operator for similarity joins", 2006): two sets that resemble each
    other share at least `threshold` of the larger one, so they share one of each one's rarest few.
    """
    holders = Counter(chain.from_iterable(sets))
    held_by_several = sorted((shingle for shingle, count in holders.items() if count > 1), key=holders.__getitem__)
    rarity = {shingle: place for place, shingle in enumerate(held_by_several)}
    holding: list[list[int]] = [[] for _ in rarity]
    pairs: set[tuple[int, int]] = set()
    for position, found in enumerate(sets):
        needed = max(1, math.ceil(threshold * len(found) - 1e-9))
        shared = [rarity[shingle] for shingle in found if shingle in rarity]
        if len(shared) < needed:
            continue
        shared.sort()
        for place in shared[: len(shared) - needed + 1]:
            pairs.update([(other, position) for other in holding[place]])
            holding[place].append(position)
    return pairs


def near_twins(candidates: Sequence[Candidate], threshold: float) -> Mapping[int, tuple[NearTwin, ...]]:
    """For each candidate, by rank: the candidates with an almost equal (not an equal) text, the most alike first.

    Of each near text only its best candidate is named.
    """
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.text is not None:
            first.setdefault(candidate.fold_key, candidate)
    heads = list(first.values())
    found: defaultdict[str, list[tuple[float, int, Candidate]]] = defaultdict(list)
    for (one, other), similarity in near_pairs([head.text or "" for head in heads], threshold).items():
        found[heads[one].fold_key].append((-similarity, heads[other].rank, heads[other]))
        found[heads[other].fold_key].append((-similarity, heads[one].rank, heads[one]))
    twins = {
        key: tuple(
            NearTwin(twin.evidence_key, round(-closeness, 4))
            for closeness, _, twin in sorted(near, key=lambda n: n[:2])
        )
        for key, near in found.items()
    }
    return {candidate.rank: twins[candidate.fold_key] for candidate in candidates if candidate.fold_key in twins}


def fold_near(blocks: Sequence[Block], threshold: float) -> Outcome[Block]:
    """Keeps of near-equal blocks the first; no chains: every folded block is near to the block that it went into."""
    pairs = near_pairs([block.content for block in blocks], threshold)
    kept: list[int] = []
    fates: dict[int, Fate] = {}
    for position, block in enumerate(blocks):
        heads = [(-pairs[(head, position)], head) for head in kept if (head, position) in pairs]
        if not heads:
            kept.append(position)
            continue
        closeness, head = min(heads)
        fates[block.carrier.rank] = Fate(
            "near_collapsed",
            "near",
            f"almost the same text as candidate {blocks[head].carrier.rank} ({-closeness:.0%} of the word triples)",
            into=blocks[head].key,
            numbers={
                "rank": blocks[head].carrier.rank,
                "similarity": round(-closeness, 4),
                "threshold": threshold,
            },
        )
    return Outcome(tuple(blocks[position] for position in kept), fates)
