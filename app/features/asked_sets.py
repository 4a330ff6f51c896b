"""Lists of questions: read, asked in one go beside everything else, opened and carried away."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer

from app.features.asked_history import show_run
from app.features.asked_jobs import HistoryJobs, Read
from app.features.ground import Ground
from app.jobs.ends import End
from app.problems import problem_of
from app.sample import FOLDER
from app.state import LibraryState, Scope
from pipeline.errors import SettingError
from pipeline.findings import MOST_QUESTIONS, SetQuestion, SetRow
from pipeline.progress import CancelToken, Progress
from pipeline.settings import Settings
from pipeline.words.asked import scope_words, settings_words
from pipeline.words.phrases import count, number
from pipeline.words.plain import first_words

if TYPE_CHECKING:
    from app.jobs.backend import Engine

POLL_MS = 100
_KINDS = "Questions (*.txt *.csv *.toml);;All files (*)"


@dataclass(frozen=True, slots=True)
class Run:
    """One run: of which library, with which settings. The thread fills `rows` and replaces `progress`."""

    library: Path
    settings: Settings
    preferred: tuple[str, ...]
    rows: deque[SetRow]
    progress: list[Progress]


class AskedSets(QObject):
    """The questions lie in the box as lines; those that came with settings keep them while their line stands."""

    def __init__(self, ground: Ground, jobs: HistoryJobs, save: Callable[[Path, Callable[[], object]], None]) -> None:
        super().__init__(ground.window)
        self._ground, self._jobs, self._save = ground, jobs, save
        self._view = ground.window.history.questions
        self._loaded: dict[str, list[SetQuestion]] = {}  # line -> the questions that it stands for, in order
        self._run: Run | None = None  # the last one, its rows shown
        self._token: CancelToken | None = None  # of the run under way
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self._look)
        view, session = self._view, ground.session
        view.edited.connect(self._fit)
        view.fileRequested.connect(self.choose_file)
        view.pinnedRequested.connect(self.take_pinned)
        view.sampleRequested.connect(self.take_sample)
        view.runRequested.connect(self.run)
        view.cancelRequested.connect(self.cancel)
        view.openRequested.connect(self.open)
        view.exportRequested.connect(self.export)
        view.copyRequested.connect(ground.commands.to_clipboard)
        session.shelf.library_changed.connect(self._library_changed)
        session.model_changed.connect(lambda model: self._fit())
        session.inquiry.settings_changed.connect(lambda settings: self._fit())
        session.inquiry.scope_changed.connect(lambda scope: self._fit())
        ground.window.actions_.on("ask-list", self.show)
        self._library_changed(session.shelf.library)

    # --- the questions ------------------------------------------------------------------------------------------

    def show(self) -> None:
        """The list, ready to be typed into."""
        self._ground.window.show_page("history")
        self._ground.window.history.show_list()

    def take(self, questions: Sequence[SetQuestion]) -> None:
        """Put these questions into the box."""
        loaded: defaultdict[str, list[SetQuestion]] = defaultdict(list)
        for question in questions:
            loaded[first_words(question.text, 2_000)].append(question)
        self._loaded = dict(loaded)
        self._view.set_text("\n".join(first_words(question.text, 2_000) for question in questions))

    def questions(self) -> tuple[SetQuestion, ...]:
        """What stands in the box, line by line."""
        turns = {line: deque(questions) for line, questions in self._loaded.items()}
        found = []
        for line in map(str.strip, self._view.text.splitlines()):
            if line:
                known = turns.get(line)
                found.append(known.popleft() if known else SetQuestion(line))
        return tuple(found)

    def choose_file(self) -> None:
        """Take the questions of a file that the user chooses."""
        file = self._ground.dialogs.open_file("A file of questions", _KINDS)
        if file is not None:
            self.take_file(file)

    def take_file(self, file: Path) -> None:
        """Read the questions of this file."""

        def work() -> tuple[SetQuestion, ...]:
            from pipeline.question_set import read_questions

            return read_questions(file)

        self._ground.crew.look("reading a file of questions", work, self._file_read)

    def _file_read(self, end: End[tuple[SetQuestion, ...]]) -> None:
        if end.how == "failed":
            self._ground.window.status.say(problem_of(end.error, end.details).text)
        elif end.value is not None:
            self.take(end.value)

    def take_sample(self) -> None:
        """The questions that come with the sample."""
        self.take_file(FOLDER / "questions.toml")

    def take_pinned(self) -> None:
        """The questions pinned in the history, the oldest first."""
        library = self._ground.session.shelf.library.folder
        if library is not None:
            self._jobs.read(library, "", True, self._pinned_read)

    def _pinned_read(self, end: End[Read]) -> None:
        if end.how == "failed":
            self._ground.window.status.say(problem_of(end.error, end.details).text)
        elif end.value is not None:
            if not end.value.entries:
                self._ground.window.status.say("No question is pinned in this library's history")
                return
            self.take(
                [
                    SetQuestion(
                        entry.text,
                        settings=entry.settings,
                        only_file=entry.only_document,
                        leave_out=entry.left_out,
                    )
                    for entry in reversed(end.value.entries)
                ]
            )

    # --- the run ------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Ask them all, of the documents and with the settings of the inspector where a question names no others."""
        session = self._ground.session
        library, questions = session.shelf.library.folder, self.questions()
        if self._token is not None or library is None or self._why_not(len(questions)):
            return
        questions = tuple(self._scoped(question) for question in questions)
        settings = session.inquiry.settings
        run = self._run = Run(library, settings, session.inquiry.scope.preferred, deque(), [Progress("asking")])

        def work(engine: Engine, token: CancelToken) -> Any:
            from pipeline.question_set import ask_all

            def progress(now: Progress) -> None:
                run.progress[0] = now

            return ask_all(
                questions,
                engine,
                settings,
                progress=progress,
                cancel=token,
                listen=run.rows.append,  # type: ignore[arg-type]  # what append returns is nobody's
            )

        self._view.show_questions(questions)
        self._view.set_running(True)
        self._token = self._ground.crew.ask_list(library, work, partial(self._ended, run))
        self._poll.start()

    def _scoped(self, question: SetQuestion) -> SetQuestion:
        """The question with the inspector's scope where it has none of its own."""
        if question.only_file is not None or question.leave_out:
            return question
        library, scope = self._ground.session.shelf.library, self._ground.session.inquiry.scope
        held = {document.doc_id for document in library.documents}
        left_out = tuple(doc_id for doc_id in scope.left_out if doc_id in held)
        return replace(question, only_file=scope.only_file, leave_out=left_out)

    def cancel(self) -> None:
        """Stop after the question at hand; the answers so far stay."""
        if self._token is not None:
            self._token.cancel()

    def _look(self) -> None:
        run = self._run
        if run is not None:
            arrived = []
            while run.rows:
                arrived.append(run.rows.popleft())
            if arrived:
                self._view.show_rows(arrived)
            self._view.show_progress(run.progress[0])

    def _ended(self, run: Run, end: End[Any]) -> None:
        self._poll.stop()
        self._look()
        self._token = None
        self._view.run_ended()
        self._view.set_running(False)
        rows = self._view.model.rows
        say = self._ground.window.status.say
        if end.how == "failed":
            problem = problem_of(end.error, end.details)
            say(f"The list could not be asked to its end. {problem.title}: {problem.text}")
        elif end.how == "cancelled":
            say(f"Cancelled: {count(len(rows), 'question')} asked")
        else:
            failed = sum(1 for row in rows if row.error)
            say(f"{count(len(rows), 'question')} asked" + (f", {number(failed)} failed" if failed else ""))

    # --- what came of it ----------------------------------------------------------------------------------------

    def open(self, row: SetRow) -> None:
        """Show this run in the inspector. One that failed is asked again there, where its reason stands whole."""
        run = self._run
        if run is None:
            return
        if run.library != self._ground.session.shelf.library.folder:
            self._ground.window.status.say("These answers are of another library. Open it to look at them.")
            return
        question = row.question
        try:
            settings = run.settings.with_flags(question.settings)
        except SettingError as error:
            self._ground.window.status.say(str(error))
            return
        show_run(self._ground, question.text, settings, Scope(question.only_file, question.leave_out, run.preferred))

    def export(self, kind: str) -> None:
        """The rows as a file, "csv" or "json"."""
        run, rows = self._run, self._view.model.rows
        if run is None or not rows:
            return
        names = {"csv": "CSV (*.csv)", "json": "JSON (*.json)"}
        file = self._ground.dialogs.save_to("Export the answers", f"answers.{kind}", names[kind])
        if file is None:
            return
        from pipeline.question_set import rows_csv, rows_json  # once, when it is asked for

        named = file if file.suffix else file.with_suffix(f".{kind}")
        text = rows_csv(rows) if kind == "csv" else json.dumps(rows_json(rows, run.settings), indent=2) + "\n"
        self._save(named, lambda: named.write_text(text, "utf-8", newline=""))

    # --- standing -----------------------------------------------------------------------------------------------

    def _library_changed(self, library: LibraryState) -> None:
        self._view.set_sources(sample=library.sample)
        self._fit()

    def _why_not(self, questions: int) -> str:
        session = self._ground.session
        if questions > MOST_QUESTIONS:
            return f"{questions:,} questions are too many: {MOST_QUESTIONS:,} are the most"
        library = session.shelf.library
        if library.phase == "none":
            return "No library is open"
        if library.problem is not None:
            return "The library cannot be used"
        if not library.documents:
            return "The library is being opened" if library.phase == "opening" else "The library holds no document yet"
        if session.model.phase != "ready":
            return "The model is not loaded yet"
        return ""

    def _fit(self) -> None:
        """How many questions there are, and with what they would be asked."""
        inquiry = self._ground.session.inquiry
        given = {key: entry.value for key, entry in inquiry.settings.in_force.items() if entry.origin != "default"}
        scope = scope_words(inquiry.scope.only_file, inquiry.scope.left_out, inquiry.scope.preferred)
        held = "; ".join(filter(None, (settings_words(given), scope)))
        questions = sum(1 for line in self._view.text.splitlines() if line.strip())
        said = f"As in the inspector: {held}" if held else "With the settings as they come, of all documents"
        self._view.set_standing(questions, self._why_not(questions), said if questions else "")
