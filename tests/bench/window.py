"""The window, each time in a fresh process without a display: its first paint, and the gaps of its event loop."""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.folder import locate
from pipeline.index import index_library
from tests.bench.corpus import make_corpus, paragraph
from tests.bench.figures import Row, Target, alternating
from tests.bench.querying import write_library
from tests.support.encoder import WordEncoder

_ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_SECONDS = 240


def first_paint(place: Path, *, runs: int) -> list[Row]:
    """From the start of the process to the window's first frame, on a library that exists."""
    library = _library(place)
    _seconds_to("window", place, library)  # the first start after a change also compiles

    value, bare = alternating(
        runs,
        lambda _: _seconds_to("window", place, library) * 1000,
        lambda _: _seconds_to("bare", place, library) * 1000,
    )
    name = "process start to the window's first paint"
    against = f"a bare QMainWindow, median of {runs}"
    return [Row("window", name, value, "ms", bare, against, Target("value", "at most", 1000))]


def event_loop(place: Path, *, files: int, plain_files: int) -> list[Row]:
    """The longest gaps while the model loads, and while `files` are indexed, questions asked and a lane scrolled.
    Beside them, what the same timer sees in a bare window with as many busy processes, and with the plain pipeline in
    a thread."""
    corpus = make_corpus(place / "loop", files, per_file=1)
    few = make_corpus(place / "loop plain", plain_files, per_file=1)
    library = place / "loop library"
    ours = _report("gaps", place, library, corpus.folder)
    plain = _report("plain", place, library, few.folder)
    noise = _report("noise", place, library, corpus.folder)
    if ours["report"]["documents"] != corpus.files:
        raise AssertionError(f"the window indexed {ours['report']} of {corpus.files} files")
    target = Target("value", "at most", 50)
    against = f"plain pipeline in a thread of the window, {few.files} files"
    what = f"{corpus.files} files are indexed {ours['answers']} questions answered, a lane scrolled"
    rows = [
        Row("window", "longest gap while the model loads", ours["loading"], "ms", plain["loading"], against, target),
        Row("window", f"longest gap while {what}", ours["indexing"], "ms", plain["indexing"], against, target),
        Row("window", "  third longest of all gaps", ours["third"], "ms", noise["third"], "bare window, busy machine"),
        Row("window", "  longest of all gaps", ours["longest"], "ms", noise["longest"], "bare window, busy machine"),
        Row("window", "  most work of the window's thread itself in one turn", max(ours["most_worked"]), "ms"),
        Row("window", "  seconds of that indexing run", ours["report"]["seconds"], "s"),
    ]
    if ours["answer_ms"]:
        rows.append(Row("window", "  an answer while indexing, median", statistics.median(ours["answer_ms"]), "ms"))
    return rows


def first_answer(place: Path, *, runs: int, chunks: int) -> list[Row]:
    """From the start of the process to the answer of a question that was typed at once: on a small library, and on one
    of `chunks` chunks, whose first paint is measured too."""
    small, large, rows = _library(place), _large_library(place, chunks), []
    name = "process start to the first answer, the model loaded"
    _report("answer", place, small, place)  # the first start also compiles
    for library, what in ((small, ""), (large, f", {chunks:,} chunks")):
        seconds = [_seconds_to_answer(place, library) for _ in range(runs)]
        rows.append(Row("window", name + what, statistics.median(seconds), "s", target=Target("value", "at most", 2.5)))
    paints = [_seconds_to("window", place, large) * 1000 for _ in range(runs)]
    name = f"process start to the window's first paint, {chunks:,} chunks"
    rows.append(Row("window", name, statistics.median(paints), "ms", target=Target("value", "at most", 1000)))
    return rows


