"""Why is it not there? Asked of any document or passage, from everywhere, and answered from the run itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.compose import Shell
from app.focus import FocusTarget
from app.models.rows import Role
from app.models.why import LineRole, WhyTarget
from app.views.lane_menu import Circumstances, LaneMenu
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.why import why_not
from tests.app.shell import POLICY, ShellMaker
from tests.support.encoder import WordEncoder
from tests.support.libraries import make_library

Wait = Callable[[Callable[[], object]], None]

QUESTION = "late items two pounds a day"
DOCUMENTS = {
    "policy.txt": POLICY,
    "copy of policy.txt": POLICY,
    "fees.txt": "\n\n".join(
        (
            "Late items cost two pounds a day.",
            "Late items cost two pounds a day after noon.",
            "Late items cost two pounds a day at the desk.",
        )
    ),
    "near.txt": "Late items cost three pounds a day, and the desk takes cards.",
    "guide.txt": "Dry the raft before you roll it up.\n\nA raft that is rolled up wet smells for a year.",
    "empty.txt": "",
    "<b>sign.txt": "Pounds of <script>alert(1)</script> \x1b[31m sand and \u202egravel.",
}
SETTINGS: dict[str, object] = {"return-n": 2, "retrieve-k": 5}


@pytest.fixture
def opened(shells: ShellMaker, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(shells.library(DOCUMENTS))
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.phase == "open")
    return shell


@pytest.fixture
def asked(opened: Shell, wait: Wait) -> Shell:
    opened.session.inquiry.change_settings(dict(SETTINGS))
    ask(opened, QUESTION, wait)
    return opened


def ask(shell: Shell, question: str, wait: Wait) -> Trace:
    shell.session.inquiry.ask(question)
    answer = shell.session.inquiry
    wait(lambda: answer.answer.phase == "answered" and answer.answer.question == question)
    assert answer.answer.trace is not None
    return answer.answer.trace


def why(shell: Shell, wait: Wait, doc_id: str, chunk_index: int | None = None) -> Any:
    shell.why_not.ask_about(WhyTarget(doc_id, chunk_index))
    settled(shell, wait)
    return shell.window.inspector.why.finding


def settled(shell: Shell, wait: Wait) -> None:
    """The finding is that of the answer that stands."""
    inquiry, feature = shell.session.inquiry, shell.why_not
    wait(
        lambda: (
            inquiry.answer.phase == "answered"
            and feature.state.phase == "told"
            and feature.state.trace is inquiry.answer.trace
        )
    )


def buttons(box: Any) -> list[str]:
    return [button.text() for button in box.buttons()]


def texts(shell: Shell) -> list[str]:
    lines = shell.window.inspector.why.list.lines
    return [str(lines.index(row).data()) for row in range(lines.rowCount())]


# --- what is said ------------------------------------------------------------------------------------------------


def test_it_says_what_the_pipeline_says(asked: Shell, wait: Wait) -> None:
    """Every passage of the library: the panel and `why_not` on the same trace."""
    trace = asked.session.inquiry.answer.trace
    assert trace is not None
    folder = asked.session.shelf.library.folder
    assert folder is not None
    with closing(QueryEngine(folder, WordEncoder())) as engine:
        for document in asked.session.shelf.library.documents:
            for chunk in (None, *range(document.chunks)):
                finding = why(asked, wait, document.doc_id, chunk)
                told = why_not(engine, trace, document.doc_id, chunk)
                assert asked.why_not.state.told == told
                assert buttons(finding.evidence) == [] or finding.evidence.isVisibleTo(finding)
                assert len(buttons(finding.evidence)) == len(told.evidence.changes) + bool(told.evidence.together)
                assert len(buttons(finding.projection)) == len(told.projection.changes) + bool(told.projection.together)


def test_a_passage_that_fell_names_rank_score_stage_and_setting(asked: Shell, wait: Wait) -> None:
    finding = why(asked, wait, "docs/fees.txt", 2)
    assert finding.verdict.text().startswith("✕")
    shown = {name: value.text() for name, (_, value) in finding._values.items()}
    told = asked.why_not.state.told
    assert told is not None
    best = told.passages[0]
    assert shown["Stands"].startswith(f"{best.standing.rank}")
    assert shown["Score"].startswith(f"{best.standing.score:.4f}")
    assert shown["Stopped by"] == "the step “Cap”, by the setting “Cap per file”: 2 blocks a file"
    assert finding.sentence.text().endswith(".")


def test_one_button_brings_it_in_and_says_so_and_undo_takes_it_out(asked: Shell, wait: Wait) -> None:
    finding = why(asked, wait, "docs/fees.txt", 2)
    before = asked.session.inquiry.settings
    first = finding.evidence.buttons()[0]
    words = first.text()
    first.click()
    assert not finding.evidence.buttons()[0].isEnabled()  # what stands there is of the question before
    settled(asked, wait)
    assert asked.session.inquiry.settings != before
    assert finding.verdict.text().startswith("✓")
    assert finding.done.text() == f"Done: {words[0].lower()}{words[1:]}."
    assert finding.undo.isVisible()
    cited = {place.evidence_key for block in trace_of(asked).evidence for place in block.citations}
    assert "docs/fees.txt#chunk-2" in cited
    finding.undo.click()
    settled(asked, wait)
    assert asked.session.inquiry.settings.in_force == before.in_force
    assert finding.verdict.text().startswith("✕")
    assert not finding.undo.isVisible()


def trace_of(shell: Shell) -> Trace:
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    return trace


def test_what_is_in_says_so(asked: Shell, wait: Wait) -> None:
    place = trace_of(asked).evidence[0].citations[0]
    finding = why(asked, wait, place.doc_id, place.chunk_index)
    assert finding.verdict.text() == "✓  In the answer: evidence 1, read by the agent"
    said = [part for part in (finding.sentence, finding.evidence, finding.projection) if part.isVisibleTo(finding)]
    assert not said  # the verdict said it once
    assert not finding.evidence.buttons()
    assert not finding.projection.buttons()


def test_evidence_and_projection_are_told_apart(asked: Shell, wait: Wait) -> None:
    asked.session.inquiry.change_settings({"max-items": 1})
    wait(lambda: asked.session.inquiry.answer.phase == "answered" and len(trace_of(asked).projected) == 1)
    second = trace_of(asked).evidence[1].citations[0]
    finding = why(asked, wait, second.doc_id, second.chunk_index)
    assert finding.verdict.text() == "✓  In the evidence, but the agent does not read it"
    assert not finding.evidence.buttons()
    assert "Give the agent 2 blocks" in buttons(finding.projection)


def test_a_file_left_out_is_taken_back(asked: Shell, wait: Wait) -> None:
    asked.session.inquiry.leave_out("docs/near.txt", True)
    wait(lambda: asked.session.inquiry.answer.phase == "answered")
    finding = why(asked, wait, "docs/near.txt")
    assert finding.verdict.text() == "✕  Left out of this search"
    assert finding.take_back.isVisible()
    assert not finding.evidence.isVisible()
    finding.take_back.click()
    settled(asked, wait)
    assert asked.session.inquiry.scope.left_out == ()
    assert not finding.take_back.isVisible()


def test_a_search_of_another_file_is_widened(asked: Shell, wait: Wait) -> None:
    asked.session.inquiry.only_file("docs/guide.txt")
    wait(lambda: asked.session.inquiry.answer.phase == "answered")
    finding = why(asked, wait, "docs/near.txt", 0)
    assert "Only guide.txt is searched" in finding.sentence.text()
    finding.all_files.click()
    settled(asked, wait)
    assert asked.session.inquiry.scope.only_file is None


def test_a_stale_file_names_the_setting_that_serves_it(shells: ShellMaker, wait: Wait) -> None:
    folder = shells.folder / "stale"
    make_library(folder, DOCUMENTS, WordEncoder(), label="docs", stale=["near.txt"])
    shell = shells.shell()
    shell.session.open_library(folder)
    shell.session.start_model()
    ask(shell, QUESTION, wait)
    finding = why(shell, wait, "docs/near.txt")
    assert finding.verdict.text() == "✕  Left out of this search"
    assert "could not be re-indexed" in finding.sentence.text()
    assert not finding.take_back.isVisible()
    assert buttons(finding.evidence) == ["Serve files whose re-indexing failed"]
    finding.evidence.buttons()[0].click()
    settled(shell, wait)
    assert finding.verdict.text().startswith("✓")


def test_a_document_without_text_says_so(asked: Shell, wait: Wait) -> None:
    finding = why(asked, wait, "docs/empty.txt")
    assert finding.verdict.text() == "✕  Holds no text to be found"
    assert not finding.evidence.isVisible()
    assert not finding.read.isEnabled()


# --- it follows the question -------------------------------------------------------------------------------------


def test_without_a_question_it_says_what_to_do(opened: Shell, wait: Wait, qtbot: QtBot) -> None:
    qtbot.keyClick(opened.window, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    panel = opened.window.inspector.why
    assert panel.isVisible()
    assert panel._message.text() == "There is no question yet"
    opened.why_not.ask_about(WhyTarget("docs/near.txt"))
    ask(opened, QUESTION, wait)
    settled(opened, wait)
    assert opened.why_not.state.told is not None
    opened.session.inquiry.ask("")
    assert panel._message.text() == "There is no question yet"


def test_another_question_makes_the_finding_anew(asked: Shell, wait: Wait) -> None:
    finding = why(asked, wait, "docs/guide.txt")
    first = finding.verdict.text()
    ask(asked, "dry the raft before you roll it up", wait)
    settled(asked, wait)
    assert finding.verdict.text().startswith("✓")
    assert first.startswith("✕")
    assert asked.why_not.state.question == "dry the raft before you roll it up"


def test_a_closed_panel_looks_at_nothing_and_catches_up(asked: Shell, wait: Wait) -> None:
    why(asked, wait, "docs/guide.txt")
    asked.why_not.close_panel()
    assert asked.window.inspector.detail.isVisible()
    told = asked.why_not.state.told
    ask(asked, "dry the raft before you roll it up", wait)
    assert asked.why_not.state.told is told
    asked.why_not.open_panel()
    settled(asked, wait)
    assert asked.why_not.state.told is not told


def test_while_it_looks_the_window_goes_on_and_says_so(
    asked: Shell, wait: Wait, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, going = threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        going.set()
        assert held.wait(10)
        return why_not(*given)

    monkeypatch.setattr("pipeline.why.why_not", slow)
    panel = asked.window.inspector.why
    asked.why_not.ask_about(WhyTarget("docs/guide.txt"))
    wait(going.is_set)
    assert panel._message.text() == "Looking why guide.txt is there, or not…"
    asked.why_not.ask_about(WhyTarget("docs/near.txt"))  # the older one is dropped
    held.set()
    settled(asked, wait)
    assert asked.why_not.state.told is not None
    assert asked.why_not.state.told.doc_id == "docs/near.txt"
    held.clear()
    asked.session.inquiry.change_setting("return-n", 3)
    wait(lambda: asked.session.inquiry.answer.phase == "answered")
    assert "question before" in panel._looking.text()
    assert all(not button.isEnabled() for button in panel.finding.evidence.buttons())
    held.set()
    settled(asked, wait)
    assert panel._looking.text() == ""


def test_a_failure_is_said_with_a_way_on(asked: Shell, wait: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    asked.why_not.ask_about(WhyTarget("docs/gone.txt"))
    wait(lambda: asked.why_not.state.phase == "failed")
    panel = asked.window.inspector.why
    assert panel._message.text() == "This cannot be said now"
    assert "no document docs/gone.txt" in panel._more.text()
    why(asked, wait, "docs/near.txt")
    assert panel.finding.isVisible()


def test_a_look_that_was_overtaken_by_other_work_is_done_again(asked: Shell, wait: Wait) -> None:
    held, going = threading.Event(), threading.Event()
    folder = asked.session.shelf.library.folder
    assert folder is not None
    crew = asked.why_not._crew

    def hold(engine: Any) -> None:
        going.set()
        held.wait(10)

    crew.study(folder, hold, lambda end: None)
    wait(going.is_set)
    asked.why_not.ask_about(WhyTarget("docs/near.txt"))
    crew.study(folder, lambda engine: None, lambda end: None)  # takes its place in the queue
    held.set()
    settled(asked, wait)


def test_another_library_forgets_what_was_asked_about(asked: Shell, shells: ShellMaker, wait: Wait) -> None:
    why(asked, wait, "docs/near.txt")
    other = shells.folder / "other"
    make_library(other, {"a.txt": "Late items cost nothing here."}, WordEncoder(), label="docs")
    asked.session.open_library(other)
    wait(lambda: asked.session.shelf.library.phase == "open" and asked.session.inquiry.answer.phase == "answered")
    assert asked.why_not.state.target is None
    wait(lambda: texts(asked) == ["a.txt, 1 passage · docs"])


# --- picking -----------------------------------------------------------------------------------------------------


def test_names_and_words_are_found_while_typing(asked: Shell, wait: Wait, qtbot: QtBot) -> None:
    asked.why_not.open_panel()
    panel = asked.window.inspector.why
    assert len(texts(asked)) == len(DOCUMENTS)
    qtbot.keyClicks(panel.field, "raft")
    wait(lambda: "Passages with these words" in texts(asked))
    assert sum("guide.txt" in text for text in texts(asked)) == 2
    panel.field.setText("guide")
    wait(lambda: "Documents with this name" in texts(asked))
    panel.field.setText("zebra")
    wait(lambda: not texts(asked))
    assert panel.searching.text() == "No document is called that, and no passage holds these words."
    panel.field.clear()
    assert len(texts(asked)) == len(DOCUMENTS)


def test_the_keyboard_picks_applies_and_leaves(asked: Shell, wait: Wait, qtbot: QtBot) -> None:
    asked.why_not.open_panel()
    panel = asked.window.inspector.why
    wait(panel.field.hasFocus)
    qtbot.keyClicks(panel.field, "at the desk")
    wait(lambda: any("passage #2" in text for text in texts(asked)))
    qtbot.keyClick(panel.field, Qt.Key.Key_Down)
    assert panel.list.hasFocus()
    qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    settled(asked, wait)
    assert asked.why_not.state.target == WhyTarget("docs/fees.txt", 2)
    qtbot.keyClick(panel.list, Qt.Key.Key_Up)
    assert panel.field.hasFocus()
    button = panel.finding.evidence.buttons()[0]
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    settled(asked, wait)
    assert panel.finding.hasFocus()
    assert panel.finding.verdict.text().startswith("✓")
    qtbot.keyClick(panel.list, Qt.Key.Key_Escape)
    assert not panel.isVisible()
    assert asked.window.inspector.lanes.isAncestorOf(asked.window.focusWidget())


def test_enter_before_the_list_is_there_means_what_was_typed(asked: Shell, wait: Wait, qtbot: QtBot) -> None:
    asked.why_not.open_panel()
    panel = asked.window.inspector.why
    qtbot.keyClicks(panel.field, "wet smells")
    qtbot.keyClick(panel.field, Qt.Key.Key_Return)
    settled(asked, wait)
    assert asked.why_not.state.target == WhyTarget("docs/guide.txt", 1)


def test_the_passages_of_a_document_light_up_and_are_asked_about(asked: Shell, wait: Wait, qtbot: QtBot) -> None:
    why(asked, wait, "docs/fees.txt")
    panel = asked.window.inspector.why
    lines = panel.passages.lines
    assert lines.rowCount() == 3
    assert panel.passages.isVisible()
    panel.passages.setFocus()
    panel.passages.go_to(1)
    line = panel.passages.current()
    assert line is not None
    assert line.passage is not None
    selected = asked.focus.selected
    assert selected is not None
    assert selected.key == line.passage.place.evidence_key
    qtbot.keyClick(panel.passages, Qt.Key.Key_Return)
    settled(asked, wait)
    assert asked.why_not.state.target == line.target
    assert not panel.passages.isVisible()
    panel.finding.whole.click()
    settled(asked, wait)
    assert asked.why_not.state.target == WhyTarget("docs/fees.txt")


def test_a_passage_that_no_row_stands_for_is_read_in_its_document(asked: Shell, wait: Wait) -> None:
    asked.session.inquiry.change_setting("retrieve-k", 2)
    wait(lambda: asked.session.inquiry.answer.phase == "answered")
    finding = why(asked, wait, "docs/guide.txt", 1)
    assert all("guide.txt#chunk-1" not in one.candidate.evidence_key for one in trace_of(asked).candidates)
    finding.read.click()
    detail = asked.window.inspector.detail
    wait(lambda: not detail.waiting)
    assert detail.isVisible()
    assert not asked.window.inspector.why.isVisible()
    assert detail.marked_text() == "A raft that is rolled up wet smells for a year."


# --- asked from elsewhere ----------------------------------------------------------------------------------------


def test_a_row_of_the_lanes_asks_in_its_menu(asked: Shell, wait: Wait) -> None:
    lanes = asked.window.inspector.lanes
    trace = trace_of(asked)
    raw = lanes.lists[0].model()
    fallen = next(
        raw.index(row, 0)
        for row in range(raw.rowCount())
        if raw.index(row, 0).data(Role.FATE_NAME) in ("over_document_cap", "beyond_return_n")
    )
    menu = LaneMenu(fallen, Circumstances(trace), asked.wiring.theme(), lanes)
    entry = next(action for action in menu.actions() if action.objectName() == "why")
    assert entry.text() == "Why is it not there?"
    menu.picked.connect(lambda what, argument: lanes._picked(0, what, argument))
    entry.trigger()
    settled(asked, wait)
    told = asked.why_not.state.told
    assert told is not None
    assert told.passages[0].place.evidence_key == fallen.data(Role.KEY)
    block = next(
        index
        for row in range(lanes.lists[1].model().rowCount())
        if (index := lanes.lists[1].model().index(row, 0)).data(Role.KIND) == "block"
    )
    other = LaneMenu(block, Circumstances(trace), asked.wiring.theme(), lanes)
    assert any(action.text() == "How did it come in?" for action in other.actions())


def test_the_selected_row_is_asked_about_with_one_key(asked: Shell, wait: Wait, qtbot: QtBot) -> None:
    third = trace_of(asked).candidates[2].candidate
    asked.focus.select(FocusTarget("candidate", third.evidence_key, third.rank))
    assert asked.window.actions_["why-row"].isEnabled()
    qtbot.keyClick(asked.window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    settled(asked, wait)
    assert asked.why_not.state.target == WhyTarget(str(third.doc_id), third.chunk_index)
    asked.focus.select(None)
    assert not asked.window.actions_["why-row"].isEnabled()


def test_a_row_of_the_library_asks_in_its_menu(asked: Shell, wait: Wait) -> None:
    library = asked.window.library
    asked.window.show_page("library")
    row = library.model.row_of("docs/guide.txt")
    library.table.choose(row)
    library._menu(QPoint(5, 5))
    menu = next(menu for menu in library.findChildren(QMenu) if any(a.objectName() == "why" for a in menu.actions()))
    next(action for action in menu.actions() if action.objectName() == "why").trigger()
    menu.close()
    settled(asked, wait)
    assert asked.window.page == "inspector"
    assert asked.why_not.state.target == WhyTarget("docs/guide.txt")


def test_showing_the_document_takes_the_panels_place(asked: Shell, wait: Wait) -> None:
    why(asked, wait, "docs/near.txt")
    asked.window.actions_.trigger("toggle-detail")
    assert not asked.window.inspector.why_open
    assert not asked.window.inspector.detail.isVisible()
    asked.window.actions_.trigger("why-not")
    assert asked.window.inspector.why.isVisible()
    asked.why_not.close_panel()
    assert not asked.window.inspector.why.isVisible()
    assert not asked.window.inspector.detail.isVisible()


def test_the_list_stays_where_it_was_while_files_are_indexed(asked: Shell, wait: Wait) -> None:
    asked.why_not.open_panel()
    panel = asked.window.inspector.why
    panel.list.choose_first()
    wait(lambda: panel.list.verticalScrollBar().maximum() > 0)
    panel.list.verticalScrollBar().setValue(panel.list.verticalScrollBar().maximum())
    at = panel.list.verticalScrollBar().value()
    asked.why_not._search()
    assert panel.list.verticalScrollBar().value() == at


def test_the_command_palette_knows_it(asked: Shell) -> None:
    words = [command.words for command in asked.wiring.menus.commands()]
    assert "Why is it not there?…" in words
    assert "Why is this row there, or not?" in words


def test_hostile_names_and_texts_are_plain(asked: Shell, wait: Wait) -> None:
    finding = why(asked, wait, "docs/<b>sign.txt")
    panel = asked.window.inspector.why
    assert finding._name.text() == "<b>sign.txt"
    assert finding._name.textFormat() == Qt.TextFormat.PlainText
    panel.field.setText("gravel")
    wait(lambda: any("gravel" in text for text in texts(asked)))
    shown = " ".join(texts(asked))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    rows = panel.list.lines
    tips = [rows.index(row).data(Qt.ItemDataRole.ToolTipRole) or "" for row in range(rows.rowCount())]
    assert all("<b>" not in tip for tip in tips)
    assert any(rows.index(row).data(LineRole.SNIPPET) for row in range(rows.rowCount()))


def test_at_the_smallest_window_everything_is_in_sight(asked: Shell, wait: Wait) -> None:
    asked.window.resize(1024, 700)
    why(asked, wait, "docs/fees.txt")
    panel = asked.window.inspector.why
    wait(lambda: panel.passages.width() > 150)
    for part in (panel.field, panel.list, panel.finding, panel.passages):
        corner = part.mapTo(asked.window, part.rect().bottomRight())
        assert asked.window.rect().contains(corner)
        assert part.width() > 150
        assert part.height() > 20
    assert asked.window.inspector.lanes.height() > 120
