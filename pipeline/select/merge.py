"""One candidate per evidence key, whichever channels found it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline.records import Candidate, Fate
from pipeline.select.outcome import Outcome, joined_reasons


def merge(candidates: Sequence[Candidate]) -> Outcome[Candidate]:
    """Of candidates with the same evidence key the highest-ranked stays, with the hit reasons of all."""
    kept: dict[str, Candidate] = {}
    fates: dict[int, Fate] = {}
    for candidate in candidates:
        first = kept.get(candidate.evidence_key)
        if first is None:
            kept[candidate.evidence_key] = candidate
            continue
        kept[candidate.evidence_key] = replace(
            first, hit_reasons=joined_reasons(first.hit_reasons, candidate.hit_reasons)
        )
        fates[candidate.rank] = Fate(
            "merged",
            "merge",
            f"the same chunk as candidate {first.rank}, found again",
            into=first.evidence_key,
            numbers={"rank": first.rank},
        )
    return Outcome(tuple(kept.values()), fates)
