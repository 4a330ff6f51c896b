"""What stands beside the families, as tables: folders, boilerplate, documents alike in meaning, the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from pipeline.duplicates.records import Alike, Boilerplate, FolderShare, JournalEntry
from pipeline.words.families import BOILERPLATE_MEANINGS, BOILERPLATE_WORDS, journal_words, percent
from pipeline.words.phrases import count
from pipeline.words.plain import first_words, one_line, tool_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """One column: its title, what it shows of a row, what it sorts by, and its share of the room."""

    title: str
    text: Callable[[T], str]
    key: Callable[[T], Any] | None = None
    numeric: bool = False
    share: int = 1


class RowTable(QAbstractTableModel, Generic[T]):
    """Rows of records in the order of one column. Owns no truth."""

    def __init__(self, columns: Sequence[Column[T]], tip: Callable[[T], str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns, self._tip = columns, tip
        self._rows: list[T] = []
        self._sorted: tuple[int, Qt.SortOrder] | None = None

    def set_rows(self, rows: Sequence[T]) -> None:
        """Show these rows."""
        self.beginResetModel()
        self._rows = list(rows)
        self._arrange()
        self.endResetModel()

    def row(self, at: int) -> T | None:
        return self._rows[at] if 0 <= at < len(self._rows) else None

    @property
    def rows(self) -> Sequence[T]:
        return self._rows

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.beginResetModel()
        self._sorted = (column, order) if column >= 0 else None
        self._arrange()
        self.endResetModel()

    def _arrange(self) -> None:
        if self._sorted is None:
            return
        column, order = self.columns[self._sorted[0]], self._sorted[1]
        key = column.key or (lambda row: column.text(row).casefold())
        self._rows.sort(key=key, reverse=order == Qt.SortOrder.DescendingOrder)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(self.columns[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row())
        if row is None:
            return None
        column = self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(column)
        return None

    def row_text(self, at: int) -> str:
        """A row for the clipboard, a tab between its cells."""
        row = self._rows[at]
        return "\t".join(column.text(row) for column in self.columns)


def _side(column: Column[Any]) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.numeric else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A folder with its share of duplicates, and whether it is protected: itself, or by a folder above it."""

    share: FolderShare
    path: str  # on disk, "" where it is not known
    protected: str  # "", "protected" or "with <folder>"
    listed: bool = True  # it is among the folders with duplicates; another one is here because it is protected


def folder_table(parent: QObject | None = None) -> RowTable[FolderRow]:
    """How much of each folder is duplicates."""
    return RowTable(
        (
            Column("Folder", lambda row: one_line(row.share.folder), share=5),
            Column(
                "Documents",
                lambda row: f"{row.share.documents:,}" if row.listed else "",
                lambda row: row.share.documents,
                True,
                1,
            ),
            Column(
                "Copies",
                lambda row: f"{row.share.duplicates:,}" if row.listed else "none listed",
                lambda row: row.share.duplicates,
                True,
                1,
            ),
            Column(
                "Share",
                lambda row: percent(row.share.share) if row.listed else "",
                lambda row: row.share.share,
                True,
                1,
            ),
            Column("Protected", lambda row: row.protected, share=2),
        ),
        lambda row: tool_tip(one_line(row.path or row.share.folder)),
        parent,
    )


def boilerplate_table(parent: QObject | None = None) -> RowTable[Boilerplate]:
    """What many documents hold, and what makes none of them a duplicate."""
    return RowTable(
        (
            Column("What it is", lambda row: BOILERPLATE_WORDS[row.kind], share=2),
            Column("How it begins", lambda row: first_words(row.opening) or "(nothing that can be read)", share=5),
            Column("Documents", lambda row: f"{row.documents:,}", lambda row: row.documents, True, 1),
            Column("Such as", lambda row: ", ".join(one_line(name) for name in row.examples[:4]), share=4),
        ),
        lambda row: tool_tip(
            BOILERPLATE_MEANINGS[row.kind],
            first_words(row.opening, 600),
            *(one_line(name) for name in row.examples[:12]),
        ),
        parent,
    )


