"""The question's side of the session: what is asked, with which settings, of which documents; and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.jobs.crew import Ask, Crew
from app.jobs.ends import End
from app.problems import problem_of
from app.state import AnswerState, SavedRun, Scope
from pipeline.errors import SettingError
from pipeline.records import Trace
from pipeline.settings import Settings, resolve

TYPING_PAUSE_MS = 150
_SAVED_STAYS = "This is a saved run: nothing about it can be changed. Go back to the library to ask and to set."


@dataclass(frozen=True, slots=True)
class Stand:
    """What the user has changed about the question at one moment."""

    changes: Mapping[str, object]
    scope: Scope


class Inquiry(QObject):
    """Asks live. A question that was overtaken by a newer one is dropped and never shown."""

    answer_changed = Signal(object)  # AnswerState
    settings_changed = Signal(object)  # Settings
    scope_changed = Signal(object)  # Scope
    refused = Signal(str)  # why an intent was not followed, in words
    user_changed = Signal(object, object)  # Stand before and after: settings or scope were changed by hand
    answered = Signal(object, object, bool)  # the library's folder, Trace, whether it was asked while typing
    meant = Signal(str)  # exactly this question was asked, not one on the way to it
    shown_differently = Signal()  # a saved run takes the library's place, or the library takes it back
    started_anew = Signal()  # another library, or a whole situation at once: what was before cannot be gone back to

    def __init__(self, crew: Crew, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._crew = crew
        self._library: Path | None = None
        self._library_ready = False
        self._model_ready = False
        self._serial = 0
        self.answer = AnswerState()
        self._base = self.settings = resolve()  # what holds without the changes made here
        self._changes: dict[str, object] = {}
        self._by_hand = True  # the user changes something, not an undo or a sample question
        self.scope = Scope()
        self._live: AnswerState | None = None  # the library's own answer while a saved run is shown
        self._owed = False  # it has to be asked again when it is shown again
        self._typed = ""
        self._typing = False  # the question is asked while it is being typed
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(TYPING_PAUSE_MS)
        self._pause.timeout.connect(self._ask_typed)

    # --- intents ------------------------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """The user is typing: ask when the typing pauses. An emptied field clears at once."""
        self._typed, self._typing = text, True
        if text.strip():
            self._pause.start()
        else:
            self._ask_typed()

    def ask(self, text: str) -> None:
        """Ask now."""
        self._typed, self._typing = text, False
        self.meant.emit(text)
        self._ask_typed()

    def ask_again(self) -> None:
        """The same question again: something that the answer depends on has changed."""
        if self._live is not None:
            self._owed = True
        elif self.answer.question:
            self._run()

    def change_setting(self, key: str, value: object) -> bool:
        """Change one setting and answer again at once; None goes back to what holds without the change."""
        return self.change_settings({key: value})

    def change_settings(self, values: dict[str, object]) -> bool:
        """Change several settings and answer again once. False, and a refusal in words, if one is impossible."""
        if self._live is not None:
            self.refused.emit(_SAVED_STAYS)
            return False
        try:
            kept = {key: value for key, value in self._changes.items() if key not in values}
            without = self._base.with_flags(kept)
            # A value that holds anyway is no change: the mark of a changed setting is to mean something.
            changes = kept | {
                key: value
                for key, value in values.items()
                if value is not None and without.in_force[key].value != value
            }
            settings = self._base.with_flags(changes)
        except SettingError as error:
            self.refused.emit(str(error))
            return False
        except KeyError as error:
            self.refused.emit(f"there is no setting {error}")
            return False
        before, self._changes = self.stand, changes
        if settings != self.settings:
            self.settings = settings
            self.settings_changed.emit(settings)
            self.ask_again()
            self._changed_by_hand(before)
        return True

    def reset_settings(self) -> None:
        """Back to what holds without the changes made here."""
        self.change_settings(dict.fromkeys(self._changes))

    def leave_out(self, doc_id: str, out: bool) -> None:
        """Leave this document out of searches, or take it back in."""
        self.set_scope(replace(self.scope, left_out=_toggled(self.scope.left_out, doc_id, out)))

    def only_file(self, doc_id: str | None) -> None:
        """Search inside this document only; None searches all again."""
        self.set_scope(replace(self.scope, only_file=doc_id))

    def prefer(self, doc_id: str, preferred: bool) -> None:
        """Among copies, let this document stand for them."""
        self.set_scope(replace(self.scope, preferred=_toggled(self.scope.preferred, doc_id, preferred)))

    def set_scope(self, scope: Scope) -> None:
        """Ask of these documents from now on."""
        if self._live is not None:
            self.refused.emit(_SAVED_STAYS)
        elif scope != self.scope:
            before, self.scope = self.stand, scope
            self.scope_changed.emit(scope)
            self.ask_again()
            self._changed_by_hand(before)

    @property
    def stand(self) -> Stand:
        """What is changed now."""
        return Stand(dict(self._changes), self.scope)

    def restore(self, stand: Stand) -> None:
        """Go back to this, with one run: undo and redo."""
        self._by_hand = False
        kept, self.answer = self.answer, replace(self.answer, question="")
        self.change_settings(dict.fromkeys(self._changes) | dict(stand.changes))
        self.set_scope(stand.scope)
        self.answer = kept
        self._by_hand = True
        self.ask_again()

    def _changed_by_hand(self, before: Stand) -> None:
        if self._by_hand:
            self.user_changed.emit(before, self.stand)

    def set_up(self, text: str, settings: dict[str, Any], scope: Scope) -> None:
        """A whole situation at once, with one run: the question, exactly these changed settings, this scope."""
        self._leave_saved()
        self._typed, self._typing = text, False
        self._pause.stop()
        self._by_hand = False
        kept, self.answer = self.answer, replace(self.answer, question="")  # no runs in between
        self.reset_settings()
        self.change_settings(dict(settings))
        self.set_scope(scope)
        self.answer = replace(kept, phase="asking")  # asked even where the same words were answered already
        self._by_hand = True
        self.started_anew.emit()
        self._ask_typed()

    # --- what the rest of the session tells ---------------------------------------------------------------------

    def set_library(self, folder: Path | None, settings: Settings, scope: Scope) -> None:
        """Another library: its settings and marks hold, the old answer goes, the question stays."""
        self._leave_saved()
        self._library, self._library_ready = folder, False
        self._serial += 1
        self._base, self._changes = settings, {}
        self.settings, self.scope = settings, scope
        self.started_anew.emit()
        self.settings_changed.emit(settings)
        self.scope_changed.emit(scope)
        self._tell(AnswerState("waiting_for_library" if self.answer.question else "no_question", self.answer.question))

    def set_library_ready(self, ready: bool) -> None:
        """Whether the library holds something to ask."""
        became_ready = ready and not self._library_ready
        self._library_ready = ready
        if became_ready:
            self.ask_again()

    def set_model_ready(self, ready: bool) -> None:
        """Whether the model answers; a question that waits for it is asked now."""
        became_ready = ready and not self._model_ready
        self._model_ready = ready
        if became_ready:
            self.ask_again()

    def show_given(self, folder: Path, trace: Trace) -> None:
        """Show this answer without asking."""
        self._library, self._library_ready = folder, True
        self._typed = trace.query
        self._base = self.settings = Settings(trace.settings)
        decided = set(trace.left_out_decided)  # not left out by this question
        self.scope = Scope(trace.only_file, tuple(doc_id for doc_id in trace.left_out if doc_id not in decided))
        self.settings_changed.emit(self.settings)
        self.scope_changed.emit(self.scope)
        self._tell(AnswerState("answered", trace.query, trace))

    # --- a saved run --------------------------------------------------------------------------------------------

    def show_saved(self, trace: Trace, saved: SavedRun) -> None:
        """Show this run in the answer's place, as it was; settings and scope stay those of the library."""
        if self._live is None:
            self._live, self._owed = self.answer, self.answer.phase not in ("answered", "failed", "no_question")
        self._pause.stop()
        self._serial += 1  # an answer that is under way is not shown over it
        self.shown_differently.emit()
        self._tell(AnswerState("answered", trace.query, trace, saved=saved))

    @property
    def live(self) -> AnswerState:
        """The library's own answer, whether or not a saved run is shown in its place."""
        return self._live if self._live is not None else self.answer

    def show_live(self) -> None:
        """Back to the library's own answer, asked again where that is due."""
        if self._live is None:
            return
        owed = self._owed
        self._leave_saved()
        self._tell(self.answer)
        if owed:
            self.ask_again()

    def _leave_saved(self) -> None:
        if self._live is not None:
            self.answer, self._live, self._owed = self._live, None, False
            self._typed = self.answer.question
            self.shown_differently.emit()

    # --- asking -------------------------------------------------------------------------------------------------

    @Slot()
    def _ask_typed(self) -> None:
        self._pause.stop()
        if self._live is not None:  # whoever asks means the library
            typed, owed = self._typed, self._owed
            self._leave_saved()
            self._tell(replace(self.answer, phase="asking") if owed else self.answer)
            self._typed = typed
        if not self._typed.strip():
            self._serial += 1
            if self.answer.phase != "no_question":
                self._tell(AnswerState())
            return
        if self._typed == self.answer.question and self.answer.phase == "answered":
            return
        self.answer = replace(self.answer, question=self._typed)
        self._run()

    def _run(self) -> None:
        self._serial += 1
        serial = self._serial
        question = self.answer.question
        if self._library is None or not self._library_ready:
            self._tell(AnswerState("waiting_for_library", question))
            return
        if not self._model_ready:
            self._tell(AnswerState("waiting_for_model", question))
            return
        self._tell(replace(self.answer, phase="asking", problem=None))
        scope = self.scope
        request = Ask(self._library, question, self.settings, scope.left_out, scope.preferred, scope.only_file)
        self._crew.ask(request, lambda end: self._answered(serial, end))

    def _answered(self, serial: int, end: End[Any]) -> None:
        if serial != self._serial or end.how == "cancelled":
            return
        question = self.answer.question
        if end.how == "failed":
            self._tell(AnswerState("failed", question, problem=problem_of(end.error, end.details)))
            return
        last = self.answer.trace
        before = last if last is not None and end.value is not None and last.query == end.value.query else None
        self._tell(AnswerState("answered", question, end.value, before))
        if end.value is not None:
            self.answered.emit(self._library, end.value, self._typing)

    def _tell(self, answer: AnswerState) -> None:
        self.answer = answer
        self.answer_changed.emit(answer)


def _toggled(held: tuple[str, ...], doc_id: str, wanted: bool) -> tuple[str, ...]:
    others = tuple(other for other in held if other != doc_id)
    return (*others, doc_id) if wanted else others
