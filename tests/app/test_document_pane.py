"""A document's text with one chunk marked."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.theme import LIGHT
from app.views.document_pane import WINDOW, DocumentPane, utf16_length, window_around
from pipeline.records import Page
from pipeline.store.catalog import ChunkSpan, DocumentText


def document(text: str, *spans: tuple[int, int], pages: tuple[Page, ...] = ()) -> DocumentText:
    chunks = tuple(ChunkSpan(at, start, end, None, None, 1) for at, (start, end) in enumerate(spans))
    return DocumentText("docs/a.txt", "/docs/a.txt", "text", text, pages, chunks)


@pytest.fixture
def pane(qtbot: QtBot) -> DocumentPane:
    made = DocumentPane(LIGHT)
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    return made


@pytest.mark.parametrize(
    ("before", "chunk", "shown"),
    [
        ("one two\n", "three", "three"),
        ("\U0001f6f6 canoe ", "three", "three"),  # two of Qt's positions, one of ours
        ("a\r\nb\r\n", "three\r\nfour", "three\nfour"),  # the carriage return takes no position
        ("\u202edecoy ", "three", "three"),  # shown by its name, which takes several
        ("a\x00b\x0c", "three", "three"),
        ("a\u2028b\u2029c", "three", "three"),
        ("", "\U0001f6f6\u202ex", "\U0001f6f6‹RLO›x"),
        ("\ufdd0\ufffc", "three", "three"),  # Qt uses these two for itself
    ],
)
def test_the_chunk_is_marked_whatever_stands_before_it(pane: DocumentPane, before: str, chunk: str, shown: str) -> None:
    start = len(before)
    pane.show_text(document(f"{before}{chunk} tail", (start, start + len(chunk))), 0)
    assert pane.marked_text() == shown


@given(st.text(max_size=60), st.text(min_size=1, max_size=20).filter(lambda text: text.strip()))
def test_any_text_can_be_shown(before: str, chunk: str) -> None:
    pane = DocumentPane(LIGHT)
    pane.show_text(document(f"{before}{chunk}", (len(before), len(before) + len(chunk))), 0)
    shown = pane.toPlainText()  # in which Qt makes every no-break space a space
    assert not set(shown) & {"\u202e", "\x00", "\x1b", "\r"}
    assert shown.replace("\n", "").endswith(pane.marked_text().replace("\n", "").replace("\u00a0", " "))
    pane.deleteLater()


def test_markup_is_text(pane: DocumentPane) -> None:
    text = "<b>bold</b> <img src='file:///etc/passwd'> &amp;"
    pane.show_text(document(text, (0, len(text))), 0)
    assert pane.toPlainText() == text


def test_a_document_without_the_chunk_is_shown_at_the_span(pane: DocumentPane) -> None:
    pane.show_text(document("one two three"), 9, (4, 7))
    assert pane.marked_text() == "two"
    pane.show_text(document("one two three", (0, 3)), None)
    assert pane.marked_text() == ""
    pane.show_text(document(""), None)
    assert pane.toPlainText() == ""


def test_a_huge_document_is_shown_in_part_and_at_once(pane: DocumentPane) -> None:
    line = "The quick brown fox jumps over the lazy dog. "
    text = line * (10_000_000 // len(line))
    start = 5_000_000 // len(line) * len(line)
    spans = [(at, at + 900) for at in range(0, len(text) - 900, 900)]
    chosen = next(at for at, span in enumerate(spans) if span[0] >= start)
    before = time.monotonic()
    pane.show_text(document(text, *spans), chosen)
    pane.grab()
    assert time.monotonic() - before < 2.0
    assert utf16_length(pane.toPlainText()) == WINDOW
    assert pane.marked_text() == text[slice(*spans[chosen])]
    assert "too long to show whole" in pane.note


@given(st.integers(0, 500), st.integers(0, 500), st.integers(1, 600), st.integers(1, 300))
def test_the_window_holds_the_chunk(start: int, size: int, length: int, most: int) -> None:
    start = min(start, length)
    end = min(start + size, length)
    first, last = window_around(start, end, length, most)
    assert 0 <= first <= last <= length
    assert last - first == min(most, length)
    if end - start <= most:
        assert first <= start
        assert end <= last


def test_it_scrolls_to_the_chunk_and_shows_pages(pane: DocumentPane) -> None:
    text = "".join(f"line {number}\n" for number in range(400))
    start = text.index("line 300")
    pages = (Page(1, 0, 2000), Page(2, 2000, len(text)))
    pane.show_text(document(text, (0, start), (start, start + 30), pages=pages), 1)
    assert pane.firstVisibleBlock().text() == "line 298"
    assert pane.gutter_width() > 20
    pane.grab()  # paints the gutter
    pane.clear_document()
    pane.grab()
