"""What the window's tests share: no display, no settings of the user's, a theme, and a window on a real library."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.preferences import Preferences
from app.theme import ThemeWatch
from tests.app.shell import ShellMaker


@pytest.fixture(scope="session")
def watch(qapp: QApplication) -> ThemeWatch:
    """The light theme, applied once."""
    return ThemeWatch(qapp, Qt.ColorScheme.Light)


@pytest.fixture
def preferences(tmp_path: Path) -> Preferences:
    return Preferences(tmp_path / "configuration" / "preferences.json")


@pytest.fixture
def shells(
    watch: ThemeWatch, preferences: Preferences, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ShellMaker]:
    """Makes windows, and closes them at the end."""
    monkeypatch.setenv("TWINSPECT_LIBRARY", str(tmp_path / "first"))
    maker = ShellMaker(watch, preferences, tmp_path)
    yield maker
    maker.close()


@pytest.fixture
def wait(qtbot: object) -> Callable[[Callable[[], object]], None]:
    """Wait until something is so, for ten seconds at most."""
    return lambda until: qtbot.waitUntil(lambda: bool(until()), timeout=10_000)  # type: ignore[attr-defined]  # pytest-qt has no types
