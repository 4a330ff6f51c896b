"""Threads: every job ends as exactly one of done, failed, cancelled, in the window's thread."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Signal, Slot
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.jobs.backend import Thoroughness, real_backend
from app.jobs.crew import Ask, Crew, LoadModel
from app.jobs.doorway import Doorway
from app.jobs.ends import End
from app.jobs.worker import LatestWins
from app.jobs.writing import Writing
from pipeline.errors import ModelError, QueryError
from pipeline.progress import CancelToken, Progress
from pipeline.settings import resolve
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def doorway(qapp: QApplication) -> Doorway:
    return Doorway()


def test_the_doorway_keeps_order_and_thread(doorway: Doorway, wait: Wait) -> None:
    seen: list[tuple[int, int]] = []

    def post(start: int) -> None:
        for number in range(start, start + 200):
            doorway.post(lambda number=number: seen.append((number, threading.get_ident())))

    thread = threading.Thread(target=post, args=(0,))
    thread.start()
    thread.join()
    assert not seen  # nothing is called in the posting thread
    wait(lambda: len(seen) == 200)
    assert [number for number, _ in seen] == list(range(200))
    assert {ident for _, ident in seen} == {threading.get_ident()}


def test_each_call_has_a_turn_of_the_event_loop_to_itself(doorway: Doorway, wait: Wait) -> None:
    """What one call changes is laid out and painted before the next one comes."""
    seen: list[str] = []
    posted = QObject()
    posted.event = lambda event: bool(seen.append("what the first left to do")) or True  # type: ignore[method-assign]

    def first() -> None:
        seen.append("first")
        QCoreApplication.postEvent(posted, QEvent(QEvent.Type.User))

    doorway.post(first)
    doorway.post(lambda: seen.append("second"))
    wait(lambda: len(seen) == 3)
    assert seen == ["first", "what the first left to do", "second"]


def test_a_call_that_fails_holds_up_none_behind_it(doorway: Doorway, wait: Wait, qtbot: QtBot) -> None:
    seen: list[int] = []
    with qtbot.captureExceptions() as raised:
        doorway.post(lambda: seen.append(1 // 0))
        doorway.post(lambda: seen.append(2))
        wait(lambda: seen)
    assert seen == [2]
    assert [kind for kind, _, _ in raised] == [ZeroDivisionError]


def test_a_closed_doorway_lets_nothing_in(doorway: Doorway, qapp: QApplication) -> None:
    seen: list[int] = []
    doorway.post(lambda: seen.append(1))
    doorway.close()
    doorway.post(lambda: seen.append(2))
    qapp.processEvents()
    assert not seen


def test_ten_thousand_flags_through_a_signal(qapp: QApplication) -> None:
    """PySide6 6.12.0 loses a reference to True with every emit, until the process aborts."""

    class Sender(QObject):
        flagged = Signal(bool)

    class Receiver(QObject):
        count = 0

        @Slot(bool)
        def take(self, flag: bool) -> None:
            self.count += flag

    sender, receiver = Sender(), Receiver()
    sender.flagged.connect(receiver.take)
    for _ in range(10_000):
        sender.flagged.emit(True)
    assert receiver.count == 10_000


def test_an_overtaken_request_ends_as_cancelled(doorway: Doorway, wait: Wait) -> None:
    gate, began = threading.Event(), threading.Event()

    def work(number: int) -> int:
        began.set()
        assert gate.wait(10)
        return number * 2

    worker: LatestWins[int, int] = LatestWins("doubling", doorway, work)
    ends: dict[int, list[End[int]]] = {number: [] for number in range(4)}
    worker.submit(0, ends[0].append)
    assert began.wait(10)
    for number in (1, 2, 3):
        worker.submit(number, ends[number].append)
    gate.set()
    wait(lambda: all(ends.values()))
    assert [ends[number][0].how for number in range(4)] == ["done", "cancelled", "cancelled", "done"]
    assert (ends[0][0].value, ends[3][0].value) == (0, 6)
    assert all(len(ended) == 1 for ended in ends.values())
    worker.close()
    assert worker.join(5)


def test_a_worker_lives_on_after_failures(doorway: Doorway, wait: Wait, caplog: pytest.LogCaptureFixture) -> None:
    def work(kind: str) -> str:
        if kind == "expected":
            raise QueryError("no such document")
        if kind == "unexpected":
            raise ZeroDivisionError("by zero")
        return kind

    left: list[int] = []
    worker: LatestWins[str, str] = LatestWins("working", doorway, work, lambda: left.append(threading.get_ident()))
    ends: list[End[str]] = []
    for at, kind in enumerate(("expected", "unexpected", "fine"), start=1):
        worker.submit(kind, ends.append)
        wait(lambda at=at: len(ends) == at)
    assert [end.how for end in ends] == ["failed", "failed", "done"]
    assert isinstance(ends[0].error, QueryError)
    assert not ends[0].details  # said in words, nothing to copy
    assert "ZeroDivisionError: by zero" in ends[1].details
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    worker.close()
    assert worker.join(5)
    assert left
    assert left[0] != threading.get_ident()  # what the thread opened is closed by the thread


def test_writing_is_one_at_a_time_and_can_be_cancelled(doorway: Doorway, wait: Wait) -> None:
    writing = Writing(doorway)
    ends: list[End[int]] = []
    began = threading.Event()

    def work(listen: Callable[[Progress], None], token: CancelToken) -> int:
        began.set()
        for done in range(100_000):
            token.check()
            listen(Progress("reading", done, 100_000))
            time.sleep(0.001)
        return 1

    assert writing.start("writing", work, ends.append)
    assert not writing.start("writing", work, ends.append)
    assert began.wait(5)
    wait(lambda: writing.progress.done > 3)
    asked = time.monotonic()
    writing.cancel()
    wait(lambda: ends)
    assert time.monotonic() - asked < 1
    assert ends[0].how == "cancelled"
    assert not writing.running
    assert writing.start("again", lambda listen, token: 7, ends.append)
    wait(lambda: len(ends) == 2)
    assert ends[1].value == 7


def test_closing_frees_whoever_waits_for_the_model(shells: ShellMaker, wait: Wait) -> None:
    """The model is still loading, an encoding hangs, an index run is under way: all end within two seconds."""
    crew = Crew(dataclasses.replace(real_backend(), make_encoder=lambda source: shells.model))
    ends: list[End[object]] = []
    crew.load_model(LoadModel(None), ends.append)
    wait(lambda: ends)
    assert ends[0].how == "done"
    shells.model.let_encode.clear()
    library = shells.library()
    crew.ask(Ask(library, "raft", resolve()), ends.append)
    crew.index(shells.folder / "other", (shells.documents(),), Thoroughness(), ends.append)
    assert shells.model.asked.wait(10)
    before = time.monotonic()
    assert crew.close()
    assert time.monotonic() - before < 2
    assert shells.model.closed
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("twinspect")]
    assert len(ends) == 1  # nobody is told anything after the close


def test_a_model_that_cannot_be_loaded_can_be_started_again(shells: ShellMaker, wait: Wait) -> None:
    crew = Crew(dataclasses.replace(real_backend(), make_encoder=lambda source: shells.model))
    ends: list[End[object]] = []
    shells.model.fails = "the weights are damaged"
    crew.load_model(LoadModel(None), ends.append)
    wait(lambda: ends)
    assert ends[0].how == "failed"
    assert isinstance(ends[0].error, ModelError)
    shells.model.fails = ""
    crew.load_model(LoadModel(None, anew=True), ends.append)
    wait(lambda: len(ends) == 2)
    assert ends[1].how == "done"
    assert crew.close()
