"""Connects the session with the window: states to what shows them, what the user does to intents."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.commands import Commands
from app.dialogs import Dialogs
from app.focus import Focus
from app.main_window import MainWindow
from app.menus import Menus
from app.preferences import ZOOMS, Preferences
from app.sample import SampleQuestion
from app.session import Session
from app.situations import library_standing, situation
from app.state import AnswerState, LibraryState, ModelState, Scope, WorkState
from app.theme import Theme, ThemeWatch
from app.undoing import Undoing
from app.views.command_palette import CommandPalette
from pipeline.settings import Settings

ANSWER_PAGES = ("inspector", "compare")
SEARCHING_AFTER_MS = 250  # a search that is over before that shows no "Searching…"


class Wiring(QObject):
    """Lives as long as its window."""

    def __init__(
        self,
        window: MainWindow,
        session: Session,
        focus: Focus,
        preferences: Preferences,
        watch: ThemeWatch,
        questions: tuple[SampleQuestion, ...],
        dialogs: Dialogs,
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._focus = window, session, focus
        self._preferences, self._watch = preferences, watch
        self._searching = QTimer(self)
        self._searching.setSingleShot(True)
        self._searching.setInterval(SEARCHING_AFTER_MS)
        self._searching.timeout.connect(self._show_situation)
        self.menus = Menus(
            window,
            window.actions_,
            questions,
            lambda: preferences.choices.recent,
            session.open_library,
            self._use_sample_question,
        )
        self.palette = CommandPalette(window)
        self.undoing = Undoing(session.inquiry, self)
        self.commands = Commands(window, session, preferences, watch, dialogs, self.menus, self.palette, self.undoing)
        self._states_to_views()
        self._views_to_intents()
        self._show_look()
        self._set_library(session.shelf.library)
        self._set_model(session.model)
        self._set_settings(session.inquiry.settings)
        self._set_scope(session.inquiry.scope)
        self._set_work(session.shelf.work)

    def theme(self) -> Theme:
        """The theme in force."""
        return self._watch.theme

    # --- states to views ----------------------------------------------------------------------------------------

    def _states_to_views(self) -> None:
        session = self._session
        session.model_changed.connect(self._set_model)
        session.shelf.library_changed.connect(self._set_library)
        session.shelf.work_changed.connect(self._set_work)
        session.inquiry.answer_changed.connect(self._set_answer)
        session.inquiry.settings_changed.connect(self._set_settings)
        session.inquiry.scope_changed.connect(self._set_scope)
        session.document_arrived.connect(self._window.inspector.detail.show_document)
        session.document_arrived.connect(self._window.library.show_document)
        session.document_failed.connect(self._window.inspector.detail.show_problem)
        session.document_failed.connect(self._window.library.show_problem)
        session.page_arrived.connect(self._window.inspector.detail.page.show_picture)
        session.page_failed.connect(self._window.inspector.detail.page.show_problem)
        session.sample_question_chosen.connect(self._sample_question_chosen)
        session.refused.connect(self._window.status.say)
        self._watch.changed.connect(self._set_theme)
        self._window.pageShown.connect(lambda page: self._show_notice())

    def _set_theme(self, theme: Theme) -> None:
        self._window.set_theme(theme)
        self._show_look()  # another window may have chosen it

    def _set_model(self, model: ModelState) -> None:
        self._window.status.set_model(model)
        self._window.settings.set_model(model)
        self._show_situation()

    def _set_library(self, library: LibraryState) -> None:
        window = self._window
        window.status.set_library(library)
        window.library.set_library(library)
        window.settings.set_library(library)
        window.set_library_name(library.name)
        self._show_notice()
        window.inspector.query.set_sample(library.sample)
        if library.phase == "none":
            window.show_page("welcome")
        elif window.page == "welcome":
            window.show_page("inspector")
            window.inspector.query.focus_field()
        self._show_situation()
        self.commands.refresh()

    def _show_notice(self) -> None:
        """What is wrong beside the library itself; of an answer's files, where an answer is shown."""
        notice, page = self._session.shelf.library.notice, self._window.page
        of_answer = notice is not None and any(step.action == "reindex-answer" for step in notice.steps)
        self._window.notice.show_problem(None if of_answer and page not in ANSWER_PAGES else notice)

    def _set_work(self, work: WorkState) -> None:
        self._window.work.show_work(work)
        self._window.library.set_working(work.active)
        self._show_situation()
        self.commands.refresh()

    def _set_answer(self, answer: AnswerState) -> None:
        window = self._window
        if answer.trace is not None and not window.inspector.query.field.hasFocus():
            window.inspector.query.set_question(answer.question)
        window.status.set_answer(answer)
        if answer.phase == "asking" and answer.trace is None:
            self._searching.start()
        else:
            self._searching.stop()
            self._show_situation()
        self.commands.refresh()

    def _set_settings(self, settings: Settings) -> None:
        self._window.inspector.query.set_settings(settings)
        self._window.settings.set_settings(settings)
        self.commands.refresh()

    def _set_scope(self, scope: Scope) -> None:
        self._window.inspector.query.set_scope(scope)
        self._window.library.set_scope(scope)
        self._window.inspector.lanes.set_preferred(scope.preferred)
        self.commands.refresh()

    def _show_situation(self) -> None:
        """The answer, or what stands in its place; on the other pages the library, or what stands in its place."""
        session, page = self._session, self._window.inspector
        answer, library = session.inquiry.answer, session.shelf.library
        missing = library_standing(library, session.model, session.shelf.work)
        self._window.library.set_standing(missing)
        self._window.history.set_standing(missing, none=library.phase == "none")
        standing = situation(answer, library, session.model, session.shelf.work)
        if standing is not None:
            samples = library.sample and answer.phase == "no_question" and bool(library.documents)
            page.show_situation(standing, samples=samples)
        elif answer.phase == "answered" and answer.trace is not None:
            page.show_answer(answer.trace, answer.before)

    def _sample_question_chosen(self, question: SampleQuestion) -> None:
        query = self._window.inspector.query
        query.set_question(question.text)
        query.set_sample_question(question)
        self._window.show_page("inspector")

    # --- what the user does -------------------------------------------------------------------------------------

    def _views_to_intents(self) -> None:
        window, session = self._window, self._session
        inquiry = session.inquiry
        query = window.inspector.query
        query.typed.connect(self._typed)
        query.entered.connect(inquiry.ask)
        query.settingChanged.connect(inquiry.change_setting)
        query.settingsReset.connect(inquiry.reset_settings)
        query.onlyFileCleared.connect(lambda: inquiry.only_file(None))
        query.leftOutCleared.connect(lambda doc_id: inquiry.leave_out(doc_id, False))
        query.preferredCleared.connect(lambda doc_id: inquiry.prefer(doc_id, False))
        window.inspector.sampleQuestionChosen.connect(self._use_sample_question)
        window.inspector.detailWanted.connect(lambda: self.commands.show_detail(True))
        window.inspector.stepChosen.connect(window.actions_.trigger)

        lanes, detail = window.inspector.lanes, window.inspector.detail
        lanes.applySetting.connect(inquiry.change_setting)
        lanes.leaveOutRequested.connect(inquiry.leave_out)
        lanes.onlyFileRequested.connect(lambda doc_id: inquiry.only_file(doc_id or None))
        lanes.preferRequested.connect(inquiry.prefer)
        detail.documentRequested.connect(session.show_document)
        detail.pageWanted.connect(session.show_page)
        detail.openAtRequested.connect(self.commands.open_at)
        for part in (detail, window.library):
            part.copyRequested.connect(self.commands.to_clipboard)
        library = window.library
        library.documentRequested.connect(session.show_document)
        library.leaveOutRequested.connect(inquiry.leave_out)
        library.onlyFileRequested.connect(self._search_only_in)
        library.addFolderRequested.connect(lambda: window.actions_.trigger("add-folder"))
        library.reindexRequested.connect(lambda: window.actions_.trigger("reindex"))
        library.reindexRootRequested.connect(lambda path: session.reindex_root(Path(path)))
        library.forgetRequested.connect(self.commands.forget_root)
        library.stepChosen.connect(window.actions_.trigger)
        library.name_reindex(window.actions_["reindex"].toolTip())
        window.history.stepChosen.connect(window.actions_.trigger)
        for part in (lanes, detail, library):
            part.openRequested.connect(self.commands.open_file)
            part.revealRequested.connect(self.commands.reveal)

        settings = window.settings
        settings.settingChanged.connect(inquiry.change_setting)
        settings.schemeChosen.connect(self.commands.set_scheme)
        settings.zoomChosen.connect(self.commands.set_zoom)
        settings.stepChosen.connect(window.actions_.trigger)
        self.commands.look_changed.connect(self._show_look)
        window.welcome.sampleWanted.connect(lambda: window.actions_.trigger("open-sample"))
        window.welcome.folderWanted.connect(lambda: window.actions_.trigger("add-folder"))
        window.notice.stepChosen.connect(window.actions_.trigger)
        window.work.stepChosen.connect(window.actions_.trigger)
        window.work.cancelRequested.connect(session.shelf.cancel)
        window.work.told.connect(window.status.say)
        window.work.dismissed.connect(session.shelf.dismiss)
        window.status.modelClicked.connect(self._model_clicked)
        window.status.libraryClicked.connect(lambda: window.show_page("library"))
        window.foldersDropped.connect(session.add_folders)
        window.dropRefused.connect(window.status.say)
        window.on_close(session.close)

    def _typed(self, text: str) -> None:
        self._window.inspector.query.set_sample_question(None)
        self._session.type(text)

    def _use_sample_question(self, question: SampleQuestion) -> None:
        self._window.show_page("inspector")
        self._session.use_sample_question(question)

    def _search_only_in(self, doc_id: str) -> None:
        self._session.inquiry.only_file(doc_id)
        self._window.show_page("inspector")
        self._window.inspector.query.focus_field()

    def _model_clicked(self) -> None:
        failed = self._session.model.phase == "failed"
        self._window.actions_.trigger("restart-model" if failed else "page-settings")

    def _tell(self, words: str) -> None:
        if words:
            self._window.status.say(words)

    def _show_look(self) -> None:
        choices = self._preferences.choices
        self._window.settings.set_look(choices.scheme, choices.zoom)
        self._window.actions_[f"scheme-{choices.scheme}"].setChecked(True)
        self._window.actions_["zoom-in"].setEnabled(choices.zoom < ZOOMS[-1])
        self._window.actions_["zoom-out"].setEnabled(choices.zoom > ZOOMS[0])
