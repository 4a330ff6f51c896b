"""One window in a process of its own, as the benchmarks need it.

    python -m tests.bench.window_process window              the program's window: says "painted" and ends
                                         bare                a bare window: the same
                                         gaps LIBRARY FOLDER [--trace]   load, index FOLDER, ask; the loop's gaps
                                         plain LIBRARY FOLDER            the plain pipeline in a thread of a bare window
                                         noise LIBRARY FOLDER            a bare window on a busy machine
                                         answer LIBRARY FOLDER           when the first answer was there

All but the first two print one JSON object. `--trace` tells on stderr what the window's thread did in long gaps.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.compose import Shell

TICK_MS = 5
TRACED_SECONDS = 0.015
ASK_EVERY_MS = 1_500
SCROLL_EVERY_MS = 60
NOISE_SECONDS = 6
SPINS = "while True: pass"


def main(arguments: list[str]) -> int:
    what, *paths = [argument for argument in arguments if argument != "--trace"]
    if what == "window":
        return _say_when_painted()
    if what == "bare":
        return _bare_paint()
    measure: dict[str, Callable[[Path, Path], dict[str, Any]]] = {
        "gaps": lambda library, folder: _gaps(library, folder, trace="--trace" in arguments),
        "plain": lambda library, folder: _plain(folder),
        "noise": lambda library, folder: _noise(),
        "answer": lambda library, folder: _answer(library),
    }
    print(json.dumps(measure[what](Path(paths[0]), Path(paths[1]))), flush=True)
    return 0


# --- the first paint --------------------------------------------------------------------------------------------


def _painted() -> None:
    sys.stdout.write("painted\n")
    sys.stdout.flush()
    os._exit(0)


def _say_when_painted() -> int:
    """The program as its users start it, with an ear at its window's first paint."""
    from app import __main__, qt_check

    check_first = qt_check.check_qt

    def check_qt(environment: Mapping[str, str] = os.environ) -> None:
        check_first(environment)
        from app import compose

        build = compose.compose

        def listening(*arguments: Any, **named: Any) -> Shell:
            shell = build(*arguments, **named)
            shell.window.firstPainted.connect(_painted)
            return shell

        compose.compose = listening

    qt_check.check_qt = check_qt
    return __main__.main([])


def _bare_paint() -> int:
    from PySide6.QtCore import QEvent, QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Bare(QMainWindow):
        def event(self, event: QEvent) -> bool:
            handled = super().event(event)
            if event.type() == QEvent.Type.Paint:
                QTimer.singleShot(0, self, _painted)
            return handled

    app = QApplication(sys.argv[:1])
    window = Bare()
    window.resize(1320, 860)
    window.show()
    return app.exec()


# --- the event loop ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Gaps:
    """How late a 5 ms timer was in the window's thread, by phase, and how long that thread itself had worked meanwhile:
    what it waits beyond that, other threads and programs take."""

    phase: str = "starting"
    late: list[tuple[str, float]] = field(default_factory=list)
    worked: list[tuple[str, float]] = field(default_factory=list)
    last: float = 0.0
    last_worked: float = 0.0

    def tick(self) -> None:
        now, worked = time.perf_counter(), time.thread_time()
        if self.last:
            self.late.append((self.phase, max(0.0, (now - self.last) * 1000 - TICK_MS)))
            self.worked.append((self.phase, (worked - self.last_worked) * 1000))
        self.last, self.last_worked = now, worked

    def begin(self, phase: str) -> None:
        """From here on lateness belongs to this phase; what is under way still belongs to the last one."""
        self.phase = phase

    def report(self) -> dict[str, Any]:
        ranked = sorted((late for _, late in self.late), reverse=True)
        found: dict[str, Any] = {}
        for phase in ("loading", "indexing"):
            found[phase] = max((late for of, late in self.late if of == phase), default=0.0)
            found[f"{phase}_worked"] = max((worked for of, worked in self.worked if of == phase), default=0.0)
        found["most_worked"] = sorted((worked for _, worked in self.worked), reverse=True)[:10]
        return found | {"longest": ranked[0], "third": ranked[2], "worst": ranked[:10], "ticks": len(ranked)}


def _timer(gaps: Gaps, parent: Any) -> Any:
    from PySide6.QtCore import Qt, QTimer

    timer = QTimer(parent)
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.setInterval(TICK_MS)
    timer.timeout.connect(gaps.tick)
    timer.start()
    return timer


