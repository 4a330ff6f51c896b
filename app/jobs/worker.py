"""A thread that answers requests, the latest first and the overtaken never."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from app.jobs.doorway import Doorway
from app.jobs.ends import End, cancelled, run_to_end

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class LatestWins(Generic[Request, Answer]):
    """One thread with a queue of one: a request that waits when a newer one comes ends as cancelled.

    `work` runs in the thread and may keep what it opened there; `leave`, too, runs in that thread, last, and closes
    it. The thread starts with the first request.
    """

    def __init__(
        self,
        doing: str,
        doorway: Doorway,
        work: Callable[[Request], Answer],
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        self._doing = doing
        self._doorway = doorway
        self._work = work
        self._leave = leave
        self._turn = threading.Condition()
        self._waiting: tuple[Request, Callable[[End[Answer]], None]] | None = None
        self._closing = False
        self._thread: threading.Thread | None = None

    def submit(self, request: Request, ended: Callable[[End[Answer]], None]) -> None:
        """Answer this request next; `ended` is called once, in the doorway's thread."""
        with self._turn:
            if self._closing:
                return
            overtaken, self._waiting = self._waiting, (request, ended)
            if self._thread is None:
                # A daemon: should native code ever hang, the process still ends; `join` is the regular way.
                self._thread = threading.Thread(target=self._run, name=f"twinspect {self._doing}", daemon=True)
                self._thread.start()
            self._turn.notify()
        if overtaken is not None:
            late = overtaken[1]
            self._doorway.post(lambda: late(cancelled()))

    def close(self) -> None:
        """Take nothing more; the request under way is the last. Returns at once."""
        with self._turn:
            self._closing = True
            self._waiting = None
            self._turn.notify()

    def join(self, seconds: float) -> bool:
        """Wait for the thread's end; False when it is still there."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._turn:
                while self._waiting is None and not self._closing:
                    self._turn.wait()
                if self._waiting is None:
                    break
                (request, ended), self._waiting = self._waiting, None
            self._post(ended, run_to_end(self._doing, partial(self._work, request)))
        run_to_end(f"closing {self._doing}", self._leave)

    def _post(self, ended: Callable[[End[Answer]], None], end: End[Answer]) -> None:
        self._doorway.post(lambda: ended(end))
