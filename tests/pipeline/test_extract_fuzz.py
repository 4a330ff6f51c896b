"""A small run of the fuzzing in tests/bench: no fault, and every file with a state."""

from __future__ import annotations

from pathlib import Path

from tests.bench.fuzz_extract import mutants, run


def test_damaged_files_cost_themselves_only(tmp_path: Path) -> None:
    outcome = run(tmp_path / "files", 220, seed=20)
    assert outcome.faults == []
    assert sum(outcome.states.values()) == outcome.files == 220
    assert min(outcome.states["indexed"], outcome.states["failed"]) > 20


def test_the_same_seed_gives_the_same_files() -> None:
    assert list(mutants(60, 3)) == list(mutants(60, 3))
