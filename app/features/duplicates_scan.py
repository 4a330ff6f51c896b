"""Looking for duplicates: a scan in a thread, what it finds while it runs, thresholds raised afterwards, the cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.jobs.ends import End
from app.models.duplicate_state import DuplicatesState
from app.models.families import FamilyRow, rows_of
from app.problems import problem_of
from app.state import LibraryState, NextStep, Problem
from pipeline.duplicates.records import DuplicateSettings, DuplicatesReport, Family
from pipeline.progress import CancelToken, Progress

if TYPE_CHECKING:
    from app.jobs.crew import Crew

POLL_MS = 100
LIST_SECONDS = 0.5  # between two looks at the families found so far
CHEAP_DOCUMENTS = 2_000  # so many are looked at without being asked to
_LANE = "looking for duplicates"
_NARROW_LANE = "applying to duplicates"


@dataclass(frozen=True, slots=True)
class Found:
    """A report and its families as rows, both made in a thread."""

    report: DuplicatesReport
    rows: tuple[FamilyRow, ...]


class _Run:
    """A scan under way. Its thread writes, the window looks ten times a second, so that no flood of news can make it
    stutter."""

    def __init__(self) -> None:
        self.token = CancelToken()
        self.progress = Progress()
        self.rows: tuple[FamilyRow, ...] = ()  # what was found so far
        self._held: dict[str, FamilyRow] = {}  # by the family's key
        self._family_of: dict[str, str] = {}  # doc_id -> key
        self._rows_at = monotonic()

    def listen(self, progress: Progress) -> None:
        self.progress = progress

    def families(self, found: Sequence[Family]) -> None:
        """A family takes the place of every one told before that shares a document with it."""
        for row in rows_of(found):
            for member in row.family.members:
                self._held.pop(self._family_of.get(member.doc_id, ""), None)
                self._family_of[member.doc_id] = row.family.key
            self._held[row.family.key] = row
        if monotonic() - self._rows_at >= LIST_SECONDS:
            self.rows, self._rows_at = tuple(self._held.values()), monotonic()


class Scanning(QObject):
    """Owns what was found in the open library. `base` is the report as it was scanned, `state` what is shown of it."""

    changed = Signal(object)  # DuplicatesState

    def __init__(self, crew: Crew, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._crew = crew
        self.state = DuplicatesState()
        self.base: DuplicatesReport | None = None
        self._wanted = DuplicateSettings()  # what to look for
        self._least: float | None = None  # raised above what was looked for
        self._run: _Run | None = None
        self._measure_token = CancelToken()
        self._serial = 0
        self._owed = False
        self._model_ready = False
        self._library = LibraryState()
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self._look)
        self._again = QTimer(self)  # the measuring was overtaken by another question
        self._again.setSingleShot(True)
        self._again.setInterval(1_000)
        self._again.timeout.connect(self._measure)

    # --- the library ------------------------------------------------------------------------------------------------

    def set_library(self, library: LibraryState) -> None:
        """The library, or what is known of it, has changed."""
        other = library.folder != self._library.folder
        self._library = library
        if other:
            self._forget()
        if self._run is not None or (self.base is not None and library.phase != "failed"):
            self._tell(replace(self.state, stale=self._stale(), read_only=self._read_only()))
            return
        self._tell(_standing(library, self._wanted, self._read_only()))

    def set_model_ready(self, ready: bool) -> None:
        self._model_ready = ready
        if ready:
            self._measure()

    @property
    def cheap(self) -> bool:
        """Whether a scan costs so little that it need not be asked for."""
        return len(self._library.documents) <= CHEAP_DOCUMENTS

    @property
    def possible(self) -> bool:
        """Whether there is something to look at."""
        return self.state.phase in ("not_scanned", "scanned", "failed") and self._library.phase == "open"

    @property
    def scanning(self) -> bool:
        return self._run is not None

    @property
    def wanted(self) -> DuplicateSettings:
        """What is looked for, as it is in force."""
        least = self._least if self._least is not None else self._wanted.near
        return replace(self._wanted, near=max(self._wanted.near, least))

    @property
    def least(self) -> float:
        """The share from which on documents count as near: what is shown may be raised above it, not lowered."""
        return self._wanted.near

    def _stale(self) -> str:
        facts, base = self._library.facts, self.base
        if base is None or facts is None or facts.generation == base.generation:
            return ""
        return "Documents were indexed since. Looking again takes only what has changed."

    def _read_only(self) -> str:
        folder = self._library.folder
        if folder is None or not folder.is_dir() or os.access(folder, os.W_OK):
            return ""
        return f"The library in {folder} cannot be written to, so that no decision could be kept there."

    def _forget(self) -> None:
        """Another library: nothing of the one before counts."""
        self.stop()
        self._serial += 1
        self.base = None
        self._least = None
        self._run = None
        self._poll.stop()
        self._again.stop()

    # --- scanning ---------------------------------------------------------------------------------------------------

    def scan(self) -> None:
        """Look at the library; what is under way already goes on."""
        folder = self._library.folder
        if folder is None or self._run is not None or not self.possible:
            return
        self._serial += 1
        serial, settings = self._serial, self._wanted
        self._measure_token.cancel()
        run = self._run = _Run()
        self._tell(
            replace(
                self.state, phase="scanning", progress=Progress(), settings=self.wanted, problem=None, measuring=False
            )
        )
        self._poll.start()

        def work() -> Found:
            from pipeline.duplicates.deciding import decided_in
            from pipeline.duplicates.scan import scan_library

            report = scan_library(
                folder,
                settings,
                decided=decided_in(folder),
                progress=run.listen,
                cancel=run.token,
                on_families=run.families,
            )
            return Found(report, rows_of(report.families))

        self._crew.look(_LANE, work, lambda end: self._scanned(serial, end))

    def stop(self) -> None:
        """Stop looking, and measuring."""
        if self._run is not None:
            self._run.token.cancel()
        self._measure_token.cancel()

    @Slot()
    def _look(self) -> None:
        run = self._run
        if run is None:
            self._poll.stop()
            return
        state = replace(self.state, progress=run.progress)
        if self.base is None and run.rows is not self.state.rows:
            state = replace(state, rows=run.rows)
        if run.progress != self.state.progress or state.rows is not self.state.rows:
            self._tell(state)

    def _scanned(self, serial: int, end: End[Found]) -> None:
        if serial != self._serial:
            return
        self._run = None
        self._poll.stop()
        if end.how == "done" and end.value is not None:
            self.base = end.value.report
            self._show(end.value)
            if self._owed or self.wanted != self.base.settings:
                self.apply()  # something was changed while it ran
            self._measure()
        elif end.how == "cancelled":
            # What was found in part is no report: a family may still grow, and a head be another one.
            phase = "scanned" if self.base is not None else "not_scanned"
            rows = self.state.rows if self.base is not None else ()
            self._tell(replace(self.state, phase=phase, rows=rows, stale=self._stale()))
        else:
            self._tell(replace(self.state, phase="failed", problem=_about_scan(problem_of(end.error, end.details))))

    def _show(self, found: Found) -> None:
        self._tell(
            replace(
                self.state,
                phase="scanned",
                report=found.report,
                rows=found.rows,
                settings=self.wanted,
                stale=self._stale(),
                problem=None,
                narrowing=False,
            )
        )

    # --- without a new scan -----------------------------------------------------------------------------------------

    def set_least(self, least: float) -> None:
        """Only documents that share at least so much with their head."""
        raised = max(least, self._wanted.near)
        self._least = raised if raised > self._wanted.near else None
        self.apply()

    def set_settings(self, settings: DuplicateSettings) -> None:
        """Look for these from now on. Only likeness in meaning needs a new scan: pairs below every threshold that can
        be set are known from the last one."""
        held, base = self._wanted, self.base
        self._wanted, self._least = settings, None
        if base is None or self._run is not None:
            self._tell(replace(self.state, settings=self.wanted))
        elif settings.with_alike and (settings.with_alike, settings.alike) != (held.with_alike, held.alike):
            self.scan()
        else:
            self.apply()

    def apply(self) -> None:
        """Show the report under the thresholds, the rule and the decisions in force."""
        base, folder = self.base, self._library.folder
        self._owed = self._run is not None  # a scan that began before this does not know of it
        if base is None or folder is None or self._run is not None:
            return
        serial, wanted = self._serial, self.wanted
        contained = max(wanted.contained, self._least or 0.0)
        self._tell(replace(self.state, narrowing=True, settings=wanted))

        def work() -> Found:
            from pipeline.duplicates.deciding import decided_in
            from pipeline.duplicates.scan import at_least

            report = at_least(base, near=wanted.near, contained=contained, head=wanted.head, decided=decided_in(folder))
            return Found(report, rows_of(report.families))

        self._crew.look(_NARROW_LANE, work, lambda end: self._applied(serial, end))

    def _applied(self, serial: int, end: End[Found]) -> None:
        if serial != self._serial or self._run is not None:
            return
        if end.how == "done" and end.value is not None:
            self._show(end.value)
        elif end.how == "failed":
            self._tell(replace(self.state, narrowing=False, notice=problem_of(end.error, end.details)))

    # --- what copies cost -------------------------------------------------------------------------------------------

    @Slot()
    def _measure(self) -> None:
        """Ask real questions and count the places that copies take, once the model is there."""
        base, folder = self.base, self._library.folder
        if base is None or folder is None or not base.families or base.cost is not None or self._run is not None:
            return
        if not self._model_ready or self.state.measuring:
            return
        serial = self._serial
        token = self._measure_token = CancelToken()
        self._tell(replace(self.state, measuring=True))

        def work(engine: Any) -> DuplicatesReport:
            from pipeline.duplicates.cost import measured, questions_and_own

            questions, own = questions_and_own(folder)
            return measured(base, engine, questions, own=own, cancel=token)

        self._crew.study(folder, work, lambda end: self._measured(serial, token, end))

    def _measured(self, serial: int, token: CancelToken, end: End[DuplicatesReport]) -> None:
        if serial != self._serial:
            return
        self._tell(replace(self.state, measuring=False))
        if end.how == "done" and end.value is not None:
            self.base = end.value
            self.apply()
        elif end.how == "cancelled" and not token.cancelled:
            self._again.start()
        elif end.how == "failed":
            self._tell(replace(self.state, notice=_not_measured(problem_of(end.error, end.details))))

    def notice(self, problem: Problem | None) -> None:
        """Something beside the families went wrong, or is well again."""
        self._tell(replace(self.state, notice=problem))

    def working(self, words: str) -> None:
        """Something is being written, in words; "" when it is done."""
        self._tell(replace(self.state, working=words))

    def _tell(self, state: DuplicatesState) -> None:
        self.state = replace(state, folder=self._library.folder, sample=self._library.sample)
        self.changed.emit(self.state)


def _standing(library: LibraryState, settings: DuplicateSettings, read_only: str) -> DuplicatesState:
    """What a library is that was not looked at yet."""
    state = DuplicatesState(folder=library.folder, settings=settings, read_only=read_only)
    match library.phase:
        case "none":
            return replace(state, phase="no_library")
        case "opening":
            return replace(state, phase="opening")
        case "failed":
            return replace(state, phase="failed", problem=library.problem)
    held = any(document.chunks for document in library.documents)
    return replace(state, phase="not_scanned" if held else "no_documents")


def _about_scan(problem: Problem) -> Problem:
    """The problem with its second try meaning the scan."""
    steps = [step for step in problem.steps if step.action not in ("retry", "retry-work")]
    return replace(problem, steps=(NextStep("Look again", "scan-duplicates"), *steps))


def _not_measured(problem: Problem) -> Problem:
    return Problem("What copies cost was not measured", problem.text, problem.steps, problem.details)
