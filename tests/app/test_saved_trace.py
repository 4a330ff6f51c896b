"""Runs that were saved: opened later and elsewhere without their library, and asked again in another."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

import pipeline.export.trace_file as trace_file
from app.compose import Shell
from app.models.rows import Role
from app.models.why import WhyTarget
from app.situations import SAVED_WHY
from app.state import Scope
from pipeline.compare import compare
from pipeline.export.trace_file import write_trace
from pipeline.records import Location, SettingInForce, Trace
from pipeline.trace import to_json
from tests.app.shell import DOCUMENTS, GUIDE, ShellMaker
from tests.app.test_compare_page import answer_to, set_and_answer, shown
from tests.support.traces import Row, make_trace

Wait = Callable[[Callable[[], object]], None]
QUESTION = "late items and damaged item desk"
SAVED = make_trace(
    [
        Row("hb/policy.txt", "A damaged item goes back to the desk.", 0.9),
        Row("hb/copy.txt", "A damaged item goes back to the desk.", 0.9),
        Row("hb/faq.txt", "Ask at the desk.", 0.7),
    ]
)


def open_library(shells: ShellMaker, wait: Wait, **how: Any) -> Shell:
    shell = shells.shell()
    shell.session.open_library(shells.library(**how))
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.phase == "open")
    return shell


@pytest.fixture
def opened(shells: ShellMaker, wait: Wait) -> Shell:
    return open_library(shells, wait)


def open_trace(shells: ShellMaker, shell: Shell, file: Path, wait: Wait) -> None:
    """As a person does: the command, then the file."""
    shells.answers.chosen_file = file
    shell.window.actions_.trigger("open-trace")
    wait(lambda: shell.session.inquiry.answer.saved is not None and shell.session.inquiry.answer.saved.file == file)


def said(shell: Shell) -> str:
    """What stands above the lanes about the saved run."""
    return shell.window.inspector.given.accessibleName() if shell.window.inspector.given.isVisible() else ""


def lane_keys(shell: Shell, lane: int) -> list[object]:
    model = shell.window.inspector.lanes.lists[lane].model()
    indexes = [model.index(row, 0) for row in range(model.rowCount())]
    return [index.data(Role.KEY) for index in indexes if index.data(Role.KIND) in ("candidate", "block", "item")]


# --- opened --------------------------------------------------------------------------------------------------------


def test_a_saved_trace_is_shown_without_any_library(shells: ShellMaker, wait: Wait, tmp_path: Path) -> None:
    shell = shells.shell()
    assert shell.session.shelf.library.phase == "none"
    write_trace(tmp_path / "saved.json", SAVED)
    open_trace(shells, shell, tmp_path / "saved.json", wait)
    window = shell.window
    assert window.page == "inspector"
    assert shell.session.inquiry.answer.trace == SAVED
    assert lane_keys(shell, 0) == [traced.candidate.evidence_key for traced in SAVED.candidates]
    assert window.inspector.query.field.text() == SAVED.query
    assert "saved.json" in said(shell)
    assert "Open a library to ask it again." in said(shell)
    assert not window.actions_["rerun-trace"].isEnabled()
    window.show_page("settings")
    window.actions_.trigger("page-inspector")
    assert window.page == "inspector"
    window.actions_.trigger("close-trace")
    assert said(shell) == ""
    assert window.page == "welcome"


def test_what_a_saved_run_cannot_do_is_said_in_words(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path, qtbot: QtBot
) -> None:
    inquiry, window = opened.session.inquiry, opened.window
    live = answer_to(opened, QUESTION, wait)
    live = set_and_answer(opened, wait, return_n=3)
    saved = dataclasses.replace(live, query="what the saved run asked")
    write_trace(tmp_path / "saved.json", saved)
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    query = window.inspector.query
    assert query.field.isReadOnly()
    assert not query.strip.isVisible()
    assert "Blocks to return: 3 blocks" in query.saved_words()
    qtbot.keyClick(query.field, Qt.Key.Key_Escape)
    assert inquiry.answer.trace == saved
    for change in (
        lambda: inquiry.change_setting("return-n", 1),
        lambda: inquiry.leave_out("docs/guide.txt", True),
        lambda: inquiry.set_scope(Scope(only_file="docs/guide.txt")),
    ):
        window.status.say("")
        change()
        assert "nothing about it can be changed" in window.status.said
    for command in ("undo", "redo", "clear-query", "reset-settings", "pin-run"):
        assert not window.actions_[command].isEnabled(), command
    detail = window.inspector.detail
    wait(lambda: not detail.waiting)
    assert detail.subject is not None
    assert detail.shown_text() == detail.subject.text
    # Back: everything as it was.
    window.actions_.trigger("close-trace")
    assert inquiry.answer.trace is live
    assert query.field.text() == QUESTION
    assert not query.field.isReadOnly()
    assert query.strip.isVisible()
    assert inquiry.settings.return_n == 3
    assert window.actions_["undo"].isEnabled()
    wait(lambda: not detail.waiting)
    assert len(detail.shown_text()) > len(detail.subject.text), "the document is read again"


def test_why_not_is_no_question_to_a_saved_run(shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path) -> None:
    answer_to(opened, QUESTION, wait)
    write_trace(tmp_path / "saved.json", SAVED)
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.why_not.ask_about(WhyTarget("docs/guide.txt", 0))
    assert opened.why_not.state.problem == SAVED_WHY
    opened.window.actions_.trigger("close-trace")
    wait(lambda: opened.why_not.state.told is not None)


def test_who_asks_while_a_saved_run_is_shown_asks_the_library(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path, qtbot: QtBot
) -> None:
    live = answer_to(opened, QUESTION, wait)
    write_trace(tmp_path / "saved.json", SAVED)
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.window.actions_.trigger("focus-query")
    assert opened.session.inquiry.answer.trace is live
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    answer_to(opened, "raft rolled wet", wait)
    assert opened.session.inquiry.answer.saved is None
    assert said(opened) == ""
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.session.inquiry.set_up("raft rolled wet", {"return-n": 2}, Scope())
    wait(lambda: opened.session.inquiry.answer.trace and opened.session.inquiry.answer.trace.settings["return-n"].value)
    wait(lambda: opened.session.inquiry.answer.phase == "answered")
    assert opened.session.inquiry.answer.saved is None
    assert opened.session.inquiry.answer.trace is not None
    assert opened.session.inquiry.answer.trace.settings["return-n"].value == 2


def test_what_is_due_meanwhile_is_asked_on_the_way_back(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path
) -> None:
    live = answer_to(opened, QUESTION, wait)
    write_trace(tmp_path / "saved.json", SAVED)
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.session.inquiry.ask_again()  # the library has changed
    assert opened.session.inquiry.answer.trace == SAVED
    opened.window.actions_.trigger("close-trace")
    wait(lambda: opened.session.inquiry.answer.phase == "answered" and opened.session.inquiry.answer.trace is not live)
    assert opened.session.inquiry.answer.trace is not None
    assert opened.session.inquiry.answer.trace.query == QUESTION


def test_another_library_takes_the_place_of_a_saved_run(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path
) -> None:
    write_trace(tmp_path / "saved.json", SAVED)
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.session.open_library(shells.library({"a.txt": GUIDE}, "second"))
    wait(lambda: opened.session.shelf.library.phase == "open")
    assert opened.session.inquiry.answer.saved is None
    assert said(opened) == ""
    assert not opened.window.inspector.query.field.isReadOnly()


def test_a_trace_without_texts_says_so(shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path) -> None:
    live = answer_to(opened, QUESTION, wait)
    write_trace(tmp_path / "hashes.json", live, with_texts=False)
    open_trace(shells, opened, tmp_path / "hashes.json", wait)
    assert "saved without texts" in said(opened)
    model = opened.window.inspector.lanes.lists[0].model()
    assert all("desk" not in str(model.index(row, 0).data(Role.SNIPPET)) for row in range(model.rowCount()))
    # Against the run with its texts, hashes tell that nothing differs.
    opened.window.actions_.trigger("rerun-trace")
    compared = shown(opened, wait)
    assert compared.found.parts_at is None
    assert compared.found.candidates == ()


def test_settings_that_nobody_knows_are_shown_in_words(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path
) -> None:
    odd = dict(SAVED.settings) | {
        "hybrid-share": SettingInForce(0.3, "flag"),
        "policy": SettingInForce("future\x1b", "flag"),
    }
    write_trace(tmp_path / "odd.json", dataclasses.replace(SAVED, settings=odd, policy="future"))
    open_trace(shells, opened, tmp_path / "odd.json", wait)
    words = opened.window.inspector.query.saved_words()
    assert "hybrid-share" in words.lower().replace(" ", "-")
    assert "future" in words
    assert "\x1b" not in words
    opened.window.actions_.trigger("rerun-trace")
    panel = opened.window.compare.runs_panel
    wait(lambda: panel.shown is not None and panel.shown.title == "This setting is not possible")


def test_a_saved_run_that_found_nothing_says_so(shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path) -> None:
    write_trace(tmp_path / "empty.json", make_trace([]))
    open_trace(shells, opened, tmp_path / "empty.json", wait)
    assert opened.window.inspector.panel.isVisible()
    assert opened.window.inspector.panel.shown is not None
    assert opened.window.inspector.panel.shown.title == "This saved run found nothing"


# --- files that are no traces --------------------------------------------------------------------------------------


def damaged(change: Callable[[dict[str, Any]], object]) -> str:
    data = to_json(SAVED)
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"a": 1}', "not a trace"),
        ("[1, 2, 3]", "not a trace"),
        ("no json at all", "damaged or not a trace"),
        ("", "damaged or not a trace"),
        ("[" * 100_000, "not a trace"),
        (damaged(lambda data: data.update(trace_version=99)), "newer version"),
        (damaged(lambda data: data.pop("summary")), "damaged"),
        (damaged(lambda data: data["candidates"].pop(0)), "damaged"),
        (json.dumps(to_json(SAVED))[:-200], "damaged"),
    ],
    ids=["another JSON", "a list", "text", "empty", "deep", "newer", "without a part", "with a gap", "cut off"],
)
def test_files_that_cannot_be_opened_are_told_in_words(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path, content: str, words: str
) -> None:
    live = answer_to(opened, QUESTION, wait)
    file = tmp_path / "bad.json"
    file.write_text(content, "utf-8")
    shells.answers.chosen_file = file
    opened.window.actions_.trigger("open-trace")
    wait(opened.window.trouble.isVisible)
    told = opened.window.trouble.accessibleName()
    assert told.startswith("This saved trace cannot be opened.")
    assert words in told
    assert "Something unexpected" not in told
    assert opened.session.inquiry.answer.trace is live
    opened.window.actions_.trigger("dismiss-notice")
    assert not opened.window.trouble.isVisible()


def test_bytes_a_folder_and_a_file_that_is_gone_are_told_in_words(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path
) -> None:
    binary = tmp_path / "binary.json"
    binary.write_bytes(os.urandom(5_000))
    for file in (binary, tmp_path, tmp_path / "gone.json"):
        shells.answers.chosen_file = file
        opened.window.actions_.trigger("open-trace")
        wait(opened.window.trouble.isVisible)
        assert opened.window.trouble.accessibleName().startswith("This saved trace cannot be opened.")
        opened.window.actions_.trigger("dismiss-notice")


def test_a_trace_is_read_in_a_thread_of_its_own(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    real = trace_file.read_trace

    def watched(file: Path) -> Trace:
        threads.append(threading.current_thread())
        return real(file)

    monkeypatch.setattr(trace_file, "read_trace", watched)
    write_trace(tmp_path / "saved.json", SAVED)
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    assert threads
    assert threading.main_thread() not in threads


# --- dropped -------------------------------------------------------------------------------------------------------


def drop(shell: Shell, *files: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    shell.window.dropEvent(QDropEvent(QPointF(200, 200), Qt.DropAction.CopyAction, data, buttons, keys))


def test_a_dropped_trace_is_opened_and_two_are_compared(opened: Shell, wait: Wait, tmp_path: Path) -> None:
    one, two, three = tmp_path / "one.json", tmp_path / "two.JSON", tmp_path / "three.json"
    other = make_trace([Row("hb/faq.txt", "Ask at the desk.", 0.7)])
    write_trace(one, SAVED)
    write_trace(two, other)
    drop(opened, one)
    wait(lambda: opened.session.inquiry.answer.saved is not None)
    assert opened.session.inquiry.answer.trace == SAVED
    drop(opened, one, two)
    compared = shown(opened, wait)
    assert compared.found == compare(SAVED, other)
    assert opened.window.page == "compare"
    assert opened.window.compare.sides.left.list.currentText() == "Saved: one.json"
    drop(opened, one, two, three)
    assert "one saved trace" in opened.window.status.said
    drop(opened, tmp_path / "notes.txt")
    assert "is a file" in opened.window.status.said


def test_a_file_opened_again_is_in_the_lists_once(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path
) -> None:
    write_trace(tmp_path / "saved.json", SAVED)
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.window.actions_.trigger("close-trace")
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    assert len(opened.comparing.kept) == 1


# --- asked again ---------------------------------------------------------------------------------------------------


def test_a_saved_run_asked_again_names_where_they_part(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path
) -> None:
    answer_to(opened, QUESTION, wait)
    live = set_and_answer(opened, wait, return_n=2)
    write_trace(tmp_path / "saved.json", live)
    # In the same library nothing differs.
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.window.actions_.trigger("rerun-trace")
    compared = shown(opened, wait)
    assert compared.before == live
    assert compared.found.parts_at is None
    assert opened.window.compare.runs.parting.startswith("The runs do not differ")
    # In one with another document they part at the search.
    more = {**DOCUMENTS, "new.txt": "Late items and damaged item desk: a new page."}
    opened.session.open_library(shells.library(more, "second"))
    wait(lambda: opened.session.shelf.library.phase == "open" and opened.session.model.phase == "ready")
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.window.actions_.trigger("rerun-trace")
    wait(lambda: opened.comparing.compared and opened.comparing.compared.found.parts_at == "search")
    runs = opened.window.compare.runs
    assert runs.parting.startswith("The runs first differ at the search")
    compared = shown(opened, wait)
    assert compared.found == compare(live, compared.after)
    assert compared.after.settings["return-n"].value == 2, "asked with its own settings"
    assert ("Documents", "5", "6") in runs.unlike()


def test_asking_again_without_a_library_says_what_to_do(shells: ShellMaker, wait: Wait, tmp_path: Path) -> None:
    shell = shells.shell()
    write_trace(tmp_path / "saved.json", SAVED)
    open_trace(shells, shell, tmp_path / "saved.json", wait)
    name = next(iter(shell.comparing.kept))
    shell.window.show_page("compare")
    for side, choice in (("left", name), ("right", f"again:{name}")):
        shell.window.compare.sideChosen.emit(side, choice)
    panel = shell.window.compare.runs_panel
    assert panel.shown is not None
    assert panel.shown.title == "No library is open"
    # Once there is one, it is asked there.
    shell.session.open_library(shells.library())
    shell.session.start_model()
    compared = shown(shell, wait)
    assert compared.before == SAVED
    assert compared.found.parts_at == "search"


def test_a_question_of_a_document_that_is_not_here_says_so(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path
) -> None:
    write_trace(tmp_path / "saved.json", dataclasses.replace(SAVED, only_file="hb/elsewhere.txt"))
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    opened.window.actions_.trigger("rerun-trace")
    panel = opened.window.compare.runs_panel
    wait(lambda: panel.shown is not None and panel.shown.title == "This question cannot be asked")
    assert "elsewhere.txt" in panel.shown.text  # type: ignore[union-attr]  # as just seen


# --- whose files these are -------------------------------------------------------------------------------------------


def test_a_saved_trace_opens_no_file_but_the_librarys_own(
    shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr("app.desktop.open_file", lambda path: started.append(path) or "")
    monkeypatch.setattr("app.desktop.reveal", lambda path: started.append(path) or "")
    live = answer_to(opened, QUESTION, wait)
    evil = tmp_path / "evil.desktop"
    evil.write_text("[Desktop Entry]\nExec=touch gone\n")
    first, *others = live.candidates
    forged = dataclasses.replace(first, candidate=dataclasses.replace(first.candidate, source_path=str(evil)))
    write_trace(tmp_path / "saved.json", dataclasses.replace(live, candidates=(forged, *others)))
    open_trace(shells, opened, tmp_path / "saved.json", wait)
    lanes, detail = opened.window.inspector.lanes, opened.window.inspector.detail
    for signal in (lanes.openRequested, lanes.revealRequested, detail.openRequested):
        signal.emit(str(evil))
        assert "not in the open library" in opened.window.status.said
    detail.openAtRequested.emit(Location("docs/a.txt#chunk-0", "docs/a.txt", 0, str(evil), 0, 1))
    assert started == []
    own = opened.session.shelf.library.documents[0].path
    lanes.openRequested.emit(own)
    assert started == [own]
