"""Shingles, and the join of their sets: exact, whatever the sets; the same from what was known before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.duplicates import join
from pipeline.duplicates.boilerplate import common
from pipeline.duplicates.join import Pairs, no_pairs, pairs_sharing, pairs_since
from pipeline.duplicates.sets import Sets, sets_of_kept, sets_of_texts
from pipeline.duplicates.shingles import packed, shingles, words

_WORD = st.sampled_from(["a", "b", "c", "d", "e", "\u00e9", "\u65e5", "\u0e01"])
_TEXT = st.lists(_WORD, max_size=25).map(" ".join)
_TEXTS = st.lists(_TEXT, max_size=14)
# Cut out of one text, so that many hold the same shingles.
_BASE = [f"word{number}" for number in range(14)]
_CUT = st.tuples(st.integers(0, 5), st.integers(5, 10), st.integers(0, 2)).map(
    lambda cut: " ".join([*_BASE[cut[0] : cut[0] + cut[1]], *["own"] * cut[2]])
)
_CROWD = st.lists(_CUT, max_size=10)


@given(st.lists(st.one_of(_TEXT, st.text(max_size=40)), max_size=8))
def test_sets_made_together_are_those_that_are_kept(texts: list[str]) -> None:
    together, kept = sets_of_texts(texts), sets_of_kept(packed(text) for text in texts)
    assert together.hashes.tolist() == kept.hashes.tolist()
    assert together.offsets.tolist() == kept.offsets.tolist()
    for number, text in enumerate(texts):
        assert set(kept[number].tolist()) == shingles(text)


@given(st.text(max_size=60))
def test_white_space_and_case_make_no_difference(text: str) -> None:
    spaced = "\u00a0 ".join(text.split(" "))
    assert shingles(spaced) == shingles(text)
    if text.isascii():
        assert shingles(text.upper()) == shingles(text)


def test_words_are_runs_of_letters_and_single_signs_where_there_are_no_spaces() -> None:
    assert words("It's 1,000 co\u00adoperating STRA\u00dfEN") == ["it", "s", "1", "000", "cooperating", "strassen"]
    assert words("\u65e5\u672c\u8a9e text") == ["\u65e5", "\u672c", "\u8a9e", "text"]
    assert words("\u0939\u093f\u0928\u094d\u0926\u0940 a") == ["\u0939\u093f\u0928\u094d\u0926\u0940", "a"]
    assert words("*** --- ***") == ["***", "---", "***"]
    assert words(" \n") == []
    assert words("cafe\u0301") == words("caf\u00e9")


def test_kept_shingles_stay_what_they_are() -> None:
    """They lie in libraries: another way to make them is another `METHOD`."""
    assert packed("The quick brown fox").hex() == "10a4244c17bc7b203085142dcb69258b"
    assert len(packed("one")) == len(packed("one two")) == len(packed("one two three")) == 8


def _by_hand(sets: Sets, least: float) -> dict[tuple[int, int], int]:
    found = {}
    for one in range(len(sets)):
        for other in range(len(sets)):
            small, large = set(sets[one].tolist()), set(sets[other].tolist())
            if small and one != other and (len(small), one) < (len(large), other):
                shared = len(small & large)
                if shared and shared >= least * len(small) - 1e-9:
                    found[(one, other)] = shared
    return found


def _told(pairs: Pairs) -> dict[tuple[int, int], int]:
    rows = zip(pairs.small.tolist(), pairs.large.tolist(), pairs.shared.tolist(), strict=True)
    return {(small, large): shared for small, large, shared in rows}


@settings(max_examples=150, deadline=None)
@given(st.one_of(_TEXTS, _CROWD), st.sampled_from([0.2, 0.4, 0.7, 1.0]))
def test_the_join_is_exact(texts: list[str], least: float) -> None:
    sets = sets_of_texts(texts)
    assert _told(pairs_sharing(sets, least)) == _by_hand(sets, least)


@settings(max_examples=400, deadline=None)
@given(st.one_of(_TEXTS, _CROWD), st.one_of(_TEXTS, _CROWD), st.one_of(_TEXTS, _CROWD), st.sampled_from([2, 3, 100]))
def test_looking_at_what_changed_equals_looking_at_everything(
    kept: list[str], new: list[str], gone: list[str], most: int
) -> None:
    """Also where shingles have more holders than are all looked at: `most` is how many that are here."""
    before_texts = sorted({*kept, *gone} - {""})
    after_texts = sorted({*kept, *new} - {""})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join, "MOST_HOLDERS", most)
        patch.setattr(join, "HUBS", 1 if most < 100 else join.HUBS)
        before = pairs_sharing(sets_of_texts(before_texts), 0.4)
        sets = sets_of_texts(after_texts)
        whole = pairs_sharing(sets, 0.4)
        changed = np.array([text not in before_texts for text in after_texts], np.bool_)
        since = pairs_since(sets, _in_new_numbers(before, before_texts, after_texts), changed, 0.4)
    if since is not None:
        assert _told(since) == _told(whole)
        assert since.crowded.tolist() == whole.crowded.tolist()
    if most == 100:
        assert since is not None


def _in_new_numbers(pairs: Pairs, before: Sequence[str], after: Sequence[str]) -> Pairs:
    number = np.array([after.index(text) if text in after else -1 for text in before], np.int64)
    if not before:
        return no_pairs(len(after))
    small, large = number[pairs.small], number[pairs.large]
    both = (small >= 0) & (large >= 0)
    crowded = np.zeros(len(after), np.bool_)
    crowded[number[pairs.crowded & (number >= 0)]] = True
    return Pairs(small[both], large[both], pairs.shared[both], crowded)


def test_of_a_crowd_each_is_tied_to_the_largest() -> None:
    crowd = [" ".join(f"word{place}" for place in range(40)) + f" own{number}" for number in range(150)]
    largest = " ".join(f"word{place}" for place in range(40)) + " and two more words"
    pairs = pairs_sharing(sets_of_texts([*crowd, largest]), 0.4)
    told = _told(pairs)
    assert all((number, 150) in told for number in range(150))
    assert len(told) < 150 * join.HUBS + 150
    assert pairs.crowded.sum() >= 150


@settings(deadline=None)
@given(_TEXTS, st.integers(1, 5))
def test_common_shingles_are_counted_exactly(texts: list[str], least: int) -> None:
    sets = sets_of_texts(texts)
    every = [set(sets[number].tolist()) for number in range(len(sets))]
    expected = [sum(value in each for each in every) >= least for value in sets.hashes.tolist()]
    assert common(sets, least).tolist() == expected
