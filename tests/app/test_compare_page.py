"""The Compare page: what is on it is what the pipeline's comparison says, row by row."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.compose import Shell
from app.features.comparing import MOST_PINS
from app.features.comparing_studies import Studies, Wish
from app.jobs.ends import End
from app.models.compared import LANES, Compared
from app.models.comparing import CompareRole, DifferenceRow, rows_of
from app.models.rows import Role
from app.theme import ThemeWatch
from app.views.compare_page import POLICIES, RUNS, ComparePage
from pipeline.compare import compare
from pipeline.policies import policies_on_same_hits
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.words.comparing import change_mark, counts_words, policy_figures
from tests.app.shell import ShellMaker
from tests.support.encoder import WordEncoder
from tests.support.traces import Row, make_trace

Wait = Callable[[Callable[[], object]], None]
QUESTION = "late items and damaged item desk"


@pytest.fixture
def opened(shells: ShellMaker, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.phase == "open")
    return shell


def answer_to(shell: Shell, question: str, wait: Wait) -> Trace:
    inquiry = shell.session.inquiry
    inquiry.ask(question)
    wait(lambda: inquiry.answer.phase == "answered" and inquiry.answer.trace and inquiry.answer.trace.query == question)
    assert inquiry.answer.trace is not None
    return inquiry.answer.trace


def set_and_answer(shell: Shell, wait: Wait, **values: Any) -> Trace:
    """Change settings by name with underscores, and wait for the answer."""
    inquiry = shell.session.inquiry
    old = inquiry.answer.trace
    inquiry.change_settings({key.replace("_", "-"): value for key, value in values.items()})
    wait(lambda: inquiry.answer.phase == "answered" and inquiry.answer.trace is not old)
    assert inquiry.answer.trace is not None
    return inquiry.answer.trace


def shown(shell: Shell, wait: Wait, before: Trace | None = None, after: Trace | None = None) -> Compared:
    """The comparison on screen, once it is the one of these two."""

    def there() -> bool:
        compared = shell.comparing.compared
        return (
            compared is not None
            and (before is None or compared.before is before)
            and (after is None or compared.after is after)
        )

    wait(there)
    compared = shell.comparing.compared
    assert compared is not None
    return compared


def check_row_by_row(shell: Shell, before: Trace, after: Trace) -> None:
    """What the page shows against the pipeline's own comparison of the two."""
    found = compare(before, after)
    page = shell.window.compare
    for lane, differences, same in (
        ("candidates", found.candidates, found.same_candidates),
        ("blocks", found.blocks, found.same_blocks),
        ("items", found.items, found.same_items),
    ):
        list_ = page.runs.lists[lane]  # type: ignore[index]  # one of the lanes
        model = list_.model()
        assert model.rowCount() == len(differences)
        for number, difference in enumerate(differences):
            index = model.index(number, 0)
            assert index.data(CompareRole.BEFORE) == (difference.before.rank if difference.before else None)
            assert index.data(CompareRole.AFTER) == (difference.after.rank if difference.after else None)
            assert index.data(CompareRole.CHANGE) == difference.change
            assert index.data(CompareRole.MARK) == change_mark(difference)
            assert index.data(Role.KEY) == difference.at.evidence_key
            assert index.data(Role.PATH) == difference.at.source_path
        header = page.runs.headers[lane]  # type: ignore[index]  # one of the lanes
        assert counts_words(differences, same) in header.accessibleName()
    assert [what for what, _, _ in page.runs.unlike()].count("Cap per file") == sum(
        each.name == "max-chunks-per-document" for each in found.settings
    )
    assert len(page.runs.unlike()) == (found.question is not None) + sum(
        map(len, (found.settings, found.scope, found.library))
    )


# --- two runs ----------------------------------------------------------------------------------------------------


def test_this_run_against_the_one_before_row_by_row(opened: Shell, wait: Wait) -> None:
    before = answer_to(opened, QUESTION, wait)
    after = set_and_answer(opened, wait, return_n=1, max_chunks_per_document=1)
    opened.window.actions_.trigger("compare-before")
    assert opened.window.page == "compare"
    compared = shown(opened, wait, before, after)
    assert compared.found == compare(before, after)
    assert compared.found.items, "the two runs have to differ for this to show anything"
    check_row_by_row(opened, before, after)
    assert "Cap" in opened.window.compare.runs.parting or "Return" in opened.window.compare.runs.parting
    assert ("Blocks to return", "5 blocks", "1 block") in opened.window.compare.runs.unlike()


