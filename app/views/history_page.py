"""The questions that were asked, and lists of questions."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from app.state import Problem
from app.theme import Theme
from app.views.history_list import HistoryList
from app.views.parts import Text
from app.views.question_set_view import QuestionSetView
from app.views.states import Notice, StatePanel


class HistoryPage(QWidget):
    """Two tabs: what was asked, and a list of questions to be asked in one go."""

    shown = Signal()
    stepChosen = Signal(str)  # the id of an action

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
        self.notice = Notice()  # why nothing can be asked of the library
        self.panel = StatePanel()  # in the place of it all, without a library
        for part in (self.notice, self.panel):
            part.stepChosen.connect(self.stepChosen)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.tabs)
        self._stack.addWidget(self.panel)
        page.addWidget(self._title)
        page.addWidget(self.notice)
        page.addWidget(self._stack, 1)

    def set_theme(self, theme: Theme) -> None:
        self.asked.set_theme(theme)
        self.questions.set_theme(theme)

    def set_library(self, name: str) -> None:
        """Whose history this is; "" when no library is open."""
        self._title.setText(f"History: {name}" if name else "History")
        self.asked.set_library(bool(name))

    def set_standing(self, standing: Problem | None, *, none: bool) -> None:
        """Why nothing can be asked of the library, None when something can; `none` tells that there is no library."""
        if none and standing is not None:
            self.panel.show_state(standing)
        self._stack.setCurrentWidget(self.panel if none else self.tabs)
        # What is over in a moment, with nothing to do about it, is said elsewhere.
        self.notice.show_problem(standing if standing is not None and standing.steps and not none else None)
        self.asked.set_usable(standing is None or not standing.steps)

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
