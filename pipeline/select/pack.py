"""The agent's budgets: how much of which block it receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.records import Evidence, Fate
from pipeline.select.outcome import Outcome

LEAST_WORTH_CUTTING = 200  # characters; a shorter remainder of the budget is left unused


@dataclass(frozen=True, slots=True)
class Packed:
    """A block and the part of it that fits: `content == evidence.content[:len(content)]`."""

    evidence: Evidence
    content: str

    @property
    def cut(self) -> bool:
        return len(self.content) < len(self.evidence.content)


@dataclass(frozen=True, slots=True)
class Budgets:
    """Blocks, and characters (code points of content)."""

    max_items: int
    max_chars_per_item: int
    max_total_chars: int


def pack(evidence: Sequence[Evidence], budgets: Budgets) -> tuple[Outcome[Packed], dict[int, Fate]]:
    """Fills the budgets in rank order. Returns the blocks that fit with the fates of those that do not, and the
    final fates (projected, projected_cut) of those that do.

    A block over `max_chars_per_item` is cut to it. The first block that does not fit into what is left of
    `max_total_chars` is cut to fit if at least 200 characters are left; otherwise it and all behind it are out.
    """
    packed: list[Packed] = []
    dropped: dict[int, Fate] = {}
    final: dict[int, Fate] = {}
    left = budgets.max_total_chars
    full = False
    for block in evidence:
        wanted = min(len(block.content), budgets.max_chars_per_item)
        if len(packed) == budgets.max_items:
            dropped[block.carrier_rank] = _over("max-items", wanted, left, budgets.max_items)
            continue
        fits = wanted <= left
        if full or (not fits and left < LEAST_WORTH_CUTTING):
            full = True
            dropped[block.carrier_rank] = _over("max-total-chars", wanted, left, budgets.max_total_chars)
            continue
        piece = Packed(block, block.content[: wanted if fits else left])
        left -= len(piece.content)
        packed.append(piece)
        final[block.carrier_rank] = _projected(piece, budgets, by_total=not fits)
    return Outcome(tuple(packed), dropped), final


def _over(setting: str, chars: int, left: int, limit: int) -> Fate:
    reason = (
        f"{limit:,} blocks are the most that the agent receives"
        if setting == "max-items"
        else f"{chars:,} characters, {left:,} left of {limit:,}"
    )
    return Fate(
        "over_budget",
        "pack",
        reason,
        numbers={"chars": chars, "left": left, "setting": setting, "limit": limit},
    )


def _projected(piece: Packed, budgets: Budgets, *, by_total: bool) -> Fate:
    chars, kept = len(piece.evidence.content), len(piece.content)
    into = piece.evidence.evidence_key
    if not piece.cut:
        return Fate("projected", "pack", "the agent reads it", into=into, numbers={"chars": chars, "kept": kept})
    setting = "max-total-chars" if by_total else "max-chars-per-item"
    limit = budgets.max_total_chars if by_total else budgets.max_chars_per_item
    return Fate(
        "projected_cut",
        "pack",
        f"the agent reads its first {kept:,} of {chars:,} characters ({setting} is {limit:,})",
        into=into,
        numbers={"chars": chars, "kept": kept, "setting": setting, "limit": limit},
    )
