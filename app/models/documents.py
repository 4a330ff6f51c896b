"""The library's documents as a table. Owns no truth: it shows what the last status said."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.dragging import URI_LIST, files_mime
from pipeline.records import Document, Freshness, PassedOverRow, Root, indexed_as
from pipeline.words.phrases import count
from pipeline.words.plain import one_line, tool_tip
from pipeline.words.states import STATE_WORDS

STATE_ROLE = int(Qt.ItemDataRole.UserRole) + 1

COLUMNS = ("Document", "Folder", "State", "Kind", "Chunks", "Characters", "Pages")
NAME, FOLDER, STATE, KIND, CHUNKS, CHARACTERS, PAGES = range(len(COLUMNS))
NUMERIC = (CHUNKS, CHARACTERS, PAGES)

LEFT_OUT = ("excluded", "unreadable")  # states of what is no document: shown when asked for
ROW_WORDS = {**STATE_WORDS, "unreadable": "unreadable"}
_WITH_REASON = ("failed", "unknown_kind", "stale", "no_text", *LEFT_OUT)
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()  # what Qt asks a flat table about; made once, as a default must be


def state_of(document: Document, freshness: Mapping[str, Freshness]) -> str:
    """The one state that a row shows: what is wrong with the file now says more than how it was indexed."""
    if document.why in LEFT_OUT:
        return document.why
    now = freshness.get(document.doc_id)
    if now == "missing" or (now == "changed" and document.state in ("indexed", "no_text")):
        return now
    return indexed_as(document)


def left_out_rows(rows: Sequence[PassedOverRow], roots: Sequence[Root]) -> list[Document]:
    """What rules exclude, and what could not be read, as rows of the table: a file or folder, its rule or reason."""
    paths = {root.label: root.path for root in roots}
    found: list[Document] = []
    for row in rows:
        if row.what not in LEFT_OUT:
            continue
        many = f"{count(row.entries, 'name')} in it, " if row.entries > 1 else ""
        reason = f"by {row.rule}" if row.what == "excluded" and row.rule else row.rule or "by other rules"
        path = os.path.join(paths.get(row.root_label, ""), *row.rel_path.split("/"))
        # Bytes that are no text are shown as such; the path keeps them.
        name = f"{row.root_label}/{row.rel_path.encode('utf-8', 'backslashreplace').decode()}"
        found.append(Document(name, path, "failed", many + reason, root_label=row.root_label, why=row.what))
    return found


class DocumentTable(QAbstractTableModel):
    """One row a document, of those that match the filter, in the order of one column.

    Filtering and sorting happen here, in one pass over plain records: a proxy model would ask for every cell through
    Qt, which takes seconds for the ten thousand documents of a large library.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._documents: Sequence[Document] = ()
        self._documents_only = 0  # how many of these are documents; what was left out stands behind them
        self._states: list[str] = []
        self._rows: list[int] = []  # row -> position in `_documents`
        self._words: tuple[str, ...] = ()
        self._state = ""
        self._column, self._order = NAME, Qt.SortOrder.AscendingOrder

    def set_documents(
        self, documents: Sequence[Document], freshness: Mapping[str, Freshness], left_out: Sequence[Document] = ()
    ) -> None:
        """Show these documents; and, when their state is asked for, these rows of what is none."""
        rows = [*documents, *left_out]
        states = [state_of(row, freshness) for row in rows]
        if states == self._states and rows == list(self._documents):
            return
        self._documents, self._states, self._documents_only = rows, states, len(documents)
        self._arrange()

    def held(self) -> Mapping[str, int]:
        """How many rows are in each state."""
        return Counter(self._states)

    def set_text(self, text: str) -> None:
        """Only documents whose doc_id or reason holds every word of this."""
        self._words = tuple(text.casefold().split())
        self._arrange()

    def set_state(self, state: str) -> None:
        """Only documents in this state; "" shows all."""
        self._state = state
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._order = column, order
        self._arrange()

    def document(self, row: int) -> Document:
        return self._documents[self._rows[row]]

    def row_of(self, doc_id: str) -> int | None:
        """The row that shows this document, None when none does."""
        return next((row for row in range(len(self._rows)) if self.document(row).doc_id == doc_id), None)

    def _arrange(self) -> None:
        self.beginResetModel()
        column = self._column
        matching = [position for position in range(len(self._documents)) if self._matches(position)]
        matching.sort(
            key=lambda position: _sorted_by(self._documents[position], self._states[position], column),
            reverse=self._order == Qt.SortOrder.DescendingOrder,
        )
        self._rows = matching
        self.endResetModel()

    def _matches(self, position: int) -> bool:
        if self._states[position] != self._state if self._state else position >= self._documents_only:
            return False
        if not self._words:
            return True
        document = self._documents[position]
        text = f"{document.doc_id}\n{document.reason}".casefold()
        return all(word in text for word in self._words)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    # --- dragging a document's file out -----------------------------------------------------------------------------

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    def mimeTypes(self) -> list[str]:
        return [URI_LIST]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        return files_mime(list(dict.fromkeys(self.document(index.row()).path for index in indexes)))

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction

    def row_text(self, row: int) -> str:
        """The row as text, a tab between its cells."""
        return "\t".join(str(self.index(row, column).data() or "") for column in range(len(COLUMNS)))

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in NUMERIC else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        position, column = self._rows[index.row()], index.column()
        document, state = self._documents[position], self._states[position]
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(_shown(document, state, column))
        if role == Qt.ItemDataRole.ToolTipRole:
            return tool_tip(document.path, document.reason)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in NUMERIC:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == STATE_ROLE:
            return state
        return None


def _shown(document: Document, state: str, column: int) -> str:
    match column:
        case 0:
            return document.doc_id.rstrip("/").rsplit("/", 1)[-1] + "/" * document.doc_id.endswith("/")
        case 1:
            return document.doc_id.rstrip("/").rsplit("/", 1)[0] if "/" in document.doc_id.rstrip("/") else ""
        case 2:
            if state == "unknown_kind":
                return document.reason  # it says so
            words = ROW_WORDS.get(state, state)
            tells_why = document.reason and state in _WITH_REASON
            return f"{words}: {document.reason}" if tells_why else words
        case 3:
            return document.kind
        case 4:
            return f"{document.chunks:,}" if document.chunks else ""
        case 5:
            return f"{document.characters:,}" if document.characters else ""
    return f"{document.pages:,}" if document.pages else ""


def _sorted_by(document: Document, state: str, column: int) -> Any:
    match column:
        case 4:
            return document.chunks
        case 5:
            return document.characters
        case 6:
            return document.pages
    return _shown(document, state, column).casefold()
