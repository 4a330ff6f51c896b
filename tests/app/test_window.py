"""The window as a person uses it: pages, keys, commands, drops, the end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.actions import SPECS
from app.compose import Shell, start
from app.focus import FocusTarget
from app.fuzzy import score
from app.main_window import SMALLEST
from app.preferences import Preferences
from app.sample import read_questions
from app.state import Problem
from app.views.parts import Text
from app.views.progress_bar import sentence
from pipeline.cli import OpenRequest
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def opened(shells: ShellMaker, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.phase == "open")
    return shell


def answer_to(shell: Shell, question: str, wait: Wait) -> Any:
    shell.session.inquiry.ask(question)
    wait(lambda: shell.session.inquiry.answer.trace and shell.session.inquiry.answer.trace.query == question)
    return shell.session.inquiry.answer.trace


# --- starting ----------------------------------------------------------------------------------------------------


def test_the_first_start_offers_two_doors(shells: ShellMaker, wait: Wait, qtbot: QtBot) -> None:
    shell = shells.shell()
    start(shell, OpenRequest())
    wait(lambda: shell.session.model.phase == "ready")
    assert shell.window.page == "welcome"
    shells.answers.chosen_folder = shells.documents()
    qtbot.keyClick(shell.window.welcome.doors()[1], Qt.Key.Key_Return)
    wait(lambda: len(shell.session.shelf.library.documents) == 5 and not shell.session.shelf.work.active)
    assert shell.window.page == "inspector"


def test_the_second_start_opens_the_last_library(shells: ShellMaker, wait: Wait) -> None:
    library = shells.library()
    shells.preferences.opened(library)
    shell = shells.shell()
    start(shell, OpenRequest())
    wait(lambda: shell.session.shelf.library.phase == "open")
    assert shell.session.shelf.library.folder == library


def test_a_last_library_that_is_gone_is_no_failure(shells: ShellMaker, wait: Wait, tmp_path: Path) -> None:
    shells.preferences.opened(tmp_path / "gone")
    shell = shells.shell()
    start(shell, OpenRequest())
    wait(lambda: shell.session.model.phase == "ready")
    assert shell.window.page == "welcome"


def test_the_model_starts_after_the_first_paint(shells: ShellMaker, wait: Wait) -> None:
    shell = shells.shell()
    start(shell, OpenRequest(shells.library()))
    assert shell.session.model.phase == "waiting"
    wait(lambda: shell.session.model.phase == "ready")


# --- asking with the keyboard ------------------------------------------------------------------------------------


def test_the_keyboard_asks_and_clears(opened: Shell, wait: Wait, qtbot: QtBot) -> None:
    window = opened.window
    window.show_page("library")
    window.library.table.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Slash)
    field = window.inspector.query.field
    wait(lambda: window.page == "inspector" and field.hasFocus())
    qtbot.keyClicks(field, "damaged item/desk")
    wait(lambda: opened.session.inquiry.answer.trace is not None)
    assert opened.session.inquiry.answer.question == "damaged item/desk"
    qtbot.keyClick(field, Qt.Key.Key_Down)
    wait(lambda: window.inspector.lanes.isAncestorOf(window.focusWidget()))
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == ""
    assert opened.session.inquiry.answer.phase == "no_question"
    assert window.inspector.panel.isVisible()


def test_settings_in_the_bar_are_live_and_marked(opened: Shell, wait: Wait) -> None:
    answer_to(opened, "damaged item", wait)
    strip = opened.window.inspector.query.strip
    spin = strip.controls["return-n"].control
    spin.setValue(1)  # type: ignore[attr-defined]
    wait(lambda: len(opened.session.inquiry.answer.trace.evidence) == 1)  # type: ignore[union-attr]
    assert spin.property("changed") is True
    assert strip.reset_button.isVisible()
    strip.reset_button.click()
    wait(lambda: len(opened.session.inquiry.answer.trace.evidence) > 1)  # type: ignore[union-attr]
    assert spin.value() == 5  # type: ignore[attr-defined]
    assert spin.property("changed") is False
    combo = strip.controls["policy"].control
    combo.setCurrentIndex(combo.findData("plain"))  # type: ignore[attr-defined]
    wait(lambda: opened.session.inquiry.answer.trace.policy == "plain")  # type: ignore[union-attr]


def test_chips_take_conditions_back(opened: Shell, wait: Wait, qtbot: QtBot) -> None:
    answer_to(opened, "damaged item", wait)
    opened.session.inquiry.leave_out("docs/policy.txt", True)
    opened.session.inquiry.only_file("docs/guide.txt")
    query = opened.window.inspector.query
    chips = query.chips()
    assert len(chips) == 2
    for chip in chips:
        chip.removed.emit()
    assert not opened.session.inquiry.scope.narrowed
    assert not query.chips()


def test_a_remedy_in_the_lanes_is_applied(opened: Shell, wait: Wait) -> None:
    answer_to(opened, "damaged item", wait)
    opened.window.inspector.lanes.applySetting.emit("max-chunks-per-document", 3)
    assert opened.session.inquiry.settings.max_chunks_per_document == 3
    opened.window.inspector.lanes.leaveOutRequested.emit("docs/policy.txt", True)
    opened.window.inspector.lanes.preferRequested.emit("docs/near.txt", True)
    opened.window.inspector.lanes.onlyFileRequested.emit("docs/near.txt")
    assert opened.session.inquiry.scope.only_file == "docs/near.txt"
    assert opened.session.inquiry.scope.left_out == ("docs/policy.txt",)
    assert opened.session.inquiry.scope.preferred == ("docs/near.txt",)
    opened.window.inspector.lanes.onlyFileRequested.emit("")
    assert opened.session.inquiry.scope.only_file is None


def test_nothing_found_in_a_file_says_what_to_do(shells: ShellMaker, wait: Wait) -> None:
    shell = shells.shell()
    shell.session.open_library(shells.library({"a.txt": "Boats are blue.", "empty.txt": ""}))
    shell.session.start_model()
    answer_to(shell, "boats", wait)
    shell.session.inquiry.only_file("docs/empty.txt")
    panel = shell.window.inspector.panel
    wait(panel.isVisible)
    assert panel.shown is not None
    assert panel.shown.title == "Nothing found in this file"
    panel.stepChosen.emit(panel.shown.steps[0].action)
    wait(shell.window.inspector.lanes.isVisible)


def test_a_library_without_text_says_so(shells: ShellMaker, wait: Wait) -> None:
    shell = shells.shell()
    shell.session.open_library(shells.library({"empty.txt": ""}))
    panel = shell.window.inspector.panel
    wait(lambda: panel.shown is not None and panel.shown.title == "None of the documents holds text")


# --- pages and commands ------------------------------------------------------------------------------------------


def test_pages_by_key_and_rail(opened: Shell, qtbot: QtBot, wait: Wait) -> None:
    for number, page in ((Qt.Key.Key_4, "library"), (Qt.Key.Key_6, "settings"), (Qt.Key.Key_1, "inspector")):
        qtbot.keyClick(opened.window, number, Qt.KeyboardModifier.ControlModifier)
        wait(lambda page=page: opened.window.page == page)
        assert opened.window.actions_[f"page-{page}"].isChecked()


def test_every_command_is_defined_once_and_has_one_key(opened: Shell) -> None:
    ids = [spec.id for spec in SPECS]
    assert len(set(ids)) == len(ids)
    keys = [QKeySequence(key).toString() for spec in SPECS for key in spec.shortcuts]
    assert len(set(keys)) == len(keys)
    for spec, action in opened.window.actions_:
        assert action.text() == spec.text
        assert action.receivers("2triggered(bool)") > 0, spec.id


def test_every_step_of_every_problem_is_a_command() -> None:
    import app.problems
    import app.session
    import app.situations

    known = {spec.id for spec in SPECS}
    for module in (app.problems, app.session, app.situations):
        source = Path(module.__file__ or "").read_text("utf-8")
        for part in source.split("NextStep(")[1:]:
            assert part.split(")")[0].split(",")[1].strip().strip('"') in known


def test_the_palette_finds_a_command(opened: Shell, qtbot: QtBot, wait: Wait) -> None:
    opened.window.actions_.trigger("palette")
    palette = opened.wiring.palette
    qtbot.keyClicks(palette.field, "sett")
    assert "Settings" in palette.list.topLevelItem(0).text(0)
    qtbot.keyClicks(palette.field, "zzz")
    assert palette.list.isHidden()
    palette.field.setText("pg lib")
    palette.field.setText("view library")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    wait(lambda: opened.window.page == "library")
    assert palette.isHidden()


def test_fuzzy_prefers_beginnings() -> None:
    assert score("xyz", "Open library") is None
    assert score("", "anything") == 0
    good, poor = score("ol", "Open library"), score("ol", "Tool tip")
    assert good is not None
    assert poor is not None
    assert good > poor
    assert score("lib", "Look at the library") is not None


def test_the_look_is_remembered_and_applied(opened: Shell, preferences: Preferences) -> None:
    before = opened.window.font().pointSizeF()
    heading = opened.window.settings.findChildren(Text)[0]
    large = heading.font().pointSizeF()
    try:
        opened.window.actions_.trigger("zoom-in")
        assert preferences.choices.zoom == 110
        assert opened.window.font().pointSizeF() > before
        assert heading.font().pointSizeF() > large  # a label with a font of its own follows too
        opened.window.actions_.trigger("scheme-dark")
        assert preferences.choices.scheme == "dark"
        assert opened.wiring.theme().dark
        settings = opened.window.settings
        assert settings.look() == ("dark", 110)
        opened.window.actions_.trigger("scheme-contrast-dark")
        assert opened.wiring.theme().name == "dark, high contrast"
        assert settings.look() == ("contrast-dark", 110)
    finally:
        opened.window.actions_.trigger("zoom-reset")
        opened.window.actions_.trigger("scheme-light")
    assert opened.window.font().pointSizeF() == before


def test_export_and_copy(opened: Shell, shells: ShellMaker, wait: Wait, tmp_path: Path) -> None:
    actions = opened.window.actions_
    assert not actions["export-trace"].isEnabled()
    answer_to(opened, "damaged item", wait)
    shells.answers.chosen_file = tmp_path / "trace.json"
    actions.trigger("export-trace")
    assert json.loads((tmp_path / "trace.json").read_text())["query"] == "damaged item"
    shells.answers.chosen_file = tmp_path / "picture"
    actions.trigger("save-picture")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    shells.answers.chosen_file = tmp_path / "no folder" / "picture.png"
    actions.trigger("save-picture")
    assert "could not be written" in opened.window.status.said
    actions.trigger("copy-projection")
    assert json.loads(QGuiApplication.clipboard().text())[0]["document_id"]


def test_dialogs_are_asked(opened: Shell, shells: ShellMaker, wait: Wait) -> None:
    for action in ("about", "shortcuts"):
        opened.window.actions_.trigger(action)
    assert shells.answers.asked == [f"about words {opened.session.shelf.library.folder}", "shortcuts"]
    shells.answers.confirms = False
    root = opened.session.shelf.library.roots[0]
    opened.window.library.forgetRequested.emit(root.path, root.label)
    assert not opened.session.shelf.work.active
    shells.answers.confirms = True
    opened.window.library.forgetRequested.emit(root.path, root.label)
    wait(lambda: not opened.session.shelf.library.roots)


def test_a_folder_of_other_things_is_not_taken_for_a_library(opened: Shell, shells: ShellMaker) -> None:
    shells.answers.chosen_folder = shells.documents(name="other")
    before = opened.session.shelf.library.folder
    opened.window.actions_.trigger("open-library")
    assert "no library and not empty" in opened.window.status.said
    assert opened.session.shelf.library.folder == before


def test_the_real_dialogs_can_be_built(opened: Shell) -> None:
    from app.dialogs import ShortcutsDialog

    dialog = ShortcutsDialog(opened.window.actions_, opened.window)
    assert dialog.table.topLevelItemCount() >= 3
    dialog.deleteLater()


# --- dropping ----------------------------------------------------------------------------------------------------


def drop(shell: Shell, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(50, 50), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    shell.window.dropEvent(event)


def test_a_dropped_folder_is_added(opened: Shell, shells: ShellMaker, wait: Wait) -> None:
    drop(opened, shells.documents({"new.txt": "Boats are blue."}, "boats"))
    wait(lambda: opened.session.shelf.work.phase == "done")
    wait(lambda: len(opened.session.shelf.library.roots) == 2)


def test_a_dropped_file_is_refused_in_words(opened: Shell, shells: ShellMaker) -> None:
    drop(opened, shells.documents() / "guide.txt")
    assert opened.window.status.said.startswith("“guide.txt” is a file.")
    assert not opened.session.shelf.work.active


def test_no_field_swallows_a_dropped_folder(opened: Shell) -> None:
    for field in opened.window.findChildren(QLineEdit):
        assert not field.acceptDrops(), field.objectName()


# --- the library page --------------------------------------------------------------------------------------------


def test_the_table_filters_sorts_and_shows(opened: Shell, wait: Wait) -> None:
    opened.window.show_page("library")
    page = opened.window.library
    assert page.model.rowCount() == 5
    page.filter.setText("policy old")
    assert page.model.rowCount() == 1
    page.filter.clear()
    page.table.sortByColumn(5, Qt.SortOrder.DescendingOrder)
    assert page.model.document(0).characters >= page.model.document(4).characters
    row = page.model.row_of("docs/guide.txt")
    assert row is not None
    page.table.selectRow(row)
    page.table.activatedRow.emit()
    wait(lambda: page.pane.isVisible())
    assert "Dry the raft" in page.pane.toPlainText()
    page.leave_button.click()
    assert opened.session.inquiry.scope.left_out == ("docs/guide.txt",)
    assert page.leave_button.text() == "Take back in"
    page.only_button.click()
    assert opened.session.inquiry.scope.only_file == "docs/guide.txt"
    assert opened.window.page == "inspector"


def test_missing_files_are_shown_as_missing(opened: Shell) -> None:
    """The library was made without files: all of them are missing on disk."""
    opened.window.show_page("library")
    page = opened.window.library
    assert page.state.itemData(1) == "missing"
    page.state.setCurrentIndex(1)
    assert page.model.rowCount() == 5


# --- work, and the end -------------------------------------------------------------------------------------------


def test_a_refresh_every_while_does_not_lose_the_selection(opened: Shell, wait: Wait) -> None:
    opened.window.show_page("library")
    page = opened.window.library
    page.table.selectRow(2)
    chosen = page.current_document()
    opened.session.shelf.refresh()
    opened.session.shelf.library_changed.emit(opened.session.shelf.library)
    assert page.current_document() == chosen


def test_progress_in_words(shells: ShellMaker, wait: Wait) -> None:
    from app.state import WorkState
    from pipeline.progress import Progress

    running = WorkState("running", "Indexing", Progress("reading", 340, 1000, "a.txt", 10, 2, 20.0))
    assert (
        sentence(running)
        == "Indexing: 340 of 1,000 files, 17 per second, 39 seconds left, 10 texts encoded, 2 could not be read"
    )
    assert sentence(WorkState("running", "Indexing")) == "Indexing: looking for files"
    assert "waiting for the model" in sentence(WorkState("waiting", "Indexing"))
    assert "goes on from there" in sentence(WorkState("cancelled", "Indexing", running.progress))
    failed = WorkState("failed", "Indexing", problem=Problem("Locked", "By another."))
    assert sentence(failed) == "Locked. By another."


@pytest.mark.parametrize("moment", ["loading", "indexing", "asking", "idle"])
def test_closing_is_clean_and_quick(shells: ShellMaker, wait: Wait, moment: str) -> None:
    shell = shells.shell()
    shells.model.let_encode.clear()
    if moment == "loading":
        shells.model.loaded.clear()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    wait(lambda: shell.session.shelf.library.phase == "open")
    if moment in ("indexing", "asking"):
        wait(lambda: shell.session.model.phase == "ready")
        if moment == "indexing":
            shell.session.add_folders((shells.documents({"n.txt": "Boats are blue."}, "boats"),))
        else:
            shell.session.inquiry.ask("boats")
        assert shells.model.asked.wait(10)
    before = time.monotonic()
    shell.window.close()
    assert time.monotonic() - before < 2
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("twinspect")]
    assert shell.preferences.choices.geometry


def test_geometry_and_splitters_come_back(shells: ShellMaker) -> None:
    first = shells.shell()
    first.window.resize(1111, 777)
    first.window.close()
    second = shells.shell()
    second.window.close()
    assert "inspector" in shells.preferences.choices.splitters
    shells.preferences.change(geometry="!!", splitters={"inspector": "ü"})
    shells.shell()  # what cannot be used is not used


# --- for everybody -----------------------------------------------------------------------------------------------


def named(widget: QWidget) -> bool:
    return bool(widget.accessibleName() or getattr(widget, "text", lambda: "")())


def test_every_control_has_a_name(opened: Shell, wait: Wait) -> None:
    answer_to(opened, "damaged item", wait)
    kinds = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox, QAbstractItemView)
    for widget in opened.window.findChildren(QWidget):
        owned = isinstance(widget.parentWidget(), (QAbstractSpinBox, QComboBox, QLineEdit, QAbstractItemView))
        popup = widget.parentWidget() is not None and widget.parentWidget().inherits("QComboBoxPrivateContainer")
        inside = widget.objectName().startswith("qt_") or owned or popup
        if isinstance(widget, kinds) and not inside and not isinstance(widget.parentWidget(), QAbstractScrollArea):
            assert named(widget), f"{widget!r} in {widget.parentWidget()!r}"


def test_it_fits_a_small_screen(opened: Shell, wait: Wait) -> None:
    answer_to(opened, "damaged item", wait)
    assert SMALLEST.width() <= 1024
    assert SMALLEST.height() <= 700
    for page in ("inspector", "library", "settings"):
        opened.window.show_page(page)
        hint = opened.window.minimumSizeHint()
        assert hint.width() <= 1024
        assert hint.height() <= 700


def test_tab_reaches_every_part_of_the_inspector(opened: Shell, wait: Wait, qtbot: QtBot) -> None:
    answer_to(opened, "damaged item", wait)
    field = opened.window.inspector.query.field
    block = opened.session.inquiry.answer.trace.evidence[0]  # type: ignore[union-attr]
    opened.focus.selected = FocusTarget("evidence", block.evidence_key, 1)
    field.setFocus()
    reached = set()
    for _ in range(60):
        qtbot.keyClick(opened.window.focusWidget(), Qt.Key.Key_Tab)
        widget = opened.window.focusWidget()
        for name in ("query", "strip", "lanes", "detail"):
            if getattr(opened.window.inspector, name).isAncestorOf(widget):
                reached.add(name)
        if widget is field:
            break
    assert reached == {"query", "strip", "lanes", "detail"}


def test_the_samples_questions_can_be_read() -> None:
    questions = read_questions()
    assert len(questions) == 8
    assert all(question.title and question.text and question.look_at for question in questions)
    assert read_questions(Path("/nowhere/questions.toml")) == ()


def test_a_screenshot_is_the_real_window(shells: ShellMaker, opened: Shell, wait: Wait, tmp_path: Path) -> None:
    from PySide6.QtGui import QImage

    from app.screenshot import save_screenshot

    trace = answer_to(opened, "damaged item", wait)
    folder = opened.session.shelf.library.folder
    assert folder is not None
    save_screenshot(folder, trace, tmp_path / "picture.png", (1024, 700), "dark")
    picture = QImage(str(tmp_path / "picture.png"))
    assert (picture.width(), picture.height()) == (1024, 700)
    assert len({picture.pixel(x, y) for x in range(0, 1024, 7) for y in range(0, 700, 7)}) > 20
