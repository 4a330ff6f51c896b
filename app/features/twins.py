"""Twin beside twin: long texts are compared in a thread, so that the window goes on."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from app.features.ground import Ground
from app.jobs.ends import End


class TwinsFeature(QObject):
    """Compares what the detail pane asks for; the newest wish counts."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground.window)
        self._crew = ground.crew
        self._detail = ground.window.inspector.detail
        self._detail.comparisonWanted.connect(self._compare)

    def _compare(self, left: str, right: str) -> None:
        def work() -> Any:
            from app.difference import compare

            return compare(left, right)

        def ended(end: End[Any]) -> None:
            if end.how == "done" and end.value is not None:
                self._detail.show_difference(left, right, end.value)
            elif end.how == "failed":
                self._detail.say_not_compared(left, right)

        self._crew.look("comparing two texts", work, ended)
