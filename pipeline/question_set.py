"""A list of questions, read from a file and asked in one go: a row of figures each."""

from __future__ import annotations

import csv
import io
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pipeline.errors import QueryError, QuestionSetError, SettingError
from pipeline.export.table import Cell, csv_text
from pipeline.figures import figures_of
from pipeline.findings import MOST_QUESTIONS, SetQuestion, SetRow
from pipeline.progress import CancelToken, Progress, ProgressListener
from pipeline.query import QueryEngine
from pipeline.records import STAGE_NAMES
from pipeline.settings import Settings

_LARGEST = 16 * 1024 * 1024  # bytes of a file of questions


def read_questions(file: Path) -> tuple[SetQuestion, ...]:
    """The questions of a TOML file (`[[question]]` tables with `text`, and `id`, `title`, `settings`, `only_file`,
    `leave_out` where wanted), of a CSV file (a column `question`, and `id`, `title` where wanted), or of a text file
    (one a line, empty lines passed over). Raises `QuestionSetError`."""
    try:
        if file.stat().st_size > _LARGEST:
            raise QuestionSetError(f"{file} is too large for a list of questions: {_LARGEST:,} bytes are the most")
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise QuestionSetError(f"{file} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise QuestionSetError(f"{file} is not UTF-8 text: save it as such") from error
    suffix = file.suffix.lower()
    try:
        found = _of_toml(text) if suffix == ".toml" else _of_csv(text) if suffix == ".csv" else _of_lines(text)
    except (tomllib.TOMLDecodeError, csv.Error, QuestionSetError) as error:
        raise QuestionSetError(f"{file}: {error}") from error
    if not found:
        raise QuestionSetError(f"{file} holds no question")
    if len(found) > MOST_QUESTIONS:
        raise QuestionSetError(f"{file} holds {len(found):,} questions; {MOST_QUESTIONS:,} are the most")
    return found


def _of_lines(text: str) -> tuple[SetQuestion, ...]:
    return tuple(SetQuestion(line.strip()) for line in text.splitlines() if line.strip())


def _of_csv(text: str) -> tuple[SetQuestion, ...]:
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = [name.strip().casefold() for name in next(rows, [])]
    if "question" not in header:
        raise QuestionSetError("it has no column named question")
    found = []
    for row in rows:
        cells = dict(zip(header, row, strict=False))
        if asked := cells.get("question", "").strip():
            found.append(SetQuestion(asked, cells.get("id", "").strip(), cells.get("title", "").strip()))
    return tuple(found)


def _of_toml(text: str) -> tuple[SetQuestion, ...]:
    entries = tomllib.loads(text).get("question", [])
    if not isinstance(entries, list):
        raise QuestionSetError("question is not a list: write [[question]] before each")
    return tuple(_of_table(entry, number) for number, entry in enumerate(entries, start=1))


def _of_table(entry: Any, number: int) -> SetQuestion:
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        raise QuestionSetError(f"question {number} has no text")
    settings, leave_out = entry.get("settings", {}), entry.get("leave_out", [])
    if not isinstance(settings, dict):
        raise QuestionSetError(f"question {number}: settings is not a table")
    if not all(isinstance(value, (str, int, float)) for value in settings.values()):
        raise QuestionSetError(f"question {number}: a setting is neither a number nor a word")
    if not isinstance(leave_out, list) or not all(isinstance(path, str) for path in leave_out):
        raise QuestionSetError(f"question {number}: leave_out is not a list of paths")
    only_file = entry.get("only_file")
    if only_file is not None and not isinstance(only_file, str):
        raise QuestionSetError(f"question {number}: only_file is not a path")
    named = {key: str(entry.get(key, "")) for key in ("id", "title")}
    return SetQuestion(entry["text"], **named, settings=settings, only_file=only_file, leave_out=tuple(leave_out))


def ask_all(
    questions: Sequence[SetQuestion],
    engine: QueryEngine,
    settings: Settings,
    *,
    progress: ProgressListener | None = None,
    cancel: CancelToken | None = None,
    listen: Callable[[SetRow], None] | None = None,
) -> tuple[SetRow, ...]:
    """Ask one after the other. `listen` is told of every row as it comes, so that a cancelled run has its rows.

    A question that cannot be asked (its settings, its documents) costs its own row alone. Raises `Cancelled`, and
    `LibraryError` or `ModelError` when no question can be asked any more.
    """
    began = time.monotonic()
    rows: list[SetRow] = []
    for number, question in enumerate(questions, start=1):
        if cancel is not None:
            cancel.check()
        if progress is not None:
            failed = sum(1 for row in rows if row.error)
            seconds = time.monotonic() - began
            progress(Progress("asking", number - 1, len(questions), question.text, failed=failed, seconds=seconds))
        row = _asked(number, question, engine, settings)
        rows.append(row)
        if listen is not None:
            listen(row)
    if progress is not None:
        failed = sum(1 for row in rows if row.error)
        seconds = time.monotonic() - began
        progress(Progress("asking", len(rows), len(rows), failed=failed, seconds=seconds))
    return tuple(rows)


def _asked(number: int, question: SetQuestion, engine: QueryEngine, settings: Settings) -> SetRow:
    try:
        found = with_documents(question, engine)
        trace = engine.ask(
            found.text,
            settings.with_flags(found.settings),
            left_out=found.leave_out,
            only_document=found.only_file,
        )
    except (QueryError, SettingError) as error:
        return SetRow(number, question, None, str(error))
    return SetRow(number, found, figures_of(trace))


def with_documents(question: SetQuestion, engine: QueryEngine) -> SetQuestion:
    """The question with its documents as doc_ids, ready to be asked. A path is absolute, from here, a doc_id, or
    stands below one folder of the library. Raises `QueryError` when there is no such document."""
    return replace(
        question,
        only_file=None if question.only_file is None else engine.doc_id_of(question.only_file),
        leave_out=tuple(engine.doc_id_of(path) for path in question.leave_out),
    )


# --- carried away ---

_COLUMNS = ("number", "id", "title", "question", "crowding", "distinct", "cited_files", "returned", "items", "ms")


def rows_csv(rows: Iterable[SetRow]) -> str:
    """The rows for a spreadsheet: the figures, `dropped_<stage>` for every stage, and the error."""
    header = [*_COLUMNS, *(f"dropped_{stage}" for stage in STAGE_NAMES), "error"]
    return csv_text(header, (_cells(row) for row in rows))


def _cells(row: SetRow) -> list[Cell]:
    asked, figures = row.question, row.figures
    cells: list[Cell] = [row.number, asked.id, asked.title, asked.text]
    if figures is None:
        cells += [None] * (len(_COLUMNS) - len(cells) + len(STAGE_NAMES))
    else:
        cells += [figures.crowding, figures.distinct, figures.cited_files, figures.returned, figures.items, figures.ms]
        cells += [figures.dropped.get(stage, 0) for stage in STAGE_NAMES]
    return [*cells, row.error]


def rows_json(rows: Iterable[SetRow], settings: Settings) -> dict[str, Any]:
    """The rows as plain data, with the settings in force for all of them."""
    in_force: Mapping[str, Any] = {key: entry.value for key, entry in settings.in_force.items()}
    return {"settings": in_force, "rows": [asdict(row) for row in rows]}
