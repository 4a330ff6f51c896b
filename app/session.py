"""The session: intents in, state out. It owns no widgets; views see its states, never the jobs behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.inquiry import Inquiry
from app.jobs.backend import Thoroughness
from app.jobs.crew import Crew, LoadModel, ReadText
from app.jobs.ends import End
from app.preferences import Preferences
from app.problems import problem_of
from app.sample import DOCUMENTS, SampleQuestion, doc_id_of, sample_root
from app.shelf import Shelf
from app.situations import SAVED_DOCUMENT
from app.state import AnswerState, LibraryState, ModelState, NextStep, Problem, Scope, WorkState
from pipeline.errors import SettingError
from pipeline.extract.records import PageWanted
from pipeline.records import Trace
from pipeline.settings import Layer, Settings, read_layer, resolve
from pipeline.words.phrases import count, file_name, listed, number


class Session(QObject):
    """One library, one question, one model. `inquiry` is the question's side, `shelf` the library's."""

    model_changed = Signal(object)  # ModelState
    document_arrived = Signal(object)  # pipeline.library.DocumentText
    document_failed = Signal(str, object)  # doc_id, Problem
    page_arrived = Signal(object, object)  # PageWanted, PagePicture
    page_failed = Signal(object, object)  # PageWanted, Problem
    refused = Signal(str)  # why an intent was not followed, in words
    sample_question_chosen = Signal(object)  # SampleQuestion, or None when the question is the user's own again

    def __init__(
        self,
        crew: Crew,
        preferences: Preferences,
        *,
        sample_library: Path,
        first_library: Path,
        layers: tuple[Layer, ...] = (),
        parent: QObject | None = None,
    ) -> None:
        """`sample_library` and `first_library` are where the sample's library and the user's first one are kept;
        `layers` are settings given at the start (a file, flags), over every library's own."""
        super().__init__(parent)
        self._crew = crew
        self._preferences = preferences
        self._sample_library = sample_library
        self._first_library = first_library
        self._layers = layers
        self.model = ModelState()
        self.inquiry = Inquiry(crew, self)
        self._model_started = False
        self._settings_problem: Problem | None = None
        self.shelf = Shelf(crew, self._notice, self)
        self._sample_wanted: SampleQuestion | None = None
        self._freshening_sample = False
        self.inquiry.refused.connect(self.refused)
        self.shelf.refused.connect(self.refused)
        self.inquiry.scope_changed.connect(self._remember_marks)
        self.shelf.library_changed.connect(self._library_changed)
        self.shelf.work_ended.connect(self._work_ended)

    # --- the model ----------------------------------------------------------------------------------------------

    def start_model(self, *, anew: bool = False) -> None:
        """Load the open library's model in the background; one that runs already is kept, unless `anew`."""
        self._model_started = True
        self._show_model(ModelState("loading"))
        self._crew.load_model(LoadModel(self.shelf.library.folder, anew), self._model_loaded)

    def _model_loaded(self, end: End[Any]) -> None:
        if end.how == "done" and end.value is not None:
            facts = end.value
            self._show_model(ModelState("ready", facts.name, facts.fingerprint, facts.dimension, facts.token_limit))
        elif end.how == "failed":
            problem = problem_of(end.error, end.details)
            if not problem.details:
                problem = Problem("The model cannot be loaded", problem.text, problem.steps)
            self._show_model(ModelState("failed", problem=problem))

    def _show_model(self, model: ModelState) -> None:
        self.model = model
        ready = model.phase == "ready"
        self.model_changed.emit(model)
        self.inquiry.set_model_ready(ready)
        self.shelf.set_model_ready(ready)
        if model.phase == "failed":
            self.shelf.set_model_failed()
        self.shelf.reconsider()

    # --- the library --------------------------------------------------------------------------------------------

    def open_library(self, folder: Path, *, sample: bool = False) -> None:
        """Open the library in this folder; one that is not there yet is made by the first folder added."""
        sample = sample or folder == self._sample_library
        left_out, preferred = self._preferences.marks(folder)
        if not self.shelf.open(folder, sample=sample):
            return
        settings, self._settings_problem = self._settings_for(folder)
        self.inquiry.set_library(folder, settings, Scope(None, left_out, preferred))
        self.inquiry.set_library_ready(self.shelf.library.phase == "open")
        if not sample:
            self._preferences.opened(folder)
        if self._model_started:
            self.start_model()  # this library may have been made with another one
        self.shelf.reconsider()

    def open_sample(self) -> None:
        """Open the built-in sample and bring it up to date: nothing to do unless it is new."""
        self.open_library(self._sample_library, sample=True)
        library = self.shelf.library
        if not library.sample or self.shelf.work.active:
            return
        if library.phase == "missing":
            self.shelf.index((DOCUMENTS,))
        else:
            self._freshening_sample = True  # once it is known what it holds

    def _freshen_sample(self, library: LibraryState) -> None:
        """Bring an older sample up to date: the program may have moved, or come with other documents."""
        elsewhere = [root for root in library.roots if root != sample_root(library.roots, DOCUMENTS)]
        if elsewhere:
            # Copies below another root would be cited beside the sample's own.
            self.shelf.forget_root(elsewhere[0].path)
            return  # this is called again when that is done
        self._freshening_sample = False
        held = {document.path for document in library.documents}
        same = held == {str(file) for file in DOCUMENTS.rglob("*") if file.is_file()}
        if not same or any(state != "fresh" for state in library.freshness.values()):
            self.shelf.index((DOCUMENTS,))

    def add_folders(self, folders: tuple[Path, ...]) -> None:
        """Add these folders to the open library and index them. What is no folder is refused in words."""
        for folder in folders:
            if not folder.is_dir():
                self.refused.emit(f"“{folder.name}” is not a folder. Add the folder that holds it.")
                return
        if self.shelf.library.folder is None or self.shelf.library.sample:
            # The sample stays as it is; a first folder needs a library to go into.
            self.open_library(self._own_library())
        if not self.shelf.library.sample:
            self.shelf.index(folders)

    def _own_library(self) -> Path:
        last = self._preferences.choices.last_library
        return Path(last) if last is not None else self._first_library

    def reindex(self, *, full: bool = False) -> None:
        """Bring every root up to date, trying again what failed; `full` reads every file again."""
        self.shelf.index((), Thoroughness(full, retry_failed=True))

    def reindex_root(self, path: Path) -> None:
        """Bring one root up to date."""
        self.shelf.index((path,), Thoroughness(retry_failed=True))

    def retry(self) -> None:
        """Try again what failed: opening the library, or the question."""
        if self.shelf.library.phase == "failed" and self.shelf.library.folder is not None:
            self.open_library(self.shelf.library.folder, sample=self.shelf.library.sample)
        elif self.inquiry.answer.phase == "failed":
            self.inquiry.ask_again()
        else:
            self.shelf.refresh()

    def _settings_for(self, folder: Path) -> tuple[Settings, Problem | None]:
        own = folder / "settings.toml"
        try:
            layers = (read_layer(own, section=None), *self._layers) if own.is_file() else self._layers
            return resolve(layers), None
        except SettingError as error:
            problem = Problem(
                "The library's own settings are not used", str(error), (NextStep("Show its folder", "reveal-library"),)
            )
            return resolve(self._layers), problem

    def _library_changed(self, library: LibraryState) -> None:
        self.inquiry.set_library_ready(library.phase == "open" and bool(library.documents))
        if library.phase == "open":
            if self._freshening_sample and library.sample and not self.shelf.work.active:
                self._freshen_sample(library)
            self._ask_wanted_sample_question()

    def _notice(self, library: LibraryState) -> Problem | None:
        """What is wrong beside the library itself: vectors of another model than the loaded one, or its settings."""
        if self.model.phase != "ready" or library.phase != "open" or not library.model_fingerprint:
            return self._settings_problem
        if library.model_fingerprint == self.model.fingerprint:
            work = self.shelf.work
            return self._settings_problem or _unfinished(library, work) or _outdated(self.inquiry.answer, work)
        made_with = library.facts.model if library.facts is not None else "another model"
        return Problem(
            "This library was made with another model",
            f"Its vectors are of {made_with}; the model in use is {self.model.name}. You can look at the documents, "
            "but not ask. Open another library, or index the folders into a new one.",
            (NextStep("Open another library…", "open-library"),),
        )

    def _work_ended(self, work: WorkState) -> None:
        untouched = work.report is not None and not work.report.wrote
        if work.phase == "cancelled" or (work.phase == "done" and not untouched):
            self.inquiry.ask_again()

    def _remember_marks(self, scope: Scope) -> None:
        folder = self.shelf.library.folder
        if folder is not None and not self.shelf.library.sample:
            self._preferences.mark(folder, scope.left_out, scope.preferred)

    # --- documents ----------------------------------------------------------------------------------------------

    def show_document(self, doc_id: str) -> None:
        """Read this document's text; it arrives with `document_arrived`, or its reason with `document_failed`."""
        folder = self.shelf.library.folder
        if self.inquiry.answer.saved is not None:
            self.document_failed.emit(doc_id, SAVED_DOCUMENT)
            return
        if folder is None:
            return

        def ended(end: End[Any]) -> None:
            if end.how == "done":
                self.document_arrived.emit(end.value)
            elif end.how == "failed":
                self.document_failed.emit(doc_id, problem_of(end.error, end.details))

        self._crew.read_text(ReadText(folder, doc_id), ended)

    def show_page(self, wanted: PageWanted) -> None:
        """Draw this page; it arrives with `page_arrived`, or the reason why it does not with `page_failed`."""
        if self.inquiry.answer.saved is not None:
            self.page_failed.emit(wanted, SAVED_DOCUMENT)
            return

        def ended(end: End[Any]) -> None:
            if end.how == "done":
                self.page_arrived.emit(wanted, end.value)
            elif end.how == "failed":
                self.page_failed.emit(wanted, problem_of(end.error, end.details))

        self._crew.draw_page(wanted, ended)

    # --- the sample ---------------------------------------------------------------------------------------------

    def use_sample_question(self, question: SampleQuestion) -> None:
        """Set up everything that this question needs, and ask it; the sample is opened first where it is not."""
        self._sample_wanted = question
        if not self.shelf.library.sample:
            self.open_sample()
        self._ask_wanted_sample_question()

    def _ask_wanted_sample_question(self) -> None:
        question, root = self._sample_wanted, sample_root(self.shelf.library.roots, DOCUMENTS)
        if question is None or root is None or not self.shelf.library.documents:
            return
        self._sample_wanted = None
        scope = Scope(
            None if question.only_file is None else doc_id_of(root, question.only_file),
            tuple(doc_id_of(root, path) for path in question.leave_out),
        )
        self.sample_question_chosen.emit(question)
        self.inquiry.set_up(question.text, dict(question.settings), scope)

    def type(self, text: str) -> None:
        """The user types a question of their own."""
        self._sample_wanted = None
        self.inquiry.type(text)

    def show_given(self, folder: Path, status: Any, trace: Trace) -> None:
        """Show this answer of this library as it is, without asking anything: for pictures."""
        sample = folder == self._sample_library
        self.shelf.show_given(folder, status, sample=sample)
        self._show_model(ModelState("ready", trace.library.model, status.model_fingerprint, trace.library.dimension))
        self.inquiry.show_given(folder, trace)

    # --- the end ------------------------------------------------------------------------------------------------

    def close(self) -> bool:
        """End every job; False when one could not be ended in time."""
        return self._crew.close()


