"""A file of vectors that is behind its library serves it if it is of the library's own past; nothing else does."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pipeline import library as library_module
from pipeline.errors import Cancelled
from pipeline.index import index_library
from pipeline.library import LibraryReader, save_vectors
from pipeline.progress import CancelToken, Progress
from pipeline.store import vectors, vectors_file
from pipeline.store.catalog import Catalog
from pipeline.store.schema import DATABASE_NAME, open_for_writing
from pipeline.store.vectors import VECTORS_NAME
from pipeline.store.writer import CatalogWriter, NewText
from tests.support.encoder import WordEncoder
from tests.support.folders import document, passage

SIDE = 8


@pytest.fixture(params=[1, 1_000_000], ids=["scanned", "flat"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the texts, and six at most, count as little; so many are taken over one by one."""
    monkeypatch.setattr(library_module, "_FEW", 6)
    monkeypatch.setattr(library_module, "_FEW_OF", 5)
    monkeypatch.setattr(library_module, "_MANY", 9)
    monkeypatch.setattr(vectors_file, "SCANNED_FROM", request.param)


class Shelf:
    """A library of bare texts, which are put in and taken out as a run does it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.chance, self._made = folder, np.random.default_rng(1), 0
        folder.mkdir(parents=True, exist_ok=True)
        db = open_for_writing(folder)
        with CatalogWriter(db).change():
            CatalogWriter(db).bind_model("model", "model", None, SIDE)
        db.close()

    @property
    def file(self) -> Path:
        return self.folder / VECTORS_NAME

    def change(self, add: int = 0, remove: int = 0, save: bool = True) -> None:
        with closing(open_for_writing(self.folder)) as db:
            writer = CatalogWriter(db)
            with writer.change():
                held = [row[0] for row in db.execute("SELECT id FROM texts ORDER BY id")]
                for gone in self.chance.permutation(held)[:remove]:
                    db.execute("DELETE FROM texts WHERE id = ?", [int(gone)])
                writer.add_texts(self._text() for _ in range(add))
            if save:
                save_vectors(self.folder, Catalog(db, self.folder))

    def _text(self) -> NewText:
        self._made += 1
        row = self.chance.standard_normal(SIDE).astype(np.float32)
        return NewText(f"{self._made}", f"{self._made}", "text", 1, vectors.blob_of(row / np.linalg.norm(row)))

    def truth(self) -> dict[int, bytes]:
        with closing(sqlite3.connect(self.folder / DATABASE_NAME)) as db:
            return dict(db.execute("SELECT id, vector FROM texts"))

    def check(self, reader: LibraryReader) -> None:
        """The index holds exactly the texts of the catalog, each with its own vector."""
        with reader.snapshot():
            truth, index = self.truth(), reader._index
            assert index is not None
            assert sorted(index.ids().tolist()) == sorted(truth)
            assert len(index) == len(truth)
            query = np.ones(SIDE, np.float32)
            ids, scores = index.everything(query)
            wanted = {
                key: round(float(np.frombuffer(blob, "<f4").astype(float) @ query), 4) for key, blob in truth.items()
            }
            assert dict(zip(ids.tolist(), scores.tolist(), strict=True)) == pytest.approx(wanted)
            best, _ = index.search(query, 5)
            assert set(best.tolist()) >= set(sorted(wanted, key=lambda key: -wanted[key])[:5]) or len(
                set(wanted.values())
            ) < len(wanted)

    def checked(self) -> str:
        """A fresh reader is right; why it had to make the file again."""
        with closing(LibraryReader(self.folder)) as reader:
            self.check(reader)
            return reader.rebuilt_because


@pytest.fixture
def shelf(tmp_path: Path, few: None) -> Shelf:
    shelf = Shelf(tmp_path / "library")
    shelf.change(add=30)
    return shelf


def test_a_run_that_changed_little_leaves_the_file_and_one_that_changed_much_does_not(shelf: Shelf) -> None:
    before = shelf.file.read_bytes()
    shelf.change(add=3, remove=3)
    assert shelf.file.read_bytes() == before
    assert shelf.checked() == ""
    assert shelf.file.read_bytes() == before  # nor does a reader write it
    shelf.change(add=1)  # little on top of little
    assert shelf.file.read_bytes() != before
    assert shelf.checked() == ""


def test_what_a_killed_run_added_is_taken_over_or_written(shelf: Shelf) -> None:
    before = shelf.file.read_bytes()
    shelf.change(add=9, remove=2, save=False)
    assert shelf.checked() == ""
    assert shelf.file.read_bytes() == before
    shelf.change(add=1, save=False)
    assert shelf.checked() == ""
    assert shelf.file.read_bytes() != before


def test_a_file_that_holds_what_no_run_has_put_there_is_made_again(shelf: Shelf) -> None:
    with closing(LibraryReader(shelf.folder)) as reader, reader.snapshot() as state:
        assert reader._index is not None
        reader._index.add(np.array([99], np.int64), np.ones((1, SIDE), np.float32))
        reader._index.save(shelf.folder, state.stamp)
    shelf.change(add=4, save=False)
    assert "another state" in shelf.checked()
    assert shelf.checked() == ""


@pytest.mark.parametrize("left", [0, 1, 3])
def test_most_texts_are_gone(shelf: Shelf, left: int) -> None:
    shelf.change(remove=30 - left, save=False)
    shelf.checked()
    shelf.change(add=2)
    assert shelf.checked() == ""


def test_a_restored_copy_gives_its_ids_again_and_no_file_of_the_other_line_serves_it(
    shelf: Shelf, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copy(shelf.folder / DATABASE_NAME, copy)
    shelf.change(add=20)
    other_line = shelf.file.read_bytes()
    for name in (f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"):
        (shelf.folder / name).unlink(missing_ok=True)
    shutil.copy(copy, shelf.folder / DATABASE_NAME)
    assert "another state" in shelf.checked()
    shelf.change(add=20, save=False)  # the same ids, other texts, and as many changes
    shelf.file.write_bytes(other_line)
    assert "another state" in shelf.checked()
    shelf.file.write_bytes(other_line)
    shelf.change(add=1)  # a run does not leave it there either
    assert shelf.checked() == ""


def test_an_open_reader_notices_that_a_copy_was_put_in_place(shelf: Shelf, tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(shelf.folder / DATABASE_NAME)) as db,
        closing(sqlite3.connect(tmp_path / "copy")) as kept,
    ):
        db.backup(kept)
    shelf.change(add=3)
    with closing(LibraryReader(shelf.folder)) as reader:
        shelf.check(reader)
        with (
            closing(sqlite3.connect(tmp_path / "copy")) as kept,
            closing(sqlite3.connect(shelf.folder / DATABASE_NAME)) as db,
        ):
            kept.backup(db)
        shelf.change(add=3)
        shelf.check(reader)


def test_a_library_without_the_list_of_its_states_takes_the_file_of_the_present_one_alone(shelf: Shelf) -> None:
    with closing(sqlite3.connect(shelf.folder / DATABASE_NAME)) as db, db:
        db.execute("DROP TABLE past_states")
    assert shelf.checked() == ""
    with closing(sqlite3.connect(shelf.folder / DATABASE_NAME)) as db, db:
        db.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
        db.execute("UPDATE meta SET value = 'other' WHERE key = 'generation_token'")
    assert "another state" in shelf.checked()


def test_states_that_lie_far_back_are_forgotten(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.store.writer._PAST_STATES", 3)
    for _ in range(3):
        shelf.change(remove=1)
    assert shelf.checked() == ""
    shelf.change(remove=1, save=False)
    assert "another state" in shelf.checked()


def test_a_reader_does_not_put_an_older_file_in_the_place_of_a_newer_one_of_the_moment(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run ends between a reader's look at the file and its look at the catalog."""
    latest, newer = vectors.latest, []

    def overtaken(*given: object) -> object:
        monkeypatch.setattr(vectors, "latest", latest)
        found = latest(*given)  # type: ignore[arg-type]
        shelf.change(add=8)
        newer.append(shelf.file.read_bytes())
        return found

    before = shelf.file.read_bytes()
    monkeypatch.setattr(vectors, "latest", overtaken)
    with closing(LibraryReader(shelf.folder)) as reader:
        shelf.check(reader)
        assert reader.rebuilt_because == ""
    assert [shelf.file.read_bytes()] == newer != [before]


