"""The window on a crowded answer, in a process of its own without a display: prints one JSON object.

    python -m tests.bench.lanes_process FOLDER [--chunks N] [--copies N] [--profile]

A library of N chunks, of which one text is held `--copies` times, is made in FOLDER and asked for that text. Every
figure is a pair: milliseconds from what the user does to the end of the painting that it causes, and milliseconds of
processor time that went into it, which a busy machine changes little. The painting is asked for at once instead of
with the screen's next frame, so that no waiting is measured.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import random
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.support.encoder import WordEncoder

if TYPE_CHECKING:
    from app.compose import Shell

SIZE = (1600, 1000)
STEPS = 400
PATIENCE_SECONDS = 60.0
Changes = tuple[tuple[str, tuple[int | str, ...]], ...]
# Forth and back, as somebody does who tries what a setting does.
CHANGES: Changes = (
    ("return-n", (4, 6, 3, 8, 5)),
    ("max-chunks-per-document", (1, 3, 2)),
    ("max-total-chars", (3_000, 9_000, 6_000)),
    ("max-items", (2, 4, 5)),
    ("policy", ("source", "evidence", "plain", "evidence")),
)
WIDTHS: Changes = (("retrieve-k", (10, 30, 15, 25, 20)),)


class LocalWords(WordEncoder):
    """The small encoder with the remote one's way of living."""

    def start(self) -> None:
        pass

    def close(self) -> None:
        pass


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.lanes_process")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--copies", type=int, default=2_000)
    parser.add_argument("--profile", action="store_true", help="tell on stderr where the time of changed settings goes")
    options = parser.parse_args(arguments)
    encoder = LocalWords(384)
    library, question = make_crowd(options.folder, encoder, options.chunks, options.copies)
    shell = _shell(options.folder, library, encoder)
    _answered(shell, lambda: shell.session.inquiry.ask(question))
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    found: dict[str, Any] = {"rows": len(trace.candidates), "blocks": len(trace.evidence)}
    found["scrolling"] = _scrolling(shell)
    found["hovering"] = _hovering(shell)
    found["lighting"] = _lighting(shell)
    profile = cProfile.Profile() if options.profile else None
    with profile or nullcontext():
        found["changing"] = _changing(shell, CHANGES)
    if profile is not None:
        import pstats

        pstats.Stats(profile, stream=sys.stderr).sort_stats("cumulative").print_stats(60)
    found["widening"] = _changing(shell, WIDTHS)
    _answered(shell, lambda: shell.session.inquiry.ask("Which depot keeps the annual record of the northern supplier?"))
    alone = shell.session.inquiry.answer.trace
    assert alone is not None
    found["plain_rows"] = len(alone.candidates)
    found["plain_changing"] = _changing(shell, CHANGES)
    shell.window.close()
    print(json.dumps(found), flush=True)
    return 0


def make_crowd(folder: Path, encoder: WordEncoder, chunks: int, copies: int) -> tuple[Path, str]:
    """A library of this many chunks, one text of them `copies` times, and a question that finds it first."""
    from tests.bench.corpus import paragraph
    from tests.bench.querying import write_library

    words = random.Random(7)
    texts = [paragraph(words) for _ in range(chunks - copies + 1)]
    order = np.random.default_rng(7).permutation(
        np.concatenate([np.arange(len(texts)), np.zeros(copies - 1, np.int64)])
    )
    rows = np.concatenate([encoder.encode(texts[start : start + 500]) for start in range(0, len(texts), 500)])
    return write_library(folder, encoder, texts, rows, order.tolist()), texts[0][:200]


def _shell(folder: Path, library: Path, encoder: LocalWords) -> Shell:
    from dataclasses import replace

    from app.compose import Places, compose, make_application, start, watch_for
    from app.jobs.backend import real_backend
    from app.preferences import Preferences
    from pipeline.cli import OpenRequest

    app = make_application()
    preferences = Preferences(folder / "preferences.json")
    backend = replace(real_backend(), make_encoder=lambda source: encoder)
    shell = compose(watch_for(app, preferences), preferences, backend=backend, places=Places(folder / "s", library))
    shell.window.resize(*SIZE)
    start(shell, OpenRequest(library))
    shell.window.show()
    _until(lambda: shell.session.model.phase == "ready" and bool(shell.session.shelf.library.documents))
    return shell