def test_the_page_follows_a_changed_setting(opened: Shell, wait: Wait) -> None:
    answer_to(opened, QUESTION, wait)
    first = set_and_answer(opened, wait, return_n=1)
    opened.window.actions_.trigger("compare-before")
    shown(opened, wait, after=first)
    second = set_and_answer(opened, wait, return_n=3)
    shown(opened, wait, first, second)
    check_row_by_row(opened, first, second)


def test_swapped_sides_show_the_mirrored_comparison(opened: Shell, wait: Wait, qtbot: QtBot) -> None:
    before = answer_to(opened, QUESTION, wait)
    after = set_and_answer(opened, wait, return_n=1)
    opened.window.actions_.trigger("compare-before")
    straight = shown(opened, wait, before, after)
    qtbot.mouseClick(opened.window.compare.sides.swap, Qt.MouseButton.LeftButton)
    swapped = shown(opened, wait, after, before)
    assert swapped.found == straight.found.mirrored()
    check_row_by_row(opened, after, before)


def test_a_run_chosen_for_both_sides_changes_places(opened: Shell, wait: Wait) -> None:
    before = answer_to(opened, QUESTION, wait)
    after = set_and_answer(opened, wait, return_n=1)
    opened.window.actions_.trigger("compare-before")
    shown(opened, wait, before, after)
    opened.window.compare.sideChosen.emit("left", "now")
    shown(opened, wait, after, before)
    assert opened.window.compare.sides.left.chosen_id == "now"
    assert opened.window.compare.sides.right.chosen_id == "before"


def test_without_a_question_or_a_run_before_it_says_what_to_do(opened: Shell, wait: Wait) -> None:
    page = opened.window.compare
    opened.window.show_page("compare")
    assert not page.runs_shown
    assert page.runs_panel.shown is not None
    assert page.runs_panel.shown.title == "Nothing to compare yet"
    assert not page.pin.isEnabled()
    answer_to(opened, QUESTION, wait)
    assert page.runs_panel.shown.title == "There is no run before yet"
    assert not opened.window.actions_["compare-before"].isEnabled()
    assert page.pin.isEnabled()


def test_the_same_run_twice_does_not_part(opened: Shell, wait: Wait) -> None:
    trace = answer_to(opened, QUESTION, wait)
    opened.comparing.compare_with(trace, trace, "One", "Other")
    shown(opened, wait, trace, trace)
    page = opened.window.compare
    assert page.runs.parting.startswith("The runs do not differ")
    assert all(page.runs.models[lane].rowCount() == 0 for lane in LANES)
    assert page.sides.left.list.currentText() == "One"
    assert page.sides.right.list.currentText() == "Other"


def test_another_question_is_named_as_what_differs(opened: Shell, wait: Wait) -> None:
    one = answer_to(opened, QUESTION, wait)
    two = answer_to(opened, "raft rolled wet", wait)
    opened.comparing.compare_with(one, two)
    shown(opened, wait, one, two)
    runs = opened.window.compare.runs
    assert runs.parting == "The runs ask different questions"
    assert ("Question", QUESTION, "raft rolled wet") in runs.unlike()


# --- pins ----------------------------------------------------------------------------------------------------------


def test_several_pins_are_kept_and_compared_and_unpinned(opened: Shell, wait: Wait) -> None:
    first = answer_to(opened, QUESTION, wait)
    opened.window.actions_.trigger("pin-run")
    second = set_and_answer(opened, wait, return_n=1)
    opened.window.actions_.trigger("pin-run")
    third = set_and_answer(opened, wait, return_n=2)
    pins = [name for name in opened.comparing.kept if name.startswith("pin:")]
    assert [opened.comparing.kept[name].trace for name in pins] == [first, second]
    opened.window.show_page("compare")
    shown(opened, wait, first, third)  # a pin takes the place of the run before
    page = opened.window.compare
    page.sides.left.list.activated.emit(page.sides.left.list.findData(pins[1]))
    shown(opened, wait, second, third)
    text = page.sides.left.list.currentText()
    assert text.startswith("Pinned ")
    assert QUESTION in text
    assert "Blocks to return: 1 block" in text
    assert page.sides.left.unpin.isVisible()
    page.sides.left.unpin.click()
    assert [name for name in opened.comparing.kept if name.startswith("pin:")] == pins[:1]
    assert page.sides.left.list.findData(pins[1]) == -1
    shown(opened, wait, second, third)  # which is the run before now


