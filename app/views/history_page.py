"""The questions that were asked, and lists of questions."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from app.theme import Theme
from app.views.history_list import HistoryList
from app.views.parts import Text
from app.views.question_set_view import QuestionSetView


class HistoryPage(QWidget):
    """Two tabs: what was asked, and a list of questions to be asked in one go."""

    shown = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = Text("History", scale=1.5, bold=True)
        self.asked = HistoryList(theme)
        self.questions = QuestionSetView(theme)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("Questions asked, or a list of questions")
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(self.asked, "Questions asked")
        self.tabs.addTab(self.questions, "Ask a list of questions")
        page = QVBoxLayout(self)
        page.setContentsMargins(20, 16, 20, 12)
        page.setSpacing(10)
        page.addWidget(self._title)
        page.addWidget(self.tabs, 1)

    def set_theme(self, theme: Theme) -> None:
        self.asked.set_theme(theme)
        self.questions.set_theme(theme)

    def set_library(self, name: str) -> None:
        """Whose history this is; "" when no library is open."""
        self._title.setText(f"History: {name}" if name else "History")
        self.asked.set_library(bool(name))

    def copied(self) -> tuple[str, str] | None:
        """What is selected as text, and what that is; None when nothing is."""
        shown = self.tabs.currentWidget()
        return self.asked.copied() if shown is self.asked else self.questions.copied()

    def show_list(self) -> None:
        """The list of questions to ask, ready to be typed into."""
        self.tabs.setCurrentWidget(self.questions)
        self.questions.box.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()
