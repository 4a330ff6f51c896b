"""How long work tells where it is, and how it is told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Progress:
    """One snapshot of an indexing run.

    `done` and `total` count files that were looked at, out of those that the scan found (`total` is 0 while the
    scan still runs, and `found` says how far it is), `unread` those of them that needed no reading; `embedded` counts
    texts that got a new vector; `seconds` is the time since the run began; `saved` is the share of the file of
    vectors that is written, at the end of a run that has to write it.
    """

    stage: str = "scanning"  # scanning, reading, finishing
    done: int = 0
    total: int = 0
    current: str = ""
    embedded: int = 0
    failed: int = 0
    seconds: float = 0.0
    found: int = 0
    unread: int = 0
    saved: float = 0.0

    @property
    def rate(self) -> float:
        """Files read per second so far; 0.0 before any is."""
        return max(0, self.done - self.unread) / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Expected seconds to the end, None while that cannot be said."""
        if not self.done or not self.total or self.rate <= 0:
            return None
        return max(0.0, (self.total - self.done) / self.rate)


ProgressListener = Callable[[Progress], None]


class ProgressTeller:
    """Keeps where a run is, and tells its listener at most ten times a second."""

    def __init__(self, listener: ProgressListener | None, began: float) -> None:
        """`began` is a `time.perf_counter()`."""
        self.progress = Progress()
        self._listener, self._began, self._told = listener, began, 0.0

    def tell(
        self,
        *,
        force: bool = False,
        stage: str | None = None,
        advance: int = 0,
        total: int | None = None,
        found: int | None = None,
        current: str | None = None,
        embedded: int = 0,
        failed: int | None = None,
        unread: int | None = None,
        saved: float | None = None,
    ) -> None:
        """Note what changed; `advance` and `embedded` are added."""
        now, before = time.perf_counter(), self.progress
        self.progress = Progress(
            stage or before.stage,
            before.done + advance,
            before.total if total is None else total,
            before.current if current is None else current,
            before.embedded + embedded,
            before.failed if failed is None else failed,
            now - self._began,
            before.found if found is None else found,
            before.unread if unread is None else unread,
            before.saved if saved is None else saved,
        )
        if self._listener is not None and (force or now - self._told >= 0.1):
            self._told = now
            self._listener(self.progress)


class CancelToken:
    """Set from any thread; the work looks at it between small steps."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if somebody asked to stop."""
        if self._event.is_set():
            raise Cancelled()
