"""The commands that look at answers: why not, compare, policies, find, ask-all, history."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import HistoryError, QueryError
from pipeline.terminal import (
    add_scope,
    add_settings,
    finish,
    library_of,
    one_line,
    print_json,
    printable,
    progress_line,
    scope_of,
    settings_of,
)

if TYPE_CHECKING:
    from pipeline.findings import At, Comparison, Difference, Found, SetRow, Unlike, Ways, WhyNot
    from pipeline.query import QueryEngine

_MOST_LINES = 20  # of one list on a terminal; --json has all
Command = Callable[[argparse.Namespace], None]
MakeParser = Callable[[str, str], argparse.ArgumentParser]


def add_commands(make: MakeParser) -> None:
    """Add the commands' parsers; `make` takes a name and what the command does."""
    why = make("why", "why a document or passage is not in the answer, and what would bring it in")
    why.add_argument("text", metavar="TEXT", help="the question")
    why.add_argument("target", metavar="TARGET", help="a document (path or doc_id), or words by which one is found")
    why.add_argument("--passage", type=int, metavar="N", help="this passage of it, counted from 0")
    compare = make("compare", "a saved trace against the same question asked now, or against another saved trace")
    compare.add_argument("file", type=Path, metavar="FILE", help="what `twinspect query --json` wrote")
    compare.add_argument("other", type=Path, nargs="?", metavar="FILE2", help="a newer trace (default: ask again)")
    compare.add_argument("--model", help="folder of the model (default: the library's own)")
    policies = make("policies", "what plain, source and evidence make of the same hits")
    policies.add_argument("text", metavar="TEXT")
    find = make("find", "documents by name and passages by words")
    find.add_argument("words", metavar="WORDS")
    find.add_argument("--limit", type=int, default=50, metavar="N", help="the most of each (default: 50)")
    ask_all = make("ask-all", "ask every question of a file: a row of figures each")
    ask_all.add_argument("file", type=Path, metavar="FILE", help="TOML, CSV with a column `question`, or one a line")
    ask_all.add_argument("--csv", type=Path, metavar="FILE", help="write the rows for a spreadsheet")
    history = make("history", "the questions that were asked of the library")
    history.add_argument("--search", default="", metavar="WORDS", help="only those that hold these words")
    history.add_argument("--limit", type=int, default=50, metavar="N", help="the most (default: 50)")
    change = history.add_mutually_exclusive_group()
    change.add_argument("--pin", type=int, metavar="ID", help="keep this one whatever comes")
    change.add_argument("--unpin", type=int, metavar="ID", help="keep it no longer")
    change.add_argument("--forget", type=int, metavar="ID", help="take this one out")
    change.add_argument("--forget-all", action="store_true", help="take out all that are not pinned")
    for parser in (why, policies):
        add_scope(parser)
    for parser in (why, policies, ask_all):
        add_settings(parser)
    for parser in (why, compare, policies, find, ask_all, history):
        parser.add_argument("--json", action="store_true", help="print it as JSON")


@contextmanager
def _engine(options: argparse.Namespace) -> Iterator[QueryEngine]:
    from pipeline.embed.local import LocalEncoder
    from pipeline.library import model_source
    from pipeline.query import QueryEngine

    library = library_of(options)
    encoder = LocalEncoder(options.model or model_source(library))
    with closing(QueryEngine(library, encoder)) as engine:
        yield engine
    finish(encoder)


# --- why ---


def _why(options: argparse.Namespace) -> None:
    from pipeline.why import why_not

    settings = settings_of(options, library_of(options))
    with _engine(options) as engine:
        doc_id, passage = _target(options, engine)
        trace = engine.ask(options.text, settings, **scope_of(options, engine))
        told = why_not(engine, trace, doc_id, passage)
        if options.json:
            print_json(asdict(told))
        else:
            _print_why(told)


def _target(options: argparse.Namespace, engine: QueryEngine) -> tuple[str, int | None]:
    """The one document, or passage, that is meant. Raises `QueryError` when none or several may be."""
    try:
        return engine.doc_id_of(options.target), options.passage
    except QueryError:
        found = _found(options, options.target, 2)
    if len(found.documents) == 1 and not found.more_documents:
        return found.documents[0].doc_id, options.passage
    if len(found.passages) == 1 and not found.documents and options.passage is None:
        return found.passages[0].place.doc_id, found.passages[0].place.chunk_index
    names = [document.doc_id for document in found.documents] or [
        f"{passage.place.doc_id} --passage {passage.place.chunk_index}" for passage in found.passages
    ]
    if not names:
        raise QueryError(f"the library has no document {options.target}, and no passage with these words")
    raise QueryError(f"several are meant by {options.target}; name one, such as {' or '.join(names)}")


