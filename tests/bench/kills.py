"""An indexing process is killed at random moments, started again, and its library compared with a fresh one.

`python -m tests.bench.kills --kills 200` says how many kills met a running index, and stops at the first difference.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.index import index_library
from tests.support.encoder import WordEncoder
from tests.support.life import Life, answers, documents, faults

_ROOT = Path(__file__).resolve().parents[2]
_DELAY = 0.004  # seconds a text


@dataclass(slots=True)
class Tally:
    """What the kills met. `during` were killed while indexing, `after` had come to their end."""

    during: int = 0
    after: int = 0
    compared: int = 0
    moments: list[float] = field(default_factory=list)  # seconds from the beginning of the run

    def __str__(self) -> str:
        spread = f", {min(self.moments):.2f} to {max(self.moments):.2f} s into the run" if self.moments else ""
        return (
            f"{self.during + self.after} kills, {self.during} of a running index{spread}; {self.compared} comparisons "
            "with a fresh library, no difference"
        )


def kill_at_random(place: Path, kills: int, seed: int, *, files: int = 60, steps: int = 25) -> Tally:
    """Raises AssertionError at the first difference between the library and a fresh one."""
    chance, tally = random.Random(seed), Tally()
    root, library = place / "docs", place / "library"
    root.mkdir(parents=True)
    life = Life(root, chance)
    for _ in range(files):
        life.step()
    lasted = 1.0
    for number in range(kills):
        for _ in range(chance.randint(steps // 2, steps * 2)):
            life.step()
        lasted = _run_and_kill(library, root, chance.uniform(0.0, 1.15), lasted, tally)
        if chance.random() < 0.25:
            continue  # changed and killed again before it is put right
        _compare(place, library, root, number, chance.randrange(1 << 30))
        tally.compared += 1
    return tally


def _run_and_kill(library: Path, root: Path, share: float, lasted: float, tally: Tally) -> float:
    """Kill a run after this share of how long runs last; how long they are taken to last from now on."""
    command = [sys.executable, "-m", "tests.support.slow_index", str(library), str(root), str(_DELAY)]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        if child.stdout.readline() != "begun\n":
            raise AssertionError("the indexing process did not begin")
        began = time.perf_counter()
        try:
            child.wait(share * lasted)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        seconds = time.perf_counter() - began
        rest = child.stdout.read()
    if child.returncode not in (0, -signal.SIGKILL):
        raise AssertionError(f"the indexing process failed with {child.returncode}")
    if rest:
        tally.after += 1
        return seconds if child.returncode == 0 else lasted * 0.9
    tally.during += 1
    tally.moments.append(seconds)
    return max(lasted, seconds) * 1.02  # it would have taken longer


def _compare(place: Path, library: Path, root: Path, number: int, seed: int) -> None:
    index_library(library, [root], encoder=WordEncoder(64))
    with tempfile.TemporaryDirectory(dir=place) as fresh_place:
        fresh = Path(fresh_place) / "library"
        index_library(fresh, [root], encoder=WordEncoder(64))
        assert faults(library) == [], f"after kill {number}"
        assert documents(library) == documents(fresh), f"after kill {number}"
        ours, theirs = (answers(one, WordEncoder(64), random.Random(seed)) for one in (library, fresh))
        assert ours == theirs, f"after kill {number}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--place", type=Path, help="an empty folder to work in (default: a temporary one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        print(kill_at_random(Path(place), options.kills, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
