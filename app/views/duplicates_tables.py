"""Tables beside the families: an explanation, sortable rows, and buttons for the selected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.models.duplicate_tables import RowTable
from app.theme import Theme
from app.views.parts import Text, push_button
from app.views.table import Table


class RowTableView(Table):
    """Rows of a `RowTable`; the columns share the room as they say."""

    activatedRow = Signal()

    def __init__(self, name: str, model: RowTable[Any], parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._table = model
        self.setModel(model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # a path's end says as much as its beginning
        self.horizontalHeader().setSortIndicatorClearable(True)
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        self.doubleClicked.connect(lambda index: self.activatedRow.emit())

    def set_theme(self, theme: Theme) -> None:
        self.set_row_height(theme)

    def chosen(self) -> list[Any]:
        """The selected rows' records."""
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        return [row for at in rows if (row := self._table.row(at)) is not None]

    def choose(self, rows: Iterable[int]) -> None:
        """Select these rows and no other, whatever keys are held."""
        selection = QItemSelection()
        for row in rows:
            index = self._table.index(row, 0)
            selection.select(index, index)
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)

    def copied(self) -> str:
        """The selected rows as text, a tab between the cells."""
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        return "\n".join(self._table.row_text(row) for row in rows)

    def fit(self) -> None:
        for at, width in enumerate(self._widths(self.viewport().width())):
            self.horizontalHeader().resizeSection(at, width)

    def _widths(self, room: int) -> list[int]:
        """The columns' widths: figures as wide as their titles, the rest shared out among the texts, so that all of
        them together are as wide as the table unless that is very narrow."""
        letter, titles = self.fontMetrics().averageCharWidth(), self.horizontalHeader().fontMetrics()
        columns = self._table.columns
        least = [
            max(letter * 10, titles.horizontalAdvance(column.title) + letter * 5)  # with the mark of the order
            for column in columns
        ]
        rest = room - sum(width for width, column in zip(least, columns, strict=True) if column.numeric)
        shares = sum(column.share for column in columns if not column.numeric)
        return [
            width if column.numeric else max(width, rest * column.share // max(shares, 1))
            for width, column in zip(least, columns, strict=True)
        ]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activatedRow.emit()
        else:
            super().keyPressEvent(event)
            return
        event.accept()


class TablePane(QWidget):
    """A table with what it is in words above, and what can be done with it below."""

    picked = Signal()

    def __init__(self, name: str, model: RowTable[Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = RowTableView(name, model)
        self.said = Text(muted=True, wrap=True)
        self._row = QHBoxLayout()
        self._row.setSpacing(6)
        self._row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.said)
        column.addWidget(self.table, 1)
        column.addLayout(self._row)
        self.table.selectionModel().selectionChanged.connect(lambda: self.picked.emit())
        model.modelReset.connect(self.picked)

    def add_button(self, words: str, tip: str, do: Callable[[], object]) -> QPushButton:
        """A button below the table."""
        button = push_button(words, tip, do)
        self._row.insertWidget(self._row.count() - 1, button)
        return button

    def set_theme(self, theme: Theme) -> None:
        self.table.set_theme(theme)
