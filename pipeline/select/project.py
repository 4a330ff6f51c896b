"""Evidence as records, and its shape for the agent."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pipeline.records import Evidence, Fate
from pipeline.select.outcome import Block, Outcome


def evidence_of(block: Block, rank: int) -> Evidence:
    """The block with its files: names and paths of all of them, the representative's first, each once."""
    paths = tuple(dict.fromkeys(citation.path for citation in block.citations))
    names = tuple(os.path.basename(path) or path for path in paths)
    return Evidence(
        rank=rank,
        evidence_key=block.key,
        doc_id=block.representative.doc_id or None,
        source_file=names[0],
        source_path=paths[0],
        also_in=paths[1:],
        source_files=names,
        source_paths=paths,
        content=block.content,
        score=block.score,
        hit_reasons=block.hit_reasons,
        citations=block.citations,
        fold_key=block.carrier.fold_key,
        carrier_rank=block.carrier.rank,
        places=block.places,
        page_first=block.representative.page_first,
        page_last=block.representative.page_last,
    )


def project(evidence: Sequence[Evidence]) -> Outcome[Evidence]:
    """What goes to the agent, in rank order, each evidence key once. Never deduplicated by source."""
    kept: dict[str, Evidence] = {}
    fates: dict[int, Fate] = {}
    for block in evidence:
        first = kept.setdefault(block.evidence_key, block)
        if first is not block:
            fates[block.carrier_rank] = Fate(
                "merged",
                "project",
                f"the same chunk as candidate {first.carrier_rank}, found again",
                into=first.evidence_key,
                numbers={"rank": first.carrier_rank},
            )
    return Outcome(tuple(kept.values()), fates)


def page_label(first: int | None, last: int | None) -> int | str | None:
    """3 for one page, "2-3" for a range, None where there is no page."""
    if first is None:
        return None
    return first if last in (None, first) else f"{first}-{last}"
