"""What belongs to what in one trace: raw rows, the evidence that they became, the projected items, the files. Qt-free.

Made once for a trace in one pass; what the focus lights up is then a matter of set look-ups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from app.focus import FocusTarget
from pipeline.records import Evidence, Trace, TracedCandidate

KEPT_FATES = frozenset({"projected", "projected_cut", "over_budget"})


@dataclass(frozen=True, slots=True)
class Lit:
    """What is lit: raw ranks, evidence ranks (their projected items too), paths of files."""

    raw: frozenset[int] = frozenset()
    evidence: frozenset[int] = frozenset()
    files: frozenset[str] = frozenset()


@dataclass(slots=True)
class FallenGroup:
    """Raw rows that fell for one reason: their fate, the document it is about (where it is about one), the ranks of
    the rows that it hit, and those ranks with the copies that fell with them."""

    fate: str
    about: str
    heads: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)


class TraceLinks:
    """Ranks count from 1, as they do in the trace."""

    def __init__(self, trace: Trace) -> None:
        self.candidates: dict[int, TracedCandidate] = {t.candidate.rank: t for t in trace.candidates}
        self.blocks: dict[int, Evidence] = {block.rank: block for block in trace.evidence}
        self._by_key: dict[str, int] = {}
        self._twins: defaultdict[str, list[int]] = defaultdict(list)
        self._of_path: defaultdict[str, list[int]] = defaultdict(list)
        for traced in trace.candidates:
            candidate = traced.candidate
            self._by_key.setdefault(candidate.evidence_key, candidate.rank)
            self._of_path[candidate.source_path].append(candidate.rank)
            if traced.twin_group is not None:
                self._twins[traced.twin_group].append(candidate.rank)
        self._block_of_key = {block.evidence_key: block.rank for block in reversed(trace.evidence)}  # the first wins
        self._block_of_carrier = {block.carrier_rank: block.rank for block in trace.evidence}
        self.item_of_block: dict[int, int] = {}  # evidence rank -> position in the projection, from 1
        self.block_of_item: dict[int, int] = {}
        for position, item in enumerate(trace.projected, start=1):
            rank = self._block_of_key.get(item.document_id)
            if rank is not None:
                self.item_of_block[rank] = position
                self.block_of_item[position] = rank
        self._citing: defaultdict[str, list[int]] = defaultdict(list)  # path -> evidence ranks
        for block in trace.evidence:
            for path in dict.fromkeys((block.source_path, *(place.path for place in block.citations))):
                self._citing[path].append(block.rank)
        self.block_of: dict[int, int] = {}  # raw rank -> evidence rank, for rows that became evidence
        self.raw_of_block: defaultdict[int, list[int]] = defaultdict(list)
        self.fallen: list[FallenGroup] = []
        self.group_of: dict[int, int] = {}  # raw rank -> index into `fallen`
        self._follow(trace)

    def _follow(self, trace: Trace) -> None:
        groups: dict[tuple[str, str], int] = {}
        for traced in trace.candidates:
            rank = traced.candidate.rank
            block, head = self._end(traced)
            if block is not None:
                self.block_of[rank] = block
                self.raw_of_block[block].append(rank)
                continue
            fate = head.fate
            about = str(fate.numbers.get("doc_id") or "")
            index = groups.get((fate.name, about))
            if index is None:
                index = groups[fate.name, about] = len(self.fallen)
                self.fallen.append(FallenGroup(fate.name, about))
            group = self.fallen[index]
            group.ranks.append(rank)
            if head is traced:
                group.heads.append(rank)
            self.group_of[rank] = index

    def _end(self, traced: TracedCandidate) -> tuple[int | None, TracedCandidate]:
        """The evidence that a row became, or the row with whose fate its way ended."""
        seen: set[int] = set()
        while traced.candidate.rank not in seen:
            seen.add(traced.candidate.rank)
            own = self._block_of_carrier.get(traced.candidate.rank)
            if own is not None:
                return own, traced
            if traced.fate.name not in ("merged", "collapsed", "near_collapsed"):
                break
            by_key = self._block_of_key.get(traced.fate.into or "")
            if by_key is not None:
                return by_key, traced
            rank = self._by_key.get(traced.fate.into or "") or traced.fate.numbers.get("rank")
            if rank not in self.candidates:
                break
            traced = self.candidates[rank]
        return None, traced

    def lit(self, target: FocusTarget) -> Lit:
        """Everything that belongs to a target."""
        match target.kind:
            case "candidate":
                ranks = target.ranks or tuple(filter(None, (target.rank or self._by_key.get(target.key),)))
                return self._of_candidates(ranks)
            case "evidence":
                rank = self._block_of_key.get(target.key, target.rank or 0)
                return self._of_blocks([rank])
            case "item":
                rank = self._block_of_key.get(target.key) or self.block_of_item.get(target.rank or 0, 0)
                return self._of_blocks([rank])
        blocks = frozenset(self._citing.get(target.key, ()))
        return Lit(frozenset(self._of_path.get(target.key, ())), blocks, frozenset({target.key}))

    def _of_candidates(self, ranks: Iterable[int]) -> Lit:
        raw: set[int] = set()
        files: set[str] = set()
        blocks: set[int] = set()
        for rank in ranks:
            traced = self.candidates.get(rank)
            if traced is None:
                continue
            raw.add(rank)
            files.add(traced.candidate.source_path)
            raw.update(self._twins.get(traced.twin_group or "", ()))
            if rank in self.block_of:
                blocks.add(self.block_of[rank])
        files.update(path for block in blocks for path in self._paths(block))
        return Lit(frozenset(raw), frozenset(blocks), frozenset(files))

    def _of_blocks(self, ranks: Iterable[int]) -> Lit:
        blocks = [rank for rank in ranks if rank in self.blocks]
        raw = {rank for block in blocks for rank in self.raw_of_block.get(block, ())}
        return Lit(
            frozenset(raw), frozenset(blocks), frozenset(path for block in blocks for path in self._paths(block))
        )

    def _paths(self, rank: int) -> Iterable[str]:
        block = self.blocks[rank]
        return (block.source_path, *block.source_paths)

    def dropped_at(self, stage: str) -> Lit:
        """The rows that a stage dropped; for "fetched", those that only widening brought."""
        if stage == "fetched":
            raw = frozenset(rank for rank, traced in self.candidates.items() if traced.candidate.round > 1)
            return Lit(raw)
        ended = [t for t in self.candidates.values() if t.fate.stage == stage and t.fate.name not in _SURVIVORS]
        blocks = (self._block_of_carrier.get(traced.candidate.rank) for traced in ended)
        return Lit(
            frozenset(traced.candidate.rank for traced in ended),
            frozenset(block for block in blocks if block is not None),
        )

    def twin_of_block(self, rank: int) -> str | None:
        """The twin letter of an evidence block."""
        block = self.blocks.get(rank)
        carrier = self.candidates.get(block.carrier_rank) if block else None
        return carrier.twin_group if carrier else None

    def rank_of_key(self, key: str) -> int | None:
        """The (best) raw rank of an evidence key."""
        return self._by_key.get(key)


_SURVIVORS = frozenset({"projected", "projected_cut"})
