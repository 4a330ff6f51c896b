"""Families of duplicate documents: what is the same, what differs, what it costs, and what was decided about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.models.duplicate_state import DecisionsState, DuplicatesState, progress_words, standing
from app.models.families import FamilyFilter, FamilyList, FamilyRow
from app.models.family_difference import Comparison
from app.state import NextStep, Problem
from app.theme import Theme
from app.views.duplicates_beside import Beside
from app.views.family_delegate import FamilyDelegate
from app.views.family_filters import FamilyFilters
from app.views.family_list import LongList
from app.views.family_pane import FamilyPane
from app.views.parts import Flow, Text
from app.views.states import Notice, StatePanel
from pipeline.duplicates.records import Member
from pipeline.words.families import SAMPLE_STAYS, totals_words
from pipeline.words.phrases import count, number

FAMILY_COMMANDS = (
    ("leave-out-proposed", "Leave out proposed…"),
    ("trash-proposed", "Trash proposed…"),
    ("not-duplicates", "Not duplicates"),
)


class DuplicatesPage(QWidget):
    """Emits intents; shows what its feature says."""

    stepChosen = Signal(str)  # the id of an action
    firstShown = Signal()  # the page is seen
    similarityChanged = Signal(int)  # per cent
    comparisonWanted = Signal(str, str)  # doc_ids: the head's, the member's
    openRequested = Signal(str)  # path
    revealRequested = Signal(str)  # path
    copyRequested = Signal(str, str)  # text, what it is
    searchRequested = Signal(str)  # doc_id: ask with this document
    onlyFileRequested = Signal(str)  # doc_id
    libraryRequested = Signal(str)  # doc_id: show it on the library's page
    protectRequested = Signal(object, bool)  # paths of folders; False takes the protection back
    folderRequested = Signal(str)  # leave out all that is proposed in this folder (its name)
    selectionChanged = Signal()  # other families or members are selected

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state = DuplicatesState()
        self._coming: DuplicatesState | None = None
        self._touched = False  # the user has chosen a family: it stays chosen
        self._filling = False
        self._wanted = ""  # the document whose family is to be shown when it is known
        self._title = Text("Duplicates", scale=1.5, bold=True)
        self._totals = Text(muted=True, wrap=True)
        self._scan = self._button("scan-duplicates", "Look again")
        self._cancel = self._button("cancel-scan", "Cancel")
        self._counts = self._button("duplicate-settings", "What counts…")
        self._save = QPushButton("Save report")
        self.save_menu = QMenu(self)
        self._save.setMenu(self.save_menu)
        self._said = Text(muted=True, wrap=True)
        self._notice = Notice()
        self._notice.stepChosen.connect(self.stepChosen)
        self.filters = FamilyFilters()
        self.model = FamilyList(self)
        self.list = LongList("Families of duplicates", self.model, FamilyDelegate(theme))
        self._shown = Text(muted=True, wrap=True)
        self.pane = FamilyPane(theme)
        self.beside = Beside(theme)
        self.panel, self._none = StatePanel(), StatePanel()  # instead of all tabs, and in the families' place alone
        self.tabs = QTabWidget()
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self._family_buttons: dict[str, QPushButton] = {}
        self._build()
        self._connect()
        self.set_theme(theme)
        self._show()

    def _button(self, action: str, words: str) -> QPushButton:
        button = QPushButton(words)
        button.clicked.connect(lambda checked=False: self.stepChosen.emit(action))
        return button

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addStretch(1)
        for button in (self._cancel, self._scan, self._counts, self._save):
            head.addWidget(button)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        listed = QHBoxLayout()
        listed.setSpacing(8)
        listed.addWidget(self._shown, 1)
        listed.addWidget(self.filters.order)
        column.addLayout(listed)
        column.addWidget(self.list, 1)
        flow = Flow(spacing=6)
        for action, words in FAMILY_COMMANDS:
            button = self._family_buttons[action] = self._button(action, words)
            flow.addWidget(button)
        column.addLayout(flow)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(left)
        self.splitter.addWidget(self.pane)
        self.splitter.setSizes([300, 640])  # the members and their comparison get the more of it
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 3)
        families = QWidget()
        inside = QVBoxLayout(families)
        inside.setContentsMargins(0, 8, 0, 0)
        inside.setSpacing(8)
        inside.addWidget(self.filters)
        inside.addWidget(self.splitter, 1)
        self._inside = QStackedWidget()
        self._inside.addWidget(families)
        self._inside.addWidget(self._none)
        self.tabs.addTab(self._inside, "Families")
        for name, pane in self.beside.panes():
            self.tabs.addTab(pane, name)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.panel)
        self._stack.addWidget(self.tabs)
        page = QVBoxLayout(self)
        page.setContentsMargins(20, 14, 20, 10)
        page.setSpacing(8)
        page.addLayout(head)
        page.addWidget(self._totals)
        page.addWidget(self._notice)
        page.addWidget(self._said)
        page.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.panel.stepChosen.connect(self.stepChosen)
        self._none.stepChosen.connect(self.stepChosen)
        self.filters.filterChanged.connect(self._filter)
        self.filters.orderChanged.connect(self._order)
        self.filters.similarityChanged.connect(self.similarityChanged)
        self.list.currentMoved.connect(self._show_family)
        self.list.picked.connect(self._picked)
        self.list.activatedRow.connect(lambda row: self.pane.list.setFocus())
        self.list.onward.connect(lambda step: self.pane.list.setFocus() if step > 0 else None)
        self.list.menuRequested.connect(self._family_menu)
        self.pane.leave.connect(self.list.setFocus)
        self.pane.stepChosen.connect(self.stepChosen)
        self.pane.comparisonWanted.connect(self.comparisonWanted)
        self.pane.openRequested.connect(self.openRequested)
        self.pane.menuRequested.connect(self._member_menu)
        self.pane.chosen.connect(self._picked)
        self.beside.stepChosen.connect(self.stepChosen)
        self.beside.familiesWanted.connect(self.show_folder)
        self.beside.protectRequested.connect(self.protectRequested)
        self.beside.leaveOutRequested.connect(self.folderRequested)
        self.beside.openRequested.connect(self.openRequested)
        self.beside.copyRequested.connect(self.copyRequested)

    # --- state in -----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.list.set_theme(theme)
        self.pane.set_theme(theme)
        self.beside.set_theme(theme)
        self._scan.setIcon(icon("refresh", theme))
        self._cancel.setIcon(icon("cancel", theme))
        self._save.setIcon(icon("export", theme))

    def show_state(self, state: DuplicatesState) -> None:
        """Show this, now or when the page is next seen."""
        self._coming = state
        if self.isVisible():
            self._show()

    def show_decisions(self, decisions: DecisionsState) -> None:
        """What was decided has changed."""
        self.beside.show_decisions(decisions)
        self._fit_stack()
        self._fit_tabs()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()
        self.firstShown.emit()

    def _show(self) -> None:
        state, self._coming = self._coming or self._state, None
        before, self._state = self._state, state
        report, scanning = state.report, state.phase == "scanning"
        self._scan.setVisible(not scanning)
        self._scan.setEnabled(state.phase not in ("no_library", "opening", "no_documents"))
        self._scan.setText("Look again" if report is not None else "Look for duplicates")
        self._cancel.setVisible(scanning or bool(state.working))
        self._save.setEnabled(report is not None and bool(report.families))
        totals = totals_words(report) if report is not None and report.families else ""
        self._totals.setText(f"{totals} {SAMPLE_STAYS}" if totals and state.sample else totals)
        self._totals.setVisible(bool(self._totals.text()))
        self._say(state)
        self._notice.show_problem(_notice_of(state))
        if state.rows is not before.rows:
            self._fill(state)
        self._fit_stack()
        self.beside.show_report(report, state.folder)
        self._fit_tabs()
        self._find_wanted()

    def _fit_stack(self) -> None:
        """The tabs, or why there is nothing to show in them."""
        what = standing(self._state)
        if what is not None:
            self.panel.show_state(what)
            self._none.show_state(what)
        self._inside.setCurrentIndex(int(what is not None))
        self._stack.setCurrentWidget(self.panel if what is not None and not self._beside_families() else self.tabs)

    def _beside_families(self) -> bool:
        """Whether there is something to see though there is no family: what was decided can be taken back."""
        report = self._state.report
        return (
            report is not None
            and not report.families
            and bool(report.boilerplate or report.alike or self.beside.decided)
        )

    def _say(self, state: DuplicatesState) -> None:
        said = ""
        if state.phase == "scanning" and state.rows:
            said = f"{progress_words(state.progress)}. What was found so far is listed."
        elif state.working:
            said = state.working
        elif state.measuring:
            said = "Measuring what copies cost your questions…"
        elif state.narrowing:
            said = "Applying…"
        self._said.setText(said)
        self._said.setVisible(bool(said))

    def _fill(self, state: DuplicatesState) -> None:
        """Other families: who looks at one goes on looking at it."""
        current = self.current_row() if self._touched else None
        key = current.family.key if current is not None else ""
        head = current.family.head.doc_id if current is not None else ""
        chosen = {row.family.key for row in self.chosen_rows()} if self._touched else set()
        report = state.report
        self.filters.offer(state.rows, report.folders if report is not None else ())
        self._filling = True
        self.model.set_rows(state.rows)
        at = self.model.row_of(key) if key else None
        if at is None and head:
            at = self.model.row_with(head)
        self._choose_again(at, chosen)
        self._filling = False
        self._counted()

    def _choose_again(self, at: int | None, chosen: set[str]) -> None:
        """After the rows were laid anew: the same families selected, else the first."""
        if self.model.rowCount() == 0:
            self._show_family(-1)
            return
        self.list.choose(at if at is not None else 0)
        if len(chosen) > 1:
            self.list.choose_rows(row for row, shown in enumerate(self.model.shown) if shown.family.key in chosen)
        self._show_family(self.list.currentIndex().row())

    def set_least(self, least: int, shown: int) -> None:
        """`least` per cent were looked for, `shown` are in force."""
        self.filters.show_similarity(least, shown)

    def _fit_tabs(self) -> None:
        self.tabs.setTabText(0, f"Families ({number(self.model.total)})" if self.model.total else "Families")
        for at, words in enumerate(self.beside.titles(), start=1):
            self.tabs.setTabText(at, words)

    def _counted(self) -> None:
        shown, total = self.model.rowCount(), self.model.total
        words = count(total, "family", "families")
        self._shown.setText(words if shown == total else f"{number(shown)} of {words}")
        if not shown and total:
            self._shown.setText(f"None of {words} is listed: no family fits the filters.")

    # --- families -----------------------------------------------------------------------------------------------

    def current_row(self) -> FamilyRow | None:
        """The family that is shown on the right."""
        at = self.list.currentIndex().row()
        return self.model.shown[at] if 0 <= at < len(self.model.shown) else None

    def chosen_rows(self) -> list[FamilyRow]:
        """The selected families."""
        shown = self.model.shown
        return [shown[at] for at in self.list.chosen_rows() if at < len(shown)]

    def chosen_members(self) -> list[Member]:
        """The selected members of the family that is shown."""
        return self.pane.chosen_members() if self.current_row() is not None else []

    def show_family_of(self, doc_id: str) -> bool:
        """Show the family of this document, now or when it is known; False when it is known that it has none."""
        self._wanted = doc_id
        self.tabs.setCurrentIndex(0)
        self._show()
        return not self._wanted or self._state.phase != "scanned"

    def _find_wanted(self) -> None:
        doc_id, held = self._wanted, self._state.phase in ("scanning", "scanned")
        if not doc_id or not held:
            return
        if self.model.row_with(doc_id) is None and self.model.filter.narrowed:
            if not any(doc_id == member.doc_id for row in self._state.rows for member in row.family.members):
                return
            self.filters.clear()  # it is there, and would not be seen
        at = self.model.row_with(doc_id)
        if at is None:
            return
        self._wanted = ""
        self._touched = True
        self.list.choose(at)
        self.pane.show_family(self.model.shown[at], doc_id)
        self.pane.list.setFocus()

    def show_folder(self, folder: str) -> None:
        """List the families in this folder."""
        self.tabs.setCurrentIndex(0)
        self.filters.choose_folder(folder)
        self.list.setFocus()

    def _show_family(self, row: int) -> None:
        self.pane.show_family(self.model.shown[row] if 0 <= row < len(self.model.shown) else None)

    def _filter(self, wanted: FamilyFilter) -> None:
        current = self.current_row()
        self.model.set_filter(wanted)
        self._choose_again(self.model.row_of(current.family.key) if current is not None else None, set())
        self._counted()
        self._picked()

    def _order(self, order: str) -> None:
        """Who asks for another order wants to see what comes first."""
        self.model.set_order(order)  # type: ignore[arg-type]  # the combo holds orders
        self._choose_again(None, set())
        self._picked()

    def _picked(self) -> None:
        self._touched = self._touched or (not self._filling and self.list.hasFocus())
        self.selectionChanged.emit()

    def fit_buttons(self, possible: Callable[[str], bool], words: Callable[[str], str]) -> None:
        """Buttons are as the commands that they give: possible or not, and named alike."""
        for action, button in (*self.pane.buttons.items(), *self._family_buttons.items()):
            button.setEnabled(possible(action))
            button.setToolTip(words(action))
        self.beside.fit_buttons(possible)

    def copied(self) -> tuple[str, str]:
        """What "Copy" copies here, and what that is: the rows that are selected where the focus is."""
        for part in (self.list, self.pane.list, self.pane.compare.list):
            if part.hasFocus():
                return part.copied(), "the selected rows"
        return self.beside.copied(), "the selected rows"

    # --- menus --------------------------------------------------------------------------------------------------

    def _family_menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        for action, words in FAMILY_COMMANDS:
            entry = menu.addAction(words, lambda action=action: self.stepChosen.emit(action))
            entry.setEnabled(self._family_buttons[action].isEnabled())
        self.pane.popup(menu, at)

    def _member_menu(self, at: QPoint) -> None:
        member = self.pane.current()
        if member is None:
            return
        menu = QMenu(self)
        menu.addAction(icon("open", self._theme), "Open", lambda: self.openRequested.emit(member.path))
        menu.addAction(
            icon("reveal", self._theme), "Show in its folder", lambda: self.revealRequested.emit(member.path)
        )
        menu.addAction(
            icon("library", self._theme), "Show in the library", lambda: self.libraryRequested.emit(member.doc_id)
        )
        menu.addAction(
            icon("search", self._theme), "Search with this document", lambda: self.searchRequested.emit(member.doc_id)
        )
        menu.addAction("Search only in it", lambda: self.onlyFileRequested.emit(member.doc_id))
        menu.addAction(icon("copy", self._theme), "Copy path", lambda: self.copyRequested.emit(member.path, "the path"))
        menu.addSeparator()
        for action, button in self.pane.buttons.items():
            entry = menu.addAction(button.text(), lambda action=action: self.stepChosen.emit(action))
            entry.setEnabled(button.isEnabled())
        self.pane.popup(menu, at)

    # --- comparisons --------------------------------------------------------------------------------------------

    def show_comparison(self, head: str, member: str, comparison: Comparison) -> None:
        self.pane.show_comparison(head, member, comparison)

    def show_comparison_failed(self, head: str, member: str, why: str) -> None:
        self.pane.show_failure(head, member, why)


def _notice_of(state: DuplicatesState) -> Problem | None:
    """What is not as it should be, while there is something to show."""
    if state.notice is not None:
        return state.notice
    if state.phase == "failed" and state.rows:
        return state.problem
    if state.stale and state.phase == "scanned":
        return Problem(
            "This is not the library as it stands", state.stale, (NextStep("Look again", "scan-duplicates"),)
        )
    if state.read_only and state.rows:
        return Problem("Nothing can be decided here", state.read_only)
    return None