def test_a_folder_that_cannot_be_written_is_served_from_a_file_far_behind(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shelf.file.read_bytes()
    shelf.change(add=40, remove=10, save=False)

    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(vectors_file, "write", refuse)
    assert shelf.checked() == ""
    assert shelf.file.read_bytes() == before


def test_what_killed_writers_left_is_cleared_away_and_what_is_being_written_is_not(shelf: Shelf) -> None:
    old, new = (shelf.folder / f"{VECTORS_NAME}.{number}.partial" for number in (1, 2))
    for file in (old, new):
        file.write_bytes(b"half")
    hours_ago = time.time() - 7_200
    os.utime(old, (hours_ago, hours_ago))
    shelf.change(add=20)
    assert [old.exists(), new.exists()] == [False, True]


# --- any order of events ---

CHANGE = st.tuples(st.just("change"), st.sampled_from([0, 1, 4, 8, 12]), st.sampled_from([0, 1, 4, 12]), st.booleans())
EVENTS = ("keep database", "keep file", "restore file", "lose file", "damage", "open", "ask", "ask")
STEPS = st.lists(
    st.one_of(CHANGE, CHANGE, st.just(("restore database",)), st.tuples(st.sampled_from(EVENTS))),
    min_size=3,
    max_size=12,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, scanned=st.booleans(), seed=st.integers(0, 1_000))
@example(
    steps=[("change", 12, 0, True), ("restore database",), ("change", 12, 0, False)], scanned=True, seed=0
)  # a file of another line, whose ids were given to other texts
def test_whatever_happens_the_index_holds_what_the_catalog_does(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[object, ...]], scanned: bool, seed: int
) -> None:
    place, chance = tmp_path_factory.mktemp("any"), random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library_module, "_FEW", 6)
        patch.setattr(library_module, "_FEW_OF", 5)
        patch.setattr(library_module, "_MANY", 9)
        patch.setattr(vectors_file, "SCANNED_FROM", 1 if scanned else 1_000_000)
        shelf = Shelf(place / "library")
        shelf.change(add=30)
        databases = [_backup(shelf.folder / DATABASE_NAME, place / "kept")]
        files, readers = [shelf.file.read_bytes()], [LibraryReader(shelf.folder)]
        try:
            for number, (what, *numbers) in enumerate(steps):
                if what == "change":
                    shelf.change(*numbers)  # type: ignore[arg-type]
                elif what == "keep database":
                    databases.append(_backup(shelf.folder / DATABASE_NAME, place / f"kept {number}"))
                elif what == "keep file" and shelf.file.exists():
                    files.append(shelf.file.read_bytes())
                elif what == "restore database":
                    _backup(chance.choice(databases), shelf.folder / DATABASE_NAME)
                elif what == "restore file":
                    _replace(shelf.file, chance.choice(files), place)
                elif what == "lose file":
                    shelf.file.unlink(missing_ok=True)
                elif what == "damage" and shelf.file.exists():
                    content = bytearray(shelf.file.read_bytes())
                    content[chance.randrange(len(content))] ^= 4
                    _replace(shelf.file, bytes(content), place)
                elif what == "open":
                    readers.append(LibraryReader(shelf.folder))
                elif what == "ask":
                    shelf.check(chance.choice(readers))
            for reader in (*readers, LibraryReader(shelf.folder)):
                shelf.check(reader)
        finally:
            for reader in readers:
                reader.close()


