"""What this machine can do at best: the bounds that stand beside the figures."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

from pipeline.embed.cores import usable_cores

_BYTES = 256 * 2**20  # more than any cache holds
_SIDE = 1536
_TRIES = 5

# all-MiniLM-L6-v2: 6 layers of 4 matrices 384 x 384 and 2 of 384 x 1536, and the attention over the text's own tokens.
_LAYERS, _HIDDEN, _INNER = 6, 384, 1536


@lru_cache(maxsize=1)
def bytes_a_second() -> float:
    """How fast all processors together read memory: the best of some sums over more than the caches hold."""
    parts = np.array_split(np.ones(_BYTES // 8, np.uint64), usable_cores())
    with ThreadPoolExecutor(len(parts)) as pool:
        return _BYTES / _least(lambda: list(pool.map(np.sum, parts)))


@lru_cache(maxsize=1)
def flops_a_second() -> float:
    """Single-precision operations a second of a matrix product as large as the processors like it."""
    one = np.random.default_rng(1).standard_normal((_SIDE, _SIDE)).astype(np.float32)
    return 2 * _SIDE**3 / _least(lambda: one @ one)


def model_flops(tokens: int) -> float:
    """Operations that all-MiniLM-L6-v2 takes for a text of so many tokens."""
    a_token = 2 * (4 * _HIDDEN**2 + 2 * _HIDDEN * _INNER) + 4 * _HIDDEN * tokens
    return float(_LAYERS * tokens * a_token)


def _least(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)
