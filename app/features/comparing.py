"""Runs beside each other: before, pinned, saved, other policies, other settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from app.features.comparing_asking import ASKING, WAITING, Asking, Standing
from app.features.comparing_runs import (
    AGAIN,
    BEFORE,
    FILE,
    NOW,
    OWN,
    PIN,
    POLICY,
    SHOWN,
    Kept,
    choices,
    clock_words,
    time_words,
)
from app.features.comparing_saved import Opened, SavedRuns
from app.features.ground import Ground
from app.focus import FocusTarget
from app.jobs.ends import End
from app.models.compared import Compared, Lane
from app.models.comparing import DifferenceRow, rows_of
from app.problems import problem_of
from app.situations import library_standing
from app.state import NextStep, Problem
from app.views.compare_page import POLICIES, RUNS
from pipeline.errors import SettingError
from pipeline.records import Trace
from pipeline.words.comparing import run_words
from pipeline.words.plain import one_line

MOST_PINS = 30
_ASK = NextStep("Type a question", "focus-query")
_OPEN = NextStep("Open a saved trace…", "open-trace")
_NO_QUESTION = Problem(
    "Nothing to compare yet",
    "Ask a question in the inspector. Then change a setting: the run before and the run now stand here side by side. "
    "Or open traces that were saved.",
    (_ASK, _OPEN),
)
_NO_BEFORE = Problem(
    "There is no run before yet",
    "Change a setting, and what was before stands here beside what is now. Or choose above what to compare with: "
    "another policy, other settings, a pinned run, a saved trace.",
    (NextStep("See the three policies", "compare-policies"), _OPEN),
)
_NO_POLICIES = Problem(
    "No question yet", "Ask a question: what three rules make of the same hits stands here then.", (_ASK,)
)


class ComparingFeature(QObject):
    """Chooses what is compared, has it asked where it is not there yet, and has it compared in a thread."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground.window)
        self._ground = ground
        self._window, self._page = ground.window, ground.window.compare
        self._asking = Asking(ground, self)
        self.saved = SavedRuns(ground, self._asking, self)
        self._kept: dict[str, Kept] = {}
        self._numbers = 0
        self._sides = {"left": BEFORE, "right": NOW}
        self._pair: tuple[Trace, Trace] | None = None  # what is compared, or being compared
        self._compared: Compared | None = None
        self._sides_shown: dict[str, str] = {}
        self._answers: object = None  # of the policies, which are shown
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        session, page, on = self._ground.session, self._page, self._window.actions_.on
        on("pin-run", self.pin)
        on("compare-before", lambda: self._show_sides(BEFORE, NOW))
        on("compare-policies", self._show_policies_tab)
        on("compare-swap", self.swap)
        on("rerun-trace", self._rerun)
        self._asking.changed.connect(self.refresh)
        self.saved.opened.connect(self._opened)
        session.inquiry.answer_changed.connect(lambda answer: self.refresh())
        session.shelf.library_changed.connect(lambda library: self.refresh())
        session.model_changed.connect(lambda model: self.refresh())
        self._window.pageShown.connect(lambda name: self.refresh())
        page.tabShown.connect(self.refresh)
        page.sideChosen.connect(self._choose)
        page.swapRequested.connect(self.swap)
        page.unpinRequested.connect(self.unpin)
        page.ownSettingChanged.connect(self._set_own)
        page.ownSettingsReset.connect(self._reset_own)
        page.showRequested.connect(self._show_in_inspector)
        page.runs.rowChosen.connect(self._row_chosen)
        page.stepChosen.connect(self._window.actions_.trigger)
        page.openRequested.connect(self._ground.commands.open_file)
        page.revealRequested.connect(self._ground.commands.reveal)
        page.copyRequested.connect(self._ground.commands.to_clipboard)

    def _tell(self, words: str) -> None:
        if words:
            self._window.status.say(words)

    # --- intents ----------------------------------------------------------------------------------------------------

    def compare_with(
        self, before: Trace, after: Trace, before_title: str = "An earlier run", after_title: str = "A later run"
    ) -> None:
        """Show these two runs side by side, the first on the left."""
        left, right = self._keep(SHOWN, before_title, before), self._keep(SHOWN, after_title, after)
        for name in [name for name in self._kept if name.startswith(SHOWN) and name not in (left, right)]:
            del self._kept[name]
        self._show_sides(left, right)

    def pin(self) -> None:
        """Keep the run on screen, to compare later ones with."""
        live = self._ground.session.inquiry.live
        if live.trace is None:
            return
        pins = [name for name in self._kept if name.startswith(PIN)]
        if len(pins) >= MOST_PINS:
            self._tell(f"{MOST_PINS} runs are pinned already. Unpin one of them on the Compare page first.")
            return
        name = self._keep(PIN, f"Pinned {clock_words()}", live.trace)
        if self._sides["left"] == BEFORE:
            self._sides["left"] = name
        self._tell(f"Pinned: {run_words(live.trace)}")
        self.refresh()

    def unpin(self, name: str) -> None:
        """Keep this run no longer."""
        self._kept.pop(name, None)
        self._asking.forget(AGAIN + name)
        for side, instead in (("left", BEFORE), ("right", NOW)):
            if self._sides[side] in (name, AGAIN + name):
                self._sides[side] = instead
        self.refresh()

    def swap(self) -> None:
        """Left becomes right."""
        self._sides = {"left": self._sides["right"], "right": self._sides["left"]}
        self.refresh()

    @property
    def kept(self) -> dict[str, Kept]:
        """Pinned, opened and handed-over runs, by the names that they have in the lists."""
        return dict(self._kept)

    @property
    def compared(self) -> Compared | None:
        """The comparison that is shown."""
        return self._compared if self._page.runs_shown else None

    def _keep(self, kind: str, title: str, trace: Trace, file: Path | None = None, when: str = "") -> str:
        self._numbers += 1
        name = f"{kind}{self._numbers}"
        self._kept[name] = Kept(title, trace, file, when)
        return name

    def _show_sides(self, left: str, right: str) -> None:
        self._sides = {"left": left, "right": right}
        self._page.tabs.setCurrentIndex(RUNS)
        self._window.show_page("compare")
        self.refresh()

    def _choose(self, side: str, name: str) -> None:
        other = "right" if side == "left" else "left"
        if self._sides[other] == name:  # the same run on both sides compares nothing: they change places
            self._sides[other] = self._sides[side]
        self._sides[side] = name
        self.refresh()

    def _show_policies_tab(self) -> None:
        self._page.tabs.setCurrentIndex(POLICIES)
        self._window.show_page("compare")
        self.refresh()

    # --- saved traces -----------------------------------------------------------------------------------------------

    def _opened(self, opened: tuple[Opened, ...]) -> None:
        names = []
        for one in opened:
            again = next((name for name, kept in self._kept.items() if kept.file == one.file), None)
            if again is not None:  # the file may hold another trace by now
                self.unpin(again)
            names.append(self._keep(FILE, one_line(one.file.name, 80), one.trace, one.file, time_words(one.modified)))
        if len(names) > 1:
            self._show_sides(names[0], names[1])
        else:
            self._show_kept(names[0])
        self.refresh()

    def _show_kept(self, name: str) -> None:
        kept = self._kept[name]
        self.saved.show(kept.trace, kept.title, kept.when, kept.file)

    def _rerun(self) -> None:
        """Ask the saved run on screen again, in the library that is open, and compare."""
        answer = self._ground.session.inquiry.answer
        if answer.saved is None or answer.trace is None:
            return
        name = next((name for name, kept in self._kept.items() if kept.trace is answer.trace), None)
        if name is None or not name.startswith(FILE):  # a run that was never in a file can be asked again as well
            name = self._keep(FILE, answer.saved.name, answer.trace, answer.saved.file, answer.saved.when)
        self._asking.forget(AGAIN + name)
        self._show_sides(name, AGAIN + name)

    # --- what stands on a side --------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show what holds now: the lists, and, while the page is shown, what stands in them."""
        live = self._ground.session.inquiry.live
        on_screen = self._ground.session.inquiry.answer
        actions = self._window.actions_
        actions["pin-run"].setEnabled(live.trace is not None and on_screen.saved is None)
        actions["compare-before"].setEnabled(live.trace is not None and live.before is not None)
        actions["compare-policies"].setEnabled(live.trace is not None)
        self._page.set_can_pin(actions["pin-run"].isEnabled())
        if self._window.page != "compare":
            return
        if self._page.shows_policies:
            self._show_policies()
        else:
            self._show_runs()

    def _show_runs(self) -> None:
        live = self._ground.session.inquiry.live
        offered = tuple(choices(live.trace, live.before, self._kept))
        known = {choice.id for choice in offered}
        for side, instead in (("left", BEFORE), ("right", NOW)):
            if self._sides[side] not in known:
                self._sides[side] = instead
        self._page.set_own_settings(self._asking.own_settings if OWN in self._sides.values() else None)
        left, right = self._standing(self._sides["left"]), self._standing(self._sides["right"])
        self._page.set_choices(offered, self._sides["left"], self._sides["right"])
        if left.value is not None and right.value is not None:
            self._compare(left.value, right.value)
            return
        # What has to be done something about is said before what only takes its time.
        reasons = [standing.why for standing in (left, right) if standing.why is not None]
        why = min(reasons, key=lambda reason: reason in (ASKING, WAITING))
        if why is ASKING and self._page.runs_shown and self._sides == self._sides_shown:
            return  # what is shown stays until the next one of the same runs is there
        self._pair = None
        self._page.show_runs_state(why)

    def _standing(self, name: str) -> Standing:
        """The trace that this name means, or why there is none."""
        live = self._ground.session.inquiry.live
        if name in self._kept:
            return Standing(self._kept[name].trace)
        if name.startswith(AGAIN):
            return self._asking.again(name, self._kept[name.removeprefix(AGAIN)])
        if live.trace is None:
            return Standing(why=self._why_no_answer(_NO_QUESTION))
        if name == NOW:
            return Standing(live.trace)
        if name == BEFORE:
            return Standing(live.before, None if live.before is not None else _NO_BEFORE)
        if name == OWN:
            return self._asking.with_own_settings(live.trace)
        answers = self._asking.policies(live.trace)
        if answers.value is None:
            return answers
        policy = name.removeprefix(POLICY)
        return Standing(next(answer.trace for answer in answers.value if answer.policy == policy))

    def _why_no_answer(self, no_question: Problem) -> Problem:
        session = self._ground.session
        live, standing = (
            session.inquiry.live,
            library_standing(session.shelf.library, session.model, session.shelf.work),
        )
        if standing is not None:  # saved traces need no library
            return replace(standing, steps=(*standing.steps, _OPEN)) if standing.steps else standing
        if live.phase in ("asking", "waiting_for_model", "waiting_for_library"):
            return WAITING
        return live.problem or no_question

    def _set_own(self, key: str, value: object) -> None:
        try:
            self._asking.set_own(key, value)
        except SettingError as error:
            self._tell(str(error))
        self.refresh()

    def _reset_own(self) -> None:
        self._asking.reset_own()
        self.refresh()

    # --- comparing --------------------------------------------------------------------------------------------------

    def _compare(self, before: Trace, after: Trace) -> None:
        pair = (before, after)
        if self._pair is not None and all(one is other for one, other in zip(self._pair, pair, strict=True)):
            return
        self._pair, sides = pair, dict(self._sides)

        def work() -> tuple[Compared, dict[Lane, list[DifferenceRow]]]:
            from pipeline.compare import compare

            made = Compared(before, after, compare(before, after))
            return made, rows_of(made)

        def ended(end: End[Any]) -> None:
            if self._pair is not pair or end.how == "cancelled":
                return
            if end.how == "failed":
                self._page.show_runs_state(problem_of(end.error, end.details))
                return
            assert end.value is not None
            self._compared, rows = end.value
            self._sides_shown = sides
            self._page.show_compared(self._compared, rows)

        self._ground.crew.look("comparing two runs", work, ended)

    def _show_policies(self) -> None:
        live = self._ground.session.inquiry.live
        if live.trace is None:
            self._page.show_policies_state(self._why_no_answer(_NO_POLICIES))
            return
        answers = self._asking.policies(live.trace)
        if answers.why is ASKING and self._page.policies_shown:
            return  # what is shown stays until the next is there
        if answers.why is not None:
            self._page.show_policies_state(answers.why)
        elif not (self._page.policies_shown and self._answers is answers.value):
            self._answers = answers.value
            self._page.show_policies(answers.value, live.trace.query)

    # --- on into the inspector --------------------------------------------------------------------------------------

    def _row_chosen(self, row: DifferenceRow) -> None:
        """A row whose run the inspector shows is selected there, too."""
        on_screen = self._ground.session.inquiry.answer.trace
        compared = row.compared
        for side, trace in (("right", compared.after), ("left", compared.before)):
            target = row.target_on(side)
            if trace is on_screen and target is not None:
                self._ground.focus.select(target)
                return

    def _show_in_inspector(self, side: str, target: FocusTarget) -> None:
        name = self._sides.get(side, POLICY + side)
        inquiry = self._ground.session.inquiry
        if name == NOW:
            inquiry.show_live()
            self._window.show_page("inspector")
        elif name in self._kept:
            self._show_kept(name)
        else:
            trace = self._standing(name).value
            if trace is None:
                return
            live = inquiry.live
            title = next(choice.title for choice in choices(live.trace, live.before, self._kept) if choice.id == name)
            self.saved.show(trace, title, "")
        self._ground.focus.select(target)
