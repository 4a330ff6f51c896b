"""The legacy rule, for comparison: one block per source file."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.records import Candidate, Fate
from pipeline.select.outcome import Block, Outcome, single_block


def one_per_source(candidates: Sequence[Candidate]) -> Outcome[Block]:
    """Keeps the best candidate of every source file and drops its other passages, whatever they say."""
    kept: dict[str, Block] = {}
    fates: dict[int, Fate] = {}
    for candidate in candidates:
        source = candidate.source_path or candidate.evidence_key
        first = kept.get(source)
        if first is None:
            kept[source] = single_block(candidate)
            continue
        fates[candidate.rank] = Fate(
            "same_source",
            "source",
            f"from the same file as candidate {first.carrier.rank}; the legacy rule keeps one passage a file",
            into=first.key,
            numbers={"rank": first.carrier.rank},
        )
    return Outcome(tuple(kept.values()), fates)
