"""Peak memory of an indexing run as a whole: fresh processes, the model's loading included."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from tests.bench.corpus import make_corpus
from tests.bench.figures import Row

_LOOK_SECONDS = 0.02
_ROOT = Path(__file__).resolve().parents[2]


def memory(place: Path, *, chunks: int) -> list[Row]:
    """`twinspect index` and the plain pipeline, once each."""
    corpus = make_corpus(place / "memory", chunks)
    python, library = sys.executable, str(place / "library memory")
    ours = peak([python, "-m", "pipeline", "index", str(corpus.folder), "--library", library])
    plain = peak([python, "-m", "tests.bench.plain", str(corpus.folder)])
    what, against = f"{corpus.paragraphs} chunks", "plain pipeline, a fresh process each"
    return [
        Row("memory", f"peak memory with child processes, indexing {what}", ours[0], "MB", plain[0], against),
        Row("memory", "  seconds of that run, loading of the model included", ours[1], "s", plain[1], against),
    ]


def peak(command: Sequence[str], look: Callable[[], None] = lambda: None) -> tuple[float, float]:
    """Megabytes resident at the worst moment, summed over the process and its children (so that a page that two of
    them share counts twice), and the seconds from start to end. `look` is called many times a second meanwhile."""
    began = time.perf_counter()
    child = subprocess.Popen(
        list(command), cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ)
    )
    worst, ended = 0.0, threading.Event()

    def watch() -> None:
        nonlocal worst
        with suppress(psutil.Error):
            process = psutil.Process(child.pid)
            while not ended.wait(_LOOK_SECONDS):
                worst = max(worst, sum(_resident(one) for one in (process, *process.children(recursive=True))))
                look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, errors = child.communicate()
    seconds = time.perf_counter() - began
    ended.set()
    watcher.join()
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)}: {errors.decode(errors='replace')[-2000:]}")
    return worst / 1e6, seconds


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it has just ended
        return 0
