"""The files of the family that is shown, compared with what was indexed: when it is opened, and when the window is
looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from app.features.ground import Ground
from app.jobs.ends import End
from pipeline.progress import CancelToken

if TYPE_CHECKING:
    from pipeline.duplicates.records import Family

_LANE = "comparing files with what was indexed"


class Freshening(QObject):
    """Of one family, be there ever so many: the others' files are not looked at."""

    def __init__(self, ground: Ground, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._crew, self._window = ground.crew, ground.window
        self._pane = ground.window.duplicates.pane
        self._token = CancelToken()
        self._pane.members.modelReset.connect(self.look)
        ground.window.pageShown.connect(self.look)
        ground.window.installEventFilter(self)

    def look(self, *_: object) -> None:
        """Look at the files; what was asked before is not wanted any more, and ends at its next file."""
        self._token.cancel()
        family = self._pane.members.family
        if family is None or self._window.page != "duplicates":
            return
        token = self._token = CancelToken()

        def work() -> Family:
            from pipeline.duplicates.freshness import family_with_freshness

            return family_with_freshness(family, token)

        def ended(end: End[Family]) -> None:
            # A failure is logged, and the rows go on telling what the scan found.
            if end.how == "done" and end.value is not None and self._pane.members.family is family:
                self._pane.show_looked_at(end.value)

        self._crew.look(_LANE, work, ended)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window:
            if event.type() == QEvent.Type.WindowActivate:
                self.look()
            elif event.type() == QEvent.Type.Close:
                self._token.cancel()  # before the window waits for its threads
        return False
