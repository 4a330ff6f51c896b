"""Intents in, states out, on a real library."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.compose import Shell
from app.jobs.backend import real_backend
from app.sample import SampleQuestion
from app.state import AnswerState, Scope
from pipeline.errors import LibraryDamaged, LibraryLocked, LibraryTooNew
from pipeline.store.lock import writer_lock
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def opened(shells: ShellMaker, wait: Wait) -> Shell:
    """A window on a library of five documents, its model ready."""
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.phase == "open")
    return shell


def answered(shell: Shell, question: str) -> bool:
    answer = shell.session.inquiry.answer
    return answer.phase == "answered" and answer.trace is not None and answer.trace.query == question


def ask(shell: Shell, wait: Wait, question: str = "damaged item") -> Any:
    shell.session.inquiry.ask(question)
    wait(lambda: answered(shell, question))
    return shell.session.inquiry.answer.trace


def test_opening_says_what_the_library_holds(opened: Shell) -> None:
    library = opened.session.shelf.library
    assert library.facts is not None
    assert library.facts.documents == len(library.documents) == 5
    assert [root.label for root in library.roots] == ["docs"]
    assert opened.preferences.choices.last_library == str(library.folder)


def test_typing_asks_after_a_pause_and_only_the_last(opened: Shell, wait: Wait) -> None:
    seen: list[AnswerState] = []
    opened.session.inquiry.answer_changed.connect(seen.append)
    for text in ("d", "da", "dam", "damaged item"):
        opened.session.type(text)
    wait(lambda: answered(opened, "damaged item"))
    assert {answer.question for answer in seen} == {"damaged item"}


def test_an_overtaken_answer_is_never_shown(opened: Shell, shells: ShellMaker, wait: Wait) -> None:
    seen: list[str] = []
    opened.session.inquiry.answer_changed.connect(
        lambda answer: seen.append(answer.trace.query) if answer.phase == "answered" else None
    )
    shells.model.let_encode.clear()
    shells.model.asked.clear()
    opened.session.inquiry.ask("first")
    assert shells.model.asked.wait(10)
    opened.session.inquiry.ask("second")
    opened.session.inquiry.ask("third")
    shells.model.let_encode.set()
    wait(lambda: answered(opened, "third"))
    assert seen == ["third"]


def test_a_run_that_ends_is_never_told_to_be_unfinished(shells: ShellMaker, wait: Wait) -> None:
    shell = shells.shell()
    shelf = shell.session.shelf
    told: list[str] = []
    shelf.library_changed.connect(lambda library: told.append(library.unfinished))
    shell.session.start_model()
    shell.session.open_library(shells.folder / "library")
    shells.model.let_encode.clear()
    shell.session.add_folders((shells.documents(),))
    wait(lambda: shelf.library.phase == "open")  # read in the middle of the run
    assert shelf.work.active
    shells.model.let_encode.set()
    wait(lambda: not shelf.work.active and len(shelf.library.documents) == 5)
    assert set(told) == {""}


def test_settings_run_again_on_the_vector_that_is_there(opened: Shell, shells: ShellMaker, wait: Wait) -> None:
    first = ask(opened, wait)
    encoded = len(shells.model.encoded)
    assert opened.session.inquiry.change_setting("return-n", 1)
    wait(lambda: len(opened.session.inquiry.answer.trace.evidence) == 1)
    assert len(shells.model.encoded) == encoded
    assert opened.session.inquiry.answer.before == first
    entry = opened.session.inquiry.settings.in_force["return-n"]
    assert (entry.value, entry.origin) == (1, "flag")
    opened.session.inquiry.reset_settings()
    wait(lambda: len(opened.session.inquiry.answer.trace.evidence) > 1)
    assert opened.session.inquiry.settings.in_force["return-n"].origin == "default"


def test_another_question_is_not_compared(opened: Shell, wait: Wait) -> None:
    ask(opened, wait)
    ask(opened, wait, "raft")
    assert opened.session.inquiry.answer.before is None


def test_a_value_that_holds_anyway_is_no_change(opened: Shell) -> None:
    opened.session.inquiry.change_setting("retrieve-k", 30)
    opened.session.inquiry.change_setting("retrieve-k", 20)
    assert opened.session.inquiry.settings.in_force["retrieve-k"].origin == "default"


@pytest.mark.parametrize(("key", "value"), [("retrieve-k", 0), ("policy", "best"), ("no-such", 1), ("return-n", "x")])
def test_impossible_settings_are_refused_in_words(opened: Shell, key: str, value: object) -> None:
    said: list[str] = []
    opened.session.refused.connect(said.append)
    before = opened.session.inquiry.settings
    assert not opened.session.inquiry.change_setting(key, value)
    assert opened.session.inquiry.settings == before
    assert key in said[0]


def test_the_scope_narrows_and_widens(opened: Shell, wait: Wait) -> None:
    inquiry = opened.session.inquiry
    trace = ask(opened, wait)
    assert len(trace.evidence[0].citations) == 3
    inquiry.leave_out("docs/policy.txt", True)
    wait(lambda: len(inquiry.answer.trace.evidence[0].citations) == 2)
    inquiry.prefer("docs/old/policy.txt", True)
    wait(lambda: inquiry.answer.trace.evidence[0].doc_id == "docs/old/policy.txt")
    folder = opened.session.shelf.library.folder
    assert folder is not None
    assert opened.preferences.marks(folder) == (("docs/policy.txt",), ("docs/old/policy.txt",))
    inquiry.only_file("docs/guide.txt")
    wait(lambda: inquiry.answer.trace.only_file == "docs/guide.txt")
    assert {one.candidate.doc_id for one in inquiry.answer.trace.candidates} == {"docs/guide.txt"}
    inquiry.set_scope(Scope())
    wait(lambda: len(inquiry.answer.trace.evidence[0].citations) == 3)


def test_a_question_waits_for_the_model(shells: ShellMaker, wait: Wait) -> None:
    shells.model.loaded.clear()
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    wait(lambda: shell.session.shelf.library.phase == "open")
    shell.session.inquiry.ask("damaged item")
    assert shell.session.inquiry.answer.phase == "waiting_for_model"
    assert shell.window.inspector.panel.shown is not None
    assert shell.window.inspector.panel.shown.title == "The model is loading"
    shells.model.loaded.set()
    wait(lambda: answered(shell, "damaged item"))


def test_a_failed_model_is_said_and_can_be_started_again(shells: ShellMaker, wait: Wait) -> None:
    shells.model.fails = "the weights are damaged"
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    shell.session.inquiry.ask("damaged item")
    wait(lambda: shell.session.model.phase == "failed" and shell.session.shelf.library.phase == "open")
    panel = shell.window.inspector.panel.shown
    assert panel is not None
    assert "the weights are damaged" in panel.text
    assert [step.action for step in panel.steps] == ["restart-model"]
    shells.model.fails = ""
    shell.window.actions_.trigger("restart-model")
    wait(lambda: answered(shell, "damaged item"))


def test_a_question_that_cannot_be_asked_is_refused_in_words(opened: Shell, wait: Wait) -> None:
    opened.session.inquiry.ask("x" * 30_000)
    wait(lambda: opened.session.inquiry.answer.phase == "failed")
    problem = opened.session.inquiry.answer.problem
    assert problem is not None
    assert problem.title == "This question cannot be asked"
    ask(opened, wait)  # and the next one is


def test_an_emptied_question_clears(opened: Shell, wait: Wait) -> None:
    ask(opened, wait)
    opened.session.type("")
    assert opened.session.inquiry.answer == AnswerState()


def test_a_first_folder_makes_the_library(shells: ShellMaker, wait: Wait) -> None:
    shell = shells.shell()
    assert shell.window.page == "welcome"
    shell.session.start_model()
    shell.session.add_folders((shells.documents(),))
    assert shell.session.shelf.work.phase in ("waiting", "running")
    shell.session.type("damaged item")
    wait(lambda: shell.session.shelf.work.phase == "done")
    wait(lambda: answered(shell, "damaged item"))
    report = shell.session.shelf.work.report
    assert report is not None
    assert report.added == 5
    assert shell.session.shelf.library.folder == shells.folder / "first"
    assert shell.window.page == "inspector"


def test_cancelled_while_it_waits_for_the_model(shells: ShellMaker, wait: Wait) -> None:
    shells.model.loaded.clear()
    shell = shells.shell()
    shell.session.start_model()
    shell.session.add_folders((shells.documents(),))
    assert shell.session.shelf.work.phase == "waiting"
    shell.session.shelf.cancel()
    assert shell.session.shelf.work.phase == "cancelled"
    shells.model.loaded.set()
    wait(lambda: shell.session.model.phase == "ready")
    assert not shell.session.shelf.work.active


def test_asking_goes_on_while_something_is_indexed(shells: ShellMaker, wait: Wait) -> None:
    gate = threading.Event()

    def slow(*arguments: Any) -> Any:
        while not gate.wait(0.01):
            arguments[-1].check()
        return real_backend().index(*arguments)

    shell = shells.shell(index=slow)
    shell.session.open_library(shells.library())
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.phase == "open")
    shell.session.add_folders((shells.documents({"new.txt": "Boats are blue."}, "boats"),))
    ask(shell, wait)
    assert shell.session.shelf.work.phase == "running"
    said: list[str] = []
    shell.session.refused.connect(said.append)
    shell.session.add_folders((shells.documents(name="more"),))
    assert "still under way" in said[0]
    shell.session.open_library(shells.folder / "elsewhere")
    assert "before opening another library" in said[1]
    shell.session.shelf.cancel()
    wait(lambda: shell.session.shelf.work.phase == "cancelled")
    shell.session.add_folders((shells.folder / "boats",))
    gate.set()
    wait(lambda: shell.session.shelf.work.phase == "done")
    wait(lambda: len(shell.session.shelf.library.roots) == 2)


def test_a_library_in_the_making_is_asked_as_soon_as_it_holds_something(
    shells: ShellMaker, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.shelf.REFRESH_MS", 3_600_000)  # the rhythm of a library that holds something already
    gate = threading.Event()

    def slow(*arguments: Any) -> Any:
        time.sleep(0.4)  # there is no database at first
        report = real_backend().index(*arguments)
        assert gate.wait(20)
        return report

    shell = shells.shell(index=slow)
    shell.session.open_library(shells.folder / "new")
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready")
    shell.session.add_folders((shells.documents(),))
    ask(shell, wait)
    assert shell.session.shelf.work.phase == "running"
    gate.set()
    wait(lambda: shell.session.shelf.work.phase == "done")


def test_a_locked_library_is_read_only_and_says_so(opened: Shell, shells: ShellMaker, wait: Wait) -> None:
    folder = opened.session.shelf.library.folder
    assert folder is not None
    with writer_lock(folder):
        opened.session.reindex()
        wait(lambda: opened.session.shelf.work.phase == "failed")
        problem = opened.session.shelf.work.problem
        assert problem is not None
        assert problem.title == "This library is being written to"
        assert [step.action for step in problem.steps] == ["retry-work"]
        ask(opened, wait)
    assert opened.window.work.isVisible()


def test_what_was_locked_is_tried_again_as_it_was_meant(opened: Shell, shells: ShellMaker, wait: Wait) -> None:
    folder = opened.session.shelf.library.folder
    assert folder is not None
    boats = shells.documents({"new.txt": "Boats are blue."}, "boats")
    with writer_lock(folder):
        opened.session.add_folders((boats,))
        wait(lambda: opened.session.shelf.work.phase == "failed")
    opened.window.actions_.trigger("retry-work")
    wait(lambda: opened.session.shelf.work.phase == "done")
    wait(lambda: str(boats) in [root.path for root in opened.session.shelf.library.roots])


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (LibraryTooNew("it has schema 99"), "This library was made by a newer Twinspect"),
        (LibraryDamaged("it is no database"), "This library cannot be read"),
        (LibraryLocked("held by 7"), "This library is being written to"),
        (RuntimeError("boom"), "Something unexpected went wrong"),
    ],
)
def test_a_library_that_cannot_be_opened(
    shells: ShellMaker, wait: Wait, error: Exception, title: str, tmp_path: Path
) -> None:
    def refuse(folder: Path) -> Any:
        raise error

    shell = shells.shell(open_reader=refuse)
    shell.session.open_library(shells.library())
    wait(lambda: shell.session.shelf.library.phase == "failed")
    panel = shell.window.inspector.panel.shown
    assert panel is not None
    assert panel.title == title
    assert str(error).lower() in panel.text.lower()
    assert panel.steps
    assert all(shell.window.actions_[step.action] for step in panel.steps)
    details = shell.window.actions_["copy-details"]
    assert details.isEnabled() == isinstance(error, RuntimeError)


def test_a_library_of_another_model_says_so(shells: ShellMaker, wait: Wait) -> None:
    shells.model.fingerprint = "another"
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.phase == "open")
    assert shell.session.shelf.library.notice is not None
    assert shell.window.notice.isVisible()
    shell.session.inquiry.ask("damaged item")
    wait(lambda: shell.session.inquiry.answer.phase == "failed")
    assert shell.session.inquiry.answer.problem is not None
    assert shell.session.inquiry.answer.problem.title == "This library was made with another model"


def test_the_librarys_own_settings_hold(shells: ShellMaker, wait: Wait) -> None:
    folder = shells.library()
    (folder / "settings.toml").write_text("retrieve-k = 7\n")
    shell = shells.shell()
    shell.session.open_library(folder)
    entry = shell.session.inquiry.settings.in_force["retrieve-k"]
    assert (entry.value, entry.origin) == (7, "file")
    shell.session.inquiry.change_setting("retrieve-k", 9)
    shell.session.inquiry.change_setting("retrieve-k", None)
    assert shell.session.inquiry.settings.in_force["retrieve-k"].value == 7


def test_wrong_settings_of_a_library_are_said(shells: ShellMaker, wait: Wait) -> None:
    folder = shells.library()
    (folder / "settings.toml").write_text("retrieve-k = 0\n")
    shell = shells.shell()
    shell.session.open_library(folder)
    wait(lambda: shell.session.shelf.library.phase == "open")
    notice = shell.session.shelf.library.notice
    assert notice is not None
    assert "retrieve-k" in notice.text
    assert shell.session.inquiry.settings.retrieve_k == 20


def test_a_sample_question_sets_everything_up(shells: ShellMaker, wait: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = shells.documents()
    monkeypatch.setattr("app.session.DOCUMENTS", documents)
    question = SampleQuestion("x", "One", "damaged item", "Look here.", {"retrieve-k": 4}, None, ("policy.txt",))
    shell = shells.shell((question,))
    shell.session.start_model()
    shell.session.use_sample_question(question)
    wait(lambda: answered(shell, "damaged item"))
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    assert trace.settings["retrieve-k"].value == 4
    assert trace.left_out == ("docs/policy.txt",)
    assert shell.session.shelf.library.sample
    query = shell.window.inspector.query
    assert query.field.text() == "damaged item"
    assert query.look_at() == "Look at this: Look here."
    assert shell.preferences.choices.last_library is None  # the sample is not the user's library
    plain = SampleQuestion("y", "Two", "raft", "There.")
    shell.session.use_sample_question(plain)
    wait(lambda: answered(shell, "raft"))
    assert shell.session.inquiry.settings.retrieve_k == 20
    assert not shell.session.inquiry.scope.narrowed
    assert shell.session.inquiry.answer.before is None


def test_an_up_to_date_sample_is_not_indexed_again(
    shells: ShellMaker, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = shells.documents()
    monkeypatch.setattr("app.session.DOCUMENTS", documents)
    first = shells.shell()
    first.session.start_model()
    first.session.open_sample()
    wait(lambda: first.session.shelf.work.phase == "done" and first.session.shelf.library.documents)
    first.window.close()

    seen: list[str] = []
    second = shells.shell()
    second.session.shelf.work_changed.connect(lambda work: seen.append(work.phase))
    second.session.start_model()
    second.session.open_sample()
    wait(lambda: second.session.model.phase == "ready" and second.session.shelf.library.phase == "open")
    assert seen == []
    second.window.close()

    moved = shells.documents({"other.txt": "The program came with another document."}, "moved")
    monkeypatch.setattr("app.session.DOCUMENTS", moved)
    third = shells.shell()
    third.session.start_model()
    third.session.open_sample()
    wait(lambda: [document.path for document in third.session.shelf.library.documents] == [str(moved / "other.txt")])
    wait(lambda: not third.session.shelf.work.active)
    assert [root.path for root in third.session.shelf.library.roots] == [str(moved)]


def test_a_file_that_is_no_library_is_said_to_be_damaged(shells: ShellMaker, wait: Wait) -> None:
    folder = shells.folder / "damaged"
    folder.mkdir()
    (folder / "library.sqlite3").write_bytes(b"this is no database" * 100)
    shell = shells.shell()
    shell.session.open_library(folder)
    wait(lambda: shell.session.shelf.library.phase == "failed")
    panel = shell.window.inspector.panel.shown
    assert panel is not None
    assert panel.title == "This library cannot be read"


def test_forgetting_a_folder(opened: Shell, wait: Wait) -> None:
    root = opened.session.shelf.library.roots[0]
    opened.session.shelf.forget_root(root.path)
    wait(lambda: opened.session.shelf.library.roots == ())
    panel = opened.window.inspector.panel.shown
    assert panel is not None
    assert panel.title == "This library is empty"


def test_progress_leaves_the_answer_as_it_stands(opened: Shell, wait: Wait) -> None:
    ask(opened, wait)
    inspector = opened.window.inspector
    inspector.lanes.show_stage("collapse")
    arranged: list[str] = []
    inspector.lanes.lists[0].model().modelReset.connect(lambda: arranged.append("raw"))
    shelf = opened.session.shelf
    shelf.work_changed.emit(shelf.work)
    shelf.library_changed.emit(shelf.library)
    assert not arranged
    assert "collapse" in (inspector.lanes._stage or "")
    opened.session.inquiry.change_setting("retrieve-k", 3)
    wait(lambda: bool(arranged))
    assert inspector.lanes._stage is None


def test_what_stands_in_the_answers_place_comes_back_after_an_answer(opened: Shell, wait: Wait) -> None:
    panel, lanes = opened.window.inspector.panel, opened.window.inspector.lanes
    wait(lambda: not panel.isHidden())
    ask(opened, wait)
    assert not lanes.isHidden()
    opened.session.inquiry.ask("")
    wait(lambda: not panel.isHidden())
    ask(opened, wait)
    assert not lanes.isHidden()
    assert lanes.lists[0].model().rowCount() > 0
