"""Every window of this process. They share the preferences, the look, and the model's process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint

from pipeline.cli import OpenRequest

if TYPE_CHECKING:
    from app.compose import Shell

STEP = QPoint(32, 32)  # how far a new window stands from the one that it was opened from


class Windows(QObject):
    """Opens windows, and forgets those that were closed."""

    def __init__(self, make: Callable[[], Shell], start: Callable[[Shell, OpenRequest], None]) -> None:
        super().__init__()
        self._make, self._start = make, start
        self.shells: list[Shell] = []

    def open(self, request: OpenRequest, *, beside: Shell | None = None) -> Shell:
        """Another window, shown."""
        shell = self._make()
        self.shells.append(shell)
        window = shell.window
        if beside is not None:
            window.resize(beside.window.normalGeometry().size())
            window.move(beside.window.pos() + STEP)
        shell.wiring.commands.new_window_wanted.connect(partial(self.open, beside=shell))
        window.closed.connect(partial(self._forget, shell))
        self._start(shell, request)
        window.show()
        return shell

    @property
    def active(self) -> Shell | None:
        """The window that the user is in, or the last one opened."""
        current = next((shell for shell in self.shells if shell.window.isActiveWindow()), None)
        return current or (self.shells[-1] if self.shells else None)

    def close_all(self) -> None:
        """Close every window as its own button does."""
        for shell in tuple(self.shells):
            shell.window.close()

    def _forget(self, shell: Shell) -> None:
        if shell in self.shells:
            self.shells.remove(shell)
            shell.window.deleteLater()