def crowded_lanes(place: Path, *, chunks: int, copies: int) -> list[Row]:
    """The window on an answer with `copies` raw rows of one text: painting while it is scrolled and pointed at, and a
    changed setting from the change to the end of the painting."""
    command = [sys.executable, "-m", "tests.bench.lanes_process", str(place / "lanes")]
    found = _said(place, [*command, "--chunks", str(chunks), "--copies", str(copies)])
    moving = found["scrolling"] + found["hovering"] + found["lighting"]
    what = f"{found['rows']:,} raw rows, {copies:,} of them copies of one text"
    frame, slow, change = (
        Target("value", "at most", 16),
        Target("value", "at most", 33),
        Target("value", "at most", 100),
    )
    changed = f"a changed setting asked and drawn, {chunks:,} chunks"
    return [
        _moment(f"scrolling and pointing, {what}", moving, 50, frame),
        _moment("  99th percentile", moving, 99, slow),
        *(_moment(f"  of which {name}", found[name], 50) for name in ("scrolling", "hovering", "lighting")),
        _moment(f"{changed}, {what}", found["changing"], 50, change),
        _moment("  another width, for which more is searched", found["widening"], 50),
        _moment(f"{changed}, {found['plain_rows']:,} raw rows", found["plain_changing"], 50, change),
    ]


def _moment(name: str, pairs: Sequence[Sequence[float]], percentile: int, target: Target | None = None) -> Row:
    """A percentile of (milliseconds, milliseconds of processor time): a busy machine changes the second little."""
    waited, worked = (
        sorted(column)[max(0, math.ceil(len(pairs) * percentile / 100) - 1)] for column in zip(*pairs, strict=True)
    )
    return Row("lanes", name, waited, "ms", worked, "the processor time in it", target)


def _library(place: Path) -> Path:
    """A library of the real model's name, made without it: only its size matters here."""
    model, encoder = locate(), WordEncoder(384)
    encoder.name, encoder.fingerprint = model.name, model.fingerprint
    library = place / "library"
    index_library(library, [make_corpus(place / "documents", 400).folder], encoder=encoder)
    return library


def _large_library(place: Path, chunks: int) -> Path:
    """A library of so many different texts with random vectors, as if the real model had made them."""
    model, encoder, words = locate(), WordEncoder(384), random.Random(7)
    encoder.name, encoder.fingerprint = model.name, model.fingerprint
    rows = np.random.default_rng(7).standard_normal((chunks, encoder.dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return write_library(place / "large", encoder, [paragraph(words) for _ in range(chunks)], rows, range(chunks))


# --- the processes ----------------------------------------------------------------------------------------------


def _environment(place: Path) -> dict[str, str]:
    """No display, nobody's own preferences and libraries, and compiled code kept, as it is where the program was
    installed."""
    home = str(place / "home")
    os.makedirs(home, exist_ok=True)
    named = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    own = {"QT_QPA_PLATFORM": "offscreen", "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(place / "code")}
    return os.environ | dict.fromkeys(named, home) | own


def _command(what: str, *paths: Path) -> list[str]:
    return [sys.executable, "-m", "tests.bench.window_process", what, *map(str, paths)]


def _seconds_to(what: str, place: Path, library: Path) -> float:
    """Until the process says that it has painted, which it does before it ends."""
    environment = _environment(place) | {"TWINSPECT_LIBRARY": str(library)}
    began = time.perf_counter()
    child = subprocess.Popen(_command(what), cwd=_ROOT, env=environment, stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child, child.stdout as said:
        line = said.readline()
        seconds = time.perf_counter() - began
    if line.strip() != b"painted" or child.returncode:
        raise RuntimeError(f"the window process {what} said {line!r} and ended with {child.returncode}")
    return seconds


def _seconds_to_answer(place: Path, library: Path) -> float:
    # By this process's clock: when a process began is known to the second only, counted from the start of the system.
    began = time.time()
    return float(_report("answer", place, library, place)["answered"]) - began


def _report(what: str, place: Path, library: Path, folder: Path) -> dict[str, Any]:
    return _said(place, _command(what, library, folder))


def _said(place: Path, command: list[str]) -> dict[str, Any]:
    """What the process prints: one JSON object."""
    done = subprocess.run(
        command,
        cwd=_ROOT,
        env=_environment(place),
        capture_output=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace")[-3000:]
        raise RuntimeError(f"the window process {command[2:4]} ended with {done.returncode}: {said}")
    return dict(json.loads(done.stdout))
