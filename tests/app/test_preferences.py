"""What is remembered between two starts."""

import json
from pathlib import Path

import pytest

from app.preferences import MOST_RECENT, Choices, Preferences


def test_nothing_is_there_at_first_and_nothing_is_written(preferences: Preferences, tmp_path: Path) -> None:
    assert preferences.choices == Choices()
    assert not (tmp_path / "configuration").exists()


def test_changes_are_there_at_the_next_start(preferences: Preferences, tmp_path: Path) -> None:
    preferences.change(scheme="dark", zoom=125, geometry="AAEC", splitters={"detail": "AQ=="})
    preferences.opened(tmp_path / "a")
    preferences.mark(tmp_path / "a", ("docs/old.txt",), ("docs/new.txt",))
    again = Preferences(tmp_path / "configuration" / "preferences.json")
    assert again.choices == preferences.choices
    assert again.choices.last_library == str(tmp_path / "a")
    assert again.marks(tmp_path / "a") == (("docs/old.txt",), ("docs/new.txt",))
    assert again.marks(tmp_path / "b") == ((), ())


def test_the_most_recent_library_comes_first_once(preferences: Preferences, tmp_path: Path) -> None:
    for name in "abcdefghij":
        preferences.opened(tmp_path / name)
    preferences.opened(tmp_path / "h")
    assert preferences.choices.recent[0] == str(tmp_path / "h")
    assert len(preferences.choices.recent) == len(set(preferences.choices.recent)) == MOST_RECENT


def test_marks_that_are_taken_back_leave_nothing(preferences: Preferences, tmp_path: Path) -> None:
    preferences.mark(tmp_path, ("docs/a",), ())
    preferences.mark(tmp_path, (), ())
    assert preferences.choices.left_out == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"null", b"[" * 100_000])
def test_a_damaged_file_is_put_aside(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "preferences.json"
    file.write_bytes(content)
    preferences = Preferences(file)
    assert preferences.choices == Choices()
    preferences.change(zoom=150)
    assert Preferences(file).choices.zoom == 150
    assert file.with_name("preferences.json.damaged").read_bytes() == content


def test_what_cannot_be_used_is_its_default(tmp_path: Path) -> None:
    file = tmp_path / "preferences.json"
    file.write_text(
        json.dumps(
            {
                "zoom": 3,
                "scheme": "pink",
                "recent": [1],
                "splitters": {"a": 1, "b": "x"},
                "geometry": None,
                "preferred": {"/lib": ["x"], "/other": 4},
                "left_out": [],
                "last_library": "/lib",
                "unknown": 1,
            }
        )
    )
    assert Preferences(file).choices == Choices(last_library="/lib", splitters={"b": "x"}, preferred={"/lib": ("x",)})


def test_a_folder_that_cannot_be_written_costs_the_memory_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    preferences = Preferences(tmp_path / "file" / "preferences.json")
    preferences.change(zoom=150)
    assert preferences.choices.zoom == 150
