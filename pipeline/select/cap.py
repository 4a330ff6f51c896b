"""At most so many blocks of one document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pipeline.records import Fate
from pipeline.select.outcome import Block, Outcome, counted_document


def cap_documents(blocks: Sequence[Block], most: int) -> Outcome[Block]:
    """Keeps, in rank order, the first `most` blocks of every document; 0 means no cap."""
    if most == 0:
        return Outcome(tuple(blocks))
    of_document: defaultdict[str, list[Block]] = defaultdict(list)
    kept: list[Block] = []
    fates: dict[int, Fate] = {}
    for block in blocks:
        siblings = of_document[counted_document(block)]
        siblings.append(block)
        if len(siblings) <= most:
            kept.append(block)
            continue
        ranks = [sibling.carrier.rank for sibling in siblings[:most]]
        fates[block.carrier.rank] = Fate(
            "over_document_cap",
            "cap",
            f"over the cap of {counted_document(block)}: candidate{'s' if len(ranks) > 1 else ''} "
            f"{', '.join(map(str, ranks))} took its place{'s' if len(ranks) > 1 else ''}; "
            f"a cap of {len(siblings)} would keep it",
            numbers={
                "doc_id": counted_document(block),
                "siblings": ranks,
                "position": len(siblings),
                "cap": most,
                "cap_needed": len(siblings),
            },
        )
    return Outcome(tuple(kept), fates)