def _outdated(answer: AnswerState, work: WorkState) -> Problem | None:
    """That files of the answer are not as they were indexed, unless they are being indexed."""
    if answer.phase != "answered" or answer.trace is None or answer.saved is not None or work.active:
        return None
    unlike = {
        traced.candidate.source_path: traced.freshness
        for traced in answer.trace.candidates
        if traced.freshness in ("changed", "missing")
    }
    if not unlike:
        return None
    changed = [path for path, state in unlike.items() if state == "changed"]
    missing = [path for path, state in unlike.items() if state == "missing"]
    said = []
    if changed:
        said.append(f"{count(len(changed), 'file')} of this answer changed")
    if missing:
        which = f"{number(len(missing))}" if changed else f"{count(len(missing), 'file')} of this answer"
        said.append(f"{which} {'is' if len(missing) == 1 else 'are'} missing")
    names = [f"{listed([file_name(path) for path in changed], 3)}"] if changed else []
    names += [f"missing: {listed([file_name(path) for path in missing], 3)}"] if missing and changed else []
    names += [listed([file_name(path) for path in missing], 3)] if missing and not changed else []
    return Problem(
        ", ".join(said),
        f"{'; '.join(names)}. The text shown is the indexed one.",
        (NextStep("Re-index and see what moved", "reindex-answer"),),
    )


def _unfinished(library: LibraryState, work: WorkState) -> Problem | None:
    """That the last indexing was cancelled or killed, unless one is under way."""
    if not library.unfinished or work.active:
        return None
    said = library.unfinished
    return Problem("Not all files were read", said[0].upper() + said[1:] + ".", (NextStep("Re-index", "reindex"),))
