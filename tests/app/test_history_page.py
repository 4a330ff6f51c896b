"""The history in the window: kept as questions are answered, without a trail of half-typed ones; found, opened again,
pinned, forgotten; and whatever is wrong with it costs nothing else."""

from __future__ import annotations

import csv
import io
import os
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.compose import Shell
from app.features import asked_keeping
from app.models import history as history_model
from app.models.history import ASKED, CROWDING, QUESTION, HistoryTable
from app.preferences import Preferences
from pipeline.findings import Figures, HistoryEntry
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.settings import resolve
from pipeline.store.history import History, history_file
from tests.app.shell import ShellMaker
from tests.support.encoder import WordEncoder

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def library(shells: ShellMaker) -> Path:
    return shells.library()


@pytest.fixture
def opened(shells: ShellMaker, library: Path, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(library)
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.documents)
    return shell


def entries(library: Path) -> tuple[HistoryEntry, ...]:
    with closing(History(library)) as history:
        return history.entries()


def texts(library: Path) -> list[str]:
    return [entry.text for entry in entries(library)]


def ask(shell: Shell, wait: Wait, text: str) -> Trace:
    shell.session.inquiry.ask(text)
    return answered(shell, wait, text)


def answered(shell: Shell, wait: Wait, text: str) -> Trace:
    inquiry = shell.session.inquiry
    wait(lambda: inquiry.answer.phase == "answered" and inquiry.answer.trace.query == text.strip())
    assert inquiry.answer.trace is not None
    return inquiry.answer.trace


def show(shell: Shell, wait: Wait, rows: int) -> HistoryTable:
    shell.window.show_page("history")
    model = shell.window.history.asked.model
    wait(lambda: model.rowCount() == rows)
    return model


# --- what is kept -----------------------------------------------------------------------------------------------


def test_every_question_is_kept_with_its_settings_and_figures(opened: Shell, library: Path, wait: Wait) -> None:
    ask(opened, wait, "late items")
    trace = ask(opened, wait, "damaged item")
    opened.session.inquiry.change_setting("policy", "plain")
    wait(lambda: len(entries(library)) == 3)
    plain, damaged, late = entries(library)
    assert (plain.text, damaged.text, late.text) == ("damaged item", "damaged item", "late items")
    assert (plain.settings, damaged.settings) == ({"policy": "plain"}, {})
    assert damaged.figures.crowding == trace.summary.crowding
    assert damaged.figures.cited_files == trace.summary.cited_files


def test_typing_leaves_no_trail_of_half_typed_questions(opened: Shell, library: Path, wait: Wait) -> None:
    inquiry, field = opened.session.inquiry, opened.window.inspector.query.field
    ask(opened, wait, "damaged item")
    wait(lambda: texts(library) == ["damaged item"])
    field.clear()
    for piece in ("la", "te it", "ems at ", "the desk"):
        QTest.keyClicks(field, piece)
        answered(opened, wait, field.text())
        wait(lambda: texts(library)[0] == field.text().strip())
    assert texts(library) == ["late items at the desk", "damaged item"]
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClicks(field, " today")
    answered(opened, wait, field.text())
    wait(lambda: len(texts(library)) == 3)  # Enter had said that the one before was meant
    assert texts(library)[:2] == ["late items at the desk today", "late items at the desk"]
    assert inquiry.answer.phase == "answered"


def test_a_setting_that_is_turned_is_one_change(opened: Shell, library: Path, wait: Wait) -> None:
    inquiry = opened.session.inquiry
    ask(opened, wait, "late items")
    for value in (4, 3, 2):
        inquiry.change_setting("return-n", value)
        wait(lambda value=value: inquiry.answer.trace.settings["return-n"].value == value)
    wait(lambda: [entry.settings for entry in entries(library)] == [{"return-n": 2}, {}])


def traced(shell: Shell, wait: Wait) -> Trace:
    return ask(shell, wait, "late items")


