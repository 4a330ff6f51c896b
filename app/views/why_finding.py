"""What was found out: why it is not in the answer, and the buttons that bring it in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.models.why import WhyState, WhyTarget
from app.subject import base_name
from app.views.parts import Elided, Flow, Text, push_button
from pipeline.findings import PassageFinding, SettingChange, Ways, WhyNot
from pipeline.records import Location, Trace
from pipeline.words.phrases import file_name, pages
from pipeline.words.plain import one_line, tool_tip
from pipeline.words.why import (
    change_label,
    change_tip,
    outcome_title,
    score_words,
    standing_words,
    stopped_words,
    there,
    together_label,
    untried_sentence,
    ways_sentence,
    why_sentence,
)


class WaysBox(QWidget):
    """One goal, and a button for each single change that reaches it."""

    applied = Signal(object)  # tuple[SettingChange, ...]

    def __init__(self, goal: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = Text(goal, bold=True)
        self._said = Text(wrap=True, muted=True)
        self._untried = Text(wrap=True, muted=True)
        self._line = QWidget()
        self._flow = Flow(self._line)
        self._flow.addWidget(self._title)
        self._buttons: list[QPushButton] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        for part in (self._line, self._said, self._untried):
            column.addWidget(part)

    def show_ways(self, ways: Ways) -> None:
        self.setVisible(not ways.already)  # the verdict says so
        said, untried = ways_sentence(ways), untried_sentence(ways)
        self._said.setText(said)
        self._said.setVisible(bool(said))
        self._untried.setText(untried)
        self._untried.setVisible(bool(untried))
        for button in self._buttons:
            self._flow.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = []
        if ways.together:
            self._add(together_label(ways.together), ways.together)
        for change in ways.changes:
            self._add(change_label(change), (change,))
        self._line.updateGeometry()

    def buttons(self) -> list[QPushButton]:
        """The buttons, the one nearest to the cause first."""
        return self._buttons

    def _add(self, words: str, changes: Sequence[SettingChange]) -> None:
        button = QPushButton(words)
        button.setToolTip(tool_tip(*(change_tip(change) for change in changes)))
        button.setAccessibleDescription(" ".join(change_tip(change) for change in changes))
        button.clicked.connect(lambda checked=False: self.applied.emit(tuple(changes)))
        self._flow.addWidget(button)
        self._buttons.append(button)


class FindingView(QScrollArea):
    """The finding about one document or passage, from its verdict down to what would change it."""

    applied = Signal(object)  # tuple[SettingChange, ...]
    takeBackRequested = Signal(str)  # doc_id: into searches again
    allFilesRequested = Signal()  # search all files again
    readRequested = Signal(object)  # PassageFinding: show it in its document
    wholeRequested = Signal(object)  # WhyTarget: the passage's whole document
    undoRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Why it is in the answer, or not")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._told: WhyNot | None = None
        self._best: PassageFinding | None = None
        self._name = Elided(bold=True, scale=1.05)
        self._where = Elided(Qt.TextElideMode.ElideRight, muted=True)
        self.read = self._flat("Read it", "Show it in its document, below the lanes", self._read)
        self.whole = self._flat("All of it", "Ask about the whole document instead of this passage", self._whole)
        self.done = Text(wrap=True, bold=True)
        self.undo = self._flat("Undo", "Take this change back (Ctrl+Z)", self.undoRequested.emit)
        self._done_row = QWidget()
        self.verdict = Text(scale=1.1, bold=True, wrap=True)
        self.sentence = Text(wrap=True)
        self.sentence.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._facts = QGridLayout()
        self._values: dict[str, tuple[Text, Text]] = {}
        self.take_back = QPushButton("Take it back into searches")
        self.take_back.clicked.connect(lambda checked=False: self._take_back())
        self.all_files = QPushButton("Search all files again")
        self.all_files.clicked.connect(lambda checked=False: self.allFilesRequested.emit())
        self.evidence = WaysBox("To bring it into the evidence:")
        self.projection = WaysBox("For the agent to read it:")
        self.evidence.applied.connect(self.applied)
        self.projection.applied.connect(self.applied)
        self._build()

    def _flat(self, words: str, tip: str, do: Callable[[], object]) -> QPushButton:
        button = push_button(words, tip, do)
        button.setProperty("flat", True)
        return button

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self._name, 3)
        head.addWidget(self._where, 2)
        head.addWidget(self.whole)
        head.addWidget(self.read)
        done = QHBoxLayout(self._done_row)
        done.setContentsMargins(0, 0, 0, 0)
        done.addWidget(self.done, 1)
        done.addWidget(self.undo)
        self._facts.setContentsMargins(0, 0, 0, 0)
        self._facts.setHorizontalSpacing(12)
        self._facts.setVerticalSpacing(2)
        self._facts.setColumnStretch(1, 1)
        for row, name in enumerate(("Stands", "Score", "Stopped by")):
            label, value = Text(name, muted=True), Text(wrap=True)
            self._facts.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            self._facts.addWidget(value, row, 1)
            self._values[name] = (label, value)
        scope = QHBoxLayout()
        scope.addWidget(self.take_back)
        scope.addWidget(self.all_files)
        scope.addStretch(1)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(8, 0, 8, 6)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._done_row)
        column.addWidget(self.verdict)
        column.addWidget(self.sentence)
        column.addLayout(scope)
        column.addLayout(self._facts)
        column.addWidget(self.evidence)
        column.addWidget(self.projection)
        column.addStretch(1)
        self.setWidget(inside)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._mark_focus(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._mark_focus(False)

    def _mark_focus(self, focused: bool) -> None:
        """The name is underlined while the keyboard scrolls the finding."""
        font = self._name.font()
        font.setUnderline(focused)
        self._name.setFont(font)

    # --- state in -----------------------------------------------------------------------------------------------

    def show_finding(self, state: WhyState) -> None:
        """Show the finding of this state; while it is of the question before, nothing of it can be applied."""
        told, trace = state.told, state.trace
        assert told is not None
        assert trace is not None
        if told is not self._told:
            self._fill(told, trace)
        self._told = told
        current = state.phase == "told"
        for box in (self.evidence, self.projection):
            for button in box.buttons():
                button.setEnabled(current)
        for button in (self.take_back, self.all_files, self.undo):
            button.setEnabled(current)
        self.done.setText(state.done)
        self._done_row.setVisible(bool(state.done) and current)

    def _fill(self, told: WhyNot, trace: Trace) -> None:
        self._best = best = best_of(told)
        self._name.setText(base_name(told.doc_id))
        self._where.setText(_where(told, best))
        self.whole.setVisible(told.chunk_index is not None)
        self.read.setEnabled(best is not None)
        sign = "✓" if there(told.outcome) else "✕"
        said = why_sentence(told, trace)
        itself = best is not None and best.outcome == "projected" and _stands_for_itself(best, trace)
        # What the agent reads is in place as such: verdict and sentence would say the same twice.
        self.verdict.setText(f"{sign}  {_in_place(said) if itself else outcome_title(told.outcome)}")
        self.sentence.setText(said)
        self.sentence.setVisible(not itself)
        shown = {
            "Stands": standing_words(best.standing) if best is not None and told.outcome != "left_out" else "",
            "Score": score_words(best) if best is not None else "",
            "Stopped by": stopped_words(best, trace) if best is not None else "",
        }
        for name, (label, value) in self._values.items():
            value.setText(shown[name])
            label.setVisible(bool(shown[name]))
            value.setVisible(bool(shown[name]))
        chosen_out = told.outcome == "left_out" and told.setting is None
        self.take_back.setVisible(chosen_out)
        self.all_files.setVisible(told.outcome == "other_file")
        kept_out = chosen_out or told.outcome in ("other_file", "no_text")
        self.evidence.show_ways(told.evidence)
        self.projection.show_ways(told.projection)
        if kept_out:  # what the user keeps out, and what has no text, no setting brings in: that is said already
            self.evidence.hide()
            self.projection.hide()
        self.verticalScrollBar().setValue(0)

    @property
    def finding(self) -> PassageFinding | None:
        """The passage that decides: the one that came furthest."""
        return self._best

    # --- intents out --------------------------------------------------------------------------------------------

    def _take_back(self) -> None:
        if self._told is not None:
            self.takeBackRequested.emit(self._told.doc_id)

    def _read(self) -> None:
        if self._best is not None:
            self.readRequested.emit(self._best)

    def _whole(self) -> None:
        if self._told is not None:
            self.wholeRequested.emit(WhyTarget(self._told.doc_id))


def best_of(told: WhyNot) -> PassageFinding | None:
    """The passage whose outcome is that of the whole."""
    for finding in told.passages:
        if (finding.outcome, finding.sentence) == (told.outcome, told.sentence):
            return finding
    return None


def _stands_for_itself(finding: PassageFinding, trace: Trace) -> bool:
    """Whether the row that carries this text into the answer is the passage's own."""
    rank = finding.carrier_rank
    if rank is None or not 0 < rank <= len(trace.candidates):
        return False
    return trace.candidates[rank - 1].candidate.evidence_key == finding.place.evidence_key


def _in_place(sentence: str) -> str:
    """The verdict on what the agent reads: "In the answer: evidence 1, read by the agent"."""
    return f"In the answer: {sentence[:1].lower()}{sentence[1:].rstrip('.')}"


def _where(told: WhyNot, best: PassageFinding | None) -> str:
    folder = told.doc_id.rpartition("/")[0]
    if best is None:
        return folder
    place: Location = best.place
    which = f"passage #{place.chunk_index}"
    if told.chunk_index is None and told.passages_in_all > 1:
        which = f"best: {which}"
    return " · ".join(filter(None, (which, pages(place.page_first, place.page_last), folder)))


def name_of(target: WhyTarget) -> str:
    """What is asked about, as words of a sentence."""
    name = file_name(one_line(target.doc_id))
    return name if target.chunk_index is None else f"passage #{target.chunk_index} of {name}"
