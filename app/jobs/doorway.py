"""The one way from worker threads into the window's thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal, Slot


class Doorway(QObject):
    """Calls posted by any thread are made in the thread that the doorway lives in, in order.

    One signal without arguments carries all of them: what crosses is a Python callable in a deque, so no value goes
    through Qt's type system and none is copied. After `close` nothing is let in any more.
    """

    _knock = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Callable[[], None]] = deque()
        self._closed = False
        self._knock.connect(self._let_in, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], None]) -> None:
        """Make this call in the doorway's thread, soon. From any thread."""
        if self._closed:
            return
        self._waiting.append(call)
        self._knock.emit()

    def close(self) -> None:
        """Let nothing in from now on; what waits is dropped."""
        self._closed = True
        self._waiting.clear()

    @Slot()
    def _let_in(self) -> None:
        if self._waiting and not self._closed:
            # One call a knock: the event loop gets its turn between two of them.
            self._waiting.popleft()()
