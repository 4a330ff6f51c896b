"""The reading process: `python -m pipeline.extract.worker`. Frames on standard input and output, nothing else.

The first frame says how to read, each later one names a file to read, or a page of one to draw. The process ends when
its input does, so it cannot outlive the program; where a file makes it hang, the program kills it, and an alarm does if
the program is gone.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import IO

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.reader import Reader, TokenCounter
from pipeline.extract.records import ReadDocument, ReadFailure, ReadLimits, in_units
from pipeline.extract.registry import Registry
from pipeline.extract.wire import Header, pack_picture, pack_result, unpack_path, unpack_wanted
from pipeline.frames import read_frame, write_frame

_ALARM_SLACK = 10  # seconds beyond the limit, within which the program should have acted


def main(registry: Registry | None = None) -> int:
    """Serve until the input ends; the exit code. `registry` replaces the built-in extractors."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # stopping is for the program to decide
    requests, replies = _take_over_pipes()
    frame = read_frame(requests)
    if frame is None:
        return 0
    limits = ReadLimits(**frame[0]["limits"])
    _limit_self(limits.memory_bytes if frame[0]["limit_memory"] else None)
    try:
        counter = TokenCounter(frame[0]["tokenizer"]) if frame[0]["tokenizer"] else None
    except ValueError as error:
        write_frame(replies, {"broken": f"the tokenizer {error}"})
        return 1
    reader = Reader(registry or Registry(), counter, frame[0]["token_limit"], limits)
    write_frame(replies, {"ready": True})
    _serve(reader, requests, replies)
    return 0


def _serve(reader: Reader, requests: IO[bytes], replies: IO[bytes]) -> None:
    waiting: queue.SimpleQueue[Header] = queue.SimpleQueue()
    # A thread of its own listens, so that the end of the input ends the process in the middle of a file too.
    threading.Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    while True:
        request = waiting.get()
        _set_alarm(int(reader.limits.seconds) + _ALARM_SLACK)
        if "picture" in request:
            header, body = _draw(reader, request)
        else:
            header, body = _answer(reader, unpack_path(request["path"]), unpack_path(request["rel_path"]))
        header["worn"] = _worn(reader.limits.memory_bytes)
        _set_alarm(0)
        write_frame(replies, header, body)


def _listen(requests: IO[bytes], waiting: queue.SimpleQueue[Header]) -> None:
    try:
        while (frame := read_frame(requests)) is not None:
            waiting.put(frame[0])
    except (OSError, ValueError):
        pass  # the program died in the middle of a request
    os._exit(0)


def _answer(reader: Reader, path: str, rel_path: str) -> tuple[Header, bytes]:
    try:
        result: ReadDocument | ReadFailure = reader.read(path, rel_path)
        return pack_result(result)
    except MemoryError:
        pass  # leave the handler first: its traceback holds what filled the memory
    reason = f"needed more than {in_units(reader.limits.memory_bytes)} of memory"
    header, body = pack_result(ReadFailure(rel_path, path, reason, why="too_much_memory"))
    return header | {"out_of_memory": True}, body


def _draw(reader: Reader, request: Header) -> tuple[Header, bytes]:
    from pipeline.extract.pdf_picture import draw_page  # most reading processes never draw

    try:
        wanted = unpack_wanted(request)
        return pack_picture(draw_page(reader.content(wanted.path), wanted))
    except ExtractionFailed as error:
        return {"failed": error.reason}, b""
    except MemoryError:
        pass  # leave the handler first, as above
    except Exception as error:  # a fault of the library costs this page only
        return {"failed": f"{type(error).__name__}: {error}"[:200]}, b""
    return {"failed": "memory", "out_of_memory": True}, b""


def _take_over_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Private handles on the two pipes; standard output becomes standard error, standard input is empty.

    So nothing that a library prints ends up among the frames. And on Windows a library that looks at standard input
    while a thread waits on it would block.
    """
    sys.stdout.flush()
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return requests, replies


def _limit_self(memory: int | None) -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not leave the file's text on the disk
        if memory is not None:
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _worn(limit: int) -> bool:
    """Whether a file has left this process so large that the next one might fail for it."""
    return _peak_memory() > limit // 2


def _peak_memory() -> int:
    """Bytes of memory that this process ever held; 0 where that cannot be read."""
    if sys.platform == "win32":
        return 0
    if sys.platform == "linux":
        # getrusage's figure is inherited from whoever started this process: a model's gigabyte, it may be.
        unreadable = suppress(OSError, ValueError, IndexError, StopIteration)
        with unreadable, open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _set_alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    sys.exit(main())
