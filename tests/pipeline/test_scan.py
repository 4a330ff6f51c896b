"""Folder -> files, on real folders."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import Cancelled, RootError, SettingError
from pipeline.progress import CancelToken
from pipeline.scan import FileEntry, doc_name, scan

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file kinds and names")
bytes_names = pytest.mark.skipif(sys.platform != "linux", reason="file names of arbitrary bytes")


def _fill(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def _names(root: Path, **options: object) -> list[str]:
    return [entry.rel_path for entry in scan(root, **options)]  # type: ignore[arg-type]


def test_files_come_in_the_order_of_their_whole_paths(tmp_path: Path) -> None:
    _fill(tmp_path, "b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "a-b/x.txt", "B.txt", "ä.txt")
    assert _names(tmp_path) == sorted(["b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "a-b/x.txt", "B.txt", "ä.txt"])


def test_an_entry_holds_the_facts_of_its_file(tmp_path: Path) -> None:
    _fill(tmp_path, "folder/one.txt")
    os.link(tmp_path / "folder/one.txt", tmp_path / "two.txt")
    facts = os.stat(tmp_path / "two.txt")
    assert list(scan(tmp_path)) == [
        FileEntry(rel, str(tmp_path / rel), 14, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_dev, 2)
        for rel in ("folder/one.txt", "two.txt")
    ]


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty/deeper").mkdir(parents=True)
    assert _names(tmp_path) == []


@posix
def test_links_are_counted_and_not_followed(tmp_path: Path) -> None:
    _fill(tmp_path, "real/file.txt")
    (tmp_path / "link.txt").symlink_to("real/file.txt")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "real/loop").symlink_to(tmp_path)
    (tmp_path / "broken").symlink_to("nowhere")
    found = scan(tmp_path)
    assert [entry.rel_path for entry in found] == ["real/file.txt"]
    assert found.passed_over.links == 4


@posix
def test_a_root_may_itself_be_reached_by_a_link(tmp_path: Path) -> None:
    _fill(tmp_path / "real", "a.txt")
    (tmp_path / "root").symlink_to("real")
    assert _names(tmp_path / "root") == ["a.txt"]


@posix
def test_sockets_and_fifos_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(tmp_path, "a.txt")
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        found = scan(tmp_path)
        assert [entry.rel_path for entry in found] == ["a.txt"]
    assert found.passed_over.special == 2


def test_hidden_names_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    _fill(tmp_path, "a.txt", ".hidden", ".git/config", "b/.secret")
    found = scan(tmp_path)
    assert [entry.rel_path for entry in found] == ["a.txt"]
    assert found.passed_over.hidden == 3
    assert _names(tmp_path, include_hidden=True) == [".git/config", ".hidden", "a.txt", "b/.secret"]


def test_exclude_patterns_are_those_of_gitignore(tmp_path: Path) -> None:
    _fill(tmp_path, "a.log", "keep.log", "build/x.txt", "sub/build/y.txt", "build.txt", "top.txt", "sub/top.txt")
    found = scan(tmp_path, exclude=["*.log", "!keep.log", "build/", "/top.txt"])
    assert [entry.rel_path for entry in found] == ["build.txt", "keep.log", "sub/top.txt"]
    assert found.passed_over.excluded == 4


def test_hidden_names_can_be_taken_in_by_pattern(tmp_path: Path) -> None:
    _fill(tmp_path, "a.txt", ".notes.md", ".git/config", "b/.plan/c.txt", "b/.secret")
    assert _names(tmp_path, exclude=["!.plan/", "!.notes.md"]) == [".notes.md", "a.txt", "b/.plan/c.txt"]
    found = scan(tmp_path, exclude=["!.*", ".git/"])
    assert [entry.rel_path for entry in found] == [".notes.md", "a.txt", "b/.plan/c.txt", "b/.secret"]
    assert (found.passed_over.hidden, found.passed_over.excluded) == (1, 0)


@pytest.mark.parametrize("pattern", ["!", "[z-a]"])
def test_an_impossible_pattern_is_an_error_that_names_it(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(SettingError, match="exclude") as caught:
        scan(tmp_path, exclude=["*.log", pattern])
    assert repr(pattern) in str(caught.value)


def test_an_unreadable_folder_is_named_and_the_rest_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(tmp_path, "a.txt", "closed/b.txt", "z.txt")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = scan(tmp_path)
    assert [entry.rel_path for entry in found] == ["a.txt", "z.txt"]
    (folder,) = found.passed_over.unreadable
    assert (folder.rel_path, folder.reason) == ("closed", "no permission to read it")


def test_what_is_deleted_during_the_scan_is_no_matter(tmp_path: Path) -> None:
    _fill(tmp_path, "a/1.txt", "b/2.txt", "c.txt", "d.txt")
    found = scan(tmp_path)
    assert next(found).rel_path == "a/1.txt"
    (tmp_path / "b/2.txt").unlink()
    (tmp_path / "b").rmdir()
    assert [entry.rel_path for entry in found] == ["c.txt", "d.txt"]
    assert found.passed_over.unreadable == ()


def test_a_root_that_cannot_be_read_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RootError, match="there is no such folder"):
        scan(tmp_path / "missing")
    _fill(tmp_path, "file.txt")
    with pytest.raises(RootError, match="not a folder"):
        scan(tmp_path / "file.txt")

    def refuse(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(RootError, match="no permission"):
        scan(tmp_path)


def test_a_root_that_goes_away_during_the_scan_is_an_error_not_an_empty_folder(tmp_path: Path) -> None:
    root = tmp_path / "drive"
    _fill(root, "a.txt", "sub/b.txt")
    found = scan(root)
    next(found)
    root.rename(tmp_path / "unplugged")
    with pytest.raises(RootError, match="no such folder"):
        list(found)
    _fill(root, "x.txt")
    other = scan(root)
    root.rename(tmp_path / "ejected")
    _fill(root, "y.txt")  # another drive at the same place
    with pytest.raises(RootError, match="replaced"):
        list(other)


def test_a_scan_can_be_cancelled_in_the_middle(tmp_path: Path) -> None:
    _fill(tmp_path, "a.txt", "b.txt")
    cancel = CancelToken()
    found = scan(tmp_path, cancel=cancel)
    next(found)
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(found)


def test_no_depth_is_too_deep(tmp_path: Path) -> None:
    folder, depth = tmp_path, 0
    while len(str(folder)) < 1500:
        folder, depth = folder / "d", depth + 1
    folder.mkdir(parents=True)
    (folder / "f.txt").touch()
    assert _names(tmp_path) == ["d/" * depth + "f.txt"]


@bytes_names
def test_strange_names_are_kept_exactly_and_shown_readably(tmp_path: Path) -> None:
    names = [b"caf\xe9.txt", b"new\nline.txt", b"quo\"te's.txt", "日本.txt".encode(), b"back\\slash.txt", b" .txt"]
    for name in names:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))).write_bytes(b"x")
    found = {entry.rel_path: entry for entry in scan(tmp_path)}
    assert {os.fsencode(rel) for rel in found} == set(names)
    assert all(os.path.exists(entry.path) for entry in found.values())
    assert doc_name(os.fsdecode(b"caf\xe9.txt")) == r"caf\xe9.txt"
    assert doc_name("new\nline.txt") == "new\nline.txt"


def test_two_paths_never_share_a_name() -> None:
    assert doc_name(r"caf\xe9.txt") != doc_name("caf\udce9.txt")


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_names_of_any_bytes_encode_and_are_unique(one: bytes, two: bytes) -> None:
    names = [doc_name(raw.decode("utf-8", "surrogateescape")) for raw in (one, two)]
    assert [name.encode("utf-8").decode("utf-8") for name in names] == names
    assert (names[0] == names[1]) == (one == two)


@given(st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010)))
def test_any_lone_surrogate_encodes(name: str) -> None:
    assert doc_name(name).encode("utf-8").decode("utf-8") == doc_name(name)
