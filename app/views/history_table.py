"""Tables of questions: rows are drawn only where they are seen, columns share what width there is."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.icons import draw_icon
from app.models.history import PINNED_ROLE
from app.models.question_set import FAILED_ROLE
from app.theme import Theme, qcolor
from app.views.table import Table

_PIN_SIZE = 15
_LEAST_LETTERS = 48  # of a question and of each other column of words, before heads of figures give way


class QuestionTable(Table):
    """Sortable by its headers. A click on a row, or Enter, opens it."""

    opened = Signal(int)  # row
    pinClicked = Signal(int)  # row
    forgetPressed = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._theme = theme
        self._fixed: Mapping[int, str] = {}  # column -> the longest that usually stands in it
        self._shares: Mapping[int, float] = {}  # column -> share of the rest
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setItemDelegate(QuestionDelegate(theme, self))
        header = self.horizontalHeader()
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        header.setMinimumSectionSize(24)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        delegate = self.itemDelegate()
        assert isinstance(delegate, QuestionDelegate)
        self._theme = delegate.theme = theme
        self.set_row_height(theme)
        self.fit_columns()
        self.viewport().update()

    def set_widths(self, fixed: Mapping[int, str], shares: Mapping[int, float]) -> None:
        """`fixed` columns have room for this text and their heads, the others take these shares of what is left."""
        self._fixed, self._shares = fixed, shares
        self.fit_columns()

    def fit(self) -> None:
        # The theme's font, not the widget's: one that was never seen does not know its font yet.
        header, metrics, rest = self.horizontalHeader(), QFontMetrics(self._theme.font("body")), self.viewport().width()
        letter = metrics.averageCharWidth()
        shown = {column: share for column, share in self._shares.items() if not self.isColumnHidden(column)}
        fixed = {column: longest for column, longest in self._fixed.items() if not self.isColumnHidden(column)}
        least = {column: metrics.horizontalAdvance(longest) + 16 for column, longest in fixed.items()}
        wanted = {column: max(least[column], self._head(metrics, column)) for column in fixed}
        # Where room is short, heads are shortened before the questions are: their tips say the rest.
        lacking = sum(wanted.values()) + letter * _LEAST_LETTERS * len(shown) - rest
        spare = sum(wanted[column] - least[column] for column in fixed)
        share_kept = 1 - min(1.0, max(0.0, lacking / spare)) if spare else 0.0
        for column in fixed:
            width = least[column] + int((wanted[column] - least[column]) * share_kept)
            header.resizeSection(column, width)
            rest -= width
        for column, share in shown.items():
            header.resizeSection(column, max(letter * 18, int(rest * share / sum(shown.values()))))

    def _head(self, metrics: QFontMetrics, column: int) -> int:
        """What a column's head needs; the arrow of the order stands beside it."""
        title = str(self.model().headerData(column, Qt.Orientation.Horizontal) or "")
        return metrics.horizontalAdvance(title) + (34 if title else 0)

    def show_columns(self, used: frozenset[int]) -> None:
        """Hide all other columns."""
        self._fitting = True  # hiding resizes, too
        for column in range(self.model().columnCount()):
            if self.isColumnHidden(column) != (column not in used):
                self.setColumnHidden(column, column not in used)
        self._fitting = False
        self.fit_columns()

    def chosen_rows(self) -> list[int]:
        """The selected rows, from the top."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def choose(self, rows: list[int]) -> None:
        """Select these rows and bring the first one into sight."""
        self.clearSelection()
        mode = self.selectionMode()
        self.setSelectionMode(QAbstractItemView.SelectionMode.MultiSelection)
        for row in rows:
            self.selectRow(row)
        self.setSelectionMode(mode)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier  # with Shift or Ctrl, rows are being selected
        if event.button() == Qt.MouseButton.LeftButton and plain and index.isValid() and len(self.chosen_rows()) == 1:
            pin = index.column() == 0 and isinstance(index.data(PINNED_ROLE), bool)
            (self.pinClicked if pin else self.opened).emit(index.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.currentIndex().isValid():
                self.opened.emit(self.currentIndex().row())
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.forgetPressed.emit()
        else:
            super().keyPressEvent(event)


class QuestionDelegate(QStyledItemDelegate):
    """A pin where a row is pinned, what failed in its colour; its words say it too."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        option.state &= ~option.state.State_HasFocus  # the whole row is the current one
        if index.data(FAILED_ROLE) is True and index.column() != 0:
            palette = option.palette
            for role in (palette.ColorRole.Text, palette.ColorRole.HighlightedText):
                palette.setColor(role, qcolor(self.theme.error))
            option.palette = palette

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        pinned = index.data(PINNED_ROLE) if index.column() == 0 else None
        if pinned or (pinned is False and option.state & option.state.State_MouseOver):
            side = min(_PIN_SIZE, option.rect.height())
            spot = QRect(0, 0, side, side)
            spot.moveCenter(option.rect.center())
            draw_icon(painter, "pin", spot, self.theme.accent if pinned else self.theme.text_dimmed)
