"""The lists of families and of members: rows drawn where they are seen, several selected at once, all by keyboard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QListView,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.theme import Theme
from app.views.family_delegate import RowDelegate

MOST_COPIED = 2_000  # rows
_Move = QAbstractItemView.CursorAction


class _Rows:
    """What both kinds of lists have in common. A view comes behind this in the order of bases."""

    def _be_a_list(self: Any, name: str, model: QAbstractItemModel, delegate: RowDelegate) -> None:
        self._delegate = delegate
        delegate.setParent(self)
        self.setModel(model)
        self.setItemDelegate(delegate)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(24)
        self.doubleClicked.connect(lambda index: self.activatedRow.emit(index.row()))

    def chosen_rows(self: Any) -> list[int]:
        """The selected rows from the top; the current one where none is selected."""
        rows: list[int] = []
        for part in self.selectionModel().selection():
            rows += range(part.top(), part.bottom() + 1)
        if not rows and self.currentIndex().isValid():
            rows = [self.currentIndex().row()]
        return sorted(rows)

    def choose(self: Any, row: int | None) -> None:
        """Make this the current and only selected row; None clears."""
        if row is None:
            self.selectionModel().clear()
            return
        index = self.model().index(row, 0)
        self.setCurrentIndex(index)
        self.selectionModel().select(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.scrollTo(index)

    def choose_rows(self: Any, rows: Iterable[int]) -> None:
        """Select these rows; the first becomes current."""
        selection = QItemSelection()
        first: QModelIndex | None = None
        for row in rows:
            index = self.model().index(row, 0)
            selection.select(index, index)
            first = first or index
        if first is not None:
            self.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(first)
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def currentChanged(self: Any, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        self.currentMoved.emit(current.row() if current.isValid() else -1)

    def selectionChanged(self: Any, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.picked.emit()

    def copied(self: Any) -> str:
        """The selected rows as text."""
        rows = self.chosen_rows()[:MOST_COPIED]
        return "\n".join(str(self.model().index(row, 0).data() or "") for row in rows)

    def keyPressEvent(self: Any, event: QKeyEvent) -> None:
        key, index = event.key(), self.currentIndex()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if index.isValid():
                self.activatedRow.emit(index.row())
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.onward.emit(-1 if key == Qt.Key.Key_Left else 1)
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def contextMenuEvent(self: Any, event: QContextMenuEvent) -> None:
        by_keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_keyboard else self.indexAt(event.pos())
        if index.isValid():
            place = self.visualRect(index).center() if by_keyboard else event.pos()
            self.menuRequested.emit(self.viewport().mapToGlobal(QPoint(place)))
        event.accept()

    def resizeEvent(self: Any, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Who looks at a row goes on looking at it.
        if self.currentIndex().isValid() and event.size().height() < event.oldSize().height():
            QTimer.singleShot(0, self, self._show_current)

    def _show_current(self: Any) -> None:
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def focusInEvent(self: Any, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._delegate.focused = True
        by_tab = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        if by_tab and not self.currentIndex().isValid() and self.model().rowCount():
            self.choose(0)
        self.viewport().update()

    def focusOutEvent(self: Any, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._delegate.focused = False
        self.viewport().update()


class RowList(_Rows, QListView):
    """A list of painted rows, each as high as it needs. Tells what is current, selected and asked for; changes nothing
    itself."""

    currentMoved = Signal(int)  # the current row, -1 for none
    picked = Signal()  # the selection changed
    activatedRow = Signal(int)  # Enter or a double click
    menuRequested = Signal(object)  # global QPoint
    onward = Signal(int)  # 1: Right was pressed, on into the next part; -1: Left

    def __init__(
        self, name: str, model: QAbstractItemModel, delegate: RowDelegate, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._be_a_list(name, model, delegate)

    def set_theme(self, theme: Theme) -> None:
        self._delegate.set_theme(theme)
        self.doItemsLayout()
        self.viewport().update()


class LongList(_Rows, QTableView):
    """The same for very many rows of one height: a table of one column, which asks for no row before it is seen."""

    currentMoved = Signal(int)  # as those of RowList
    picked = Signal()
    activatedRow = Signal(int)
    menuRequested = Signal(object)
    onward = Signal(int)

    def __init__(
        self, name: str, model: QAbstractItemModel, delegate: RowDelegate, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._be_a_list(name, model, delegate)

    def set_theme(self, theme: Theme) -> None:
        self._delegate.set_theme(theme)
        height = self._delegate.sizeHint(QStyleOptionViewItem(), QModelIndex()).height()
        self.verticalHeader().setDefaultSectionSize(height)
        self.viewport().update()

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Home and End mean the first and the last row: there is but one column."""
        rows = self.model().rowCount()
        if action in (_Move.MoveHome, _Move.MoveEnd) and rows:
            return self.model().index(0 if action == _Move.MoveHome else rows - 1, 0)
        return super().moveCursor(action, modifiers)
