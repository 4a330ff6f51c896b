"""Decisions made in the window: in their order, in a thread, with undo, redo and the journal."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.jobs.ends import End
from app.models.duplicate_state import DecisionsState
from app.problems import problem_of
from app.state import Problem
from pipeline.errors import TwinspectError
from pipeline.words.phrases import count

if TYPE_CHECKING:
    from app.jobs.crew import Crew
    from pipeline.store.decisions import Batch

JOURNAL_LINES = 2_000
_LANE = "deciding about duplicates"


@dataclass(frozen=True, slots=True)
class _Order:
    """Something to be decided. `work` gives back what is said of it, "" for nothing."""

    library: Path
    work: Callable[[], str]
    decides: bool


@dataclass(frozen=True, slots=True)
class _Done:
    library: Path
    said: tuple[str, ...]
    decisions: DecisionsState
    decided: bool
    error: TwinspectError | None = None


class Deciding(QObject):
    """Decisions go into a file of their own beside the library, so that they never wait for an indexing run."""

    changed = Signal(object)  # DecisionsState
    decided = Signal()  # a decision was made, taken back or done again
    told = Signal(str)  # what was done, in words
    failed = Signal(object)  # Problem

    def __init__(self, crew: Crew, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._crew = crew
        self._library: Path | None = None
        self._orders: deque[_Order] = deque()
        self.state = DecisionsState()

    def set_library(self, library: Path | None) -> None:
        """Decide about this library from now on."""
        if library == self._library:
            return
        self._library = library
        self._tell(DecisionsState())
        self.read()

    def read(self) -> None:
        """Read anew what is decided; the journal of files whose moving was cut off is completed first."""
        library = self._library
        if library is not None:
            self._order(library, lambda: _settled(library))

    def decide(self, work: Callable[[Path], Any], said: str) -> None:
        """Do this with the library, after what was ordered before. `work` gives back a batch, or something else that
        tells whether anything was changed by being true."""
        library = self._library
        if library is None:
            return

        def decide() -> str:
            batch = work(library)
            return said if getattr(batch, "changes", batch) else "Nothing was changed: it was decided so already"

        self._order(library, decide, decides=True)

    def taken_in(self, batch: Batch) -> None:
        """Decisions came from a file."""
        self.told.emit(
            f"{count(batch.changes, 'decision')} taken in"
            if batch.changes
            else "Nothing was taken in that was not here"
        )
        self.read()
        self.decided.emit()

    def undo(self) -> None:
        self._turn(back=True)

    def redo(self) -> None:
        self._turn(back=False)

    def _turn(self, *, back: bool) -> None:
        library = self._library
        if library is None:
            return

        def turn() -> str:
            from pipeline.store.decisions import Decisions

            with closing(Decisions(library)) as decisions:
                batch = decisions.undo() if back else decisions.redo()
            if batch is None:
                return ""
            return f"{'Taken back' if back else 'Done again'}: {batch.saying}"

        self._order(library, turn, decides=True)

    def _order(self, library: Path, work: Callable[[], str], *, decides: bool = False) -> None:
        self._orders.append(_Order(library, work, decides))
        # A request that a newer one overtakes is not run, so each takes all that there is to do.
        self._crew.look(_LANE, self._work_off, self._worked_off)

    # --- in the thread ----------------------------------------------------------------------------------------------

    def _work_off(self) -> _Done | None:
        said: list[str] = []
        library: Path | None = None
        decided = False
        error: TwinspectError | None = None
        while self._orders:
            order = self._orders.popleft()
            library = order.library
            decided = decided or order.decides
            try:
                said.append(order.work())
            except TwinspectError as failure:
                error = failure
        if library is None:
            return None
        return _Done(library, tuple(filter(None, said)), decisions_of(library), decided, error)

    # --- in the window ----------------------------------------------------------------------------------------------

    def _worked_off(self, end: End[_Done | None]) -> None:
        if end.how == "failed":
            self.failed.emit(problem_of(end.error, end.details))
            return
        done = end.value
        if done is None or done.library != self._library:
            return
        self._tell(done.decisions)
        if done.error is not None:
            self.failed.emit(_about_decision(problem_of(done.error)))
        for words in done.said:
            self.told.emit(words)
        if done.decided:
            self.decided.emit()

    def _tell(self, state: DecisionsState) -> None:
        self.state = state
        self.changed.emit(state)


def decisions_of(library: Path) -> DecisionsState:
    """What is decided in this library."""
    from pipeline.duplicates.deciding import path_of_subject
    from pipeline.store.decisions import Decisions

    with closing(Decisions(library)) as decisions:
        undo, redo = decisions.next_undo(), decisions.next_redo()
        held = decisions.all()
        return DecisionsState(
            protected={path_of_subject(one.subject): one.name for one in held if one.kind == "protected"},
            counts=Counter(one.kind for one in held),
            journal=decisions.journal(JOURNAL_LINES),
            undo=undo.saying if undo is not None else "",
            redo=redo.saying if redo is not None else "",
        )


def _settled(library: Path) -> str:
    from pipeline.duplicates.trash import settle
    from pipeline.store.decisions import decisions_file

    if not decisions_file(library).exists():
        return ""
    settle(library)
    return ""


def _about_decision(problem: Problem) -> Problem:
    return Problem("This was not decided", problem.text, (), problem.details)