def _print_why(told: WhyNot) -> None:
    what = told.doc_id if told.chunk_index is None else f"{told.doc_id}, passage {told.chunk_index}"
    print(f"{printable(what)}: {printable(told.sentence)}")
    for name, ways in (("the evidence", told.evidence), ("what the agent reads", told.projection)):
        print(f"into {name}: {printable(_said(ways))}")
    print()
    for found in told.passages[:_MOST_LINES]:
        standing = found.standing
        place = "-" if standing.rank is None else f"{standing.rank:,}"
        score = "" if standing.score is None else f"{standing.score:.4f}"
        lacking = f" (lacks {found.lacking:.4f})" if found.lacking else ""
        print(f"{place:>7}  {score:>7}  passage {found.place.chunk_index}: {printable(found.sentence)}{lacking}")
        print(f"{'':16}  {printable(found.opening)}")
    if told.passages_in_all > _MOST_LINES:
        print(f"{told.passages_in_all:,} passages in all")


def _said(ways: Ways) -> str:
    if ways.already:
        return "it is there"
    if not ways.changes:
        return ways.reason
    return " or ".join(f"{change.setting} {change.value} (now {change.before})" for change in ways.changes)


# --- compare and policies ---


def _compare(options: argparse.Namespace) -> None:
    from pipeline.compare import compare, rerun_difference
    from pipeline.export.trace_file import read_trace

    saved = read_trace(options.file)
    if options.other is not None:
        found = compare(saved, read_trace(options.other))
    else:
        with _engine(options) as engine:
            found = rerun_difference(saved, engine)
    if options.json:
        print_json(_comparison_json(found))
    else:
        _print_comparison(found)


def _comparison_json(found: Comparison) -> dict[str, Any]:
    """The comparison as plain data, each difference with its kind."""
    plain = asdict(found)
    for name in ("candidates", "blocks", "items"):
        kinds = [difference.change for difference in getattr(found, name)]
        plain[name] = [{"change": kind} | row for kind, row in zip(kinds, plain[name], strict=True)]
    return plain


def _print_comparison(found: Comparison) -> None:
    if found.parts_at is None:
        print("the same: the same candidates, the same evidence, and the agent receives the same")
    else:
        print(f"they part at: {found.parts_at}")
    single = (found.question,) if found.question is not None else ()
    groups: tuple[tuple[str, tuple[Unlike, ...]], ...] = (
        ("question", single),
        ("setting", found.settings),
        ("scope", found.scope),
        ("library", found.library),
    )
    for name, unlike in groups:
        for each in unlike:
            print(f"{name} {each.name}: {printable(str(each.before))} -> {printable(str(each.after))}")
    _print_differences("candidates", found.candidates, found.same_candidates)
    _print_differences("blocks", found.blocks, found.same_blocks)
    _print_differences("items", found.items, found.same_items)


def _print_differences(name: str, differences: tuple[Difference[At], ...], same: int) -> None:
    print(f"\n{name}: {same:,} the same, {len(differences):,} not")
    for each in differences[:_MOST_LINES]:
        ranks = [str(side.rank) if side is not None else "-" for side in (each.before, each.after)]
        print(f"  {ranks[0]:>5} -> {ranks[1]:<5} {each.change.replace('_', ' '):<12} {printable(each.at.evidence_key)}")
    if len(differences) > _MOST_LINES:
        print(f"  and {len(differences) - _MOST_LINES:,} more; --json has all")


def _policies(options: argparse.Namespace) -> None:
    from pipeline.policies import policies_on_same_hits
    from pipeline.trace import to_json

    settings = settings_of(options, library_of(options))
    with _engine(options) as engine:
        answers = policies_on_same_hits(engine, options.text, settings, **scope_of(options, engine))
        if options.json:
            print_json(
                [
                    {name: getattr(answer, name) for name in answer.__slots__ if name != "trace"}
                    | {"trace": to_json(answer.trace)}
                    for answer in answers
                ]
            )
            return
        print(f"{'policy':<10}{'items':>7}{'texts':>7}{'crowding':>10}{'files':>7}{'characters':>12}")
        for answer in answers:
            print(
                f"{answer.policy:<10}{answer.items:>7}{answer.distinct:>7}{answer.crowding:>10.0%}"
                f"{answer.cited_files:>7}{answer.chars:>12,}"
            )


