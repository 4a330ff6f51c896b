"""The collector rests while an answer is made, and goes on afterwards whatever happened."""

from __future__ import annotations

import gc
import threading

import pytest

from pipeline.pausing import no_collecting


def test_it_goes_on_when_the_last_is_done() -> None:
    assert gc.isenabled()
    with no_collecting():
        with no_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_a_failure() -> None:
    with pytest.raises(KeyError), no_collecting():
        raise KeyError
    assert gc.isenabled()


def test_one_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with no_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_threads_pause_it_together() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with no_collecting():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with no_collecting():
        thread.start()
        assert inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join(10)
    assert gc.isenabled()
