"""Almost equal texts: shown as such, folded only on request.

Resemblance of two texts is the Jaccard index of their sets of 3-word shingles (Broder, "On the resemblance and
containment of documents", 1997). Words are what white space separates, as they stand: case and punctuation count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pipeline.records import Candidate, Fate, NearTwin
from pipeline.select.outcome import Block, Outcome

SHINGLE_WORDS = 3


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The set of runs of three words; a shorter text is one shingle."""
    words = text.split()
    if len(words) <= SHINGLE_WORDS:
        return frozenset([tuple(words)])
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def near_pairs(texts: Sequence[str], threshold: float) -> dict[tuple[int, int], float]:
    """(i, j) with i < j -> resemblance, for all pairs of at least `threshold` (0..1). Exact."""
    sets = [shingles(text) for text in texts]
    holders: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for position, found in enumerate(sets):
        for shingle in found:
            holders[shingle].append(position)
    shared: Counter[tuple[int, int]] = Counter()
    for positions in holders.values():
        for place, first in enumerate(positions):
            for second in positions[place + 1 :]:
                shared[(first, second)] += 1
    pairs = {}
    for (first, second), both in shared.items():
        similarity = both / (len(sets[first]) + len(sets[second]) - both)
        if similarity >= threshold:
            pairs[(first, second)] = similarity
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
