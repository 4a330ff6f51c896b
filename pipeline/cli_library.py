"""The commands about a library and its folders: index, status, forget, rebuild."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import ModelError, RootError
from pipeline.records import STATES
from pipeline.terminal import finish, library_of, one_line, print_json, printable, progress_line
from pipeline.words.phrases import count

if TYPE_CHECKING:
    from pipeline.embed.local import LocalEncoder
    from pipeline.index import IndexReport
    from pipeline.index_settings import IndexSettings
    from pipeline.library import LibraryStatus
    from pipeline.records import PassedOverRow, Root

# Without --state these are listed one by one; the rest is told in a line each.
_LISTED = ("no_text", "failed", "stale", "changed", "missing")


def add_commands(command: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the commands' parsers; `command` makes one of a name and a description."""
    index = command("index", "add folders to the library and bring it up to date")
    index.add_argument(
        "folders",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="folders to add; files and folders inside one that is there are brought up to date by themselves; none: "
        "every folder of the library",
    )
    index.add_argument(
        "--exclude",
        action="append",
        metavar="GLOB",
        help="leave these files out (gitignore); '!.*' takes hidden ones in",
    )
    index.add_argument("--no-exclude", action="store_true", help="leave nothing out any more by --exclude")
    index.add_argument(
        "--gitignore",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether .gitignore files in these folders count (they do, until told otherwise)",
    )
    index.add_argument("--full", action="store_true", help="read every file again, whatever its size and times say")
    index.add_argument("--retry-failed", action="store_true", help="read files again that failed before")
    index.add_argument("--watch", action="store_true", help="then keep the library up to date until stopped (Ctrl+C)")
    index.add_argument(
        "--poll", action="store_true", help="with --watch: look at the files themselves (network shares)"
    )
    _add_index_settings(index)
    index.add_argument("--model", help="folder of a sentence-transformers model (default: the built-in one)")
    index.add_argument("--json", action="store_true", help="print the report as JSON")

    status = command("status", "documents by state, with reasons; what was left out; what changed on disk")
    status.add_argument(
        "--state", action="append", choices=STATES, default=[], help="list these only; may be given several times"
    )
    status.add_argument("--json", action="store_true", help="print it as JSON")

    forget = command("forget", "take a folder out of the library (its files are not touched)")
    forget.add_argument("folder", metavar="FOLDER")

    rebuild = command("rebuild", "keep a damaged library's database aside, and make it anew from its folders")
    rebuild.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="where it does not tell them any more")
    rebuild.add_argument("--check", action="store_true", help="only say whether anything is damaged")
    rebuild.add_argument("--model", help="folder of the model (default: the library's own)")
    rebuild.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_index_settings(parser: argparse.ArgumentParser) -> None:
    from pipeline.index_settings import SPECS

    parser.add_argument("--config", type=Path, metavar="FILE", help="settings from [index] of this TOML file")
    for spec in SPECS:
        parser.add_argument(
            f"--{spec.key}", metavar=spec.kind.__name__.upper(), help=f"{spec.description} Default: {spec.default:,}."
        )


# --- index -------------------------------------------------------------------------------------------------------


def _index(options: argparse.Namespace) -> None:
    from pipeline.embed.local import LocalEncoder
    from pipeline.index import index_library
    from pipeline.library import model_source

    library = library_of(options)
    settings = _settings_of(options, library)
    folders, only = _sorted_out(library, options.folders)
    encoder = LocalEncoder(options.model or model_source(library))
    report = index_library(
        library,
        folders,
        encoder=encoder,
        only=only,
        exclude=[] if options.no_exclude else options.exclude,
        gitignore=options.gitignore,
        full=options.full,
        retry_failed=options.retry_failed,
        settings=settings,
        progress=progress_line(),
    )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    _print_report(report, as_json=options.json)
    if options.watch:
        _watch(options, library, encoder, settings)
    finish(encoder)


