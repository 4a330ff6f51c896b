"""Whatever moment an indexing process is killed at, the next run makes its library as good as a fresh one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.bench.kills import kill_at_random


@pytest.mark.skipif(os.name != "posix", reason="kills with a signal")
def test_a_killed_run_leaves_nothing_lost_and_nothing_double(tmp_path: Path) -> None:
    tally = kill_at_random(tmp_path, 8, seed=3, files=40, steps=15)
    assert tally.during >= 4, str(tally)
    assert tally.compared >= 3
