"""The generator of planted edits, and that what it plants is found, on a little invented text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import duplicates
from tests.bench.duplicates import found_pairs, planted, scale
from tests.bench.planted import DOCUMENT_EDITS, PASSAGE_EDITS, planted_documents, planted_passages, triples
from tests.support.prose import prose


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "texts"
    place.mkdir()
    for number in range(60):
        (place / f"{number}.txt").write_text(prose(number, 900))
    return place


def test_what_is_planted_is_found_and_nothing_else(folder: Path) -> None:
    passages = planted_passages([folder], base=100, plants=28)
    documents = planted_documents([folder], base=30, plants=8)
    assert set(passages.pairs.values()) == set(PASSAGE_EDITS)
    assert set(documents.pairs.values()) == set(DOCUMENT_EDITS)
    rows = planted(passages, documents)
    assert [row.name for row in rows if row.met is False] == []
    assert len(rows) == len(PASSAGE_EDITS) + len(DOCUMENT_EDITS) + 2


def test_the_same_seed_plants_the_same(folder: Path) -> None:
    assert planted_passages([folder], base=40, plants=14) == planted_passages([folder], base=40, plants=14)


def test_base_passages_do_not_resemble_each_other(folder: Path) -> None:
    (folder / "again.txt").write_text((folder / "7.txt").read_text())
    texts = planted_passages([folder], base=120, plants=7).texts[:120]
    sets = [triples(text) for text in texts]
    for number, one in enumerate(sets):
        assert all(len(one & other) < 0.4 * min(len(one), len(other)) for other in sets[:number])


def test_a_miss_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passages = planted_passages([folder], base=60, plants=14)
    documents = planted_documents([folder], base=20, plants=4)
    real = found_pairs(passages.texts)
    missed = next(pair for pair, edit in passages.pairs.items() if edit == "exact")
    monkeypatch.setattr(duplicates, "found_pairs", lambda texts: {*real, (0, 1)} - {missed})
    missing = [row.name for row in planted(passages, documents) if row.met is False]
    assert missing == ["passages: exact, of 2", "passages: precision"]


def test_sides_are_compared_in_processes_of_their_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(duplicates, "default_folders", lambda: [folder])
    monkeypatch.setattr(duplicates, "LIMITS", {"no_such_package": 1_000})
    rows = scale(tmp_path, [140])
    figures = {row.name.partition(": ")[2]: row.value for row in rows}
    assert figures["share of planted edits found"] == 1.0
    assert figures["peak memory"] > 10
    assert "not compared with no_such_package: it is not installed" in capsys.readouterr().err
    assert json.loads((tmp_path / "found.json").read_text())["seconds"] > 0
