"""The command by which something is decided about duplicates.

No file of the user is touched from here: what goes to the trash is looked at and confirmed in the window.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.cli_duplicates import Command, MakeParser, add_scan_settings, scanned
from pipeline.errors import DecisionsError, LibraryError
from pipeline.terminal import library_of, one_line, print_json, printable

if TYPE_CHECKING:
    from pipeline.duplicates.records import DecisionKind
    from pipeline.store.decisions import Batch

_MOST_DOCUMENTS = 20  # that lose something, on a terminal; --json has all
_MOST_LOST = 3  # passages of one document


def add_commands(make: MakeParser) -> None:
    """Add the command's parsers; `make` takes a name and what the command does."""
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
    add_scan_settings(proposed)
    for parser in (leave_out, proposed):
        parser.add_argument("--yes", action="store_true", help="even where no search finds some passages any more")
        parser.add_argument("--json", action="store_true", help="print what was decided, and what is lost, as JSON")
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
        from pipeline.duplicates.deciding import decide_documents, decide_folder, documents_in

        if bool(options.paths) == bool(options.folder):
            raise DecisionsError("name documents, or a folder with --in")
        value = None if options.take_back else ""
        if options.folder:
            _decide_knowingly(
                options,
                library,
                documents_in(library, options.folder) if kind == "left_out" and value is not None else (),
                lambda: decide_folder(library, kind, options.folder, value=value),
            )
        else:
            doc_ids = _documents(library, options.paths)
            _decide_knowingly(
                options,
                library,
                doc_ids if kind == "left_out" and value is not None else (),
                lambda: decide_documents(library, kind, doc_ids, value=value),
            )

    return decide


def _decide_knowingly(
    options: argparse.Namespace, library: Path, leaving_out: Sequence[str], decide: Callable[[], Batch]
) -> None:
    """What no search would find any more is listed first, and then it takes `--yes`. Raises `DecisionsError`."""
    from pipeline.duplicates.lost import lost_by_leaving_out
    from pipeline.words.families import lost_words
    from pipeline.words.plain import first_words

    lost = lost_by_leaving_out(library, leaving_out) if leaving_out else ()
    as_json = getattr(options, "json", False)
    if lost and not as_json:
        by_document: dict[str, list[str]] = {}
        for passage in lost:
            by_document.setdefault(passage.doc_id, []).append(passage.text)
        print(f"{lost_words(len(lost), len(by_document))}:")
        for doc_id, texts in list(by_document.items())[:_MOST_DOCUMENTS]:
            print(f"  {printable(doc_id)}: {len(texts):,}")
            for text in texts[:_MOST_LOST]:
                print(f"      {printable(first_words(text, 100))}")
            if len(texts) > _MOST_LOST:
                print(f"      and {len(texts) - _MOST_LOST:,} more")
        if len(by_document) > _MOST_DOCUMENTS:
            print(f"  and {len(by_document) - _MOST_DOCUMENTS:,} more documents")
    refused = bool(lost) and not options.yes
    batch = None if refused else decide()
    if as_json:
        print_json({"batch": None if batch is None else asdict(batch), "lost": [asdict(each) for each in lost]})
    elif batch is not None:
        _print_batch(batch)
    if refused:
        raise DecisionsError(
            f"nothing was decided, for {lost_words(len(lost), len({each.doc_id for each in lost}))}; "
            "--yes leaves them out all the same"
        )


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
        for family in scanned(argparse.Namespace(near=None, contained=None, head=None, alike=False), library).families
        if any(member.doc_id == doc_ids[0] for member in family.members)
    ]
    if not families:
        raise DecisionsError(f"{doc_ids[0]} is in no family; name all documents that are no duplicates of each other")
    _print_batch(decline(library, families))


def _proposed(options: argparse.Namespace, library: Path) -> None:
    from pipeline.duplicates.deciding import leave_out_proposed, proposed_in

    families = scanned(options, library).families
    _decide_knowingly(
        options,
        library,
        proposed_in(library, families, options.folder),
        lambda: leave_out_proposed(library, families, folder=options.folder),
    )


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
COMMANDS: Mapping[str, Command] = {"decide": _decide}
