"""The table of documents: rows are drawn only where they are seen."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.documents import CHARACTERS, CHUNKS, FOLDER, KIND, NAME, PAGES, STATE, STATE_ROLE
from app.theme import Theme, qcolor
from app.views.table import Table


class StateDelegate(QStyledItemDelegate):
    """The state in its colour; its words say it too."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight  # a reason is read from its beginning
        state = index.data(STATE_ROLE)
        colours = {
            "failed": self.theme.error,
            "missing": self.theme.error,
            "stale": self.theme.warn,
            "changed": self.theme.warn,
            "no_text": self.theme.text_quiet,
            "unknown_kind": self.theme.text_quiet,
            "excluded": self.theme.text_quiet,
            "unreadable": self.theme.error,
        }
        if state in colours:
            palette = option.palette
            for role in (palette.ColorRole.Text, palette.ColorRole.HighlightedText):
                palette.setColor(role, qcolor(colours[state]))
            option.palette = palette


class DocumentTableView(Table):
    """Sortable by its headers; Enter shows the document."""

    activatedRow = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("Documents", parent)
        self._delegate = StateDelegate(theme, self)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)  # a file can be dragged to another program
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setItemDelegateForColumn(STATE, self._delegate)
        self.horizontalHeader().setStretchLastSection(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSortingEnabled(True)
        self.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)

    def set_theme(self, theme: Theme) -> None:
        self._delegate.theme = theme
        self.set_row_height(theme)
        self.viewport().update()

    def fit(self) -> None:
        """Figures take what they need; names, folders and states share the rest."""
        header = self.horizontalHeader()
        letter = self.fontMetrics().averageCharWidth()
        rest = self.viewport().width()
        for column, letters in ((KIND, 12), (CHUNKS, 10), (CHARACTERS, 13), (PAGES, 8)):
            header.resizeSection(column, letter * letters + 16)
            rest -= letter * letters + 16
        for column, share in ((NAME, 0.38), (FOLDER, 0.26), (STATE, 0.36)):
            header.resizeSection(column, max(80, int(rest * share)))

    def choose(self, row: int | None) -> None:
        """Select this row, or none."""
        if row is None:
            self.clearSelection()
        else:
            self.selectRow(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activatedRow.emit()
        else:
            super().keyPressEvent(event)
