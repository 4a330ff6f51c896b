"""Several reading processes behind one iterator: files in, documents out, with back-pressure."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType

from pipeline.errors import Cancelled
from pipeline.extract.child import Child, ChildLost
from pipeline.extract.records import ReadDocument, ReadFailure, ReadLimits
from pipeline.frames import module_command
from pipeline.progress import CancelToken
from pipeline.scan import FileEntry

Result = ReadDocument | ReadFailure

WORKER = "pipeline.extract.worker"

_AHEAD = 64  # files under way or read and not yet taken; small files must not leave the processes idle
_AHEAD_CHARS = 32_000_000  # of text read and not yet taken: the processes wait beyond that
# A process takes as long to start as to read a third of so many bytes of small files: one more for every so many, and
# where those that there are have brought nothing for a while.
_WORTH_A_PROCESS = 1_000_000
_WHILE_SECONDS = 0.25
_FED_PER_RESULT = 2  # so that what is ready is handed out while `entries` comes slowly
_WATCH_SECONDS = 0.05
_WHY = {"time": "too_slow", "memory": "too_much_memory", "crash": "crashed"}
_STOP_SECONDS = 0.8


def default_workers() -> int:
    """One process per processor that we may use: the program itself mostly waits, and the model takes turns."""
    if sys.platform == "linux":
        return max(1, len(os.sched_getaffinity(0)))  # what a container gives us, not what the machine has
    return max(1, os.cpu_count() or 1)


class ReaderPool:
    """Reads files in child processes. A context manager; `read` is used from one thread, one call at a time.

    A file that hangs its process, crashes it or fills its memory costs that file a `ReadFailure` and the process its
    life; the others go on meanwhile. Processes start with the files, no more of them than there is work for, and stay
    for the next `read`. `command` replaces the child's command line; `behind` says that they step back where processors
    are short.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        tokenizer_file: str | None = None,
        token_limit: int | None = None,
        limits: ReadLimits | None = None,
        cancel: CancelToken | None = None,
        command: Sequence[str] | None = None,
        behind: bool = True,
    ) -> None:
        if workers is not None and workers < 1:
            raise ValueError("a pool needs at least one worker")
        self.workers = workers or default_workers()
        self.limits = limits or ReadLimits()
        self.cancel = cancel
        self._tokenizer_file, self._token_limit = tokenizer_file, token_limit
        self._command = list(command or module_command(WORKER))
        self._behind = behind
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._run: _Run | None = None

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, entries: Iterable[FileEntry]) -> Iterator[tuple[FileEntry, Result]]:
        """Each entry once with what became of it, in order of completion. `entries` is iterated in the calling thread,
        a few files ahead.

        Raises `Cancelled` within a moment of the token being set (the processes are killed at once, even while the
        caller does something else), and `ReaderUnavailable` when the processes do not start.
        """
        if self._run is not None:
            raise RuntimeError("this pool is reading already")
        self._run = run = _Run(self)
        try:
            yield from run.results(entries)
        finally:
            run.stop()
            self._run = None

    def close(self) -> None:
        """Kill every process, also those in the middle of a file. Harmless when called again."""
        if self._run is not None:
            self._run.stop()
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()

    def take_child(self) -> Child | None:
        """An idle process, None when there is none."""
        with self._lock:
            return self._idle.pop() if self._idle else None

    @property
    def has_idle(self) -> bool:
        with self._lock:
            return bool(self._idle)

    def give_back(self, child: Child) -> None:
        with self._lock:
            self._idle.append(child)

    def new_child(self) -> Child:
        """A process that is starting. Raises `ReaderUnavailable`."""
        return Child(
            self._command,
            tokenizer_file=self._tokenizer_file,
            token_limit=self._token_limit,
            limits=self.limits,
            behind=self._behind,
        )


class _Stopped(Exception):
    """Nobody wants the results any more."""


