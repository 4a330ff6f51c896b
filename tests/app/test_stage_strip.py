"""The strip: every number true to the trace, nothing cut at any width, one stop of the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.models.steps import steps_of
from app.theme import DARK, LIGHT, theme_for
from app.views.stage_strip import BudgetMeter, StageStrip
from pipeline.records import StageCount, Trace
from tests.support import traces


@pytest.fixture
def strip(qtbot) -> Iterator[StageStrip]:
    host = QWidget()
    layout = QVBoxLayout(host)
    layout.setContentsMargins(0, 0, 0, 0)
    made = StageStrip(theme_for(Qt.ColorScheme.Light), host)
    layout.addWidget(made)
    layout.addStretch(1)
    host.resize(960, 300)
    host.show()
    made.set_trace(traces.policy_trace(in_all=700))
    qtbot.waitExposed(host)
    yield made
    host.close()
    host.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def plain(trace: Trace) -> Trace:
    """The same answer as the plain policy would count it."""
    skipped = {"merge", "collapse", "near", "source", "cap"}
    stages = tuple(
        StageCount(s.name, "skipped" if s.name in skipped else "done", s.entered, s.entered, 0) for s in trace.stages
    )
    return replace(trace, policy="plain", stages=stages)


def test_the_numbers_are_the_traces() -> None:
    trace = traces.policy_trace(in_all=700)
    counts = {stage.name: stage for stage in trace.stages}
    steps = {step.stage: step for step in steps_of(trace)}
    assert steps["asked"].figure == str(trace.rounds[0].asked)
    assert steps["fetched"].figure == str(len(trace.candidates))
    assert steps["fetched"].below == "in 2 rounds"
    for name in ("collapse", "cap", "return", "pack"):
        assert steps[name].figure == str(counts[name].left)
        assert steps[name].dropped == counts[name].dropped
        assert f"−{counts[name].dropped} " in steps[name].below
    assert steps["pack"].figure == str(len(trace.projected))
    assert [step.stage for step in steps_of(trace)][:2] == ["asked", "fetched"]


def test_each_number_is_the_last_less_what_was_dropped() -> None:
    trace = traces.policy_trace(left_out=("site/faq.md",), retrieve_k=6)
    known = [step for step in steps_of(trace) if step.stage not in ("", "asked", "fetched") and not step.skipped]
    figures = [len(trace.candidates)] + [int(step.figure.replace(",", "")) for step in known]
    for before, after, step in zip(figures, figures[1:], known, strict=False):
        assert after == before - step.dropped, step


def test_a_skipped_stage_says_so() -> None:
    steps = {step.stage: step for step in steps_of(plain(traces.policy_trace()))}
    assert steps["collapse"].skipped
    assert steps["collapse"].below == "skipped"
    assert "Skipped this time" in steps["collapse"].sentence
    assert steps[""].words == "skipped"
    assert "Fold near copies" in steps[""].sentence


def test_a_cut_is_mentioned_where_it_was_made() -> None:
    trace = traces.policy_trace(in_all=1_035)
    assert any(item.cut for item in trace.projected)
    pack = next(step for step in steps_of(trace) if step.stage == "pack")
    assert "1 cut" in pack.below
    assert "1 block was cut to fit" in pack.sentence


@pytest.mark.parametrize("width", [1920, 1440, 960, 700, 420])
@pytest.mark.parametrize("theme", [LIGHT, replace(DARK, points=14.0)], ids=["small", "large"])
def test_nothing_is_cut_or_covered(strip: StageStrip, width: int, theme, qtbot) -> None:
    strip.set_theme(theme)
    strip.set_trace(traces.policy_trace(left_out=("site/faq.md",), in_all=700, retrieve_k=8))
    strip.window().resize(width, 500)
    qtbot.waitUntil(lambda: strip.width() == width and strip.height() == strip.heightForWidth(width))
    parts = [*strip.chips, strip.findChild(BudgetMeter)]
    boxes = [part.geometry() for part in parts]
    for at, box in enumerate(boxes):
        assert strip.rect().contains(box), parts[at]
        assert not any(box.intersects(other) for other in boxes[:at])
    for chip in strip.chips:
        assert chip.width() >= chip.sizeHint().width()


def test_one_line_is_enough_at_the_smallest_window(strip: StageStrip) -> None:
    tops = {chip.y() for chip in strip.chips}
    assert len(tops) == 1


def test_clicking_tells_the_stage_and_clicking_again_ends_it(strip: StageStrip, qtbot) -> None:
    cap = next(chip for chip in strip.chips if chip.step.stage == "cap")
    with qtbot.waitSignal(strip.stageActivated) as told:
        qtbot.mouseClick(cap, Qt.MouseButton.LeftButton)
    assert told.args == ["cap"]
    assert cap.isChecked()
    other = next(chip for chip in strip.chips if chip.step.stage == "return")
    with qtbot.waitSignal(strip.stageActivated) as told:
        qtbot.mouseClick(other, Qt.MouseButton.LeftButton)
    assert told.args == ["return"]
    assert not cap.isChecked()
    with qtbot.waitSignal(strip.stageActivated) as told:
        qtbot.mouseClick(other, Qt.MouseButton.LeftButton)
    assert told.args == [""]
    with qtbot.assertNotEmitted(strip.stageActivated):
        strip.set_active("cap")
    assert cap.isChecked()


def test_tab_reaches_one_chip_and_arrows_the_others(strip: StageStrip, qtbot) -> None:
    reachable = [chip for chip in strip.chips if chip.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert reachable == strip.chips[:1]
    strip.chips[0].setFocus()
    QTest.keyClick(strip.chips[0], Qt.Key.Key_Right)
    assert strip.chips[1].hasFocus()
    QTest.keyClick(strip.chips[1], Qt.Key.Key_End)
    assert strip.chips[-1].hasFocus()
    QTest.keyClick(strip.chips[-1], Qt.Key.Key_Home)
    QTest.keyClick(strip.chips[0], Qt.Key.Key_Right)
    with qtbot.waitSignal(strip.stageActivated) as told:
        QTest.keyClick(strip.chips[1], Qt.Key.Key_Space)
    assert told.args == ["fetched"]
    reachable = [chip for chip in strip.chips if chip.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert reachable == [strip.chips[1]]


def test_a_new_answer_keeps_the_keyboards_place(strip: StageStrip) -> None:
    strip.chips[0].setFocus()
    QTest.keyClick(strip.chips[0], Qt.Key.Key_Right)
    strip.set_trace(traces.policy_trace())
    assert strip.chips[1].hasFocus()


def test_everything_has_a_name_and_a_sentence(strip: StageStrip) -> None:
    for chip in strip.chips:
        assert chip.accessibleName()
        assert chip.accessibleDescription()
        assert chip.step.sentence.split(".")[0] in chip.toolTip().replace("&#x27;", "'")
    meter = strip.findChild(BudgetMeter)
    budget = traces.policy_trace(in_all=700).summary.budget
    assert meter.accessibleName() == f"Budget: {budget.chars:,} of 700 characters, {budget.tokens:,} tokens"


def test_without_an_answer_there_is_nothing(strip: StageStrip, qtbot) -> None:
    strip.set_trace(None)
    assert strip.chips == []
    assert strip.heightForWidth(900) == 0
    assert strip.findChild(BudgetMeter).isHidden()
    assert strip.childAt(QPoint(20, 10)) is None or strip.childAt(QPoint(20, 10)).isHidden()


def test_an_empty_answer_has_a_strip_of_zeros(strip: StageStrip) -> None:
    strip.set_trace(traces.empty_trace())
    assert [chip.step.figure for chip in strip.chips][:6] == ["20", "0", "0", "0", "0", "0"]
