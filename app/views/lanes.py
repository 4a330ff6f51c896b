"""The heart of the window: raw candidates, evidence and projection side by side, joined by ribbons.

The view holds no state of the answer beyond the models' rows. What is hovered and selected lives in `Focus`, which
other parts of the window share.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.focus import Focus, FocusTarget
from app.models.answer import Answer
from app.models.evidence import EvidenceModel
from app.models.links import Lit
from app.models.projected import ProjectedModel
from app.models.raw import RawModel
from app.models.rows import LaneModel, Role
from app.theme import Theme
from app.views.evidence_delegate import EvidenceDelegate
from app.views.lane_delegate import LaneDelegate, Light
from app.views.lane_header import LaneHeader
from app.views.lane_list import LaneList
from app.views.lane_menu import Circumstances, LaneMenu
from app.views.projected_delegate import ProjectedDelegate
from app.views.raw_delegate import RawDelegate, rank_digits
from app.views.ribbons import Lane, LaneSplitter, projected_bands, raw_bands
from pipeline.records import Remedy, Trace
from pipeline.words.sentences import count, nothing_found_words, stage_lit_words

RAW, EVIDENCE, PROJECTED = range(3)
_NARROW_GAP, _WIDE_GAP = 30, 56
_LEAST_LANE = 210


class LanesView(QWidget):
    """Three lanes, one query."""

    openRequested = Signal(str)  # path
    revealRequested = Signal(str)  # path
    leaveOutRequested = Signal(str, bool)  # doc_id; out, or taken back
    onlyFileRequested = Signal(str)  # doc_id; "" searches all files again
    preferRequested = Signal(str, bool)  # doc_id; preferred, or no more
    applySetting = Signal(str, object)  # key, value: a remedy was picked
    showInDocumentRequested = Signal(object)  # FocusTarget, which is selected by then
    previewRequested = Signal(object)  # FocusTarget, which is selected by then
    whyRequested = Signal(object)  # FocusTarget: why is it there, or not
    reindexFileRequested = Signal(str)  # path: it is not as it was indexed
    familyRequested = Signal(str)  # doc_id: show its family among the duplicates
    stageCleared = Signal()  # the rows of a stage are lit no more

    def __init__(self, focus: Focus, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._focus, self._theme = focus, theme
        self._answer: Answer | None = None
        self._stage: str | None = None
        self._preferred: frozenset[str] = frozenset()
        self._raw, self._evidence, self._projected = RawModel(self), EvidenceModel(self), ProjectedModel(self)
        raw, evidence, projected = RawDelegate(theme), EvidenceDelegate(theme), ProjectedDelegate(theme)
        self._delegates: tuple[LaneDelegate, ...] = (raw, evidence, projected)
        self.splitter = LaneSplitter(theme, self)
        self._headers: list[LaneHeader] = []
        self._lists: list[LaneList] = []
        self._add_lane("Raw candidates", "what the search found", self._raw, raw)
        self._add_lane("Evidence", "what is kept, and cited", self._evidence, evidence)
        self._add_lane("Projected", "what the agent reads", self._projected, projected)
        self.splitter.setHandleWidth(_NARROW_GAP)
        self._tie_gaps(
            Lane(self._lists[RAW], raw.anchor),
            Lane(self._lists[EVIDENCE], evidence.anchor),
            Lane(self._lists[PROJECTED], projected.anchor),
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.splitter)
        self.setFocusProxy(self._lists[RAW])
        self._relight = QTimer(self)  # many changes of one moment are painted once
        self._relight.setSingleShot(True)
        self._relight.setInterval(0)
        self._relight.timeout.connect(self._light_up)
        focus.changed.connect(self._relight.start)
        focus.selectedChanged.connect(self._follow_selection)

    def _add_lane(self, name: str, words: str, model: LaneModel, delegate: LaneDelegate) -> None:
        lane, number = QWidget(self), len(self._lists)
        header = LaneHeader(name, words, self._theme, lane)
        list_ = LaneList(name, model, delegate, lane)
        layout = QVBoxLayout(lane)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(header)
        layout.addWidget(list_)
        lane.setMinimumWidth(_LEAST_LANE)
        self.splitter.addWidget(lane)
        self.splitter.setStretchFactor(number, 1)
        self._headers.append(header)
        self._lists.append(list_)
        list_.hovered.connect(self._focus.hover)
        list_.chosen.connect(self._choose)
        list_.openRequested.connect(self.openRequested)
        list_.revealRequested.connect(self.revealRequested)
        list_.previewRequested.connect(self.previewRequested)
        list_.remedyRequested.connect(self._apply)
        list_.crossRequested.connect(lambda step: self._cross(number, step))
        list_.menuRequested.connect(lambda index, place: self._show_menu(number, index, place))
        list_.unfoldRequested.connect(lambda row: self._unfold(number, row))
        list_.arranged.connect(self._redraw_ribbons)
        list_.focusChanged.connect(header.set_active)

    def _tie_gaps(self, raw: Lane, evidence: Lane, projected: Lane) -> None:
        first, second = self.splitter.gap(RAW), self.splitter.gap(EVIDENCE)
        first.tie(raw, evidence, lambda: raw_bands(self._answer, self._theme, raw, evidence) if self._answer else [])
        second.tie(
            evidence,
            projected,
            lambda: projected_bands(self._answer, self._theme, evidence, projected) if self._answer else [],
        )
        for gap in (first, second):
            gap.hovered.connect(self._focus.hover)

    # --- what it shows ----------------------------------------------------------------------------------------------

    @property
    def lists(self) -> Sequence[LaneList]:
        """The three lanes' lists, from the left."""
        return self._lists

    def set_trace(self, trace: Trace | None, before: Trace | None = None) -> None:
        """Show an answer, compared with the run before it. A selection that is still there stays, and so does the
        place that was scrolled to while the question is the same."""
        same = self._answer is not None and trace is not None and self._answer.trace.query == trace.query
        scrolled = [list_.verticalScrollBar().value() if same else 0 for list_ in self._lists]
        answer = Answer(trace, before) if trace is not None else None
        self._answer = answer
        for list_ in self._lists:
            list_.forget_hover()
        for delegate, rows in zip(
            self._delegates, (trace.candidates, trace.evidence, ()) if trace else ((),) * 3, strict=True
        ):
            delegate.rank_digits = rank_digits(len(rows))
        self._raw.set_answer(answer)
        self._evidence.set_answer(answer)
        self._projected.set_answer(answer)
        self._describe()
        for list_, value in zip(self._lists, scrolled, strict=True):
            list_.doItemsLayout()
            list_.verticalScrollBar().setValue(value)
        self.show_stage(None)
        self._focus.hover(None)
        if self._focus.selected is not None and not self._stands_for(self._focus.selected):
            self._focus.select(None)
        self._follow_selection()
        self._light_up()

    def clear(self) -> None:
        """Show no answer."""
        self.set_trace(None)

    @property
    def theme(self) -> Theme:
        """The theme in force."""
        return self._theme

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for header in self._headers:
            header.set_theme(theme)
        for list_ in self._lists:
            list_.set_theme(theme)
        for number in (RAW, EVIDENCE):
            self.splitter.gap(number).set_theme(theme)

    def set_preferred(self, doc_ids: Collection[str]) -> None:
        """The documents whose copies the user wants to be cited first: their menus offer to take that back."""
        self._preferred = frozenset(doc_ids)

    def show_stage(self, stage: str | None) -> None:
        """Light up the rows that this stage dropped ("fetched": those that widening brought); None or "" ends it."""
        had, self._stage = self._stage, stage or None
        self._headers[RAW].set_note(
            stage_lit_words(self._stage, len(self._answer.links.dropped_at(self._stage).raw))
            if self._stage and self._answer
            else ""
        )
        self._light_up()
        if self._stage is not None and self._answer is not None:
            ranks = self._answer.links.dropped_at(self._stage).raw
            row = self._raw.at_rank(min(ranks)) if ranks else None
            if row is not None:
                self._lists[RAW].scrollTo(self._raw.index(row))
        if had is not None and self._stage is None:
            self.stageCleared.emit()

    def _describe(self) -> None:
        """Counts in the headers, and words in lanes that have no rows."""
        trace = self._answer.trace if self._answer else None
        counts = ["", "", ""]
        titles: list[tuple[str, str]] = [("", "")] * 3
        if trace is not None:
            counts = [
                count(len(trace.candidates), "row"),
                count(len(trace.evidence), "block"),
                count(len(trace.projected), "block"),
            ]
            if not trace.candidates:
                titles = list(nothing_found_words(trace))
            elif not trace.evidence:
                titles[EVIDENCE] = ("Nothing is kept", "Every row found fell on the way; each says why.")
                titles[PROJECTED] = ("The agent reads nothing", "There is no evidence to hand over.")
        for header, list_, shown, (title, text) in zip(self._headers, self._lists, counts, titles, strict=True):
            header.set_count(shown)
            list_.set_empty(title, text)

    # --- the focus --------------------------------------------------------------------------------------------------

    def _lit(self) -> Lit | None:
        if self._answer is None:
            return None
        if self._focus.hovered is not None:
            return self._answer.links.lit(self._focus.hovered)
        if self._stage is not None:
            return self._answer.links.dropped_at(self._stage)
        return self._answer.links.lit(self._focus.selected) if self._focus.selected is not None else None

    def _light_up(self) -> None:
        self._relight.stop()
        lit = self._lit()
        lasting = self._focus.hovered is None and self._stage is None
        for list_ in self._lists:
            list_.set_lit(lit, Light.REST if lasting else Light.DIM)
        self._redraw_ribbons()

    def _redraw_ribbons(self) -> None:
        for number in (RAW, EVIDENCE):
            self.splitter.gap(number).update()

    def _choose(self, target: FocusTarget) -> None:
        """A row was chosen: it is looked at now, not a stage."""
        if self._stage is not None:
            self.show_stage(None)
        self._focus.select(target)

    def _row_of(self, number: int, target: FocusTarget) -> int | None:
        model = (self._raw, self._evidence, self._projected)[number]
        return model.row_of(target)

    def _stands_for(self, target: FocusTarget) -> bool:
        return any(self._row_of(number, target) is not None for number in range(3))

    def _follow_selection(self) -> None:
        """Select the row of what is selected, wherever that was done; rows of the other lanes only light up."""
        target = self._focus.selected
        chosen = False
        # The lane with the keyboard first: some rows stand for the same thing as a row of another lane.
        for number in sorted(range(3), key=lambda number: not self._lists[number].hasFocus()):
            list_ = self._lists[number]
            row = self._row_of(number, target) if target is not None and not chosen else None
            if row is None:
                list_.make_current(None)
                continue
            chosen = True
            now = list_.currentIndex()
            if now.isValid() and list_.target_at(now.row()) == target:
                row = now.row()  # of two places in one file the one that was picked
            if row != now.row() or not list_.selectionModel().isSelected(now):
                list_.make_current(row)

    # --- keys and menus ---------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and (self._stage is not None or self._focus.selected is not None):
            self._focus.select(None)
            self.show_stage(None)
            event.accept()
            return
        super().keyPressEvent(event)

    def _cross(self, number: int, step: int) -> None:
        """Go to the linked row in the lane beside; at the last lane, fold or unfold what the agent reads."""
        index = self._lists[number].currentIndex()
        row = self._linked_row(number, index, step) if index.isValid() else None
        if row is not None:
            self._lists[number].make_current(None)
            list_ = self._lists[number + step]
            list_.make_current(row, take_focus=True)
            target = list_.target_at(row)
            if target is not None:
                self._choose(target)
        elif index.isValid() and number == PROJECTED and step > 0:
            self._unfold(PROJECTED, index.row())

    def _linked_row(self, number: int, index: QModelIndex, step: int) -> int | None:
        target = index.data(Role.TARGET)
        if self._answer is None or not isinstance(target, FocusTarget) or not 0 <= number + step < 3:
            return None
        links = self._answer.links
        if number == RAW:
            rank = target.rank or 0
            block = links.block_of.get(rank)
            return self._evidence.at_block(block) if block is not None else self._evidence.at_fallen(rank)
        if number == PROJECTED:
            block = links.block_of_item.get(target.rank or 0) if target.kind == "item" else target.rank
            return self._evidence.at_block(block) if block is not None else None
        if target.kind == "candidate":  # rows that fell
            return self._raw.at_rank(target.rank or 0) if step < 0 else None
        if step > 0:
            return self._projected.at_block(target.rank or 0)
        block = target.rank or 0
        ranks = links.raw_of_block.get(block, [])
        if target.kind == "file":  # its own raw row before the block's first
            ranks = [rank for rank in ranks if links.candidates[rank].candidate.source_path == target.key] or ranks
        return self._raw.at_rank(ranks[0]) if ranks else None

    def _unfold(self, number: int, row: int) -> None:
        (self._evidence if number == EVIDENCE else self._projected).unfold(row)
        self._lists[number].doItemsLayout()
        self._redraw_ribbons()

    def _show_menu(self, number: int, index: QModelIndex, place: QPoint) -> None:
        if self._answer is None:
            return
        menu = LaneMenu(index, Circumstances(self._answer.trace, self._preferred), self._theme, self)
        if menu.isEmpty():
            return
        menu.picked.connect(lambda what, argument: self._picked(number, what, argument))
        menu.popup(place)

    def _picked(self, number: int, what: str, argument: object) -> None:
        match what, argument:
            case "open", str():
                self.openRequested.emit(argument)
            case "reveal", str():
                self.revealRequested.emit(argument)
            case "copy", str():
                QGuiApplication.clipboard().setText(argument)
            case "leave-out" | "take-back", str():
                self.leaveOutRequested.emit(argument, what == "leave-out")
            case "reindex", str():
                self.reindexFileRequested.emit(argument)
            case "family", str():
                self.familyRequested.emit(argument)
            case "prefer" | "unprefer", str():
                self.preferRequested.emit(argument, what == "prefer")
            case "only-file", str():
                self.onlyFileRequested.emit(argument)
            case "document", FocusTarget():
                self._choose(argument)
                self.showInDocumentRequested.emit(argument)
            case "why", FocusTarget():
                self.whyRequested.emit(argument)
            case "remedy", Remedy():
                self._apply(argument)
            case "unfold", int():
                self._unfold(number, argument)

    def _apply(self, remedy: Remedy) -> None:
        self.applySetting.emit(remedy.setting, remedy.value)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        gap = _WIDE_GAP if self.width() >= 1_200 else _NARROW_GAP
        if self.splitter.handleWidth() != gap:
            self.splitter.setHandleWidth(gap)