def alike_table(parent: QObject | None = None) -> RowTable[Alike]:
    """Documents that are alike in meaning alone."""
    return RowTable(
        (
            Column("Document", lambda row: one_line(row.doc_id), share=5),
            Column("Alike to", lambda row: one_line(row.other_doc_id), share=5),
            Column("Likeness", lambda row: f"{row.cosine:.3f}", lambda row: row.cosine, True, 1),
        ),
        lambda row: tool_tip(
            f"{one_line(row.doc_id)} and {one_line(row.other_doc_id)}",
            f"Their passages have a mean cosine of {row.cosine:.3f}, and too few words in common to be copies.",
        ),
        parent,
    )


def journal_table(parent: QObject | None = None) -> RowTable[JournalEntry]:
    """What was done, and when."""
    return RowTable(
        (
            Column("When", lambda row: local_time(row.at), lambda row: (row.at, row.id), share=2),
            Column("What", journal_words, share=3),
            Column("Which", lambda row: one_line(row.name or row.subject), share=5),
            Column("Now", lambda row: "taken back" if row.undone else "", share=1),
        ),
        lambda row: tool_tip(
            one_line(row.name or row.subject),
            journal_words(row),
            f"before: {first_words(row.before)}" if row.before else "",
            f"after: {one_line(row.after)}" if row.after else "",
        ),
        parent,
    )


def local_time(at: str) -> str:
    """A UTC time of the journal in local time."""
    try:
        return f"{datetime.fromisoformat(at.replace('Z', '+00:00')).astimezone():%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return one_line(at)


def folder_rows(
    folders: Sequence[FolderShare], roots: Mapping[str, str], protected: Sequence[str], separator: str
) -> list[FolderRow]:
    """Each folder with its path (`roots`: label -> path) and its protection; then every other protected folder, so that
    each can be seen and protected no more, whatever is listed."""
    guarded = [(path, path.rstrip(separator) + separator) for path in protected]
    rows = []
    for share in folders:
        label, _, below = share.folder.partition("/")
        root = roots.get(label, "")
        path = root.rstrip(separator) + separator + below.replace("/", separator) if root and below else root
        said = ""
        for own, beginning in guarded:
            if path and path.rstrip(separator) == own.rstrip(separator):
                said = "protected"
                break
            if path and (path + separator).startswith(beginning):
                said = f"with {one_line(own, 60)}"
        rows.append(FolderRow(share, path, said))
    known = {row.path.rstrip(separator) for row in rows if row.path}
    rows += [
        FolderRow(FolderShare(_name_of(path.rstrip(separator), roots, separator), 0, 0), path, "protected", False)
        for path in sorted(protected)
        if path.rstrip(separator) not in known
    ]
    return rows


def _name_of(path: str, roots: Mapping[str, str], separator: str) -> str:
    """A folder as the library names it; one that does not lie in the library, by its path."""
    for label, root in roots.items():
        beginning = root.rstrip(separator)
        if path == beginning:
            return label
        if path.startswith(beginning + separator):
            return f"{label}/{path[len(beginning) + 1 :].replace(separator, '/')}"
    return path


def folders_words(rows: Sequence[FolderRow]) -> str:
    """The folder that holds most copies, in a sentence."""
    guarded = [row for row in rows if not row.listed]
    rows = [row for row in rows if row.listed]
    also = (
        f" {count(len(guarded), 'more folder is', 'more folders are')} listed for being protected." if guarded else ""
    )
    worst = max(rows, key=lambda row: row.share.duplicates, default=None)
    if worst is None or not worst.share.duplicates:
        return f"No folder holds a copy.{also}"
    return (
        f"Counted with everything below them. {count(len(rows), 'folder')}; “{one_line(worst.share.folder, 80)}” holds "
        f"most copies: {worst.share.duplicates:,} of its {count(worst.share.documents, 'document')}.{also}"
    )
