"""The questions that were asked, as a table. Owns no truth: it shows what the history says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from pipeline.findings import HistoryEntry
from pipeline.words.asked import asked_words, dropped_words, time_words, when_words
from pipeline.words.phrases import count, number
from pipeline.words.plain import first_words, one_line, tool_tip

COLUMNS = ("", "Asked", "Question", "Settings", "Crowding", "Texts", "Files", "Dropped", "Time")
PIN, ASKED, QUESTION, SETTINGS, CROWDING, TEXTS, FILES, DROPPED, TIME = range(len(COLUMNS))
NUMERIC = (CROWDING, TEXTS, FILES, DROPPED, TIME)
TIPS = {
    PIN: "Pinned questions stay when the oldest go",
    CROWDING: "Places among the first that copies took",
    TEXTS: "Different texts among the raw candidates",
    FILES: "Files that the evidence cites",
    DROPPED: "Rows that some stage dropped",
    TIME: "From the question to its answer",
}
ROOM_FOR_ARROW = "\N{EM SPACE}"  # right-aligned heads would stand below the arrow of their order
PINNED_ROLE = int(Qt.ItemDataRole.UserRole) + 1
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class HistoryTable(QAbstractTableModel):
    """One row an entry, the newest first as the history gives them, or in the order of one column."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[HistoryEntry] = []
        self._column, self._order = ASKED, Qt.SortOrder.DescendingOrder

    def set_entries(self, entries: Sequence[HistoryEntry]) -> bool:
        """Show these entries; False when they are shown already."""
        arranged = self._arranged(entries)
        if arranged == self._entries:
            return False
        self.beginResetModel()
        self._entries = arranged
        self.endResetModel()
        return True

    def entry(self, row: int) -> HistoryEntry:
        return self._entries[row]

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """As they are shown."""
        return tuple(self._entries)

    def row_of(self, entry_id: int) -> int | None:
        return next((row for row, entry in enumerate(self._entries) if entry.id == entry_id), None)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._order = column, order
        self.beginResetModel()
        self._entries = self._arranged(self._entries)
        self.endResetModel()

    def _arranged(self, entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
        newest_first = sorted(entries, key=lambda entry: entry.id, reverse=True)
        if self._column == ASKED:
            return newest_first[::-1] if self._order == Qt.SortOrder.AscendingOrder else newest_first
        column = self._column
        newest_first.sort(
            key=lambda entry: _sorted_by(entry, column), reverse=self._order == Qt.SortOrder.DescendingOrder
        )
        return newest_first

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def row_text(self, row: int) -> str:
        """The row as text, a tab between its cells."""
        entry = self._entries[row]
        return "\t".join([*(_shown(entry, column) for column in range(1, len(COLUMNS)))])

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section] + (ROOM_FOR_ARROW if section == self._column and section in NUMERIC else "")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return COLUMNS[section] or "Pinned"
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS.get(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in NUMERIC else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, column = self._entries[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _shown(entry, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(entry, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _accessible(entry, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in NUMERIC:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == PINNED_ROLE:
            return entry.pinned
        return None


def _shown(entry: HistoryEntry, column: int) -> str:
    figures = entry.figures
    match column:
        case 1:
            return when_words(entry.asked_at)
        case 2:
            return first_words(entry.text)
        case 3:
            return one_line(asked_words(entry))
        case 4:
            return f"{figures.crowding:.0%}"
        case 5:
            return number(figures.distinct)
        case 6:
            return number(figures.cited_files)
        case 7:
            return number(sum(figures.dropped.values()))
        case 8:
            return time_words(figures.ms)
    return ""


def _tip(entry: HistoryEntry, column: int) -> str:
    match column:
        case 0:
            return tool_tip("Pinned" if entry.pinned else "Not pinned")
        case 7:
            return tool_tip(dropped_words(entry.figures.dropped) or "nothing was dropped")
        case 3:
            return tool_tip(one_line(asked_words(entry), 1_000) or "The settings as they come, all documents")
    times = f"Asked {count(entry.times, 'time')} in this way without another between" if entry.times > 1 else ""
    return tool_tip(first_words(entry.text, 1_000), times)


def _accessible(entry: HistoryEntry, column: int) -> str:
    if column == PIN:
        return "pinned" if entry.pinned else "not pinned"
    return _shown(entry, column)


def _sorted_by(entry: HistoryEntry, column: int) -> Any:
    figures = entry.figures
    match column:
        case 0:
            return entry.pinned
        case 2:
            return entry.text.casefold()
        case 3:
            return asked_words(entry).casefold()
        case 4:
            return figures.crowding
        case 5:
            return figures.distinct
        case 6:
            return figures.cited_files
        case 7:
            return sum(figures.dropped.values())
    return figures.ms
