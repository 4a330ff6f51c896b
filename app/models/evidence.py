"""The second lane's model: evidence blocks, the files that each cites, and what fell on the way."""

from __future__ import annotations

from typing import Any, ClassVar

from PySide6.QtCore import Qt

from app.focus import FocusTarget
from app.models.answer import Answer, Gone, folder_of, name_of, place_of
from app.models.links import FallenGroup, Lit
from app.models.raw import SentenceRow
from app.models.rows import Getters, LaneModel, Role, Row
from pipeline.records import Evidence, Location, Remedy, TracedCandidate
from pipeline.words.plain import first_words, one_line, tool_tip
from pipeline.words.sentences import (
    cites_words,
    count,
    fallen_sentence,
    file_name,
    moved_words,
    pages,
    remedy_label,
    saves_words,
    shortfall_sentence,
)

SHOWN_FILES = 6  # of one block's files; the rest unfold from a line of their own


class BlockRow(Row):
    """One evidence block's head."""

    __slots__ = ("answer", "block")

    def __init__(self, answer: Answer, block: Evidence) -> None:
        self.answer, self.block = answer, block

    def lit(self, lit: Lit) -> bool:
        return self.block.rank in lit.evidence

    def target(self) -> FocusTarget:
        return FocusTarget("evidence", self.block.evidence_key, self.block.rank)

    def file(self) -> str:
        return name_of(self.block.doc_id, self.block.source_path)

    def folder(self) -> str:
        return folder_of(self.block.doc_id, self.block.source_path)

    def carrier(self) -> TracedCandidate | None:
        return self.answer.links.candidates.get(self.block.carrier_rank)

    def facts(self) -> str:
        return " · ".join(filter(None, (cites_words(self.block), saves_words(self.block))))

    def fate(self) -> str:
        """Why the agent does not read it, or not all of it; nothing where it does."""
        carrier = self.carrier()
        if carrier is None or carrier.fate.name not in ("over_budget", "projected_cut"):
            return ""
        return self.answer.words.fate(carrier).removeprefix(f"evidence {self.block.rank:,}, ")

    def fate_name(self) -> str | None:
        carrier = self.carrier()
        return carrier.fate.name if carrier else None

    def moved(self) -> str:
        return self.answer.moved(self.block.rank, self.answer.block_before(self.block))

    def as_text(self) -> str:
        letter = self.answer.links.twin_of_block(self.block.rank)
        before = moved_words(self.block.rank, self.answer.block_before(self.block)) if self.answer.before else ""
        parts = (
            self.file(),
            pages(self.block.page_first, self.block.page_last),
            f"twin {letter}" if letter else "",
            cites_words(self.block),
            saves_words(self.block),
            before,
            self.fate(),
        )
        return (
            f"evidence {self.block.rank}. {self.block.score:.3f} "
            + ", ".join(filter(None, parts))
            + f"\n{first_words(self.block.content)}"
        )

    def tip(self) -> str:
        saved = ""
        if self.block.places > 1:
            saved = (
                f"{count(self.block.places, 'raw row')} said the same. Folded into one block "
                f"{'it leaves' if self.block.places == 2 else 'they leave'} "
                f"{count(self.block.places - 1, 'place')} to other texts."
            )
        return tool_tip(one_line(self.block.source_path), f"score {self.block.score:.4f}", saved, self.fate())

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "block",
        Role.TARGET: target,
        Role.RANK: lambda row: row.block.rank,
        Role.SCORE: lambda row: row.block.score,
        Role.TWIN: lambda row: row.answer.links.twin_of_block(row.block.rank),
        Role.FILE: file,
        Role.FOLDER: folder,
        Role.PLACE: lambda row: pages(row.block.page_first, row.block.page_last),
        Role.FACTS: facts,
        Role.FATE: fate,
        Role.FATE_NAME: fate_name,
        Role.MOVED: moved,
        Role.SNIPPET: lambda row: first_words(row.block.content, 400),
        Role.PATH: lambda row: row.block.source_path,
        Role.DOC_ID: lambda row: row.block.doc_id,
        Role.KEY: lambda row: row.block.evidence_key,
        Role.REMEDY: lambda row: row.answer.words.remedy(row.carrier()) if row.carrier() else None,
        Role.COPY: as_text,
        Qt.ItemDataRole.DisplayRole: as_text,
        Qt.ItemDataRole.AccessibleTextRole: as_text,
        Qt.ItemDataRole.ToolTipRole: tip,
    }


