"""Chunks: every rule of `pipeline.chunk.split`, on any text, and how much of a copy survives an edit."""

from __future__ import annotations

import random
import re
import time
import unicodedata
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.chunk import LIMITS, Markup, Span, split
from pipeline.textkeys import fold

MARKUPS: tuple[Markup, ...] = ("plain", "markdown")
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# --- texts ----------------------------------------------------------------------------------------------------

WORDS = [
    "river",
    "ledger",
    "orchard",
    "copper",
    "lantern",
    "meadow",
    "signal",
    "harbour",
    "winter",
    "paper",
    "engine",
    "garden",
    "window",
    "silver",
]


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(6, 18))).capitalize() + "."


def paragraph(rng: random.Random) -> str:
    return " ".join(sentence(rng) for _ in range(rng.randint(1, 5)))


def prose(seed: int, paragraphs: int) -> list[str]:
    """Paragraphs of 40 to 600 characters, a heading before about every eighth."""
    rng = random.Random(seed)
    blocks = []
    for _ in range(paragraphs):
        if rng.random() < 0.12:
            blocks.append("## " + " ".join(rng.sample(WORDS, 3)).capitalize())
        blocks.append(paragraph(rng))
    return blocks


GAPS = st.sampled_from(
    [
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "\n \n\n",
        "\u00a0",
        "\u2028",
        "\x0b",
        "\x0c",
        "\x1c",
        "\u3000",
        " " * 1300,
    ]
)
FRAGMENTS = st.sampled_from(
    [
        "word",
        "The end.",
        "Is it? Yes.",
        "e.g.",
        "# Title",
        "## Part",
        "===",
        "---",
        "```",
        "~~~~ py",
        "- item",
        "12) item",
        "| a | b |",
        ":::note",
        ":::",
        "<Tab>",
        "</Tab>",
        "see:",
        "NUL\0",
        "\ufeff",
        "\u0301",
        "e\u0301",
        "\ud800",
        "\udc00",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1e9\U0001f1ea",
        "한국어",
        "文書を検索する。",
        "索引，",
        "שלום עולם.",
        "مرحبا؟",
        "." * 40,
        "x" * 300,
        "漢字" * 300,
        "lorem ipsum dolor sit amet " * 30,
        "Lorem ipsum dolor. " * 70,
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.tuples(FRAGMENTS | st.text(max_size=20), GAPS | st.just("")), max_size=30))
    return "".join(fragment + gap for fragment, gap in parts)


ANY_TEXT = texts() | st.text(max_size=400)

# --- the rules ------------------------------------------------------------------------------------------------


def check(text: str, spans: Sequence[Span]) -> None:
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start] or text[at:start].isspace()
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        assert len(fold(text[start:end])) <= LIMITS.maximum
        at = end
    assert not text[at:].strip()


def bodies(text: str, spans: Sequence[Span]) -> list[str]:
    return [fold(text[start:end]) for start, end in spans]


@quick
@given(ANY_TEXT, st.sampled_from(MARKUPS))
def test_every_rule_on_any_text(text: str, markup: Markup) -> None:
    spans = split(text, markup=markup)
    check(text, spans)
    assert spans == split(text, markup=markup)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\u00a0\u2028", " " * 100_000])
def test_white_space_alone_is_no_chunk(text: str) -> None:
    assert split(text) == []
    assert split(text, token_counter=words_and_two, token_limit=5) == []


def test_a_short_text_is_one_chunk_without_the_white_space_around_it() -> None:
    assert split("\n\n  One.\n\nTwo. \r\n") == [Span(4, 14)]


def test_no_chunk_reaches_over_a_wide_gap() -> None:
    text = "Before." + " \n" * 5_000 + "after" + " " * 5_000 + "the end."
    assert bodies(text, split(text)) == ["Before.", "after", "the end."]


