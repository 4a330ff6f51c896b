"""Folders are watched: what changes is told once it has come to rest, whatever becomes of the folder itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from pipeline.errors import LibraryLocked
from pipeline.watching import watch

PATIENCE = 20.0


class Watched:
    """A watch in a thread of its own, and what it told."""

    def __init__(self) -> None:
        self.told: list[list[Path]] = []
        self.refuse = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, *roots: Path, **options: object) -> None:
        def run() -> None:
            watch(roots, self._changed, self._stop, quiet=0.2, **options)  # type: ignore[arg-type]

        self._thread = threading.Thread(target=run)
        self._thread.start()
        self.until(lambda: self.places() >= set(roots))  # each as a whole, once it is watched
        self.told.clear()

    def _changed(self, places: Sequence[Path]) -> None:
        if self.refuse:
            self.refuse -= 1
            raise LibraryLocked("busy")
        self.told.append(list(places))

    def places(self) -> set[Path]:
        return {place for places in self.told for place in places}

    def holds(self, file: Path) -> bool:
        """Whether this was told of, by itself or with the folder that it lies in."""
        return not self.places().isdisjoint([file, *file.parents])

    def until(self, true: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, self.told
            time.sleep(0.05)

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)
            assert not self._thread.is_alive()


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched()
    yield made
    made.stop()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    (made / "sub").mkdir(parents=True)
    (made / "a.md").write_text("one")
    return made


@pytest.mark.parametrize("poll", [False, True])
def test_added_edited_and_removed_files_are_told(watched: Watched, root: Path, poll: bool) -> None:
    watched.start(root, poll=poll, poll_seconds=0.3)
    (root / "sub/new.md").write_text("two")
    (root / "a.md").write_text("one and more")
    watched.until(lambda: watched.holds(root / "sub/new.md") and watched.holds(root / "a.md"))
    watched.told.clear()
    (root / "a.md").unlink()
    watched.until(lambda: watched.holds(root / "a.md"))


def test_many_changes_in_a_row_are_told_together(watched: Watched, root: Path) -> None:
    watched.start(root)
    for n in range(100):
        (root / f"{n}.md").write_text("x")
    watched.until(lambda: len(watched.places()) >= 100)
    assert len(watched.told) <= 3


def test_hidden_names_and_the_library_itself_are_not_told_of_and_rules_stand_for_their_folder(
    watched: Watched, root: Path
) -> None:
    (root / "library").mkdir()
    (root / ".git").mkdir()
    watched.start(root, ignore=[root / "library"])
    (root / "library/library.sqlite3").write_text("x")
    (root / ".git/index").write_text("x")
    (root / ".a.md.swp").write_text("x")
    (root / "sub/.gitignore").write_text("*.log")
    watched.until(lambda: root / "sub" in watched.places())
    time.sleep(0.5)
    assert watched.places() == {root / "sub"}


def test_a_folder_that_vanishes_is_told_as_a_whole_when_it_is_back(watched: Watched, root: Path) -> None:
    other = root.parent / "other"
    other.mkdir()
    watched.start(root, other)
    root.rename(root.parent / "unplugged")
    time.sleep(2.5)
    (other / "b.md").write_text("two")
    watched.until(lambda: other / "b.md" in watched.places())
    (root.parent / "unplugged").rename(root)
    watched.until(lambda: root in watched.places())
    (root / "c.md").write_text("three")
    watched.until(lambda: root / "c.md" in watched.places())


def test_what_could_not_be_taken_is_told_again(watched: Watched, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.watching._AGAIN_SECONDS", 0.3)
    watched.start(root)
    watched.refuse = 2
    (root / "a.md").write_text("two")
    watched.until(lambda: root / "a.md" in watched.places())
    assert watched.refuse == 0


@pytest.mark.skipif(os.name != "posix", reason="stops with a signal")
def test_the_command_keeps_a_library_up_to_date_until_it_is_stopped(root: Path, tmp_path: Path) -> None:
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # it may be started with it ignored
        "from tests.support.encoder import WordEncoder\n"
        "import pipeline.embed.local as local\n"
        "class Words(WordEncoder):\n"
        "    runtime = 'words'\n"
        "    def close(self): pass\n"
        "local.LocalEncoder = lambda model=None: Words(64)\n"
        "from pipeline.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "index", str(root), "--watch", "--library", str(tmp_path / "library")]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            assert child.stdout.readline().startswith("1 document,")
            while "watching 1 folder" not in (line := child.stderr.readline()):
                assert line
            time.sleep(1.0)
            (root / "b.md").write_text("two")
            assert child.stdout.readline().startswith("2 documents")
            (root / "a.md").unlink()
            assert child.stdout.readline().startswith("1 document,")
        finally:
            child.send_signal(signal.SIGINT)
            try:
                rest = child.communicate(timeout=PATIENCE)
            finally:
                child.kill()
    assert child.returncode == 0, rest
