"""The command line. Answers go to stdout, everything else to stderr.

Exit codes: 0 done, 1 failed with a one-line reason, 2 wrong usage, 130 cancelled.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pipeline import __version__, cli_decide, cli_duplicates, cli_inspect, cli_library
from pipeline.errors import Cancelled, HistoryError, SettingError, TwinspectError
from pipeline.terminal import (
    add_scope,
    add_settings,
    finish,
    library_of,
    one_line,
    print_json,
    printable,
    scope_of,
    settings_of,
)
from pipeline.words.plain import first_words
from pipeline.words.sentences import decisions_sentence, freshness_mark, index_sentence

if TYPE_CHECKING:
    from pipeline.records import Trace

DONE, FAILED, USAGE, CANCELLED = 0, 1, 2, 130
_MOST_LEFT_OUT = 5  # documents named
_PARTS = (cli_library, cli_inspect, cli_duplicates, cli_decide)


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """What the window is to open: a library (None: the last one), or the built-in sample."""

    library: Path | None = None
    sample: bool = False


OpenWindow = Callable[[OpenRequest], int]
SaveScreenshot = Callable[[Path, "Trace", Path], None]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(USAGE)


def main(
    argv: Sequence[str],
    *,
    open_window: OpenWindow | None = None,
    save_screenshot: SaveScreenshot | None = None,
) -> int:
    """Run one command and return its exit code. The window and its pictures are handed in by the program that has a
    window; without them those commands say so."""
    if sys.stdout is None:  # closed by whoever started this
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # for as long as the process lasts
    try:
        options = _parser().parse_args(list(argv))
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else FAILED
    try:
        if options.command in (None, "demo"):
            if open_window is None:
                raise TwinspectError("there is no window here: start the program as twinspect")
            return open_window(OpenRequest(options.library, sample=options.command == "demo"))
        commands: Mapping[str, Callable[[], None]] = {
            "query": lambda: _query(options, save_screenshot),
            **{name: partial(run, options) for part in _PARTS for name, run in part.COMMANDS.items()},
        }
        commands[options.command]()
    except SettingError as error:
        print(f"twinspect: {error}", file=sys.stderr)
        return USAGE
    except (Cancelled, KeyboardInterrupt):
        print("twinspect: cancelled; what was done so far is kept", file=sys.stderr)
        return CANCELLED
    except TwinspectError as error:
        print(f"twinspect: {one_line(str(error))}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); nothing more can be told to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        what = (
            f"{error.filename}: {error.strerror}" if error.filename and error.strerror else error.strerror or str(error)
        )
        print(f"twinspect: {one_line(what)}", file=sys.stderr)
        return FAILED
    return DONE


def leave(code: int) -> NoReturn:
    """End the process with this exit code."""
    if code == CANCELLED:
        # Threads inside the model's libraries may still be at work, and abort the process when it is taken down
        # around them. Everything that was committed is on the disk.
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="twinspect", description="See what retrieval does to your documents: copies, evidence, and why."
    )
    parser.add_argument("--version", action="version", version=f"twinspect {__version__}")
    parser.add_argument("--library", type=Path, help="the library to open (default: the last one)")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    commands.add_parser("demo", help="open the window on the built-in sample").set_defaults(library=None)

    cli_library.add_commands(lambda name, description: _command(commands, name, description))
    query = _command(commands, "query", "ask, and see what became of every candidate")
    query.add_argument("text", metavar="TEXT")
    add_scope(query)
    add_settings(query)
    query.add_argument("--json", action="store_true", help="print the trace as JSON")
    query.add_argument(
        "--screenshot", type=Path, metavar="FILE.png", help="save a picture of the window with the answer"
    )
    query.add_argument("--html", type=Path, metavar="FILE", help="save the answer as one HTML page")
    query.add_argument("--no-texts", action="store_true", help="with --json and --html: hashes instead of texts")
    query.add_argument("--no-history", action="store_true", help="do not keep this question in the library's history")

    for part in (cli_inspect, cli_duplicates, cli_decide):
        part.add_commands(lambda name, description: _command(commands, name, description))
    return parser


def _command(commands: Any, name: str, description: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=description, description=description)
    parser.add_argument("--library", type=Path, metavar="DIR", default=argparse.SUPPRESS, help="where the library lies")
    return parser


# --- query ---


def _query(options: argparse.Namespace, save_screenshot: SaveScreenshot | None) -> None:
    from pipeline.embed.local import LocalEncoder
    from pipeline.export.saving import be_no_users_file, save_text
    from pipeline.library import model_source
    from pipeline.query import QueryEngine
    from pipeline.trace import to_json

    library = library_of(options)
    settings = settings_of(options, library)
    if options.screenshot is not None and save_screenshot is None:
        raise TwinspectError("pictures need the window: install PySide6-Essentials and start the program as twinspect")
    be_no_users_file(library, options.screenshot, options.html)
    encoder = LocalEncoder(options.model or model_source(library))
    engine = QueryEngine(library, encoder)
    try:
        trace = engine.ask(options.text, settings, **scope_of(options, engine))
    finally:
        engine.close()
    if options.screenshot is not None and save_screenshot is not None:
        save_screenshot(library, trace, options.screenshot)
        print(f"saved {options.screenshot}", file=sys.stderr)
    if options.html is not None:
        from pipeline.export.page import trace_page

        save_text(options.html, trace_page(trace, with_texts=not options.no_texts))
        print(f"saved {options.html}", file=sys.stderr)
    if options.json:
        print_json(to_json(trace, with_texts=not options.no_texts))
    else:
        _print_answer(trace)
    if not options.no_history:
        _remember(library, trace)
    finish(encoder)


def _remember(library: Path, trace: Trace) -> None:
    """The answer is out; a history that cannot be written takes nothing from it."""
    from pipeline.store.history import History

    history = History(library)
    try:
        history.remember(trace)
    except HistoryError as error:
        print(f"twinspect: this question was not kept: {one_line(str(error))}", file=sys.stderr)
    finally:
        history.close()


def _print_answer(trace: Trace) -> None:
    rounds, summary = trace.rounds, trace.summary
    print(
        f"asked {rounds[0].asked}, fetched {rounds[-1].received} in {len(rounds)} round{'s'[: len(rounds) > 1]}, "
        f"{summary.distinct} different texts, {len(trace.evidence)} returned, {len(trace.projected)} projected "
        f"({summary.budget.chars:,} of {summary.budget.max_total_chars:,} characters); "
        f"copies took {summary.crowding:.0%} of the first places"
    )
    if trace.index is not None:
        print(index_sentence(trace.index))
    seen, tokens = trace.query_tokens_seen, trace.query_tokens
    if seen is not None and tokens is not None and seen < tokens:
        print(f"the model read {seen:,} of the question's {tokens:,} tokens")
    if trace.left_out_decided or trace.preferred_decided:
        print(decisions_sentence(len(trace.left_out_decided), len(trace.preferred_decided)))
    if trace.evidence and not trace.projected:
        print(f"nothing fits the agent's budget: max-total-chars is {summary.budget.max_total_chars:,}")
    marks = {t.candidate.source_path: freshness_mark(t.freshness) for t in trace.candidates}
    for block in trace.evidence:
        where = f", page {block.page_first}" if block.page_first is not None else ""
        where += _marked(marks, block.source_path)
        print(f"\n{block.rank}. {block.score:.4f}  {printable(block.source_path)}{where}")
        for other in block.also_in:
            print(f"   also in {printable(other)}{_marked(marks, other)}")
        print(f"   {first_words(block.content, 300)}")
    left_out = {t.candidate.doc_id: t for t in trace.candidates if t.fate.name == "left_out"}
    for _, traced in sorted(left_out.items())[:_MOST_LEFT_OUT]:
        print(f"\n{printable(traced.fate.reason)}")
    if len(left_out) > _MOST_LEFT_OUT:
        print(f"and {len(left_out) - _MOST_LEFT_OUT:,} more documents that are left out")
    if not trace.evidence:
        print("\nnothing was found")
    if summary.shortfall is not None and trace.evidence:
        ways = " or ".join(f"{remedy.setting} {remedy.value}" for remedy in summary.shortfall.remedies)
        hint = f"; {ways} would fill it" if ways else ""
        print(f"\n{summary.shortfall.got} of {summary.shortfall.wanted}: {summary.shortfall.reason}{hint}")


def _marked(marks: Mapping[str, str], path: str) -> str:
    """What a reader has to know of a file that is not as it was indexed."""
    return f"  ({marks[path]} since it was indexed: index again)" if marks.get(path) else ""
