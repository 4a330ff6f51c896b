"""The `twinspect` command: the window, or one of the pipeline's commands without it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import cli

if TYPE_CHECKING:
    from pipeline.records import Trace


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code. Only commands that show the window import Qt."""
    return cli.main(argv, open_window=_open_window, save_screenshot=_save_screenshot)


def _open_window(request: cli.OpenRequest) -> int:
    from app.qt_check import check_qt

    check_qt()
    from app.compose import open_window

    return open_window(request)


def _save_screenshot(library: Path, trace: Trace, file: Path) -> None:
    from app.qt_check import check_qt

    check_qt({"QT_QPA_PLATFORM": "offscreen"})
    from app.screenshot import save_screenshot

    save_screenshot(library, trace, file)


def entry() -> None:
    """The console script."""
    cli.leave(main(sys.argv[1:]))


if __name__ == "__main__":
    entry()
