"""A PDF's page in the detail pane: drawn by the real process, the passage marked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.compose import Shell
from app.focus import FocusTarget
from app.views.detail import PAGE, TEXT
from pipeline.index import index_library
from tests.app.shell import ShellMaker
from tests.support.encoder import WordEncoder
from tests.support.pdfs import drawn, typeset

Wait = Callable[[Callable[[], object]], None]

PASSAGE = "A damaged raft goes back to the desk with its red tag, and the workshop looks at it first of all."
FILLING = "Nothing of what is said here matters to anybody, and it only makes the page before the other one full. " * 45


@pytest.fixture
def asked(shells: ShellMaker, wait: Wait, tmp_path: Path) -> Shell:
    """A window with an answer from a PDF and a text file."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "guide.pdf").write_bytes(typeset(["# First", FILLING, "# Rafts", PASSAGE]))
    (folder / "other.txt").write_text("A raft is something else than a tent, as everybody knows.", "utf-8")
    index_library(tmp_path / "library", [folder], encoder=WordEncoder())
    shell = shells.shell()
    shell.session.open_library(tmp_path / "library")
    shell.session.start_model()
    shell.session.inquiry.ask("damaged raft red tag workshop")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    return shell


def select(shell: Shell, name: str, text: str = "") -> None:
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    one = next(
        one
        for one in trace.candidates
        if one.candidate.source_path.endswith(name) and text in (one.candidate.text or "")
    )
    shell.focus.selected = FocusTarget("candidate", one.candidate.evidence_key, one.candidate.rank)


def test_the_page_is_shown_with_the_passage_marked(asked: Shell, wait: Wait) -> None:
    detail = asked.window.inspector.detail
    select(asked, "guide.pdf", "red tag")
    wait(lambda: not detail.waiting)
    detail.show_page_tab()
    wait(lambda: detail.page.sheet.has_picture)

    place = detail.shown_place()
    assert place is not None
    assert detail.page.sheet.page == place.page_last
    assert detail.page.sheet.marks
    assert "marked" in detail.page.note.text()


def test_keys_turn_the_page_at_its_end(asked: Shell, wait: Wait) -> None:
    detail = asked.window.inspector.detail
    select(asked, "guide.pdf", "red tag")
    wait(lambda: not detail.waiting)
    detail.show_page_tab()
    wait(lambda: detail.page.sheet.has_picture)
    last = detail.page.sheet.page
    assert last > 1

    assert detail.page.turn(-1)
    wait(lambda: detail.page.sheet.has_picture)
    assert detail.page.sheet.page == last - 1
    scroll = detail.page.sheet.parentWidget().parentWidget()
    bar = scroll.verticalScrollBar()  # type: ignore[attr-defined]
    bar.setValue(bar.maximum())
    QTest.keyClick(scroll, Qt.Key.Key_PageDown)
    wait(lambda: detail.page.sheet.has_picture and detail.page.sheet.page == last)
    assert not detail.page.turn(1)


def test_only_a_pdf_has_a_page(asked: Shell, wait: Wait) -> None:
    detail = asked.window.inspector.detail
    select(asked, "guide.pdf")
    wait(lambda: not detail.waiting)
    assert detail.tabs.isTabVisible(PAGE)
    detail.show_page_tab()

    select(asked, "other.txt")
    wait(lambda: not detail.waiting)
    assert not detail.tabs.isTabVisible(PAGE)
    assert detail.tabs.currentIndex() == TEXT
    assert "something else" in detail.shown_text()


def test_a_broken_pdf_falls_back_to_its_text_with_the_reason(asked: Shell, wait: Wait, tmp_path: Path) -> None:
    detail = asked.window.inspector.detail
    select(asked, "guide.pdf", "red tag")
    wait(lambda: not detail.waiting)
    (tmp_path / "docs" / "guide.pdf").write_bytes(b"%PDF-1.4 cut short")
    detail.show_page_tab()
    wait(lambda: "cannot be shown" in detail.page.note.text())

    assert "damaged PDF" in detail.page.note.text()
    assert "red tag" in detail.page.text_instead()


def test_a_passage_that_is_not_on_the_page_any_more_is_said(asked: Shell, wait: Wait, tmp_path: Path) -> None:
    detail = asked.window.inspector.detail
    select(asked, "guide.pdf", "red tag")
    wait(lambda: not detail.waiting)
    (tmp_path / "docs" / "guide.pdf").write_bytes(drawn([["entirely other words"]] * 4))
    detail.show_page_tab()
    wait(lambda: detail.page.sheet.has_picture)

    assert not detail.page.sheet.marks
    assert "could not be found on the page" in detail.page.note.text()