def test_what_replaces_what(opened: Shell, wait: Wait, tmp_path: Path) -> None:
    trace = traced(opened, wait)
    keeping = asked_keeping.Keeping()

    def keep(text: str, now: float, *, typing: bool = True, library: Path = tmp_path) -> str | None:
        made = keeping.keep(library, replace(trace, query=text), typing=typing, now=now)
        assert made is not None
        return made[1].text if made[1] is not None else None

    assert keep("how do I", 0) is None
    assert keep("how do I return it", 60) == "how do I"  # however long the pause was
    assert keep("who pays", 70) is None  # the one before stood long enough to be read
    assert keep("who signs", 71) == "who pays"  # edited at once
    assert keep("who signs it", 72, library=tmp_path / "other") is None
    keeping.anew()
    assert keep("who signs it at all", 73) is None
    keeping.meant("who signs it at all")
    assert keep("who signs it at all now", 74) is None
    assert keep("chosen from a list", 75, typing=False) == "who signs it at all now"
    assert keep("chosen from a list as well", 76, typing=False) is None
    same = replace(trace, query="chosen from a list as well")
    assert keeping.keep(tmp_path, same, typing=False, now=99) is None  # asked again because the library has changed


def test_nothing_is_kept_when_it_is_turned_off(
    opened: Shell, library: Path, wait: Wait, preferences: Preferences
) -> None:
    keep = opened.window.history.asked.keep
    show(opened, wait, 0)
    assert opened.window.history.asked.panel.shown.title == "No question yet"
    keep.click()
    assert not preferences.choices.keep_history
    assert opened.window.history.asked.panel.shown.title == "Questions are not kept"
    ask(opened, wait, "late items")
    QTest.qWait(50)
    assert not history_file(library).exists()
    opened.window.actions_.trigger("keep-history")
    assert keep.isChecked()
    ask(opened, wait, "damaged item")
    wait(lambda: texts(library) == ["damaged item"])


def test_many_answers_at_once_are_all_kept(opened: Shell, library: Path, wait: Wait) -> None:
    trace = traced(opened, wait)
    for number in range(40):
        opened.session.inquiry.answered.emit(library, replace(trace, query=f"question {number}"), False)
    wait(lambda: len(texts(library)) == 41)
    assert texts(library) == [*(f"question {number}" for number in range(39, -1, -1)), "late items"]


# --- the list ---------------------------------------------------------------------------------------------------


def test_the_list_shows_and_searches_it(opened: Shell, library: Path, wait: Wait) -> None:
    for text in ("late items", "damaged item", "a raft"):
        ask(opened, wait, text)
    model = show(opened, wait, 3)
    view = opened.window.history.asked
    assert [model.index(row, QUESTION).data() for row in range(3)] == ["a raft", "damaged item", "late items"]
    entry = entries(library)[0]
    assert model.index(0, CROWDING).data() == f"{entry.figures.crowding:.0%}"
    QTest.keyClicks(view.field, "ITEM dam")
    wait(lambda: model.rowCount() == 1)
    assert model.entry(0).text == "damaged item"
    QTest.keyClicks(view.field, "zebra")
    wait(lambda: model.rowCount() == 0)
    assert view.panel.isVisible()
    assert view.panel.shown.title == "No question matches"
    view.field.clear()
    wait(lambda: model.rowCount() == 3)
    view.table.sortByColumn(QUESTION, Qt.SortOrder.AscendingOrder)
    assert [entry.text for entry in model.entries] == ["a raft", "damaged item", "late items"]
    view.table.sortByColumn(ASKED, Qt.SortOrder.DescendingOrder)
    assert [entry.text for entry in model.entries] == ["a raft", "damaged item", "late items"]