def _backup(source: Path, target: Path) -> Path:
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)
    return target


def _replace(file: Path, content: bytes, place: Path) -> None:
    (place / "other").write_bytes(content)
    (place / "other").replace(file)


# --- the end of a run ---


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for number in range(40):
        (root / f"{number:02}.md").write_text(document(passage(f"subject {number}", number)))
    return root


def test_saving_obeys_cancel_and_tells_how_far_it_is(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_AT_ONCE", 4)
    monkeypatch.setattr("pipeline.progress.time.perf_counter", _Hours())
    library, cancel, told = tmp_path / "library", CancelToken(), []

    def listen(progress: Progress) -> None:
        told.append(progress)
        if progress.saved > 0.5:
            cancel.cancel()

    with pytest.raises(Cancelled):
        index_library(library, [folder], encoder=WordEncoder(), progress=listen, cancel=cancel)
    shares = [progress.saved for progress in told if progress.saved]
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] < 0.7
    assert told[-1].stage == "finishing"
    assert not list(library.glob("*vectors*"))
    with closing(LibraryReader(library)) as reader, reader.snapshot() as state:
        assert reader._index is not None
        assert len(reader._index) == 40
        assert not state.unfinished
    report = index_library(library, encoder=WordEncoder())
    assert (report.unchanged, report.embedded) == (40, 0)


class _Hours:
    """A clock on which everything takes long, so that nothing that is told is held back."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        self._now += 3_600
        return self._now


def test_readers_ask_while_a_run_writes(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_module, "_MANY", 5)
    monkeypatch.setattr(vectors_file, "SCANNED_FROM", 1)
    library, stop, wrong = tmp_path / "library", threading.Event(), []
    index_library(library, [folder], encoder=WordEncoder())

    def look(fresh: bool) -> None:
        reader = LibraryReader(library)
        try:
            while not stop.is_set():
                if fresh:
                    reader.close()
                    reader = LibraryReader(library)
                with reader.snapshot():
                    assert reader._index is not None
                    if set(reader._index.ids().tolist()) != set(reader.catalog.vectors.ids().tolist()):
                        wrong.append("ids")
        except Exception as error:
            wrong.append(repr(error))
        finally:
            reader.close()

    threads = [threading.Thread(target=look, args=[fresh]) for fresh in (True, True, False)]
    for thread in threads:
        thread.start()
    for turn in range(8):
        for number in range(turn, 40, 3):
            (folder / f"{number:02}.md").write_text(document(passage(f"subject {turn} {number}", number)))
        index_library(library, encoder=WordEncoder())
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
