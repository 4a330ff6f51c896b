"""What every test gets: no display needed, no network asked for, and none of the user's own files in reach."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

# Before any test module, and so before any library that reads them at its import.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_turns = itertools.count(1)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """The tests of the pipeline run without PySide6; pytest-qt would refuse to start there."""
    if pluginmanager.hasplugin("pytest-qt") and not _qt_can_be_imported():
        pluginmanager.unregister(name="pytest-qt")
    if not pluginmanager.hasplugin("pytest-qt"):
        parser.addini("qt_api", "which Qt pytest-qt uses (it is not in use here)")


def _qt_can_be_imported() -> bool:
    try:
        import PySide6  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.fixture(scope="session")
def _user_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("user")


@pytest.fixture(autouse=True)
def user_folder(_user_folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has never started the program: the folder that the test's settings and libraries go to by default.

    Nothing is in it, and it is not made before something is written to it.
    """
    folder = _user_folders / str(next(_turns))
    for variable, name in (
        ("XDG_DATA_HOME", "data"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_STATE_HOME", "state"),
        ("TWINSPECT_LIBRARY", "library"),
    ):
        monkeypatch.setenv(variable, str(folder / name))
    # One for all tests: what is kept there is made from the model alone, and takes a while.
    monkeypatch.setenv("TWINSPECT_CACHE", str(_user_folders / "cache"))
    return folder
