"""A picture of the real window with a given answer, without a display."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import TwinspectError

if TYPE_CHECKING:
    from app.compose import Shell
    from pipeline.records import Trace

PATIENCE_SECONDS = 5.0


def save_screenshot(
    library: Path, trace: Trace, file: Path, size: tuple[int, int] = (1600, 1000), scheme: str = "light"
) -> None:
    """Write a PNG of the window that shows this answer. Raises `TwinspectError` when it cannot be written."""
    if file.suffix.lower() != ".png":
        raise TwinspectError(f"{file} has to end with .png: that is what is written")
    if not file.absolute().parent.is_dir():
        raise TwinspectError(f"there is no folder {file.absolute().parent}")
    from PySide6.QtGui import QGuiApplication

    if QGuiApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from app.commands import COLOUR_SCHEMES, is_high_contrast
    from app.compose import Places, compose, make_application
    from app.jobs.backend import real_backend
    from app.preferences import Preferences
    from app.theme import ThemeWatch

    app = make_application()
    with tempfile.TemporaryDirectory() as aside:  # the user's own window, zoom and splitters are not in the picture
        preferences = Preferences(Path(aside) / "preferences.json")
        watch = ThemeWatch(app, COLOUR_SCHEMES[scheme], high_contrast=is_high_contrast(scheme))
        shell = compose(watch, preferences, backend=real_backend(), places=Places.usual())
        try:
            shell.window.resize(*size)
            _show(shell, library, trace)
            shell.window.show()
            _settle(shell)
            picture = shell.window.grab()
        finally:
            shell.window.close()
            watch.deleteLater()
    if not picture.save(str(file), "PNG"):
        raise TwinspectError(f"the picture could not be written to {file}")


def _show(shell: Shell, library: Path, trace: Trace) -> None:
    from app.focus import FocusTarget
    from pipeline.library import LibraryReader

    with closing(LibraryReader(library)) as reader:
        status = reader.status()
    shell.session.show_given(library, status, trace)
    first = trace.evidence[0] if trace.evidence else None
    if first is not None:
        shell.focus.selected = FocusTarget("evidence", first.evidence_key, first.rank)


def _settle(shell: Shell) -> None:
    """Wait until the selected document's text is there and everything is laid out."""
    from PySide6.QtCore import QCoreApplication, QEventLoop

    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
        if not shell.window.inspector.detail.waiting:
            break
        time.sleep(0.01)
    for _ in range(3):  # a layout may ask for another one
        QCoreApplication.processEvents()