def test_pins_have_an_end_that_is_said(opened: Shell, wait: Wait) -> None:
    answer_to(opened, QUESTION, wait)
    for _ in range(MOST_PINS + 1):
        opened.comparing.pin()
    assert len(opened.comparing.kept) == MOST_PINS
    assert "Unpin one" in opened.window.status.said


# --- other policies, other settings ------------------------------------------------------------------------------


def test_another_policy_stands_on_the_same_hits(opened: Shell, wait: Wait) -> None:
    now = answer_to(opened, QUESTION, wait)
    opened.window.show_page("compare")
    page = opened.window.compare
    for side, choice in (("left", "now"), ("right", "policy:plain")):
        page.sideChosen.emit(side, choice)
    compared = shown(opened, wait, now)
    assert compared.after.policy == "plain"
    ours = [traced.candidate.evidence_key for traced in compared.before.candidates]
    assert ours == [traced.candidate.evidence_key for traced in compared.after.candidates]
    check_row_by_row(opened, now, compared.after)
    assert ("Policy", "Evidence", "Plain top-k") in page.runs.unlike()


def test_other_settings_leave_those_of_the_window_alone(opened: Shell, wait: Wait) -> None:
    now = answer_to(opened, QUESTION, wait)
    opened.window.show_page("compare")
    page = opened.window.compare
    assert not page.own.isVisible()
    page.sideChosen.emit("left", "now")
    page.sideChosen.emit("right", "own")
    assert page.own.isVisible()
    page.own.controls["return-n"].control.setValue(1)  # type: ignore[attr-defined]  # a spin box
    wait(lambda: opened.comparing.compared and opened.comparing.compared.after.settings["return-n"].value == 1)
    compared = shown(opened, wait, now)
    assert len(compared.after.evidence) == 1
    assert opened.session.inquiry.settings.return_n == 5
    assert opened.session.inquiry.answer.trace is now
    assert compared.after.timings_ms.embed == 0.0, "the vector was made already"
    page.own.reset.emit()
    wait(lambda: opened.comparing.compared and opened.comparing.compared.after.settings["return-n"].value == 5)


def test_the_three_policies_are_those_of_the_pipeline(opened: Shell, wait: Wait) -> None:
    trace = answer_to(opened, QUESTION, wait)
    opened.window.actions_.trigger("compare-policies")
    page = opened.window.compare
    wait(lambda: page.policies_shown)
    folder = opened.session.shelf.library.folder
    assert folder is not None
    with closing(QueryEngine(folder, WordEncoder())) as engine:
        expected = policies_on_same_hits(engine, QUESTION, opened.session.inquiry.settings)
    for answer in expected:
        column = page.policies.columns[answer.policy]
        assert column.figures() == [f"{figure} {what}" for figure, what in policy_figures(answer)]
        rows = column.model.rows
        assert [row.value(Role.KEY) for row in rows] == [item.document_id for item in answer.trace.projected]
        repeated = [row for row in rows if row.value(CompareRole.REPEATS)]
        assert len(repeated) == answer.items - answer.distinct
        assert len([row for row in repeated if row.value(Role.TWIN)]) == len(repeated), "copies carry their letter"
    plain, evidence = page.policies.columns["plain"], page.policies.columns["evidence"]
    assert any(row.value(CompareRole.REPEATS) == "the same text as 1" for row in plain.model.rows)
    assert "stands above already" in plain.verdict.text()
    assert "each with a text of its own" in evidence.verdict.text()
    assert "copies took" in page.policies.sentence
    # The letters are those of the lanes.
    lettered = {traced.candidate.evidence_key: traced.twin_group for traced in trace.candidates}
    assert all(row.value(Role.TWIN) == lettered[str(row.value(Role.KEY))] for row in plain.model.rows)


def test_the_policies_follow_the_question(opened: Shell, wait: Wait) -> None:
    answer_to(opened, QUESTION, wait)
    opened.window.actions_.trigger("compare-policies")
    page = opened.window.compare
    wait(lambda: page.policies_shown)
    answer_to(opened, "raft rolled wet", wait)
    wait(lambda: page.policies.answers[0].trace.query == "raft rolled wet")


