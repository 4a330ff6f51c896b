"""PDF -> paragraphs and pages, on PDFs made here."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.pdf_layout import Blocks, Line, Vocabulary, hyphen_or_nothing, page_separator, wrapped
from pipeline.extract.records import Extracted, Source
from pipeline.extract.registry import Registry
from pipeline.textkeys import fold
from tests.support.pdfs import drawn, scanned, typeset

CLAUSES = (
    "Each traveller keeps the original receipt for every expense above twenty pounds and hands it in within two weeks.",
    "Claims that arrive later than that are paid with the following month's salary, provided the manager has signed.",
    "A well-known hotel is not a reason to exceed the limit; a state-of-the-art conference centre is not one either.",
    "Trains are booked in second class unless the journey takes longer than four hours or begins before six o'clock.",
    "Whoever drives a car of their own is paid by the mile, and nothing is paid for the way between home and office.",
    "The limit for one night is listed in the annex, which the finance department reviews each January.",
)
PARAGRAPHS = [
    " ".join(itertools.islice(itertools.cycle(CLAUSES[i % 6 :] + CLAUSES[: i % 6]), 2 + i % 4)) for i in range(14)
]


def read(data: bytes, name: str = "a.pdf") -> Extracted:
    return Registry().extract(Source(name, data))[1]


def paragraphs(extracted: Extracted) -> list[str]:
    return [fold(part) for part in extracted.text.split("\n\n")]


def check_pages(extracted: Extracted, count: int) -> None:
    assert [page.number for page in extracted.pages] == list(range(1, count + 1))
    assert all(a.end <= b.start for a, b in itertools.pairwise(extracted.pages))
    between = [extracted.text[a.end : b.start] for a, b in itertools.pairwise(extracted.pages)]
    assert set(between) <= {"", "\n", "\n\n"}
    assert extracted.text == "".join(
        extracted.text[page.start : page.end] + gap for page, gap in zip(extracted.pages, [*between, ""], strict=True)
    )


@pytest.mark.parametrize(
    "style",
    [
        {}, {"spaceAfter": 2}, {"alignment": 4}, {"spaceAfter": 0, "firstLineIndent": 14},
        {"spaceAfter": 0, "firstLineIndent": 14, "alignment": 4},
        {"fontName": "Times-Roman", "leading": 14, "spaceAfter": 9},
    ],
)  # fmt: skip
def test_paragraphs_equal_those_of_the_plain_text(style: dict[str, object]) -> None:
    wanted = ["# Travel and expenses", *PARAGRAPHS[:7], "# Annexes", *PARAGRAPHS[7:]]
    extracted = read(typeset(wanted, **style))
    check_pages(extracted, len(extracted.pages))
    assert len(extracted.pages) >= 3
    assert paragraphs(extracted) == [text.removeprefix("# ") for text in wanted]


def test_a_sentence_that_runs_over_the_page_is_joined_by_a_line_end() -> None:
    extracted = read(
        drawn([["The first page ends in the", "middle of a sentence that"], ["goes on here. And ends.", "", "New."]])
    )
    check_pages(extracted, 2)
    assert extracted.text == "The first page ends in the middle of a sentence that\ngoes on here. And ends.\n\nNew."
    assert extracted.text[extracted.pages[1].start :].startswith("goes on")


def test_pages_that_end_with_a_sentence_are_apart() -> None:
    extracted = read(drawn([["One page."], ["Another page."], ["a third begins small."]]))
    assert extracted.text == "One page.\n\nAnother page.\n\na third begins small."
    check_pages(extracted, 3)


def test_words_hyphenated_at_line_ends_are_whole_again() -> None:
    lines = [
        "A line that ends in hyphe-",
        "nation, then a well-",
        "known word, Anglo-",
        "Saxon, state-of-the-",
        "art, done.",
    ]
    assert (
        read(drawn([lines])).text
        == "A line that ends in hyphenation, then a well-known word, Anglo-Saxon, state-of-the-art, done."
    )


def test_a_word_hyphenated_over_the_page_is_whole_again() -> None:
    extracted = read(drawn([["Some text and then infor-"], [], ["mation goes on."], ["It ends with co-"], ["Op."]]))
    check_pages(extracted, 5)
    assert extracted.text == "Some text and then information goes on.\n\nIt ends with co-\n\nOp."
    assert [extracted.text[p.start : p.end] for p in extracted.pages] == [
        "Some text and then infor", "", "mation goes on.", "It ends with co-", "Op.",
    ]  # fmt: skip


def test_lines_that_were_ended_on_purpose_stay_lines() -> None:
    lines = ["Receipts and claims go in one envelope to the address", "below:", "Finance", "12 Long Lane", "Oldmouth"]
    text = "Receipts and claims go in one envelope to the address below:\n\nFinance\n12 Long Lane\nOldmouth"
    assert read(drawn([lines])).text == text


def test_bullets_begin_lines() -> None:
    lines = [
        "What to bring along on the day of the inspection:",
        "• the receipt",
        "• the form",
        "1. signed",
        "2. dated",
    ]
    assert read(drawn([lines])).text.replace("\n\n", "\n").split("\n") == lines


def test_a_pdf_without_a_text_layer_has_empty_pages() -> None:
    extracted = read(scanned(3))
    assert extracted.text == ""
    check_pages(extracted, 3)
    assert all(page.start == page.end == 0 for page in extracted.pages)


def test_scanned_pages_between_others_keep_their_numbers() -> None:
    extracted = read(drawn([[], ["Two."], [], ["Four."], []]))
    check_pages(extracted, 5)
    assert [extracted.text[page.start : page.end] for page in extracted.pages] == ["", "Two.", "", "Four.", ""]


def test_an_encrypted_pdf_says_so() -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption

    with pytest.raises(ExtractionFailed) as caught:
        read(drawn([["secret"]], encrypt="password"))
    assert caught.value.reason == "encrypted: it needs a password"
    # an owner's password alone keeps nobody from reading
    assert read(drawn([["open"]], encrypt=StandardEncryption("", "owner", canCopy=0))).text == "open"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0\1\2", "not a PDF: the file is damaged"),
        (b"%PDF-1.7\n", "a damaged PDF: it cannot be opened"),
        (drawn([["x"]])[:200], "a damaged PDF: it cannot be opened"),
    ],
)
def test_a_damaged_pdf_says_so(data: bytes, reason: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        read(data)
    assert caught.value.reason == reason


def test_a_pdf_cut_anywhere_gives_its_good_pages_or_a_reason() -> None:
    whole = drawn([[f"This is page {n}."] for n in range(1, 9)])
    outcomes = []
    for length in range(0, len(whole), 97):
        try:
            extracted = read(whole[:length])
        except ExtractionFailed as error:
            outcomes.append(error.reason)
        else:
            outcomes.append("read")
            assert fold(extracted.text) in fold(" ".join(f"This is page {n}." for n in range(1, 9)))
    assert set(outcomes) <= {"read", "a damaged PDF: it cannot be opened", "not a PDF: the file is damaged"}


def test_pages_that_cannot_be_read_are_named_and_the_others_kept() -> None:
    whole = drawn([[f"This is page {n}."] for n in range(1, 5)])
    second_page = [found.end() for found in re.finditer(rb"\d+ 0 obj\s*(?=<<\s*/Contents)", whole)][1]
    extracted = read(whole[:second_page] + b"[[" + whole[second_page + 2 :])
    check_pages(extracted, 4)
    assert extracted.warnings == ("page 2 could not be read",)
    assert extracted.text == "This is page 1.\n\nThis is page 3.\n\nThis is page 4."
    every_page = re.sub(rb"(0 obj\s*)<<(\s*/Contents)", rb"\1[[\2", whole)
    with pytest.raises(ExtractionFailed, match="none of its pages can be read"):
        read(every_page)


def test_a_pdf_with_other_things_before_it_is_read() -> None:
    assert read(b"\n\n" + drawn([["hello"]])).text == "hello"
    assert read(drawn([["hello"]]), "no suffix at all").kind == "pdf"


def test_too_much_text_is_refused() -> None:
    data = drawn([["some words on a line"] * 20] * 3)
    with pytest.raises(ExtractionFailed, match="too much text"):
        Registry().extract(Source("a.pdf", data, max_chars=500))


# --- the rules for lines, without PDFs ---


def vocabulary(text: str = "") -> Vocabulary:
    return Vocabulary.of([text])


def block(*texts: str, width: float = 300.0, size: float = 10.0, top: float = 500.0) -> Blocks:
    return Blocks(
        [
            Line(text, 50, 50 + min(width, 5 * len(text)), top - 12 * i, size, 5 * len(text.split()[0]))
            for i, text in enumerate(texts)
        ]
    )


@pytest.mark.parametrize(
    ("before", "after", "known", "joiner"),
    [
        ("infor", "mation", "", ""), ("infor", "mation", "the infor-mation", "-"), ("well", "known", "", "-"),
        ("well", "known", "wellknown", ""), ("cost", "based", "", "-"), ("state-of-the", "art", "", "-"),
        ("e", "mail", "", "-"),
        ("Anglo", "Saxon", "", "-"), ("2019", "2020", "", "-"), ("re", "view,", "a review", ""),
    ],
)  # fmt: skip
def test_which_hyphens_are_part_of_a_word(before: str, after: str, known: str, joiner: str) -> None:
    assert hyphen_or_nothing(f"some {before}", f"{after} more", lambda: vocabulary(known)) == joiner


@pytest.mark.parametrize(
    ("before", "after", "joiner"),
    [
        ("one", "two", " "), ("日本語の文", "章です", ""), ("日本語", "and", " "), ("2019-", "2020", ""),
        ("so—", "called", ""), ("a -", "b", " "), ("한국어", "문장", " "),
    ],
)  # fmt: skip
def test_what_a_wrapped_line_lost(before: str, after: str, joiner: str) -> None:
    assert wrapped(before, after) == joiner


@pytest.mark.parametrize(
    ("before", "after", "joiner"),
    [
        (["It is not over"], ["yet. Now it is."], "\n"),
        (["It is over."], ["Next."], "\n\n"),
        (["Heading at the end"], ["Body text."], "\n\n"),
        (["It goes on,"], ["- a bullet"], "\n\n"),
        (["x" * 60, "y" * 60, "z" * 59 + "."], ["The paragraph fills its lines and goes on"], "\n"),
        (["some infor-"], ["mation"], None),
        (["some well-"], ["known"], ""),
    ],
)
def test_what_stands_between_pages(before: Sequence[str], after: Sequence[str], joiner: str | None) -> None:
    assert page_separator(block(*before), block(*after), vocabulary) == joiner
