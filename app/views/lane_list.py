"""One lane's list: Qt's own list view, with rows as high as their delegate says, and the lanes' keys and clicks."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from app.focus import FocusTarget
from app.models.links import Lit
from app.models.rows import LaneModel, Role
from app.theme import Theme
from app.views.ink import type_of, write
from app.views.lane_delegate import LaneDelegate, Light

HOVER_PAUSE_MS = 35  # a pointer on its way elsewhere lights nothing up
_SHORT, _TALL = 360, 400  # height from which rows give up a line, and from which they take it back
_MANY, MANY_PAUSE_MS = 1_500, 80
_Move = QAbstractItemView.CursorAction


class LaneList(QListView):
    """Rows of one lane. It tells what is hovered, chosen and asked for; it changes nothing itself."""

    hovered = Signal(object)  # FocusTarget or None
    chosen = Signal(object)  # FocusTarget
    openRequested = Signal(str)
    revealRequested = Signal(str)
    remedyRequested = Signal(object)  # Remedy
    crossRequested = Signal(int)  # -1: to the lane on the left, 1: on the right
    previewRequested = Signal(object)  # FocusTarget
    menuRequested = Signal(object, object)  # QModelIndex, global QPoint
    unfoldRequested = Signal(int)  # a row
    focusChanged = Signal(bool)
    arranged = Signal()  # rows stand elsewhere than before

    def __init__(self, name: str, model: LaneModel, delegate: LaneDelegate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lane_model, self._delegate = model, delegate
        self._lit: Lit | None = None
        self._others = Light.DIM
        self._quiet = False  # the current row is being set by the program
        self._anchor: tuple[int, int] | None = None
        self._pressed_row = -1
        self._empty_title = self._empty_text = ""
        delegate.setParent(self)
        delegate.light_of = self.light_of
        self.setModel(model)
        self.setItemDelegate(delegate)
        self.setAccessibleName(name)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setDragDropMode(QListView.DragDropMode.DragOnly)  # a row's file can be dragged to another program
        self.setTabKeyNavigation(False)  # Tab goes on to the next lane
        self.setMouseTracking(True)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.verticalScrollBar().setSingleStep(24)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._fit = QTimer(self)  # while a lane is dragged wider, rows without number are not measured at every step
        self._fit.setSingleShot(True)
        self._fit.timeout.connect(self.doItemsLayout)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(HOVER_PAUSE_MS)
        self._pause.timeout.connect(self._tell_hover)

    # --- what it shows ----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self._delegate.set_theme(theme)
        self.doItemsLayout()
        self.viewport().update()

    def set_empty(self, title: str, text: str = "") -> None:
        """What stands in the lane while it has no rows."""
        self._empty_title, self._empty_text = title, text
        self.viewport().update()

    def set_lit(self, lit: Lit | None, others: Light = Light.DIM) -> None:
        """Light up these rows and let the others stand back; None ends it. Only visible rows that change are painted
        anew."""
        old, old_others = self._lit, self._others
        self._lit, self._others = lit, others
        for row, rect in self.visible_rows():
            if self._light(row, old, old_others) is not self._light(row, lit, others):
                self.viewport().update(rect)

    def light_of(self, row: int) -> Light:
        """A row's part in the highlight."""
        return self._light(row, self._lit, self._others)

    def _light(self, row: int, lit: Lit | None, others: Light) -> Light:
        if lit is None or not self._lane_model.rows[row].selectable:
            return Light.NONE
        return Light.LIT if self._lane_model.is_lit(row, lit) else others

    def visible_rows(self) -> Iterator[tuple[int, QRect]]:
        """Rows in sight with where they stand in the viewport, from the top."""
        height, row = self.viewport().height(), self.indexAt(QPoint(2, 0)).row()
        while 0 <= row < len(self._lane_model.rows):
            rect = self.visualRect(self._lane_model.index(row))
            if rect.top() >= height:
                return
            yield row, rect
            row += 1

    def rect_of(self, row: int) -> QRect:
        """Where a row stands in the viewport, in sight or not."""
        return self.visualRect(self._lane_model.index(row))

    def target_at(self, row: int) -> FocusTarget | None:
        target = self._lane_model.index(row).data(Role.TARGET)
        return target if isinstance(target, FocusTarget) else None

    def make_current(self, row: int | None, *, scroll: bool = True, take_focus: bool = False) -> None:
        """Select a row without telling; None selects none and keeps the place for the keyboard."""
        self._quiet = True
        try:
            if row is None:
                self.clearSelection()
            else:
                self.setCurrentIndex(self._lane_model.index(row))
                if scroll:
                    self.scrollTo(self._lane_model.index(row))
        finally:
            self._quiet = False
        if take_focus:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- layout -----------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        height = self.viewport().height()
        compact = height < (_TALL if self._delegate.compact else _SHORT)
        if (self.viewport().width(), compact) != (self._delegate.width, self._delegate.compact):
            if self._anchor is None and self.verticalScrollBar().value() > 0:
                row = self.indexAt(QPoint(2, 0)).row()
                self._anchor = (row, self.rect_of(row).top()) if row >= 0 else None
            self._delegate.set_room(self.viewport().width(), compact=compact)
            self._fit.start(0 if len(self._lane_model.rows) < _MANY else MANY_PAUSE_MS)
        self.arranged.emit()

    def doItemsLayout(self) -> None:
        self._delegate.forget_heights()
        super().doItemsLayout()
        anchor, self._anchor = self._anchor, None
        if anchor is not None and anchor[0] < len(self._lane_model.rows):
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.rect_of(anchor[0]).top() - anchor[1])
        self.arranged.emit()

    def _scrolled(self) -> None:
        self.arranged.emit()
        if self.viewport().underMouse():
            self._hover_row(self.indexAt(self.viewport().mapFromGlobal(QCursor.pos())).row())

    # --- pointer ----------------------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover_row(self.indexAt(event.position().toPoint()).row())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover_row(-1)

    def _hover_row(self, row: int) -> None:
        old = self._delegate.hovered_row
        if row == old:
            return
        self._delegate.hovered_row = row
        for changed in (old, row):
            if 0 <= changed < len(self._lane_model.rows):
                self.viewport().update(self.rect_of(changed))
        self._pause.start()

    def _tell_hover(self) -> None:
        row = self._delegate.hovered_row
        self.hovered.emit(self.target_at(row) if 0 <= row < len(self._lane_model.rows) else None)

    def forget_hover(self) -> None:
        """Other rows stand here now."""
        self._pause.stop()
        self._delegate.hovered_row = -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed_row = self.indexAt(event.position().toPoint()).row()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position)
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and index.row() == self._pressed_row:
            self._clicked_at(index, position)
        self._pressed_row = -1

    def _clicked_at(self, index: QModelIndex, position: QPoint) -> None:
        rect = self.visualRect(index)
        match self._delegate.button_at(rect, position, index):
            case "open":
                self.openRequested.emit(index.data(Role.PATH))
                return
            case "reveal":
                self.revealRequested.emit(index.data(Role.PATH))
                return
        kind = index.data(Role.KIND)
        if kind in ("remedy", "more"):
            self._activate(index)
        elif kind == "item" and self._delegate.unfolds_at(rect, position, index):
            self.unfoldRequested.emit(index.row())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and index.data(Role.PATH):
            self._activate(index)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_keyboard else self.indexAt(event.pos())
        if index.isValid():
            place = self.visualRect(index).center() if by_keyboard else event.pos()
            self.menuRequested.emit(index, self.viewport().mapToGlobal(place))
        event.accept()

    # --- keyboard ---------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            if index.isValid():
                QGuiApplication.clipboard().setText(str(index.data(Role.COPY) or ""))
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.crossRequested.emit(-1 if key == Qt.Key.Key_Left else 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if index.isValid():
                self._activate(index)
        elif key == Qt.Key.Key_Space:
            target = self.target_at(index.row()) if index.isValid() else None
            if target is not None:
                self.chosen.emit(target)
                self.previewRequested.emit(target)
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def _activate(self, index: QModelIndex) -> None:
        """What Enter does: apply a remedy, unfold, or open the file."""
        kind = index.data(Role.KIND)
        if kind == "remedy":
            self.remedyRequested.emit(index.data(Role.REMEDY))
        elif kind == "more":
            self.unfoldRequested.emit(index.row())
        elif index.data(Role.PATH):
            self.openRequested.emit(index.data(Role.PATH))

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Rows that say why others are there are stepped over."""
        rows = self._lane_model.rows
        now = self.currentIndex().row()
        if action in (_Move.MoveUp, _Move.MovePrevious):
            wanted, step = now - 1, -1
        elif action in (_Move.MoveDown, _Move.MoveNext):
            wanted, step = now + 1, 1
        elif action == _Move.MoveHome:
            wanted, step = 0, 1
        elif action == _Move.MoveEnd:
            wanted, step = len(rows) - 1, -1
        else:
            return super().moveCursor(action, modifiers)
        while 0 <= wanted < len(rows) and not rows[wanted].selectable:
            wanted += step
        return self._lane_model.index(wanted) if 0 <= wanted < len(rows) else self.currentIndex()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        if self._quiet or selected.isEmpty():
            return
        target = self.target_at(selected.indexes()[0].row())
        if target is not None:
            self.chosen.emit(target)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._delegate.focused = True
        self.focusChanged.emit(True)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            # Whoever comes by keyboard has to see where: at the row that was left last, or at the first.
            if not self.currentIndex().isValid():
                self.setCurrentIndex(self.moveCursor(_Move.MoveHome, Qt.KeyboardModifier.NoModifier))
            self.selectionModel().select(self.currentIndex(), QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._delegate.focused = False
        self.focusChanged.emit(False)
        self.viewport().update()

    # --- nothing to show --------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._lane_model.rows or not self._empty_title:
            return
        theme, room = self._delegate.theme, QRectF(self.viewport().rect()).adjusted(24, 0, -24, 0)
        faces = type_of(theme)
        title = faces.strong.wrapped(self._empty_title, room.width(), 3)
        text = faces.small.wrapped(self._empty_text, room.width(), 6) if self._empty_text else ()
        painter = QPainter(self.viewport())
        top = room.top() + max(16.0, room.height() * 0.3)
        for face, colour, lines in ((faces.strong, theme.text_secondary, title), (faces.small, theme.text_quiet, text)):
            for line in lines:
                write(painter, face, colour, room.left() + (room.width() - face.width(line)) / 2, top, line)
                top += face.height
            top += 4
        painter.end()
