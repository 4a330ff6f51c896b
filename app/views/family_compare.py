"""A member and its head side by side: what is common is folded, what differs stands in its sentence, words that
matter are marked."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStyleOptionViewItem, QVBoxLayout, QWidget

from app.models.family_comparison import CompareRole, CompareRow, ComparisonRows
from app.models.family_difference import Comparison, Part
from app.theme import Theme, qcolor
from app.views.family_delegate import Index, RowDelegate
from app.views.family_list import RowList
from app.views.ink import runs_right_to_left, write
from app.views.parts import Elided, Text

_PAD = 8


class CompareDelegate(RowDelegate):
    """Two columns of wrapped text, or one line that stands for common words."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(theme, parent)
        self.width = 400
        self._heights: dict[int, tuple[CompareRow, int]] = {}  # by the row's id; holding it keeps the id its own

    def forget_heights(self) -> None:
        self._heights.clear()

    @property
    def column(self) -> float:
        """The width of one side's text."""
        return max(40.0, (self.width - 1) / 2 - 2 * _PAD)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: CompareRow | None = index.data(CompareRole.ROW)
        if row is None:
            return QSize(100, 0)
        if id(row) not in self._heights:
            self._heights[id(row)] = (row, self._height(row))
        return QSize(100, self._heights[id(row)][1])

    def _height(self, row: CompareRow) -> int:
        if row.kind == "fold":
            return round(self.type.small.height + 10)
        sides = [self._laid_out(row.left, right=False), self._laid_out(row.right, right=True)]
        return round(max(side.boundingRect().height() for side in sides) + 10)

    def draw(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        row: CompareRow | None = index.data(CompareRole.ROW)
        if row is None:
            return
        theme = self.theme
        if row.kind == "fold":
            self._fold(painter, rect, row)
            return
        middle = rect.left() + (rect.width() - 1) / 2
        painter.setPen(qcolor(theme.text if row.differs else theme.text_secondary))
        for parts, right, left in ((row.left, False, rect.left()), (row.right, True, middle + 1)):
            self._laid_out(parts, right=right).draw(painter, QPointF(left + _PAD, rect.top() + 5))
        painter.fillRect(QRectF(middle, rect.top(), 1, rect.height()), qcolor(theme.border))

    def _fold(self, painter: QPainter, rect: QRectF, row: CompareRow) -> None:
        theme, face = self.theme, self.type.small
        words = f"{'▾' if row.open else '▸'} {row.sentence}"
        x = rect.left() + (rect.width() - face.width(words)) / 2
        write(painter, face, theme.link, x, rect.top() + 5, words)

    def _laid_out(self, parts: tuple[Part, ...], *, right: bool) -> QTextLayout:
        shown = [(part.kind, part.text) for part in parts]
        text = "".join(words for _, words in shown).replace("\n", "\N{LINE SEPARATOR}")
        layout = QTextLayout(text, self.type.body.font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        if runs_right_to_left(text.lstrip()):
            option.setTextDirection(Qt.LayoutDirection.RightToLeft)
        layout.setTextOption(option)
        formats = []
        at = 0
        for kind, words in shown:
            length = len(words) + sum(sign > "\uffff" for sign in words)  # Qt counts in UTF-16
            made = self._format(kind, right)
            if made is not None:
                span = QTextLayout.FormatRange()
                span.start, span.length, span.format = at, length, made
                formats.append(span)
            at += length
        layout.setFormats(formats)
        layout.beginLayout()
        top = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self.column)
            line.setPosition(QPointF(0, top))
            top += line.height()
        layout.endLayout()
        return layout

    def _format(self, kind: str, right: bool) -> QTextCharFormat | None:
        if kind == "same":
            return None
        made = QTextCharFormat()
        made.setForeground(qcolor(self.theme.text))
        made.setBackground(qcolor(self.theme.added_ground if right else self.theme.removed_ground))
        # Colour alone would not do. Struck words would look deleted, and the head's are the ones that count: both sides
        # are underlined, the head's with dots.
        line = QTextCharFormat.UnderlineStyle
        made.setUnderlineStyle(line.SingleUnderline if right else line.DotLine)
        made.setUnderlineColor(qcolor(self.theme.text))
        if kind == "weighty":
            made.setFontWeight(QFont.Weight.Bold)
            made.setForeground(qcolor(self.theme.on(self.theme.warn)))
            made.setBackground(qcolor(self.theme.warn))
        return made


class CompareList(RowList):
    """The rows of a comparison. Enter, Space or a click unfolds what is common."""

    def __init__(self, model: ComparisonRows, delegate: CompareDelegate, parent: QWidget | None = None) -> None:
        super().__init__("What differs, the head on the left", model, delegate, parent)
        self._rows, self._painter = model, delegate
        self.activatedRow.connect(self._toggle)
        model.modelReset.connect(delegate.forget_heights)

    def _toggle(self, row: int) -> None:
        self._rows.toggle(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self._toggle(self.currentIndex().row())
            event.accept()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        row: CompareRow | None = index.data(CompareRole.ROW)
        if event.button() == Qt.MouseButton.LeftButton and row is not None and row.kind == "fold":
            self._toggle(index.row())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.viewport().width() != self._painter.width:
            self._painter.width = self.viewport().width()
            self._painter.forget_heights()
            self.scheduleDelayedItemsLayout()

    def set_theme(self, theme: Theme) -> None:
        self._painter.forget_heights()
        super().set_theme(theme)


class FamilyCompare(QWidget):
    """The comparison with its titles and its sentence, and the way from one difference to the next."""

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = ComparisonRows(self)
        self.list = CompareList(self.rows, CompareDelegate(theme))
        self.sentence = Text(wrap=True, muted=True)
        self._left, self._right = Elided(bold=True), Elided(bold=True)
        self._before = QPushButton("Previous")
        self._next = QPushButton("Next")
        self._before.setAccessibleName("Previous difference")
        self._next.setAccessibleName("Next difference")
        self._before.clicked.connect(lambda: self.go(-1))
        self._next.clicked.connect(lambda: self.go(1))
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(self.sentence, 1)
        line.addWidget(self._before)
        line.addWidget(self._next)
        titles = QHBoxLayout()
        titles.setContentsMargins(_PAD, 0, _PAD, 0)
        titles.setSpacing(2 * _PAD)
        titles.addWidget(self._left, 1)
        titles.addWidget(self._right, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(4)
        column.addLayout(line)
        column.addLayout(titles)
        column.addWidget(self.list, 1)
        self.show_nothing("")

    def set_theme(self, theme: Theme) -> None:
        self.list.set_theme(theme)

    def show_nothing(self, why: str) -> None:
        """No comparison, and why."""
        self.rows.show(None)
        self.sentence.setText(why)
        self._left.setText("")
        self._right.setText("")
        self._fit()

    def show_comparison(self, left: str, right: str, comparison: Comparison) -> None:
        """Show what differs between the documents of these names."""
        self._left.setText(left)
        self._right.setText(right)
        self.sentence.setText(comparison.sentence)
        self.rows.show(comparison)
        self._fit()

    def go(self, step: int) -> None:
        """On to the next difference, or back to the one before."""
        at = self.rows.next_difference(
            self.list.currentIndex().row() if self.list.currentIndex().isValid() else -1, step
        )
        if at is not None:
            self.list.choose(at)

    def _fit(self) -> None:
        differs = any(row.differs for row in self.rows.rows)
        self._before.setEnabled(differs)
        self._next.setEnabled(differs)
        self.list.setVisible(bool(self.rows.rows))
