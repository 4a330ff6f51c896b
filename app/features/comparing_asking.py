"""Runs that are asked for the comparison's sake: the policies, other settings, a saved run again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.features.comparing_runs import OWN, Asked, Basis, Kept, ask_policies, ask_saved, ask_with
from app.features.comparing_studies import Studies, Wish
from app.features.ground import Ground
from app.jobs.ends import End
from app.problems import problem_of
from app.state import NextStep, Problem
from pipeline.records import Trace
from pipeline.settings import Settings

POLICIES = "policies"
ASKING = Problem("Asking…", "")
WAITING = Problem("Waiting for the library and its model", "It is asked as soon as both are there.")
_NO_LIBRARY = Problem(
    "No library is open",
    "Open one, and it is asked there.",
    (NextStep("Open library…", "open-library"), NextStep("See it on the sample", "open-sample")),
)
_EMPTY_LIBRARY = Problem(
    "This library is empty", "There is nothing to ask.", (NextStep("Add a folder…", "add-folder"),)
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands in a place: what was asked for, or why it is not there."""

    value: Any = None
    why: Problem | None = None


class Asking(QObject):
    """Asks once for each basis, and again when the basis is another one."""

    changed = Signal()  # something that was asked is there, or has failed

    def __init__(self, ground: Ground, parent: QObject) -> None:
        super().__init__(parent)
        self._session = ground.session
        self._studies = Studies(ground.crew, self)
        self._asked: dict[str, Asked] = {}  # by the name of what was asked
        self._own: dict[str, object] = {}

    # --- what can be asked for --------------------------------------------------------------------------------------

    def policies(self, trace: Trace) -> Standing:
        """The three policies' answers to this answer's question, on the same hits."""
        return self._want(POLICIES, self._basis(trace, self._session.inquiry.settings), ask_policies)

    def with_own_settings(self, trace: Trace) -> Standing:
        """This answer's question under the settings of one's own."""
        return self._want(OWN, self._basis(trace, self.own_settings), ask_with)

    def again(self, name: str, kept: Kept) -> Standing:
        """This saved run, asked again in the library that is open."""
        library = self._session.shelf.library
        if not self.possible or library.folder is None:
            return Standing(why=self.why_not())
        generation = library.facts.generation if library.facts is not None else 0
        basis = Basis(kept.trace, library.folder, Settings({}), self._session.inquiry.scope, generation)
        return self._want(name, basis, ask_saved)

    def forget(self, name: str) -> None:
        """What was asked under this name is asked anew when it is wanted again."""
        self._asked.pop(name, None)
        self._studies.take_back(name)

    @property
    def possible(self) -> bool:
        """Whether there is a library that answers."""
        library = self._session.shelf.library
        return library.phase == "open" and bool(library.documents) and self._session.model.phase == "ready"

    def why_not(self) -> Problem:
        """Why nothing can be asked of the library now."""
        library, live = self._session.shelf.library, self._session.inquiry.live
        if library.phase in ("none", "missing"):
            return _NO_LIBRARY
        if library.problem is not None:
            return library.problem
        if library.phase == "open" and not library.documents:
            return _EMPTY_LIBRARY
        if self._session.model.phase == "failed" and self._session.model.problem is not None:
            return self._session.model.problem
        if live.phase == "failed" and live.problem is not None:
            return live.problem
        return ASKING if live.phase == "asking" else WAITING

    # --- settings of one's own --------------------------------------------------------------------------------------

    @property
    def own_settings(self) -> Settings:
        """The settings in force, with what was changed for the comparison alone."""
        return self._session.inquiry.settings.with_flags(self._own)

    def set_own(self, key: str, value: object) -> None:
        """Change one of them. Raises `SettingError`."""
        settings = self._session.inquiry.settings
        settings.with_flags({**self._own, key: value})
        others = {name: given for name, given in self._own.items() if name != key}
        self._own = others if settings.in_force[key].value == value else {**others, key: value}

    def reset_own(self) -> None:
        """Back to the settings in force."""
        self._own = {}

    # --- asking -----------------------------------------------------------------------------------------------------

    def _basis(self, trace: Trace, settings: Settings) -> Basis | None:
        """None while another answer is under way: settings and answer do not belong together then."""
        inquiry, folder = self._session.inquiry, self._session.shelf.library.folder
        if folder is None or inquiry.live.phase != "answered" or self._session.model.phase != "ready":
            return None
        return Basis(trace, folder, settings, inquiry.scope)

    def _want(self, name: str, basis: Basis | None, work: Callable[[Basis], Any]) -> Standing:
        """What was asked under this name on this basis; it is asked now where it was not."""
        if basis is None:
            return Standing(why=self.why_not())
        asked = self._asked.get(name)
        if asked is None or not basis.same_as(asked.basis):
            asked = self._ask(name, basis, work)
        return Standing(asked.value, ASKING if asked.under_way else asked.problem)

    def _ask(self, name: str, basis: Basis, work: Callable[[Basis], Any]) -> Asked:
        def ended(end: End[Any]) -> None:
            if self._asked.get(name) is not asked:  # something else is wanted by now
                return
            problem = problem_of(end.error, end.details) if end.how == "failed" else None
            self._asked[name] = Asked(basis, end.value, problem)
            self.changed.emit()

        asked = self._asked[name] = Asked(basis)
        self._studies.want(name, Wish(basis.library, work(basis), ended))
        return asked
