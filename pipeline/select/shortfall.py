"""Why an answer is short, and the smallest setting that would fill it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pipeline.records import Remedy, Shortfall
from pipeline.select.outcome import Block, counted_document


def cap_that_fills(blocks: Sequence[Block], wanted: int) -> int | None:
    """The smallest per-document cap under which `wanted` of these blocks (before the cap) stay; None if none does."""
    sizes = Counter(counted_document(block) for block in blocks)
    if sum(sizes.values()) < wanted:
        return None
    return next(
        cap for cap in range(1, max(sizes.values()) + 1) if sum(min(size, cap) for size in sizes.values()) >= wanted
    )


def width_that_fills(blocks: Sequence[Block], cap: int, wanted: int) -> int | None:
    """The smallest `retrieve-k` with which `wanted` of these blocks (one a different text, in rank order, before the
    cap) stay within `cap` (0 = none); None if they do not reach."""
    kept: Counter[str] = Counter()
    for place, block in enumerate(blocks, start=1):
        document = counted_document(block)
        if cap == 0 or kept[document] < cap:
            kept[document] += 1
            if kept.total() == wanted:
                return place
    return None


def explain(
    *,
    wanted: int,
    got: int,
    found: int,
    retrieve_k: int,
    exhausted: bool,
    over_cap: int,
    cap: int | None,
    width: int | None,
) -> Shortfall:
    """`found`: different texts (or passages) before the cap; `over_cap`: how many of them the cap dropped; `cap` and
    `width`: the values that would fill the answer, where there are such."""
    what = "text" if found == 1 else "texts"
    if over_cap and cap is not None:
        reason = f"{found} different {what} were found, but {over_cap} of them fell to the cap per document"
    elif exhausted:
        reason = f"there {'is' if found == 1 else 'are'} only {found} different {what} to serve"
        if over_cap:
            reason += f", and {over_cap} of them fell to the cap per document"
    else:
        reason = f"only {retrieve_k} different texts were recalled (retrieve-k)"
        if over_cap:
            reason += f", and {over_cap} of them fell to the cap per document"
    remedies = []
    if over_cap and cap is not None:
        remedies.append(Remedy("max-chunks-per-document", cap))
    elif width is not None:
        remedies.append(Remedy("retrieve-k", width))
    return Shortfall(wanted, got, reason, tuple(remedies))
