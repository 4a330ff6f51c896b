"""The lists of the why-not panel: lines with a word at the right, and a second line of quiet text."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.why import Line, LineRole, LinesModel, WhyTarget
from app.theme import Theme, qcolor

_SIDE, _TOP = 8, 4


class LineDelegate(QStyledItemDelegate):
    """Draws one line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        height = QFontMetrics(self.theme.font("body")).height()
        if index.data(LineRole.SNIPPET):
            height += QFontMetrics(self.theme.font("small")).height() + 1
        return QSize(80, height + 2 * _TOP)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme, kind = self.theme, index.data(LineRole.KIND)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if chosen:
            painter.fillRect(option.rect, qcolor(theme.selected))
            if option.state & QStyle.StateFlag.State_HasFocus:
                painter.fillRect(QRect(option.rect.topLeft(), QSize(3, option.rect.height())), qcolor(theme.accent))
        elif option.state & QStyle.StateFlag.State_MouseOver and kind not in ("heading", "note"):
            painter.fillRect(option.rect, qcolor(theme.hover))
        rect = option.rect.adjusted(_SIDE, _TOP, -_SIDE, -_TOP)
        small, body = theme.font("small"), theme.font("body")
        quiet = kind in ("heading", "note")
        font = theme.font("small", bold=kind == "heading") if quiet else body
        right = index.data(LineRole.RIGHT)
        taken = QFontMetrics(small).horizontalAdvance(right) + 10 if right else 0
        title = rect.adjusted(0, 0, -taken, 0)
        self._write(
            painter, title, index.data(LineRole.TITLE), font, theme.text_quiet if quiet else theme.text,
            Qt.TextElideMode.ElideMiddle,
        )  # fmt: skip
        behind = title.adjusted(QFontMetrics(font).horizontalAdvance(index.data(LineRole.TITLE)) + 8, 1, 0, 0)
        if behind.width() > QFontMetrics(small).averageCharWidth() * 5:
            self._write(
                painter, behind, index.data(LineRole.FOLDER), small, theme.text_quiet, Qt.TextElideMode.ElideMiddle
            )
        if right:
            painter.setFont(small)
            painter.setPen(qcolor(theme.ok if index.data(LineRole.GOOD) else theme.text_quiet))
            place = QRect(rect.left(), rect.top(), rect.width(), QFontMetrics(body).height())
            painter.drawText(place, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), right)
        below = rect.adjusted(0, QFontMetrics(body).height() + 1, 0, 0)
        self._write(painter, below, index.data(LineRole.SNIPPET), small, theme.text_quiet, Qt.TextElideMode.ElideRight)
        painter.restore()

    def _write(
        self, painter: QPainter, rect: QRect, text: str, font: QFont, colour: str, where: Qt.TextElideMode
    ) -> None:
        if not text:
            return
        painter.setFont(font)
        painter.setPen(qcolor(colour))
        measures = QFontMetrics(painter.font())
        line = QRect(rect.left(), rect.top(), rect.width(), measures.height())
        shown = measures.elidedText(text, where, rect.width())
        painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), shown)


class LineList(QListView):
    """A list of lines. Enter or a click chooses one; moving only shows it."""

    chosen = Signal(object)  # WhyTarget
    moved = Signal(object)  # Line
    leftUp = Signal()  # Up in the first line

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines = LinesModel(self)
        self._delegate = LineDelegate(theme, self)
        self.setModel(self.lines)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.clicked.connect(lambda index: self._choose())
        self.selectionModel().currentRowChanged.connect(self._moved)

    def set_theme(self, theme: Theme) -> None:
        self._delegate.theme = theme
        self.doItemsLayout()
        self.viewport().update()

    def current(self) -> Line | None:
        """The line that the keyboard is on."""
        return self.lines.line(self.currentIndex().row())

    def go_to(self, row: int | None) -> None:
        """Make this row the current one, without choosing it."""
        if row is None:
            self.clearSelection()
            return
        self.setCurrentIndex(self.lines.index(row))

    def choose_first(self) -> bool:
        """Choose the first line that can be; False when there is none."""
        row = self.lines.first()
        if row is None:
            return False
        self.go_to(row)
        self._choose()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose()
        elif event.key() == Qt.Key.Key_Up and self.currentIndex().row() in (-1, self.lines.first()):
            self.leftUp.emit()
        else:
            super().keyPressEvent(event)

    def _choose(self) -> None:
        line = self.current()
        if line is not None and isinstance(line.target, WhyTarget):
            self.chosen.emit(line.target)

    def _moved(self) -> None:
        line = self.current()
        if line is not None and line.target is not None:
            self.moved.emit(line)
