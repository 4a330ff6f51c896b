"""What other rules of a folder would leave out, told before they are in force."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import Cancelled, RootError, SettingError
from pipeline.ignoring import impossible
from pipeline.leaving_out import look_ahead
from pipeline.progress import CancelToken
from pipeline.records import Root
from pipeline.scan import scan
from pipeline.words.leaving_out import ahead_words, change_words, row_words, unreadable_words
from pipeline.words.states import rules_of_root

NAMES = ("a.txt", "b.log", "a", "ab", "build", ".hidden", "ä.txt", "notes.log")
PATTERNS = ("*.log", "a/", "build/", "!b.log", ".*", "!.*", "/a*", "ab", "# a comment", "*")


def root_of(folder: Path, exclude: Sequence[str] = (), gitignore: bool = True) -> Root:
    return Root(1, "docs", str(folder), tuple(exclude), gitignore)


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    return folder


@given(
    paths=st.sets(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple), max_size=12),
    ignored=st.lists(st.sampled_from(PATTERNS), max_size=2),
    before=st.lists(st.sampled_from(PATTERNS), max_size=3),
    after=st.lists(st.sampled_from(PATTERNS), max_size=3),
    flags=st.tuples(st.booleans(), st.booleans()),
)
@settings(max_examples=60, deadline=None)
def test_what_goes_and_comes_is_what_two_scans_differ_in(
    tmp_path_factory: pytest.TempPathFactory,
    paths: set[tuple[str, ...]],
    ignored: list[str],
    before: list[str],
    after: list[str],
    flags: tuple[bool, bool],
) -> None:
    folder = tmp_path_factory.mktemp("folder")
    for parts in sorted(paths, key=len, reverse=True):
        file = folder.joinpath(*parts)
        if not file.exists() and all(not above.is_file() for above in file.parents):
            fill(folder, "/".join(parts))
    (folder / ".gitignore").write_text("\n".join(ignored))
    held = {item.rel_path for item in scan(folder, exclude=before, gitignore=flags[0])}
    wanted = scan(folder, exclude=after, gitignore=flags[1])
    kept = {item.rel_path for item in wanted}
    ahead = look_ahead(root_of(folder, before, flags[0]), after, flags[1], library=folder / "library")

    assert (ahead.files, ahead.going, ahead.coming) == (len(kept), len(held - kept), len(kept - held))
    assert set(ahead.going_names) <= held - kept
    assert set(ahead.coming_names) <= kept - held
    assert (ahead.left_out, ahead.rows) == (wanted.passed_over.excluded, wanted.passed_over.rules)


def test_it_is_told_in_words(tmp_path: Path) -> None:
    folder = fill(tmp_path, "a.txt", "old/b.txt", ".secret/c.txt", *(f"logs/{n:02}.log" for n in range(30)))
    ahead = look_ahead(root_of(folder), ("*.log", "!.secret/", "old/"), True, library=folder / "library")
    assert ahead_words(ahead) == ("These rules leave out 31 names now, a folder counting once: 30 by *.log, 1 by old/.")
    assert change_words(ahead) == (
        "2 files remain. 31 files would be indexed no more: logs/00.log, logs/01.log, logs/02.log and 28 more. "
        "1 file would come in: .secret/c.txt."
    )
    assert [row_words(row) for row in ahead.rows] == ["old/, by old/", "logs/: 30 names in it, by *.log"]
    plain = look_ahead(root_of(folder), (), True, library=folder / "library")
    assert ahead_words(plain) == "These rules leave out nothing now."
    assert change_words(plain) == "32 files remain."


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no text")
def test_names_that_are_no_text_are_told_as_such(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff.log")).write_text("x")
    (tmp_path / "turned\u202etxt.log").write_text("x")
    ahead = look_ahead(root_of(tmp_path), ("*.log",), True, library=tmp_path / "library")
    assert ahead.going_names[0] == "bad\\xff.log"
    said = " ".join([change_words(ahead), *map(row_words, ahead.rows)])
    said.encode("utf-8")
    assert "\u202e" not in said


@pytest.mark.parametrize("exclude", [(), ("*.log",)])
def test_a_look_ends_when_it_is_not_wanted_any_more(tmp_path: Path, exclude: tuple[str, ...]) -> None:
    fill(tmp_path, "a.txt")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        look_ahead(root_of(tmp_path), exclude, True, library=tmp_path / "library", cancel=token)


def test_a_folder_that_is_not_there_and_a_pattern_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RootError, match="there is no such folder"):
        look_ahead(root_of(tmp_path / "gone"), (), True, library=tmp_path / "library")
    with pytest.raises(SettingError, match=r"\[z-a\]"):
        look_ahead(root_of(tmp_path), ("[z-a]",), True, library=tmp_path / "library")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["*.log", "", "# why", "build/"], ""),
        (["*.log", "!"], "Line 2 cannot be read: nothing stands behind the “!”."),
        (["a\\"], "Line 1 cannot be read: nothing stands behind the backslash at the end of “a\\”."),
        (
            ["", "[z-a]x", "!"],
            "Line 2 cannot be read: the square brackets of “[z-a]x” hold no range of letters. Nor can 1 more line.",
        ),
    ],
)
def test_a_line_that_is_no_pattern_is_named_with_the_reason(lines: list[str], said: str) -> None:
    assert unreadable_words(impossible(lines)) == said


def test_comments_are_no_rules_of_a_folder() -> None:
    assert rules_of_root(Root(1, "docs", "/srv", ("# drafts", "*.tmp"))) == " (without *.tmp)"
    assert rules_of_root(Root(1, "docs", "/srv", ("# drafts",))) == ""