class FileRow(Row):
    """One citation of a block: a file, and the place in it."""

    __slots__ = ("answer", "block", "last", "line", "place")

    def __init__(self, answer: Answer, block: Evidence, place: Location, line: int, last: bool) -> None:
        self.answer, self.block, self.place, self.line, self.last = answer, block, place, line, last

    def lit(self, lit: Lit) -> bool:
        return self.block.rank in lit.evidence and self.place.path in lit.files

    def target(self) -> FocusTarget:
        return FocusTarget("file", self.place.path, self.block.rank)

    def file(self) -> str:
        return name_of(self.place.doc_id, self.place.path)

    def folder(self) -> str:
        return folder_of(self.place.doc_id, self.place.path)

    def where(self) -> str:
        place = place_of(self.place.page_first, self.place.page_last, self.place.chunk_index)
        return " · ".join(filter(None, (self.answer.mark_of(self.place.path), place)))

    def as_text(self) -> str:
        first = "cited first" if self.line == 0 else ""
        cited = f"cited by evidence {self.block.rank}"
        return ", ".join(
            filter(None, (self.file(), f"in {self.folder()}" if self.folder() else "", self.where(), cited, first))
        )

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "file",
        Role.TARGET: target,
        Role.TWIN: lambda row: row.answer.links.twin_of_block(row.block.rank),
        Role.FILE: file,
        Role.FOLDER: folder,
        Role.PLACE: where,
        Role.PATH: lambda row: row.place.path,
        Role.DOC_ID: lambda row: row.place.doc_id or None,
        Role.KEY: lambda row: row.place.evidence_key,
        Role.LINE: lambda row: row.line,
        Role.LAST: lambda row: row.last,
        Role.COPY: lambda row: row.place.path,
        Qt.ItemDataRole.DisplayRole: as_text,
        Qt.ItemDataRole.AccessibleTextRole: as_text,
        Qt.ItemDataRole.ToolTipRole: lambda row: tool_tip(one_line(row.place.path), row.where()),
    }


class MoreRow(Row):
    """Unfolds the rest of a block's files, or of an item's content."""

    __slots__ = ("hidden", "owner", "twin", "words")

    def __init__(self, owner: int, words: str, hidden: list[Row], twin: str | None = None) -> None:
        self.owner, self.words, self.hidden, self.twin = owner, words, hidden, twin

    def lit(self, lit: Lit) -> bool:
        return self.owner in lit.evidence

    def get(self) -> str:
        return self.words

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "more",
        Role.TEXT: get,
        Role.TWIN: lambda row: row.twin,
        Role.LAST: lambda row: True,
        Role.COPY: get,
        Qt.ItemDataRole.DisplayRole: get,
        Qt.ItemDataRole.AccessibleTextRole: get,
    }


class RemedyRow(Row):
    """A link that changes one setting."""

    __slots__ = ("remedy",)

    def __init__(self, remedy: Remedy) -> None:
        self.remedy = remedy

    def text(self) -> str:
        return remedy_label(self.remedy)

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "remedy",
        Role.TEXT: text,
        Role.REMEDY: lambda row: row.remedy,
        Role.COPY: text,
        Qt.ItemDataRole.DisplayRole: text,
        Qt.ItemDataRole.AccessibleTextRole: text,
        Qt.ItemDataRole.ToolTipRole: lambda row: tool_tip(
            f"Sets {row.remedy.setting} to {row.remedy.value:,} and asks again."
        ),
    }


class FallenRow(Row):
    """Raw rows that fell for one reason."""

    __slots__ = ("answer", "group")

    def __init__(self, answer: Answer, group: FallenGroup) -> None:
        self.answer, self.group = answer, group

    def lit(self, lit: Lit) -> bool:
        return not lit.raw.isdisjoint(self.group.ranks) and not lit.evidence

    def first(self) -> TracedCandidate:
        return self.answer.links.candidates[self.group.heads[0] if self.group.heads else self.group.ranks[0]]

    def target(self) -> FocusTarget:
        candidate = self.first().candidate
        return FocusTarget("candidate", candidate.evidence_key, candidate.rank, tuple(self.group.ranks))

    def text(self) -> str:
        return fallen_sentence(self.first(), self.group.heads, len(self.group.ranks))

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "fallen",
        Role.TARGET: target,
        Role.TEXT: text,
        Role.FATE_NAME: lambda row: row.group.fate,
        Role.COPY: text,
        Qt.ItemDataRole.DisplayRole: text,
        Qt.ItemDataRole.AccessibleTextRole: text,
        Qt.ItemDataRole.ToolTipRole: lambda row: tool_tip(row.text()),
    }


