"""What stands in the place of an answer: what is so, what to do next, and the button that does it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.state import Problem
from app.views.parts import Text, clear


class StatePanel(QScrollArea):
    """A title, a sentence or two, and buttons, in the middle of the space. Below it, room for more."""

    stepChosen = Signal(str)  # the id of an action

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("What is so, and what to do")
        self.shown: Problem | None = None
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(32, 24, 32, 24)
        column.setSpacing(10)
        self._title = Text(scale=1.45, bold=True, wrap=True)
        self._text = Text(wrap=True, scale=1.08)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setMaximumWidth(640)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        self.below = QVBoxLayout()
        column.addStretch(2)
        column.addLayout(_centred(self._title))
        column.addLayout(_centred(self._text))
        column.addSpacing(4)
        row = QHBoxLayout()
        row.addStretch()
        row.addLayout(self._buttons)
        row.addStretch()
        column.addLayout(row)
        column.addLayout(self.below)
        column.addStretch(3)
        self.setWidget(inside)

    def show_state(self, state: Problem) -> None:
        """Show this; the first step is the one that Enter takes."""
        if state == self.shown:
            return
        self.shown = state
        self._title.setText(state.title)
        self._text.setText(state.text)
        self._text.setVisible(bool(state.text))
        self.setAccessibleName(f"{state.title}. {state.text}")
        clear(self._buttons)
        for step in state.steps:
            button = QPushButton(step.label)
            button.setAutoDefault(True)
            button.setDefault(step is state.steps[0])
            button.clicked.connect(lambda checked=False, action=step.action: self.stepChosen.emit(action))
            self._buttons.addWidget(button)


def _centred(widget: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addStretch(1)
    row.addWidget(widget, 100)
    row.addStretch(1)
    return row


class Notice(QFrame):
    """One line across the top of a page: something is not as it should be, the rest goes on."""

    stepChosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(10)
        self._text = Text(wrap=True)
        self._buttons = QHBoxLayout()
        row.addWidget(self._text, 1)
        row.addLayout(self._buttons)
        self.hide()

    def show_problem(self, problem: Problem | None) -> None:
        """Show the problem, or nothing."""
        self.setVisible(problem is not None)
        if problem is None:
            return
        self._text.setText(f"{problem.title}. {problem.text}")
        self.setAccessibleName(self._text.text())
        clear(self._buttons)
        for step in problem.steps:
            button = QPushButton(step.label)
            button.clicked.connect(lambda checked=False, action=step.action: self.stepChosen.emit(action))
            self._buttons.addWidget(button)
