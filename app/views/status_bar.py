"""The line at the bottom: the model, the library, how long the answer took; and what could not be done."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QWidget

from app.state import AnswerState, LibraryState, ModelState
from app.views.parts import Elided
from pipeline.words.sentences import count

SAID_MS = 9_000


class StatusLine(QFrame):
    """Facts, and over them for a while whatever has to be said."""

    modelClicked = Signal()
    libraryClicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusBar")
        self._model = QPushButton()
        self._model.setProperty("flat", True)
        self._model.setAccessibleDescription("The embedding model")
        self._model.clicked.connect(self.modelClicked)
        self._library = QPushButton()
        self._library.setProperty("flat", True)
        self._library.setAccessibleDescription("The open library")
        self._library.clicked.connect(self.libraryClicked)
        self._timing = Elided(Qt.TextElideMode.ElideRight, muted=True, scale=0.92)
        self._timing.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._said = Elided(Qt.TextElideMode.ElideRight, bold=True)
        facts = QWidget()
        row = QHBoxLayout(facts)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._model)
        row.addWidget(self._library)
        row.addWidget(self._timing, 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(facts)
        self._stack.addWidget(self._said)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(8, 1, 12, 1)
        outer.addWidget(self._stack)
        self._back = QTimer(self)
        self._back.setSingleShot(True)
        self._back.setInterval(SAID_MS)
        self._back.timeout.connect(lambda: self._stack.setCurrentIndex(0))

    def say(self, words: str) -> None:
        """Say this for a while."""
        self._said.setText(words)
        self._stack.setCurrentIndex(1)
        self._back.start()

    @property
    def said(self) -> str:
        """What is being said now; "" when the facts are shown."""
        return self._said.text() if self._stack.currentIndex() == 1 else ""

    def set_model(self, model: ModelState) -> None:
        words = {
            "waiting": "Model: not started",
            "loading": "Model: loading…",
            "ready": f"Model: {model.name}, ready",
            "failed": "Model: not available",
        }[model.phase]
        self._model.setText(words)
        self._model.setToolTip("Start the model again" if model.phase == "failed" else "The model, in the settings")

    def set_library(self, library: LibraryState) -> None:
        facts = library.facts
        held = f", {count(facts.documents, 'document')}" if facts is not None else ""
        self._library.setText(f"Library: {library.name}{held}".replace("&", "&&") if library.name else "No library")
        self._library.setToolTip("What the library holds")

    def set_answer(self, answer: AnswerState) -> None:
        trace = answer.trace
        if trace is None or answer.phase != "answered":
            self._timing.setText("")
            return
        times = trace.timings_ms
        embed = f"{_time(times.embed)} for the question's vector" if times.embed else "the question was already encoded"
        search, select = _time(times.search), _time(times.select)
        read, tokens = trace.query_tokens_seen, trace.query_tokens
        cut = ""
        if read is not None and tokens is not None and read < tokens:
            cut = f"The model read only {read:,} of the question's {tokens:,} tokens. "
        self._timing.setText(f"{cut}Answered in {_time(times.total)}: {embed}, {search} searching, {select} selecting")


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:.1f} s"
