"""The history's jobs: written one after the other and none lost, read the latest first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.jobs.crew import Crew
from app.jobs.ends import End
from pipeline.errors import HistoryError

if TYPE_CHECKING:
    from pipeline.findings import HistoryEntry
    from pipeline.store.history import History

MOST_READ = 100_000  # entries that a list shows; the history keeps 10,000 beside the pinned ones


@dataclass(frozen=True, slots=True)
class Done:
    """How one piece of writing ended: with a value, or with why it could not be done."""

    value: Any = None
    error: HistoryError | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """The entries that match, and whether more can be kept."""

    entries: tuple[HistoryEntry, ...]
    writable: bool


@dataclass(frozen=True, slots=True)
class _Order:
    library: Path
    work: Callable[[History], Any]
    ended: Callable[[Done], None]


class HistoryJobs:
    """Every `ended` is called in the window's thread."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._orders: deque[_Order] = deque()

    def write(self, library: Path, work: Callable[[History], Any], ended: Callable[[Done], None]) -> None:
        """Change the history of this library, after what was ordered before."""
        self._orders.append(_Order(library, work, ended))
        # A request that a newer one overtakes is not run, so each takes all that there is to do.
        self._crew.look("keeping the history", self._work_off, self._worked_off)

    def read(self, library: Path, search: str, pinned_only: bool, ended: Callable[[End[Read]], None]) -> None:
        """The entries that match; a request that still waits ends as cancelled."""

        def work() -> Read:
            from pipeline.store.history import History, writable

            with closing(History(library)) as history:
                entries = history.entries(search, pinned_only=pinned_only, limit=MOST_READ)
            return Read(entries, writable(library) or not library.is_dir())

        self._crew.look("reading the history", work, ended)

    # --- in the thread ------------------------------------------------------------------------------------------

    def _work_off(self) -> list[tuple[_Order, Done]]:
        from pipeline.store.history import History

        done = []
        while self._orders:
            order = self._orders.popleft()
            with closing(History(order.library)) as history:
                try:
                    done.append((order, Done(order.work(history))))
                except HistoryError as error:
                    done.append((order, Done(error=error)))
        return done

    def _worked_off(self, end: End[list[tuple[_Order, Done]]]) -> None:
        if end.how == "failed":
            raise RuntimeError("the history could not be written") from end.error
        for order, done in end.value or ():
            order.ended(done)
