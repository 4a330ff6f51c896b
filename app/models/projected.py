"""The third lane's model: what the agent reads, item by item, where the budget's line fell, and what is behind it."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from PySide6.QtCore import Qt

from app.focus import FocusTarget
from app.models.answer import Answer, name_of
from app.models.links import Lit
from app.models.rows import Getters, LaneModel, Role, Row
from pipeline.records import Budget, Evidence, ProjectedItem
from pipeline.words.plain import lines_of, one_line, tool_tip, visible_json
from pipeline.words.sentences import budget_sentence, count, cut_words

SHOWN_PATHS, MOST_PATHS = 3, 200  # of an item's other files: folded, unfolded


class ItemRow(Row):
    """One item as the agent receives it."""

    __slots__ = ("answer", "block", "item", "position", "unfolded")

    def __init__(self, answer: Answer, item: ProjectedItem, position: int) -> None:
        self.answer, self.item, self.position = answer, item, position
        self.block = answer.links.block_of_item.get(position, 0)
        self.unfolded = False

    def lit(self, lit: Lit) -> bool:
        return self.block in lit.evidence

    def target(self) -> FocusTarget:
        return FocusTarget("item", self.item.document_id, self.position)

    def facts(self) -> str:
        size = count(self.item.chars, "character")
        return f"{size} · {count(self.item.tokens, 'token')}" if self.item.tokens is not None else size

    def fields(self) -> tuple[tuple[str, str], ...]:
        """The item's keys and values in the agent's order, content and what is absent left out."""
        pairs = [("document_id", _quoted(self.item.document_id)), ("source", _quoted(self.item.source))]
        others = self.item.also_in
        if len(others) < 2:
            pairs.append(("also_in", f"[{_quoted(others[0]) if others else ''}]"))
        else:
            most = MOST_PATHS if self.unfolded else SHOWN_PATHS
            pairs.append(("also_in", "["))
            pairs += [("", _quoted(path)) for path in others[:most]]
            if len(others) > most:
                pairs.append(("", f"… {len(others) - most:,} more"))
            pairs.append(("", "]"))
        if self.item.page is not None:
            pairs.append(("page", json.dumps(self.item.page)))
        return tuple(pairs)

    def tail(self) -> str:
        """The keys behind the content."""
        reasons = ", ".join(_quoted(reason) for reason in self.item.hit_reasons[:5])
        return f'"score": {self.item.score:.4g}, "hit_reasons": [{reasons}]'

    def cut(self) -> str:
        if not self.item.cut:
            return ""
        block = self.answer.links.blocks.get(self.block)
        return cut_words(self.item.chars, len(block.content) if block else None)

    def as_json(self) -> str:
        """The item for the clipboard: the very thing that the agent receives."""
        held: dict[str, object] = {
            "document_id": self.item.document_id,
            "source": self.item.source,
            "also_in": list(self.item.also_in),
        }
        if self.item.page is not None:
            held["page"] = self.item.page
        held |= {"content": self.item.content, "score": self.item.score, "hit_reasons": list(self.item.hit_reasons)}
        return visible_json(json.dumps(held, ensure_ascii=False, indent=2))

    def spoken(self) -> str:
        parts = (name_of(None, self.item.source), self.facts(), self.cut())
        return (
            f"projected {self.position}. " + ", ".join(filter(None, parts)) + "\n" + lines_of(self.item.content, 1_000)
        )

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "item",
        Role.TARGET: target,
        Role.RANK: lambda row: row.position,
        Role.SCORE: lambda row: row.item.score,
        Role.TWIN: lambda row: row.answer.links.twin_of_block(row.block),
        Role.FACTS: facts,
        Role.FIELDS: fields,
        Role.TAIL: tail,
        Role.CONTENT: lambda row: lines_of(row.item.content),
        Role.CUT: cut,
        Role.LAST: lambda row: row.unfolded,
        Role.PATH: lambda row: row.item.source,
        Role.DOC_ID: lambda row: row.doc_id(),
        Role.KEY: lambda row: row.item.document_id,
        Role.COPY: as_json,
        Qt.ItemDataRole.DisplayRole: spoken,
        Qt.ItemDataRole.AccessibleTextRole: spoken,
        Qt.ItemDataRole.ToolTipRole: lambda row: tool_tip(one_line(row.item.source), row.facts()),
    }

    def doc_id(self) -> str | None:
        block = self.answer.links.blocks.get(self.block)
        return block.doc_id if block else None


def _quoted(text: str) -> str:
    return json.dumps(one_line(text), ensure_ascii=False)


class BudgetRow(Row):
    """Where the budget's line fell."""

    __slots__ = ("budget",)
    selectable = False

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def text(self) -> str:
        return budget_sentence(self.budget)

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "budget",
        Role.TEXT: text,
        Role.SHARE: lambda row: row.budget.chars / row.budget.max_total_chars if row.budget.max_total_chars else 0.0,
        Role.COPY: text,
        Qt.ItemDataRole.DisplayRole: text,
        Qt.ItemDataRole.AccessibleTextRole: text,
    }


