"""The program's side of one reading process: start it, ask it, and end it when it takes too much."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from mmap import PAGESIZE
from typing import IO, Any, Literal

from pipeline.extract.errors import ExtractionFailed, ReaderUnavailable
from pipeline.extract.records import PagePicture, PageWanted, ReadDocument, ReadFailure, ReadLimits, in_units
from pipeline.extract.wire import pack_limits, pack_path, pack_wanted, unpack_picture, unpack_result
from pipeline.frames import read_frame, start_child, write_frame
from pipeline.scan import FileEntry

# macOS accepts the limit and does not keep it; Windows has none. There the program looks at the memory from outside.
KERNEL_LIMITS_MEMORY = sys.platform.startswith(("linux", "freebsd"))
_NEAR_LIMIT = 0.67  # share of the memory limit beyond which a crash counts as having run into it
_START_SECONDS = 60.0  # far beyond any start, even from a slow disk
_KEPT_OF_STDERR = 2000  # bytes, the last ones
_MEMORY_SIGNS = (b"memory allocation of", b"MemoryError", b"bad_alloc", b"out of memory", b"Out of memory")

# One thread a process: there are as many processes as processors, and threads reserve address space.
_ENVIRONMENT = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}

Loss = Literal["time", "memory", "crash", "stopped"]


class ChildLost(Exception):
    """The process is gone before it answered, and why."""

    def __init__(self, loss: Loss, reason: str) -> None:
        super().__init__(reason)
        self.loss, self.reason = loss, reason


class Child:
    """One reading process. One thread asks; `enforce` and `kill` may be called from any."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        tokenizer_file: str | None,
        token_limit: int | None,
        limits: ReadLimits,
        behind: bool = False,
    ) -> None:
        """`behind`: see `start_child`."""
        self.served = 0
        self._limits = limits
        self._poll_memory = not KERNEL_LIMITS_MEMORY
        self._lock = threading.Lock()
        self._deadline: float | None = None
        self._killed_for: Loss | None = None
        self._ready = False
        self._reserved = 0  # most address space seen, where the kernel limits it
        self._complaints = bytearray()
        self._setup = {
            "limits": pack_limits(limits),
            "limit_memory": KERNEL_LIMITS_MEMORY,
            "tokenizer": tokenizer_file,
            "token_limit": token_limit,
        }
        try:
            self._process = start_child(command, environment=_ENVIRONMENT, stderr=subprocess.PIPE, behind=behind)
        except OSError as error:
            raise ReaderUnavailable(f"the reading process cannot be started: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._listener = threading.Thread(target=self._listen, args=(self._process.stderr,), daemon=True)
        self._listener.start()

    def wait_ready(self) -> None:
        """Until the process can be asked. Raises `ReaderUnavailable` when it cannot, `ChildLost` when stopped."""
        header = self._exchange(self._setup, _START_SECONDS)
        if header is not None and "ready" in header[0]:
            self._ready = True
            return
        lost = self._lost()
        if lost.loss == "stopped":
            raise lost
        said = self._complaints.decode("utf-8", "replace").strip().rpartition("\n")[2]
        broken = str(header[0].get("broken", "")) if header is not None else ""
        raise ReaderUnavailable(f"the reading process does not start: {broken or said or lost.reason}")

    def ask(self, entry: FileEntry) -> ReadDocument | ReadFailure:
        """Read one file. Raises `ChildLost`; the process is then of no more use."""
        request = {"path": pack_path(entry.path), "rel_path": pack_path(entry.rel_path)}
        frame = self._exchange(request, self._limits.seconds)
        if frame is None:
            raise self._lost()
        header, body = frame
        self.served += 1
        try:
            result = unpack_result(header, body, entry.path, entry.rel_path)
            worn = bool(header["worn"])
        except (ValueError, KeyError, TypeError):
            self.kill("crash")
            raise self._lost() from None
        if header.get("out_of_memory"):
            self.kill("memory")
            raise self._lost()
        if worn:
            self.kill("stopped")
        return result

    def draw(self, wanted: PageWanted) -> PagePicture:
        """Draw one page. Raises `ExtractionFailed` when that cannot be done, and `ChildLost` as `ask` does."""
        frame = self._exchange(pack_wanted(wanted), self._limits.seconds)
        if frame is None:
            raise self._lost()
        header, body = frame
        if header.get("out_of_memory"):
            self.kill("memory")
            raise self._lost()
        if "failed" in header:
            raise ExtractionFailed(str(header["failed"]))
        try:
            return unpack_picture(header, body)
        except (ValueError, KeyError, TypeError):
            self.kill("crash")
            raise self._lost() from None

    @property
    def usable(self) -> bool:
        """Whether it can be asked again."""
        return self._killed_for is None

    @property
    def idle(self) -> bool:
        """Whether it is ready and waits to be asked."""
        with self._lock:
            return self._ready and self._deadline is None and self._killed_for is None

    def enforce(self, now: float) -> None:
        """Kill the process if it is over a limit. `now` is `time.monotonic()`."""
        with self._lock:
            busy, late = self._deadline is not None, self._deadline is not None and now > self._deadline
        if late:
            self.kill("time")
        elif busy and self._poll_memory:
            if _memory_of(self._process.pid) > self._limits.memory_bytes:
                self.kill("memory")
        elif busy:
            self._reserved = max(self._reserved, _reserved_by(self._process.pid))

    def kill(self, loss: Loss = "stopped") -> None:
        """End the process at once. Whoever waits for its answer gets `ChildLost`."""
        with self._lock:
            self._killed_for = self._killed_for or loss
        with suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """Kill it and free everything. Only when nobody asks any more."""
        self.kill()
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):  # what was not sent any more
                    stream.close()

    def _exchange(self, request: dict[str, Any], seconds: float) -> tuple[dict[str, Any], bytes] | None:
        """The reply, None when there is none."""
        with self._lock:
            self._deadline = time.monotonic() + seconds
        try:
            write_frame(self._requests, request)
            return read_frame(self._replies)
        except (OSError, ValueError, MemoryError):  # cut short, or no frame at all
            return None
        finally:
            with self._lock:
                self._deadline = None

    def _lost(self) -> ChildLost:
        code = self._end()
        memory = f"needed more than {in_units(self._limits.memory_bytes)} of memory"
        if self._killed_for == "time":
            return ChildLost("time", f"took longer than {self._limits.seconds:g} s")
        if self._killed_for == "memory":
            return ChildLost("memory", memory)
        if self._killed_for == "stopped":
            return ChildLost("stopped", "stopped")
        # Libraries that are refused memory mostly abort, some with a word about it.
        if self._reserved > _NEAR_LIMIT * self._limits.memory_bytes or any(
            s in self._complaints for s in _MEMORY_SIGNS
        ):
            return ChildLost("memory", memory)
        if sys.platform != "win32" and code == -signal.SIGKILL and self._killed_for is None:
            return ChildLost("memory", "the system ended the reader: too little memory")
        return ChildLost("crash", "the reader crashed" + _named(code))

    def _end(self) -> int:
        """Wait for the end of a process that is ending or must."""
        try:
            code = self._process.wait(0.5)
        except subprocess.TimeoutExpired:  # it closed its output, or sent nonsense, and runs on
            self._process.kill()
            code = self._process.wait()
        self._listener.join(1.0)
        return code

    def _listen(self, stream: IO[bytes]) -> None:
        # Always drained, or a chatty library would fill the pipe and block.
        with suppress(OSError, ValueError):
            while block := os.read(stream.fileno(), 4096):
                self._complaints += block
                del self._complaints[:-_KEPT_OF_STDERR]


def _named(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            return f" ({signal.Signals(-code).name})"
    return ""


def _reserved_by(pid: int) -> int:
    """Bytes of address space, what the kernel's limit is about; 0 where that cannot be read."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[0]) * PAGESIZE
    except (OSError, ValueError, IndexError):
        return 0


def _memory_of(pid: int) -> int:
    """Bytes that a process holds, 0 when it is gone."""
    import psutil  # only where the system keeps no limit itself

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
