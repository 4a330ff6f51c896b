"""How many processors the model may use at once."""

from __future__ import annotations

import os

import psutil

_MOST = 16  # beyond it the memory's bandwidth, not the number of cores, is what small models wait for


def usable_cores() -> int:
    """Physical cores that this process may run on: two threads of one core share its one matrix unit."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed, _MOST))
