"""A page of a PDF as a picture, with a passage marked on it; and the process that draws it."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.page_pictures import PagePictures
from pipeline.extract.pdf_picture import MOST_PIXELS, draw_page, span_on_page
from pipeline.extract.records import MEGABYTE, PagePicture, PageWanted, ReadLimits, Source
from pipeline.extract.registry import Registry
from tests.support.pdfs import drawn, scanned, typeset

STORY = [
    "# Returning gear",
    "A damaged tent goes back to the desk with its red tag, and the workshop looks at it before anybody else does so. "
    "Whoever hired it pays nothing for ordinary wear, unless the agreement says something else about it in writing.",
    "The second paragraph speaks of boats, of paddles and of everything else that floats or is meant to float.",
]


def wanted_for(data: bytes, passage: str, *, width: int = 600, occurrence: int = 0) -> PageWanted:
    """The page that holds this passage, as the window asks for it."""
    extracted = Registry().extract(Source("a.pdf", data))[1]
    at = -1
    for _ in range(occurrence + 1):
        at = extracted.text.index(passage, at + 1)
    page = next(page for page in extracted.pages if page.start <= at < page.end)
    text = extracted.text[page.start : page.end]
    return PageWanted("a.pdf", page.number, width, text, at - page.start, at - page.start + len(passage))


def dark_share(picture: PagePicture, at: int) -> float:
    """How much of what lies below a mark is ink."""
    mark = picture.marks[at]
    rows = [
        picture.pixels[y * picture.stride + 4 * mark.left : y * picture.stride + 4 * (mark.left + mark.width)]
        for y in range(mark.top, mark.top + mark.height)
    ]
    pixels = [row[at : at + 3] for row in rows for at in range(0, len(row), 4)]
    return sum(1 for pixel in pixels if max(pixel) < 128) / max(1, len(pixels))


def test_the_passage_is_marked_line_by_line_where_its_ink_is() -> None:
    data = typeset(STORY)
    passage = STORY[1]

    picture = draw_page(data, wanted_for(data, passage))

    assert (picture.page, picture.pages, picture.width) == (1, 1, 600)
    assert len(picture.pixels) >= picture.stride * picture.height
    assert 3 <= len(picture.marks) <= 8
    assert all(mark.height < 40 for mark in picture.marks)
    assert all(dark_share(picture, at) > 0.05 for at in range(len(picture.marks)))
    assert [mark.top for mark in picture.marks] == sorted(mark.top for mark in picture.marks)


def test_of_equal_passages_the_one_that_is_meant_is_marked() -> None:
    line = "Late items cost two pounds a day."
    data = drawn([[line, "Something between the two.", line]])

    first, second = (draw_page(data, wanted_for(data, line, occurrence=at)) for at in (0, 1))

    assert len(first.marks) == len(second.marks) == 1
    assert first.marks[0].top < second.marks[0].top


def test_a_word_hyphenated_over_lines_is_found() -> None:
    assert span_on_page("an agree\ufffement was made", "an agreement was made", 3, 12) == (3, 13)
    assert span_on_page("an agree-\r\nment was made", "an agreement was made", 3, 12) == (3, 15)


def test_a_changed_sign_in_the_middle_does_not_lose_a_long_passage() -> None:
    text = "The desk takes cards and coins, and gives change for notes of twenty pounds."
    assert span_on_page(text.replace("coins", "coinz"), text, 0, len(text)) == (0, len(text))
    assert span_on_page("Something else stands on this page by now, and nothing of it.", text, 0, len(text)) is None


def test_signs_beyond_the_first_plane_are_counted_as_the_page_counts_them() -> None:
    units = "\ud83d\ude00 a red tag"
    assert span_on_page(units, "\U0001f600 a red tag", 2, 11) == (3, 12)


def test_what_is_not_there_is_not_marked() -> None:
    data = typeset(STORY)
    picture = draw_page(data, PageWanted("a.pdf", 1, 300, "something else entirely", 0, 23))
    assert picture.marks == ()


def test_a_scan_has_a_picture_and_no_marks() -> None:
    assert draw_page(scanned(2), PageWanted("a.pdf", 2, 300)).marks == ()


def test_marks_stand_right_on_a_turned_page() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(300, 500))
    canvas.setPageRotation(90)
    canvas.drawString(40, 250, "A line along the sheet")  # reportlab turns the sheet before it turns the page
    canvas.showPage()
    canvas.save()
    data = out.getvalue()

    picture = draw_page(data, wanted_for(data, "A line along the sheet", width=300))

    assert picture.width < picture.height
    (mark,) = picture.marks
    assert mark.height > mark.width  # the line runs down the turned sheet
    assert dark_share(picture, 0) > 0.05


@pytest.mark.parametrize(("across", "down"), [(14_000, 14_000), (14_000, 20), (20, 14_000)])
def test_a_sheet_of_any_size_stays_within_the_limit(across: int, down: int) -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(across, down))
    canvas.drawString(1, 1, "x")
    canvas.save()

    picture = draw_page(out.getvalue(), PageWanted("a.pdf", 1, 10_000))

    assert picture.width * picture.height <= MOST_PIXELS * 1.05


def test_a_small_page_is_not_blown_up() -> None:
    assert draw_page(drawn([["x"]]), PageWanted("a.pdf", 1, 4_000, scale=2.0)).width == pytest.approx(840, abs=2)


@pytest.mark.parametrize(
    ("data", "page", "said"),
    [
        (b"%PDF-1.7 and nothing more", 1, "a damaged PDF"),
        (b"no pdf at all", 1, "not a PDF"),
        (drawn([["one page"]]), 7, "no page 7"),
    ],
)
def test_what_cannot_be_drawn_says_why(data: bytes, page: int, said: str) -> None:
    with pytest.raises(ExtractionFailed, match=said):
        draw_page(data, PageWanted("a.pdf", page, 300))


# --- the process ---------------------------------------------------------------------------------------------------


@pytest.fixture
def pictures() -> Iterator[PagePictures]:
    made = PagePictures()
    yield made
    made.close()
    made.leave()


def test_pages_come_from_one_process_and_a_broken_file_costs_itself_only(
    pictures: PagePictures, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.pdf", tmp_path / "bad.pdf"
    good.write_bytes(typeset(STORY))
    bad.write_bytes(b"%PDF-1.4 broken")
    wanted = wanted_for(good.read_bytes(), STORY[2], width=400)

    here = PageWanted(str(good), wanted.page, wanted.width, wanted.text, wanted.start, wanted.end)
    first = pictures.draw(here)
    with pytest.raises(ExtractionFailed, match="damaged"):
        pictures.draw(PageWanted(str(bad), 1, 400))
    with pytest.raises(ExtractionFailed, match="deleted or moved"):
        pictures.draw(PageWanted(str(tmp_path / "gone.pdf"), 1, 400))

    assert first.marks
    assert pictures.draw(here) == first


def test_a_file_beyond_the_size_limit_is_refused(tmp_path: Path) -> None:
    pictures = PagePictures(limits=ReadLimits(max_bytes=2_000))
    file = tmp_path / "large.pdf"
    file.write_bytes(typeset(STORY) + b"\n" * 4_000)
    try:
        with pytest.raises(ExtractionFailed, match="too large"):
            pictures.draw(PageWanted(str(file), 1, 300))
    finally:
        pictures.close()
        pictures.leave()


_DEAF = (
    "import sys, time\n"
    "from pipeline.frames import read_frame, write_frame\n"
    "read_frame(sys.stdin.buffer)\n"
    "write_frame(sys.stdout.buffer, {'ready': True})\n"
    "read_frame(sys.stdin.buffer)\n"
    "time.sleep(60)\n"
)


def test_a_page_that_takes_too_long_is_given_up() -> None:
    pictures = PagePictures([sys.executable, "-c", _DEAF], ReadLimits(seconds=0.3, memory_bytes=512 * MEGABYTE))
    began = time.monotonic()
    with pytest.raises(ExtractionFailed, match="took longer than"):
        pictures.draw(PageWanted("a.pdf", 1, 300))
    assert time.monotonic() - began < 5
    pictures.leave()


def test_closing_frees_who_waits() -> None:
    pictures = PagePictures([sys.executable, "-c", _DEAF], ReadLimits(seconds=60))
    said: list[str] = []

    def draw() -> None:
        try:
            pictures.draw(PageWanted("a.pdf", 1, 300))
        except ExtractionFailed as error:
            said.append(error.reason)

    waiting = threading.Thread(target=draw)
    waiting.start()
    time.sleep(0.3)
    pictures.close()
    waiting.join(5)

    assert not waiting.is_alive()
    assert said == ["drawing it stopped"]
