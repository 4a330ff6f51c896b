"""Runs that were saved: opened from a file, shown without their library, asked again in this one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.features.comparing_asking import Asking
from app.features.ground import Ground
from app.jobs.ends import End
from app.problems import problem_of
from app.state import AnswerState, NextStep, Problem, SavedRun
from pipeline.errors import TraceFileError
from pipeline.records import Trace
from pipeline.words.comparing import saved_settings_words, saved_words
from pipeline.words.plain import one_line

_KINDS = "Saved traces (*.json);;All files (*)"
_OTHER = NextStep("Open another one…", "open-trace")
_CLOSE = NextStep("Close this message", "dismiss-notice")


@dataclass(frozen=True, slots=True)
class Opened:
    """A trace that was read from its file. `modified` is the file's own time, seconds since 1970."""

    file: Path
    trace: Trace
    modified: float


def read(files: tuple[Path, ...]) -> tuple[Opened, ...]:
    """Runs in a thread. Raises `TraceFileError`."""
    from pipeline.export.trace_file import read_trace

    opened = []
    for file in files:
        trace = read_trace(file)
        try:
            modified = file.stat().st_mtime
        except OSError as error:
            raise TraceFileError(f"{file} cannot be read: {error.strerror or error}") from error
        opened.append(Opened(file, trace, modified))
    return tuple(opened)


class SavedRuns(QObject):
    """Reads saved traces, and keeps the inspector honest while one of them is shown."""

    opened = Signal(object)  # tuple[Opened, ...]

    def __init__(self, ground: Ground, asking: Asking, parent: QObject) -> None:
        super().__init__(parent)
        self._ground, self._asking = ground, asking
        self._shown: SavedRun | None = None
        window, inquiry = ground.window, ground.session.inquiry
        window.actions_.on("open-trace", self._choose)
        window.actions_.on("close-trace", inquiry.show_live)
        window.actions_.on("dismiss-notice", self._dismiss)
        window.tracesDropped.connect(self.open)
        for notice in (window.inspector.given, window.trouble):
            notice.stepChosen.connect(window.actions_.trigger)
        # Texts of the library's documents are not those of the saved run's, and the other way round.
        inquiry.shown_differently.connect(lambda: window.inspector.detail.set_trace(None))
        inquiry.answer_changed.connect(self._answer_changed)
        ground.session.shelf.library_changed.connect(lambda library: self._say())
        ground.session.model_changed.connect(lambda model: self._say())
        self._say()

    # --- opening ----------------------------------------------------------------------------------------------------

    def _choose(self) -> None:
        file = self._ground.dialogs.open_file("Open a saved trace", _KINDS)
        if file is not None:
            self.open((file,))

    def open(self, files: tuple[Path, ...]) -> None:
        """Read these files in a thread and tell what they hold."""
        name = one_line(files[0].name, 80)
        self._ground.window.status.say(f"Reading “{name}”…")
        self._ground.crew.look("reading a saved trace", lambda: read(files), self._read)

    def _read(self, end: End[Any]) -> None:
        if end.how == "cancelled":  # another one was opened meanwhile
            return
        if end.how == "failed":
            self._ground.window.status.say("The saved trace could not be opened")
            self._ground.window.trouble.show_problem(_trouble(end))
            return
        self._dismiss()
        assert end.value is not None
        names = " and ".join(f"“{one_line(one.file.name, 80)}”" for one in end.value)
        self._ground.window.status.say(f"Opened {names}")
        self.opened.emit(end.value)

    def _dismiss(self) -> None:
        self._ground.window.trouble.show_problem(None)

    # --- showing ----------------------------------------------------------------------------------------------------

    def show(self, trace: Trace, name: str, when: str, file: Path | None = None) -> None:
        """Show this run in the inspector, as it was."""
        self._ground.session.inquiry.show_saved(trace, SavedRun(name, when, file))
        self._ground.window.show_page("inspector")

    def _answer_changed(self, answer: AnswerState) -> None:
        if answer.saved == self._shown and answer.saved is None:
            return
        left = self._shown is not None and answer.saved is None
        self._shown = answer.saved
        query = self._ground.window.inspector.query
        query.set_saved(saved_settings_words(answer.trace) if answer.saved is not None and answer.trace else None)
        if answer.question or left:
            query.set_question(answer.question)
        self._say()
        if left and self._ground.session.shelf.library.phase == "none" and self._ground.window.page == "inspector":
            self._ground.window.show_page("welcome")

    def _say(self) -> None:
        """The line above the lanes: what is shown, what cannot be done with it, and the ways on."""
        actions, answer = self._ground.window.actions_, self._ground.session.inquiry.answer
        saved, trace = answer.saved, answer.trace
        shown = saved is not None and trace is not None
        actions["close-trace"].setEnabled(shown)
        actions["rerun-trace"].setEnabled(shown and self._asking.possible)
        if saved is None or trace is None:
            self._ground.window.inspector.given.show_problem(None)
            return
        title, text = saved_words(trace, saved.name, saved.when, from_file=saved.file is not None)
        library = self._ground.session.shelf.library
        back = NextStep("Back to the library" if library.phase != "none" else "Close it", "close-trace")
        steps = (NextStep("Re-run against this library", "rerun-trace"), back) if self._asking.possible else (back,)
        if not self._asking.possible:
            text += " " + _why_not_again(library.phase, bool(library.documents), self._ground.session.model.phase)
        self._ground.window.inspector.given.show_problem(Problem(title, text, steps))


def _why_not_again(library: str, documents: bool, model: str) -> str:
    if library in ("none", "missing", "failed"):
        return "Open a library to ask it again."
    if library == "open" and not documents:
        return "This library is empty: it cannot be asked again here."
    if model == "failed":
        return "The model does not answer: it cannot be asked again."
    return "It can be asked again as soon as the library is open and the model loaded."


def _trouble(end: End[Any]) -> Problem:
    if isinstance(end.error, TraceFileError):
        said = one_line(str(end.error), 600)
        return Problem("This saved trace cannot be opened", f"{said[:1].upper()}{said[1:]}.", (_OTHER, _CLOSE))
    problem = problem_of(end.error, end.details)
    return Problem(problem.title, problem.text, (_OTHER, _CLOSE), problem.details)
