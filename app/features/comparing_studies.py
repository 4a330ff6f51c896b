"""Several wishes for one query engine, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.jobs.backend import Engine
from app.jobs.crew import Crew
from app.jobs.ends import End

AGAIN_MS = 150  # another part of the window may want the engine at the same time: only the latest waits


@dataclass(frozen=True, slots=True)
class Wish:
    """Work with the engine of this library."""

    library: Path
    work: Callable[[Engine], Any]
    ended: Callable[[End[Any]], None]


class Studies(QObject):
    """Takes wishes by name; a newer one of the same name takes the place of the one that waits. Every wish that is
    not taken back ends."""

    def __init__(self, crew: Crew, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._crew = crew
        self._waiting: dict[str, Wish] = {}
        self._busy = False
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(self._next)

    def want(self, name: str, wish: Wish) -> None:
        """Do this as soon as the engine is free."""
        self._waiting.pop(name, None)
        self._waiting[name] = wish
        self._next()

    def take_back(self, name: str) -> None:
        """What waits under this name is not needed any more."""
        self._waiting.pop(name, None)

    def _next(self) -> None:
        if self._busy or not self._waiting:
            return
        name = next(iter(self._waiting))
        wish = self._waiting.pop(name)
        self._busy = True

        def ended(end: End[Any]) -> None:
            self._busy = False
            if end.how == "cancelled":  # overtaken before it began: its turn comes again
                self._waiting.setdefault(name, wish)
                self._again.start()
                return
            wish.ended(end)
            self._next()

        self._crew.study(wish.library, wish.work, ended)
