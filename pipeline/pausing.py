"""No search for garbage while an answer is made."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pausing = 0
_was_on = False
_put_aside = 0
_WALKED_EVERY = 20  # times that something was put aside


@contextmanager
def no_collecting() -> Iterator[None]:
    """Records of thousands of candidates, of which none forms a ring, would set the collector off again and again over
    everything that the program holds: a third of the time of a crowded answer. It goes on when the last of those who
    paused it is done."""
    global _pausing, _was_on, _put_aside
    with _lock:
        if not _pausing:
            _was_on = gc.isenabled()
            gc.disable()
        _pausing += 1
    try:
        yield
    finally:
        with _lock:
            _pausing -= 1
            if not _pausing and _was_on:
                # What was made meanwhile joins the oldest generation as it is, else the collector would walk through
                # all of it as soon as it goes on: 6 to 21 of 140 ms of a crowded answer. Now and then it does, so that
                # rings that others made meanwhile do not pile up.
                _put_aside += 1
                if _put_aside % _WALKED_EVERY:
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
