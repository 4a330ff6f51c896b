"""What differs in words that matter; what would be lost; what copies cost."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.duplicates.cost import heading_of, measured, questions_for
from pipeline.duplicates.differences import weighty_between
from pipeline.duplicates.lost import passages_lost
from pipeline.duplicates.records import DuplicatesReport
from pipeline.duplicates.scan import at_least, scan_library
from pipeline.errors import Cancelled
from pipeline.progress import CancelToken, Progress
from pipeline.query import QueryEngine
from pipeline.settings import resolve
from pipeline.store.history import History
from tests.support.encoder import FlatEncoder, WordEncoder
from tests.support.libraries import make_library
from tests.support.prose import WORDS, changed, prose


def told(head: str, member: str, *, part: bool = False) -> list[tuple[str, str, str]]:
    return [(word.kind, word.in_head, word.in_member) for word in weighty_between(head, member, part=part)]


# --- what differs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "member", "expected"),
    [
        ("it costs 1,000 EUR", "it costs 1,500 EUR", [("number", "1,000", "1,500")]),
        ("at -5 degrees", "at 5 degrees", [("number", "-5", "5")]),
        ("pay $50 now", "pay \u20ac50 now", [("number", "$50", "\u20ac50")]),
        ("see A4 below", "see A5 below", [("number", "A4", "A5")]),
        ("rises by 5% soon", "rises by 6% soon", [("number", "5%", "6%")]),
        ("for twelve months", "for six months", [("number", "twelve", "six")]),
        ("due 2024-03-01 then", "due 2024-04-01 then", [("date", "2024-03-01", "2024-04-01")]),
        ("due 01.03.2024 then", "due 01.04.2024 then", [("date", "01.03.2024", "01.04.2024")]),
        ("on 2 May here", "on 2 June here", [("date", "May", "June")]),
        ("it is allowed", "it is not allowed", [("negation", "", "not")]),
        ("he doesn't smoke", "he does smoke", [("negation", "doesn't", "")]),
        ("he doesn\u2019t smoke", "he does smoke", [("negation", "doesn\u2019t", "")]),
        ("das gilt immer", "das gilt nicht immer", [("negation", "", "nicht")]),
        ("\u5b83\u662f\u597d\u7684", "\u5b83\u4e0d\u662f\u597d\u7684", [("negation", "", "\u4e0d")]),
        ("paid to Alice there", "paid to Robert there", [("name", "Alice", "Robert")]),
        ("Alice signs today.", "Robert signs today.", [("name", "Alice", "Robert")]),
        ("the NATO report", "the UNO report", [("name", "NATO", "UNO")]),
        # nothing that matters
        ("the quick fox", "the slow fox", []),
        ("Then it rains.", "Later it rains.", []),
        ("it costs 5 EUR", "it costs  5\nEUR", []),
        ("see Page 5, then", "see page 5 then", []),
        ("", "", []),
    ],
)
def test_words_that_matter(head: str, member: str, expected: list[tuple[str, str, str]]) -> None:
    around = "small words stand before {} and small words stand behind"
    assert told(around.format(head), around.format(member)) == expected or told(head, member) == expected
    assert told(head, member) == expected
    turned = [(kind, second, first) for kind, first, second in expected]
    assert told(member, head) == turned


def test_a_not_is_found_where_the_same_words_stand_negated_elsewhere() -> None:
    """Sets of shingles cannot tell: each run of words stands in both."""
    head = "Smoking is allowed here. Dogs are not allowed here. Smoking is not allowed there."
    assert told(head, head.replace("is allowed here", "is not allowed here")) == [("negation", "", "not")]


def test_two_amounts_that_changed_places_are_told() -> None:
    found = told("alice pays 50 and robert pays 60 each", "alice pays 60 and robert pays 50 each")
    assert [(first, second) for _, first, second in found] == [("50", "60"), ("60", "50")]


def test_a_passage_that_moved_is_no_difference() -> None:
    one, two, three = (prose(number, 40).replace(" ", " 7 ", 3) for number in range(3))
    assert told(f"{one} {two} {three}", f"{two} {three} {one}") == []


def test_what_the_head_has_more_is_no_difference_of_a_part() -> None:
    part = f"{prose(1, 60)} It costs 40 EUR. {prose(2, 60)}"
    head = f"{prose(3, 60)} It costs 99 EUR in 2024. {part} Nobody knows. {prose(4, 60)}"
    assert told(head, part, part=True) == []
    assert told(head.replace("40", "not 41"), part, part=True) == [("negation", "not", ""), ("number", "41", "40")]
    assert told(head, part) != []


def test_long_texts_are_compared_in_a_moment() -> None:
    text = prose("long", 40_000)
    other = changed(text, 0.01).replace("lan mer", "lan 5 mer")
    words = text.split(" ")
    words[20_000] = "1984"
    assert ("number", "", "1984") in told(text, " ".join(words)) or told(text, " ".join(words))[0][2] == "1984"
    assert told(text, other) is not None


_SMALL = st.lists(st.sampled_from(["on", "off", "5", "6", "not", "Anna", "Bert"]), max_size=30)


@given(_SMALL, _SMALL)
def test_what_is_told_accounts_for_every_word_that_matters(one: list[str], other: list[str]) -> None:
    """Where the numbers of such words differ between the texts, something is told; equal texts tell nothing."""
    found = weighty_between(" ".join(one), " ".join(other))
    if one == other:
        assert found == ()
    for word in ("5", "6", "not"):
        surplus = one.count(word) - other.count(word)
        assert sum(each.in_head == word for each in found) - sum(each.in_member == word for each in found) == surplus


# --- what would be lost --------------------------------------------------------------------------------------------


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """a = P + S, b = S + Q, c = Q folded otherwise, d (stale) = P."""
    documents = {
        "a.txt": "only in a and d\n\nshared by a and b",
        "b.txt": "shared by a and b\n\nQ stands in b and c",
        "c.txt": "Q  stands in\u00a0b and c",
        "d.txt": "only in a and d",
    }
    make_library(tmp_path, documents, FlatEncoder(), stale=["d.txt"])
    return tmp_path


def lost(library: Path, *names: str, left_out: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    found = passages_lost(library, [f"docs/{n}" for n in names], left_out=[f"docs/{n}" for n in left_out])
    return [(passage.doc_id[5:], passage.text) for passage in found]


def test_what_stands_nowhere_else_is_lost(shared: Path) -> None:
    assert lost(shared, "a.txt") == [("a.txt", "only in a and d")]  # a stale copy serves nobody
    assert lost(shared, "b.txt") == []
    assert lost(shared, "c.txt") == []
    assert lost(shared, "a.txt", "b.txt") == [("a.txt", "only in a and d"), ("a.txt", "shared by a and b")]
    assert lost(shared, "b.txt", "c.txt") == [("b.txt", "Q stands in b and c")]
    assert lost(shared) == []


def test_a_copy_that_is_left_out_keeps_nothing(shared: Path) -> None:
    assert lost(shared, "c.txt", left_out=("b.txt",)) == [("c.txt", "Q  stands in\u00a0b and c")]


def test_a_lost_passage_tells_its_place(shared: Path) -> None:
    (passage,) = passages_lost(shared, ["docs/a.txt"])
    assert (passage.chunk_index, passage.start, passage.end) == (0, 0, len("only in a and d"))


# --- what copies cost ----------------------------------------------------------------------------------------------


def costed(library: Path, questions: list[str], encoder: WordEncoder, **options: object) -> DuplicatesReport:
    with closing(QueryEngine(library, encoder)) as engine:
        return measured(scan_library(library), engine, questions, **options)  # type: ignore[arg-type]


def test_the_places_that_copies_take_are_counted(tmp_path: Path) -> None:
    """Three copies of the best answer and two other texts: of five places two are wasted."""
    best = "how to return damaged gear to the shop"
    encoder = WordEncoder()
    documents = {
        **{f"{name}.txt": best for name in "abc"},
        "d.txt": "how to return books to the shop",
        "e.txt": "how to repair gear",
    }
    make_library(tmp_path, documents, encoder)
    report = costed(tmp_path, ["how to return damaged gear", "damaged gear to the shop"], encoder)
    assert (report.cost, report.questions) == (0.4, 2)
    assert [family.cost for family in report.families] == [0.4]
    assert at_least(report).families[0].cost == 0.4


def test_near_copies_in_a_family_cost_too(tmp_path: Path) -> None:
    text = prose(1, 60).replace("\n\n", " ")
    encoder = WordEncoder()
    make_library(tmp_path, {"a.txt": text, "b.txt": text.replace(text.split()[30], "other", 1)}, encoder)
    assert costed(tmp_path, [text[:80]], encoder).cost == 0.5


def test_what_is_left_out_takes_no_place(tmp_path: Path) -> None:
    from pipeline.duplicates.decided import Decided

    encoder = WordEncoder()
    make_library(tmp_path, {"a.txt": prose(1, 30), "b.txt": prose(1, 30)}, encoder)
    left = Decided(left_out={"docs/b.txt": "2026-01-01T00:00:00+00:00"})
    with closing(QueryEngine(tmp_path, encoder)) as engine:
        report = measured(scan_library(tmp_path, decided=left), engine, ["what"])
    assert report.cost == 0.0


def test_the_costliest_family_comes_first(tmp_path: Path) -> None:
    encoder = WordEncoder()
    long = prose("long", 200).replace("\n\n", " ")
    documents = {"a.txt": "red roses grow here", "b.txt": "red roses grow here", "y.txt": long, "z.txt": long}
    make_library(tmp_path, documents, encoder)
    assert scan_library(tmp_path).families[0].head.doc_id == "docs/y.txt"
    report = costed(tmp_path, ["red roses"], encoder, settings=resolve().with_flags({"return-n": 2}))
    assert report.families[0].head.doc_id == "docs/a.txt"
    assert [family.cost for family in report.families] == [0.5, 0.0]


def test_no_question_measures_nothing_and_says_so(tmp_path: Path) -> None:
    encoder = WordEncoder()
    make_library(tmp_path, {"a.txt": prose(1), "b.txt": prose(1)}, encoder)
    report = costed(tmp_path, ["", "   "], encoder)
    assert (report.cost, report.questions, report.families[0].cost) == (None, 0, None)


def test_measuring_tells_where_it_is_and_can_be_cancelled(tmp_path: Path) -> None:
    encoder = WordEncoder()
    make_library(tmp_path, {"a.txt": prose(1), "b.txt": prose(1)}, encoder)
    seen: list[Progress] = []
    costed(tmp_path, ["one", "two"], encoder, progress=seen.append)
    assert [(told.done, told.total, told.current) for told in seen] == [(0, 2, "one"), (1, 2, "two")]
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        costed(tmp_path, ["one"], encoder, cancel=token)


def test_questions_are_the_users_own_and_headings_where_these_are_few(tmp_path: Path) -> None:
    encoder = WordEncoder()
    make_library(tmp_path, {f"{n}.md": f"# Heading {WORDS[n]}\n\n{prose(n, 20)}" for n in range(12)}, encoder)
    headings = tuple(f"Heading {WORDS[n]}" for n in sorted(range(12), key=str))
    assert questions_for(tmp_path) == headings
    assert questions_for(tmp_path, 5) == tuple(headings[place * 12 // 5] for place in range(5))
    with closing(QueryEngine(tmp_path, encoder)) as engine, closing(History(tmp_path)) as history:
        for number in range(12):
            history.remember(engine.ask(f"Asked  {number}", resolve()))
            if number == 2:
                assert questions_for(tmp_path)[:3] == ("Asked  2", "Asked  1", "Asked  0")
                assert questions_for(tmp_path)[3:] == headings
        history.remember(engine.ask("asked 11", resolve()))
    assert questions_for(tmp_path) == ("asked 11", *(f"Asked  {number}" for number in range(10, -1, -1)))


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("---\nid: cli\ntitle: 'Running it'\n---\n\n# Other\n", "Running it"),
        ("intro text\n\n## The  heading ##\n\nmore", "The heading"),
        ("Plain first line\n\nmore", "Plain first line"),
        ("-----\n\n= 12 =\n", None),
        ("", None),
    ],
)
def test_headings(text: str, heading: str | None) -> None:
    assert heading_of(text) == heading
