"""Families of duplicates as a list: filtered and sorted here, drawn only where they are seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from pipeline.duplicates.records import TIERS, Family, Member, Tier
from pipeline.words.families import TIER_MEANINGS, TIER_WORDS, cost_words, family_words
from pipeline.words.phrases import count
from pipeline.words.plain import one_line, tool_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

Order = Literal["cost", "characters", "members", "least_similar", "name"]
ORDER_WORDS: dict[Order, str] = {
    "cost": "Costliest first",
    "characters": "Most repeated text first",
    "members": "Most documents first",
    "least_similar": "Least similar pair first",
    "name": "By name",
}


class FamilyRole(IntEnum):
    """What a row can be asked for beside its text."""

    ROW = Qt.ItemDataRole.UserRole + 1  # FamilyRow


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """A family as the list shows it. `searched` holds every member's doc_id, folded for finding, a line each."""

    family: Family
    name: str  # of the head, safe to show
    folder: str  # of the head, safe to show
    searched: str
    tiers: frozenset[Tier]
    kinds: frozenset[str]
    least_similar: float  # of a member to the head
    proposed: int  # members that are proposed for removal

    @property
    def figure(self) -> str:
        """What the family costs."""
        return cost_words(self.family)

    @property
    def facts(self) -> str:
        """How many documents, and how much of their text stands there more than once."""
        family = self.family
        return f"{count(len(family.members), 'document')} · {count(family.redundant_texts, 'passage')} repeated"


@dataclass(frozen=True, slots=True)
class FamilyFilter:
    """Which families are listed; an empty value takes all."""

    words: tuple[str, ...] = ()
    folder: str = ""
    tier: str = ""
    kind: str = ""
    proposed: bool = False

    @property
    def narrowed(self) -> bool:
        return self != FamilyFilter()

    def taken(self, rows: Sequence[FamilyRow]) -> list[FamilyRow]:
        """The families that are listed. One pass a condition: twenty thousand rows are gone through at every key."""
        kept = list(rows)
        for word in self.words:
            kept = [row for row in kept if word in row.searched]
        if self.folder:
            beginning = f"\n{self.folder.casefold()}/"
            kept = [row for row in kept if beginning in row.searched]
        if self.tier:
            kept = [row for row in kept if self.tier in row.tiers]
        if self.kind:
            kept = [row for row in kept if self.kind in row.kinds]
        return [row for row in kept if row.proposed] if self.proposed else kept


def split_id(doc_id: str) -> tuple[str, str]:
    """Name and folder of a document, safe to show."""
    folder, _, name = doc_id.rpartition("/")
    return one_line(name or doc_id), one_line(folder)


def rows_of(families: Iterable[Family]) -> tuple[FamilyRow, ...]:
    """The rows of these families, by name. Twenty thousand take a while: meant for a thread."""
    return tuple(sorted(map(_row, families), key=lambda row: row.searched))


def _row(family: Family) -> FamilyRow:
    name, folder = split_id(family.head.doc_id)
    others = family.members[1:]
    return FamilyRow(
        family,
        name,
        folder,
        "\n" + "\n".join([member.doc_id for member in family.members]).casefold(),
        frozenset([member.tier for member in others if member.tier is not None]),
        frozenset([member.kind for member in family.members if member.kind]),
        min((member.similarity for member in others), default=1.0),
        sum(member.proposed for member in others),
    )


# Rows come by name, and sorting keeps the order of equals.
_SORTED_BY: dict[Order, Callable[[FamilyRow], Any]] = {
    "cost": lambda row: (-(row.family.cost or 0.0), -row.family.redundant_characters),
    "characters": lambda row: -row.family.redundant_characters,
    "members": lambda row: -len(row.family.members),
    "least_similar": lambda row: row.least_similar,
    "name": lambda row: row.name.casefold(),
}


class FamilyList(QAbstractListModel):
    """One row a family that the filter takes, in the order chosen. Owns no truth: it shows a report."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: Sequence[FamilyRow] = ()
        self._shown: list[FamilyRow] = []
        self._filter = FamilyFilter()
        self._order: Order = "cost"

    def set_rows(self, rows: Sequence[FamilyRow]) -> None:
        """Show these families."""
        self._all = rows
        self._arrange()

    def set_filter(self, wanted: FamilyFilter) -> None:
        if wanted != self._filter:
            self._filter = wanted
            self._arrange()

    def set_order(self, order: Order) -> None:
        if order != self._order:
            self._order = order
            self._arrange()

    @property
    def filter(self) -> FamilyFilter:
        return self._filter

    @property
    def shown(self) -> Sequence[FamilyRow]:
        """The rows in their order."""
        return self._shown

    @property
    def total(self) -> int:
        """How many families there are, listed or not."""
        return len(self._all)

    def row_of(self, key: str) -> int | None:
        """Where the family with this key is listed."""
        return next((at for at, row in enumerate(self._shown) if row.family.key == key), None)

    def row_with(self, doc_id: str) -> int | None:
        """Where the family that this document belongs to is listed."""
        wanted = f"\n{doc_id.casefold()}"
        for at, row in enumerate(self._shown):
            if wanted in row.searched and any(member.doc_id == doc_id for member in row.family.members):
                return at
        return None

    def _arrange(self) -> None:
        self.beginResetModel()
        shown = self._filter.taken(self._all)
        shown.sort(key=_SORTED_BY[self._order])
        self._shown = shown
        self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        at = index.row()
        if not 0 <= at < len(self._shown):
            return None
        row = self._shown[at]
        if role == FamilyRole.ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return family_words(row.family)
        if role == Qt.ItemDataRole.ToolTipRole:
            tier = row.family.tier
            return tool_tip(
                one_line(row.family.head.path), f"The least sure of them is {TIER_WORDS[tier]}: {TIER_MEANINGS[tier]}."
            )
        return None


def kinds_in(rows: Iterable[FamilyRow]) -> list[str]:
    """Every kind of file among these families, by name."""
    return sorted(frozenset().union(*(row.kinds for row in rows)))


def tiers_in(rows: Iterable[FamilyRow]) -> list[Tier]:
    """Every tier among these families, the surest first."""
    held = frozenset[Tier]().union(*(row.tiers for row in rows))
    return [tier for tier in TIERS if tier in held]


def members_of(rows: Iterable[FamilyRow]) -> list[Member]:
    """All members of these families."""
    return [member for row in rows for member in row.family.members]
