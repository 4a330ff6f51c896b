"""The first lane's model: every raw candidate with its fate, and the widening rounds between them."""

from __future__ import annotations

from typing import Any, ClassVar

from PySide6.QtCore import Qt

from app.focus import FocusTarget
from app.models.answer import Answer, folder_of, name_of, place_of
from app.models.links import KEPT_FATES, Lit
from app.models.rows import Getters, LaneModel, Role, Row
from pipeline.records import TracedCandidate
from pipeline.words.plain import first_words, one_line, tool_tip
from pipeline.words.sentences import count, freshness_mark, freshness_sentence, listed, moved_words


class CandidateRow(Row):
    """One raw candidate."""

    __slots__ = ("answer", "traced")

    def __init__(self, answer: Answer, traced: TracedCandidate) -> None:
        self.answer, self.traced = answer, traced

    def lit(self, lit: Lit) -> bool:
        return self.traced.candidate.rank in lit.raw

    def target(self) -> FocusTarget:
        return FocusTarget("candidate", self.traced.candidate.evidence_key, self.traced.candidate.rank)

    def file(self) -> str:
        return name_of(self.traced.candidate.doc_id, self.traced.candidate.source_path)

    def folder(self) -> str:
        return folder_of(self.traced.candidate.doc_id, self.traced.candidate.source_path)

    def place(self) -> str:
        candidate = self.traced.candidate
        return place_of(candidate.page_first, candidate.page_last, candidate.chunk_index)

    def near(self) -> str:
        """The nearest near twin by its rank, and how many more there are."""
        twins = self.traced.near_twins
        if not twins:
            return ""
        rank = self.answer.links.rank_of_key(twins[0].evidence_key)
        more = f" +{len(twins) - 1}" if len(twins) > 1 else ""
        return f"≈ {rank}{more}" if rank is not None else "≈"

    def fate(self) -> str:
        return self.answer.words.fate(self.traced)

    def moved(self) -> str:
        candidate = self.traced.candidate
        return self.answer.moved(candidate.rank, self.answer.raw_before(candidate.evidence_key))

    def moved_sentence(self) -> str:
        candidate = self.traced.candidate
        if self.answer.before is None:
            return ""
        return moved_words(candidate.rank, self.answer.raw_before(candidate.evidence_key))

    def snippet(self) -> str:
        text = self.traced.candidate.text
        return first_words(text) if text is not None else "no text: the catalog does not know this row"

    def near_sentence(self) -> str:
        """Every near twin, named."""
        shown = []
        for twin in self.traced.near_twins[:5]:
            rank = self.answer.links.rank_of_key(twin.evidence_key)
            shown.append(f"{rank} ({twin.similarity:.0%})" if rank else f"{one_line(twin.evidence_key)}")
        return f"a near twin of {listed(shown, 4)}" if shown else ""

    def as_text(self) -> str:
        """The row for the clipboard and for screen readers."""
        candidate = self.traced.candidate
        letter = f"twin {self.traced.twin_group}" if self.traced.twin_group else ""
        parts = (
            self.file(),
            self.place(),
            f"in {self.folder()}" if self.folder() else "",
            letter,
            self.near_sentence(),
            freshness_mark(self.traced.freshness),
            self.moved_sentence(),
            self.fate(),
        )
        return f"{candidate.rank}. {candidate.score:.3f} " + ", ".join(filter(None, parts)) + f"\n{self.snippet()}"

    def tip(self) -> str:
        candidate = self.traced.candidate
        vector = ""
        if (
            candidate.tokens is not None
            and candidate.tokens_seen is not None
            and candidate.tokens_seen < candidate.tokens
        ):
            vector = (
                f"The vector was made from the first {candidate.tokens_seen:,} of {count(candidate.tokens, 'token')}."
            )
        fresh = freshness_sentence(self.traced.freshness) if self.traced.freshness != "fresh" else ""
        channels = one_line(", ".join(candidate.hit_reasons)) or "the search"
        return tool_tip(
            one_line(candidate.source_path or candidate.evidence_key),
            f"{self.place()}  score {candidate.score:.4f}  found by {channels}",
            _sentence(self.fate()),
            _sentence(self.near_sentence()),
            _sentence(self.moved_sentence()),
            fresh,
            vector,
        )

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "candidate",
        Role.TARGET: target,
        Role.RANK: lambda row: row.traced.candidate.rank,
        Role.SCORE: lambda row: row.traced.candidate.score,
        Role.TWIN: lambda row: row.traced.twin_group,
        Role.FILE: file,
        Role.FOLDER: folder,
        Role.PLACE: place,
        Role.NEAR: near,
        Role.FRESHNESS: lambda row: freshness_mark(row.traced.freshness),
        Role.MOVED: moved,
        Role.FATE: fate,
        Role.FATE_NAME: lambda row: row.traced.fate.name,
        Role.KEPT: lambda row: row.traced.fate.name in KEPT_FATES,
        Role.SNIPPET: snippet,
        Role.PATH: lambda row: row.traced.candidate.source_path,
        Role.DOC_ID: lambda row: row.traced.candidate.doc_id,
        Role.KEY: lambda row: row.traced.candidate.evidence_key,
        Role.REMEDY: lambda row: row.answer.words.remedy(row.traced),
        Role.COPY: as_text,
        Qt.ItemDataRole.DisplayRole: as_text,
        Qt.ItemDataRole.AccessibleTextRole: as_text,
        Qt.ItemDataRole.ToolTipRole: tip,
    }


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "." if words else ""


class SentenceRow(Row):
    """A row that is one sentence between or below the others."""

    __slots__ = ("kind", "text")

    def __init__(self, kind: str, text: str) -> None:
        self.kind, self.text = kind, text

    def get(self) -> str:
        return self.text

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: row.kind,
        Role.TEXT: get,
        Role.COPY: get,
        Qt.ItemDataRole.DisplayRole: get,
        Qt.ItemDataRole.AccessibleTextRole: get,
        Qt.ItemDataRole.ToolTipRole: lambda row: tool_tip(_sentence(row.text)),
    }
    selectable = False


class RawModel(LaneModel):
    """Raw candidates in rank order."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._at_rank: dict[int, int] = {}
        self._keys: dict[int, str] = {}

    def set_answer(self, answer: Answer | None) -> None:
        """Show the raw side of an answer, or nothing."""
        rows: list[Row] = []
        self._at_rank, self._keys = {}, {}
        if answer is not None:
            round_ = 1
            for traced in answer.trace.candidates:
                if traced.candidate.round > round_:
                    round_ = traced.candidate.round
                    rows.append(SentenceRow("round", answer.round_sentence(round_)))
                self._at_rank[traced.candidate.rank] = len(rows)
                self._keys[traced.candidate.rank] = traced.candidate.evidence_key
                rows.append(CandidateRow(answer, traced))
            gone = answer.gone_rows()
            if gone:
                names = listed([f"{rank} {name}" for rank, name in gone], 3)
                rows.append(SentenceRow("gone", f"only in the run before: {names}"))
        self.show(rows)

    def at_rank(self, rank: int) -> int | None:
        """The row of a raw rank."""
        return self._at_rank.get(rank)

    def row_of(self, target: FocusTarget) -> int | None:
        if target.kind != "candidate" or self._keys.get(target.rank or 0) != target.key:
            return None  # the rank may be another answer's
        return self._at_rank.get(target.rank or 0)
