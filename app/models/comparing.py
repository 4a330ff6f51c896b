"""The models of the Compare page: what differs in one lane, and what one policy gives the agent."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

from PySide6.QtCore import Qt

from app.focus import FocusTarget, TargetKind
from app.models.compared import LANES, At, Compared, Given, Lane, Part, given_by
from app.models.rows import Getters, LaneModel, Role, Row
from pipeline.findings import CandidateAt, Difference, PolicyAnswer
from pipeline.words.comparing import change_mark, change_sentence, repeat_words
from pipeline.words.phrases import count
from pipeline.words.plain import first_words, one_line, tool_tip

_KINDS: dict[Lane, TargetKind] = {"candidates": "candidate", "blocks": "evidence", "items": "item"}


class CompareRole(IntEnum):
    """What a row of a comparison can be asked for beside the lanes' own roles."""

    BEFORE = Qt.ItemDataRole.UserRole + 101  # int: its rank on the left, None where it is not there
    AFTER = Qt.ItemDataRole.UserRole + 102  # int: its rank on the right
    CHANGE = Qt.ItemDataRole.UserRole + 103  # str: pipeline.findings.Change
    MARK = Qt.ItemDataRole.UserRole + 104  # str: "only left", "▲ 3 → 1"
    SAID = Qt.ItemDataRole.UserRole + 105  # tuple[(side or "", sentence), ...]: what became of it
    REPEATS = Qt.ItemDataRole.UserRole + 106  # str: "the same text as 1", or nothing


class DifferenceRow(Row):
    """Something that differs between the two runs."""

    __slots__ = ("_left", "_right", "compared", "difference", "lane")

    def __init__(self, compared: Compared, lane: Lane, difference: Difference[Any]) -> None:
        self.compared, self.lane, self.difference = compared, lane, difference
        self._left: Part | None = None
        self._right: Part | None = None

    @property
    def left(self) -> Part | None:
        """What stands there in the run on the left. Made when it is first asked for: a list may be long."""
        before: At | None = self.difference.before
        if self._left is None and before is not None:
            self._left = self.compared.left.part(self.lane, before)
        return self._left

    @property
    def right(self) -> Part | None:
        after: At | None = self.difference.after
        if self._right is None and after is not None:
            self._right = self.compared.right.part(self.lane, after)
        return self._right

    @property
    def shown(self) -> Part:
        """The newer side's part, the older's where there is no newer."""
        part = self.right if self.right is not None else self.left
        assert part is not None
        return part

    @property
    def same_text(self) -> bool:
        """Whether both sides hold the same text, as its hash tells: one of them may be saved without texts."""
        before, after = self.difference.before, self.difference.after
        return before is not None and after is not None and _text_hash(before) == _text_hash(after)

    @property
    def hashed(self) -> str:
        """Which side has only the hash of its text, in words; nothing where both have their texts."""
        sides = (("left", self.compared.before), ("right", self.compared.after))
        without = [side for side, trace in sides if not trace.with_texts]
        if len(without) == 2:
            return "both were saved without texts"
        return f"the {without[0]} one was saved without texts" if without else ""

    @property
    def readable(self) -> str:
        """The text of a side that has one, the newer's first."""
        for part, trace in ((self.right, self.compared.after), (self.left, self.compared.before)):
            if part is not None and trace.with_texts:
                return part.text
        return self.shown.text

    def target(self) -> FocusTarget:
        at = self.difference.at
        return FocusTarget(_KINDS[self.lane], at.evidence_key, at.rank)

    def target_on(self, side: str) -> FocusTarget | None:
        """The row of this side's own run, None where it is not there."""
        at = self.difference.before if side == "left" else self.difference.after
        return None if at is None else FocusTarget(_KINDS[self.lane], at.evidence_key, at.rank)

    def said(self) -> tuple[tuple[str, str], ...]:
        """What became of it, side by side; once where both say the same."""
        left, right = self.left, self.right
        if left is None or right is None:
            return (("", self.shown.words),)
        if left.words == right.words:
            return (("", left.words),)
        return (("left", left.words), ("right", right.words))

    def file(self) -> str:
        left, right = self.left, self.right
        if left is not None and right is not None and left.file != right.file:
            return f"{left.file} → {right.file}"
        return self.shown.file

    def as_text(self) -> str:
        """The row for the clipboard and for screen readers."""
        said = "; ".join(f"{side}: {words}" if side else words for side, words in self.said())
        where = ", ".join(filter(None, (self.shown.place, self.shown.folder and f"in {self.shown.folder}")))
        return f"{self.file()}, {where}. {change_sentence(self.difference)} {said}\n{first_words(self.shown.text)}"

    def tip(self) -> str:
        return tool_tip(
            one_line(self.shown.path or self.difference.at.evidence_key),
            change_sentence(self.difference),
            *(f"On the {side}: {words}" if side else words for side, words in self.said()),
        )

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "difference",
        Role.TARGET: target,
        Role.RANK: lambda row: row.difference.at.rank,
        Role.FILE: file,
        Role.FOLDER: lambda row: row.shown.folder,
        Role.PLACE: lambda row: row.shown.place,
        Role.PATH: lambda row: row.shown.path,
        Role.DOC_ID: lambda row: row.shown.doc_id,
        Role.KEY: lambda row: row.difference.at.evidence_key,
        Role.COPY: as_text,
        CompareRole.BEFORE: lambda row: row.difference.before.rank if row.difference.before is not None else None,
        CompareRole.AFTER: lambda row: row.difference.after.rank if row.difference.after is not None else None,
        CompareRole.CHANGE: lambda row: row.difference.change,
        CompareRole.MARK: lambda row: change_mark(row.difference),
        CompareRole.SAID: said,
        Qt.ItemDataRole.DisplayRole: as_text,
        Qt.ItemDataRole.AccessibleTextRole: as_text,
        Qt.ItemDataRole.ToolTipRole: tip,
    }


