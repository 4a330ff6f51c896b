"""Large libraries: scanned at a byte a number and ranked by the exact vectors, they answer as small ones do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.library import LibraryReader
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.settings import resolve
from pipeline.store import vectors, vectors_file, vectors_scan
from pipeline.store.schema import open_for_writing
from pipeline.store.vectors import VECTORS_NAME, Stamp, VectorIndex
from pipeline.store.vectors_scan import EightBitScan, Grid
from pipeline.store.writer import CatalogWriter
from tests.support.encoder import WordEncoder
from tests.support.libraries import make_library

STAMP = Stamp("library", 1, "token", "model")
WORDS = ("boiler", "cellar", "deposit", "hall", "lease", "letter", "meter", "owner", "rent", "repair", "roof", "water")
DOCUMENTS = {
    f"{number:03}.txt": "\n\n".join(
        f"the {WORDS[(number + k) % 12]}, the {WORDS[number * k % 12]} of the {WORDS[number % 11]} {number % 60} {k}"
        for k in range(1, 5)
    )
    for number in range(100)
}


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library is a large one, in several parts."""
    monkeypatch.setattr(vectors_file, "SCANNED_FROM", 1)
    monkeypatch.setattr(vectors_scan, "_LEAST_PER_PART", 16)


@pytest.fixture
def encoder() -> WordEncoder:
    return WordEncoder()


@pytest.fixture
def library(tmp_path: Path, encoder: WordEncoder, scanned: None) -> Path:
    make_library(tmp_path, DOCUMENTS, encoder)
    return tmp_path


