"""The history of the open library: kept as questions are answered, searched, pinned, forgotten, opened again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.features.asked_jobs import Done, HistoryJobs, Read
from app.features.asked_keeping import Keeping, Kept
from app.features.ground import Ground
from app.jobs.ends import End
from app.state import LibraryState, NextStep, Problem, Scope
from pipeline.errors import HistoryReadOnly, SettingError
from pipeline.findings import HistoryEntry
from pipeline.records import Trace
from pipeline.settings import Layer, Settings, resolve
from pipeline.words.phrases import count
from pipeline.words.plain import first_words

if TYPE_CHECKING:
    from pipeline.store.history import History

BEGIN_NEW = "begin-new-history"
READ_ONLY = Problem(
    "Questions asked of this library are not kept",
    "Its folder is read-only. Asking needs nothing of that, and what was kept before can be looked at.",
)


class AskedHistory(QObject):
    """Whatever is wrong with the history is told on its page and costs nothing else."""

    def __init__(self, ground: Ground, jobs: HistoryJobs, save: Callable[[Path, Callable[[], object]], None]) -> None:
        """`save` writes a file, and tells that it did or why it could not."""
        super().__init__(ground.window)
        self._ground, self._save = ground, save
        self._page = ground.window.history
        self._list = self._page.asked
        self._jobs = jobs
        self._keeping = Keeping()
        self._reading = 0  # the search that is meant
        self._told: set[Path] = set()  # libraries whose history's failure was told where nobody looks at its page
        session = ground.session
        session.inquiry.answered.connect(self._answered)
        session.inquiry.meant.connect(self._keeping.meant)
        session.inquiry.started_anew.connect(self._keeping.anew)
        session.shelf.library_changed.connect(self._library_changed)
        self._shown_library: Path | None = None
        entries = self._list
        entries.wanted.connect(self.refresh)
        entries.openRequested.connect(self.open)
        entries.pinRequested.connect(self._pin)
        entries.forgetRequested.connect(self._forget)
        entries.forgetAllRequested.connect(self.forget_all)
        entries.keepingChanged.connect(self.set_keeping)
        entries.exportRequested.connect(self._export)
        entries.copyRequested.connect(ground.commands.to_clipboard)
        entries.stepChosen.connect(self._step)
        self._page.shown.connect(self.refresh)
        actions = ground.window.actions_
        actions.on("keep-history", lambda: self.set_keeping(actions["keep-history"].isChecked()))
        actions.on("forget-history", self.forget_all)
        actions.on("pin-question", self.pin_answer)
        session.inquiry.answer_changed.connect(lambda answer: self._fit_actions())
        self._show_keeping()
        self._library_changed(session.shelf.library)

    # --- keeping ------------------------------------------------------------------------------------------------

    def _answered(self, library: Path, trace: Trace, typing: bool) -> None:
        if not self._ground.preferences.choices.keep_history:
            return
        kept = self._keeping.keep(library, trace, typing=typing, now=time.monotonic())
        if kept is not None:
            new, replaced = kept
            self._write(library, lambda history: _remember(history, trace, new, replaced))

    def set_keeping(self, keeping: bool) -> None:
        """Whether questions are kept from now on; what is kept already stays."""
        self._ground.preferences.change(keep_history=keeping)
        self._keeping.anew()
        self._show_keeping()
        self._ground.window.status.say(
            "Questions are kept from now on" if keeping else "Questions are no longer kept; those kept before stay"
        )

    def _show_keeping(self) -> None:
        keeping = self._ground.preferences.choices.keep_history
        self._list.set_keeping(keeping)
        self._ground.window.actions_["keep-history"].setChecked(keeping)
        self._fit_actions()

    def _fit_actions(self) -> None:
        session, actions = self._ground.session, self._ground.window.actions_
        answer = session.inquiry.answer
        actions["pin-question"].setEnabled(answer.phase == "answered" and answer.saved is None)
        actions["forget-history"].setEnabled(session.shelf.library.phase == "open")

    def pin_answer(self) -> None:
        """Pin the question on the screen, whether questions are kept or not."""
        answer, library = self._ground.session.inquiry.answer, self._library
        trace = answer.trace
        if trace is None or library is None:
            return
        kept = self._keeping.kept_of(library, trace)

        def pin(history: History) -> None:
            entry_id = kept.entry_id if kept is not None else None
            if entry_id is None or history.entry(entry_id) is None:
                entry_id = history.remember(trace)
            history.pin(entry_id)

        self._write(library, pin, f"Pinned “{first_words(trace.query, 60)}”")

    def _write(self, library: Path, work: Callable[[History], Any], said: str = "") -> None:
        self._jobs.write(library, work, partial(self._written, library, said))

    def _written(self, library: Path, said: str, done: Done) -> None:
        if library != self._library:
            return
        if done.error is not None:
            self._tell_failure(library, done.error)
            return
        if said:
            self._ground.window.status.say(said)
        self.refresh()

    def _tell_failure(self, library: Path, error: BaseException) -> None:
        self._list.show_problem(_problem(error), unreadable=not isinstance(error, HistoryReadOnly))
        if library not in self._told and not isinstance(error, HistoryReadOnly):
            self._told.add(library)
            self._ground.window.status.say(f"Questions are not kept: {error}")

    # --- looking ------------------------------------------------------------------------------------------------

    @property
    def _library(self) -> Path | None:
        return self._ground.session.shelf.library.folder

    def _library_changed(self, library: LibraryState) -> None:
        if library.folder != self._shown_library:
            self._shown_library = library.folder
            self._list.show_problem(None)
            self._list.set_entries(())
            self._page.set_library(library.name)
            self.refresh()
        self._fit_actions()

    def refresh(self) -> None:
        """Read what the history holds now, if somebody looks at it."""
        library = self._library
        if library is None or not self._page.isVisible():
            return
        self._reading += 1
        self._jobs.read(library, self._list.search, self._list.pinned_only, partial(self._read, library, self._reading))

    def _read(self, library: Path, reading: int, end: End[Read]) -> None:
        if reading != self._reading or library != self._library or end.how == "cancelled":
            return
        if end.value is None:
            assert end.error is not None
            self._list.set_entries(())
            self._tell_failure(library, end.error)
            return
        self._list.show_problem(None if end.value.writable else READ_ONLY)
        self._list.set_entries(end.value.entries)

    # --- what the user does -------------------------------------------------------------------------------------

    def open(self, entry: HistoryEntry) -> None:
        """Show this run again: its question, settings and scope."""
        settings, unknown = settings_of(entry.settings)
        scope = Scope(entry.only_document, entry.left_out, entry.preferred)
        show_run(self._ground, entry.text, settings, scope)
        self._keeping.opened(entry.text, entry.id)
        if unknown:
            self._ground.window.status.say(f"A setting of that time is not possible any more: {', '.join(unknown)}")

    def _pin(self, entries: tuple[HistoryEntry, ...], pinned: bool) -> None:
        library = self._library
        if library is None:
            return

        def pin(history: History) -> None:
            for entry in entries:
                history.pin(entry.id, pinned)

        what = count(len(entries), "question")
        self._write(library, pin, f"Pinned {what}" if pinned else f"{what} no longer pinned")

    def _forget(self, entries: tuple[HistoryEntry, ...]) -> None:
        library = self._library
        if library is None:
            return
        one = len(entries) == 1
        title = f"Forget “{first_words(entries[0].text, 80)}”?" if one else f"Forget {len(entries):,} questions?"
        yes = "Forget the question" if one else f"Forget {len(entries):,} questions"
        if not self._ground.dialogs.confirm(title, "Forgotten means gone from the disk: there is no undo.", yes):
            return

        def forget(history: History) -> None:
            for entry in entries:
                history.forget(entry.id)

        self._keeping.anew()
        self._write(library, forget, f"{count(len(entries), 'question')} forgotten")

    def forget_all(self) -> None:
        """Forget every question of this library, those that no search lists included."""
        library = self._library
        if library is None or not self._ground.dialogs.confirm(
            "Forget every question asked of this library?",
            "The pinned ones go too. Forgotten means gone from the disk: there is no undo.",
            "Forget every question",
        ):
            return
        self._keeping.anew()
        self._write(library, lambda history: history.forget_all(pinned_too=True), "Every question forgotten")

    def _export(self, entries: tuple[HistoryEntry, ...]) -> None:
        file = self._ground.dialogs.save_to("Export the history", "history.csv", "CSV (*.csv)")
        if file is None:
            return
        from pipeline.export.asked import history_csv  # once, when it is asked for

        named = file if file.suffix else file.with_suffix(".csv")
        self._save(named, lambda: named.write_text(history_csv(entries), "utf-8", newline=""))

    def _step(self, step: str) -> None:
        if step != BEGIN_NEW:
            self._ground.window.actions_.trigger(step)
            return
        library = self._library
        if library is None:
            return
        from pipeline.store.history import set_aside  # once, when it is asked for

        self._told.discard(library)
        self._write(library, lambda history: set_aside(library), "The old history was moved aside; a new one begins")


def _remember(history: History, trace: Trace, new: Kept, replaced: Kept | None) -> None:
    new.entry_id = history.remember(trace, replaces=None if replaced is None else replaced.entry_id)


def _problem(error: BaseException) -> Problem:
    if isinstance(error, HistoryReadOnly):
        return READ_ONLY
    said = str(error)
    steps = (NextStep("Begin a new one", BEGIN_NEW),) if "damaged" in said else ()
    return Problem("The history cannot be used", f"{said[:1].upper()}{said[1:]}.", steps)


def settings_of(given: Mapping[str, object]) -> tuple[Settings, list[str]]:
    """The settings that somebody gave over the defaults, and the keys of those that are not possible (any more)."""
    values, unknown = dict(given), []
    while True:
        try:
            return resolve([Layer(values, "flag")]), unknown
        except SettingError as error:
            unknown.append(error.key)
            del values[error.key]


def show_run(ground: Ground, text: str, settings: Settings, scope: Scope) -> None:
    """Ask this in the inspector with exactly these settings, whatever was changed there."""
    values = {key: entry.value for key, entry in settings.in_force.items()}
    query = ground.window.inspector.query
    query.set_question(text)
    query.set_sample_question(None)
    ground.window.show_page("inspector")
    ground.session.inquiry.set_up(text, values, scope)