HOSTILE = {
    "one letter": "a" * 300_000,
    "one word": "".join(WORDS) * 1_700,
    "no stops": " ".join(WORDS) * 1_500,
    "stops alone": "." * 300_000,
    "stops and blanks": ". " * 150_000,
    "tiny lines": "a\n" * 150_000,
    "tiny paragraphs": "a\r\n\r\n" * 60_000,
    "tiny headings": "# a\n" * 75_000,
    "fences": "```\n" * 75_000,
    "an open fence": "```\n" + "x = 1\n\n" * 40_000,
    "rows": "|\n" * 150_000,
    "colons": ":::\n\n" * 60_000,
    "blanks": ("a" + " " * 1_199) * 250,
    "quotes": ".\"')" * 75_000,
    "commas": "，" * 300_000,
    "marks": "a" + "\u0301" * 300_000,
    "flags": "\U0001f1e9" * 150_000,
    "joiners": "\u200d" * 150_000,
    "ideographs": "".join(chr(0x4E00 + i * 7919 % 20_000) for i in range(150_000)),
    "surrogates": "\ud800\udc00" * 50_000,
    "NULs": "\0" * 150_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_takes_quadratic_time(name: str) -> None:
    """Quadratic, each of these would take minutes."""
    text = HOSTILE[name]
    began = time.perf_counter()
    spans = split(text, markup="markdown" if text[0] in "#`" else "plain")
    assert time.perf_counter() - began < 10
    check(text, spans)


# --- white space does not count -------------------------------------------------------------------------------

VARIANTS: dict[str, Callable[[str], str]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "tabs": lambda text: text.replace(" ", "\t"),
    "NBSP": lambda text: text.replace(" ", "\u00a0"),
    "trailing blanks": lambda text: text.replace("\n", " \t  \n") + "  ",
    "wide": lambda text: text.replace(" ", "    "),
    "indented": lambda text: re.sub(r"(?m)^(?=\S)", "      ", text),
    "blank lines": lambda text: text.replace("\n\n", "\n \n\t\n\n"),
}
UNIX_TEXT = st.lists(
    st.tuples(FRAGMENTS, st.sampled_from([" ", "\n", "\n\n"])),
    max_size=30,
).map(lambda parts: "".join(fragment + gap for fragment, gap in parts))


@pytest.mark.parametrize("name", VARIANTS)
@quick
@given(text=UNIX_TEXT, markup=st.sampled_from(MARKUPS))
def test_white_space_variants_are_twins(name: str, text: str, markup: Markup) -> None:
    variant = VARIANTS[name](text)
    assert bodies(variant, split(variant, markup=markup)) == bodies(text, split(text, markup=markup))


@pytest.mark.parametrize("name", VARIANTS)
def test_white_space_variants_of_a_long_text_are_twins(name: str) -> None:
    code = "```py\n" + "".join(f"    value_{i} = {i}\n" + "\n" * (i % 9 == 0) for i in range(200)) + "```"
    text = "\n\n".join([*prose(1, 60), code, " ".join(prose(2, 20)), *prose(3, 20)])
    variant = VARIANTS[name](text)
    expected = bodies(text, split(text, markup="markdown"))
    assert len(expected) > 30
    assert bodies(variant, split(variant, markup="markdown")) == expected


def test_composed_and_decomposed_letters_are_twins() -> None:
    text = "\n\n".join(block.replace("a", "ä").replace("o", "ö") for block in prose(4, 60))
    decomposed = unicodedata.normalize("NFD", text)
    assert decomposed != text
    assert bodies(decomposed, split(decomposed)) == bodies(text, split(text))


# --- structure ------------------------------------------------------------------------------------------------


def chunks(text: str, markup: Markup = "markdown") -> list[str]:
    spans = split(text, markup=markup)
    check(text, spans)
    return [text[start:end] for start, end in spans]


def body(seed: int, size: int) -> str:
    """One paragraph of about `size` characters."""
    rng = random.Random(seed)
    text = sentence(rng)
    while len(text) < size:
        text += " " + sentence(rng)
    return text


def test_sections_that_are_big_enough_are_cut_at_their_headings() -> None:
    sections = [f"## Part {i}\n\n{body(i, 250)}\n\n{body(i + 50, 300)}" for i in range(8)]
    assert chunks("\n\n".join(sections)) == sections


def test_headings_of_plain_text_and_underlined_ones_count_too() -> None:
    plain = [f"Part {i}\n\n{body(i, 250)}\n\n{body(i + 50, 300)}" for i in range(6)]
    assert chunks("\n\n".join(plain), "plain") == plain
    underlined = [f"Part {i}\n------\n{body(i, 250)}\n\n{body(i + 50, 300)}" for i in range(6)]
    assert chunks("\n\n".join(underlined)) == underlined


def test_small_sections_share_a_chunk() -> None:
    text = "\n\n".join(f"### Option {i}\n\nSays what option {i} does." for i in range(60))
    sizes = [len(chunk) for chunk in chunks(text)]
    assert max(sizes) <= LIMITS.chunk
    assert sum(sizes) / len(sizes) > 450
    assert all(chunk.startswith("### ") for chunk in chunks(text))


@pytest.mark.parametrize("size", [100, 500, 850, 1_000, 1_500, 4_000])
@pytest.mark.parametrize("markup", MARKUPS)
def test_a_heading_stays_with_its_text(size: int, markup: Markup) -> None:
    head = "## The heading of this section" if markup == "markdown" else "The heading of this section"
    text = "\n\n".join([body(1, 700), head, body(2, size), body(3, 700)])
    (holder,) = (chunk for chunk in chunks(text, markup) if head in chunk)
    assert len(holder.partition(head)[2]) > 60


@pytest.mark.parametrize("lines", [5, 15, 25])
def test_a_code_fence_that_fits_stays_whole(lines: int) -> None:
    fence = "```py\n" + "".join(f"value_{i} = call(number={i})  # {i}\n\n" for i in range(lines)) + "```"
    assert len(fold(fence)) < LIMITS.chunk
    text = "\n\n".join([*prose(5, 10), fence, *prose(6, 10)])
    assert any(fence in chunk for chunk in chunks(text))


def test_a_long_code_fence_is_cut_at_its_lines_and_a_comment_in_it_is_no_heading() -> None:
    lines = [f"# step {i}\nvalue_{i} = call(number={i})" for i in range(100)]
    text = "Before.\n\n```py\n" + "\n".join(lines) + "\n```\n\nBehind."
    found = chunks(text)
    assert len(found) > 3
    all_lines = text.split("\n")
    for chunk in found:
        assert set(chunk.split("\n")) <= set(all_lines)


def test_a_list_is_cut_between_its_items() -> None:
    items = [f"- {body(i, 120)}" for i in range(40)]
    found = chunks("What there is:\n\n" + "\n".join(items))
    assert found[0].startswith("What there is:\n\n- ")
    for chunk in found[1:]:
        assert set(chunk.split("\n")) <= set(items)


def test_a_table_is_whole_where_it_fits_and_else_cut_between_its_rows() -> None:
    rows = [f"| {i} | {WORDS[i % len(WORDS)]} | {i * i} |" for i in range(25)]
    assert any("\n".join(rows) in chunk for chunk in chunks("\n\n".join([*prose(7, 6), "\n".join(rows), *prose(8, 6)])))
    rows *= 10
    for chunk in chunks("\n".join(rows)):
        assert set(chunk.split("\n")) <= set(rows)


def test_a_long_paragraph_is_cut_between_its_sentences() -> None:
    for chunk in chunks(body(9, 8_000)):
        assert chunk[0].isupper()
        assert chunk.endswith(".")


def test_lines_without_blank_lines_as_a_pdf_has_them() -> None:
    text = "\n".join(re.sub(r"(.{60,70}) ", r"\1\n", body(i, 500)) for i in range(20))
    for chunk in chunks(text, "plain"):
        assert chunk[0].isupper()
        assert chunk.endswith(".")


def test_text_without_spaces_is_cut_behind_its_sentences() -> None:
    text = "".join(f"第{i}章の文書は索引に入り、同じ文を持つ写しは一つの証拠になる。" for i in range(200))
    found = chunks(text, "plain")
    assert len(found) > 5
    assert all(chunk.endswith("。") for chunk in found)


def test_abbreviations_before_small_letters_end_no_sentence() -> None:
    text = " ".join(f"The copies (e.g. the ones of folder {i}) are i.e. twins." for i in range(100))
    assert all(chunk.startswith("The copies") for chunk in chunks(text, "plain"))


CLUSTERS = [
    "e\u0301",
    "n\u0303\u0323",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f1e9\U0001f1ea",
    "\U0001f44d\U0001f3fd",
    "\u1112\u1161\u11ab",
    "\u0928\u093f",
    "1\ufe0f\u20e3",
    "x",
    "漢",
]


@pytest.mark.parametrize("seed", range(5))
def test_a_run_without_a_break_is_cut_between_grapheme_clusters(seed: int) -> None:
    rng = random.Random(seed)
    parts = [rng.choice(CLUSTERS) for _ in range(20_000)]
    text = "".join(parts)
    starts = {0}
    at = 0
    for part in parts:
        at += len(part)
        starts.add(at)
    spans = split(text)
    check(text, spans)
    assert len(spans) > 20
    assert {span.start for span in spans} <= starts


def test_a_run_of_flags_is_cut_between_flags() -> None:
    text = "x" + "\U0001f1e9\U0001f1ea" * 3_000
    assert all((span.start - 1) % 2 == 0 for span in split(text)[1:])


def test_a_cluster_longer_than_a_chunk_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 10_000
    check(text, split(text))


# --- what the model reads ---------------------------------------------------------------------------------------


def words_and_two(texts: Sequence[str]) -> list[int]:
    """A tokenizer of words, long words by fours, with two special tokens."""
    return [2 + sum(-(-len(word) // 4) for word in text.split()) for text in texts]


@quick
@given(ANY_TEXT, st.sampled_from(MARKUPS), st.integers(3, 60))
def test_no_chunk_exceeds_what_the_model_reads(text: str, markup: Markup, limit: int) -> None:
    spans = split(text, markup=markup, token_counter=words_and_two, token_limit=limit)
    check(text, spans)
    for (start, end), count in zip(spans, words_and_two([text[s:e] for s, e in spans]), strict=True):
        assert count <= limit or len(fold(text[start:end])) <= 70, "only a grapheme cluster may stay over the limit"


def test_only_what_is_too_long_is_split_again() -> None:
    text = "\n\n".join(prose(10, 80))
    before = split(text, markup="markdown")
    counts = words_and_two([text[start:end] for start, end in before])
    limit = sorted(counts)[len(counts) // 2]
    after = split(text, markup="markdown", token_counter=words_and_two, token_limit=limit)
    for span, count in zip(before, counts, strict=True):
        inside = [part for part in after if span.start <= part.start and part.end <= span.end]
        if count <= limit:
            assert inside == [span]
        else:
            assert len(inside) > 1
            assert (inside[0].start, inside[-1].end) == span


def test_tokens_are_counted_in_batches() -> None:
    calls: list[int] = []

    def counter(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return words_and_two(texts)

    text = "\n\n".join(prose(11, 300))
    spans = split(text, token_counter=counter, token_limit=100)
    assert len(spans) > 100
    assert len(calls) < 10


@pytest.mark.parametrize("limit", [-1, 0, 1, 2])
def test_a_limit_without_room_for_text_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="leaves no room"):
        split("Some text.", token_counter=words_and_two, token_limit=limit)


def test_one_of_counter_and_limit_changes_nothing() -> None:
    text = "\n\n".join(prose(12, 40))
    assert split(text, token_counter=words_and_two) == split(text, token_limit=3) == split(text)


# --- what survives an edit --------------------------------------------------------------------------------------

ADDED = "Added to the copy later: this page was reviewed in May and agrees with the notice on the first floor."


def shared(old: str, new: str) -> float:
    """Share of the characters of both texts that stand in a chunk that the other has too."""
    first, second = bodies(old, split(old, markup="markdown")), bodies(new, split(new, markup="markdown"))
    kept = sum(len(c) for c in first if c in set(second)) + sum(len(c) for c in second if c in set(first))
    return kept / sum(map(len, first + second))


def shares(edit: str) -> tuple[float, float]:
    """Mean share over 30 generated texts of about 20,000 characters, and their mean chunk in characters."""
    found, sizes = [], []
    for seed in range(30):
        blocks = prose(seed, 70)
        old = "\n\n".join(blocks)
        rng = random.Random(seed)
        if edit == "top":
            blocks.insert(0, ADDED)
        elif edit == "middle":
            blocks.insert(len(blocks) // 2, ADDED)
        elif edit == "taken out":
            del blocks[len(blocks) // 3]
        elif edit == "a word":
            at = rng.randrange(len(blocks))
            blocks[at] = blocks[at].replace("e", "ee", 1)
        found.append(shared(old, "\n\n".join(blocks)))
        sizes += [len(chunk) for chunk in bodies(old, split(old, markup="markdown"))]
    return sum(found) / len(found), sum(sizes) / len(sizes)


@pytest.mark.parametrize(("edit", "floor"), [("top", 0.95), ("middle", 0.94), ("taken out", 0.94), ("a word", 0.94)])
def test_an_edit_costs_about_the_chunk_it_stands_in(edit: str, floor: float) -> None:
    share, mean = shares(edit)
    assert share >= floor
    assert mean >= 600


def test_what_stands_far_from_an_edit_is_cut_as_before() -> None:
    blocks = prose(13, 200)
    old, new = "\n\n".join(blocks), "\n\n".join([*prose(14, 15), *blocks])
    tail = bodies(old, split(old, markup="markdown"))[-len(blocks) // 8 :]
    assert bodies(new, split(new, markup="markdown"))[-len(tail) :] == tail
