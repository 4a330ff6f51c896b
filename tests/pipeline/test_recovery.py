"""What happens to a library: a full disk, a read-only place, damaged files, two writers, another place."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.errors import LibraryDamaged, LibraryError, LibraryLocked
from pipeline.index import index_library
from pipeline.library import LibraryReader
from pipeline.rebuild import rebuild_library
from pipeline.store.history import History
from pipeline.store.lock import writer_lock
from pipeline.store.recovery import damage, saved_of
from tests.support.encoder import WordEncoder
from tests.support.folders import Folder, answer_bytes, document, passage
from tests.support.life import faults

QUESTION = "topic7 matter7"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.write({f"{n:02}.md": document(passage(f"topic{n} matter{n}", n)) for n in range(40)})
    made.index()
    return made


def answer(folder: Folder) -> str:
    return answer_bytes(folder.ask(QUESTION), folder.root.parent)


@contextmanager
def mounted(place: Path, options: str) -> Iterator[None]:
    """A small disk of its own at `place`."""
    place.mkdir(parents=True, exist_ok=True)
    if sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("no disks can be mounted here")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True)
    if done.returncode:
        pytest.skip("no disks may be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


# --- the disk ---


def test_a_full_disk_is_told_and_what_was_committed_stays(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=1500k"):
        folder = Folder(tmp_path)
        folder.library = tmp_path / "disk/library"
        small = {f"a{n:02}.md": document(passage(f"topic{n} matter{n}", n)) for n in range(20)}
        folder.write(small)
        folder.index()
        before = answer(folder)
        folder.write(
            {f"b{n:03}.md": document(*(passage(f"more{n} of{k}", k, 900) for k in range(9))) for n in range(90)}
        )
        with pytest.raises(LibraryError, match="full"):
            folder.index()
        assert damage(folder.library) == ""
        assert json.loads(answer(folder))["query"] == json.loads(before)["query"]
        kept = LibraryReader(folder.library)
        assert len(kept.documents()) >= 20
        kept.close()
        # With room again, the next run ends what this one began.
        subprocess.run(["mount", "-o", "remount,size=60m", str(tmp_path / "disk")], check=True)
        folder.index()
        assert faults(folder.library) == []
        fresh = Folder(tmp_path / "fresh", WordEncoder(256))
        fresh.root = folder.root
        assert folder.index().documents == fresh.index().documents == 110


def test_a_read_only_library_answers_and_says_why_it_cannot_be_written(folder: Folder, tmp_path: Path) -> None:
    before = answer(folder)
    with mounted(tmp_path / "disk", "size=20m"):
        library = folder.library
        folder.library = tmp_path / "disk/library"
        shutil.copytree(library, folder.library)
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
        assert answer(folder) == before
        with pytest.raises(LibraryError, match="cannot be written"):
            folder.index()


# --- damaged vectors ---


@pytest.mark.parametrize("what", ["truncated", "flipped", "empty", "nonsense", "missing"])
def test_damaged_vectors_are_made_again(folder: Folder, what: str) -> None:
    before = answer(folder)
    file = folder.library / "vectors.faiss"
    data = bytearray(file.read_bytes())
    if what == "truncated":
        file.write_bytes(data[: len(data) // 2])
    elif what == "flipped":
        data[len(data) * 3 // 4] ^= 0x10
        file.write_bytes(data)
    elif what == "missing":
        file.unlink()
    else:
        file.write_bytes(b"" if what == "empty" else random.Random(1).randbytes(5_000))
    assert answer(folder) == before
    assert faults(folder.library) == []


# --- damaged databases ---


def ruin(folder: Folder, how: str) -> None:
    file = folder.library / "library.sqlite3"
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        tables = "SELECT rootpage - 1 FROM sqlite_master WHERE name IN ('roots', 'meta')"
        kept = {row[0] for row in db.execute(tables)}
    size = file.stat().st_size
    with open(file, "r+b") as stream:
        if how == "head":
            stream.write(b"\0" * 16)
        elif how == "truncated":
            stream.truncate(size // 3)
        elif how == "nonsense":
            stream.write(random.Random(2).randbytes(size))
        elif how == "empty":
            stream.truncate(0)
        else:
            for page in sorted(set(range(4, size // 4096)) - kept):
                stream.seek(page * 4096)
                stream.write(b"\xaa" * 2048)


@pytest.mark.parametrize("how", ["head", "truncated", "nonsense", "empty", "pages"])
def test_a_damaged_database_is_told_in_words_and_can_be_rebuilt(folder: Folder, how: str) -> None:
    folder.encoder = WordEncoder(256)
    before = answer(folder)
    history = History(folder.library)
    history.remember(folder.ask(QUESTION))
    history.close()
    ruin(folder, how)
    assert damage(folder.library) != ""
    with pytest.raises(LibraryDamaged, match="rebuild"):
        answer(folder)
    readable = bool(saved_of(folder.library).roots)
    assert readable == (how in ("head", "truncated", "pages"))
    ruined = (folder.library / "library.sqlite3").read_bytes()
    if not readable:
        with pytest.raises(LibraryError, match="name them"):
            rebuild_library(folder.library, make_encoder=lambda source: folder.encoder)
        assert (folder.library / "library.sqlite3").read_bytes() == ruined
    done = rebuild_library(
        folder.library, [] if readable else [folder.root], make_encoder=lambda source: folder.encoder
    )
    assert done.aside.read_bytes() == ruined
    assert done.folders == (str(folder.root),)
    assert done.report.documents == 40
    assert answer(folder) == before
    assert faults(folder.library) == []
    again = History(folder.library)
    assert again.count() == 1
    again.close()


def test_a_rebuilt_library_keeps_labels_and_rules(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    other = tmp_path / "elsewhere/docs"
    other.mkdir(parents=True)
    (other / "b.md").write_text("beta")
    folder.write({"a.md": "alpha", "a.log": "log", ".gitignore": "*.md"})
    index_library(folder.library, [folder.root], encoder=folder.encoder, exclude=["*.log"], gitignore=False)
    index_library(folder.library, [other], encoder=folder.encoder)

    def held() -> tuple[list[object], list[str]]:
        with closing(LibraryReader(folder.library)) as reader:
            roots: list[object] = [(r.label, r.path, r.exclude, r.gitignore) for r in reader.roots()]
            return roots, [item.doc_id for item in reader.documents()]

    before = held()
    assert before[1] == ["docs-2/b.md", "docs/a.md"]
    ruin(folder, "head")
    rebuild_library(folder.library, make_encoder=lambda source: folder.encoder)
    assert held() == before


def test_damage_that_comes_up_in_the_middle_of_a_run_is_told_in_words(folder: Folder) -> None:
    ruin(folder, "pages")
    folder.write({f"{n:02}.md": document(passage(f"changed{n}", n)) for n in range(40)})
    with pytest.raises(LibraryDamaged, match="rebuild"):
        folder.index()


def test_the_command_line_checks_and_rebuilds(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Words(WordEncoder):
        runtime = "words"

        def close(self) -> None: ...

    monkeypatch.setattr("pipeline.embed.local.LocalEncoder", lambda model=None: Words(256))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "--library", str(folder.library)])
        return code, *capsys.readouterr()

    assert run("rebuild", "--check")[:2] == (0, "nothing is damaged\n")
    ruin(folder, "head")
    code, out, _ = run("rebuild", "--check")
    assert (code, out.startswith("damaged: ")) == (0, True)
    code, _, err = run("status")
    assert code == 1
    assert "rebuild" in err
    assert len(err.splitlines()) == 1
    code, out, err = run("rebuild")
    assert code == 0, err
    assert "is kept as" in out
    assert "40 documents" in out
    assert run("rebuild", "--check")[1] == "nothing is damaged\n"


# --- two writers, other places ---


def test_a_second_writer_is_refused_in_words(folder: Folder) -> None:
    with writer_lock(folder.library), pytest.raises(LibraryLocked, match="another window or command"):
        folder.index()
    child = [sys.executable, "-m", "tests.support.slow_index", str(folder.library), str(folder.root), "0"]
    with writer_lock(folder.library):
        done = subprocess.run(child, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 1
    assert "LibraryLocked" in done.stderr
    assert folder.index().unchanged == 40


@pytest.mark.parametrize("name", ["my library", "библиотека 図書館", "library#%41?x=1", 'l\'ibrary "q"'])
def test_a_library_can_lie_anywhere_and_be_moved(folder: Folder, tmp_path: Path, name: str) -> None:
    if os.name != "posix" and set('"?') & set(name):
        pytest.skip("no such names here")
    before = answer(folder)
    moved = tmp_path / "moved" / name
    moved.parent.mkdir()
    folder.library.rename(moved)
    folder.library = moved
    assert answer(folder) == before
    report = folder.index()
    assert (report.unchanged, report.embedded) == (40, 0)
    assert damage(moved) == ""
    assert faults(moved) == []


@pytest.mark.skipif(sys.platform != "linux", reason="names of arbitrary bytes")
def test_a_library_on_a_path_that_is_no_text(folder: Folder, tmp_path: Path) -> None:
    moved = tmp_path / os.fsdecode(b"caf\xe9")
    folder.library.rename(moved)
    folder.library = moved
    assert folder.ask(QUESTION).evidence
    assert folder.index().unchanged == 40
