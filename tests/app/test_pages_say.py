"""What every page says when there is little to show, and that nothing on it leads nowhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.compose import Shell, _say_unexpected
from app.dialogs import QuestionBox
from app.focus import FocusTarget
from app.models.question_set import QUESTION
from app.theme import DARK_CONTRAST, LIGHT_CONTRAST, ThemeWatch, contrast
from app.views.compare_sides import RunList
from app.views.stylesheet import stylesheet
from app.windows import Windows
from pipeline.findings import Figures, SetQuestion, SetRow
from pipeline.records import STAGE_NAMES
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]
HELP = ["add-folder", "open-sample", "open-library"]


@pytest.fixture
def opened(shells: ShellMaker, wait: Wait) -> Shell:
    """A window on a library whose files are all there."""
    shell = shells.shell()
    shell.session.open_library(shells.folder / "own")
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready")
    shell.session.add_folders((shells.documents(),))
    wait(lambda: len(shell.session.shelf.library.documents) == 5 and not shell.session.shelf.work.active)
    return shell


def ask(shell: Shell, question: str, wait: Wait) -> None:
    shell.session.inquiry.ask(question)
    wait(lambda: shell.session.inquiry.answer.trace and shell.session.inquiry.answer.trace.query == question)
    wait(lambda: shell.session.inquiry.answer.phase == "answered")


# --- dialogs -----------------------------------------------------------------------------------------------------


@pytest.fixture
def box(watch: ThemeWatch, qtbot: QtBot) -> Iterator[QuestionBox]:
    window = QWidget()
    qtbot.addWidget(window)
    made = QuestionBox(window, "Forget every question?", "There is no undo.", ("Forget every question",))
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()
    watch.set_scheme(Qt.ColorScheme.Light)
    watch.set_scale(1.0)


def test_cancel_stays_what_enter_means_whatever_happens_to_the_look(
    box: QuestionBox, watch: ThemeWatch, qtbot: QtBot
) -> None:
    for change in (
        lambda: None,
        lambda: watch.set_scheme(Qt.ColorScheme.Dark),
        lambda: watch.set_scale(1.5),
        lambda: watch.set_scheme(Qt.ColorScheme.Light, True),
    ):
        change()
        qtbot.wait(20)
        assert box.cancel.isDefault()
        assert box.focusWidget() is box.cancel
        assert not any(button.isDefault() or button.autoDefault() for button in box.options)
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.clickedButton() is box.cancel


# --- another question ---------------------------------------------------------------------------------------------


def test_another_question_begins_at_its_first_row_and_the_same_one_stays_where_it_was(
    opened: Shell, wait: Wait
) -> None:
    ask(opened, "late items cost two pounds a day", wait)
    trace = opened.session.inquiry.answer.trace
    assert trace is not None
    last = trace.candidates[2].candidate  # no first one of the other question
    opened.focus.select(FocusTarget("candidate", last.evidence_key, last.rank))
    opened.session.inquiry.change_setting("return-n", 2)
    wait(lambda: opened.session.inquiry.answer.trace is not trace and opened.session.inquiry.answer.phase == "answered")
    assert opened.focus.selected is not None
    assert opened.focus.selected.key == last.evidence_key
    ask(opened, "dry the raft", wait)
    first = opened.session.inquiry.answer.trace.candidates[0].candidate  # type: ignore[union-attr]
    assert opened.focus.selected == FocusTarget("candidate", first.evidence_key, 1)
    assert [list_.verticalScrollBar().value() for list_ in opened.window.inspector.lanes.lists] == [0, 0, 0]


# --- without a library --------------------------------------------------------------------------------------------


def test_without_a_library_every_page_says_so_and_offers_what_helps(shells: ShellMaker) -> None:
    shell = shells.shell()
    window = shell.window
    for page, panel in (
        ("library", window.library.panel),
        ("history", window.history.panel),
        ("compare", window.compare.runs_panel),
    ):
        window.show_page(page)
        assert panel.isVisible(), page
        assert panel.shown is not None
        assert panel.shown.title == "No library is open"
        assert [step.action for step in panel.shown.steps][:3] == HELP
    assert window.compare.runs_panel.shown.steps[-1].action == "open-trace"  # type: ignore[union-attr]
    window.show_page("library")
    assert window.library._add.isEnabled()
    assert not window.library.filter.isVisible()
    assert window.history.questions._why_not == "No library is open"


def test_a_button_of_such_a_page_does_what_it_says(shells: ShellMaker, wait: Wait, qtbot: QtBot) -> None:
    shell = shells.shell()
    shell.session.start_model()
    for page in ("history", "library"):
        shells.answers.asked.clear()
        shell.window.show_page(page)
        panel = getattr(shell.window, page).panel
        button = panel.findChildren(QPushButton)[0]
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert shells.answers.asked == ["Add a folder of documents"]


def test_to_type_a_question_without_a_library_leads_to_the_two_doors(shells: ShellMaker) -> None:
    shell = shells.shell()
    shell.window.show_page("compare")
    shell.window.actions_.trigger("focus-query")
    assert shell.window.page == "welcome"
    assert "add a folder" in shell.window.status.said


def test_a_damaged_library_is_told_on_every_page_with_what_to_do(shells: ShellMaker, wait: Wait) -> None:
    folder = shells.folder / "own"
    folder.mkdir()
    (folder / "library.sqlite3").write_bytes(b"nonsense" * 900)
    shell = shells.shell()
    shell.session.open_library(folder)
    wait(lambda: shell.session.shelf.library.phase == "failed")
    problem, window = shell.session.shelf.library.problem, shell.window
    assert problem is not None
    assert problem.steps[0].action == "rebuild-library"
    for page, panel in (("library", window.library.panel), ("compare", window.compare.runs_panel)):
        window.show_page(page)
        assert panel.isVisible(), page
        assert panel.shown is not None
        assert (panel.shown.title, panel.shown.steps[0]) == (problem.title, problem.steps[0])
    window.show_page("history")
    assert window.history.notice.isVisible()
    assert next(button.text() for button in window.history.notice.findChildren(QPushButton)) == problem.steps[0].label
    assert window.history.asked.panel.shown is not None
    assert window.history.asked.panel.shown.title == "No question to look at"
    assert window.history.questions._why_not == "The library cannot be used"


# --- the library's list -------------------------------------------------------------------------------------------


def test_a_filter_that_nothing_matches_says_so_and_is_cleared(opened: Shell, qtbot: QtBot) -> None:
    page = opened.window.library
    opened.window.show_page("library")
    page.filter.setText("zebra")
    assert page.panel.isVisible()
    assert page.panel.shown is not None
    assert page.panel.shown.title == "No document matches"
    (clear,) = [button for button in page.panel.findChildren(QPushButton) if button.isVisible()]
    qtbot.mouseClick(clear, Qt.MouseButton.LeftButton)
    assert page.filter.text() == ""
    assert page.table.isVisible()
    assert page.model.rowCount() == 5


def test_what_an_answer_finds_of_its_files_stands_in_the_list_as_well(
    opened: Shell, wait: Wait, qtbot: QtBot, tmp_path: Path
) -> None:
    page, files = opened.window.library, shells_documents(tmp_path)
    qtbot.wait(300)  # the looks at the new library are over: the next one is for the answer's sake
    (files / "guide.txt").unlink()
    (files / "near.txt").write_text("Something else entirely about late items.")
    ask(opened, "late items raft", wait)
    wait(lambda: opened.session.shelf.library.freshness.get("docs/guide.txt") == "missing")
    opened.window.show_page("library")
    wait(lambda: page.model.held() == {"indexed": 3, "missing": 1, "changed": 1})


def test_the_list_looks_at_the_files_when_it_is_shown(opened: Shell, wait: Wait, tmp_path: Path) -> None:
    (shells_documents(tmp_path) / "guide.txt").unlink()
    opened.window.show_page("library")
    wait(lambda: opened.window.library.model.held().get("missing") == 1)


def shells_documents(tmp_path: Path) -> Path:
    return tmp_path / "docs"


def test_that_files_of_an_answer_changed_is_said_where_an_answer_is_shown(
    opened: Shell, wait: Wait, tmp_path: Path
) -> None:
    (shells_documents(tmp_path) / "guide.txt").unlink()
    opened.window.show_page("inspector")
    ask(opened, "dry the raft", wait)
    wait(lambda: opened.session.shelf.library.notice is not None)
    notice = opened.session.shelf.library.notice
    assert notice is not None
    assert notice.title == "1 file of this answer is missing"
    assert opened.window.notice.isVisible()
    opened.window.show_page("library")
    assert not opened.window.notice.isVisible()
    opened.window.show_page("compare")
    assert opened.window.notice.isVisible()


def test_the_tip_of_re_index_names_its_own_key(opened: Shell) -> None:
    assert opened.window.library._reindex.toolTip() == opened.window.actions_["reindex"].toolTip()
    assert "F5" not in opened.window.library._reindex.toolTip()


# --- tables, lists, chips -----------------------------------------------------------------------------------------


def test_questions_have_room_beside_many_figures_and_their_columns_come_back(opened: Shell, shells: ShellMaker) -> None:
    window, view = opened.window, opened.window.history.questions
    window.resize(1024, 700)
    window.show_page("history")
    window.history.show_list()
    question = SetQuestion("How do I return damaged gear, and who pays for the repair?")
    figures = Figures(0.2, 9, 4, 5, 5, dict.fromkeys(STAGE_NAMES[:7], 3), 12.0)
    view.show_questions((question,))
    view.show_rows((SetRow(1, question, figures),))
    QApplication.processEvents()
    header, room = view.table.horizontalHeader(), view.table.viewport().width()
    assert header.length() <= room
    assert header.sectionSize(QUESTION) >= room * 0.25
    header.resizeSection(QUESTION, 333)
    window.close()
    again = shells.shell().window.history.questions.table
    assert again.horizontalHeader().sectionSize(QUESTION) == 333


def test_words_that_nothing_holds_leave_no_finding_of_another_document(opened: Shell, wait: Wait) -> None:
    ask(opened, "late items cost", wait)
    feature, panel = opened.why_not, opened.window.inspector.why
    feature.open_panel()
    feature.panel.targetChosen.emit(feature.panel.list.lines.line(0).target)  # type: ignore[union-attr]
    wait(lambda: feature.state.told is not None)
    panel.field.setText("zebra quagga")
    wait(lambda: "no passage holds these words" in panel.searching.text())
    assert feature.state.target is None
    assert feature.state.told is None
    assert panel._right.currentIndex() == 0
    assert panel.searching.wordWrap()


def test_a_name_that_does_not_fit_ends_in_an_ellipsis(opened: Shell, qtbot: QtBot) -> None:
    names = RunList()
    qtbot.addWidget(names)
    names.addItem("Pinned 22:10 · a very long name of a run that was pinned, with all its settings")
    names.resize(160, 30)
    assert names.shown_name().endswith("…")
    names.resize(1_600, 30)
    assert names.shown_name() == names.currentText()
    opened.window.show_page("compare")
    QApplication.processEvents()
    sides = opened.window.compare.sides
    assert sides.swap.height() == sides.left.list.height()


def test_skipped_steps_are_counted_in_words_where_there_is_room(opened: Shell, wait: Wait) -> None:
    ask(opened, "late items cost", wait)
    strip = opened.window.inspector.strip
    chip = strip.chips[-1]
    strip.resize(2_400, 60)
    assert chip.shown == f"{chip.step.figure} skipped"
    assert (True, False) in [strip._rows(width)[3] for width in range(400, 2_400, 10)]  # tight chips, all the words
    strip.resize(420, 200)
    assert chip.shown == f"+{chip.step.figure}"
    assert chip.toolTip()


def test_tab_comes_to_what_chooses_before_what_is_chosen(opened: Shell, wait: Wait) -> None:
    ask(opened, "late items cost", wait)
    window = opened.window
    order = tab_order(window)
    page, compare = window.inspector, window.compare
    assert order.index(page.strip.chips[0]) > order.index(page.query.strip.reset_button)
    assert order.index(page.strip.chips[-1]) < order.index(page.lanes.lists[0])
    chosen = [compare.sides.left.list, *compare.runs.lists.values()]
    chooses = [compare.tabs, compare.pin, compare.open_trace]
    assert max(map(order.index, chooses)) < min(map(order.index, chosen))


def tab_order(window: QWidget) -> list[QWidget]:
    order, part = [window], window.nextInFocusChain()
    while part is not window:
        order.append(part)
        part = part.nextInFocusChain()
    return order


# --- what goes wrong, and how it is called -------------------------------------------------------------------------


def test_an_unexpected_failure_is_told_and_can_be_closed(
    opened: Shell, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    windows = Windows(lambda: opened, lambda shell, request: None)
    monkeypatch.setattr(Windows, "active", property(lambda self: opened))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    _say_unexpected(windows)
    try:
        raise ValueError("odd")
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    trouble = opened.window.trouble
    assert trouble.isVisible()
    opened.window.actions_.trigger("copy-details")
    assert "ValueError: odd" in QApplication.clipboard().text()
    close = next(button for button in trouble.findChildren(QPushButton) if button.text() == "Close")
    qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert not trouble.isVisible()


def test_a_file_is_shown_in_its_folder_in_the_same_words_everywhere() -> None:
    sources = (Path(__file__).parents[2] / "app").rglob("*.py")
    for source in sources:
        text = source.read_text("utf-8")
        assert '"Reveal' not in text, source
        assert '"Show in folder' not in text, source


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_what_a_field_asks_for_can_be_read(watch: ThemeWatch, qtbot: QtBot, scheme: Qt.ColorScheme) -> None:
    watch.set_scheme(scheme)
    try:
        for field in (QLineEdit(), QPlainTextEdit()):
            qtbot.addWidget(field)
            field.setPlaceholderText("Search the questions")
            field.show()
            colour = field.palette().color(QPalette.ColorRole.PlaceholderText)
            assert colour.alpha() == 255
            assert contrast(colour.name().upper(), watch.theme.surface) >= 4.5
    finally:
        watch.set_scheme(Qt.ColorScheme.Light)


@pytest.mark.parametrize("theme", [LIGHT_CONTRAST, DARK_CONTRAST], ids=["light", "dark"])
def test_in_high_contrast_the_handle_of_a_scroll_bar_is_seen(theme: object) -> None:
    handle = stylesheet(theme).split("QScrollBar::handle { background: ")[1][:7]  # type: ignore[arg-type]
    assert contrast(handle, theme.surface) >= 3  # type: ignore[attr-defined]
    assert contrast(handle, theme.window) >= 3  # type: ignore[attr-defined]
