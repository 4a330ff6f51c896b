"""The program's side of drawing pages: one reading process, kept while pages are being looked at."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from pipeline.extract.child import Child, ChildLost
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import MEGABYTE, PagePicture, PageWanted, ReadLimits
from pipeline.frames import module_command

# A page is looked at by somebody who waits: what takes longer is not worth waiting for.
LIMITS = ReadLimits(seconds=8.0, memory_bytes=1024 * MEGABYTE, max_bytes=200 * MEGABYTE)
_LOOK_SECONDS = 0.1


class PagePictures:
    """Draws pages one after the other. `close` may be called from any thread, and frees one who waits for a page."""

    def __init__(self, command: Sequence[str] | None = None, limits: ReadLimits = LIMITS) -> None:
        self._command = command or module_command("pipeline.extract.worker")
        self._limits = limits
        self._child: Child | None = None
        self._lock = threading.Lock()
        self._closed = False

    def draw(self, wanted: PageWanted) -> PagePicture:
        """Raises `ExtractionFailed` with the reason when the page cannot be drawn within the limits, and
        `ReaderUnavailable` when no process can be started."""
        child = self._ready_child()
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(child, done), name="page limits", daemon=True)
        watch.start()
        try:
            return child.draw(wanted)
        except ChildLost as lost:
            self._drop(child)
            raise ExtractionFailed(f"drawing it {lost.reason}") from None
        finally:
            done.set()
            watch.join()
            if not child.usable:
                self._drop(child)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._closed = True
            child = self._child
        if child is not None:
            child.kill()

    def leave(self) -> None:
        """Free what is left, once nobody draws any more."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _ready_child(self) -> Child:
        if self._child is not None:
            return self._child
        child = Child(self._command, tokenizer_file=None, token_limit=None, limits=self._limits)
        with self._lock:
            self._child = child
            closed = self._closed
        if closed:
            child.kill()
        try:
            child.wait_ready()
        except ChildLost as lost:
            self._drop(child)
            raise ExtractionFailed(lost.reason) from None
        except BaseException:
            self._drop(child)
            raise
        return child

    def _drop(self, child: Child) -> None:
        with self._lock:
            if self._child is child:
                self._child = None
        child.close()

    @staticmethod
    def _watch(child: Child, done: threading.Event) -> None:
        while not done.wait(_LOOK_SECONDS):
            child.enforce(time.monotonic())
