"""Word by word comparison."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.difference import MOST_WORDS, Difference, Piece, compare

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


def test_an_endless_text_is_compared_at_its_head() -> None:
    left = "word " * (MOST_WORDS + 5)
    found = compare(left, left + "more")
    assert not found.whole
    assert "Only the first" in found.sentence


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
