"""How long work tells where it is, and how it is told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Progress:
    """One snapshot of an indexing run.

    `done` and `total` count files that were looked at, out of those that the scan found (`total` is 0 while the
    scan still runs); `embedded` counts texts that got a new vector; `seconds` is the time since the run began.
    """

    stage: str = "scanning"  # scanning, reading, finishing
    done: int = 0
    total: int = 0
    current: str = ""
    embedded: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Files per second so far; 0.0 before anything is done."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Expected seconds to the end, None while that cannot be said."""
        if not self.done or not self.total or self.rate <= 0:
            return None
        return max(0.0, (self.total - self.done) / self.rate)


ProgressListener = Callable[[Progress], None]


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
