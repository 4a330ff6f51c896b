"""The inspector: the question on top, then the stages, the three lanes, and the chunk in its document."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.focus import Focus, FocusTarget
from app.sample import SampleQuestion
from app.state import Problem
from app.theme import Theme
from app.views.detail import DetailView
from app.views.lanes import LanesView
from app.views.query_bar import QueryBar
from app.views.sample_list import SampleList
from app.views.stage_strip import StageStrip
from app.views.states import Notice, StatePanel
from app.views.why_panel import LEAST_HEIGHT, WhyPanel
from pipeline.records import Trace


class InspectorPage(QWidget):
    """Shows an answer, or what stands in its place."""

    stepChosen = Signal(str)  # the id of an action
    sampleQuestionChosen = Signal(object)  # SampleQuestion
    detailWanted = Signal()  # the document below is to be shown
    whyWanted = Signal()  # why is the selected row there, or not

    def __init__(
        self,
        focus: Focus,
        theme: Theme,
        questions: tuple[SampleQuestion, ...],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._focus = focus
        self._shown: tuple[Trace, Trace | None] | None = None  # the answer, and the one before it
        self._standing: tuple[Problem, bool] | None = None  # what stands in its place; with the samples?
        self._detail_wanted = True
        self._sizes_before: list[int] = []  # of lanes and document, before the why-not panel took more
        self.query = QueryBar(theme, questions)
        self.given = Notice()  # that what is shown is a saved run
        self.strip = StageStrip(theme)
        self.lanes = LanesView(focus, theme)
        self.detail = DetailView(focus, theme)
        self.why = WhyPanel(theme)
        self.panel = StatePanel()
        self._samples = SampleList(questions)
        across = QHBoxLayout()
        across.addStretch(1)
        across.addWidget(self._samples, 100)
        across.addStretch(1)
        self.panel.below.addLayout(across)
        self.panel.stepChosen.connect(self.stepChosen)
        self._samples.chosen.connect(self.sampleQuestionChosen)
        self.query.sampleQuestionChosen.connect(self.sampleQuestionChosen)
        self.query.leftDown.connect(self._into_the_answer)
        self.strip.stageActivated.connect(self.lanes.show_stage)
        self.lanes.stageCleared.connect(lambda: self.strip.set_active(None))
        self.lanes.showInDocumentRequested.connect(self._show_in_document)
        self.lanes.previewRequested.connect(self._show_in_document)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.lanes)
        self._stack.addWidget(self.panel)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self._stack)
        self._below = QStackedWidget()
        self._below.addWidget(self.detail)
        self._below.addWidget(self.why)
        self.splitter.addWidget(self._below)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.query)
        column.addWidget(self.given)
        column.addWidget(self.strip)
        column.addWidget(self.splitter, 1)
        self.setTabOrder(self.query, self.lanes)
        self.setTabOrder(self.lanes, self.detail)
        self.detail.whyWanted.connect(self.whyWanted)

    def set_theme(self, theme: Theme) -> None:
        self.query.set_theme(theme)
        self.strip.set_theme(theme)
        self.lanes.set_theme(theme)
        self.detail.set_theme(theme)
        self.why.set_theme(theme)

    def show_answer(self, trace: Trace, before: Trace | None) -> None:
        """Show an answer beside the one before it. What is shown already stays as it is, with all that was unfolded and
        lit up in it: whoever tells of progress ten times a second asks for the same answer again."""
        if self._shown is not None and self._shown[0] is trace and self._shown[1] is before:
            return
        # Another question begins at its first row: what was looked at in the last answer is no part of this one's.
        same = self._shown is not None and self._shown[0].query == trace.query
        self._shown, self._standing = (trace, before), None
        self._focus.selected = (moved_along(self._focus.selected, trace) if same else None) or _first_row(trace)
        self.lanes.set_trace(trace, before)
        self.strip.set_trace(trace)
        self.strip.put_behind(self.query.last)
        self.detail.set_trace(trace)
        self._stack.setCurrentWidget(self.lanes)
        self.strip.show()
        self._fit_below()

    def show_situation(self, situation: Problem, *, samples: bool) -> None:
        """Show what stands in an answer's place; `samples` offers the sample's questions below it."""
        if self._standing == (situation, samples):
            return
        self._shown, self._standing = None, (situation, samples)
        self._focus.clear()
        self.lanes.clear()
        self.strip.set_trace(None)
        self.detail.set_trace(None)
        self.panel.show_state(situation)
        self._samples.setVisible(samples)
        self._stack.setCurrentWidget(self.panel)
        self.strip.hide()
        self._fit_below()

    def show_detail(self, wanted: bool) -> None:
        """Show the document below the lanes, or give the lanes its place."""
        self._detail_wanted = wanted
        self.show_why(False)
        self._fit_below()

    @property
    def why_open(self) -> bool:
        """Whether the why-not panel stands in the document's place."""
        return self._below.currentWidget() is self.why

    def show_why(self, wanted: bool) -> None:
        """The why-not panel in the document's place, with the room that it needs; or the document again."""
        if wanted == self.why_open:
            return
        self._below.setCurrentWidget(self.why if wanted else self.detail)
        self._fit_below()
        sizes = self.splitter.sizes()
        if wanted:
            self._sizes_before = sizes
            room = sum(sizes)
            least = min(LEAST_HEIGHT, room * 3 // 5)
            if sizes[1] < least:
                self.splitter.setSizes([room - least, least])
        elif self._sizes_before:
            self.splitter.setSizes(self._sizes_before)

    def read_passage(self) -> None:
        """The document is brought into sight."""
        self._show_in_document()

    def _fit_below(self) -> None:
        shown = self._detail_wanted and self._stack.currentWidget() is self.lanes
        self._below.setVisible(shown or self.why_open)

    def _show_in_document(self) -> None:
        """The row is selected by now: the document is brought into sight."""
        self.show_why(False)
        self.detail.show_document_tab()
        self.detailWanted.emit()

    def _into_the_answer(self) -> None:
        if self._stack.currentWidget() is self.lanes:
            self.lanes.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.panel.setFocus(Qt.FocusReason.TabFocusReason)
            self.focusNextChild()


def _first_row(trace: Trace) -> FocusTarget | None:
    """What a new answer shows below the lanes before anybody chose something."""
    if not trace.candidates:
        return None
    first = trace.candidates[0].candidate
    return FocusTarget("candidate", first.evidence_key, first.rank)


def moved_along(target: FocusTarget | None, trace: Trace) -> FocusTarget | None:
    """The same part in another answer, wherever its rank is now; None when that answer does not have it."""
    if target is None or target.ranks:
        return None
    match target.kind:
        case "candidate":
            places = [one.candidate.rank for one in trace.candidates if one.candidate.evidence_key == target.key]
        case "evidence":
            places = [block.rank for block in trace.evidence if block.evidence_key == target.key]
        case "item":
            places = [at for at, item in enumerate(trace.projected, start=1) if item.document_id == target.key]
        case _:
            places = [
                block.rank for block in trace.evidence if any(place.path == target.key for place in block.citations)
            ]
    if not places:
        return None
    return target if target.rank in places else replace(target, rank=places[0])
