"""A reading process that also knows files made to hurt it: `python -m tests.support.hostile_worker`."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

from pipeline.extract.records import Extracted, Source
from pipeline.extract.registry import Extractor, Registry
from pipeline.extract.worker import main

_HELD: list[bytearray] = []


def _hang(source: Source) -> Extracted:
    while True:
        time.sleep(1)


def _slow(source: Source) -> Extracted:
    time.sleep(float(source.data))
    return Extracted("slow", f"waited {source.data.decode()} seconds")


def _leave(source: Source) -> Extracted:
    os._exit(3)


def _fault(source: Source) -> Extracted:
    ctypes.string_at(1)
    raise AssertionError("that address cannot be read")


def _abort(source: Source) -> Extracted:
    signal.raise_signal(signal.SIGABRT)
    raise AssertionError("aborted")


def _eat(source: Source) -> Extracted:
    while True:
        block = bytearray(16 * 1024 * 1024)
        block[::4096] = b"x" * len(block[::4096])
        _HELD.append(block)


def _poison(source: Source) -> Extracted:
    """Reads well, and leaves the process so that the next file crashes it."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(4))
    _HELD.append(bytearray(1))
    return Extracted("poison", "harmless")


def _victim(source: Source) -> Extracted:
    if _HELD:
        os._exit(4)
    return Extracted("victim", "read in a fresh process")


def _chatty(source: Source) -> Extracted:
    print("this must not end up among the frames")
    os.write(1, b"nor this, from below\n" * 20_000)
    sys.stderr.write("and stderr is drained\n" * 20_000)
    return Extracted("chatty", "it talked a lot")


def _fail(source: Source) -> Extracted:
    raise LookupError("a fault of the extractor")


def _swell(source: Source) -> Extracted:
    """Reads well, with a lot of memory that it gives back."""
    len(bytearray(200 * 1024 * 1024).replace(b"\0", b"x"))
    return _pid(source)


def _pid(source: Source) -> Extracted:
    return Extracted("pid", str(os.getpid()))


_HOSTILE = {
    "hang": _hang, "slow": _slow, "leave": _leave, "fault": _fault, "abort": _abort, "eat": _eat, "poison": _poison,
    "victim": _victim, "chatty": _chatty, "fail": _fail, "pid": _pid, "swell": _swell,
}  # fmt: skip


def hostile_registry() -> Registry:
    """The usual extractors and one of each bad kind, by suffix."""
    extra = [Extractor(name, frozenset({f".{name}"}), extract) for name, extract in _HOSTILE.items()]
    return Registry([*Registry().extractors, *extra])


if __name__ == "__main__":
    sys.exit(main(hostile_registry()))
