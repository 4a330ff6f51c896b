"""The thread that watches the folders of the open library, if the user wants that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from app.jobs.doorway import Doorway
from app.jobs.ends import End, run_to_end


class Watching:
    """Watches one set of folders at a time, and tells in the window's thread which files changed."""

    def __init__(self, doorway: Doorway) -> None:
        self._doorway = doorway
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def running(self) -> bool:
        return self._thread is not None and not self._stop.is_set()

    def start(
        self,
        folders: Sequence[Path],
        library: Path,
        told: Callable[[tuple[Path, ...]], None],
        ended: Callable[[End[None]], None],
    ) -> None:
        """Watch these folders, but for the library's own, in place of those before. `told` gets files and folders that
        changed, `ended` why the watching came to its end by itself."""
        self.stop()
        self._stop = stop = threading.Event()

        def changed(places: Sequence[Path]) -> None:
            held = tuple(places)
            self._doorway.post(lambda: None if stop.is_set() else told(held))

        def watch() -> None:
            from pipeline.watching import watch

            watch(folders, changed, stop, ignore=[library])

        def run() -> None:
            end = run_to_end("watching folders", watch)
            if not stop.is_set():
                self._doorway.post(lambda: ended(end))

        self._thread = threading.Thread(target=run, name="twinspect watching", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch nothing any more; nothing more is told."""
        self._stop.set()

    def join(self, seconds: float) -> bool:
        """Wait for the thread's end; False when it is still there."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()
