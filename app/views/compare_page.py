"""Two runs beside each other, and the three policies beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from app.models.compared import Choice, Compared, Lane
from app.models.comparing import DifferenceRow
from app.models.rows import Role
from app.state import Problem
from app.theme import Theme
from app.views.compare_policies import PoliciesView
from app.views.compare_runs import RunsView
from app.views.compare_sides import OwnSettings, SidesBar
from app.views.parts import Text
from app.views.states import StatePanel
from pipeline.findings import PolicyAnswer
from pipeline.settings import Settings
from pipeline.words.plain import one_line

RUNS, POLICIES = range(2)  # the tabs


class ComparePage(QWidget):
    """Emits intents; what it shows is handed in."""

    sideChosen = Signal(str, str)  # "left" or "right", id of a choice
    swapRequested = Signal()
    unpinRequested = Signal(str)  # id of a choice
    ownSettingChanged = Signal(str, object)
    ownSettingsReset = Signal()
    showRequested = Signal(str, object)  # "left", "right" or a policy; FocusTarget
    openRequested = Signal(str)
    revealRequested = Signal(str)
    copyRequested = Signal(str, str)
    stepChosen = Signal(str)  # the id of an action
    tabShown = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        # Tab goes through what it meets in the order in which it was made: what chooses comes before what is chosen.
        title = Text("Compare", scale=1.5, bold=True, parent=self)
        self.tabs = QTabBar(self)
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.addTab("Two runs")
        self.tabs.addTab("Three policies")
        self.tabs.setAccessibleName("What is compared")
        self.tabs.setTabToolTip(RUNS, "What differs between two runs, and where they first differ")
        self.tabs.setTabToolTip(POLICIES, "What plain, source and evidence make of the same hits")
        self.pin = QPushButton("Pin this run", self)
        self.open_trace = QPushButton("Open a saved trace…", self)
        # From the outside in: whatever gets its parent late is styled again with all that is in it.
        self._stack = QStackedWidget(self)
        two, three = QWidget(self._stack), QWidget(self._stack)
        self._runs_stack, self._policies_stack = QStackedWidget(two), QStackedWidget(three)
        self.sides = SidesBar(two)
        self.own = OwnSettings(two)
        self.own.hide()
        self.runs = RunsView(theme, self._runs_stack)
        self.runs_panel = StatePanel(self._runs_stack)
        self.policies = PoliciesView(theme, self._policies_stack)
        self.policies_panel = StatePanel(self._policies_stack)
        for button, action in ((self.pin, "pin-run"), (self.open_trace, "open-trace")):
            button.clicked.connect(lambda checked=False, action=action: self.stepChosen.emit(action))
        for stack, view, panel in (
            (self._runs_stack, self.runs, self.runs_panel),
            (self._policies_stack, self.policies, self.policies_panel),
        ):
            stack.addWidget(panel)
            stack.addWidget(view)
            panel.stepChosen.connect(self.stepChosen)
        column = QVBoxLayout(two)
        column.setContentsMargins(20, 10, 20, 8)
        column.setSpacing(8)
        column.addWidget(self.sides)
        column.addWidget(self.own)
        column.addWidget(self._runs_stack, 1)
        column = QVBoxLayout(three)
        column.setContentsMargins(20, 10, 20, 8)
        column.addWidget(self._policies_stack, 1)
        self._stack.addWidget(two)
        self._stack.addWidget(three)
        row = QHBoxLayout()
        row.setContentsMargins(20, 12, 20, 0)
        row.setSpacing(6)
        row.addWidget(title)
        row.addSpacing(10)
        row.addWidget(self.tabs)
        row.addStretch(1)
        row.addWidget(self.pin)
        row.addWidget(self.open_trace)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self._stack, 1)
        self.tabs.currentChanged.connect(self._stack.setCurrentIndex)
        self.tabs.currentChanged.connect(lambda at: self.tabShown.emit())
        self.sides.chosen.connect(self.sideChosen)
        self.sides.swapRequested.connect(self.swapRequested)
        self.sides.unpinRequested.connect(self.unpinRequested)
        self.own.changed.connect(self.ownSettingChanged)
        self.own.reset.connect(self.ownSettingsReset)
        for view in (self.runs, self.policies):
            view.showRequested.connect(self.showRequested)
            view.openRequested.connect(self.openRequested)
            view.revealRequested.connect(self.revealRequested)
            view.copyRequested.connect(self.copyRequested)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.own.fit_font()
        self.runs.set_theme(theme)
        self.policies.set_theme(theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.own.set_most(round(self.height() * 0.22))  # the comparison needs the rest

    @property
    def shows_policies(self) -> bool:
        """Whether the three policies are on top."""
        return self.tabs.currentIndex() == POLICIES

    def set_choices(
        self, choices: Sequence[Choice], left: str, right: str, *, notes: tuple[str, str] = ("", "")
    ) -> None:
        """Offer these runs for both sides; `notes` say what is under way or wrong with the chosen ones."""
        self.sides.left.set_choices(choices, left, note=notes[0])
        self.sides.right.set_choices(choices, right, note=notes[1])

    def set_can_pin(self, can: bool) -> None:
        self.pin.setEnabled(can)

    def set_own_settings(self, settings: Settings | None) -> None:
        """Show the settings of one's own, or (None) hide them."""
        self.own.setVisible(settings is not None)
        if settings is not None:
            self.own.set_settings(settings)

    def show_compared(self, compared: Compared, rows: Mapping[Lane, Sequence[DifferenceRow]]) -> None:
        """Show this comparison with its rows."""
        self.runs.show_compared(compared, rows)
        self._runs_stack.setCurrentWidget(self.runs)

    def show_runs_state(self, state: Problem) -> None:
        """Show this in the comparison's place."""
        self.runs_panel.show_state(state)
        self._runs_stack.setCurrentWidget(self.runs_panel)

    def show_policies(self, answers: Sequence[PolicyAnswer], question: str) -> None:
        """Show these three answers."""
        self.policies.show_answers(answers, one_line(" ".join(question.split()), 160))
        self._policies_stack.setCurrentWidget(self.policies)

    def show_policies_state(self, state: Problem) -> None:
        """Show this in the policies' place."""
        self.policies_panel.show_state(state)
        self._policies_stack.setCurrentWidget(self.policies_panel)

    def copied(self) -> tuple[str, str] | None:
        """What "Copy" copies, and what that is: the text that is marked, or the row with the keyboard."""
        for field in (self.runs.alone, *self.runs.texts.findChildren(QPlainTextEdit)):
            if field.hasFocus():
                marked = field.textCursor().selectedText().replace("\u2029", "\n")
                return (marked, "the text") if marked else None
        lists = (*self.runs.lists.values(), *(column.list for column in self.policies.columns.values()))
        for list_ in lists:
            if list_.hasFocus() and list_.currentIndex().isValid():
                return str(list_.currentIndex().data(Role.COPY) or ""), "the row"
        return None

    @property
    def runs_shown(self) -> bool:
        """Whether a comparison is shown, not what stands in its place."""
        return self._runs_stack.currentWidget() is self.runs

    @property
    def policies_shown(self) -> bool:
        return self._policies_stack.currentWidget() is self.policies