def _until(so: Callable[[], bool]) -> None:
    from PySide6.QtCore import QCoreApplication

    deadline = time.perf_counter() + PATIENCE_SECONDS
    while not so():
        QCoreApplication.processEvents()
        if time.perf_counter() > deadline:
            raise SystemExit("the window did not come to rest")


def _paint(shell: Shell) -> None:
    """Everything that is due in the window's thread, and the painting of what has changed."""
    from PySide6.QtCore import QCoreApplication, QEvent

    QCoreApplication.processEvents()
    QCoreApplication.sendEvent(shell.window, QEvent(QEvent.Type.UpdateRequest))


Pair = tuple[float, float]


def _timed(act: Callable[[], object]) -> Pair:
    began, worked = time.perf_counter(), time.process_time()
    act()
    return (time.perf_counter() - began) * 1000, (time.process_time() - worked) * 1000


def _frame(shell: Shell, act: Callable[[], object]) -> Pair:
    def paint() -> None:
        act()
        _paint(shell)

    return _timed(paint)


def _answered(shell: Shell, act: Callable[[], object]) -> None:
    """Act, and wait for the answer in the event loop, as a window does; then paint it."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop, answered = QEventLoop(), shell.session.inquiry.answered
    link = answered.connect(lambda *answer: loop.exit(0))
    QTimer.singleShot(round(PATIENCE_SECONDS * 1000), loop, lambda: loop.exit(1))
    act()
    if loop.exec():
        raise SystemExit("no answer came")
    answered.disconnect(link)
    _paint(shell)


def _scrolling(shell: Shell) -> list[Pair]:
    """Steps of the wheel down the raw rows, and leaps of its bar."""
    lane = shell.window.inspector.lanes.lists[0]
    bar = lane.verticalScrollBar()
    found = [_frame(shell, lambda: bar.setValue(bar.value() + 3 * bar.singleStep())) for _ in range(STEPS)]
    leaps = np.random.default_rng(3).integers(0, bar.maximum(), STEPS // 4).tolist()
    return found + [_frame(shell, lambda value=value: bar.setValue(value)) for value in leaps]


def _hovering(shell: Shell) -> list[Pair]:
    """The pointer over one row after another: the row under it changes its ground."""
    from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    lane = shell.window.inspector.lanes.lists[0]
    view, height = lane.viewport(), lane.viewport().height()
    none = Qt.MouseButton.NoButton

    def move(y: int) -> None:
        at = QPoint(60, y)
        where = QPointF(view.mapToGlobal(at))
        QApplication.sendEvent(
            view, QMouseEvent(QEvent.Type.MouseMove, QPointF(at), where, none, none, Qt.KeyboardModifier.NoModifier)
        )

    return [_frame(shell, lambda step=step: move(step * 61 % height)) for step in range(STEPS)]


def _lighting(shell: Shell) -> list[Pair]:
    """What the pointer rests on lights up in all lanes with its twins and files: 2,000 rows belong to it, or not."""
    lane = shell.window.inspector.lanes.lists[0]
    targets = [lane.target_at(row) for row, _ in lane.visible_rows()]
    last = lane.target_at(lane.model().rowCount() - 1)
    found = []
    for step in range(STEPS // 2):
        target = targets[step % len(targets)] if step % 2 else last
        found.append(_frame(shell, lambda target=target: shell.focus.hover(target)))
    shell.focus.hover(None)
    return found


def _changing(shell: Shell, changes: Changes) -> list[Pair]:
    """A setting is changed: asked again on the vector at hand, and drawn."""
    inquiry, found = shell.session.inquiry, []
    for key, values in changes:
        for value in values:
            change = partial(inquiry.change_setting, key, value)
            found.append(_timed(partial(_answered, shell, change)))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
