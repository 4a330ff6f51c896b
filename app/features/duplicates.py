"""Families of duplicate documents, and what was decided about them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from app import desktop
from app.features.duplicates_choices import Choices
from app.features.duplicates_deciding import Deciding
from app.features.duplicates_fresh import Freshening
from app.features.duplicates_report import REPORTS, ReportKind, Reports
from app.features.duplicates_scan import Scanning
from app.features.duplicates_trash import Trashing
from app.features.duplicates_ways import Ways
from app.features.ground import Ground
from app.jobs.ends import End
from app.models.duplicate_state import DecisionsState, DuplicatesState
from app.problems import problem_of
from app.state import LibraryState, ModelState, WorkState
from pipeline.words.families import SAMPLE_STAYS

if TYPE_CHECKING:
    from app.models.family_difference import Comparison
    from pipeline.duplicates.trash import TrashOutcome

_READING = "reading two documents to compare"


class DuplicatesFeature(QObject):
    """The page's commands, and what comes of them."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground.window)
        self._ground = ground
        self._window, self._session, self._page = ground.window, ground.session, ground.window.duplicates
        self.scanning = Scanning(ground.crew, self)
        self.deciding = Deciding(ground.crew, self)
        self.trashing = Trashing(ground.crew, ground.dialogs, ground.window, self)
        self.reports = Reports(ground, self)
        self.choices = Choices(ground, self.scanning, self.deciding, self.trashing)
        self.ways = Ways(ground, self.scanning)
        self.freshening = Freshening(ground, self)
        self._asked_for = False  # the page was seen with this library
        self._trash_tips = {name: ground.window.actions_[name].toolTip() for name in ("trash-copies", "trash-proposed")}
        self._applied = 0  # the journal's newest line that the families are shown by
        self._connect()
        self._commands()
        self._set_library(self._session.shelf.library)
        self.scanning.set_model_ready(self._session.model.phase == "ready")
        self._window.installEventFilter(self)

    def _connect(self) -> None:
        session, page, window = self._session, self._page, self._window
        session.shelf.library_changed.connect(self._set_library)
        session.shelf.work_ended.connect(self._work_ended)
        session.model_changed.connect(self._set_model)
        self.scanning.changed.connect(self._show)
        self.deciding.changed.connect(self._decisions_changed)
        self.deciding.decided.connect(self._decided)
        for part in (self.deciding, self.trashing, self.reports):
            part.told.connect(window.status.say)
            part.failed.connect(self.scanning.notice)
        self.trashing.working.connect(self.scanning.working)
        self.trashing.done.connect(self._trashed)
        page.stepChosen.connect(window.actions_.trigger)
        page.firstShown.connect(self._seen)
        page.selectionChanged.connect(self._fit)
        page.similarityChanged.connect(lambda percent: self.scanning.set_least(percent / 100))
        page.comparisonWanted.connect(self._compare)
        page.openRequested.connect(lambda path: self._say(desktop.open_file(path)))
        page.revealRequested.connect(lambda path: self._say(desktop.reveal(path)))
        page.copyRequested.connect(self._ground.commands.to_clipboard)
        window.pageShown.connect(self._fit)
        window.library.table.selectionModel().currentRowChanged.connect(self._fit_way)
        self._ground.focus.selectedChanged.connect(self._fit_way)

    def _commands(self) -> None:
        on = self._window.actions_.on
        on("scan-duplicates", self._scan)
        on("cancel-scan", self._cancel)
        on("duplicate-settings", self._settings)
        self.choices.connect_commands()
        for report in REPORTS:
            on(report.action, lambda report=report: self._save(report))
            self._page.save_menu.addAction(self._window.actions_[report.action])
        on("export-decisions", lambda: self.reports.export_decisions(self.scanning.state.folder))
        on("import-decisions", lambda: self.reports.import_decisions(self.scanning.state.folder, self.deciding))
        self._ground.commands.undo_on_page("duplicates", self)

    # --- state ------------------------------------------------------------------------------------------------------

    def _set_library(self, library: LibraryState) -> None:
        other = library.folder != self.scanning.state.folder
        if other:
            self._asked_for = False
        self.scanning.set_library(library)
        self._page.beside.set_roots({root.label: root.path for root in library.roots})
        opened = library.phase == "open"
        self.deciding.set_library(library.folder if opened else None)
        if self._page.isVisible():
            self._seen()
        self._fit()

    def _set_model(self, model: ModelState) -> None:
        self.scanning.set_model_ready(model.phase == "ready")

    def _show(self, state: DuplicatesState) -> None:
        self._page.set_least(round(self.scanning.least * 100), round(state.settings.near * 100))
        self._page.show_state(state)
        self._fit()

    def _decisions_changed(self, decisions: DecisionsState) -> None:
        """Decided here, in another window or on the command line: the families are shown as they are now."""
        self._page.show_decisions(decisions)
        newest = decisions.journal[0].id if decisions.journal else 0
        if newest != self._applied:
            self._applied = newest
            self.scanning.apply()
        self._ground.commands.name_undo()
        self._fit()

    def _decided(self) -> None:
        """Searches go by what was decided."""
        self.scanning.notice(None)
        self._session.inquiry.ask_again()

    def _seen(self) -> None:
        """The page is seen: what costs little is looked at without being asked for."""
        self.deciding.read()
        if not self._asked_for and self.scanning.state.phase == "not_scanned":
            self._asked_for = True
            if self.scanning.cheap and not self._session.shelf.work.active:
                self.scanning.scan()

    def _work_ended(self, work: WorkState) -> None:
        """After indexing what was found is of yesterday."""
        if self.scanning.base is not None and self.scanning.cheap and self._page.isVisible():
            self.scanning.scan()
        self._fit()

    def _fit(self, *_: object) -> None:
        """Only what is possible now can be given."""
        state, actions = self.scanning.state, self._window.actions_
        here = self._window.page == "duplicates"
        writable = not state.read_only and state.folder is not None and state.phase in ("scanned", "scanning")
        members, families = (self.choices.members(), self.choices.families()) if here else ([], [])
        report = state.report is not None and bool(state.report.families)
        decide = here and writable and state.report is not None
        proposed = any(member.proposed for family in families for member in family.members)
        possible = {
            "scan-duplicates": self.scanning.possible,
            "cancel-scan": self.scanning.scanning or self.trashing.busy,
            "duplicate-settings": state.phase not in ("no_library", "opening"),
            "prefer-copy": decide and len(members) == 1,
            "leave-out-copies": decide and bool(members),
            "note-copy": decide and len(members) == 1,
            "protect-folder": decide and len(members) == 1,
            "trash-copies": decide and not state.sample and bool(members) and not self.trashing.busy,
            "leave-out-proposed": decide and proposed,
            "trash-proposed": decide and not state.sample and proposed and not self.trashing.busy,
            "not-duplicates": decide and bool(families),
            "export-decisions": state.folder is not None and sum(self.deciding.state.counts.values()) > 0,
            "import-decisions": state.folder is not None and not state.read_only,
        } | {entry.action: report for entry in REPORTS}
        for action, enabled in possible.items():
            actions[action].setEnabled(enabled)
        for action, tip in self._trash_tips.items():
            actions[action].setToolTip(SAMPLE_STAYS if state.sample else tip)
            actions[action].setStatusTip(SAMPLE_STAYS if state.sample else tip)
        self._fit_way()
        taken = bool(members) and all(member.left_out for member in members)
        actions["leave-out-copies"].setText("Take back into searches" if taken else "Leave out of searches")
        held = len(members) == 1 and members[0].preferred
        actions["prefer-copy"].setText("Do not prefer this copy any more" if held else "Prefer this copy")
        guarded = len(members) == 1 and members[0].protected
        actions["protect-folder"].setText("Stop protecting its folder…" if guarded else "Protect its folder")
        self._page.pane.buttons["protect-folder"].setText("Stop protecting…" if guarded else "Protect folder")
        self._page.pane.buttons["leave-out-copies"].setText("Take back" if taken else "Leave out")
        self._page.pane.buttons["prefer-copy"].setText("Do not prefer" if held else "Prefer")
        self._page.fit_buttons(
            lambda action: bool(decide) if action == "protect-folder-any" else actions[action].isEnabled(),
            lambda action: actions[action].toolTip(),
        )

    def _fit_way(self, *_: object) -> None:
        self._window.actions_["show-family"].setEnabled(self.ways.chosen_document() != "")

    # --- looking ----------------------------------------------------------------------------------------------------

    def _scan(self) -> None:
        self._window.show_page("duplicates")
        self.scanning.scan()

    def _cancel(self) -> None:
        self.scanning.stop()
        if self.trashing.busy:
            self.trashing.cancel()

    def _settings(self) -> None:
        from app.views.duplicates_settings import DuplicateSettingsDialog

        dialog = DuplicateSettingsDialog(self.scanning.wanted, self._window)
        if self._ground.dialogs.ask(dialog):
            self.scanning.set_settings(dialog.wanted())
        dialog.deleteLater()

    def _save(self, kind: ReportKind) -> None:
        state = self.scanning.state
        self.reports.save(kind, state.report, state.folder)

    def _compare(self, head: str, member: str) -> None:
        folder = self.scanning.state.folder
        if folder is None:
            return
        open_reader = self._ground.crew.backend.open_reader

        def work() -> Comparison:
            from app.models.family_difference import compare_documents
            from pipeline.duplicates.differences import weighty_between

            def singled(word: str) -> bool:
                return any(found.kind != "word" for found in weighty_between(word, ""))

            with closing(open_reader(folder)) as reader:
                left, right = reader.document_text(head).text, reader.document_text(member).text
            return compare_documents(left, right, singled, lambda: None)

        def ended(end: End[Comparison]) -> None:
            if end.how == "done" and end.value is not None:
                self._page.show_comparison(head, member, end.value)
            elif end.how == "failed":
                self._page.show_comparison_failed(head, member, problem_of(end.error, end.details).text)

        self._ground.crew.look(_READING, work, ended)

    def _trashed(self, outcome: TrashOutcome) -> None:
        """The library is brought up to date: what is gone from the disk goes from it too."""
        self.deciding.read()
        if outcome.of("trashed"):
            self._session.shelf.index(())

    # --- undo and redo on this page -----------------------------------------------------------------------------------

    @property
    def undo_text(self) -> str:
        return self.deciding.state.undo

    @property
    def redo_text(self) -> str:
        return self.deciding.state.redo

    def undo(self) -> None:
        self.deciding.undo()

    def redo(self) -> None:
        self.deciding.redo()

    def _say(self, words: str) -> None:
        if words:
            self._window.status.say(words)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.Close:
            self.scanning.stop()  # before the window waits for its threads
            self.trashing.cancel()
        return False
