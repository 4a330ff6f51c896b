"""The library's documents as a table. Owns no truth: it shows what the last status said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.dragging import URI_LIST, files_mime
from pipeline.records import Document, Freshness
from pipeline.words.plain import one_line, tool_tip

STATE_ROLE = int(Qt.ItemDataRole.UserRole) + 1

COLUMNS = ("Document", "Folder", "State", "Kind", "Chunks", "Characters", "Pages")
NAME, FOLDER, STATE, KIND, CHUNKS, CHARACTERS, PAGES = range(len(COLUMNS))
NUMERIC = (CHUNKS, CHARACTERS, PAGES)

STATE_WORDS = {
    "indexed": "indexed",
    "no_text": "no text",
    "failed": "failed",
    "stale": "stale",
    "changed": "changed on disk",
    "missing": "missing on disk",
}
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()  # what Qt asks a flat table about; made once, as a default must be


def state_of(document: Document, freshness: Mapping[str, Freshness]) -> str:
    """The one state that a row shows: what is wrong with the file now says more than how it was indexed."""
    now = freshness.get(document.doc_id)
    return now if now in ("changed", "missing") and document.state in ("indexed", "no_text") else document.state


class DocumentTable(QAbstractTableModel):
    """One row a document, of those that match the filter, in the order of one column.

    Filtering and sorting happen here, in one pass over plain records: a proxy model would ask for every cell through
    Qt, which takes seconds for the ten thousand documents of a large library.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._documents: Sequence[Document] = ()
        self._states: list[str] = []
        self._rows: list[int] = []  # row -> position in `_documents`
        self._words: tuple[str, ...] = ()
        self._state = ""
        self._column, self._order = NAME, Qt.SortOrder.AscendingOrder

    def set_documents(self, documents: Sequence[Document], freshness: Mapping[str, Freshness]) -> None:
        """Show these documents."""
        states = [state_of(document, freshness) for document in documents]
        if states == self._states and list(documents) == list(self._documents):
            return
        self._documents, self._states = documents, states
        self._arrange()

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
        if self._state and self._states[position] != self._state:
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
            return document.doc_id.rsplit("/", 1)[-1]
        case 1:
            return document.doc_id.rsplit("/", 1)[0] if "/" in document.doc_id else ""
        case 2:
            words = STATE_WORDS.get(state, state)
            tells_why = document.reason and state in ("failed", "stale", "no_text")
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
