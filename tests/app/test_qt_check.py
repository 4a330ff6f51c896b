"""What is said when the system lacks something that Qt needs."""

import subprocess
import sys

import pytest

from app.qt_check import check_qt, missing_sentence, platform_wanted
from pipeline.errors import TwinspectError


def test_a_missing_library_is_named_with_its_packages() -> None:
    said = missing_sentence("libEGL.so.1: cannot open shared object file: No such file or directory")
    assert said == (
        "the window needs the system library libEGL.so.1; get it with `apt install libegl1` (Debian, Ubuntu) or "
        "`dnf install libglvnd-egl` (Fedora)"
    )
    assert "\n" not in said


def test_an_unknown_library_is_named_all_the_same() -> None:
    assert "libnew.so.9" in missing_sentence("libnew.so.9: cannot open shared object file: No such file")


def test_another_failure_is_passed_on_as_one_line() -> None:
    assert missing_sentence("something\nelse") == "the window cannot be opened: something else"


@pytest.mark.parametrize(
    ("environment", "platform"),
    [
        ({}, None),
        ({"DISPLAY": ":0"}, "xcb"),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "wayland"),
        ({"QT_QPA_PLATFORM": "offscreen:size=1x1"}, "offscreen"),
        ({"QT_QPA_PLATFORM": "wayland;xcb", "DISPLAY": ":0"}, "wayland"),
    ],
)
def test_the_platform_is_known_before_qt_is_asked(environment: dict[str, str], platform: str | None) -> None:
    assert platform_wanted(environment) == platform


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_without_a_display_there_is_one_line_that_says_so() -> None:
    with pytest.raises(TwinspectError, match="there is no display here"):
        check_qt({})


def test_the_offscreen_platform_needs_nothing() -> None:
    check_qt({"QT_QPA_PLATFORM": "offscreen"})


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout


def test_commands_without_a_window_import_no_qt() -> None:
    code = (
        "import sys\nfrom app.__main__ import main\n"
        "assert main(['status', '--library', '/nowhere']) == 1\nassert main(['--version']) == 0\n"
        "print([name for name in sys.modules if name.startswith('PySide6')])"
    )
    assert run(code).splitlines()[-1] == "[]"


def test_the_window_imports_nothing_heavy() -> None:
    """First paint waits for every import: the pipeline's heavy parts come later, in workers' threads."""
    code = (
        "import sys, app.compose\n"
        "heavy = {'numpy', 'faiss', 'torch', 'sqlite_utils', 'sqlite3', 'tokenizers', 'transformers', 'psutil'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run(code).splitlines()[-1] == "[]"
