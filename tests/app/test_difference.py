"""Word by word comparison."""

from random import Random
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app.difference
from app.difference import Difference, Piece, compare

words = st.lists(st.sampled_from(["red", "blue", "Red", "tag", "a", "é", "e\u0301", "日本", "x_y", ","]), max_size=30)
spaces = st.sampled_from([" ", "\n", "\t", "\u00a0", "  ", ""])


def changed(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.text.strip() for piece in pieces if piece.kind == "changed"]


def test_identical_is_said() -> None:
    found = compare("one two", "one two")
    assert found.verdict == "identical"
    assert found.sentence == "Identical, character by character."
    assert found.left == found.right == (Piece("same", "one two"),)


def test_a_changed_word_is_the_only_thing_marked() -> None:
    found = compare("Otis is the repair coordinator.", "Otis is the rental coordinator.")
    assert changed(found.left) == ["repair"]
    assert changed(found.right) == ["rental"]
    assert (found.removed, found.added, found.verdict) == (1, 1, "different")
    assert "1 word only on the left, 1 word only on the right" in found.sentence


@pytest.mark.parametrize("other", ["one\ntwo three", "one\u00a0two three", "one two three ", "one\ttwo  three"])
def test_white_space_alone_is_named(other: str) -> None:
    found = compare("one two three", other)
    assert found.verdict == "white_space"
    assert not changed(found.left)
    assert "only white space differs" in found.sentence
    assert any(piece.kind == "space" for piece in (*found.left, *found.right))


def test_another_spelling_of_the_same_character_is_no_other_word() -> None:
    found = compare("caf\u00e9", "cafe\u0301")
    assert found.verdict == "white_space"
    assert found.spellings == 1
    assert found.sentence == "The same words; only 1 word is written in other code points."


def test_case_and_punctuation_differ() -> None:
    assert compare("Yes.", "yes.").removed == 1
    assert changed(compare("yes.", "yes!").right) == ["!"]


def test_scripts_without_spaces_are_compared_by_character() -> None:
    found = compare("東京都に行く", "東京市に行く")
    assert changed(found.left) == ["都"]
    assert changed(found.right) == ["市"]


def test_common_words_are_not_taken_for_noise() -> None:
    """The matcher's own heuristic drops words that are frequent in texts of 200 words or more."""
    left = "the cat and the dog " * 100
    found = compare(left, left + "the end")
    assert (found.removed, found.added) == (0, 2)


def edited(words: list[str], seed: int, share: float = 0.02) -> list[str]:
    """A share of the words left out, replaced, or followed by another."""
    random = Random(seed)
    made: list[str] = []
    for word in words:
        match random.randrange(3) if random.random() < share else 3:
            case 1:
                made.append(random.choice(words))
            case 2:
                made += (word, random.choice(words))
            case 3:
                made.append(word)
    return made


def joined(found: Difference) -> tuple[str, str]:
    return "".join(piece.text for piece in found.left), "".join(piece.text for piece in found.right)


@pytest.mark.parametrize(
    ("words", "between"),
    [
        ([f"w{number % 900}" for number in range(20_000)], " "),
        ([chr(0x4E00 + number * 7_919 % 2_300) for number in range(100_000)], ""),
    ],
    ids=["words", "one line of characters"],
)
def test_texts_of_100_000_characters_are_compared_whole(words: list[str], between: str) -> None:
    """Words are found again on both sides of every edit, and in less time than the lengths multiplied would take."""
    other = edited(words, seed=3)
    left, right = between.join(words), between.join(other)
    began = monotonic()
    found = compare(left, right)
    assert monotonic() - began < 10  # it takes 0.4 and 1.3 seconds
    assert joined(found) == (left, right)
    assert found.shared > 0.97
    assert "Only the first" not in found.sentence


def test_a_part_that_was_moved_leaves_the_rest_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.difference, "_AT_ONCE", 4_000)
    words = [f"w{number}" for number in range(300)]
    left, right = " ".join(words), " ".join(words[200:] + words[:200])
    found = compare(left, right)
    assert joined(found) == (left, right)
    assert (found.removed, found.added) == (100, 100)


def test_no_part_is_larger_than_is_aligned_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unrelated texts, too: time and memory grow with the product of the lengths."""
    monkeypatch.setattr(app.difference, "_AT_ONCE", 2_000)
    random = Random(5)
    mine, other = ([random.randrange(40) for _ in range(size)] for size in (400, 700))
    parts = list(app.difference._parts(mine, other, (0, 400), (0, 700)))
    ends = [(0, 0), *((left[1], right[1]) for left, right in parts)]
    assert [(left[0], right[0]) for left, right in parts] == ends[:-1]  # one behind the other
    assert ends[-1] == (400, 700)
    assert max((left[1] - left[0]) * (right[1] - right[0]) for left, right in parts) <= 2_600  # rounded up


runs = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=14).map(
    lambda parts: [word for first, size in parts for word in range(first, first + size)]
)


@given(
    runs,
    runs,
    st.integers(1, 200),
    st.integers(1, 4),
)
def test_in_parts_or_in_one_go_the_pieces_join_to_the_texts(
    ours: list[int], theirs: list[int], at_once: int, anchor: int
) -> None:
    left, right = (" ".join(f"w{number}" for number in words) for words in (ours, theirs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app.difference, "_AT_ONCE", at_once)
        patch.setattr(app.difference, "_ANCHOR", anchor)
        found = compare(left, right)
    assert joined(found) == (left, right)
    kept = [[word for piece in side if piece.kind == "same" for word in piece.text.split()] for side in
            (found.left, found.right)]  # fmt: skip
    assert kept[0] == kept[1]
    assert len(ours) - found.removed == len(theirs) - found.added == len(kept[0])


def test_empty_sides() -> None:
    assert compare("", "").verdict == "identical"
    assert compare("", "new").added == 1
    assert compare("old", "").removed == 1


@given(words, words, st.lists(spaces, min_size=31, max_size=31), st.lists(spaces, min_size=31, max_size=31))
def test_pieces_join_to_the_texts(ours: list[str], theirs: list[str], gaps: list[str], others: list[str]) -> None:
    left = "".join(word + gap for word, gap in zip(ours, gaps, strict=False))
    right = "".join(word + gap for word, gap in zip(theirs, others, strict=False))
    found: Difference = compare(left, right)
    assert "".join(piece.text for piece in found.left) == left
    assert "".join(piece.text for piece in found.right) == right
    assert (found.verdict == "identical") == (left == right)
    assert found.sentence
    assert 0.0 <= found.shared <= 1.0
