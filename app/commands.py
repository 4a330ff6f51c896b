"""What each command of the window does, and when it can be given."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QUndoCommand
from PySide6.QtWidgets import QApplication

from app import desktop
from app.main_window import PAGES, MainWindow
from app.preferences import ZOOMS, Preferences
from app.session import Session
from app.state import Problem, Scope
from app.theme import ThemeWatch
from app.undoing import Undoing
from app.views.setting_controls import is_changed
from pipeline.cli import OpenRequest
from pipeline.records import Location, Trace
from pipeline.words.phrases import file_name
from pipeline.words.plain import first_words, one_line, visible_json

if TYPE_CHECKING:
    from app.dialogs import Dialogs
    from app.menus import Menus
    from app.views.command_palette import CommandPalette

COLOUR_SCHEMES = {
    "system": None,
    "light": Qt.ColorScheme.Light,
    "dark": Qt.ColorScheme.Dark,
    "contrast-light": Qt.ColorScheme.Light,
    "contrast-dark": Qt.ColorScheme.Dark,
}


class PageUndo(Protocol):
    """What is undone and done again on a page that has its own decisions; the words are "" for nothing."""

    @property
    def undo_text(self) -> str: ...

    @property
    def redo_text(self) -> str: ...

    def undo(self) -> None: ...

    def redo(self) -> None: ...


class Commands(QObject):
    """The actions' handlers."""

    look_changed = Signal()
    new_window_wanted = Signal(object)  # pipeline.cli.OpenRequest

    def __init__(
        self,
        window: MainWindow,
        session: Session,
        preferences: Preferences,
        watch: ThemeWatch,
        dialogs: Dialogs,
        menus: Menus,
        palette: CommandPalette,
        undoing: Undoing,
    ) -> None:
        super().__init__(window)
        self._undoing = undoing
        self._trouble: Problem | None = None
        self._page_undo: dict[str, PageUndo] = {}
        self._window, self._session, self._preferences = window, session, preferences
        self._watch, self._dialogs, self._menus, self._palette = watch, dialogs, menus, palette
        on = window.actions_.on
        on("open-library", self._open_library)
        on("add-folder", self._add_folder)
        on("reindex", session.reindex)
        on("reindex-full", lambda: session.reindex(full=True))
        on("open-sample", self._open_sample)
        on("new-window", self._new_window)
        on("close-window", window.close)
        on("quit", QApplication.closeAllWindows)
        on("undo", self._undo)
        on("redo", self._redo)
        undoing.changed.connect(self.name_undo)
        window.pageShown.connect(self.name_undo)
        on("copy", self._copy)
        on("copy-projection", self._copy_projection)
        on("focus-query", self._focus_query)
        on("clear-query", window.inspector.query.field.clear)
        on("reset-settings", session.inquiry.reset_settings)
        on("search-everything", self._search_everything)
        for page in PAGES:
            on(f"page-{page}", partial(self._show_page, page))
        on("toggle-detail", lambda: self.show_detail(window.actions_["toggle-detail"].isChecked()))
        on("present", self._present)
        on("zoom-in", lambda: self._zoom_by(1))
        on("zoom-out", lambda: self._zoom_by(-1))
        on("zoom-reset", lambda: self.set_zoom(100))
        for scheme in COLOUR_SCHEMES:
            on(f"scheme-{scheme}", partial(self.set_scheme, scheme))
        on("palette", lambda: palette.choose_from(tuple(menus.commands())))
        on("shortcuts", lambda: dialogs.shortcuts(window.actions_))
        on("about", self._about)
        on("cancel-work", session.shelf.cancel)
        on("open-place", self._open_at_place)
        on("reveal-library", self._reveal_library)
        on("restart-model", lambda: session.start_model(anew=True))
        on("retry", session.retry)
        on("retry-work", session.shelf.retry)
        on("copy-details", self._copy_details)
        window.actions_["toggle-detail"].setChecked(True)
        self.name_undo()
        self.refresh()

    def refresh(self) -> None:
        """Only what is possible now can be given."""
        session = self._session
        library, work = session.shelf.library, session.shelf.work
        answer, scope = session.inquiry.answer, session.inquiry.scope
        answered, saved = answer.trace is not None, answer.saved is not None
        possible = {
            "reindex": bool(library.roots) and not work.active,
            "reindex-full": bool(library.roots) and not work.active,
            "copy-projection": answered,
            "present": answered,
            "clear-query": bool(answer.question) and not saved,
            "reset-settings": not saved
            and any(is_changed(entry) for entry in session.inquiry.settings.in_force.values()),
            "search-everything": scope.narrowed and not saved,
            "cancel-work": work.active,
            "retry-work": work.phase == "failed",
            "reveal-library": library.folder is not None,
            "open-place": answered,
            "copy-details": bool(self._details()),
        }
        for action, enabled in possible.items():
            self._window.actions_[action].setEnabled(enabled)
        self.name_undo()

    # --- windows ------------------------------------------------------------------------------------------------

    def _new_window(self) -> None:
        library = self._session.shelf.library
        self.new_window_wanted.emit(OpenRequest(library.folder, sample=library.sample))

    # --- taking back --------------------------------------------------------------------------------------------

    def undo_on_page(self, page: str, own: PageUndo) -> None:
        """On this page undo and redo mean its own decisions."""
        self._page_undo[page] = own

    def can_take_back(self, change: QUndoCommand) -> None:
        """This was done by the user, beside the question's own changes; it can be taken back in its turn."""
        self._undoing.stack.push(change)

    def name_undo(self, *_: object) -> None:
        """The menu says what would be taken back."""
        own, stack = self._page_undo.get(self._window.page), self._undoing.stack
        texts = (own.undo_text, own.redo_text) if own is not None else (stack.undoText(), stack.redoText())
        for (name, word), text in zip((("undo", "Undo"), ("redo", "Redo")), texts, strict=True):
            action = self._window.actions_[name]
            action.setText(f"{word}: {one_line(text, 70)}".replace("&", "&&") if text else word)
            action.setEnabled(bool(text) and (own is not None or self._session.inquiry.answer.saved is None))

    def _undo(self) -> None:
        own = self._page_undo.get(self._window.page)
        if own is not None:
            own.undo()
            return
        text = self._undoing.stack.undoText()
        self._undoing.stack.undo()
        self._window.status.say(f"Taken back: {one_line(text)}")

    def _redo(self) -> None:
        own = self._page_undo.get(self._window.page)
        if own is not None:
            own.redo()
            return
        text = self._undoing.stack.redoText()
        self._undoing.stack.redo()
        self._window.status.say(f"Done again: {one_line(text)}")

    # --- files --------------------------------------------------------------------------------------------------

    def _open_library(self) -> None:
        folder = self._dialogs.folder("Open a library, or choose an empty folder for a new one")
        if folder is None:
            return
        known = (folder / "library.sqlite3").exists()
        if not known and any(folder.iterdir()):
            self._window.status.say(
                f"“{folder.name}” is no library and not empty. To search its files, add it as a folder instead."
            )
            return
        self._session.open_library(folder)

    def _add_folder(self) -> None:
        folder = self._dialogs.folder("Add a folder of documents")
        if folder is not None:
            self._session.add_folders((folder,))

    def _open_sample(self) -> None:
        self._session.open_sample()

    def forget_root(self, path: str, label: str) -> None:
        """Take a folder out of the library, once the user has said so twice."""
        if self._dialogs.confirm(
            f"Forget the folder “{label}”?",
            f"{path}\n\nIts documents are taken out of the library. The files themselves are not touched; to have "
            "them back, add the folder again.",
            "Forget the folder",
        ):
            self._session.shelf.forget_root(path)

    # --- the clipboard ------------------------------------------------------------------------------------------

    def _copy(self) -> None:
        if self._window.page == "library":
            document = self._window.library.current_document()
            if document is not None:
                self.to_clipboard(document.path, "the path")
            return
        if self._window.page == "compare":
            row = self._window.compare.copied()
            if row is not None:
                self.to_clipboard(*row)
            return
        if self._window.page == "history":
            rows = self._window.history.copied()
            if rows is not None:
                self.to_clipboard(*rows)
            return
        if self._window.page == "duplicates":
            text, what = self._window.duplicates.copied()
            if text:
                self.to_clipboard(text, what)
            return
        copied = self._window.inspector.detail.copied()
        if copied is not None and self._window.page == "inspector":
            self.to_clipboard(*copied)

    def _copy_projection(self) -> None:
        trace = self._session.inquiry.answer.trace
        if trace is not None:
            self.to_clipboard(projection_json(trace), "what the agent reads")

    def _copy_details(self) -> None:
        self.to_clipboard(self._details(), "the details")

    def say_trouble(self, problem: Problem) -> None:
        """Show what went wrong just now, until it is closed: beside what is said of the library, which comes anew with
        every look at it."""
        self._trouble = problem
        self._window.trouble.show_problem(problem)
        self.refresh()

    def to_clipboard(self, text: str, what: str) -> None:
        """Copy this text, and say what it is."""
        QGuiApplication.clipboard().setText(text)
        self._window.status.say(f"Copied {what}")

    def _details(self) -> str:
        session = self._session
        problems = (
            self._trouble if self._window.trouble.isVisibleTo(self._window) else None,
            session.inquiry.answer.problem,
            session.shelf.work.problem,
            session.shelf.library.problem,
            session.model.problem,
        )
        return next((problem.details for problem in problems if problem is not None and problem.details), "")

    # --- moving about -------------------------------------------------------------------------------------------

    def _show_page(self, page: str) -> None:
        saved = self._session.inquiry.answer.saved is not None
        if page == "inspector" and self._session.shelf.library.phase == "none" and not saved:
            page = "welcome"
        self._window.show_page(page)

    def _focus_query(self) -> None:
        if self._session.shelf.library.phase == "none":
            self._window.show_page("welcome")
            self._window.status.say("A question is asked of a library: add a folder, or open the sample, first")
        else:
            self._session.inquiry.show_live()  # who asks, asks the library
            self._window.show_page("inspector")
            self._window.inspector.query.focus_field()

    def show_detail(self, wanted: bool) -> None:
        """Show the document below the lanes, or give the lanes its place."""
        self._window.actions_["toggle-detail"].setChecked(wanted)
        self._window.inspector.show_detail(wanted)

    def _search_everything(self) -> None:
        self._session.inquiry.set_scope(Scope(preferred=self._session.inquiry.scope.preferred))

    def _reveal_library(self) -> None:
        folder = self._session.shelf.library.folder
        if folder is not None:
            said = desktop.reveal(str(folder))
            if said:
                self._window.status.say(said)

    def open_file(self, path: str) -> None:
        """Open the file with its own program."""
        self._tell(self._not_ours(path) or desktop.open_file(path))

    def reveal(self, path: str) -> None:
        """Show the file in its folder."""
        self._tell(self._not_ours(path) or desktop.reveal(path))

    def _not_ours(self, path: str) -> str:
        """Why a file that a saved trace names is not touched; "" for one that the open library holds. Whoever wrote
        the trace chose its paths: one of them may be a program, or lie on a computer of theirs."""
        session = self._session
        if session.inquiry.answer.saved is None or path in {each.path for each in session.shelf.library.documents}:
            return ""
        return f"Not opened: this file of the saved trace is not in the open library ({one_line(path, 200)})"

    def _tell(self, words: str) -> None:
        if words:
            self._window.status.say(words)

    def open_at(self, place: Location) -> None:
        """Open the file with its own program, at this place where that program can do so; else say the place."""
        if refusal := self._not_ours(place.path):
            self._tell(refusal)
            return
        opened = desktop.open_at(place.path, place.page_first)
        where = f"page {place.page_first}" if place.page_first is not None else ""
        if opened.problem:
            self._window.status.say(opened.problem)
        elif opened.there:
            self._window.status.say(f"Opened {file_name(place.path)} at {where}")
        elif where:
            self._window.status.say(
                f"Opened {file_name(place.path)}; the passage is on {where} (its program cannot be told the page)"
            )
        else:
            self._window.status.say(f"Opened {file_name(place.path)}; the passage begins “{self._first_words()}”")

    def _open_at_place(self) -> None:
        place = self._window.inspector.detail.shown_place()
        if place is not None:
            self.open_at(place)

    def _first_words(self) -> str:
        subject = self._window.inspector.detail.subject
        return first_words(subject.text, 48) if subject is not None else ""

    def _about(self) -> None:
        self._dialogs.about(self._session.model.name, str(self._session.shelf.library.folder or ""))

    def _present(self) -> None:
        trace = self._session.inquiry.answer.trace
        if trace is not None:
            from app.models.slides import slides_of  # once, when it is asked for

            self._window.start_presenting(slides_of(trace), one_line(" ".join(trace.query.split())))

    # --- the look -----------------------------------------------------------------------------------------------

    def set_scheme(self, scheme: str) -> None:
        """Light, dark, either in high contrast, or as the system."""
        self._preferences.change(scheme=scheme)
        self._watch.set_scheme(COLOUR_SCHEMES[scheme], is_high_contrast(scheme))
        self.look_changed.emit()

    def set_zoom(self, percent: int) -> None:
        """All text in this share of the system's size."""
        self._preferences.change(zoom=percent)
        self._watch.set_scale(percent / 100)
        self.look_changed.emit()

    def _zoom_by(self, steps: int) -> None:
        at = ZOOMS.index(self._preferences.choices.zoom) + steps
        self.set_zoom(ZOOMS[max(0, min(len(ZOOMS) - 1, at))])


def is_high_contrast(scheme: str) -> bool:
    """Whether this name of a scheme asks for high contrast."""
    return scheme.startswith("contrast-")


def projection_json(trace: Trace) -> str:
    """The projection as the agent receives it."""
    from pipeline.trace import to_json  # once, when it is asked for

    return visible_json(json.dumps(to_json(trace)["projected"], indent=2, ensure_ascii=False))