class OverRow(Row):
    """A block behind the line: evidence that the agent does not read."""

    __slots__ = ("answer", "block")

    def __init__(self, answer: Answer, block: Evidence) -> None:
        self.answer, self.block = answer, block

    def lit(self, lit: Lit) -> bool:
        return self.block.rank in lit.evidence

    def target(self) -> FocusTarget:
        return FocusTarget("evidence", self.block.evidence_key, self.block.rank)

    def fate(self) -> str:
        carrier = self.answer.links.candidates.get(self.block.carrier_rank)
        return self.answer.words.fate(carrier) if carrier else ""

    def as_text(self) -> str:
        return (
            f"not read: evidence {self.block.rank}, {name_of(self.block.doc_id, self.block.source_path)}: {self.fate()}"
        )

    getters: ClassVar[Getters] = {
        Role.KIND: lambda row: "over",
        Role.TARGET: target,
        Role.RANK: lambda row: row.block.rank,
        Role.TWIN: lambda row: row.answer.links.twin_of_block(row.block.rank),
        Role.FILE: lambda row: name_of(row.block.doc_id, row.block.source_path),
        Role.FATE: fate,
        Role.PATH: lambda row: row.block.source_path,
        Role.DOC_ID: lambda row: row.block.doc_id,
        Role.KEY: lambda row: row.block.evidence_key,
        Role.REMEDY: lambda row: row.remedy(),
        Role.COPY: as_text,
        Qt.ItemDataRole.DisplayRole: as_text,
        Qt.ItemDataRole.AccessibleTextRole: as_text,
        Qt.ItemDataRole.ToolTipRole: lambda row: tool_tip(row.as_text()),
    }

    def remedy(self) -> object:
        carrier = self.answer.links.candidates.get(self.block.carrier_rank)
        return self.answer.words.remedy(carrier) if carrier else None


class ProjectedModel(LaneModel):
    """Items in order, the budget's line, what is behind it."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._places: dict[FocusTarget, int] = {}
        self._of_block: dict[int, int] = {}

    def set_answer(self, answer: Answer | None) -> None:
        """Show the projection of an answer, or nothing."""
        rows: list[Row] = []
        if answer is not None and (answer.trace.projected or answer.trace.evidence):
            rows += [ItemRow(answer, item, at) for at, item in enumerate(answer.trace.projected, start=1)]
            rows.append(BudgetRow(answer.trace.summary.budget))
            rows += [
                OverRow(answer, block)
                for block in answer.trace.evidence
                if block.rank not in answer.links.item_of_block
            ]
        self._places, self._of_block = {}, {}
        for at, row in enumerate(rows):
            if isinstance(row, ItemRow):
                self._of_block.setdefault(row.block, at)
            elif isinstance(row, OverRow):
                self._of_block.setdefault(row.block.rank, at)
            target = row.value(Role.TARGET)
            if isinstance(target, FocusTarget):
                self._places.setdefault(target, at)
        self.show(rows)

    def unfold(self, at: int) -> bool:
        """Show all of an item's content, or its beginning again. False when the row is no item."""
        row = self._rows[at]
        if not isinstance(row, ItemRow):
            return False
        row.unfolded = not row.unfolded
        index = self.index(at)
        self.dataChanged.emit(index, index, [Role.LAST])
        return True

    def row_of(self, target: FocusTarget) -> int | None:
        return self._places.get(target)

    def at_block(self, rank: int) -> int | None:
        """The row of an evidence rank: its item, or the line that says why it has none."""
        return self._of_block.get(rank)