def _settings_of(options: argparse.Namespace, library: Path) -> IndexSettings:
    from pipeline.index_settings import SECTION, SPECS, index_settings, library_layers
    from pipeline.settings import Layer, read_layer

    layers = library_layers(library)
    if options.config is not None:
        layers.append(read_layer(options.config, section=SECTION))
    given = ((spec, getattr(options, spec.key.replace("-", "_"))) for spec in SPECS)
    flags = {spec.key: spec.parse(text, "given as a flag") for spec, text in given if text is not None}
    return index_settings([*layers, Layer(flags, "flag")])


def _sorted_out(library: Path, paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Folders to be added (or brought up to date as a whole), and places inside those that are in the library."""
    from pipeline import roots
    from pipeline.library import LibraryReader, library_exists

    known: Sequence[Root] = ()
    if paths and library_exists(library):
        reader = LibraryReader(library)
        known = reader.roots()
        reader.close()
    inside = [path for path in paths if roots.holding(path, known) is not None]
    return [path for path in paths if path not in inside], inside


def _print_report(report: IndexReport, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(report))
        return
    print(
        f"{count(report.documents, 'document')}, {count(report.chunks, 'chunk')}, "
        f"{count(report.texts, 'different text')} "
        f"({report.added:,} added, {report.changed:,} changed, {report.moved:,} moved, {report.removed:,} removed, "
        f"{report.unchanged:,} unchanged, {report.failed:,} failed, {report.unknown_kind:,} of unknown kind, "
        f"{report.excluded:,} excluded; {count(report.embedded, 'text')} embedded in {report.seconds:.1f} s; "
        f"{report.check} check)"
    )
    if report.failed:
        print("twinspect status tells why documents failed", file=sys.stderr)


def _watch(options: argparse.Namespace, library: Path, encoder: LocalEncoder, settings: IndexSettings) -> None:
    from pipeline.index import index_library
    from pipeline.library import LibraryReader
    from pipeline.watching import watch

    reader = LibraryReader(library)
    roots = [Path(root.path) for root in reader.roots()]
    reader.close()
    print(f"watching {count(len(roots), 'folder')}; Ctrl+C ends it", file=sys.stderr, flush=True)

    def changed(places: Sequence[Path]) -> None:
        try:
            report = index_library(library, encoder=encoder, only=places, settings=settings)
        except RootError as error:  # a drive was unplugged, it may come back
            print(f"twinspect: {one_line(str(error))}", file=sys.stderr, flush=True)
            return
        if report.added or report.changed or report.moved or report.removed or report.failed:
            _print_report(report, as_json=options.json)
            sys.stdout.flush()

    try:
        watch(roots, changed, ignore=[library], poll=options.poll)
    except KeyboardInterrupt:
        print("no longer watching; what was done is kept", file=sys.stderr)


def _forget(options: argparse.Namespace) -> None:
    from pipeline.index import forget_root

    root = forget_root(library_of(options), options.folder)
    print(f"{printable(root.path)} is no longer in the library; its files were not touched")


# --- rebuild -----------------------------------------------------------------------------------------------------


def _rebuild(options: argparse.Namespace) -> None:
    from pipeline.embed.local import LocalEncoder
    from pipeline.rebuild import rebuild_library
    from pipeline.store.recovery import damage

    library = library_of(options)
    if options.check:
        found = damage(library)
        if options.json:
            print_json({"damaged": bool(found), "damage": found})
        else:
            print(f"damaged: {printable(found)}" if found else "nothing is damaged")
        return
    made: list[LocalEncoder] = []

    def make_encoder(source: str | None) -> LocalEncoder:
        made.append(LocalEncoder(options.model or source))
        return made[-1]

    done = rebuild_library(library, options.folders, make_encoder=make_encoder, progress=progress_line())
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if options.json:
        print_json({"aside": str(done.aside), "folders": list(done.folders), "report": asdict(done.report)})
    else:
        print(f"the old database is kept as {printable(str(done.aside))}")
        _print_report(done.report, as_json=False)
    for encoder in made:
        finish(encoder)


# --- status ------------------------------------------------------------------------------------------------------


def _status(options: argparse.Namespace) -> None:
    from pipeline.library import LibraryReader

    reader = LibraryReader(library_of(options))
    try:
        status = reader.status()
        runtime = _runtime(reader.catalog.state().model_source) if status.facts.model else "nothing yet"
    finally:
        reader.close()
    if options.json:
        content = status_json(status, options.state)
        content["library"]["runtime"] = runtime
        print_json(content)
        return
    for line in status_lines(status, runtime, options.state):
        print(line)


def _runtime(source: str | None) -> str:
    """What runs the library's model, without loading it."""
    from pipeline.embed.local import LocalEncoder

    try:
        return LocalEncoder(source).runtime
    except ModelError as error:
        return f"nothing: {error}"


def status_lines(status: LibraryStatus, runtime: str, wanted: Sequence[str] = ()) -> Iterator[str]:
    """The status for a terminal: an overview, then documents one by one, those of the states `wanted` or those that
    tell of trouble."""
    from pipeline.words.states import (
        STATE_WORDS,
        counts_words,
        kinds_words,
        left_out_words,
        rules_of_root,
        rules_words,
    )

    facts = status.facts
    yield (
        f"{printable(facts.path)}: {count(facts.documents, 'document')}, {count(facts.chunks, 'chunk')}, "
        f"{count(facts.texts, 'different text')}"
    )
    yield f"model {facts.model or 'none yet'}, run by {runtime}; changes on disk by size and time (quick check)"
    for root in status.roots:
        yield f"folder {printable(root.label)}: {printable(root.path + rules_of_root(root))}"
    yield counts_words(status.counts) or "empty"
    if status.left_out:
        yield f"passed over: {left_out_words(status.left_out)}"
    if status.unfinished:
        yield status.unfinished
    for row in status.passed_over:
        if row.what == "unreadable" and not wanted:
            yield f"  unreadable: {printable(_name_of(row))}: {printable(row.rule)}"
    listed = wanted or _LISTED
    for document in status.documents:
        states = [state for state in status.states_of(document) if state in listed]
        if states:
            # What differs on disk says more than how it was indexed.
            state = states[-1]
            reason = f": {printable(document.reason)}" if document.reason and state == states[0] else ""
            words = "" if state == "unknown_kind" else f"{STATE_WORDS[state]}: "  # the reason says it
            yield f"  {words}{printable(document.doc_id)}{reason}"
    if "excluded" in wanted:
        for row in status.excluded:
            more = f" ({row.entries:,} names in it)" if row.entries > 1 else ""
            yield f"  excluded: {printable(_name_of(row))}{more}: {printable(row.rule or 'by other rules')}"
    elif not wanted and status.excluded:
        yield f"  excluded: {printable(rules_words(status.excluded))} (--state excluded lists them)"
    if not wanted and status.counts["unknown_kind"]:
        unknown = [document for document in status.documents if "unknown_kind" in status.states_of(document)]
        yield f"  of unknown kind: {printable(kinds_words(unknown))} (--state unknown_kind lists them)"


def _name_of(row: PassedOverRow) -> str:
    from pipeline.scan import doc_name

    return f"{row.root_label}/{doc_name(row.rel_path)}"


def status_json(status: LibraryStatus, wanted: Sequence[str] = ()) -> dict[str, Any]:
    """The status as plain data; documents and rules only of the states `wanted`, or all."""
    from pipeline.scan import doc_name

    return {
        "roots": [
            {"label": root.label, "path": root.path, "exclude": list(root.exclude), "gitignore": root.gitignore}
            for root in status.roots
        ],
        "documents": [
            asdict(document) | {"on_disk": status.freshness.get(document.doc_id)}
            for document in status.documents
            if not wanted or not set(wanted).isdisjoint(status.states_of(document))
        ],
        "passed_over": [
            asdict(row) | {"rel_path": doc_name(row.rel_path)}
            for row in status.passed_over
            if not wanted or (row.what == "excluded" and "excluded" in wanted)
        ],
        "counts": dict(status.counts),
        "left_out": dict(status.left_out),
        "check": "quick",
        "unfinished": bool(status.not_read),
        "library": asdict(status.facts) | {"model_fingerprint": status.model_fingerprint},
    }


COMMANDS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "index": _index,
    "status": _status,
    "forget": _forget,
    "rebuild": _rebuild,
}
