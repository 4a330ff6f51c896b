"""The members of one family as a list, each with what ties it to the head. Owns no truth: it shows a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.dragging import URI_LIST, files_mime
from app.models.families import split_id
from pipeline.duplicates.records import Family, Member
from pipeline.words import proposing
from pipeline.words.families import decided_words, on_disk_words, size_words, tie_words, weighty_words
from pipeline.words.phrases import count
from pipeline.words.plain import first_words, one_line, tool_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
MOST_WEIGHTY = 4  # words that matter, on one row


class MemberRole(IntEnum):
    """What a row can be asked for beside its text."""

    ROW = Qt.ItemDataRole.UserRole + 1  # MemberRow


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member as the list shows it."""

    member: Member
    name: str
    folder: str
    facts: str  # size and date
    tie: str
    marks: tuple[str, ...]  # what was decided
    unlike: str  # what became of its file since it was indexed, "" while it is as it was or was not looked at
    note: str
    verdict: str  # proposed, or why not

    @property
    def head(self) -> bool:
        return self.member.tier is None

    @property
    def lines(self) -> int:
        """How many lines the row takes."""
        return 3 + bool(self.member.weighty) + bool(self.verdict) + bool(self.note)


def member_row(member: Member) -> MemberRow:
    name, folder = split_id(member.doc_id)
    return MemberRow(
        member,
        name,
        folder,
        f"{size_words(member.size)} · {date_words(member.mtime_ns)}",
        tie_words(member),
        decided_words(member),
        on_disk_words(member),
        f"Note: {first_words(member.note)}" if member.note else "",
        "" if member.tier is None and not member.proposed else verdict_words(member),  # a head never is
    )


def verdict_words(member: Member) -> str:
    """Whether a member is proposed for removal, and why or why not."""
    why = one_line(member.why)
    if member.proposed:
        said = (proposing.IDENTICAL, proposing.SAME_TEXT)  # the tie says so already, one line above
        return f"Proposed for removal: {why}" if why and member.why not in said else "Proposed for removal"
    return f"Not proposed: {why}" if why else ""


def date_words(mtime_ns: int) -> str:
    """The local date and time at which the file was last changed."""
    try:
        return f"{datetime.fromtimestamp(mtime_ns / 1e9):%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):  # a time that no calendar has
        return "no date"


def weighty_line(member: Member) -> str:
    """The words that matter and differ, in one line."""
    said = [weighty_words(one) for one in member.weighty[:MOST_WEIGHTY]]
    more = max(member.weighty_in_all, len(member.weighty)) - len(said)
    if more > 0:
        said.append(f"{count(more, 'more', 'more')}")
    return "; ".join(said)


class MemberList(QAbstractListModel):
    """One row a member, the head first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._family: Family | None = None
        self._members: Sequence[Member] = ()
        self._rows: dict[int, MemberRow] = {}  # made when they are looked at: a family may have thousands

    def set_family(self, family: Family | None) -> None:
        """Show this family's members, or none."""
        self.beginResetModel()
        self._family = family
        self._members = family.members if family is not None else ()
        self._rows = {}
        self.endResetModel()

    def show_looked_at(self, members: Sequence[Member]) -> None:
        """The same members, their files compared with what was indexed: who is selected stays selected."""
        other = [at for at, (held, now) in enumerate(zip(self._members, members, strict=True)) if held != now]
        if not other:
            return
        self._members = members
        for at in other:
            self._rows.pop(at, None)
        self.dataChanged.emit(self.index(other[0], 0), self.index(other[-1], 0))

    @property
    def family(self) -> Family | None:
        """As the scan found it, whatever became of its files."""
        return self._family

    def member(self, row: int) -> Member | None:
        return self._members[row] if 0 <= row < len(self._members) else None

    def row_of(self, doc_id: str) -> int | None:
        return next((at for at, member in enumerate(self._members) if member.doc_id == doc_id), None)

    def row(self, at: int) -> MemberRow:
        made = self._rows.get(at)
        if made is None:
            made = self._rows[at] = member_row(self._members[at])
        return made

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._members)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        at = index.row()
        if not 0 <= at < len(self._members):
            return None
        if role == MemberRole.ROW:
            return self.row(at)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.as_text(at)
        if role == Qt.ItemDataRole.ToolTipRole:
            row = self.row(at)
            differing = [weighty_words(one) for one in row.member.weighty[:12]]
            return tool_tip(one_line(row.member.path), row.unlike, row.tie, *differing, row.verdict, row.note)
        return None

    def as_text(self, at: int) -> str:
        """A row for the clipboard and for screen readers."""
        row = self.row(at)
        parts = (
            one_line(row.member.path),
            row.facts,
            row.tie,
            f"differs in {weighty_line(row.member)}" if row.member.weighty else "",
            ", ".join(filter(None, (*row.marks, row.unlike))),
            row.note,
            row.verdict,
        )
        return ". ".join(filter(None, parts))

    # --- dragging a file out ----------------------------------------------------------------------------------------

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    def mimeTypes(self) -> list[str]:
        return [URI_LIST]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        return files_mime([self._members[index.row()].path for index in indexes])

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction
