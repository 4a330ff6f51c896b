"""Why is it not there? A document or passage is picked or searched for; the panel says why it is not in the answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.models.why import Line, WhyState, passage_lines
from app.theme import Theme
from app.views.parts import Elided, Text
from app.views.why_finding import FindingView, name_of
from app.views.why_lines import LineList
from pipeline.words.plain import first_words
from pipeline.words.why import passages_words

LEAST_HEIGHT = 300  # what the panel takes of a low window when it is opened


class WhyPanel(QWidget):
    """Emits intents; shows what the feature says."""

    typed = Signal(str)
    entered = Signal()  # Enter in the field: the first that is found is meant
    targetChosen = Signal(object)  # WhyTarget
    passageMoved = Signal(object)  # PassageFinding: the keyboard or a click is on it
    closeRequested = Signal()
    stepChosen = Signal(str)  # the id of an action
    againRequested = Signal()  # ask the question again, then look again

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = WhyState()
        self._words = ""  # by which the list was found
        self._title = Text("Why is it not there?", bold=True, scale=1.05)
        self._question = Elided(Qt.TextElideMode.ElideRight, muted=True)
        self._close = QToolButton()
        self._close.setAutoRaise(True)
        self._close.setAccessibleName("Close, and show the document again")
        self._close.setToolTip("Close, and show the document again (Esc)")
        self._close.clicked.connect(lambda checked=False: self.closeRequested.emit())
        self.field = QLineEdit()
        self.field.setPlaceholderText("A document’s name, or words of a passage")
        self.field.setAccessibleName("Find a document by its name or a passage by its words")
        self.field.setClearButtonEnabled(True)
        self.field.setAcceptDrops(False)
        self.field.textChanged.connect(self.typed)
        self.field.returnPressed.connect(self.entered)
        self.field.installEventFilter(self)
        self.searching = Text(wrap=True, muted=True)
        self.list = LineList("Documents and passages of the library", theme)
        self.list.chosen.connect(self.targetChosen)
        self.list.leftUp.connect(lambda: self.field.setFocus(Qt.FocusReason.BacktabFocusReason))
        self.finding = FindingView()
        self.finding.wholeRequested.connect(self.targetChosen)
        self._looking = Text(muted=True)
        self._message = Text(wrap=True, scale=1.05, bold=True)
        self._more = Text(wrap=True, muted=True)
        self._steps = QHBoxLayout()
        self._right = QStackedWidget()
        self._passages_title = Elided(Qt.TextElideMode.ElideRight, muted=True)
        self.passages = LineList("Passages of this document", theme)
        self.passages.chosen.connect(self.targetChosen)
        self.passages.moved.connect(self._passage_moved)
        self._passages_box = QWidget()
        self._build()
        self.set_theme(theme)
        self.show_state(self._state)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addWidget(self._question, 1)
        head.addWidget(self._looking)
        head.addWidget(self._close)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(4)
        column.addWidget(self.field)
        column.addWidget(self.searching)
        column.addWidget(self.list, 1)
        message = QWidget()
        column = QVBoxLayout(message)
        column.setContentsMargins(16, 8, 16, 8)
        column.addStretch(1)
        column.addWidget(self._message)
        column.addWidget(self._more)
        self._steps.addStretch(1)
        column.addLayout(self._steps)
        column.addStretch(2)
        self._right.addWidget(message)
        self._right.addWidget(self.finding)
        column = QVBoxLayout(self._passages_box)
        column.setContentsMargins(8, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._passages_title)
        column.addWidget(self.passages, 1)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        for part, stretch in ((left, 3), (self._right, 5), (self._passages_box, 3)):
            self.splitter.addWidget(part)
            self.splitter.setStretchFactor(self.splitter.count() - 1, stretch)
        self.splitter.setSizes([270, 430, 250])
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 8)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.splitter, 1)
        self.setMinimumHeight(150)
        self.setTabOrder(self.field, self.list)
        self.setTabOrder(self.list, self.finding)
        self.setTabOrder(self.finding, self.passages)
        self.setTabOrder(self.passages, self._close)

    # --- state in -----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self.list.set_theme(theme)
        self.passages.set_theme(theme)
        self._close.setIcon(icon("cancel", theme))

    def show_lines(self, lines: Sequence[Line], said: str) -> None:
        """What can be picked, and one sentence about it."""
        # While files are being indexed the same list comes again and again: it stays where it was scrolled to.
        at = self.list.verticalScrollBar().value() if self.field.text() == self._words else 0
        self._words = self.field.text()
        self.list.lines.show(lines)
        chosen = self.list.lines.row_of(self._state.target)
        self.list.go_to(self.list.lines.first() if chosen is None and self.list.hasFocus() else chosen)
        self.list.doItemsLayout()
        self.list.verticalScrollBar().setValue(at)
        self.searching.setText(said)
        self.searching.setVisible(bool(said))

    def say_searching(self, said: str) -> None:
        """A sentence about the search while the last list stands."""
        self.searching.setText(said)
        self.searching.setVisible(bool(said))

    @property
    def state(self) -> WhyState:
        return self._state

    def show_state(self, state: WhyState) -> None:
        """Show this finding, or what stands in its place."""
        before, self._state = self._state, state
        question = first_words(state.question, 200)
        self._question.setText(f"“{question}”" if question else "")
        title, text, steps = _situation(state)
        keeps = state.told is not None and state.phase in ("looking", "told")
        self._looking.setText("Looking…" if state.phase == "looking" else "")
        if keeps:
            self._looking.setText("Looking… this is of the question before" if state.phase == "looking" else "")
            self.finding.show_finding(state)
        else:
            self._message.setText(title)
            self._more.setText(text)
            self._more.setVisible(bool(text))
            self._show_steps(steps)
        self._right.setCurrentIndex(1 if keeps else 0)
        self._show_passages(state if keeps else None)
        if state.target != before.target:
            self.list.go_to(self.list.lines.row_of(state.target))

    def _show_steps(self, steps: Sequence[tuple[str, str]]) -> None:
        while self._steps.count() > 1:  # the stretch stays, last
            item = self._steps.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for at, (label, action) in enumerate(steps):
            button = QPushButton(label)
            button.clicked.connect(lambda checked=False, action=action: self._step(action))
            self._steps.insertWidget(at, button)

    def _step(self, action: str) -> None:
        if action:
            self.stepChosen.emit(action)
        else:
            self.againRequested.emit()

    def _show_passages(self, state: WhyState | None) -> None:
        told = state.told if state is not None else None
        several = told is not None and told.chunk_index is None and len(told.passages) > 1
        self._passages_box.setVisible(several)
        if not several or told is None or state is None or state.trace is None:
            self.passages.lines.show(())
            return
        self._passages_title.setText(passages_words(told))
        here = self.passages.current()
        self.passages.blockSignals(True)
        self.passages.lines.show(passage_lines(told, state.trace))
        self.passages.go_to(self.passages.lines.row_of(here.target if here is not None else None))
        self.passages.blockSignals(False)

    # --- intents out --------------------------------------------------------------------------------------------

    def focus_field(self) -> None:
        """The keyboard goes to the field."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _passage_moved(self, line: Line) -> None:
        if line.passage is not None:
            self.passageMoved.emit(line.passage)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Down and self.list.lines.first() is not None:
                self.list.setFocus(Qt.FocusReason.TabFocusReason)
                if not self.list.currentIndex().isValid():
                    self.list.go_to(self.list.lines.first())
                return True
            if event.key() == Qt.Key.Key_Escape and self.field.text():
                self.field.clear()
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closeRequested.emit()
            return
        super().keyPressEvent(event)


def _situation(state: WhyState) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """Title, sentence and buttons of what stands in a finding's place. A button without an action asks again."""
    match state.phase:
        case "no_question":
            return (
                "There is no question yet",
                "Type a question above. Then this says why a document is not in its answer, and what would "
                "bring it in.",
                (("Type a question", "focus-query"),),
            )
        case "waiting":
            return "The answer is not there yet", "As soon as it is, this says why.", ()
        case "looking" if state.target is not None:
            return f"Looking why {name_of(state.target)} is there, or not…", "", ()
        case "failed" if state.problem is not None:
            steps = tuple((step.label, step.action) for step in state.problem.steps)
            return state.problem.title, state.problem.text, steps
    return (
        "Pick what you miss in the answer",
        "A document, or a passage of it: by its name, or by words that stand in it. Rows of the lanes and of the "
        "library page can be asked about in their own menus.",
        (),
    )
