"""The one way from worker threads into the window's thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot


class Doorway(QObject):
    """Calls posted by any thread are made in the thread that the doorway lives in, in order.

    One signal without arguments carries all of them: what crosses is a Python callable in a deque, so no value goes
    through Qt's type system and none is copied. After `close` nothing is let in any more.

    Each call has a turn of the event loop to itself: what it changes is laid out and painted in the next one, after
    what the user did meanwhile.
    """

    _knock = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Callable[[], None]] = deque()
        self._closed = False
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._let_in)
        self._knock.connect(self._wake, Qt.ConnectionType.QueuedConnection)

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
    def _wake(self) -> None:
        if self._waiting and not self._closed:
            self._turn.start()

    @Slot()
    def _let_in(self) -> None:
        if self._waiting and not self._closed:
            call = self._waiting.popleft()
            self._wake()  # for the next one, whatever becomes of this
            call()