def _text_hash(at: At) -> str:
    return at.text_sha256 if isinstance(at, CandidateAt) else at.content_sha256


def rows_of(compared: Compared) -> dict[Lane, list[DifferenceRow]]:
    """The rows of every lane, in the comparison's order, with their words made: thousands take their time, so that
    this is done in a thread."""
    rows: dict[Lane, list[DifferenceRow]] = {}
    for lane in LANES:
        rows[lane] = [DifferenceRow(compared, lane, each) for each in compared.differences(lane)]
        for row in rows[lane]:
            row.said()
    return rows


class DifferencesModel(LaneModel):
    """What differs in one lane."""

    def __init__(self, lane: Lane, parent: Any = None) -> None:
        super().__init__(parent)
        self.lane: Lane = lane


class GivenRow(Row):
    """One item that a policy gives the agent."""

    __slots__ = ("given",)

    def __init__(self, given: Given) -> None:
        self.given = given

    def target(self) -> FocusTarget:
        return FocusTarget("item", self.given.item.document_id, self.given.number)

    def repeats(self) -> str:
        return repeat_words(self.given.repeats) if self.given.repeats is not None else ""

    def facts(self) -> str:
        item = self.given.item
        return f"{count(item.chars, 'character')}{', cut' if item.cut else ''}"

    def as_text(self) -> str:
        """The row for the clipboard and for screen readers."""
        given = self.given
        letter = f"twin {given.letter}" if given.letter else ""
        parts = filter(None, (given.file, given.more, letter, self.repeats(), self.facts()))
        return f"{given.number}. {', '.join(parts)}\n{given.head}"

    def tip(self) -> str:
        given = self.given
        shown = [one_line(path) for path in given.files[:8]]
        more = len(given.files) - len(shown)
        files = "\n".join((*shown, f"and {more:,} more") if more > 0 else shown)
        return tool_tip(f"Cites {count(len(given.files), 'file')}:\n{files}", self.repeats(), self.facts())

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "given",
        Role.TARGET: target,
        Role.RANK: lambda row: row.given.number,
        Role.TWIN: lambda row: row.given.letter,
        Role.FILE: lambda row: row.given.file,
        Role.PLACE: lambda row: row.given.more,
        Role.FACTS: facts,
        Role.SNIPPET: lambda row: row.given.head,
        Role.PATH: lambda row: row.given.item.source,
        Role.DOC_ID: lambda row: row.given.doc_id,
        Role.KEY: lambda row: row.given.item.document_id,
        Role.COPY: as_text,
        CompareRole.REPEATS: repeats,
        Qt.ItemDataRole.DisplayRole: as_text,
        Qt.ItemDataRole.AccessibleTextRole: as_text,
        Qt.ItemDataRole.ToolTipRole: tip,
    }


class GivenModel(LaneModel):
    """What one policy gives the agent, in order."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.given: tuple[Given, ...] = ()

    def set_answer(self, answer: PolicyAnswer | None) -> None:
        """Show what this policy gives, or nothing."""
        self.given = given_by(answer) if answer is not None else ()
        self.show([GivenRow(each) for each in self.given])
