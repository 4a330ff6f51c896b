"""What copies do to the answers from a folder that holds two versions of one manual: plain top-5 against evidence.

    python -m tests.bench.two_versions FOLDER [--library DIR] [--json FILE]

The folder (two versions of React Native's manual) is indexed with the real model, which takes some minutes the first
time; `--library` keeps the library for the next time. Then every question of `two_versions.toml` is asked.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.index import index_library
from pipeline.progress import Progress
from pipeline.query import QueryEngine
from pipeline.settings import resolve
from tests.bench.models import Models, settle

QUESTIONS = Path(__file__).with_name("two_versions.toml")
PLACES = 5


@dataclass(frozen=True, slots=True)
class Before:
    """The plain top 5: how many places repeat an earlier text, different texts, files that the reader is told of."""

    places: int
    copies: int
    texts: int
    files: int
    answered: bool


@dataclass(frozen=True, slots=True)
class After:
    """The evidence: different texts, files that are cited, and whether a page that answers is among them."""

    texts: int
    files: int
    candidates: int
    answered: bool


@dataclass(frozen=True, slots=True)
class Answer:
    question: str
    before: Before
    after: After


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.two_versions", description="Two versions of a manual.")
    parser.add_argument("folder", type=Path, help="the folder that holds both versions")
    parser.add_argument("--library", type=Path, help="where the library is kept (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="twinspect-two-versions-") as aside:
        answers = ask_all(options.folder, options.library or Path(aside))
    print(table(answers))
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(answer) for answer in answers], indent=1) + "\n", "utf-8")
    return 0


def ask_all(folder: Path, library: Path) -> list[Answer]:
    """Bring the library up to date, then ask every question."""
    settle()
    encoder = Models().encoder
    report = index_library(library, [folder], encoder=encoder, progress=_tell)
    shared = 1 - report.texts / report.chunks
    print(
        f"{report.documents} documents, {report.chunks:,} chunks, {report.texts:,} different texts "
        f"({shared:.0%} copies); {report.embedded:,} embedded now, {report.seconds:.0f} s"
    )
    engine = QueryEngine(library, encoder)
    try:
        entries = tomllib.loads(QUESTIONS.read_text("utf-8"))["question"]
        return [_ask(engine, entry["text"], entry["pages"]) for entry in entries]
    finally:
        engine.close()


def _ask(engine: QueryEngine, question: str, pages: Collection[str]) -> Answer:
    plain = engine.ask(question, resolve().with_flags({"policy": "plain", "return-n": PLACES}))
    evidence = engine.ask(question, resolve().with_flags({"return-n": PLACES}))
    texts = {block.fold_key for block in plain.evidence}
    told = {path for block in plain.evidence for path in block.source_paths}
    cited = {path for block in evidence.evidence for path in block.source_paths}
    return Answer(
        question,
        Before(len(plain.evidence), len(plain.evidence) - len(texts), len(texts), len(told), _answers(told, pages)),
        After(
            len({block.fold_key for block in evidence.evidence}),
            len(cited),
            len(evidence.candidates),
            _answers(cited, pages),
        ),
    )


def _answers(paths: Collection[str], pages: Collection[str]) -> bool:
    return any(Path(path).stem in pages for path in paths)


def table(answers: Sequence[Answer]) -> str:
    """A line a question, and the total."""
    lines = [
        f"{'':66}  {'plain top-5':^22}   {'evidence':^15}",
        f"{'question':66}  copies texts files page   texts files page",
    ]
    for answer in answers:
        before, after = answer.before, answer.after
        lines.append(
            f"{answer.question[:66]:66}  {before.copies / before.places:5.0%} {before.texts:5} {before.files:5} "
            f"{_mark(before.answered)}   {after.texts:5} {after.files:5} {_mark(after.answered)}"
        )
    places = sum(answer.before.places for answer in answers)
    copies = sum(answer.before.copies for answer in answers)
    lines.append(
        f"{f'all {len(answers)}':66}  {copies / places:5.0%} {sum(a.before.texts for a in answers):5} "
        f"{sum(a.before.files for a in answers):5} {sum(a.before.answered for a in answers):4}   "
        f"{sum(a.after.texts for a in answers):5} {sum(a.after.files for a in answers):5} "
        f"{sum(a.after.answered for a in answers):4}"
    )
    return "\n".join(lines)


def _mark(found: bool) -> str:
    return " yes" if found else "  no"


def _tell(progress: Progress) -> None:
    sys.stderr.write(f"\r{progress.stage}: {progress.done} of {progress.total} files, {progress.embedded} embedded ")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