def test_a_study_that_fails_says_why(shells: ShellMaker, wait: Wait) -> None:
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready" and shell.session.shelf.library.phase == "open")
    answer_to(shell, QUESTION, wait)
    folder = shell.session.shelf.library.folder
    assert folder is not None
    shells.model.fails = "the model stopped"
    shells.model.closed = True
    shells.model.let_encode.set()
    shell.window.actions_.trigger("compare-policies")
    panel = shell.window.compare.policies_panel
    wait(lambda: panel.shown is not None and panel.shown.title == "The model does not answer")


# --- rows ----------------------------------------------------------------------------------------------------------


def test_a_chosen_row_is_read_below_and_selected_in_the_inspector(opened: Shell, wait: Wait, qtbot: QtBot) -> None:
    before = answer_to(opened, QUESTION, wait)
    after = set_and_answer(opened, wait, policy="plain")
    opened.window.actions_.trigger("compare-before")
    shown(opened, wait, before, after)
    runs = opened.window.compare.runs
    list_, model = runs.lists["candidates"], runs.models["candidates"]
    at = next(at for at, row in enumerate(model.rows) if isinstance(row, DifferenceRow) and row.right is not None)
    list_.setFocus()
    list_.setCurrentIndex(model.index(at, 0))
    row = model.rows[at]
    assert isinstance(row, DifferenceRow)
    assert row.file() in runs.what
    assert runs.alone.toPlainText() == row.shown.text
    assert opened.focus.selected == row.target_on("right")
    qtbot.keyClick(list_, Qt.Key.Key_Space)
    assert opened.window.page == "inspector"
    assert opened.focus.selected == row.target_on("right")
    assert opened.session.inquiry.answer.saved is None


def test_the_left_run_can_be_shown_in_the_inspector_and_left_again(opened: Shell, wait: Wait) -> None:
    before = answer_to(opened, QUESTION, wait)
    after = set_and_answer(opened, wait, return_n=1)
    opened.window.actions_.trigger("compare-before")
    shown(opened, wait, before, after)
    runs = opened.window.compare.runs
    row = runs.models["items"].rows[0]
    assert isinstance(row, DifferenceRow)
    target = row.target_on("left")
    assert target is not None
    runs.showRequested.emit("left", target)
    assert opened.window.page == "inspector"
    assert opened.session.inquiry.answer.trace is before
    assert opened.focus.selected == target
    assert opened.window.inspector.given.isVisible()
    opened.window.actions_.trigger("close-trace")
    assert opened.session.inquiry.answer.trace is after
    assert not opened.window.inspector.given.isVisible()