def _gaps(library: Path, folder: Path, *, trace: bool) -> dict[str, Any]:
    """The real window: its model loads, then the folder is added, and questions are asked all the while."""
    from PySide6.QtCore import QTimer

    shell, app = _shell(library)
    session, gaps = shell.session, Gaps()
    asked: dict[str, float] = {}
    numbers = itertools.count()
    answer_ms: list[float] = []
    reports: list[Any] = []

    def painted() -> None:
        gaps.begin("loading")
        gaps.last = time.perf_counter()

    def model_changed(model: Any) -> None:
        if model.phase == "failed":
            raise SystemExit(f"the model failed: {model.problem}")
        if model.phase == "ready" and gaps.phase == "loading":
            gaps.begin("indexing")
            session.add_folders((folder,))
            asking.start()
            scrolling.start()
            QTimer.singleShot(ASK_EVERY_MS // 5, shell.window, ask)

    def ask() -> None:
        question = f"Who reviews record {next(numbers)} of the northern depot?"
        asked[question] = time.perf_counter()
        session.inquiry.ask(question)

    def answered(answer: Any) -> None:
        # Once a question: it is answered anew when the run has ended.
        began = asked.pop(answer.question, None) if answer.phase == "answered" else None
        if began is not None:
            answer_ms.append((time.perf_counter() - began) * 1000)

    def ended(work: Any) -> None:
        reports.append(work)
        asking.stop()
        scrolling.stop()
        QTimer.singleShot(1_000, shell.window, app.quit)

    def scroll() -> None:
        bar = shell.window.inspector.lanes.lists[0].verticalScrollBar()
        bar.setValue(bar.value() + bar.singleStep() if bar.value() < bar.maximum() else 0)

    scrolling = QTimer(shell.window)
    scrolling.setInterval(SCROLL_EVERY_MS)
    scrolling.timeout.connect(scroll)
    asking = QTimer(shell.window)
    asking.setInterval(ASK_EVERY_MS)
    asking.timeout.connect(ask)
    session.model_changed.connect(model_changed)
    session.inquiry.answer_changed.connect(answered)
    session.shelf.work_ended.connect(ended)
    shell.window.firstPainted.connect(painted)
    _begin_after_paint(shell, library)
    timer = _timer(gaps, shell.window)
    shell.window.show()
    with _traced(gaps) if trace else nullcontext():
        app.exec()
    timer.stop()
    shell.window.close()
    report = reports[-1].report
    if report is None:
        raise SystemExit(f"the indexing ended as {reports[-1].phase}: {reports[-1].problem}")
    facts = {"documents": report.documents, "embedded": report.embedded, "seconds": report.seconds}
    return gaps.report() | {"report": facts, "answers": len(answer_ms), "answer_ms": answer_ms}


def _plain(folder: Path) -> dict[str, Any]:
    """What is written first: the model and the indexing in a thread of the window's process."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    app, gaps = QApplication(sys.argv[:1]), Gaps()
    window = QMainWindow()
    done = threading.Event()

    def work() -> None:
        try:
            from tests.bench.plain import PlainPipeline, load_model

            pipeline = PlainPipeline(load_model())
            gaps.begin("indexing")
            pipeline.add_folder(folder)
        finally:
            done.set()

    def look() -> None:
        if done.is_set():
            app.quit()

    def painted() -> None:
        gaps.begin("loading")
        threading.Thread(target=work, daemon=True).start()

    watch = QTimer(window)
    watch.timeout.connect(look)
    watch.start(100)
    window.show()
    timer = _timer(gaps, window)
    QTimer.singleShot(200, window, painted)
    app.exec()
    timer.stop()
    return gaps.report()


def _noise() -> dict[str, Any]:
    """What this machine does to a window that does nothing while its processors are busy."""
    import subprocess

    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    app, gaps = QApplication(sys.argv[:1]), Gaps()
    window = QMainWindow()
    busy = [subprocess.Popen([sys.executable, "-c", SPINS]) for _ in range(os.cpu_count() or 1)]
    try:
        window.show()
        timer = _timer(gaps, window)
        QTimer.singleShot(NOISE_SECONDS * 1000, app, app.quit)
        app.exec()
        timer.stop()
    finally:
        for child in busy:
            child.kill()
            child.wait()
    return gaps.report()


def _answer(library: Path) -> dict[str, Any]:
    """A question that waits for the model, as one who starts the program and types at once sees it."""
    shell, app = _shell(library)
    session = shell.session
    answered: list[float] = []

    def changed(answer: Any) -> None:
        if answer.phase == "failed":
            raise SystemExit(f"the question failed: {answer.problem}")
        if answer.phase == "answered" and not answered:
            answered.append(time.time())
            app.quit()

    session.inquiry.answer_changed.connect(changed)
    _begin_after_paint(shell, library)
    shell.window.firstPainted.connect(lambda: session.inquiry.ask("Who signs the annual report?"))
    shell.window.show()
    app.exec()
    shell.window.close()
    return {"answered": answered[0]}


# --- parts ------------------------------------------------------------------------------------------------------


def _shell(library: Path) -> tuple[Shell, Any]:
    from app.compose import Places, compose, give_way_to_the_window, make_application, watch_for
    from app.jobs.backend import real_backend
    from app.preferences import Preferences

    give_way_to_the_window()
    app = make_application()
    preferences = Preferences(library.with_name("preferences.json"))
    watch = watch_for(app, preferences)
    places = Places(library.with_name("sample library"), library)
    return compose(watch, preferences, backend=real_backend(), places=places), app


def _begin_after_paint(shell: Shell, library: Path) -> None:
    from app.compose import start
    from pipeline.cli import OpenRequest

    start(shell, OpenRequest(library))


@contextmanager
def _traced(gaps: Gaps) -> Iterator[None]:
    """Tell where the window's thread is whenever the timer is long overdue."""
    main_thread, over = threading.main_thread().ident, threading.Event()

    def watch() -> None:
        told = 0.0
        while not over.wait(0.005):
            late = time.perf_counter() - gaps.last
            if gaps.last and late > TRACED_SECONDS and gaps.last != told:
                told = gaps.last
                frame = sys._current_frames().get(main_thread or 0)
                stack = "".join(traceback.format_stack(frame)[-8:])
                sys.stderr.write(f"--- {gaps.phase}: {late * 1000:.0f} ms and counting\n{stack}")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
