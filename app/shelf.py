"""The library's side of the session: which library is open, what it holds, and the long work that changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.jobs.backend import Thoroughness
from app.jobs.crew import Crew
from app.jobs.ends import End
from app.problems import problem_of
from app.state import LibraryState, NextStep, Problem, WorkState

POLL_MS = 100
REFRESH_MS = 2_000
SOON_MS = 250  # while a library is being made and holds nothing yet: its user waits to ask it something
USUAL = Thoroughness()


class Shelf(QObject):
    """Opens libraries, keeps their status fresh, and runs one writing job at a time."""

    library_changed = Signal(object)  # LibraryState
    work_changed = Signal(object)  # WorkState
    work_ended = Signal(object)  # WorkState, once a job
    refused = Signal(str)  # why an intent was not followed, in words

    def __init__(
        self,
        crew: Crew,
        notice_for: Callable[[LibraryState], Problem | None] = lambda library: None,
        parent: QObject | None = None,
    ) -> None:
        """`notice_for` says what is wrong with a library beside the library itself, such as its settings file."""
        super().__init__(parent)
        self._crew = crew
        self._notice_for = notice_for
        self.library = LibraryState()
        self.work = WorkState()
        self._model_ready = False
        self._opening = 0
        self._last: tuple[str, Callable[[], bool], bool] | None = None  # what `retry` does again
        self._held_back: Callable[[], None] | None = None  # work that waits for the model
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self._look_at_progress)
        self._refresh = QTimer(self)  # while something is being written
        self._refresh.setSingleShot(True)
        self._refresh.timeout.connect(self.refresh)

    # --- intents ------------------------------------------------------------------------------------------------

    def open(self, folder: Path, *, sample: bool = False) -> bool:
        """Open the library in this folder; False, with the reason told, while work on another one is under way."""
        if self.work.active and self.library.folder != folder:
            self.refused.emit("Wait until the indexing is done, or cancel it, before opening another library.")
            return False
        self._opening += 1
        if not self._crew.backend.exists(folder):
            self._tell(LibraryState("missing", folder, sample))
            return True
        self._tell(LibraryState("opening", folder, sample))
        self.refresh()
        return True

    @Slot()
    def refresh(self) -> None:
        """Read anew what the library holds."""
        folder, opening, during = self.library.folder, self._opening, self.work.active
        if folder is not None and self._crew.backend.exists(folder):
            self._crew.read_status(folder, lambda end: self._status_read(opening, during, end))
        elif self.work.active:
            self._look_again()

    def _look_again(self) -> None:
        self._refresh.start(REFRESH_MS if self.library.documents else SOON_MS)

    def index(self, folders: tuple[Path, ...] = (), how: Thoroughness = USUAL) -> bool:
        """Bring these folders up to date, new ones added as roots; without any, all roots."""
        library = self.library.folder
        if library is None:
            self.refused.emit("Open a library first.")
            return False
        return self._start(
            "Indexing", lambda: self._crew.index(library, folders, how, self._work_ended), needs_model=True
        )

    def begin_anew(self, folders: tuple[Path, ...] = ()) -> bool:
        """Keep the library's database aside and begin a new one with the same folders, or with these."""
        library = self.library.folder
        if library is None:
            return False

        def work(listen: Callable[[Any], None], token: Any) -> str:
            from pipeline.rebuild import begin_anew

            return f"The old database is kept as “{begin_anew(library, folders).aside.name}”"

        return self._start(
            "Keeping the library aside",
            lambda: self._crew.write("keeping the library aside", work, self._work_ended),
            needs_model=False,
        )

    def forget_root(self, path: str) -> bool:
        """Take a root out of the library."""
        library = self.library.folder
        if library is None:
            return False
        return self._start(
            "Forgetting the folder", lambda: self._crew.forget(library, path, self._work_ended), needs_model=False
        )

    def cancel(self) -> None:
        """Stop the work under way; what was committed stays."""
        if self.work.phase == "waiting":
            self._held_back = None
            self._end(replace(self.work, phase="cancelled"))
        elif self.work.phase == "running":
            self._crew.cancel_writing()
            self._show_work(replace(self.work, phase="cancelling"))

    def retry(self) -> None:
        """Do again what failed."""
        if self.work.phase == "failed" and self._last is not None:
            doing, start, needs_model = self._last
            self._start(doing, start, needs_model=needs_model)

    def dismiss(self) -> None:
        """The end of the last work was read."""
        if not self.work.active:
            self._show_work(WorkState())

    def set_model_ready(self, ready: bool) -> None:
        """Whether the model answers; work that waits for it starts now."""
        self._model_ready = ready
        if ready and self._held_back is not None:
            start, self._held_back = self._held_back, None
            start()

    def set_model_failed(self) -> None:
        """The model cannot be loaded: work that waits for it cannot be done."""
        if self._held_back is not None:
            self._held_back = None
            problem = Problem(
                "Nothing was indexed",
                "The model could not be loaded, and every text needs it once.",
                (NextStep("Start the model again", "restart-model"),),
            )
            self._end(replace(self.work, phase="failed", problem=problem))

    def reconsider(self) -> None:
        """What is wrong beside the library itself may have changed."""
        if self._notice_for(self.library) != self.library.notice:
            self._tell(self.library)

    # --- the library --------------------------------------------------------------------------------------------

    def _status_read(self, opening: int, during: bool, end: End[Any]) -> None:
        """`during`: it was read while a run was under way, whose end it cannot know."""
        if self.work.active:
            self._look_again()  # only now: reading the status of a large library takes its time
        if opening != self._opening or end.how == "cancelled":
            return
        now = self.library
        if end.how == "failed":
            if self.work.active:  # a library that is being made may not be readable yet
                return
            self._tell(LibraryState("failed", now.folder, now.sample, problem=problem_of(end.error, end.details)))
            return
        self._show_status(now, end.value, during=during)

    def show_given(self, folder: Path, status: Any, *, sample: bool) -> None:
        """Show this library as this status says it is."""
        self._show_status(LibraryState("opening", folder, sample), status)

    def _show_status(self, now: LibraryState, status: Any, *, during: bool = False) -> None:
        self._tell(
            replace(
                now,
                phase="open",
                facts=status.facts,
                model_fingerprint=status.model_fingerprint,
                roots=tuple(status.roots),
                documents=tuple(status.documents),
                counts=dict(status.counts),
                freshness=dict(status.freshness),
                passed_over=tuple(status.passed_over),
                left_out=dict(status.left_out),
                unfinished="" if during else status.unfinished,
                problem=None,
            )
        )

    def _tell(self, library: LibraryState) -> None:
        self.library = replace(library, notice=self._notice_for(library))
        self.library_changed.emit(self.library)

    # --- the work -----------------------------------------------------------------------------------------------

    def _start(self, doing: str, start: Callable[[], bool], *, needs_model: bool) -> bool:
        if self.work.active:
            self.refused.emit(f"{self.work.doing} is still under way. Wait for its end, or cancel it.")
            return False

        self._last = (doing, start, needs_model)

        def begin() -> None:
            if start():
                self._show_work(WorkState("running", doing))
                self._poll.start()
                self._look_again()

        if needs_model and not self._model_ready:
            self._held_back = begin
            self._show_work(WorkState("waiting", doing))
        else:
            begin()
        return True

    @Slot()
    def _look_at_progress(self) -> None:
        progress = self._crew.progress
        if self.work.active and progress != self.work.progress:
            self._show_work(replace(self.work, progress=progress))

    def _work_ended(self, end: End[Any]) -> None:
        self._poll.stop()
        self._refresh.stop()
        progress = self._crew.progress
        work = replace(self.work, progress=progress)
        if end.how == "failed":
            self._end(replace(work, phase="failed", problem=_about_work(problem_of(end.error, end.details))))
        elif end.how == "cancelled":
            self._end(replace(work, phase="cancelled"))
        else:
            said = end.value if isinstance(end.value, str) else ""
            self._end(replace(work, phase="done", report=None if said else end.value, said=said))

    def _end(self, work: WorkState) -> None:
        self._show_work(work)
        self.refresh()
        self.work_ended.emit(work)

    def _show_work(self, work: WorkState) -> None:
        self.work = work
        self.work_changed.emit(work)


def _about_work(problem: Problem) -> Problem:
    """The problem with its second try meaning the work, not the question or the library."""
    steps = (replace(step, action="retry-work") if step.action == "retry" else step for step in problem.steps)
    return replace(problem, steps=tuple(steps))
