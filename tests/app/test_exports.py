"""What is carried away of an answer, with and without texts; and documents that would do harm are text everywhere."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QTextEdit, QWidget

from app.compose import Shell
from app.menus import MENUS
from app.models.rows import Role
from pipeline.export.again import command_of, python_of
from pipeline.export.trace_file import read_trace
from pipeline.records import Trace
from pipeline.trace import HASH_MARK, to_json
from tests.app.shell import DOCUMENTS, ShellMaker

Wait = Callable[[Callable[[], object]], None]
BIDI = "\N{RIGHT-TO-LEFT OVERRIDE}"
EVIL = (
    "late items <script>alert(1)</script> <img src=x onerror=alert(2)> \x00 \x1b[31m\x07 "
    f"{BIDI}fdp.exe &amp; <b>bold</b>"
)
HOSTILE = {
    **DOCUMENTS,
    "evil.txt": EVIL,
    "copy of evil.txt": EVIL,
    f"<b>late</b> {BIDI}\x1b[2Jitems.txt": "late items under a name that would do harm",
    "long.txt": "late items " + "x" * 100_000,
}


@pytest.fixture
def asked(shells: ShellMaker, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(shells.library(HOSTILE))
    shell.session.start_model()
    inquiry = shell.session.inquiry
    inquiry.change_settings({"return-n": 9, "max-total-chars": 150_000, "max-chars-per-item": 150_000, "max-items": 9})
    inquiry.ask("late items")
    wait(lambda: inquiry.answer.phase == "answered")
    return shell


def trace_of(shell: Shell) -> Trace:
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    return trace


def harmful(text: str) -> set[str]:
    return {sign for sign in text if sign in f"\x00\x1b\x07{BIDI}"}


# --- files ------------------------------------------------------------------------------------------------------


def test_the_trace_is_exported_whole_and_without_texts(asked: Shell, shells: ShellMaker, tmp_path: Path) -> None:
    trace, actions = trace_of(asked), asked.window.actions_
    shells.answers.chosen_file = tmp_path / "whole"
    actions.trigger("export-trace")
    assert asked.window.status.said == f"Saved {tmp_path / 'whole.json'}"
    assert read_trace(tmp_path / "whole.json") == trace
    content = (tmp_path / "whole.json").read_bytes()
    assert not [byte for byte in content if byte < 32 and byte != 10]  # a terminal may print it
    assert content.isascii()

    shells.answers.chosen_file = tmp_path / "bare.json"
    actions.trigger("export-trace-bare")
    bare = read_trace(tmp_path / "bare.json")
    assert not bare.with_texts
    assert all(item.content.startswith(HASH_MARK) for item in bare.projected)
    said = (tmp_path / "bare.json").read_text("ascii")
    for text in ("damaged item", "raft", "xxxxxxxx", "alert(1)"):
        assert text in content.decode()
        assert text not in said
    assert [t.fate for t in bare.candidates] == [t.fate for t in trace.candidates]


def test_an_export_without_texts_has_a_name_of_its_own(asked: Shell, shells: ShellMaker) -> None:
    offered = []
    for action in ("export-trace", "export-trace-bare", "export-page", "export-page-bare"):
        asked.window.actions_.trigger(action)
        offered.append(shells.answers.named)
    assert offered == ["trace.json", "trace without texts.json", "answer.html", "answer without texts.html"]


def test_the_page_is_exported_whole_and_without_texts(asked: Shell, shells: ShellMaker, tmp_path: Path) -> None:
    for action, words in (("export-page", True), ("export-page-bare", False)):
        shells.answers.chosen_file = tmp_path / action
        asked.window.actions_.trigger(action)
        page = (tmp_path / f"{action}.html").read_text("utf-8")
        assert ("two pounds a day" in page) is words
        assert ("&lt;script&gt;alert(1)" in page) is words
        assert "<script" not in page
        assert "<img" not in page
        assert not harmful(page)
        assert len(page) < 200_000
        assert "&lt;b&gt;late&lt;/b&gt; ‹RLO›‹ESC›[2Jitems.txt" in page


def test_the_trace_on_the_screen_is_the_trace_in_the_file(asked: Shell) -> None:
    """Row by row: what the lanes show, and what the JSON says."""
    content = to_json(trace_of(asked))
    raw, evidence, projected = (each.model() for each in asked.window.inspector.lanes.lists)
    rows = [raw.index(row, 0) for row in range(raw.rowCount()) if raw.index(row, 0).data(Role.KIND) == "candidate"]
    assert len(rows) == len(content["candidates"])
    for index, said in zip(rows, content["candidates"], strict=True):
        assert index.data(Role.RANK) == said["rank"]
        assert index.data(Role.SCORE) == said["score"]
        assert index.data(Role.KEY) == said["evidence_key"]
        assert index.data(Role.TWIN) == said["twin_group"]
        assert index.data(Role.FATE_NAME) == said["fate"]["name"]
    blocks = [
        evidence.index(n, 0) for n in range(evidence.rowCount()) if evidence.index(n, 0).data(Role.KIND) == "block"
    ]
    assert [index.data(Role.KEY) for index in blocks] == [block["evidence_key"] for block in content["evidence"]]
    items = [projected.index(n, 0) for n in range(projected.rowCount())]
    shown = [index.data(Role.TARGET).key for index in items if index.data(Role.KIND) == "item"]
    assert shown == [item["document_id"] for item in content["projected"]]


def test_a_picture_of_the_lanes_holds_all_their_rows(asked: Shell, shells: ShellMaker, tmp_path: Path) -> None:
    lanes = asked.window.inspector.lanes
    shells.answers.chosen_file = tmp_path / "lanes"
    asked.window.actions_.trigger("save-lanes")
    picture = QImage(str(tmp_path / "lanes.png"))
    hidden = max(each.verticalScrollBar().maximum() for each in lanes.lists)
    assert hidden > 0  # they do not fit the window
    assert picture.width() == 2 * max(1_100, lanes.width())
    assert picture.height() > 2 * lanes.height()
    below = range(2 * lanes.height() + 100, picture.height() - 20, 9)
    colours = {picture.pixel(x, y) for y in below for x in range(0, picture.width(), 7)}
    assert len(colours) > 20  # rows stand there, too
    assert lanes.lists[0].verticalScrollBar().value() == 0  # the window itself is as it was


def test_what_cannot_be_written_is_said(asked: Shell, shells: ShellMaker, tmp_path: Path) -> None:
    shells.answers.chosen_file = tmp_path / "nowhere" / "answer"
    for action in ("export-trace", "export-page", "save-lanes", "save-picture"):
        asked.window.status.say("")
        asked.window.actions_.trigger(action)
        assert "written" in asked.window.status.said


# --- the clipboard ----------------------------------------------------------------------------------------------


def test_the_question_is_copied_as_command_and_as_python(asked: Shell, wait: Wait) -> None:
    inquiry, actions = asked.session.inquiry, asked.window.actions_
    inquiry.leave_out("docs/evil.txt", True)
    wait(lambda: inquiry.answer.trace.left_out == ("docs/evil.txt",))
    library = asked.session.shelf.library.folder
    assert library is not None
    actions.trigger("copy-command")
    command = QApplication.clipboard().text()
    assert command == command_of(trace_of(asked), library)
    words = shlex.split(command)
    assert words[:4] == ["twinspect", "query", "--library", str(library)]
    assert {"--return-n", "9", "--leave-out=docs/evil.txt"} <= set(words)
    assert words[-2:] == ["--", "late items"]
    actions.trigger("copy-python")
    snippet = QApplication.clipboard().text()
    assert snippet == python_of(trace_of(asked), library)
    compile(snippet, "snippet", "exec")
    assert asked.window.status.said == "Copied Python that asks this"


def test_nothing_is_carried_away_where_there_is_no_answer(shells: ShellMaker) -> None:
    actions = shells.shell().window.actions_
    for action in ("export-trace-bare", "export-page-bare", "save-lanes", "copy-command", "copy-python"):
        assert not actions[action].isEnabled()
    assert {"Answer", "File"} <= set(MENUS)


# --- nothing but text on the screen -----------------------------------------------------------------------------

_SHOWN = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Role.FILE, Role.FOLDER, Role.PLACE, Role.NEAR, Role.FATE, Role.SNIPPET, Role.TEXT, Role.CUT, Role.TAIL, Role.COPY,
)  # fmt: skip


def texts_of(model: QAbstractItemModel) -> Iterator[tuple[int, str]]:
    for row in range(model.rowCount()):
        for column in range(max(1, _columns(model))):
            for role in _SHOWN:
                value: Any = model.index(row, column).data(role)
                if isinstance(value, str):
                    yield int(role), value


def _columns(model: QAbstractItemModel) -> int:
    return 1 if isinstance(model, QAbstractListModel) else model.columnCount()


def words_of(widget: QWidget) -> Iterator[tuple[str, str]]:
    """Everything that is written on this widget and on those in it."""
    for label in widget.findChildren(QLabel):
        yield "label", label.text()
        if label.text():
            assert label.textFormat() == Qt.TextFormat.PlainText, label.text()
    for edit in (*widget.findChildren(QPlainTextEdit), *widget.findChildren(QTextEdit)):
        yield "text", edit.toPlainText()
    for each in (widget, *widget.findChildren(QWidget)):
        yield "name", each.accessibleName()
        yield "description", each.accessibleDescription()


def test_hostile_documents_are_text_in_the_lanes(asked: Shell) -> None:
    seen = []
    for lane in asked.window.inspector.lanes.lists:
        for role, text in texts_of(lane.model()):
            assert not harmful(text), text
            if role == Qt.ItemDataRole.ToolTipRole:  # the only rich text there is
                assert "<script" not in text
                assert "<b>" not in text
                assert "<img" not in text
            if role != Role.COPY:  # which goes to the clipboard, whole
                seen.append(text)
    assert any("‹NUL› ‹ESC›[31m‹BEL› ‹RLO›fdp.exe" in text for text in seen)
    assert max(map(len, seen)) < 25_000  # nothing endless reaches Qt


@pytest.mark.parametrize("name", ["docs/evil.txt", f"docs/<b>late</b> {BIDI}\x1b[2Jitems.txt", "docs/long.txt"])
def test_hostile_documents_are_text_below_the_lanes_and_in_the_library(asked: Shell, wait: Wait, name: str) -> None:
    from app.focus import FocusTarget

    found = next(t for t in trace_of(asked).candidates if t.candidate.doc_id == name)
    asked.focus.select(FocusTarget("candidate", found.candidate.evidence_key, found.candidate.rank))
    detail = asked.window.inspector.detail
    wait(lambda: not detail.waiting and any(edit.toPlainText() for edit in detail.findChildren(QPlainTextEdit)))
    said = list(words_of(detail))
    assert not [text for _, text in said if harmful(text)]
    assert any("late items" in text for _, text in said)
    asked.window.show_page("library")
    QTest.qWait(20)
    table = asked.window.library.model
    assert not [text for _, text in texts_of(table) if harmful(text)]
    assert any("‹RLO›‹ESC›[2Jitems.txt" in text for _, text in texts_of(table))


def test_hostile_documents_are_text_in_present_mode_and_in_what_is_copied(asked: Shell) -> None:
    window = asked.window
    window.actions_.trigger("present")
    for _ in range(12):
        assert not [text for _, text in words_of(window.present) if harmful(text)]
        QTest.keyClick(window.present, Qt.Key.Key_Right)
    QTest.keyClick(window.present, Qt.Key.Key_Escape)
    window.actions_.trigger("copy-projection")
    copied = QApplication.clipboard().text()
    assert json.loads(copied) == to_json(trace_of(asked))["projected"]  # every character of it
    assert not harmful(copied)  # those that nobody sees are written in digits
