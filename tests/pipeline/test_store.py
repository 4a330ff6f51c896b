"""The library on disk: vectors derived from the catalog, whatever happens to the file; versions, locks, damage."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from pipeline.errors import LibraryDamaged, LibraryError, LibraryLocked, LibraryTooNew, ModelMismatch
from pipeline.library import LibraryReader
from pipeline.query import QueryEngine
from pipeline.search.port import Question
from pipeline.settings import resolve
from pipeline.store import vectors
from pipeline.store.lock import writer_lock
from pipeline.store.schema import DATABASE_NAME, SCHEMA_VERSION, migrations, open_for_writing
from pipeline.store.vectors import VECTORS_NAME, VectorIndex
from pipeline.store.writer import CatalogWriter
from tests.support.encoder import WordEncoder
from tests.support.libraries import make_library, paragraphs

DOCUMENTS = {
    "a.txt": "the boiler needs a yearly check\n\nthe deposit is paid back in May",
    "b.txt": "the deposit is paid back in May\n\nno pets in the hall",
    "c.txt": "no pets  in the hall",
}


@pytest.fixture
def encoder() -> WordEncoder:
    return WordEncoder()


@pytest.fixture
def library(tmp_path: Path, encoder: WordEncoder) -> Path:
    make_library(tmp_path, DOCUMENTS, encoder)
    return tmp_path


def keys(folder: Path, encoder: WordEncoder, question: str = "deposit paid back") -> list[str]:
    engine = QueryEngine(folder, encoder)
    try:
        return [traced.candidate.evidence_key for traced in engine.ask(question, resolve()).candidates]
    finally:
        engine.close()


def why_rebuilt(folder: Path) -> str:
    reader = LibraryReader(folder)
    try:
        with reader.snapshot():
            return reader.rebuilt_because
    finally:
        reader.close()


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (lambda file: None, ""),
        (lambda file: file.unlink(), "missing"),
        (lambda file: file.write_bytes(b""), "not a vectors file"),
        (lambda file: file.write_bytes(os.urandom(5000)), "not a vectors file"),
        (lambda file: file.write_bytes(file.read_bytes()[:-10]), "truncated or damaged"),
        (lambda file: file.write_bytes(file.read_bytes()[:40]), "cannot be read"),
        (flip_a_bit, "truncated or damaged"),
    ],
)
def test_vectors_that_do_not_fit_are_made_again(library: Path, encoder: WordEncoder, harm, reason: str) -> None:
    wanted = keys(library, encoder)
    harm(library / VECTORS_NAME)
    assert reason in why_rebuilt(library)
    assert keys(library, encoder) == wanted
    assert why_rebuilt(library) == ""  # and saved


def test_vectors_of_an_older_generation_serve_the_present_one(library: Path, encoder: WordEncoder) -> None:
    old = (library / VECTORS_NAME).read_bytes()
    db = open_for_writing(library)
    writer = CatalogWriter(db)
    with writer.change():
        writer.remove_documents([1])
        writer.remove_unheld_texts()
    db.close()
    (library / VECTORS_NAME).write_bytes(old)
    assert why_rebuilt(library) == ""
    assert (library / VECTORS_NAME).read_bytes() == old
    assert not any("a.txt" in key for key in keys(library, encoder, "boiler check"))


def test_an_open_reader_follows_what_is_written_meanwhile(library: Path, encoder: WordEncoder) -> None:
    engine = QueryEngine(library, encoder)
    assert "docs/a.txt#chunk-0" in {t.candidate.evidence_key for t in engine.ask("boiler", resolve()).candidates}
    db = open_for_writing(library)
    writer = CatalogWriter(db)
    with writer.change():
        writer.remove_documents([1])
        writer.remove_unheld_texts()
    db.close()
    trace = engine.ask("boiler", resolve())
    engine.close()
    assert {t.candidate.doc_id for t in trace.candidates} == {"docs/b.txt", "docs/c.txt"}
    assert all(traced.fate.name != "orphaned" for traced in trace.candidates)


def test_a_vector_without_a_text_is_orphaned_and_takes_nobodys_place(library: Path, encoder: WordEncoder) -> None:
    reader = LibraryReader(library)
    with reader.snapshot() as state:
        assert reader._index is not None
        reader._index.add(np.array([999], np.int64), encoder.encode(["deposit paid back"]))
        reader._index.save(library, state.stamp)
    reader.close()
    engine = QueryEngine(library, encoder)
    trace = engine.ask("deposit paid back", resolve())
    engine.close()
    assert trace.candidates[0].fate.name == "orphaned"
    assert trace.candidates[0].candidate.evidence_key == "vector:999"
    assert len(trace.evidence) == 3


def test_a_newer_library_is_refused_and_left_alone(library: Path) -> None:
    connection = sqlite3.connect(library / DATABASE_NAME)
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(LibraryTooNew, match="newer version"):
        LibraryReader(library)
    with pytest.raises(LibraryTooNew, match="newer version"):
        open_for_writing(library)


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_library_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(content)
    for opening in (LibraryReader, open_for_writing):
        with pytest.raises(LibraryDamaged, match="damaged or not a library"):
            opening(tmp_path)
    assert (tmp_path / DATABASE_NAME).read_bytes() == content


def test_no_library_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="index a folder first"):
        LibraryReader(tmp_path)


def test_another_model_is_refused_in_words(library: Path) -> None:
    engine = QueryEngine(library, WordEncoder(32, "other words"))
    with pytest.raises(ModelMismatch, match=r"model words, not with other words"):
        engine.ask("deposit", resolve())
    engine.close()


def test_a_read_only_library_is_read(library: Path, encoder: WordEncoder) -> None:
    wanted = keys(library, encoder)
    for name in (f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm", VECTORS_NAME):
        (library / name).unlink(missing_ok=True)
    library.chmod(0o500)
    (library / DATABASE_NAME).chmod(0o400)
    try:
        assert keys(library, encoder) == wanted
    finally:
        library.chmod(0o700)


def _hold(folder: str, ready, stop) -> None:
    with writer_lock(Path(folder)):
        ready.set()
        stop.wait(20)


def test_one_writer_at_a_time_and_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(str(tmp_path), ready, stop))
    holder.start()
    assert ready.wait(20)
    with pytest.raises(LibraryLocked, match="wait for it"), writer_lock(tmp_path):
        pass
    holder.kill()
    holder.join()
    with writer_lock(tmp_path), pytest.raises(LibraryLocked), writer_lock(tmp_path):
        pass


def test_a_library_of_the_first_schema_is_made_by_migrations(tmp_path: Path) -> None:
    db = open_for_writing(tmp_path)
    assert db.execute("PRAGMA foreign_keys").fetchone()[0] == 1
    assert db.journal_mode == "wal"
    assert db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
    db.close()
    open_for_writing(tmp_path).close()  # and opening it again changes nothing


def as_first_schema(library: Path) -> None:
    """What this library holds, in the database that the first version made."""
    now = library / DATABASE_NAME
    old = Database(library / "old.sqlite3")
    migrations.apply(old, stop_before="m002_shingles_and_kept_vectors")
    with closing(sqlite3.connect(now)) as held:
        for table in ("meta", "roots", "documents", "contents", "texts", "chunks"):
            columns = ", ".join(f'"{column.name}"' for column in old[table].columns)
            rows = held.execute(f"SELECT {columns} FROM {table}").fetchall()
            old.execute(f"DELETE FROM {table}")
            marks = ", ".join("?" * len(old[table].columns))
            old.conn.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
    old.execute("PRAGMA user_version=1")
    old.conn.commit()
    old.close()
    for file in library.glob(f"{DATABASE_NAME}*"):
        file.unlink()
    (library / "old.sqlite3").rename(now)


def test_a_library_of_an_older_version_is_migrated_by_its_next_reader(library: Path, encoder: WordEncoder) -> None:
    with closing(QueryEngine(library, encoder)) as engine:
        before = engine.ask("deposit", resolve())
    as_first_schema(library)
    with writer_lock(library), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.store.schema._PATIENCE", 0.1)
        with pytest.raises(LibraryError, match=r"older version .* another window or command is writing"):
            LibraryReader(library)
    with closing(QueryEngine(library, encoder)) as engine:
        after = engine.ask("deposit", resolve())
    assert after.evidence == before.evidence
    assert after.candidates == before.candidates


# --- the vector index and the dense search ---


def test_a_search_gives_every_id_that_ties_with_the_last() -> None:
    index = VectorIndex(2)
    rows = np.array([[1, 0]] * 30 + [[0, 1]], np.float32)
    index.add(np.arange(31, dtype=np.int64), rows)
    ids, scores = index.search(np.array([1, 0], np.float32), 3)
    assert sorted(ids.tolist()) == list(range(30))
    assert set(scores.tolist()) == {1.0}
    only, _ = index.search(np.array([1, 0], np.float32), 3, np.array([4, 30], np.int64))
    assert only.tolist() == [4, 30]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["x y", "x  y", "y z", "z", "w w", "q"]), max_size=6), min_size=1, max_size=6),
    st.integers(1, 25),
    st.sampled_from(["x", "z w", "q y"]),
)
def test_the_port_answers_as_an_index_with_one_vector_per_chunk(
    tmp_path_factory: pytest.TempPathFactory, contents: list[list[str]], limit: int, question: str
) -> None:
    folder = tmp_path_factory.mktemp("library")
    encoder = WordEncoder()
    documents = {f"{number}.txt": "\n\n".join(pieces) for number, pieces in enumerate(contents)}
    make_library(folder, documents, encoder)
    vector = encoder.encode([question])[0]
    naive = []
    for name, text in documents.items():
        for index, (start, end) in enumerate(paragraphs(text)):
            piece = text[start:end]
            score = round(float(encoder.encode([piece])[0] @ vector), vectors.SCORE_DECIMALS)
            naive.append((-score, f"docs/{name}", index, piece))
    naive.sort()
    reader = LibraryReader(folder)
    with reader.snapshot():
        hits = reader.port().search(Question(question, vector), limit)
    reader.close()
    found = [(-hit.score, hit.metadata["doc_id"], hit.metadata["chunk_index"], hit.text) for hit in hits]
    assert [hit[1:] for hit in found] == [row[1:] for row in naive[:limit]]
    assert [hit[0] for hit in found] == pytest.approx([row[0] for row in naive[:limit]], abs=2e-4)


def test_the_pipeline_runs_without_qt() -> None:
    code = (
        "import sys; sys.modules['PySide6'] = None\n"
        "import pipeline.cli, pipeline.index, pipeline.query, pipeline.library, pipeline.embed.remote\n"
        "assert 'torch' not in sys.modules and 'sentence_transformers' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
