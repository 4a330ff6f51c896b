"""What the commands of the command line share: flags that most of them take, and how they print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.places import default_library
from pipeline.progress import Progress
from pipeline.settings import SPECS, Layer, Settings, read_layer, resolve
from pipeline.words import plain

if TYPE_CHECKING:
    from pipeline.embed.local import LocalEncoder
    from pipeline.query import QueryEngine

LIBRARY_SETTINGS = "settings.toml"


# --- flags ---


def add_scope(parser: argparse.ArgumentParser) -> None:
    """The flags by which a question names documents."""
    parser.add_argument("--leave-out", action="append", default=[], metavar="PATH", help="leave this document out")
    parser.add_argument("--prefer", action="append", default=[], metavar="PATH", help="cite this copy first")
    parser.add_argument("--only-file", metavar="PATH", help="search in this document alone")
    parser.add_argument(
        "--ignore-decisions", action="store_true", help="as if nothing had been decided about duplicates"
    )


def scope_of(options: argparse.Namespace, engine: QueryEngine) -> dict[str, Any]:
    """The keywords of `QueryEngine.ask` that the flags stand for. Raises `QueryError`."""
    return {
        "left_out": [engine.doc_id_of(path) for path in options.leave_out],
        "preferred": [engine.doc_id_of(path) for path in options.prefer],
        "only_document": None if options.only_file is None else engine.doc_id_of(options.only_file),
        "decisions": not options.ignore_decisions,
    }


def add_settings(parser: argparse.ArgumentParser) -> None:
    """A flag for every setting, the file that holds them, and the model."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings from [rag] of this TOML file")
    parser.add_argument("--model", help="folder of the model (default: the library's own)")
    for spec in SPECS:
        choices = "|".join(spec.choices) or spec.kind.__name__.upper()
        parser.add_argument(
            f"--{spec.key}", metavar=choices, help=f"{spec.description} Default: {_default(spec.default)}."
        )


def settings_of(options: argparse.Namespace, library: Path) -> Settings:
    """The settings in force: of the library, the file given, the flags. Raises `SettingError`."""
    layers: list[Layer] = []
    own = library / LIBRARY_SETTINGS
    if own.is_file():
        layers.append(read_layer(own, section=None))
    if options.config is not None:
        layers.append(read_layer(options.config, section="rag"))
        if not layers[-1].values:
            print(f"twinspect: {options.config} has no settings under [rag]", file=sys.stderr)
    given = ((spec, getattr(options, spec.key.replace("-", "_"))) for spec in SPECS)
    layers.append(
        Layer(
            {spec.key: spec.parse(text, "given as a flag") for spec, text in given if text is not None},
            "flag",
        )
    )
    return resolve(layers)


def _default(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def library_of(options: argparse.Namespace) -> Path:
    """The library that the command is for."""
    return (options.library or default_library()).expanduser()


# --- printing ---


def one_line(text: str) -> str:
    """White space, line ends too, as single spaces."""
    return " ".join(text.split())


def print_json(content: Any) -> None:
    print(plain.json_text(content))


def printable(text: str) -> str:
    """On one line, controls and bidirectional overrides by their names: no document commands a terminal."""
    return plain.one_line(one_line(text), len(text) + 1)


def finish(encoder: LocalEncoder) -> None:
    """The answer is out; let the model's graph be made, once, so that the next command starts with it."""
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        encoder.close()


def _encoded(progress: Progress) -> str:
    """Goes on while one large file keeps the model busy."""
    return f", {progress.embedded:,} texts encoded" if progress.embedded else ""


def progress_line(what: str = "files") -> Callable[[Progress], None]:
    """A listener that draws one line on a terminal, and writes one every ten seconds elsewhere."""
    last: list[object] = [None]

    def show(progress: Progress) -> None:
        if sys.stderr.isatty():
            left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
            name = one_line(progress.current.encode("ascii", "replace").decode())[-40:]
            where = f"{progress.done:,} of {progress.total:,}, {progress.rate:.0f}/s{left}{_encoded(progress)}"
            if progress.stage == "scanning":
                where = f"{progress.found:,} {what} found"
            elif progress.saved:
                where = f"{progress.saved:.0%} of the search index saved"
            line = f"{progress.stage} {where} {name}"
            print(f"\r{line:<100.100}", end="", file=sys.stderr, flush=True)
        elif (now := (progress.stage, int(progress.seconds) // 10)) != last[0]:
            last[0] = now
            print(
                f"{progress.stage}: {progress.found:,} {what} found"
                if progress.stage == "scanning"
                else f"{progress.stage}: {progress.done:,} of {progress.total:,} {what}{_encoded(progress)}",
                file=sys.stderr,
                flush=True,
            )

    return show
