"""Measure against a plain pipeline, print one table, write `tests/bench/results.json`.

    python -m tests.bench [--quick] [--only NAME]... [--runs N] [--chunks N] [--query-chunks N] [--many-chunks N]
                          [--files N]

Ratios are medians of alternating runs on the same machine at the same time, so a busy machine changes the seconds
more than the ratios. A missed target is printed as missed and leaves the exit code at 0; a benchmark that
fails makes it 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench import duplicates, growth, kinds, memory, reading, window
from tests.bench.figures import Row, table
from tests.bench.machine import heading, machine
from tests.bench.models import Models, settle

RESULTS = Path(__file__).parent / "results.json"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    chunks: int
    runs: int
    query_chunks: int
    questions: int
    files: int
    plain_files: int
    paints: int
    unchanged_files: int
    characters: int
    many_chunks: int
    versions: int
    embedded: int
    written: int
    vectors: tuple[int, ...]
    passages: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    grown: int = 20_000
    kind_paragraphs: int = 600
    written_chunks: int = 100_000


FULL = Sizes(160, 5, 10_000, 80, 500, 60, 7, 20_000, 2_000_000, 100_000, 640, 64, 8_000, (10_000, 100_000, 1_000_000))
QUICK = Sizes(40, 1, 2_000, 10, 30, 10, 1, 300, 200_000, 20_000, 80, 16, 800, (10_000, 30_000), (2_000,))
NOT_QUICK = ("memory", "growth", "many-chunks", "answer", "query-large", "planted")


Bench = Callable[[Path, Sizes, Models], list[Row]]


def benches() -> dict[str, Bench]:
    """By the name that `--only` takes."""
    from tests.bench import embedding, indexing, opening, querying, searching, writing

    return {
        "paint": lambda place, sizes, models: window.first_paint(place, runs=sizes.paints),
        "answer": lambda place, sizes, models: window.first_answer(place, runs=3, chunks=sizes.many_chunks),
        "loop": lambda place, sizes, models: window.event_loop(place, files=sizes.files, plain_files=sizes.plain_files),
        "lanes": lambda place, sizes, models: window.crowded_lanes(
            place, chunks=sizes.query_chunks, copies=sizes.query_chunks // 5
        ),
        "memory": lambda place, sizes, models: memory.memory(place, chunks=sizes.chunks),
        "reading": lambda place, sizes, models: reading.read(place, characters=sizes.characters, runs=sizes.runs),
        "kinds": lambda place, sizes, models: kinds.kinds(paragraphs=sizes.kind_paragraphs, runs=sizes.runs),
        "growth": lambda place, sizes, models: growth.growth(place, files=sizes.grown),
        "many-chunks": lambda place, sizes, models: growth.many_chunks(place, chunks=sizes.written_chunks),
        "planted": lambda place, sizes, models: duplicates.planted_here(),
        "duplicates": lambda place, sizes, models: duplicates.scale(place, sizes.passages),
        "unchanged": lambda place, sizes, models: indexing.index_unchanged(
            place, files=sizes.unchanged_files, runs=sizes.runs
        ),
        "indexing": lambda place, sizes, models: indexing.index_copies(
            place, models.encoder, models.plain, chunks=sizes.chunks, runs=sizes.runs
        ),
        "versions": lambda place, sizes, models: indexing.index_copies(
            place,
            models.encoder,
            models.plain,
            chunks=sizes.versions,
            runs=sizes.runs,
            copies=0.85,
            target=indexing.AN_EIGHTH,
        ),
        "embedding": lambda place, sizes, models: embedding.embed(
            models.encoder, models.plain, texts=sizes.embedded, runs=sizes.runs
        ),
        "writing": lambda place, sizes, models: writing.write(place, chunks=sizes.written, runs=sizes.runs),
        "search": lambda place, sizes, models: searching.search(place, sizes=sizes.vectors),
        "opening": lambda place, sizes, models: opening.opening(place, chunks=max(sizes.vectors)),
        "query": lambda place, sizes, models: querying.query(
            place, models.encoder, models.plain, chunks=sizes.query_chunks, questions=sizes.questions
        ),
        "query-large": lambda place, sizes, models: querying.query(
            place, models.encoder, models.plain, chunks=sizes.many_chunks, questions=sizes.questions // 4
        ),
    }


def main(argv: Sequence[str]) -> int:
    options = _parser().parse_args(argv)
    settle()
    sizes = _sizes(options)
    every = benches()
    chosen = options.only or [name for name in every if not (options.quick and name in NOT_QUICK)]
    facts, rows, models, began = machine(), [], Models(), time.perf_counter()
    facts["model_runs_in"] = getattr(models.encoder, "runtime", "torch")
    failed: dict[str, str] = {}
    for name in chosen:
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        try:
            with tempfile.TemporaryDirectory(prefix="twinspect-bench-") as place:
                rows += every[name](Path(place), sizes, models)
        except Exception as error:  # the others are worth having
            failed[name] = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - began
    print(heading(facts))
    print(table(rows))
    skipped = [name for name in every if name not in chosen]
    missed = [row.name.strip() for row in rows if row.met is False]
    print(f"{seconds:.0f} s." + (f" Not measured: {', '.join(skipped)}." if skipped else ""))
    print("Missed: " + "; ".join(missed) if missed else "Every target that was measured is met.")
    for name, reason in failed.items():
        print(f"Failed: {name}: {reason}")
    _write(options.results, facts, sizes, rows, [*skipped, *failed], seconds)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure against a plain pipeline.")
    parser.add_argument("--quick", action="store_true", help="small sizes and single runs, in a minute or two")
    parser.add_argument("--only", action="append", choices=list(benches()), help="this benchmark (may be repeated)")
    parser.add_argument("--chunks", type=int, help="chunks to index")
    parser.add_argument("--query-chunks", type=int, help="chunks to ask among")
    parser.add_argument("--many-chunks", type=int, help="chunks to ask among once more (a million take ten minutes)")
    parser.add_argument("--files", type=int, help="files that the window indexes")
    parser.add_argument("--runs", type=int, help="alternating runs of each side")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures are written as JSON")
    return parser


def _sizes(options: argparse.Namespace) -> Sizes:
    from dataclasses import replace

    given = {name: getattr(options, name) for name in ("chunks", "query_chunks", "many_chunks", "files", "runs")}
    return replace(QUICK if options.quick else FULL, **{name: value for name, value in given.items() if value})


def _write(
    file: Path, facts: dict[str, Any], sizes: Sizes, rows: Sequence[Row], skipped: Sequence[str], seconds: float
) -> None:
    content = {
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": facts,
        "sizes": {name: getattr(sizes, name) for name in Sizes.__slots__},
        "seconds": round(seconds, 1),
        "not_measured": list(skipped),
        "rows": [row.as_json() for row in rows],
    }
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
