"""A list of questions in the window: taken from anywhere, asked beside all else, opened, sorted, carried away."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.compose import Shell
from app.models.question_set import QUESTION, REASON, STAGES, TITLES
from pipeline.figures import figures_of
from pipeline.findings import SetQuestion
from pipeline.query import QueryEngine
from pipeline.question_set import ask_all
from pipeline.store.history import History
from tests.app.shell import ShellMaker
from tests.support.encoder import WordEncoder

Wait = Callable[[Callable[[], object]], None]
CROWDING = TITLES.index("Crowding")


@pytest.fixture
def library(shells: ShellMaker) -> Path:
    return shells.library()


@pytest.fixture
def opened(shells: ShellMaker, library: Path, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(library)
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.documents)
    shell.window.actions_.trigger("ask-list")
    return shell


def run(shell: Shell, wait: Wait) -> None:
    view = shell.window.history.questions
    assert view.run_button.isEnabled()
    view.run_button.click()
    wait(lambda: view.run_button.isVisible())


def shown(shell: Shell, column: int) -> list[str]:
    model = shell.window.history.questions.model
    return [model.index(row, column).data() for row in range(model.rowCount())]


def test_typed_questions_are_asked_and_a_row_says_what_the_engine_says(
    opened: Shell, library: Path, wait: Wait
) -> None:
    view = opened.window.history.questions
    assert opened.window.page == "history"
    assert not view.run_button.isEnabled()
    QTest.keyClicks(view.box, "late items")
    QTest.keyClick(view.box, Qt.Key.Key_Return)
    QTest.keyClicks(view.box, "  damaged item ")
    QTest.keyClick(view.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait(lambda: len(view.model.rows) == 2 and view.run_button.isVisible())
    settings = opened.session.inquiry.settings
    with closing(QueryEngine(library, WordEncoder())) as engine:
        expected = ask_all((SetQuestion("late items"), SetQuestion("damaged item")), engine, settings)
    for row, truth in zip(view.model.rows, expected, strict=True):
        assert row.question == truth.question
        assert (row.figures.crowding, row.figures.distinct, row.figures.dropped) == (
            truth.figures.crowding,
            truth.figures.distinct,
            truth.figures.dropped,
        )
    assert shown(opened, CROWDING) == [f"{row.figures.crowding:.0%}" for row in expected]
    assert shown(opened, STAGES["collapse"]) == [str(row.figures.dropped["collapse"]) for row in expected]
    assert not view.table.isColumnHidden(STAGES["collapse"])
    assert view.table.isColumnHidden(STAGES["merge"])  # nothing came twice
    assert view.table.isColumnHidden(REASON)
    assert view.foot.text().startswith("2 questions answered")
    collapsed = sum(row.figures.dropped["collapse"] for row in expected)
    assert f"in all {collapsed} " in view.foot.text()


def test_questions_of_a_file_keep_their_settings_and_failed_ones_say_why(
    opened: Shell, wait: Wait, shells: ShellMaker, tmp_path: Path
) -> None:
    file = tmp_path / "questions.toml"
    file.write_text(
        '[[question]]\ntext = "late items"\nsettings = { policy = "plain" }\n'
        '[[question]]\ntext = "nowhere"\nonly_file = "no such file.txt"\n'
        '[[question]]\ntext = "wrong"\nsettings = { return-n = 0 }\n'
        '[[question]]\ntext = "late items"\n',
        "utf-8",
    )
    shells.answers.chosen_file = file
    view = opened.window.history.questions
    view.file_button.click()
    wait(lambda: view.text)
    assert view.text.splitlines() == ["late items", "nowhere", "wrong", "late items"]
    run(opened, wait)
    first, second, third, fourth = view.model.rows
    assert "collapse" not in first.figures.dropped
    assert fourth.figures.dropped["collapse"]
    assert "no document" in second.error
    assert "return-n" in third.error
    assert shown(opened, REASON)[1] == second.error
    assert not view.table.isColumnHidden(REASON)
    assert "2 failed" in view.foot.text()
    # A failed row has no figures: it comes last whichever way the table is sorted.
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        view.table.sortByColumn(STAGES["collapse"], order)
        assert set(shown(opened, QUESTION)[2:]) == {"nowhere", "wrong"}
    assert shown(opened, STAGES["collapse"])[0] == str(fourth.figures.dropped["collapse"])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("gone.txt", None, "cannot be read"), ("bad.toml", "[[question", "bad.toml"), ("none.csv", "a,b\n", "question")],
)
def test_a_file_that_is_no_list_of_questions_is_told(
    opened: Shell, wait: Wait, tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, "utf-8")
    opened.asked.sets.take_file(tmp_path / name)
    wait(lambda: said in opened.window.status.said)
    assert opened.window.history.questions.text == ""


def test_pinned_questions_are_asked_again_with_their_settings(opened: Shell, library: Path, wait: Wait) -> None:
    view, inquiry = opened.window.history.questions, opened.session.inquiry
    view.pinned_button.click()
    wait(lambda: "No question is pinned" in opened.window.status.said)
    inquiry.change_setting("policy", "plain")
    inquiry.ask("late items")
    wait(lambda: inquiry.answer.phase == "answered")
    opened.window.actions_.trigger("pin-question")
    with closing(History(library)) as history:
        wait(lambda: [entry.pinned for entry in history.entries()] == [True])
    inquiry.reset_settings()
    view.pinned_button.click()
    wait(lambda: view.text == "late items")
    run(opened, wait)
    assert "collapse" not in view.model.rows[0].figures.dropped


def test_a_row_opens_its_run_with_the_same_figures(opened: Shell, wait: Wait) -> None:
    view, inquiry = opened.window.history.questions, opened.session.inquiry
    inquiry.change_setting("max-chunks-per-document", 1)
    inquiry.leave_out("docs/copy of policy.txt", True)
    opened.asked.sets.take(
        [SetQuestion("late items", settings={"return-n": 2}), SetQuestion("raft", only_file="docs/guide.txt")]
    )
    run(opened, wait)
    inquiry.reset_settings()
    inquiry.leave_out("docs/copy of policy.txt", False)
    for number, row in enumerate(view.model.rows):
        opened.window.show_page("history")
        place = view.table.visualRect(view.model.index(number, QUESTION)).center()
        QTest.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        wait(lambda row=row: inquiry.answer.phase == "answered" and inquiry.answer.trace.query == row.question.text)
        found = figures_of(inquiry.answer.trace)
        assert opened.window.page == "inspector"
        assert (found.crowding, found.distinct, found.dropped) == (
            row.figures.crowding,
            row.figures.distinct,
            row.figures.dropped,
        )
    assert inquiry.answer.trace.only_file == "docs/guide.txt"
    assert inquiry.answer.trace.settings["max-chunks-per-document"].value == 1


def test_the_window_lives_while_a_list_is_asked_and_it_can_be_cancelled(
    opened: Shell, wait: Wait, shells: ShellMaker
) -> None:
    view, inquiry = opened.window.history.questions, opened.session.inquiry
    view.set_text("\n".join(f"late items {number}" for number in range(2_000)))
    view.run_button.click()
    assert view.cancel_button.isVisible()
    assert not view.box.isEnabled()
    wait(lambda: len(view.model.rows) > 3)
    inquiry.ask("damaged item")  # answered beside it
    wait(lambda: inquiry.answer.phase == "answered" and inquiry.answer.trace.query == "damaged item")
    assert view.cancel_button.isVisible()
    view.cancel_button.click()
    wait(lambda: view.run_button.isVisible())
    asked = len(view.model.rows)
    assert 3 < asked < 2_000
    assert opened.window.status.said == f"Cancelled: {asked} questions asked"
    assert view.csv_button.isEnabled()  # what there is stays


def test_closing_the_window_ends_a_list_under_way(opened: Shell, wait: Wait) -> None:
    view = opened.window.history.questions
    view.set_text("\n".join(f"late items {number}" for number in range(5_000)))
    view.run_button.click()
    wait(lambda: len(view.model.rows) > 3)
    assert opened.session.close()


def test_rows_are_carried_away(opened: Shell, wait: Wait, shells: ShellMaker, tmp_path: Path) -> None:
    view = opened.window.history.questions
    assert not view.csv_button.isEnabled()
    opened.asked.sets.take(
        [
            SetQuestion('=cmd|"/c calc"!A1', "x"),
            SetQuestion("late items", title="@SUM"),
            SetQuestion("q", only_file="-"),
        ]
    )
    run(opened, wait)
    shells.answers.chosen_file = tmp_path / "answers"
    view.csv_button.click()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "answers.csv").read_text("utf-8-sig"))))
    assert [row["question"] for row in rows] == ['\'=cmd|"/c calc"!A1', "late items", "q"]
    assert rows[1]["title"] == "'@SUM"
    assert int(rows[1]["dropped_collapse"]) == view.model.rows[1].figures.dropped["collapse"]
    assert rows[2]["error"]
    view.json_button.click()
    content = json.loads((tmp_path / "answers.json").read_text("utf-8"))
    assert content["rows"][1]["figures"]["distinct"] == view.model.rows[1].figures.distinct
    assert content["settings"]["return-n"] == 5
    view.table.selectRow(1)
    opened.window.actions_.trigger("copy")
    assert QApplication.clipboard().text().startswith("2\tlate items\t")


def test_what_cannot_be_asked_is_said_before(shells: ShellMaker, wait: Wait) -> None:
    shell = shells.shell()
    shell.session.open_library(shells.library())
    view = shell.window.history.questions
    shell.window.show_page("history")
    shell.window.history.show_list()
    wait(lambda: shell.session.shelf.library.documents)
    view.set_text("late items")
    assert not view.run_button.isEnabled()
    assert view._with.text() == "The model is not loaded yet"
    shell.session.start_model()
    wait(lambda: view.run_button.isEnabled())
    view.set_text("\n".join(["q"] * 10_001))
    assert not view.run_button.isEnabled()
    assert "10,000 are the most" in view._with.text()


def test_edited_lines_lose_the_settings_that_came_with_them(opened: Shell) -> None:
    sets, view = opened.asked.sets, opened.window.history.questions
    sets.take([SetQuestion("one\ntwo", settings={"return-n": 1}), SetQuestion("three")])
    assert view.text == "one two\nthree"
    assert sets.questions() == (SetQuestion("one\ntwo", settings={"return-n": 1}), SetQuestion("three"))
    view.set_text("one two!\n\nthree")
    assert sets.questions() == (SetQuestion("one two!"), SetQuestion("three"))


def test_the_samples_questions_are_taken_with_what_they_need(opened: Shell, wait: Wait) -> None:
    view = opened.window.history.questions
    assert not view.sample_button.isVisible()  # their documents are not in this library
    opened.asked.sets.take_sample()
    wait(lambda: len(view.text.splitlines()) == 8)
    questions = {question.id: question for question in opened.asked.sets.questions()}
    assert questions["widening"].settings == {"retrieve-k": 10}
    assert questions["one-file-only"].only_file


def test_the_foot_of_a_long_run_is_right_in_the_end(opened: Shell, wait: Wait) -> None:
    view = opened.window.history.questions
    view.set_text("\n".join(f"late items {number}" for number in range(120)))
    run(opened, wait)
    assert len(view.model.rows) == 120
    assert view.foot.text().startswith("120 questions answered")
    assert not view.table.isColumnHidden(STAGES["collapse"])
