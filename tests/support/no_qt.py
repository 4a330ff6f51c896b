"""A pytest plugin (`-p tests.support.no_qt`): the tests run as if PySide6 were not installed.

Two empty stand-ins, found before the real packages, raise the very error that an absent package raises. They reach the
child processes too, through PYTHONPATH; a hook in this process alone would not.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

HIDDEN = ("PySide6", "shiboken6")
_STAND_IN = (
    """raise ModuleNotFoundError("No module named {name!r} (hidden by tests/support/no_qt.py)", name={name!r})\n"""
)


def _hide() -> None:
    folder = Path(tempfile.mkdtemp(prefix="twinspect-no-qt-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in HIDDEN:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(_STAND_IN.format(name=name), encoding="utf-8")
    for loaded in [module for module in sys.modules if module.partition(".")[0] in HIDDEN]:
        del sys.modules[loaded]
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


_hide()


def pytest_report_header() -> str:
    return "PySide6: hidden, here and in child processes"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """The proof at the end: nothing has brought Qt in by another way."""
    found = [name for name in HIDDEN if name in sys.modules]
    if found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\ntests/support/no_qt.py: {', '.join(found)} was imported all the same", file=sys.stderr)
