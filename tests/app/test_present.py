"""Present mode: the steps of an answer on slides, and the keys that move through them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from app.compose import Shell
from app.models.slides import Bands, Cards, Folds, Lines, Quote, Sides, Slide, slides_of
from pipeline.records import SearchRound, Trace
from tests.app.shell import ShellMaker
from tests.support.traces import Row, make_trace

Wait = Callable[[Callable[[], object]], None]
SAME = "the very same text"


def crowded() -> Trace:
    rows = [Row(f"copies/{at}.txt", SAME, 0.9) for at in range(8)]
    rows += [Row("long.txt", f"part {at} of a long file", 0.7 - at / 100, chunk=at) for at in range(4)]
    rows += [Row(f"other {at}.txt", f"another text {at}", 0.5 - at / 100) for at in range(3)]
    return make_trace(rows, return_n=3, rounds=[SearchRound(8, 8, 1), SearchRound(16, 15, 8)])


def named(slides: tuple[Slide, ...]) -> dict[str, Slide]:
    return {slide.name: slide for slide in slides}


def test_the_story_has_every_step_with_its_true_number() -> None:
    trace = crowded()
    slides = named(slides_of(trace))
    stages = {stage.name: stage for stage in trace.stages}

    assert list(slides) == ["question", "raw", "widening", "collapse", "cap", "return", "projected", "beside"]
    assert slides["raw"].figure == "8"
    assert slides["widening"].figure == "15"
    for name in ("collapse", "cap", "return"):
        assert slides[name].figure == str(stages[name].left)  # type: ignore[index]
    assert slides["projected"].figure == str(len(trace.projected))
    assert all(slide.title and slide.sentence for slide in slides.values())


def test_copies_are_coloured_by_their_letters_and_fold_into_one_block() -> None:
    slides = named(slides_of(crowded()))
    raw, fold = slides["raw"].picture, slides["collapse"].picture
    assert isinstance(raw, Lines)
    assert {line.letter for line in raw.lines} == {"A"}
    assert isinstance(fold, Folds)
    assert (fold.folds[0].total, fold.folds[0].block.letter, fold.folds[0].block.right) == (8, "A", "cites 8 files")
    bands = slides["widening"].picture
    assert isinstance(bands, Bands)
    assert [band.total for band in bands.bands] == [8, 7]


def test_the_last_slide_counts_what_a_plain_search_would_have_handed_over() -> None:
    trace = crowded()
    picture = slides_of(trace)[-1].picture
    assert isinstance(picture, Sides)
    assert [figure for figure, _, _ in picture.left.figures] == ["2", "1", "3"]
    assert [figure for figure, _, _ in picture.right.figures] == ["0", "3", str(trace.summary.cited_files)]


def test_what_fell_stands_back_with_its_reason() -> None:
    slides = named(slides_of(crowded()))
    cap, back = slides["cap"].picture, slides["return"].picture
    assert isinstance(cap, Lines)
    assert isinstance(back, Lines)
    assert [line.note for line in cap.lines if line.fallen] == ["over the cap of long.txt"] * 2
    assert back.split == 3
    assert all(line.fallen for line in back.lines[3:])


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_any_trace_can_be_presented(rows: int) -> None:
    found = [Row(f"{at}.txt", f"text {at}", 0.9 - at / 10) for at in range(rows)]
    slides = slides_of(make_trace(found, rounds=[SearchRound(20, rows, rows)]))
    assert isinstance(slides[0].picture, Quote)
    assert slides[-1].name == ("beside" if rows else "nothing")


def paint(shell: Shell, width: int, height: int) -> QImage:
    shell.window.present.setGeometry(0, 0, width, height)
    return shell.window.present.grab().toImage()


def test_two_thousand_rows_are_painted_in_a_moment(shells: ShellMaker) -> None:
    rows = [Row(f"archive/{at}/handbook.txt", SAME, 0.9) for at in range(1_995)]
    rows += [Row(f"other {at}.txt", f"another text {at}", 0.5 - at / 100) for at in range(5)]
    trace = make_trace(rows, rounds=[SearchRound(20, 20, 1), SearchRound(2_560, 2_000, 6)])
    shell = shells.shell()
    shell.window.start_presenting(slides_of(trace), "handbook")
    pictures = []
    for _ in range(shell.window.present.place[1]):
        pictures.append(paint(shell, 1280, 720))
        QTest.keyClick(shell.window.present, Qt.Key.Key_Right)
    assert all(one != other for one, other in itertools.pairwise(pictures))


def test_keys_step_and_escape_leaves(shells: ShellMaker, wait: Wait) -> None:
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    shell.session.inquiry.ask("late items damaged")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    window, present = shell.window, shell.window.present
    window.inspector.lanes.setFocus()
    shell.window.actions_.trigger("present")

    assert present.isVisible()
    assert present.hasFocus()
    assert present.geometry() == window.rect()
    last = present.place[1]
    for key, at in (
        (Qt.Key.Key_Right, 2),
        (Qt.Key.Key_Space, 3),
        (Qt.Key.Key_Left, 2),
        (Qt.Key.Key_End, last),
        (Qt.Key.Key_Right, last),
        (Qt.Key.Key_Home, 1),
        (Qt.Key.Key_PageDown, 2),
    ):
        QTest.keyClick(present, key)
        assert present.place == (at, last)
        assert present.accessibleName().startswith(f"Step {at} of {last}. ")
    QTest.keyClick(present, "/")  # a shortcut of the window, which lies behind
    assert present.isVisible()
    assert present.hasFocus()

    QTest.keyClick(present, Qt.Key.Key_Escape)
    assert not present.isVisible()
    assert window.focusWidget() is not present


def test_without_an_answer_there_is_nothing_to_present(shells: ShellMaker) -> None:
    assert not shells.shell().window.actions_["present"].isEnabled()


def test_the_agents_texts_are_on_a_slide_of_their_own() -> None:
    trace = crowded()
    picture = named(slides_of(trace))["projected"].picture
    assert isinstance(picture, Cards)
    assert [card.title for card in picture.cards] == [item.source.rsplit("/", 1)[-1] for item in trace.projected]
