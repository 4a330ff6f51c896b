"""What was made faster gives the same answers: near pairs against all pairs, a port asked again against a new one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.library import LibraryReader
from pipeline.search.port import Question
from pipeline.select import near
from pipeline.select.near import near_pairs, shingles
from tests.support.encoder import WordEncoder
from tests.support.libraries import make_library

texts = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=0, max_size=12).map(" ".join), max_size=9)


@settings(max_examples=400)
@given(texts=texts, threshold=st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.6, 2 / 3, 0.9, 1.0]))
def test_no_near_pair_is_missed(texts: list[str], threshold: float) -> None:
    every = {}
    for (i, one), (j, other) in itertools.combinations(enumerate(map(shingles, texts)), 2):
        similarity = len(one & other) / len(one | other)
        if similarity >= threshold:
            every[(i, j)] = similarity
    assert near_pairs(texts, threshold) == every


@settings(max_examples=200)
@given(texts=texts, too_large=st.booleans())
def test_numbered_shingles_are_shared_as_the_shingles_are(texts: list[str], too_large: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if too_large:  # as if there were millions of different words
            patch.setattr(near, "_LARGEST", 1)
        numbers = near._numbered(texts)
    assert len(numbers) == len(texts)
    for one, other in itertools.combinations_with_replacement(range(len(texts)), 2):
        both = set(numbers[one].tolist()) & set(numbers[other].tolist())
        assert len(both) == len(shingles(texts[one]) & shingles(texts[other]))


@settings(max_examples=60, deadline=None)
@given(
    bodies=st.lists(
        st.lists(st.sampled_from(["x y", "x z", "y z w", "w", "x"]), min_size=1, max_size=4), min_size=1, max_size=12
    ),
    limits=st.lists(st.integers(1, 60), min_size=2, max_size=6),
    only=st.booleans(),
)
def test_a_port_asked_again_answers_as_a_new_one(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[list[str]], limits: list[int], only: bool
) -> None:
    folder, encoder = tmp_path_factory.mktemp("library"), WordEncoder(16)
    make_library(folder, {f"{n}.md": "\n\n".join(body) for n, body in enumerate(bodies)}, encoder)
    question = Question("x y", encoder.encode(["x y"])[0], "docs/0.md" if only else None)
    reader = LibraryReader(folder)
    try:
        with reader.snapshot():
            port = reader.port()
            for limit in limits:
                assert list(port.search(question, limit)) == list(reader.port().search(question, limit))
    finally:
        reader.close()
