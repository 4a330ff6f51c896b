"""The first `return-n` blocks of what is left."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.records import Fate
from pipeline.select.outcome import Block, Outcome


def first_blocks(blocks: Sequence[Block], return_n: int) -> Outcome[Block]:
    fates = {
        block.carrier.rank: Fate(
            "beyond_return_n",
            "return",
            f"block {place}, and {return_n} are returned; a return-n of {place} would return it",
            numbers={"position": place, "return_n": return_n},
        )
        for place, block in enumerate(blocks, start=1)
        if place > return_n
    }
    return Outcome(tuple(blocks[:return_n]), fates)