class GoneRow(Row):
    """A block that only the run before returned."""

    __slots__ = ("gone",)

    def __init__(self, gone: Gone) -> None:
        self.gone = gone

    def text(self) -> str:
        block = self.gone.block
        return f"was {self.gone.rank} in the run before: {file_name(block.source_path or block.doc_id)}"

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "gone",
        Role.TEXT: text,
        Role.PATH: lambda row: row.gone.block.source_path,
        Role.DOC_ID: lambda row: row.gone.block.doc_id,
        Role.COPY: text,
        Qt.ItemDataRole.DisplayRole: text,
        Qt.ItemDataRole.AccessibleTextRole: text,
        Qt.ItemDataRole.ToolTipRole: lambda row: tool_tip(row.text(), first_words(row.gone.block.content)),
    }


class EvidenceModel(LaneModel):
    """Blocks in rank order with their files, then what is missing and why."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._answer: Answer | None = None
        self._places: dict[FocusTarget, int] = {}
        self._of_group: dict[int, int] = {}

    def set_answer(self, answer: Answer | None) -> None:
        """Show the evidence of an answer, or nothing."""
        self._answer = answer
        rows: list[Row] = []
        if answer is not None:
            for block in answer.trace.evidence:
                rows += _block_rows(answer, block)
            rows += _missing_rows(answer)
        self._show_rows(rows)

    def unfold(self, at: int) -> bool:
        """Put what a "more" row hides in its place. False when the row is none."""
        row = self._rows[at]
        if not isinstance(row, MoreRow):
            return False
        self.replace(at, row.hidden)
        self._index()
        return True

    def _show_rows(self, rows: list[Row]) -> None:
        self._places = {}
        self.show(rows)
        self._index()

    def _index(self) -> None:
        self._places, self._of_group = {}, {}
        for at, row in enumerate(self._rows):
            target = row.value(Role.TARGET)
            if isinstance(row, FallenRow):
                for rank in row.group.ranks:
                    self._of_group.setdefault(rank, at)
            if isinstance(target, FocusTarget):
                self._places.setdefault(target, at)

    def row_of(self, target: FocusTarget) -> int | None:
        return self._places.get(target)

    def at_block(self, rank: int) -> int | None:
        """The row of an evidence rank."""
        block = self._answer.links.blocks.get(rank) if self._answer else None
        return self._places.get(FocusTarget("evidence", block.evidence_key, rank)) if block else None

    def at_fallen(self, raw_rank: int) -> int | None:
        """The row that says why a raw row fell."""
        return self._of_group.get(raw_rank)


def _block_rows(answer: Answer, block: Evidence) -> list[Row]:
    rows: list[Row] = [BlockRow(answer, block)]
    places = block.citations
    if len(places) < 2:
        return rows
    last = len(places) - 1
    files: list[Row] = [FileRow(answer, block, place, line, line == last) for line, place in enumerate(places)]
    if len(files) > SHOWN_FILES + 1:
        hidden = files[SHOWN_FILES:]
        words = f"show the other {count(len(hidden), 'place' if len(block.source_paths) < len(places) else 'file')}"
        return [*rows, *files[:SHOWN_FILES], MoreRow(block.rank, words, hidden, answer.links.twin_of_block(block.rank))]
    return rows + files


def _missing_rows(answer: Answer) -> list[Row]:
    rows: list[Row] = []
    said: set[str] = set()  # settings: two different values for one of them are no help
    shortfall = answer.trace.summary.shortfall
    if shortfall is not None and answer.trace.candidates:
        rows.append(SentenceRow("shortfall", shortfall_sentence(shortfall)))
        for remedy in shortfall.remedies:
            said.add(remedy.setting)
            rows.append(RemedyRow(remedy))
    for group in answer.links.fallen:
        row = FallenRow(answer, group)
        rows.append(row)
        remedy_ = answer.words.remedy(row.first())
        if remedy_ is not None and remedy_.setting not in said:
            said.add(remedy_.setting)
            rows.append(RemedyRow(remedy_))
    rows += [GoneRow(gone) for gone in answer.gone_blocks()]
    return rows
