"""The sample's questions, each a button."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QPushButton, QSizePolicy, QWidget

from app.sample import SampleQuestion


class SampleList(QWidget):
    """Two columns of titles; the question itself is the tool tip."""

    chosen = Signal(object)  # SampleQuestion

    def __init__(self, questions: tuple[SampleQuestion, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMaximumWidth(760)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 8, 0, 0)
        grid.setSpacing(8)
        rows = (len(questions) + 1) // 2
        for at, question in enumerate(questions):
            button = QPushButton(f"{at + 1}   {question.title}")
            button.setProperty("card", True)
            button.setToolTip(question.text)
            button.setAccessibleName(question.title)
            button.setAccessibleDescription(question.text)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda checked=False, question=question: self.chosen.emit(question))
            grid.addWidget(button, at % rows, at // rows)
