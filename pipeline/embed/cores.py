"""How many processors the model may use at once, and how many texts keep them busy."""

from __future__ import annotations

import os
from functools import lru_cache

import psutil

_TEXTS_A_CORE = 4
_MOST = 16  # beyond it the memory's bandwidth, not the number of cores, is what small models wait for


def usable_cores() -> int:
    """Physical cores that this process may run on: two threads of one core share its one matrix unit."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed, _MOST))


@lru_cache(maxsize=1)
def texts_for_all_cores() -> int:
    """How many texts to ask of the model at a time: work for every core, and no more than a question that comes
    meanwhile can wait for."""
    return max(8, _TEXTS_A_CORE * usable_cores())