@pytest.mark.parametrize("by", ["click", "enter"])
def test_an_entry_opens_its_run_again(opened: Shell, library: Path, wait: Wait, by: str) -> None:
    inquiry = opened.session.inquiry
    inquiry.change_settings({"policy": "plain", "return-n": 3})
    inquiry.leave_out("docs/guide.txt", True)
    inquiry.prefer("docs/old/policy.txt", True)
    first = ask(opened, wait, "late items")
    wait(lambda: len(texts(library)) == 1)
    inquiry.reset_settings()
    inquiry.leave_out("docs/guide.txt", False)
    inquiry.prefer("docs/old/policy.txt", False)
    inquiry.change_setting("max-chunks-per-document", 1)
    answered(opened, wait, "late items")
    wait(lambda: len(texts(library)) >= 2)
    model = show(opened, wait, len(texts(library)))
    before = texts(library)
    table, row = opened.window.history.asked.table, model.rowCount() - 1
    if by == "click":
        place = table.visualRect(model.index(row, QUESTION)).center()
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    else:
        table.setFocus()
        table.selectRow(row)
        QTest.keyClick(table, Qt.Key.Key_Return)
    wait(lambda: inquiry.answer.phase == "answered" and inquiry.answer.trace.policy == "plain")
    again = inquiry.answer.trace
    assert opened.window.page == "inspector"
    assert opened.window.inspector.query.field.text() == "late items"
    assert (again.settings["return-n"].value, again.settings["max-chunks-per-document"].value) == (
        3,
        first.settings["max-chunks-per-document"].value,
    )
    assert (again.left_out, again.preferred) == (first.left_out, first.preferred)
    assert again.evidence == first.evidence
    QTest.qWait(50)
    assert texts(library) == before  # looking at it again is no new question
    inquiry.change_setting("return-n", 2)
    wait(lambda: len(texts(library)) == len(before) + 1)  # a change of it is


def test_pinning_and_forgetting(opened: Shell, library: Path, wait: Wait, shells: ShellMaker) -> None:
    for text in ("late items", "damaged item", "a raft", "cards"):
        ask(opened, wait, text)
    model, view = show(opened, wait, 4), opened.window.history.asked
    pin = view.table.visualRect(model.index(2, 0)).center()
    QTest.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=pin)
    wait(lambda: model.entry(2).pinned)
    assert opened.window.page == "history"  # the pin's column pins, and opens nothing
    view.pinned.click()
    wait(lambda: model.rowCount() == 1)
    assert model.entry(0).text == "damaged item"
    view.pinned.click()
    wait(lambda: model.rowCount() == 4)

    shells.answers.confirms = False
    view.table.choose([0, 1])
    assert view.forget_button.text() == "Forget 2…"
    view.forget_button.click()
    assert shells.answers.asked[-1] == "Forget 2 questions?"
    QTest.qWait(30)
    assert len(texts(library)) == 4
    shells.answers.confirms = True
    view.table.setFocus()
    QTest.keyClick(view.table, Qt.Key.Key_Delete)
    wait(lambda: texts(library) == ["damaged item", "late items"])
    opened.window.actions_.trigger("forget-history")
    wait(lambda: texts(library) == [])
    wait(lambda: model.rowCount() == 0)


def test_the_question_on_the_screen_is_pinned_even_where_nothing_is_kept(
    opened: Shell, library: Path, wait: Wait
) -> None:
    opened.asked.history.set_keeping(False)
    ask(opened, wait, "late items")
    opened.window.actions_.trigger("pin-question")
    wait(lambda: [(entry.text, entry.pinned) for entry in entries(library)] == [("late items", True)])
    opened.asked.history.set_keeping(True)
    ask(opened, wait, "damaged item")
    opened.window.actions_.trigger("pin-question")
    wait(lambda: [entry.pinned for entry in entries(library)] == [True, True])
    assert [entry.times for entry in entries(library)] == [1, 1]


