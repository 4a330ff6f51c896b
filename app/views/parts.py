"""Small parts that several views are made of: headings, chips, labels that give way, a layout that wraps."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QKeySequence, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QWidget,
)

from pipeline.words.plain import one_line, tool_tip


class Text(QLabel):
    """A plain text label whose size follows the application's font: `scale` times it. Markup is never rendered."""

    def __init__(
        self,
        text: str = "",
        *,
        scale: float = 1.0,
        bold: bool = False,
        muted: bool = False,
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._scale, self._bold = scale, bold
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if muted:
            self.setProperty("quiet", True)  # the style sheet colours it
        self._fit()
        self.setText(text)

    def changeEvent(self, event: QEvent) -> None:
        # Qt tells widgets with a font of their own nothing of a new application font; a new style sheet comes with it.
        if event.type() == QEvent.Type.StyleChange:
            self._fit()
        super().changeEvent(event)

    def _fit(self) -> None:
        font = QFont(QApplication.font())
        font.setPointSizeF(font.pointSizeF() * self._scale)
        if self._bold:
            font.setWeight(QFont.Weight.DemiBold)
        if font != self.font():
            self.setFont(font)
            self.updateGeometry()


class Elided(Text):
    """One line that is shortened with an ellipsis instead of being cut; the whole text is its tool tip."""

    def __init__(self, mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle, **how: object) -> None:
        self._whole = ""
        self._mode = mode
        super().__init__(**how)  # type: ignore[arg-type]  # the keywords of Text
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def setText(self, text: str) -> None:
        self._whole = one_line(" ".join(text.split()), 2_000)
        self.setToolTip(tool_tip(self._whole))
        self.setAccessibleName(self._whole)
        self._elide()

    def text(self) -> str:
        return self._whole

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(QFontMetrics(self.font()).averageCharWidth() * 8, super().minimumSizeHint().height())

    def _elide(self) -> None:
        super().setText(QFontMetrics(self.font()).elidedText(self._whole, self._mode, max(self.width(), 40)))


class LetsUndoThrough(QObject):
    """In a number's field the window's undo is meant, not that of the digits typed."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
            if event.matches(undo) or event.matches(redo):
                event.ignore()
                return True
        return super().eventFilter(watched, event)


class QuietSpinBox(QSpinBox):
    """A spin box that the wheel changes only while it has the focus: scrolling past it changes nothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setGroupSeparatorShown(True)
        self.lineEdit().setTextMargins(5, 0, 0, 0)  # the style sheet's padding does not reach the field inside
        self.installEventFilter(LetsUndoThrough(self))

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class Chip(QFrame):
    """A condition in force, with a × that takes it back."""

    removed = Signal()

    def __init__(self, kind: str, what: str, *, whole: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setToolTip(tool_tip(whole or what))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 1, 2, 1)
        row.setSpacing(4)
        row.addWidget(Text(kind, muted=True))
        row.addWidget(Text(one_line(what, 40)))
        close = QToolButton(self)
        close.setText("×")
        close.setAutoRaise(True)
        close.setToolTip("Take this back")
        close.setAccessibleName(f"Take back: {kind} {what}")
        close.clicked.connect(self.removed)
        row.addWidget(close)


class Flow(QLayout):
    """Items in rows, as words in a paragraph."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        """The height that the rows take; the items are put there if `move`."""
        left, top, height = rect.x(), rect.y(), 0
        row: list[tuple[QLayoutItem, int, QSize]] = []

        def finish() -> None:
            for item, at, size in row if move else ():
                item.setGeometry(QRect(QPoint(at, top + (height - size.height()) // 2), size))

        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if row and left + size.width() > rect.right() + 1:
                finish()
                left, top, height, row = rect.x(), top + height + self.spacing(), 0, []
            row.append((item, left, size))
            left += size.width() + self.spacing()
            height = max(height, size.height())
        finish()
        return top + height - rect.y()


def push_button(words: str, tip: str, do: Callable[[], object]) -> QPushButton:
    """A button that does this when it is pressed."""
    button = QPushButton(words)
    button.setToolTip(tip)
    button.clicked.connect(lambda checked=False: do())
    return button


def clear(layout: QLayout) -> None:
    """Take everything out of the layout and let it go."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