def test_keys_lead_through_the_lanes_of_the_comparison(opened: Shell, wait: Wait, qtbot: QtBot) -> None:
    before = answer_to(opened, QUESTION, wait)
    after = set_and_answer(opened, wait, policy="plain")
    opened.window.actions_.trigger("compare-before")
    shown(opened, wait, before, after)
    runs = opened.window.compare.runs
    opened.window.activateWindow()
    runs.lists["candidates"].setFocus()
    wait(runs.lists["candidates"].hasFocus)
    qtbot.keyClick(runs.lists["candidates"], Qt.Key.Key_Right)
    wait(runs.lists["blocks"].hasFocus)
    qtbot.keyClick(runs.lists["blocks"], Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert runs.lists["blocks"].currentIndex().data(Role.COPY) == QApplication.clipboard().text()
    menu = runs.menu_for(runs.lists["blocks"].currentIndex())
    assert "Copy as text" in [action.text() for action in menu.actions()]
    menu.close()


def test_two_thousand_rows_are_all_there(watch: ThemeWatch, qtbot: QtBot) -> None:
    rows = [Row(f"docs/file-{at}.txt", f"text {at % 40} of a passage", 0.9 - at * 1e-4) for at in range(2_000)]
    before = make_trace(rows, retrieve_k=2_000, cap=0)
    after = make_trace([Row(row.doc_id, row.text, 1 - row.score) for row in rows], retrieve_k=2_000, cap=0)
    page = ComparePage(watch.theme)
    qtbot.addWidget(page)
    page.resize(1_200, 800)
    page.show()
    compared = Compared(before, after, compare(before, after))
    page.show_compared(compared, rows_of(compared))
    list_ = page.runs.lists["candidates"]
    assert list_.model().rowCount() == len(compared.found.candidates) == 2_000
    list_.scrollToBottom()
    last = [row for row, _ in list_.visible_rows()]
    assert last[-1] == 1_999
    assert len(last) < 60, "only what is in sight is drawn"


def test_hostile_names_and_texts_are_shown_plain(watch: ThemeWatch, qtbot: QtBot) -> None:
    rows = [
        Row("docs/<b>bold</b>.txt", "<script>alert(1)</script>\x1b[31m\x00 and " + "x" * 100_000, 0.9),
        Row("docs/evil\u202etxt.exe", "right\u202eto left", 0.8),
    ]
    before, after = make_trace(rows, return_n=1, query="<img src=x>\x1b"), make_trace(rows, query="another\u202e one")
    page = ComparePage(watch.theme)
    qtbot.addWidget(page)
    page.resize(1_000, 700)
    page.show()
    compared = Compared(before, after, compare(before, after))
    made = rows_of(compared)
    page.show_compared(compared, made)
    shown_texts = [cell for line in page.runs.unlike() for cell in line]
    for lane in LANES:
        for row in made[lane]:
            shown_texts += [row.file(), str(row.value(Role.FOLDER)), *(words for _, words in row.said())]
            shown_texts.append(str(row.value(Qt.ItemDataRole.ToolTipRole)))
    page.runs.lists["items"].setCurrentIndex(page.runs.models["items"].index(0, 0))
    shown_texts += [page.runs.what, page.runs.alone.toPlainText()]
    assert not any(sign in text for text in shown_texts for sign in "\x00\x1b\u202e")
    tips = [str(row.value(Qt.ItemDataRole.ToolTipRole)) for row in made["items"]]
    assert not any("<b>bold" in tip or "<script" in tip for tip in tips)


def test_every_control_of_the_page_has_a_name_and_takes_the_keyboard(opened: Shell, wait: Wait) -> None:
    answer_to(opened, QUESTION, wait)
    opened.window.show_page("compare")
    page = opened.window.compare
    page.sideChosen.emit("right", "own")
    controls = [page.sides.left.list, page.sides.right.list, page.sides.swap, page.pin, page.open_trace, page.tabs]
    controls += [each.control for each in page.own.controls.values()]
    controls += [*page.runs.lists.values(), page.runs.alone]
    for control in controls:
        name = control.accessibleName() or getattr(control, "text", str)()
        assert name, control
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control
    assert not any(field.acceptDrops() for field in page.findChildren(QLineEdit))
    page.tabs.setCurrentIndex(POLICIES)
    page.tabs.setCurrentIndex(RUNS)


# --- the engine is shared ------------------------------------------------------------------------------------------


class FakeCrew:
    """Takes studies as the crew does: one under way, one waiting, what is overtaken ends as cancelled."""

    def __init__(self) -> None:
        self.under_way: list[Any] = []

    def study(self, library: Path, work: Any, ended: Any) -> None:
        if len(self.under_way) > 1:
            self.under_way.pop()[1](End("cancelled"))
        self.under_way.append((work, ended))

    def finish(self) -> None:
        work, ended = self.under_way.pop(0)
        ended(End("done", work(None)))


def test_wishes_are_all_granted_though_others_overtake_them(qtbot: QtBot, wait: Wait) -> None:
    crew, parent, done = FakeCrew(), QObject(), []
    studies = Studies(crew, parent)  # type: ignore[arg-type]  # as far as it is used
    crew.study(Path("x"), lambda engine: "busy", lambda end: None)
    studies.want("one", Wish(Path("x"), lambda engine: 1, lambda end: done.append(end.value)))
    studies.want("two", Wish(Path("x"), lambda engine: 2, lambda end: done.append(end.value)))
    studies.want("two", Wish(Path("x"), lambda engine: 3, lambda end: done.append(end.value)))
    crew.study(Path("x"), lambda engine: "another part of the window", lambda end: None)  # overtakes "one"
    assert done == []
    for _ in range(8):
        qtbot.wait(60)
        if crew.under_way:
            crew.finish()
    wait(lambda: len(done) == 2)
    assert sorted(done) == [1, 3]