def test_rows_are_copied_and_exported(
    opened: Shell, library: Path, wait: Wait, shells: ShellMaker, tmp_path: Path
) -> None:
    ask(opened, wait, "=HYPERLINK(late)")
    ask(opened, wait, "damaged item")
    show(opened, wait, 2)
    view = opened.window.history.asked
    view.table.selectRow(0)
    opened.window.actions_.trigger("copy")
    copied = QApplication.clipboard().text()
    assert copied.split("\t")[1] == "damaged item"
    assert len(copied.split("\t")) == 8
    shells.answers.chosen_file = tmp_path / "history"
    view.export_button.click()
    content = (tmp_path / "history.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [row["question"] for row in rows] == ["damaged item", "'=HYPERLINK(late)"]
    assert float(rows[0]["crowding"]) == entries(library)[0].figures.crowding


# --- ten thousand -----------------------------------------------------------------------------------------------


def many(count: int) -> list[HistoryEntry]:
    figures = Figures(0.25, 6, 3, 5, 4, {"collapse": 2}, 12.5)
    return [
        HistoryEntry(n, "2026-11-30T10:00:00+00:00", f"question {n}", {}, (), (), None, 1, figures, n % 100 == 0, 1)
        for n in range(1, count + 1)
    ]


def test_ten_thousand_entries_cost_no_more_than_the_rows_in_sight(
    opened: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = opened.window.history.asked
    opened.window.show_page("history")
    QTest.qWait(50)
    view.set_entries(many(10_000))
    view.table.viewport().repaint()
    asked: set[int] = set()
    real = history_model._shown

    def shown(entry: HistoryEntry, column: int) -> str:
        asked.add(entry.id)
        return real(entry, column)

    monkeypatch.setattr(history_model, "_shown", shown)
    view.table.verticalScrollBar().setValue(5_000)
    view.table.viewport().repaint()
    assert view.model.rowCount() == 10_000
    assert 0 < len(asked) < 60
    assert max(asked) - min(asked) < 60


# --- what can be wrong ------------------------------------------------------------------------------------------


def test_a_damaged_history_is_told_and_costs_nothing_else(opened: Shell, library: Path, wait: Wait) -> None:
    history_file(library).write_bytes(b"no database, but long enough to be taken for one" * 40)
    trace = ask(opened, wait, "late items")
    assert trace.evidence
    wait(lambda: "damaged" in opened.window.status.said)
    opened.window.show_page("history")
    view = opened.window.history.asked
    wait(lambda: view.notice.isVisible())
    assert "is damaged" in view.notice.accessibleName()
    assert view.panel.shown.title == "The questions asked cannot be shown"
    view.stepChosen.emit("begin-new-history")
    wait(lambda: not view.notice.isVisible())
    assert [file.name for file in library.glob("history-*.sqlite3")]
    ask(opened, wait, "damaged item")
    wait(lambda: texts(library) == ["damaged item"])


def test_a_read_only_library_is_asked_and_says_that_it_keeps_nothing(
    opened: Shell, library: Path, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(opened, wait, "late items")
    wait(lambda: texts(library) == ["late items"])
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: False if mode == os.W_OK else real(path, mode))
    trace = ask(opened, wait, "damaged item")
    assert trace.evidence
    show(opened, wait, 1)
    view = opened.window.history.asked
    wait(lambda: view.notice.isVisible())
    assert "read-only" in view.notice.accessibleName()
    assert texts(library) == ["late items"]


def test_nothing_of_the_history_is_read_or_written_in_the_windows_thread(
    opened: Shell, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()
    real = History.__init__

    def init(self: History, library: Path) -> None:
        threads.add(threading.get_ident())
        real(self, library)

    monkeypatch.setattr(History, "__init__", init)
    ask(opened, wait, "late items")
    show(opened, wait, 1)
    opened.window.history.asked.pinRequested.emit((opened.window.history.asked.model.entry(0),), True)
    wait(lambda: opened.window.history.asked.model.entry(0).pinned)
    assert threads
    assert threading.get_ident() not in threads


def test_a_picture_of_a_given_answer_leaves_no_trace_in_the_history(opened: Shell, library: Path, wait: Wait) -> None:
    with closing(QueryEngine(library, WordEncoder())) as engine:
        trace = engine.ask("late items", resolve())
    opened.session.inquiry.show_given(library, trace)
    QTest.qWait(50)
    assert not history_file(library).exists()


def test_hostile_questions_are_text_in_the_list(opened: Shell, library: Path, wait: Wait) -> None:
    evil = "<b>late</b> \x1b[31m \x00 \N{RIGHT-TO-LEFT OVERRIDE}items " + "x" * 15_000
    ask(opened, wait, evil)
    model = show(opened, wait, 1)
    shown = model.index(0, QUESTION).data()
    assert shown.startswith("<b>late</b> ‹ESC›[31m ‹NUL› ‹RLO›items")
    assert len(shown) < 300
    tip = model.index(0, QUESTION).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;late" in tip
    assert not {"\x00", "\x1b", "\N{RIGHT-TO-LEFT OVERRIDE}"} & set(tip + shown)
    table = opened.window.history.asked.table
    QTest.mouseMove(table.viewport(), QPoint(50, 10))
    assert entries(library)[0].text == evil.strip()
