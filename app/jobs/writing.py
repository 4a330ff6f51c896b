"""Long work that writes to the library: one at a time, with progress that the window polls, and a cancel."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from app.jobs.doorway import Doorway
from app.jobs.ends import End, run_to_end
from pipeline.progress import CancelToken, Progress, ProgressListener

Result = TypeVar("Result")
Work = Callable[[ProgressListener, CancelToken], Result]


class Writing:
    """The thread of the indexing run, if one is under way.

    The work reports progress as often as it likes: it only replaces one attribute. The window reads that attribute
    ten times a second, so that no flood of events can make it stutter.
    """

    def __init__(self, doorway: Doorway) -> None:
        self._doorway = doorway
        self._thread: threading.Thread | None = None
        self._token = CancelToken()
        self._running = False
        self.progress = Progress()

    @property
    def running(self) -> bool:
        """Whether work is under way: from `start` until its end has been told."""
        return self._running

    def start(self, doing: str, work: Work[Result], ended: Callable[[End[Result]], None]) -> bool:
        """Do the work in a thread of its own; False, and nothing is started, while other work is under way."""
        if self._running:
            return False
        self._running = True
        self._token = token = CancelToken()
        self.progress = Progress()

        def listen(progress: Progress) -> None:
            self.progress = progress

        def tell(end: End[Result]) -> None:
            self._running = False
            ended(end)

        def run() -> None:
            end = run_to_end(doing, lambda: work(listen, token))
            self._doorway.post(lambda: tell(end))

        self._thread = threading.Thread(target=run, name=f"twinspect {doing}", daemon=True)
        self._thread.start()
        return True

    def cancel(self) -> None:
        """Ask the work to stop; it does so between two small steps."""
        self._token.cancel()

    def join(self, seconds: float) -> bool:
        """Wait for the thread's end; False when it is still there."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()
