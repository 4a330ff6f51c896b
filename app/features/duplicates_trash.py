"""Files to the system's trash: planned, listed and asked about, carried out, told file by file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs.ends import End
from app.problems import problem_of
from app.state import Problem
from pipeline.progress import CancelToken, Progress
from pipeline.words.phrases import count

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.dialogs import Dialogs
    from app.jobs.crew import Crew
    from pipeline.duplicates.trash import TrashOutcome, TrashPlan

_LANE = "listing what would go to the trash"
_POLL_MS = 100


class Trashing(QObject):
    """One batch at a time."""

    working = Signal(str)  # what is being done, in words; "" when it is done
    told = Signal(str)
    failed = Signal(object)  # Problem
    done = Signal(object)  # TrashOutcome

    def __init__(self, crew: Crew, dialogs: Dialogs, window: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._crew, self._dialogs, self._window = crew, dialogs, window
        self._token = CancelToken()
        self.busy = False
        self._poll = QTimer(self)
        self._poll.setInterval(_POLL_MS)
        self._poll.timeout.connect(self._look)

    def ask(self, library: Path, doc_ids: Collection[str], still: Callable[[], bool]) -> None:
        """List what would go and what would be lost, and ask. `still` says whether the library is open yet."""
        if self.busy:
            self.told.emit("The trash is still at work.")
            return
        self._begin("Looking at the files and at what would be lost…")
        token, wanted = self._token, tuple(doc_ids)

        def work() -> TrashPlan:
            from pipeline.duplicates.trash import plan_trash

            return plan_trash(library, wanted, token=token)

        def planned(end: End[TrashPlan]) -> None:
            self._end()
            if end.how == "failed":
                self.failed.emit(_about_trash(problem_of(end.error, end.details)))
            elif end.value is not None and still():
                self._confirm(library, end.value)

        self._crew.look(_LANE, work, planned)

    def cancel(self) -> None:
        """Stop between two files."""
        self._token.cancel()
        if self._poll.isActive():
            self._crew.cancel_writing()

    def _confirm(self, library: Path, plan: TrashPlan) -> None:
        from app.views.trash_dialog import trash_dialog

        dialog = trash_dialog(plan, self._window)
        wanted, ticked = self._dialogs.ask(dialog), dialog.tick.isChecked()
        dialog.deleteLater()
        if wanted and plan.items:
            self._carry_out(library, plan, ticked)

    def _carry_out(self, library: Path, plan: TrashPlan, confirmed: bool) -> None:
        total = len(plan.items)

        def work(listen: Callable[[Progress], None], token: CancelToken) -> TrashOutcome:
            from pipeline.duplicates.trash import carry_out

            return carry_out(
                library,
                plan,
                confirmed_last_copies=confirmed,
                token=token,
                listen=lambda done, of, name: listen(Progress("moving", done, of, name)),
            )

        self._begin(f"Moving {count(total, 'file')} to the trash…")
        if self._crew.write("moving files to the trash", work, self._carried_out):
            self._poll.start()
        else:
            self._end()
            self.told.emit("Wait until the indexing is done, or cancel it, before files are moved.")

    def _carried_out(self, end: End[Any]) -> None:
        self._poll.stop()
        self._end()
        if end.how == "failed":
            self.failed.emit(_about_trash(problem_of(end.error, end.details)))
            return
        if end.value is None:
            return
        from app.views.trash_dialog import outcome_dialog

        self.done.emit(end.value)
        dialog = outcome_dialog(end.value, self._window)
        self._dialogs.ask(dialog)
        dialog.deleteLater()

    def _look(self) -> None:
        progress = self._crew.progress
        if progress.total:
            self.working.emit(f"Moving to the trash: {progress.done:,} of {count(progress.total, 'file')}")

    def _begin(self, words: str) -> None:
        self.busy = True
        self._token = CancelToken()
        self.working.emit(words)

    def _end(self) -> None:
        self.busy = False
        self.working.emit("")


def _about_trash(problem: Problem) -> Problem:
    return Problem("Nothing was moved to the trash", problem.text, (), problem.details)
