"""Undo and redo of what was changed about the question, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.compose import Shell
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def asked(shells: ShellMaker, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    shell.session.inquiry.ask("late items damaged")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    return shell


def value(shell: Shell, key: str) -> object:
    return shell.session.inquiry.settings.in_force[key].value


def test_a_setting_and_a_file_left_out_are_taken_back_and_done_again(asked: Shell, wait: Wait) -> None:
    inquiry, actions = asked.session.inquiry, asked.window.actions_
    assert not actions["undo"].isEnabled()
    inquiry.change_setting("return-n", 3)
    inquiry.leave_out("docs/guide.txt", True)
    assert actions["undo"].text() == "Undo: leave out guide.txt"

    actions.trigger("undo")
    assert inquiry.scope.left_out == ()
    assert actions["undo"].text() == "Undo: blocks to return: 3 blocks"
    assert asked.window.status.said == "Taken back: leave out guide.txt"
    actions.trigger("undo")
    assert value(asked, "return-n") == 5
    assert not actions["undo"].isEnabled()

    actions.trigger("redo")
    actions.trigger("redo")
    assert value(asked, "return-n") == 3
    assert inquiry.scope.left_out == ("docs/guide.txt",)
    wait(lambda: inquiry.answer.phase == "answered" and inquiry.answer.trace.left_out == ("docs/guide.txt",))
    assert not actions["redo"].isEnabled()


def test_steps_of_one_setting_are_one_change(asked: Shell) -> None:
    inquiry = asked.session.inquiry
    for wanted in (4, 3, 2):
        inquiry.change_setting("return-n", wanted)
    asked.window.actions_.trigger("undo")
    assert value(asked, "return-n") == 5
    assert not asked.window.actions_["undo"].isEnabled()


def test_a_step_there_and_back_leaves_nothing_to_undo(asked: Shell) -> None:
    asked.session.inquiry.change_setting("return-n", 4)
    asked.session.inquiry.change_setting("return-n", 5)
    assert not asked.window.actions_["undo"].isEnabled()


def test_undo_works_from_within_a_number(asked: Shell, wait: Wait) -> None:
    control = asked.window.inspector.query.strip.controls["return-n"].control
    asked.window.activateWindow()
    control.setFocus()
    QTest.keyClick(control, Qt.Key.Key_Up)
    assert value(asked, "return-n") == 6
    QTest.keyClick(control, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    wait(lambda: value(asked, "return-n") == 5)


def test_another_library_cannot_be_undone_into(asked: Shell, shells: ShellMaker) -> None:
    asked.session.inquiry.change_setting("return-n", 4)
    asked.session.open_library(shells.library(name="other"))
    assert not asked.window.actions_["undo"].isEnabled()


def test_many_settings_taken_back_at_once_are_one_change(asked: Shell) -> None:
    inquiry = asked.session.inquiry
    inquiry.change_settings({"return-n": 3, "retrieve-k": 7, "max-chunks-per-document": 0})
    inquiry.reset_settings()
    asked.window.actions_.trigger("undo")
    assert [value(asked, key) for key in ("return-n", "retrieve-k", "max-chunks-per-document")] == [3, 7, 0]
