"""What differs in words that matter; what would be lost; what copies cost."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.duplicates.cost import heading_of, measured, questions_for
from pipeline.duplicates.differences import indentation_differs, weighty_between
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
        ("he doesn't smoke", "he does smoke", [("negation", "doesn't", "does")]),
        ("he doesn\u2019t smoke", "he does smoke", [("negation", "doesn\u2019t", "does")]),
        ("das gilt immer", "das gilt nicht immer", [("negation", "", "nicht")]),
        ("\u5b83\u662f\u597d\u7684", "\u5b83\u4e0d\u662f\u597d\u7684", [("negation", "", "\u4e0d")]),
        ("paid to Alice there", "paid to Robert there", [("name", "Alice", "Robert")]),
        ("Alice signs today.", "Robert signs today.", [("name", "Alice", "Robert")]),
        ("the NATO report", "the UNO report", [("name", "NATO", "UNO")]),
        ("due in june each year", "due in july each year", [("date", "june", "july")]),
        ("out on monday there", "out on friday there", [("date", "monday", "friday")]),
        ("add \u00bd cup", "add \u00bc cup", [("number", "\u00bd", "\u00bc")]),
        ("the first claim", "the second claim", [("number", "first", "second")]),
        ("a dozen eggs", "a score eggs", [("number", "dozen", "score")]),
        ("the half of it", "the third of it", [("number", "half", "third")]),
        ("den zweiten Tag", "den dritten Tag", [("number", "zweiten", "dritten")]),
        ("see chapter iv there", "see chapter vi there", [("number", "iv", "vi")]),
        ("change of - 5 degrees", "change of 5 degrees", [("number", "-", "")]),
        ("in all: (100)", "in all: 100", [("word", "(", ""), ("word", ")", "")]),
        ("take 5 mg daily", "take 5 g daily", [("number", "mg", "g")]),
        ("take 5mg daily", "take 5\u00b5g daily", [("number", "5mg", "5\u00b5g")]),
        ("open at 9 am here", "open at 9 pm here", [("number", "am", "pm")]),
        ("paid in pounds then", "paid in dollars then", [("number", "pounds", "dollars")]),
        ("found it lawful there", "found it unlawful there", [("negation", "lawful", "unlawful")]),
        ("a harmful plant", "a harmless plant", [("negation", "harmful", "harmless")]),
        ("it is harm to us", "it is harmless to us", [("negation", "harm", "harmless")]),
        ("it was hardly open", "it was open", [("negation", "hardly", "")]),
        ("dogs are allowed here", "dogs are forbidden here", [("negation", "allowed", "forbidden")]),
        ("if (!ready) go", "if (ready) go", [("negation", "!", "")]),
        ("when x == y holds", "when x != y holds", [("negation", "==", "!=")]),
        ("when x < y holds", "when x > y holds", [("word", "<", ">")]),
        ("- [x] I consent", "- [ ] I consent", [("negation", "[x]", "[]")]),
        ("the result: \u2705", "the result: \u274c", [("negation", "\u2705", "\u274c")]),
        ("it ~~and all~~ stands", "it and all stands", [("negation", "~~", ""), ("negation", "~~", "")]),
        ("write to a@firm.example now", "write to b@firm.example now", [("name", "a@firm.example", "b@firm.example")]),
        (
            "pay at http://b.example/pay",
            "pay at http://b.example/play",
            [
                ("name", "http://b.example/pay", "http://b.example/play"),
            ],
        ),
        ("call get_all there", "call get_one there", [("name", "get_all", "get_one")]),
        ("the hash is deadbeef1 here", "the hash is deadbeef2 here", [("number", "deadbeef1", "deadbeef2")]),
        ("cp -R src there", "cp -r src there", [("word", "-R", "-r")]),
        ("the quick fox", "the slow fox", [("word", "quick", "slow")]),
        ("eats peanuts daily", "eats shellfish daily", [("word", "peanuts", "shellfish")]),
        ("the desert was cold", "the dessert was cold", [("word", "desert", "dessert")]),
        ("the moral of it", "the morale of it", [("word", "moral", "morale")]),
        ("plan A works", "plan works", [("word", "A", "")]),
        ("you must pay.", "you must pay?", [("word", "", "?")]),
        ("Maße und Gewichte", "Masse und Gewichte", [("name", "Maße", "Masse")]),
        ("Then it rains.", "Later it rains.", [("word", "Then", "Later")]),
        ("they re-sign there", "they re\u00adsign there", [("word", "re", "resign"), ("word", "sign", "")]),
        ("they may smoke", "they may n\u200bot smoke", [("negation", "", "not")]),
        # nothing that matters
        ("the contract ends", "the con\u00adtract ends", []),
        ("the quick fox, and a dog", "quick fox \u2013 the dog", []),
        ("the colour is organised", "the color is organized", []),
        ("# Rules\n\nit is **so**; \u201cyes\u201d", "Rules\n=====\n\nit is so, 'yes'.", []),
        ("cafe\u0301 there", "caf\u00e9 there", []),
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


def test_swapped_words_and_sentences_that_are_torn_apart_are_told() -> None:
    """The same words, in an order that says something else."""
    head = f"{prose(1, 60)} It is paid by the landlord to the tenant. {prose(2, 60)}"
    assert told(head, head.replace("by the landlord to the tenant", "to the landlord by the tenant")) != []
    one, other = "the owner of the house on the hill by the sea", "the man who rents the small flat in the old town"
    head = f"{prose(1, 60)} Now {one} owes ten to {other} every year. {prose(2, 60)}"
    assert told(head, head.replace(one, "?").replace(other, one).replace("?", other)) != []


def test_a_part_is_compared_where_it_stands() -> None:
    """The words that the head has elsewhere are no words of the passage."""
    passage = prose("passage", 60)
    more = "and must be paid by the tenant in time before the moon is out."
    for old, new, tail in (("20", "30", "pounds."), ("20", "30", f"pounds {more}"), ("peanuts", "shellfish", "daily.")):
        small = f"{passage} The fee is\n{old} {tail}"
        big = f"{prose(1, 200)}\n\n{passage} The fee is\n{new} {tail}\n\n{prose(2, 200)} The old fee was\n{old} {tail}"
        assert told(big, small, part=True) != [], (old, tail)
        assert told(big.replace(f"is\n{new}", f"is\n{old}"), small, part=True) == []
    between = f"{prose(1, 40)}\n\n{prose(2, 40)}"
    assert told(between.replace("\n\n", f"\n\n{prose(3, 40)}\n\n"), between, part=True) == []
    assert told(f"{prose(1, 40)} Dogs may enter only on a leash.", f"{prose(1, 40)} Dogs may enter", part=True) != []


def test_indentation_matters_in_source_code_alone() -> None:
    one = "for x in all:\n    use(x)\n    log(x)\n"
    other = "for x in all:\n    use(x)\nlog(x)\n"
    assert indentation_differs(one, other, "code")
    assert indentation_differs(one, other, "text", "a/b.YML")
    assert indentation_differs(one, other, "text", "a/Makefile")
    assert indentation_differs(one, one.replace("    ", "\t"), "code")
    assert not indentation_differs(one, one.replace("\n", "  \r\n\r\n"), "code")
    assert not indentation_differs(one, other, "text", "a/notes.txt")


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


def test_what_was_said_to_be_no_duplicates_is_not_counted_as_repeated(tmp_path: Path) -> None:
    from pipeline.duplicates.decided import Decided

    encoder = WordEncoder()
    documents = {"a.txt": "red roses grow here", "b.txt": "red roses grow here", "y.txt": prose(1), "z.txt": prose(1)}
    make_library(tmp_path, documents, encoder)
    with closing(QueryEngine(tmp_path, encoder)) as engine:
        report = measured(scan_library(tmp_path), engine, ["red roses"], own=0)
        roses = next(family for family in report.families if family.head.doc_id == "docs/a.txt")
        said = Decided(declined={roses.key: frozenset(member.content_key for member in roses.members)})
        after = at_least(report, decided=said)
        scanned = scan_library(tmp_path, decided=said)
        again = measured(scanned, engine, ["red roses"])
    assert report.cost is not None
    assert roses.cost
    assert after.cost == pytest.approx(report.cost - roses.cost)
    assert after.redundant_texts == report.redundant_texts - 1 == scanned.redundant_texts
    assert again.cost == pytest.approx(after.cost)  # a scan that knows of it measures the same
    back = at_least(report, decided=Decided())
    assert (back.redundant_texts, back.cost) == (report.redundant_texts, report.cost)


def test_a_third_copy_stays_repeated_when_two_are_said_apart(tmp_path: Path) -> None:
    from pipeline.duplicates.decided import Decided

    make_library(tmp_path, {f"{name}.txt": f"one text\n\n{name}" for name in "abc"}, WordEncoder())
    report = scan_library(tmp_path)
    contents = {row.doc_id: row.content_sha256 for row in report.ground.documents}  # type: ignore[attr-defined]
    said = Decided(declined={"key": frozenset([contents["docs/a.txt"], contents["docs/b.txt"]])})
    assert report.redundant_texts == 2
    assert scan_library(tmp_path, decided=said).redundant_texts == 1


@pytest.mark.parametrize(
    ("questions", "headings", "said"),
    [
        (8, 0, "in 8 questions."),
        (34, 34, "over 34 of the documents' own headings as questions."),
        (35, 34, "over 1 question of yours and 34 of the documents' own headings as questions."),
    ],
)
def test_which_questions_were_asked_is_said(questions: int, headings: int, said: str) -> None:
    from pipeline.duplicates.records import DuplicateSettings
    from pipeline.words.families import totals_words

    report = DuplicatesReport("l", 1, DuplicateSettings(), (), cost=0.4, questions=questions, headings=headings)
    assert said in totals_words(report)


def test_headings_asked_in_place_of_questions_are_counted(tmp_path: Path) -> None:
    encoder = WordEncoder()
    make_library(tmp_path, {"a.txt": prose(1), "b.txt": prose(1)}, encoder)
    report = costed(tmp_path, ["asked", "heading", "another"], encoder, own=1)
    assert (report.questions, report.headings) == (3, 2)
