"""Twin beside twin, and near twins folded on request with a stage and a fate of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

import app.difference
from app.compose import Shell
from app.difference import compare
from app.focus import FocusTarget
from app.models.rows import Role
from app.theme import ThemeWatch
from app.views.compare import PIECES_AT_ONCE, CompareView
from pipeline.records import Trace
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]
LONG = " ".join(f"item {number} costs {number * 7 % 90} pounds" for number in range(800))
DOCUMENTS = {
    "fees.txt": f"Late items cost two pounds a day, and the desk takes cards.\n\n{LONG}",
    "fees (copy).txt": f"Late items cost two pounds a day, and the desk takes cards.\n\n{LONG} at noon",
    "near.txt": "Late items cost three pounds a day, and the desk takes cards.",
    "other.txt": "Dry the raft before you roll it up.",
}


@pytest.fixture
def asked(shells: ShellMaker, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(shells.library(DOCUMENTS))
    shell.session.start_model()
    shell.session.inquiry.ask("late items cost pounds a day")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    return shell


def trace_of(shell: Shell) -> Trace:
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    return trace


def select(shell: Shell, key: str) -> None:
    rank = next(one.candidate.rank for one in trace_of(shell).candidates if one.candidate.evidence_key == key)
    shell.focus.select(FocusTarget("candidate", key, rank))
    shell.window.inspector.detail.show_comparison()


# --- compared ----------------------------------------------------------------------------------------------------


def test_identical_twins_are_said_to_be_with_the_places_where_they_stand(asked: Shell, wait: Wait) -> None:
    select(asked, "docs/fees.txt#chunk-0")
    detail = asked.window.inspector.detail
    detail._with.setCurrentIndex(detail._with.findText("twin", flags=_contains()))
    said = detail.comparison_sentence()
    assert said.startswith("Identical, character by character. It stands in 2 places: ")
    assert "fees.txt (chunk #0, characters 0 to 59)" in said
    assert "fees (copy).txt (chunk #0, characters 0 to 59)" in said
    titles = [title.text() for title in detail._compare_view._titles]
    assert titles[0] == "fees.txt · chunk #0, characters 0 to 59 · docs"


def _contains() -> Any:
    from PySide6.QtCore import Qt

    return Qt.MatchFlag.MatchContains


def test_long_near_twins_are_compared_while_the_window_goes_on(
    asked: Shell, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, held = threading.Event(), threading.Event()
    threads: list[str] = []

    def slow(left: str, right: str) -> Any:
        threads.append(threading.current_thread().name)
        going.set()
        assert held.wait(10)
        return compare(left, right)

    monkeypatch.setattr(app.difference, "compare", slow)
    select(asked, "docs/fees.txt#chunk-1")
    detail = asked.window.inspector.detail
    wait(going.is_set)
    assert detail.comparison_sentence() == "Comparing…"
    assert threads == ["twinspect comparing two texts"]
    held.set()
    wait(lambda: detail.comparison_sentence() == "2 words only on the right; all other words are the same.")
    wait(lambda: "at noon" in detail._compare_view._sides[1].toPlainText())


def test_a_comparison_that_came_too_late_is_not_shown(asked: Shell, wait: Wait) -> None:
    select(asked, "docs/near.txt#chunk-0")
    detail = asked.window.inspector.detail
    said = detail.comparison_sentence()
    detail.show_difference("older", "texts", compare("older", "texts"))
    assert detail.comparison_sentence() == said


def test_thousands_of_differences_are_laid_out_in_turns_from_the_first_on(
    watch: ThemeWatch, qtbot: QtBot, wait: Wait
) -> None:
    view = CompareView(watch.theme)
    qtbot.addWidget(view)
    view.resize(600, 160)
    view.show()
    same = "\n".join(f"line {number}" for number in range(60))
    words = [f"w{number}" for number in range(2 * PIECES_AT_ONCE)]
    left, right = (f"{same}\n{' = '.join(words)}", f"{same}\n{' = '.join(f'{word}x' for word in words)}")
    view.show_difference("left", "right", compare(left, right))
    assert view._sides[0].toPlainText() != left  # the rest comes in later turns
    assert view._sides[0].verticalScrollBar().value() > 20  # not at the beginning, where all is the same
    wait(lambda: view._sides[0].toPlainText() == left and view._sides[1].toPlainText() == right)


# --- folded on request -------------------------------------------------------------------------------------------


def test_the_strip_offers_to_fold_them_and_the_lanes_show_what_became_of_them(asked: Shell, wait: Wait) -> None:
    window, before = asked.window, trace_of(asked)
    strip = window.inspector.query.strip
    assert not [one for one in before.candidates if one.fate.name == "near_collapsed"]
    assert strip._near.text().startswith("Near twins  ")
    assert strip._near.property("changed") is False
    box = strip.controls["fold-near"].control
    box.click()  # type: ignore[attr-defined]
    wait(lambda: asked.session.inquiry.answer.phase == "answered" and trace_of(asked) is not before)
    assert "✓" in strip._near.text()
    assert strip._near.property("changed") is True
    lane = window.inspector.lanes.lists[0].model()
    rows = [lane.index(row, 0) for row in range(lane.rowCount())]
    row = next(row for row in rows if row.data(Role.FATE_NAME) == "near_collapsed")
    assert row.data(Role.FATE).startswith("a near twin of ")
    assert row.data(Role.FATE).endswith("which stands for it")
    assert row.data(Role.NEAR)
    stage = next(stage for stage in trace_of(asked).stages if stage.name == "near")
    folded = [one for one in trace_of(asked).candidates if one.fate.name == "near_collapsed"]
    assert (stage.status, stage.dropped) == ("done", len(folded))
    window.inspector.lanes.show_stage("near")
    assert f"lit: {len(folded)} rows near copies" in window.inspector.lanes._headers[0].accessibleName()
    links = window.inspector.lanes._answer.links  # type: ignore[union-attr]
    head = trace_of(asked).candidates[int(str(folded[0].fate.numbers["rank"])) - 1]
    # Its ribbon leads to the block that stands for it, which cites its own text's files alone.
    block = trace_of(asked).evidence[links.block_of[folded[0].candidate.rank] - 1]
    assert block.carrier_rank == head.candidate.rank
    assert folded[0].candidate.evidence_key not in {place.evidence_key for place in block.citations}
    window.actions_.trigger("undo")
    wait(lambda: "✓" not in strip._near.text())


def test_the_threshold_decides_who_is_near(asked: Shell, wait: Wait) -> None:
    asked.session.inquiry.change_settings({"fold-near": True, "near-threshold": 0.99})
    wait(lambda: asked.session.inquiry.answer.phase == "answered" and asked.session.inquiry.settings.fold_near)
    near = next(one for one in trace_of(asked).candidates if one.candidate.evidence_key == "docs/near.txt#chunk-0")
    assert near.fate.name == "projected"


def test_the_settings_page_offers_both(asked: Shell) -> None:
    keys = [row.spec.key for row in asked.window.settings.rows]
    assert "fold-near" in keys
    assert "near-threshold" in keys
