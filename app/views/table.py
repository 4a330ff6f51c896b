"""What every table of the window has in common."""

from __future__ import annotations

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.theme import Theme


class Table(QTableView):
    """Whole rows are selected, the Tab key leaves the table, and the columns share its width by `fit`, which each table
    brings along, until the user has set a width."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fitting = False
        self._own_widths = False  # the user has set some: they stay
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().sectionResized.connect(self._resized)

    def fit(self) -> None:
        """Give every column its width."""
        raise NotImplementedError

    def set_row_height(self, theme: Theme) -> None:
        self.verticalHeader().setDefaultSectionSize(round(theme.points * 2.4) + 4)

    def fit_columns(self) -> None:
        """Every column as wide as it is meant to be, unless the user has set widths."""
        if self.model() is None or self._own_widths:
            return
        self._fitting = True
        self.fit()
        self._fitting = False

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

    def _resized(self) -> None:
        self._own_widths = self._own_widths or not self._fitting
