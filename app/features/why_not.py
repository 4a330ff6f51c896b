"""Why something is not in the answer: what is asked about, what was found out, and what is done about it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer

from app.features.ground import Ground
from app.focus import FocusTarget
from app.jobs.ends import End
from app.models.why import WhyState, WhyTarget, document_lines, found_lines
from app.problems import problem_of
from app.situations import SAVED_WHY
from app.state import AnswerState, LibraryState, NextStep, Problem
from app.subject import Subject, subject_of
from pipeline.errors import QueryError
from pipeline.words.phrases import count
from pipeline.words.why import change_label, passage_sentence, together_words

if TYPE_CHECKING:
    from pipeline.findings import PassageFinding, SettingChange
    from pipeline.records import Trace

TYPING_PAUSE_MS = 180
AGAIN_AFTER_MS = 120  # another study overtook this one while it waited
MOST_FOUND = 50  # of documents, and of passages


class WhyNotFeature(QObject):
    """Follows the question: whatever changes the answer, the finding is made anew while the panel is open."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground.window)
        self._ground = ground
        self._session, self._crew = ground.session, ground.crew
        self._inspector = ground.window.inspector
        self.panel = ground.window.inspector.why
        self.state = WhyState()
        self._serial = 0  # of the newest look
        self._searches = 0  # of the newest search
        self._searching = False  # what is listed is of older words
        self._choose_first = False  # Enter was pressed before the list was there
        self._library: Path | None = None
        self._listed: object = None  # the documents that the list was made of
        self._done = ""  # what was applied, in words, until an answer came of something else
        self._done_in: Trace | None = None  # the answer that came of it
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(TYPING_PAUSE_MS)
        self._pause.timeout.connect(self._search)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_AFTER_MS)
        self._again.timeout.connect(self._look)
        self._connect()
        self._fit_actions()

    def _connect(self) -> None:
        panel, finding, window = self.panel, self.panel.finding, self._ground.window
        inquiry = self._session.inquiry
        panel.typed.connect(self._typed)
        panel.entered.connect(self._entered)
        panel.targetChosen.connect(self.ask_about)
        panel.passageMoved.connect(self._light_up)
        panel.closeRequested.connect(self.close_panel)
        panel.stepChosen.connect(window.actions_.trigger)
        panel.againRequested.connect(inquiry.ask_again)
        finding.applied.connect(self._apply)
        finding.takeBackRequested.connect(self._take_back)
        finding.allFilesRequested.connect(self._search_all)
        finding.readRequested.connect(self._read)
        finding.undoRequested.connect(lambda: window.actions_.trigger("undo"))
        window.inspector.lanes.whyRequested.connect(self._ask_about_row)
        window.inspector.whyWanted.connect(self._ask_about_selected)
        window.library.whyRequested.connect(lambda doc_id: self.ask_about(WhyTarget(doc_id)))
        window.actions_.on("why-not", self.open_panel)
        window.actions_.on("why-row", self._ask_about_selected)
        inquiry.answer_changed.connect(self._answer_changed)
        self._session.shelf.library_changed.connect(self._library_changed)
        self._ground.focus.selectedChanged.connect(self._fit_actions)

    def _fit_actions(self) -> None:
        actions = self._ground.window.actions_
        actions["why-not"].setEnabled(self._session.shelf.library.phase == "open")
        actions["why-row"].setEnabled(self._selected() is not None)

    # --- intents ------------------------------------------------------------------------------------------------

    def open_panel(self) -> None:
        """Show the panel, the keyboard in its field."""
        self._open()
        self.panel.focus_field()

    def close_panel(self) -> None:
        """Give the document its place again, and the lanes the keyboard."""
        self._inspector.show_why(False)
        if self._session.inquiry.answer.trace is not None:
            self._inspector.lanes.setFocus()
        else:
            self._inspector.query.focus_field()

    def ask_about(self, target: WhyTarget) -> None:
        """Ask about this document or passage."""
        if target != self.state.target:
            self._done, self._done_in = "", None
            self.state = WhyState(question=self.state.question, target=target)
        self._open()

    def _open(self) -> None:
        self._ground.window.show_page("inspector")
        was_open = self._inspector.why_open
        self._inspector.show_why(True)
        if not was_open:
            self._search()  # the library may have changed meanwhile
        self._look()

    def _selected(self) -> WhyTarget | None:
        """The passage of the row that is selected in the lanes."""
        return self._passage_of(self._ground.focus.selected)

    def _passage_of(self, row: FocusTarget | None) -> WhyTarget | None:
        subject = subject_of(row, self._session.inquiry.answer.trace)
        if subject is None or subject.place is None:
            return None
        return WhyTarget(subject.place.doc_id, subject.place.chunk_index)

    def _ask_about_row(self, row: FocusTarget) -> None:
        target = self._passage_of(row)
        if target is not None:
            self._ground.focus.select(row)
            self.ask_about(target)
            self.panel.finding.setFocus()

    def _ask_about_selected(self) -> None:
        target = self._selected()
        if target is None:
            self.open_panel()
        else:
            self.ask_about(target)
            self.panel.finding.setFocus()

    # --- looking ------------------------------------------------------------------------------------------------

    def _answer_changed(self, answer: AnswerState) -> None:
        self._fit_actions()
        if self._inspector.why_open:
            self._look()

    def _library_changed(self, library: LibraryState) -> None:
        self._fit_actions()
        if library.folder != self._library:
            self._library = library.folder
            self._done, self._done_in = "", None
            self._tell(WhyState())
            self.panel.field.clear()
        elif library.documents is self._listed:
            return
        if self._inspector.why_open:
            self._search()

    def _look(self) -> None:
        """Find out about the target in the answer that stands; a look that was overtaken is dropped."""
        self._again.stop()
        self._serial += 1
        serial, answer, target = self._serial, self._session.inquiry.answer, self.state.target
        folder = self._session.shelf.library.folder
        standing = replace(self.state, question=answer.question, problem=None, done="")
        if answer.saved is not None:
            return self._tell(replace(standing, phase="failed", told=None, trace=None, problem=SAVED_WHY))
        if answer.phase == "no_question":
            return self._tell(WhyState("no_question", target=target))
        if answer.phase == "failed":
            return self._tell(replace(standing, phase="failed", told=None, trace=None, problem=answer.problem))
        if answer.phase in ("waiting_for_library", "waiting_for_model") or folder is None:
            return self._tell(replace(standing, phase="waiting", told=None, trace=None))
        if target is None:
            return self._tell(replace(standing, phase="nothing_chosen"))
        trace = answer.trace
        if answer.phase == "answered" and trace is not None and trace is self.state.trace and self.state.told:
            return self._tell(replace(standing, phase="told", done=self._done_words(trace)))
        self._tell(replace(standing, phase="looking"))
        if answer.phase != "answered" or trace is None:
            return None  # the answer is on its way, and this is called again

        def work(engine: Any) -> Any:
            from pipeline.why import why_not  # in the thread: it brings the index along

            return why_not(engine, trace, target.doc_id, target.chunk_index)

        return self._crew.study(folder, work, lambda end: self._found_out(serial, trace, end))

    def _found_out(self, serial: int, trace: Trace, end: End[Any]) -> None:
        if serial != self._serial:
            return
        if end.how == "cancelled":
            self._again.start()
            return
        if end.how == "failed":
            self._tell(replace(self.state, phase="failed", told=None, trace=None, problem=_problem(end)))
            return
        if self._done and self._done_in is None:
            self._done_in = trace
        self._tell(
            replace(self.state, phase="told", told=end.value, trace=trace, problem=None, done=self._done_words(trace))
        )

    def _done_words(self, trace: Trace) -> str:
        return f"Done: {self._done}." if self._done and self._done_in is trace else ""

    def _tell(self, state: WhyState) -> None:
        self.state = state
        self.panel.show_state(state)

    # --- doing something about it -------------------------------------------------------------------------------

    def _apply(self, changes: tuple[SettingChange, ...]) -> None:
        words = change_label(changes[0]) if len(changes) == 1 else together_words(changes)
        self._do(words)
        self.panel.finding.setFocus()  # the button is about to go, and the keyboard stays here
        if not self._session.inquiry.change_settings({change.setting: change.value for change in changes}):
            self._done = ""

    def _take_back(self, doc_id: str) -> None:
        self._do("taken back into searches")
        self._session.inquiry.leave_out(doc_id, False)

    def _search_all(self) -> None:
        self._do("all files are searched")
        self._session.inquiry.only_file(None)

    def _do(self, words: str) -> None:
        self._done, self._done_in = f"{words[:1].lower()}{words[1:]}", None

    def _light_up(self, finding: PassageFinding) -> None:
        """The passage's own row in the lanes is selected, where it has one."""
        row = self._row_of(finding)
        if row is not None:
            self._ground.focus.select(row)

    def _row_of(self, finding: PassageFinding) -> FocusTarget | None:
        trace = self.state.trace
        for traced in trace.candidates if trace is not None else ():
            if traced.candidate.evidence_key == finding.place.evidence_key:
                return FocusTarget("candidate", traced.candidate.evidence_key, traced.candidate.rank)
        return None

    def _read(self, finding: PassageFinding) -> None:
        """Show the passage in its document, in the panel's place."""
        trace, row = self.state.trace, self._row_of(finding)
        self._inspector.show_why(False)
        self._inspector.read_passage()
        if row is not None:
            self._ground.focus.select(row)
        elif trace is not None:
            self._ground.focus.select(None)
            said = passage_sentence(finding, trace)
            place = finding.place
            self._inspector.detail.show_subject(
                Subject(place.path, None, (said,), place, finding.opening, "Its file", (place,), ())
            )

    # --- finding what to ask about ------------------------------------------------------------------------------

    def _typed(self, text: str) -> None:
        self._searches += 1  # what is under way is of older words
        self._searching, self._choose_first = bool(text.strip()), False
        if self._searching:
            self.panel.say_searching("Searching…")
            self._pause.start()
        else:
            self._search()

    def _entered(self) -> None:
        if not self._searching:
            self.panel.list.choose_first()
            return
        self._choose_first = True
        if self._pause.isActive():
            self._search()

    def _search(self) -> None:
        self._pause.stop()
        self._searching = False
        self._searches += 1
        serial, library = self._searches, self._session.shelf.library
        words, folder = self.panel.field.text().strip(), library.folder
        self._listed = library.documents
        if folder is None or library.phase != "open":
            self.panel.show_lines((), "No library is open.")
            return
        if not words:
            documents = library.documents
            said = count(len(documents), "document") if documents else "The library is empty."
            self.panel.show_lines(document_lines(documents), said)
            return

        self._searching = True

        def work() -> Any:
            with closing(self._crew.backend.open_reader(folder)) as reader:
                return reader.passages.find(words, MOST_FOUND)

        self._crew.look("searching the library", work, lambda end: self._found(serial, end))

    def _found(self, serial: int, end: End[Any]) -> None:
        if serial != self._searches or end.how == "cancelled":
            return
        self._searching = False
        if end.how == "failed":
            self.panel.show_lines((), problem_of(end.error, end.details).text)
            return
        lines = found_lines(end.value)
        self.panel.show_lines(lines, "" if lines else "No document is called that, and no passage holds these words.")
        if not lines and self.state.target is not None:  # what was found out of another one is no answer to these words
            self._serial += 1
            self._done, self._done_in = "", None
            self._tell(WhyState(question=self._session.inquiry.answer.question))
        if self._choose_first:
            self._choose_first = False
            self.panel.list.choose_first()


def _problem(end: End[Any]) -> Problem:
    """Why it could not be found out."""
    if isinstance(end.error, QueryError):
        said = str(end.error)
        return Problem("This cannot be said now", f"{said[:1].upper()}{said[1:]}.", (NextStep("Ask again", ""),))
    return problem_of(end.error, end.details)