# --- find ---


def _found(options: argparse.Namespace, words: str, limit: int) -> Found:
    from pipeline.library import LibraryReader

    with closing(LibraryReader(library_of(options))) as reader:
        return reader.passages.find(words, limit)


def _find(options: argparse.Namespace) -> None:
    found = _found(options, options.words, max(1, options.limit))
    if options.json:
        print_json(asdict(found))
        return
    for document in found.documents:
        print(f"{printable(document.doc_id)}: {document.chunks:,} passages")
    for passage in found.passages:
        print(f"{printable(passage.place.doc_id)}, passage {passage.place.chunk_index}: {printable(passage.snippet)}")
    if found.more_documents or found.more_passages:
        print("there are more: --limit shows them", file=sys.stderr)
    if not found.documents and not found.passages:
        print("nothing was found")


# --- ask-all ---


def _ask_all(options: argparse.Namespace) -> None:
    from pipeline.export.saving import be_no_users_file, save_text
    from pipeline.question_set import ask_all, read_questions, rows_csv, rows_json

    be_no_users_file(library_of(options), options.csv)
    settings = settings_of(options, library_of(options))
    questions = read_questions(options.file)
    rows: list[SetRow] = []
    with _engine(options) as engine:
        try:
            ask_all(questions, engine, settings, progress=progress_line("questions"), listen=rows.append)
        finally:
            if sys.stderr.isatty():
                print(file=sys.stderr)
            if options.csv is not None and rows:
                # The encoding's own mark is in the text; a spreadsheet wants the line ends as they are.
                save_text(options.csv, rows_csv(rows))
                print(f"saved {options.csv}", file=sys.stderr)
        if options.json:
            print_json(rows_json(rows, settings))
        elif options.csv is None:
            _print_rows(rows)


def _print_rows(rows: list[SetRow]) -> None:
    print(f"{'':>4}{'crowding':>10}{'texts':>7}{'files':>7}{'blocks':>8}{'items':>7}{'dropped':>9}{'ms':>8}")
    for row in rows:
        figures, number = row.figures, f"{row.number:>4}"
        if figures is None:
            print(f"{number}  {printable(row.question.text)}: {printable(row.error)}")
            continue
        dropped = sum(figures.dropped.values())
        print(
            f"{number}{figures.crowding:>10.0%}{figures.distinct:>7}{figures.cited_files:>7}{figures.returned:>8}"
            f"{figures.items:>7}{dropped:>9}{figures.ms:>8.1f}  {printable(row.question.text)}"
        )


# --- history ---


def _history(options: argparse.Namespace) -> None:
    from pipeline.library import LibraryReader
    from pipeline.store.history import History

    LibraryReader(library_of(options)).close()  # a library that is not there has no history
    with closing(History(library_of(options))) as history:
        if options.forget_all:
            print(f"{history.forget_all():,} questions forgotten", file=sys.stderr)
        for entry_id in (options.pin, options.unpin, options.forget):
            if entry_id is not None and history.entry(entry_id) is None:
                raise HistoryError(f"the history has no entry {entry_id}")
        if options.forget is not None:
            history.forget(options.forget)
        if options.pin is not None:
            history.pin(options.pin)
        if options.unpin is not None:
            history.pin(options.unpin, False)
        entries = history.entries(options.search, limit=max(1, options.limit))
    if options.json:
        print_json([asdict(entry) for entry in entries])
        return
    for entry in entries:
        given = " ".join(f"{key}={value}" for key, value in entry.settings.items())
        said = f"{printable(entry.text)}  ({one_line(given)})" if given else printable(entry.text)
        print(f"{entry.id:>6}{'*' if entry.pinned else ' '} {entry.asked_at}  {said}")


COMMANDS: Mapping[str, Command] = {
    "why": _why,
    "compare": _compare,
    "policies": _policies,
    "find": _find,
    "ask-all": _ask_all,
    "history": _history,
}