class _Run:
    """One `read`: threads that each drive one process, a watchdog, and what they hand to the caller's thread."""

    def __init__(self, pool: ReaderPool) -> None:
        self._pool = pool
        self._tasks: queue.SimpleQueue[FileEntry | None] = queue.SimpleQueue()
        self._changed = threading.Condition()
        # All below is guarded by `_changed`.
        self._done: deque[tuple[FileEntry, Result]] = deque()
        self._done_chars = 0
        self._children: set[Child] = set()
        self._error: BaseException | None = None
        self._stopped = False
        self._brought = time.monotonic()  # when something was delivered last
        self._threads: list[threading.Thread] = []
        self._bytes = 0  # of all files that were fed
        # The caller's thread only.
        self._under_way = 0
        self._watchdog: threading.Thread | None = None
        self._ended = threading.Event()

    # --- the caller's thread ---

    def results(self, entries: Iterable[FileEntry]) -> Iterator[tuple[FileEntry, Result]]:
        source = iter(entries)
        exhausted = False
        while True:
            fed = 0
            while not exhausted and self._under_way < _AHEAD and (fed < _FED_PER_RESULT or not self._done):
                self._check()
                entry = next(source, None)
                if entry is None:
                    exhausted = True
                else:
                    self._feed(entry)
                    fed += 1
            if not self._under_way:
                self._check()
                return
            result = self._take()
            self._under_way -= 1
            yield result

    def stop(self) -> None:
        """End all threads, and the processes that are in the middle of a file."""
        with self._changed:
            self._stopped = True
            children = list(self._children)
            self._changed.notify_all()
        for child in children:
            if not child.idle:  # idle ones may serve the next run
                child.kill()
        for _ in self._threads:
            self._tasks.put(None)
        # A process that waits for a dead network drive cannot even be killed: do not wait for that.
        until = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._ended.set()
        if self._watchdog is not None:
            self._watchdog.join()
        self._threads, self._watchdog = [], None

    def _feed(self, entry: FileEntry) -> None:
        self._tasks.put(entry)
        self._under_way += 1
        with self._changed:
            self._bytes += entry.size
            self._grow()
        if self._watchdog is None:
            self._watchdog = threading.Thread(target=self._watch, name="reader watchdog", daemon=True)
            self._watchdog.start()

    def _grow(self) -> None:
        """One more process, or one that is there already, where it is worth it. Needs `_changed`."""
        count = len(self._threads)
        if self._stopped or count >= min(self._pool.workers, self._under_way - len(self._done)):
            return
        late = time.monotonic() - self._brought > _WHILE_SECONDS
        if late or self._bytes >= count * _WORTH_A_PROCESS or self._pool.has_idle:
            self._brought = time.monotonic()
            thread = threading.Thread(target=_Driver(self._pool, self).work, name="reader", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _take(self) -> tuple[FileEntry, Result]:
        with self._changed:
            while True:
                self._check()
                if self._done:
                    entry, result = self._done.popleft()
                    self._done_chars -= _chars(result)
                    self._changed.notify_all()
                    return entry, result
                self._changed.wait(_WATCH_SECONDS)

    def _check(self) -> None:
        if self._cancelled:
            raise Cancelled()
        if self._error is not None:
            raise self._error
        if self._stopped:  # closed by another thread
            raise Cancelled("the reading was stopped")

    @property
    def _cancelled(self) -> bool:
        return self._pool.cancel is not None and self._pool.cancel.cancelled

    # --- the watchdog's thread ---

    def _watch(self) -> None:
        while not self._ended.wait(_WATCH_SECONDS):
            with self._changed:
                children = list(self._children)
                if self._cancelled:
                    self._stopped = True
                    self._changed.notify_all()
                self._grow()  # whatever the caller does meanwhile
            for child in children:
                if not self._stopped:
                    child.enforce(time.monotonic())
                elif not child.idle:
                    child.kill()

    # --- the drivers' threads ---

    def next_task(self) -> FileEntry | None:
        """The next file to read, None when there will be no more."""
        entry = self._tasks.get()
        return None if self._stopped else entry

    def adopt(self, child: Child) -> None:
        """Let the watchdog see to a process from now on. Raises `_Stopped` when it is too late to begin."""
        with self._changed:
            self._children.add(child)
            if self._stopped:
                raise _Stopped

    def release(self, child: Child) -> None:
        with self._changed:
            self._children.discard(child)

    def deliver(self, entry: FileEntry, result: Result) -> None:
        """Hand a result to the caller, waiting while too much text is waiting already."""
        chars = _chars(result)
        with self._changed:
            while self._done and self._done_chars + chars > _AHEAD_CHARS and not self._stopped:
                self._changed.wait()
            self._done.append((entry, result))
            self._done_chars += chars
            self._brought = time.monotonic()
            self._changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """Hand an error to the caller that is no file's fault."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()


class _Driver:
    """One thread's part in a run: it asks one process at a time and replaces it when it is lost."""

    def __init__(self, pool: ReaderPool, run: _Run) -> None:
        self._pool, self._run = pool, run
        self._child: Child | None = None

    def work(self) -> None:
        try:
            while (entry := self._run.next_task()) is not None:
                self._run.deliver(entry, self._read(entry))
        except _Stopped:
            pass
        except BaseException as error:
            self._run.fail(error)
        finally:
            self._let_go(keep=True)

    def _read(self, entry: FileEntry) -> Result:
        """What became of the file. A process that falls over what an earlier file left behind is not this file's
        fault, so it gets a second chance in a new one."""
        while True:
            child = self._ready_child()
            seasoned = child.served > 0
            try:
                result = child.ask(entry)
            except ChildLost as lost:
                self._let_go(keep=False)
                if lost.loss == "stopped":
                    raise _Stopped from lost
                if seasoned and lost.loss != "time":
                    continue
                return ReadFailure(entry.rel_path, entry.path, lost.reason, why=_WHY[lost.loss])
            if not child.usable:
                self._let_go(keep=False)
            return result

    def _ready_child(self) -> Child:
        if self._child is None:
            idle = self._pool.take_child()
            self._child = idle or self._pool.new_child()
            self._run.adopt(self._child)
            if idle is None:
                try:
                    self._child.wait_ready()
                except ChildLost as lost:
                    raise _Stopped from lost
        return self._child

    def _let_go(self, *, keep: bool) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        self._run.release(child)
        if keep and child.idle:
            self._pool.give_back(child)
        else:
            child.close()


def _chars(result: Result) -> int:
    return len(result.text) if isinstance(result, ReadDocument) else 0