@pytest.fixture
def index(library: Path) -> Iterator[VectorIndex]:
    reader = LibraryReader(library)
    with reader.snapshot():
        assert reader._index is not None
        yield reader._index
    reader.close()


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clustered(count: int, seed: int, dimension: int = 24) -> np.ndarray:
    """Vectors in families, some of them equal: what texts give."""
    chance = np.random.default_rng(seed)
    heads = chance.standard_normal((max(1, count // 12), dimension))
    rows = heads[chance.integers(0, len(heads), count)] + 0.3 * chance.standard_normal((count, dimension))
    rows[chance.integers(0, count, count // 5)] = rows[0]
    return unit(rows)


def written(folder: Path, rows: np.ndarray, ids: np.ndarray) -> VectorIndex:
    vectors_file.write(folder, STAMP, rows.shape[1], len(rows), [(ids, rows)])
    found, reason = vectors.load(folder, STAMP, rows.shape[1], lambda wanted: rows[np.searchsorted(ids, wanted)])
    assert found is not None, reason
    return found


def asked(folder: Path, encoder: WordEncoder, question: str, **scope: object) -> Trace:
    engine = QueryEngine(folder, encoder)
    try:
        return engine.ask(question, resolve(), **scope)  # type: ignore[arg-type]
    finally:
        engine.close()


def same(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    """Equal scores in the same order, and of each score the same ids: ties have no promised order."""
    if not np.array_equal(one[1], other[1]):
        return False
    return all(set(one[0][one[1] == score]) == set(other[0][other[1] == score]) for score in set(one[1].tolist()))


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(2, 400),
    limit=st.integers(1, 120),
    seed=st.integers(0, 10_000),
    gone=st.floats(0, 0.6),
    more=st.integers(0, 60),
)
def test_a_large_index_answers_as_a_small_one(
    tmp_path_factory: pytest.TempPathFactory, count: int, limit: int, seed: int, gone: float, more: int
) -> None:
    rows, chance = clustered(count + more, seed), np.random.default_rng(seed)
    ids = np.cumsum(chance.integers(1, 4, count + more)).astype(np.int64)
    small = VectorIndex(rows.shape[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors_file, "SCANNED_FROM", 1)
        patch.setattr(vectors_scan, "_LEAST_PER_PART", 32)
        large = written(tmp_path_factory.mktemp("vectors"), rows[:count], ids[:count])
        assert (small.kind, large.kind) == ("flat", "8-bit scan")
        small.add(ids[:count], rows[:count])
        leaving = ids[chance.random(count + more) < gone]
        for each in (small, large):
            each.add(ids[count:], rows[count:])
            each.remove(leaving)
        assert len(small) == len(large) == len(ids) - len(leaving)
        assert set(small.ids()) == set(large.ids())
        query = unit(rows[:1] + 0.2 * chance.standard_normal((1, rows.shape[1])))[0]
        only = ids[chance.random(count + more) < 0.3]
        assert same(small.search(query, limit), large.search(query, limit))
        assert same(small.search(query, limit, only), large.search(query, limit, only))
        assert same(small.everything(query), large.everything(query))
        # And both as one would write it.
        kept = np.isin(ids, leaving, invert=True)
        naive = np.sort(np.round(rows[kept].astype(float) @ query.astype(float), 4))[::-1]
        assert small.everything(query)[1].tolist() == naive.tolist()
        large.close()


def test_what_bytes_cannot_tell_apart_is_looked_at_until_it_is_certain(tmp_path: Path, scanned: None) -> None:
    """Hundreds of almost equal vectors, and two that stretch the grid so far that all of these become equal bytes."""
    chance = np.random.default_rng(3)
    rows = unit(0.2 + 0.001 * chance.standard_normal((900, 24)))
    rows[:2] = np.eye(24)[0], -np.eye(24)[0]
    rows = rows.astype(np.float32)
    large, small = written(tmp_path, rows, np.arange(900, dtype=np.int64)), VectorIndex(24)
    small.add(np.arange(900, dtype=np.int64), rows)
    for _ in range(20):
        query = unit(chance.standard_normal((1, 24)))[0]
        assert same(large.search(query, 2), small.search(query, 2))
    large.close()


def test_few_vectors_are_looked_at_in_full(tmp_path: Path, scanned: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes it fast: the rows of a few hundred are read, whatever the library holds."""
    rows = clustered(20_000, 5, 64)
    found = written(tmp_path, rows, np.arange(20_000, dtype=np.int64))
    taken: list[int] = []
    take = vectors_file.StoredVectors.take
    monkeypatch.setattr(
        vectors_file.StoredVectors,
        "take",
        lambda self, places, truth: taken.append(len(places)) or take(self, places, truth),
    )
    found.search(unit(rows[7:8] + 0.01)[0], 20)
    assert 20 <= sum(taken) < 5_000
    found.close()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), spike=st.floats(0, 3), outside=st.booleans())
def test_no_rough_score_is_further_off_than_is_said(seed: int, spike: float, outside: bool) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.standard_normal((50, 12))
    rows[0, 3] += spike
    rows = unit(rows)
    low, high = float(rows.min()), float(rows.max())
    grid = Grid.over(low / 2, high / 2) if outside else Grid.over(low, high)
    codes = grid.encoded(rows)
    grid = Grid(grid.low, grid.span, float(grid.distances(rows, codes).max()))
    parts = iter([codes.reshape(-1)])

    def fill(place: np.ndarray) -> None:
        place[:] = next(parts)

    scan, query = EightBitScan(50, 12, grid, fill), unit(chance.standard_normal((1, 12)))[0]
    places, rough = scan.best(query, 50, None)
    exact = rows.astype(float) @ query.astype(float)
    assert sorted(places.tolist()) == list(range(50))
    assert np.abs(rough - exact[places]).max() <= scan.slack(query)


@pytest.mark.parametrize("part", ["ids", "checks", "codes", "end", "older format"])
def test_a_damaged_file_is_made_again(library: Path, encoder: WordEncoder, part: str) -> None:
    wanted = asked(library, encoder, "the boiler of the owner")
    file = library / VECTORS_NAME
    content = bytearray(file.read_bytes())
    layout = vectors_file._Layout(wanted.library.texts, wanted.library.dimension, True)
    if part == "end":
        content = content[:-3]
    elif part == "older format":
        content[: len(vectors_file._MAGIC)] = b"TWINSPECT-VECTORS-1\n"
    else:
        content[getattr(layout, part) + 9] ^= 4
    file.write_bytes(bytes(content))
    reader = LibraryReader(library)
    with reader.snapshot():
        assert reader.rebuilt_because in ("it is truncated or damaged", "it is not a vectors file")
    reader.close()
    assert asked(library, encoder, "the boiler of the owner").candidates == wanted.candidates


def test_a_damaged_row_decides_nothing_and_is_replaced(library: Path, encoder: WordEncoder) -> None:
    wanted = asked(library, encoder, "the boiler of the owner")
    file = library / VECTORS_NAME
    content = bytearray(file.read_bytes())
    layout = vectors_file._Layout(wanted.library.texts, wanted.library.dimension, True)
    for row in range(layout.count):
        content[layout.rows + row * 4 * layout.dimension + 7] ^= 0x40  # an exponent: the row would win or lose it all
    file.write_bytes(bytes(content))
    engine = QueryEngine(library, encoder)
    try:
        assert engine.ask("the boiler of the owner", resolve()).candidates == wanted.candidates
        assert engine.ask("the lease of the hall", resolve()).candidates
        assert engine._reader is not None
        assert engine._reader.rebuilt_because == "it is damaged"
    finally:
        engine.close()
    reader = LibraryReader(library)
    with reader.snapshot():
        assert reader.rebuilt_because == ""  # it was written anew
    reader.close()


def test_a_file_that_vanishes_while_it_is_open_costs_nothing(index: VectorIndex, library: Path) -> None:
    query = unit(np.ones((1, index.dimension)))[0]
    before = index.search(query, 10)
    os.truncate(library / VECTORS_NAME, 5_000)
    assert same(index.search(query, 10), before)
    assert index.damaged


def test_an_open_reader_follows_what_is_written_meanwhile(library: Path, encoder: WordEncoder) -> None:
    engine = QueryEngine(library, encoder)
    try:
        before = engine.ask("the boiler of the owner", resolve())
        assert before.index is not None
        assert (before.index.kind, before.index.exact, before.index.vectors) == (
            "8-bit scan",
            True,
            before.library.texts,
        )
        gone = before.candidates[0].candidate.doc_id
        db = open_for_writing(library)
        writer = CatalogWriter(db)
        with writer.change():
            db.execute("DELETE FROM documents WHERE doc_id = ?", [gone])
            writer.remove_unheld_texts()
        db.close()
        after = engine.ask("the boiler of the owner", resolve())
    finally:
        engine.close()
    assert gone not in {traced.candidate.doc_id for traced in after.candidates}
    assert all(traced.fate.name != "orphaned" for traced in after.candidates)
    fresh = asked(library, encoder, "the boiler of the owner")
    assert [t.candidate for t in fresh.candidates] == [t.candidate for t in after.candidates]


@pytest.mark.parametrize(
    "scope", [{}, {"left_out": ["docs/003.txt", "docs/007.txt"]}, {"only_document": "docs/005.txt"}]
)
def test_both_indexes_give_the_same_evidence(
    tmp_path: Path, encoder: WordEncoder, monkeypatch: pytest.MonkeyPatch, scope: dict[str, object]
) -> None:
    answers = []
    for size in (1, 1_000_000):
        monkeypatch.setattr(vectors_file, "SCANNED_FROM", size)
        folder = tmp_path / "library"
        folder.mkdir(exist_ok=True)
        if not (folder / VECTORS_NAME).exists():
            make_library(folder, DOCUMENTS, encoder)
        else:
            (folder / VECTORS_NAME).unlink()
        answers.append(asked(folder, encoder, "the roof and the water of a tenant", **scope))
    large, small = answers
    assert large.index is not None
    assert small.index is not None
    assert (large.index.kind, small.index.kind) == ("8-bit scan", "flat")
    assert large.candidates == small.candidates
    assert large.evidence == small.evidence
    assert large.projected == small.projected


def test_a_folder_that_cannot_be_written_is_read_from_the_catalog(
    library: Path, encoder: WordEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = asked(library, encoder, "the boiler of the owner")
    (library / VECTORS_NAME).unlink()

    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(vectors_file, "write", refuse)
    found = asked(library, encoder, "the boiler of the owner")
    assert found.candidates == wanted.candidates
    assert not (library / VECTORS_NAME).exists()
