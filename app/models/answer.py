"""One trace as the lanes see it: its links, its words, and how it compares with the run before. Qt-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from app.models.links import TraceLinks
from pipeline.records import Evidence, Trace
from pipeline.words.plain import one_line
from pipeline.words.sentences import TraceWording, freshness_mark, pages, round_sentence


@dataclass(frozen=True, slots=True)
class Gone:
    """A block that only the run before returned."""

    rank: int
    block: Evidence


def folder_of(doc_id: str | None, path: str) -> str:
    """Where a file stands, without its name: below its root where that is known, else its last two folders."""
    if doc_id:
        return one_line(doc_id.rpartition("/")[0])
    return one_line("/".join(path.replace("\\", "/").split("/")[-3:-1]))


def name_of(doc_id: str | None, path: str) -> str:
    """A file's own name, safe to show."""
    whole = path or doc_id or ""
    return one_line(whole.replace("\\", "/").rstrip("/").rpartition("/")[2] or whole or "no file")


def place_of(page_first: int | None, page_last: int | None, chunk_index: int | None) -> str:
    """ "p. 2 · #3": the page, and the chunk by the number that it has in its evidence key."""
    chunk = f"#{chunk_index}" if chunk_index is not None and chunk_index >= 0 else ""
    return " · ".join(filter(None, (pages(page_first, page_last), chunk)))


class Answer:
    """A trace with everything that rows ask of it. `before` is the run to compare with, of the same question."""

    def __init__(self, trace: Trace, before: Trace | None = None) -> None:
        self.trace = trace
        self.links = TraceLinks(trace)
        self.words = TraceWording(trace)
        self.before = before if before is not None and before.query == trace.query else None
        self._raw_before: dict[str, int] = {}
        self._block_before: dict[str, int] = {}
        if self.before is not None:
            for traced in self.before.candidates:
                self._raw_before.setdefault(traced.candidate.evidence_key, traced.candidate.rank)
            for block in self.before.evidence:
                self._block_before.setdefault(block.evidence_key, block.rank)
                # The same text under another representative is the same block: leaving a copy out renames it.
                self._block_before.setdefault(block.fold_key, block.rank)

    @cached_property
    def _marks(self) -> dict[str, str]:
        return {t.candidate.source_path: freshness_mark(t.freshness) for t in self.trace.candidates}

    def mark_of(self, path: str) -> str:
        """A word for a file that is not as it was indexed; nothing for a fresh one, or one that was not recalled."""
        return self._marks.get(path, "")

    # --- compared with the run before -----------------------------------------------------------------------------

    def raw_before(self, key: str) -> int | None:
        return self._raw_before.get(key)

    def block_before(self, block: Evidence) -> int | None:
        known = self._block_before.get(block.evidence_key)
        return known if known is not None else self._block_before.get(block.fold_key)

    def moved(self, now: int, before: int | None) -> str:
        """ "▲2", "▼3", "new"; nothing where it stands as it did or there is no run to compare with."""
        if self.before is None or before == now:
            return ""
        if before is None:
            return "new"
        return f"▲{before - now}" if before > now else f"▼{now - before}"

    def gone_blocks(self) -> Sequence[Gone]:
        """Blocks that only the run before returned."""
        if self.before is None:
            return ()
        known = {name for block in self.trace.evidence for name in (block.evidence_key, block.fold_key)}
        return [
            Gone(block.rank, block)
            for block in self.before.evidence
            if block.evidence_key not in known and block.fold_key not in known
        ]

    def gone_rows(self) -> Sequence[tuple[int, str]]:
        """(rank, file name) of raw rows that only the run before had."""
        if self.before is None:
            return ()
        known = {traced.candidate.evidence_key for traced in self.trace.candidates}
        return [
            (traced.candidate.rank, name_of(traced.candidate.doc_id, traced.candidate.source_path))
            for traced in self.before.candidates
            if traced.candidate.evidence_key not in known
        ]

    # --- widening -------------------------------------------------------------------------------------------------

    def round_sentence(self, number: int) -> str:
        """Why round `number` (from 2) was made."""
        if not 2 <= number <= len(self.trace.rounds):
            return round_sentence(0, 0)
        last = self.trace.rounds[number - 2]
        first_rows = self.trace.candidates[: last.received]
        left_out = sum(1 for traced in first_rows if traced.fate.name in ("left_out", "orphaned"))
        copies = max(0, last.received - left_out - last.distinct)
        return round_sentence(copies if self.trace.policy == "evidence" else 0, left_out)
