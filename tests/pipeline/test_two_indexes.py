"""A scan of bytes and a look at every vector answer alike: on the built-in sample, to every question that it comes with
and to questions of its documents' own words."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from pipeline.embed.port import Encoder
from pipeline.index import index_library
from pipeline.settings import Layer, resolve
from pipeline.store.vectors_scan import Grid
from tests.bench.two_indexes import compare, own_words
from tests.support.encoder import WordEncoder
from tests.support.two_indexes import both, differences

SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample"
QUESTIONS = [question["text"] for question in tomllib.loads((SAMPLE / "questions.toml").read_text("utf-8"))["question"]]


def encoder(kind: str) -> Encoder:
    if kind == "small":
        return WordEncoder()
    from pipeline.embed.model import SentenceTransformerEncoder

    return SentenceTransformerEncoder()


@pytest.mark.parametrize("kind", ["small", pytest.param("model", marks=pytest.mark.real_model)])
def test_the_sample_answers_the_same_by_both_indexes(tmp_path: Path, kind: str) -> None:
    model, library = encoder(kind), tmp_path / "library"
    index_library(library, [SAMPLE / "documents"], encoder=model)
    with both(library, model, tmp_path, small=True) as engines:
        for values in ({}, {"policy": "plain"}, {"policy": "source"}, {"retrieve-k": 3, "return-n": 2}):
            compared, different = differences(engines, QUESTIONS, resolve([Layer(values, "flag")]))
            assert (compared, different) == (3 * len(QUESTIONS), [])
        assert differences(engines, own_words(library, 10, seed=1)) == (30, [])


def test_any_folder_is_compared_after_additions_and_removals(tmp_path: Path) -> None:
    report = compare([SAMPLE / "documents"], WordEncoder(), tmp_path, questions=6)
    assert report.texts > 100
    assert report.compared == 2 * 6 * 3
    assert report.different == ()


def test_a_scan_that_misses_something_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one would whose bytes of every third text stand for another vector than they say."""
    library, model = tmp_path / "library", WordEncoder()
    index_library(library, [SAMPLE / "documents"], encoder=model)
    encoded, distances = Grid.encoded, Grid.distances

    def forgetful(rows: np.ndarray) -> np.ndarray:
        return rows * (np.arange(len(rows)) % 3 > 0)[:, None].astype(np.float32)

    monkeypatch.setattr(Grid, "encoded", lambda self, rows: encoded(self, forgetful(rows)))
    monkeypatch.setattr(Grid, "distances", lambda self, rows, codes: distances(self, forgetful(rows), codes))
    with both(library, model, tmp_path, small=True) as engines:
        assert differences(engines, QUESTIONS)[1]
