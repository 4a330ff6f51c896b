"""At most so many blocks of one document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pipeline.records import Fate
from pipeline.select.outcome import Block, Outcome, counted_document


def cap_documents(blocks: Sequence[Block], most: int, return_n: int) -> Outcome[Block]:
    """Keeps, in rank order, the first `most` blocks of every document; 0 means no cap.

    The fates tell the cap that would let a block pass, and the place among the returned that it would then have: under
    that cap more of the blocks before it pass, too, so it may need a longer answer than `return_n` as well.
    """
    if most == 0:
        return Outcome(tuple(blocks))
    of_document: defaultdict[str, list[Block]] = defaultdict(list)
    documents_with = [0]  # how many documents have at least so many blocks so far, by that number
    kept: list[Block] = []
    fates: dict[int, Fate] = {}
    for block in blocks:
        siblings = of_document[counted_document(block)]
        siblings.append(block)
        if len(siblings) == len(documents_with):
            documents_with.append(0)
        documents_with[len(siblings)] += 1
        if len(siblings) <= most:
            kept.append(block)
        else:
            place = sum(documents_with[: len(siblings) + 1])
            fates[block.carrier.rank] = _over(siblings, most, place, return_n)
    return Outcome(tuple(kept), fates)


def _over(siblings: Sequence[Block], most: int, place: int, return_n: int) -> Fate:
    document = counted_document(siblings[0])
    ranks = [sibling.carrier.rank for sibling in siblings[:most]]
    several = "s" if len(ranks) > 1 else ""
    needed = f"a cap of {len(siblings)}" + (f" and a return-n of {place}" if place > return_n else "")
    return Fate(
        "over_document_cap",
        "cap",
        f"over the cap of {document}: candidate{several} {', '.join(map(str, ranks))} took its place{several}; "
        f"{needed} would keep it",
        numbers={
            "doc_id": document,
            "siblings": ranks,
            "position": len(siblings),
            "cap": most,
            "cap_needed": len(siblings),
            "place": place,
            "return_n": return_n,
        },
    )
