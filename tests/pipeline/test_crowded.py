"""A text that is held very often: read bit by bit as the search widens, and answered as if it had been read at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.library import LibraryReader
from pipeline.query import QueryEngine
from pipeline.records import ChunkMetadata, Hit
from pipeline.search import dense
from pipeline.search.dense import DenseSearch
from pipeline.search.port import Question
from pipeline.selection import Scope, retrieve
from pipeline.settings import resolve
from pipeline.store.catalog import Catalog, ChunkRow
from pipeline.store.schema import open_for_writing
from pipeline.store.writer import CatalogWriter
from tests.support.encoder import WordEncoder
from tests.support.libraries import make_library

# One text in 50 files, another in 12, their white space variants score alike; and some that nobody copies.
CROWDED = {
    f"{number:02}.txt": "\n\n".join(
        ["the boiler is checked"]
        + ["the  boiler is checked"] * (number % 3 == 0)
        + ["the boiler of the cellar"] * (number % 4 == 0)
        + [f"the boiler in house {number}"] * (number % 5 == 0)
    )
    for number in range(50)
}
QUESTION = "boiler checked"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crowded")
    make_library(folder, CROWDED, WordEncoder())
    return folder


@settings(max_examples=60, deadline=None)
@example(limits=[28, 79, 88, 118], whole=1, ahead=2, deeper=4)
@given(
    limits=st.lists(st.integers(1, 120), min_size=2, max_size=8),
    whole=st.integers(1, 4),
    ahead=st.integers(1, 4),
    deeper=st.integers(2, 4),
)
def test_bit_by_bit_gives_the_same_as_at_once(
    library: Path, limits: list[int], whole: int, ahead: int, deeper: int
) -> None:
    question = Question(QUESTION, WordEncoder().encode([QUESTION])[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "_WHOLE", whole)
        patch.setattr(dense, "_AHEAD", ahead)
        patch.setattr(dense, "_DEEPER", deeper)
        patch.setattr(dense, "_TEXTS_AHEAD", 1)
        reader = LibraryReader(library)
        try:
            with reader.snapshot():
                every = list(reader.port().search(question, 1_000))
                port = reader.port()
                for limit in limits:
                    assert list(port.search(question, limit)) == every[:limit]
        finally:
            reader.close()
    assert len(every) == sum(text.count("\n\n") + 1 for text in CROWDED.values())
    keys = [(-hit.score, hit.metadata["doc_id"], hit.metadata["chunk_index"]) for hit in every]
    assert keys == sorted(keys)


def test_copies_are_the_same_whether_they_were_read_before_or_not(library: Path) -> None:
    reader = LibraryReader(library)
    try:
        with reader.snapshot():
            rows = reader.passages.of_document("docs/00.txt")
            folds = {row.fold_key for row in rows}
            cold = reader.catalog.copies(folds)
        with reader.snapshot():
            reader.catalog.held([row.text_id for row in rows[:1]])
            warm = reader.catalog.copies(folds)
    finally:
        reader.close()
    assert warm == cold
    assert sum(map(len, warm.values())) > 60


def test_metadata_of_a_chunk_is_a_mapping_like_any_other(library: Path) -> None:
    reader = LibraryReader(library)
    try:
        with reader.snapshot():
            (hit,) = reader.port(5).search(Question(QUESTION, WordEncoder().encode([QUESTION])[0]), 1)
    finally:
        reader.close()
    assert isinstance(hit.metadata, ChunkMetadata)
    plain = dict(hit.metadata)
    assert plain == hit.metadata
    assert plain["doc_id"] == "docs/00.txt"
    assert plain["tokens_seen"] == min(5, plain["tokens"])
    assert set(plain) == set(hit.metadata)
    assert len(plain) == len(hit.metadata)
    with pytest.raises(KeyError):
        hit.metadata["docId"]


class OneByOne:
    """A port that does not tell its reach."""

    def __init__(self, port: DenseSearch) -> None:
        self._port = port

    def search(self, question: Question, limit: int) -> list[Hit]:
        return list(self._port.search(question, limit))


@settings(max_examples=60, deadline=None)
@given(
    retrieve_k=st.integers(1, 30),
    policy=st.sampled_from(["evidence", "source", "plain"]),
    only=st.sampled_from([None, "docs/00.txt", "docs/01.txt"]),
    left_out=st.sets(st.sampled_from([f"docs/{number:02}.txt" for number in range(50)]), max_size=50),
)
def test_rounds_told_are_those_of_a_port_that_is_asked_one_by_one(
    library: Path, retrieve_k: int, policy: str, only: str | None, left_out: set[str]
) -> None:
    question = Question(QUESTION, WordEncoder().encode([QUESTION])[0], only)
    asked = resolve().with_flags({"retrieve-k": retrieve_k, "policy": policy})
    scope = Scope(dict.fromkeys(left_out, "so"))
    reader = LibraryReader(library)
    try:
        with reader.snapshot():
            ahead, bare = reader.port(), reader.port()
            found = retrieve(question, ahead, asked, scope)
            plainly = retrieve(question, OneByOne(bare), asked, scope)
            reach = reader.port().reach(question, retrieve_k)
    finally:
        reader.close()
    assert found == plainly
    if policy == "evidence":  # the reach promises no more than it takes
        reached = next((done.received for done in found.rounds if done.distinct >= retrieve_k), None)
        assert reached is None or reach <= reached


def test_the_whole_crowd_is_read_at_the_first_go(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    chunk_rows = Catalog._chunk_rows

    def counted(self: Catalog, rows: Sequence[tuple[Any, ...]], wanted: str) -> list[ChunkRow]:
        read.append(len(rows))
        return chunk_rows(self, rows, wanted)

    monkeypatch.setattr(Catalog, "_chunk_rows", counted)
    engine = QueryEngine(library, WordEncoder())
    try:
        trace = engine.ask(QUESTION, resolve().with_flags({"retrieve-k": 3}))
    finally:
        engine.close()
    assert len(trace.rounds) > 4
    assert read[0] >= 67  # all 67 copies of the best text at once, not the first three


def test_files_are_compared_with_what_the_library_knows_now(tmp_path: Path) -> None:
    make_library(tmp_path, {"a.txt": "the boiler is checked"}, WordEncoder())
    file = tmp_path / "docs" / "a.txt"
    file.write_text("the boiler is checked", "utf-8")
    db, reader = open_for_writing(tmp_path), LibraryReader(tmp_path)

    def now() -> str:
        with reader.snapshot():
            return reader.catalog.freshness(["docs/a.txt"])["docs/a.txt"]

    try:
        assert now() == "changed"
        facts = file.stat()
        with CatalogWriter(db).change():
            db.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?",
                [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, str(facts.st_ino)],
            )
        assert [now(), now()] == ["fresh", "fresh"]
        file.write_text("the boiler is gone", "utf-8")
        assert now() == "changed"  # looked at anew, though the library knows nothing else
        file.unlink()
        assert now() == "missing"
    finally:
        reader.close()
        db.close()


def test_every_copy_of_a_crowded_answer_is_cited(library: Path) -> None:
    engine = QueryEngine(library, WordEncoder())
    try:
        trace = engine.ask(QUESTION, resolve())
    finally:
        engine.close()
    first = trace.evidence[0]
    assert len(first.source_paths) == 50
    assert len(first.citations) == first.places == 67
    folded = [traced.fate for traced in trace.candidates if traced.fate.into == first.evidence_key]
    assert [fate.name for fate in folded].count("collapsed") == 66
