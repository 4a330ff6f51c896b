"""The table of documents: rows are drawn only where they are seen."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.models.documents import CHARACTERS, CHUNKS, FOLDER, KIND, NAME, PAGES, STATE, STATE_ROLE
from app.theme import Theme, qcolor


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


class DocumentTableView(QTableView):
    """Sortable by its headers; Enter shows the document."""

    activatedRow = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delegate = StateDelegate(theme, self)
        self.setAccessibleName("Documents")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)  # a file can be dragged to another program
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setItemDelegateForColumn(STATE, self._delegate)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setStretchLastSection(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSortingEnabled(True)
        self.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
        self._fitting = False
        self._own_widths = False  # the user has set some: they stay
        self.horizontalHeader().sectionResized.connect(self._resized)

    def set_theme(self, theme: Theme) -> None:
        self._delegate.theme = theme
        self.verticalHeader().setDefaultSectionSize(round(theme.points * 2.4) + 4)
        self.viewport().update()

    def fit_columns(self) -> None:
        """Figures take what they need; names, folders and states share the rest."""
        if self.model() is None or self._own_widths:
            return
        self._fitting = True
        header = self.horizontalHeader()
        letter = self.fontMetrics().averageCharWidth()
        rest = self.viewport().width()
        for column, letters in ((KIND, 12), (CHUNKS, 10), (CHARACTERS, 13), (PAGES, 8)):
            header.resizeSection(column, letter * letters + 16)
            rest -= letter * letters + 16
        for column, share in ((NAME, 0.38), (FOLDER, 0.26), (STATE, 0.36)):
            header.resizeSection(column, max(80, int(rest * share)))
        self._fitting = False

    def _resized(self) -> None:
        self._own_widths = self._own_widths or not self._fitting

    def columns(self) -> QByteArray:
        """The columns as the user has set them; empty while they are as they come."""
        return self.horizontalHeader().saveState() if self._own_widths else QByteArray()

    def restore_columns(self, state: QByteArray) -> None:
        """The columns as they were left."""
        self._own_widths = self.horizontalHeader().restoreState(state)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit_columns()

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
