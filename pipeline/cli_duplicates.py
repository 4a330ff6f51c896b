"""The commands about duplicates: finding them, and deciding about them.

No file of the user is touched from here: what goes to the trash is looked at and confirmed in the window.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pipeline.duplicates.records import DuplicateSettings, HeadRule
from pipeline.errors import DecisionsError, LibraryError, TooManyDuplicates
from pipeline.terminal import finish, library_of, one_line, print_json, printable, progress_line

if TYPE_CHECKING:
    from pipeline.duplicates.records import DecisionKind, DuplicatesReport, Family
    from pipeline.store.decisions import Batch

_MOST_FAMILIES = 20  # on a terminal; --json and the tables have all
_MOST_MEMBERS = 10
Command = Callable[[argparse.Namespace], None]
MakeParser = Callable[[str, str], argparse.ArgumentParser]


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share: a number from 0 to 1 is expected, such as 0.1 or 10%")
    return value


def add_commands(make: MakeParser) -> None:
    """Add the commands' parsers; `make` takes a name and what the command does."""
    duplicates = make("duplicates", "documents that are copies, versions or parts of each other")
    _add_settings(duplicates)
    duplicates.add_argument("--cost", action="store_true", help="measure what copies cost questions (needs the model)")
    duplicates.add_argument("--json", action="store_true", help="print the report as JSON")
    duplicates.add_argument("--csv", type=Path, metavar="FILE", help="write a row for every member of every family")
    duplicates.add_argument("--pairs", type=Path, metavar="FILE", help="write the pairs duplicate,head as CSV")
    duplicates.add_argument("--html", type=Path, metavar="FILE", help="write the report as one HTML page")
    duplicates.add_argument(
        "--fail-over", type=_share, metavar="SHARE", help="exit code 1 when more of the documents are duplicates"
    )
    decide = make("decide", "what is decided about duplicates, for every search; no file is touched")
    actions = decide.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=type(decide))

    def action(name: str, description: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = actions.add_parser(name, help=description, description=description)
        parser.add_argument("--library", type=Path, metavar="DIR", default=argparse.SUPPRESS)
        return parser

    listing = action("list", "the decisions in force, and those that no document has any more")
    prefer = action("prefer", "cite these copies first in every search")
    leave_out = action("leave-out", "leave these documents out of every search")
    for parser in (prefer, leave_out):
        parser.add_argument("paths", nargs="*", metavar="PATH", help="a document, by path or as folder/...")
        parser.add_argument("--in", dest="folder", metavar="FOLDER", help="every document below this folder")
    not_duplicates = action("not-duplicates", "these documents are no duplicates of each other")
    not_duplicates.add_argument("paths", nargs="+", metavar="PATH", help="one: its whole family; several: these alone")
    note = action("note", "a note about a document; an empty one takes it away")
    note.add_argument("path", metavar="PATH")
    note.add_argument("words", metavar="TEXT")
    protect = action("protect", "nothing in these folders is ever proposed or moved to the trash")
    protect.add_argument("folders", nargs="+", metavar="FOLDER")
    for parser in (prefer, leave_out, not_duplicates, protect):
        parser.add_argument("--take-back", action="store_true", help="decide so no longer")
    proposed = action("leave-out-proposed", "by rule: leave out what is proposed in every family, and prefer the heads")
    proposed.add_argument("--in", dest="folder", metavar="FOLDER", help="only copies below this folder")
    _add_settings(proposed)
    undo = action("undo", "take back what was decided last, or this batch")
    redo = action("redo", "decide again what was taken back last, or this batch")
    for parser in (undo, redo):
        parser.add_argument("batch", nargs="?", metavar="BATCH", help="as the journal names it")
    export = action("export", "write all decisions into one file")
    take_in = action("import", "take in the decisions of such a file, all or nothing")
    for parser in (export, take_in):
        parser.add_argument("file", type=Path, metavar="FILE")
    conflict = take_in.add_mutually_exclusive_group()
    conflict.add_argument("--keep", action="store_true", help="where the library decided otherwise, keep its own")
    conflict.add_argument("--replace", action="store_true", help="where it decided otherwise, replace its own")
    journal = action("journal", "what was decided, taken back and moved to the trash, the newest first")
    journal.add_argument("--limit", type=int, default=50, metavar="N", help="the most lines (default: 50)")
    for parser in (listing, journal):
        parser.add_argument("--json", action="store_true", help="print it as JSON")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    usual = DuplicateSettings()
    near, contained = f"{usual.near:.2f}", f"{usual.contained:.2f}"
    rules = get_args(HeadRule)
    parser.add_argument("--near", type=_share, metavar="FLOAT", help=f"least similarity of near documents ({near})")
    parser.add_argument(
        "--contained", type=_share, metavar="FLOAT", help=f"least share that stands in the other ({contained})"
    )
    parser.add_argument(
        "--head", choices=rules, metavar="RULE", help=f"which is the head: {', '.join(rules)} ({usual.head})"
    )
    parser.add_argument("--alike", action="store_true", help="documents that are alike in meaning as well")


# --- duplicates ---


def _settings(options: argparse.Namespace) -> DuplicateSettings:
    given = {name: getattr(options, name) for name in ("near", "contained", "head")}
    return DuplicateSettings(
        **{name: value for name, value in given.items() if value is not None}, with_alike=options.alike
    )


def _scanned(options: argparse.Namespace, library: Path) -> DuplicatesReport:
    from pipeline.duplicates.deciding import decided_in
    from pipeline.duplicates.scan import scan_library

    show = progress_line("documents")
    try:
        return scan_library(
            library,
            _settings(options),
            decided=decided_in(library),
            progress=lambda progress: show(progress) if progress.total else None,
        )
    finally:
        if sys.stderr.isatty():
            print(file=sys.stderr)


def _duplicates(options: argparse.Namespace) -> None:
    from pipeline.export.duplicates_page import duplicates_page
    from pipeline.export.duplicates_table import duplicates_json, families_csv, pairs_csv, share_of
    from pipeline.store.decisions import Decisions
    from pipeline.words.families import percent

    library = library_of(options)
    for file in (options.csv, options.pairs, options.html):
        _be_no_document(library, file)
    report = _scanned(options, library)
    if options.cost:
        report = _with_cost(library, report)
    with closing(Decisions(library)) as decisions:
        decided = decisions.all()
    if options.csv is not None:
        _save(options.csv, families_csv(report))
    if options.pairs is not None:
        _save(options.pairs, pairs_csv(report))
    if options.html is not None:
        _save(options.html, duplicates_page(report, decided))
    if options.json:
        print_json(duplicates_json(report, decided))
    else:
        _print_report(report, listing=not (options.csv or options.pairs or options.html))
    share = share_of(report)
    if options.fail_over is not None and share > options.fail_over:
        raise TooManyDuplicates(
            f"{percent(share)} of {report.documents:,} documents are duplicates, more than {percent(options.fail_over)}"
        )


def _with_cost(library: Path, report: DuplicatesReport) -> DuplicatesReport:
    from pipeline.duplicates.cost import measured, questions_for
    from pipeline.embed.local import LocalEncoder
    from pipeline.library import model_source
    from pipeline.query import QueryEngine

    questions = questions_for(library)
    if not questions:
        print("no cost was measured: nothing was asked yet, and the documents have no headings", file=sys.stderr)
        return report
    encoder = LocalEncoder(model_source(library))
    with closing(QueryEngine(library, encoder)) as engine:
        report = measured(report, engine, questions, progress=progress_line("questions"))
    finish(encoder)
    return report


def _be_no_document(library: Path, file: Path | None) -> None:
    """A report is never written over a document that it is about. Raises `DecisionsError`."""
    from pipeline.library import LibraryReader

    if file is None or not file.exists():
        return
    with closing(LibraryReader(library)) as reader:
        doc_id = reader.catalog.doc_id_of_path(str(file))
    if doc_id is not None:
        raise DecisionsError(f"{file} is a document of the library, {doc_id}: write into another file")


def _save(file: Path, text: str) -> None:
    """Whole or not at all."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, "utf-8", newline="")
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)
    print(f"saved {file}", file=sys.stderr)


def _print_report(report: DuplicatesReport, *, listing: bool) -> None:
    from pipeline.words.families import BOILERPLATE_WORDS, percent, totals_words
    from pipeline.words.plain import first_words

    print(totals_words(report))
    if not listing:
        return
    for place, family in enumerate(report.families[:_MOST_FAMILIES], start=1):
        _print_family(place, family)
    if len(report.families) > _MOST_FAMILIES:
        print(f"\nand {len(report.families) - _MOST_FAMILIES:,} more families; --json, --csv and --html have all")
    if report.alike:
        print("\nalike in meaning (no copies, never proposed):")
        for pair in report.alike[:_MOST_FAMILIES]:
            print(f"  {pair.cosine:.2f}  {printable(pair.doc_id)}  {printable(pair.other_doc_id)}")
    if report.boilerplate:
        print("\nboilerplate (makes no two documents duplicates):")
        for found in report.boilerplate[:_MOST_FAMILIES]:
            what = BOILERPLATE_WORDS[found.kind]
            print(f"  {what} in {found.documents:,} documents: {printable(first_words(found.opening, 80))}")
    worst = [folder for folder in report.folders if folder.duplicates][:_MOST_FAMILIES]
    if worst:
        print("\nduplicates by folder:")
        for folder in worst:
            of_all = f"{folder.duplicates:,} of {folder.documents:,}"
            print(f"  {percent(folder.share):>8}  {of_all}  {printable(folder.folder)}")


def _print_family(place: int, family: Family) -> None:
    from pipeline.words.families import TIER_WORDS, cost_words, mark_words, tie_words, weighty_words

    head = family.head
    marks = f" ({', '.join(mark_words(head))})" if mark_words(head) else ""
    print(f"\n{place}. {printable(head.doc_id)}{marks}: {TIER_WORDS[family.tier]}, {cost_words(family)}")
    for member in family.members[1 : _MOST_MEMBERS + 1]:
        said = [tie_words(member), *mark_words(member), *(["proposed for removal"] if member.proposed else [])]
        print(f"   {printable(member.doc_id)}: {printable('; '.join(said))}")
        for word in member.weighty[:3]:
            print(f"      {printable(weighty_words(word))}")
    if len(family.members) > _MOST_MEMBERS + 1:
        print(f"   and {len(family.members) - _MOST_MEMBERS - 1:,} more")


# --- decide ---


def _decide(options: argparse.Namespace) -> None:
    library = library_of(options)
    if not library.is_dir():
        raise LibraryError(f"there is no library in {library}: index a folder first")
    _ACTIONS[options.action](options, library)


def _list(options: argparse.Namespace, library: Path) -> None:
    from pipeline.duplicates.deciding import unbound_in
    from pipeline.store.decisions import Decisions
    from pipeline.words.families import DECISION_WORDS

    loose = unbound_in(library)
    with closing(Decisions(library)) as decisions:
        decided = decisions.all()
    if options.json:
        without = [asdict(each.decision) | {"edited": each.edited} for each in loose]
        print_json({"decisions": [asdict(each) for each in decided], "without_document": without})
        return
    marks = {each.decision: each for each in loose}
    for each in decided:
        said = f": {printable(one_line(each.value))}" if each.kind == "note" else ""
        print(f"{each.made_at}  {DECISION_WORDS[each.kind]}  {printable(each.name)}{said}")
        if each in marks:
            edited = "the file was edited since, and the decision did not follow: decide again"
            print(f"      {edited if marks[each].edited else 'no document of the library holds this content now'}")
    if not decided:
        print("nothing is decided")


def _documents(library: Path, paths: Sequence[str]) -> list[str]:
    from pipeline.library import LibraryReader

    with closing(LibraryReader(library)) as reader:
        return [reader.doc_id_of(path) for path in paths]


def _about_documents(kind: DecisionKind) -> Callable[[argparse.Namespace, Path], None]:
    def decide(options: argparse.Namespace, library: Path) -> None:
        from pipeline.duplicates.deciding import decide_documents, decide_folder

        if bool(options.paths) == bool(options.folder):
            raise DecisionsError("name documents, or a folder with --in")
        value = None if options.take_back else ""
        if options.folder:
            _print_batch(decide_folder(library, kind, options.folder, value=value))
        else:
            _print_batch(decide_documents(library, kind, _documents(library, options.paths), value=value))

    return decide


def _note(options: argparse.Namespace, library: Path) -> None:
    from pipeline.duplicates.deciding import decide_documents

    words = options.words.strip() or None
    _print_batch(decide_documents(library, "note", _documents(library, [options.path]), value=words))


def _protect(options: argparse.Namespace, library: Path) -> None:
    from pipeline.duplicates.deciding import protect

    _print_batch(protect(library, options.folders, take_back=options.take_back))


def _not_duplicates(options: argparse.Namespace, library: Path) -> None:
    from pipeline.duplicates.deciding import decline, decline_documents, take_back_declined

    doc_ids = _documents(library, options.paths)
    if options.take_back:
        _print_batch(take_back_declined(library, doc_ids))
        return
    if len(doc_ids) > 1:
        _print_batch(decline_documents(library, doc_ids))
        return
    families = [
        family
        for family in _scanned(argparse.Namespace(near=None, contained=None, head=None, alike=False), library).families
        if any(member.doc_id == doc_ids[0] for member in family.members)
    ]
    if not families:
        raise DecisionsError(f"{doc_ids[0]} is in no family; name all documents that are no duplicates of each other")
    _print_batch(decline(library, families))


def _proposed(options: argparse.Namespace, library: Path) -> None:
    from pipeline.duplicates.deciding import leave_out_proposed

    report = _scanned(options, library)
    _print_batch(leave_out_proposed(library, report.families, folder=options.folder))


def _undo(options: argparse.Namespace, library: Path) -> None:
    from pipeline.store.decisions import Decisions

    with closing(Decisions(library)) as decisions:
        batch = decisions.undo(options.batch) if options.action == "undo" else decisions.redo(options.batch)
    if batch is None:
        print(f"nothing to {options.action}")
    else:
        print(f"{'taken back' if batch.undone else 'done again'}: {printable(batch.saying)}")


def _export(options: argparse.Namespace, library: Path) -> None:
    from pipeline.export.decisions_file import write_decisions

    _be_no_document(library, options.file)
    print(f"{write_decisions(library, options.file):,} decisions written to {options.file}")


def _import(options: argparse.Namespace, library: Path) -> None:
    from pipeline.export.decisions_file import OnConflict, read_into

    how: OnConflict = "keep" if options.keep else "replace" if options.replace else "refuse"
    _print_batch(read_into(library, options.file, on_conflict=how))


def _journal(options: argparse.Namespace, library: Path) -> None:
    from pipeline.duplicates.trash import settle
    from pipeline.store.decisions import Decisions
    from pipeline.words.families import journal_words

    settle(library)
    with closing(Decisions(library)) as decisions:
        entries = decisions.journal(max(1, options.limit))
    if options.json:
        print_json([asdict(entry) for entry in entries])
        return
    for entry in entries:
        undone = " (taken back)" if entry.undone else ""
        print(f"{entry.at}  {entry.batch:<12}  {printable(entry.name)}: {printable(journal_words(entry))}{undone}")


def _print_batch(batch: Batch) -> None:
    if not batch.id:
        print("nothing was changed: it was decided so already")
    else:
        print(f"{printable(batch.saying)} ({batch.changes:,} changes; twinspect decide undo {batch.id} takes it back)")


_ACTIONS: Mapping[str, Callable[[argparse.Namespace, Path], None]] = {
    "list": _list,
    "prefer": _about_documents("preferred"),
    "leave-out": _about_documents("left_out"),
    "not-duplicates": _not_duplicates,
    "note": _note,
    "protect": _protect,
    "leave-out-proposed": _proposed,
    "undo": _undo,
    "redo": _undo,
    "export": _export,
    "import": _import,
    "journal": _journal,
}
COMMANDS: Mapping[str, Command] = {"duplicates": _duplicates, "decide": _decide}
