"""The selected chunk: its document, its citations, its fate, its comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.compose import Shell
from app.focus import FocusTarget
from app.state import Problem
from app.subject import subject_of
from app.views.inspector_page import moved_along
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def asked(shells: ShellMaker, wait: Wait) -> Shell:
    """A window with an answer to "late items damaged"."""
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    shell.session.inquiry.ask("late items damaged")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    return shell


def trace_of(shell: Shell) -> Any:
    return shell.session.inquiry.answer.trace


def select(shell: Shell, kind: Any, key: str, rank: int | None, wait: Wait) -> None:
    shell.focus.selected = FocusTarget(kind, key, rank)
    wait(lambda: not shell.window.inspector.detail.waiting)


def test_a_new_answer_shows_its_first_row_and_nothing_selected_says_what_to_do(asked: Shell) -> None:
    first = trace_of(asked).candidates[0].candidate
    assert asked.focus.selected == FocusTarget("candidate", first.evidence_key, 1)
    asked.focus.selected = None
    assert asked.window.inspector.detail.subject is None
    assert "Select a row above" in asked.window.inspector.detail.hint


def test_evidence_is_shown_in_its_document_with_its_files(asked: Shell, wait: Wait) -> None:
    block = next(block for block in trace_of(asked).evidence if len(block.citations) == 3)
    select(asked, "evidence", block.evidence_key, block.rank, wait)
    detail = asked.window.inspector.detail
    assert detail.subject is not None
    assert len(detail.subject.places) == 3
    assert detail.marked_text() == block.content
    assert detail.subject.letter
    assert "cites 3 files" in " ".join(detail.subject.said)


def test_a_copy_that_was_not_the_representative_is_shown_in_its_own_file(asked: Shell, wait: Wait) -> None:
    block = next(block for block in trace_of(asked).evidence if len(block.citations) == 3)
    other = block.citations[2]
    select(asked, "file", other.path, block.rank, wait)
    detail = asked.window.inspector.detail
    assert detail.subject is not None
    assert detail.subject.place == other
    assert detail.shown_place() == other


def test_every_row_has_its_fate_in_words(asked: Shell, wait: Wait) -> None:
    for traced in trace_of(asked).candidates:
        subject = subject_of(
            FocusTarget("candidate", traced.candidate.evidence_key, traced.candidate.rank), trace_of(asked)
        )
        assert subject is not None
        assert subject.said[0].startswith(f"Row {traced.candidate.rank}, similarity")
        assert traced.fate.name not in subject.said[0].split()[2:3]
        assert subject.place is not None


def test_a_near_twin_is_compared_word_by_word(asked: Shell, wait: Wait) -> None:
    near = next(traced for traced in trace_of(asked).candidates if traced.near_twins)
    select(asked, "candidate", near.candidate.evidence_key, near.candidate.rank, wait)
    detail = asked.window.inspector.detail
    detail.show_comparison()
    wait(lambda: not detail.waiting)
    assert "1 word only on the left, 1 word only on the right" in detail.comparison_sentence()


def test_a_twin_beyond_the_answer_is_read_from_its_document(asked: Shell, shells: ShellMaker, wait: Wait) -> None:
    """The library cites copies that were not among the candidates."""
    asked.session.inquiry.change_settings({"retrieve-k": 1, "return-n": 1})
    wait(lambda: len(trace_of(asked).candidates) == 1)
    block = trace_of(asked).evidence[0]
    select(asked, "evidence", block.evidence_key, 1, wait)
    detail = asked.window.inspector.detail
    assert any(partner.text is None for partner in detail.subject.partners)  # type: ignore[union-attr]
    detail.show_comparison()
    wait(lambda: detail.comparison_sentence().startswith("Identical, character by character. It stands in 3 places: "))


def test_a_document_that_cannot_be_read_shows_the_chunk_alone(asked: Shell, wait: Wait) -> None:
    detail = asked.window.inspector.detail
    block = trace_of(asked).evidence[0]
    asked.session.show_document = lambda doc_id: None  # type: ignore[method-assign]
    detail.documentRequested.disconnect()
    block = trace_of(asked).evidence[-1]  # not the one whose document is shown already
    asked.focus.selected = FocusTarget("evidence", block.evidence_key, block.rank)
    assert detail.waiting
    detail.show_problem(block.doc_id or "", Problem("Gone", "It is gone."))
    assert not detail.waiting
    assert detail.shown_text() == block.content


def test_another_answer_takes_the_selection_along_or_begins_anew(asked: Shell, wait: Wait) -> None:
    block = trace_of(asked).evidence[0]
    select(asked, "evidence", block.evidence_key, 1, wait)
    asked.session.inquiry.change_setting("return-n", 1)
    wait(lambda: len(trace_of(asked).evidence) == 1)
    assert asked.window.inspector.detail.subject is not None
    asked.session.inquiry.only_file("docs/guide.txt")
    wait(lambda: trace_of(asked).only_file is not None)
    first = trace_of(asked).candidates[0].candidate
    assert asked.focus.selected == FocusTarget("candidate", first.evidence_key, 1)


def test_a_selection_is_followed_in_its_question_and_dropped_by_another(asked: Shell, wait: Wait) -> None:
    trace = trace_of(asked)
    key = trace.candidates[-1].candidate.evidence_key
    select(asked, "candidate", key, trace.candidates[-1].candidate.rank, wait)
    asked.session.inquiry.change_setting("return-n", 2)
    wait(lambda: trace_of(asked) is not trace)
    followed = asked.focus.selected
    assert followed is not None
    ranks = {one.candidate.evidence_key: one.candidate.rank for one in trace_of(asked).candidates}
    assert (followed.key, followed.rank) == (key, ranks[key])
    asked.session.inquiry.ask("raft smells wet")
    wait(lambda: trace_of(asked).query == "raft smells wet")
    first = trace_of(asked).candidates[0].candidate
    assert asked.focus.selected == FocusTarget("candidate", first.evidence_key, 1)
    gone = FocusTarget("candidate", "docs/gone.txt#chunk-0", 1)
    assert moved_along(gone, trace_of(asked)) is None
    assert moved_along(None, trace_of(asked)) is None


def test_opening_a_missing_file_says_so(asked: Shell) -> None:
    asked.window.inspector.detail.openRequested.emit("/nowhere/old policy.txt")
    assert asked.window.status.said == "“old policy.txt” is no longer there: /nowhere"
    asked.window.inspector.lanes.revealRequested.emit("/nowhere/old policy.txt")
    assert "no longer there" in asked.window.status.said


def test_subjects_of_nothing() -> None:
    assert subject_of(None, None) is None
    assert subject_of(FocusTarget("candidate", "x", 1), None) is None
