"""Work that nobody waits for steps back: the window, answers and other programs get a processor first."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

_STEPS = 10  # as `nice` counts


def step_back(process: int) -> None:
    """This child process, which was started just now. On Windows its start says so, see `start_child`."""
    if os.name == "posix":
        _lower(process)


def step_back_thread() -> None:
    """The calling thread and those that it will start, where threads have a priority of their own: on Linux."""
    if sys.platform == "linux":
        _lower(threading.get_native_id())


def _lower(who: int) -> None:
    with suppress(OSError):  # no more than a courtesy
        os.setpriority(os.PRIO_PROCESS, who, min(19, os.getpriority(os.PRIO_PROCESS, 0) + _STEPS))
