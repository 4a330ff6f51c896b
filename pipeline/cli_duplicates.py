"""The command that finds duplicates; what is decided about them is in `pipeline.cli_decide`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pipeline.duplicates.records import DuplicateSettings, HeadRule
from pipeline.errors import TooManyDuplicates
from pipeline.terminal import finish, library_of, print_json, printable, progress_line

if TYPE_CHECKING:
    from pipeline.duplicates.records import DuplicatesReport, Family

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
    add_scan_settings(duplicates)
    duplicates.add_argument("--cost", action="store_true", help="measure what copies cost questions (needs the model)")
    duplicates.add_argument("--json", action="store_true", help="print the report as JSON")
    duplicates.add_argument("--csv", type=Path, metavar="FILE", help="write a row for every member of every family")
    duplicates.add_argument("--pairs", type=Path, metavar="FILE", help="write the pairs duplicate,head as CSV")
    duplicates.add_argument("--html", type=Path, metavar="FILE", help="write the report as one HTML page")
    duplicates.add_argument(
        "--fail-over", type=_share, metavar="SHARE", help="exit code 1 when more of the documents are duplicates"
    )


def add_scan_settings(parser: argparse.ArgumentParser) -> None:
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


def scanned(options: argparse.Namespace, library: Path) -> DuplicatesReport:
    from pipeline.duplicates.deciding import decided_in
    from pipeline.duplicates.freshness import with_freshness
    from pipeline.duplicates.scan import scan_library

    show = progress_line("documents")
    try:
        report = scan_library(
            library,
            _settings(options),
            decided=decided_in(library),
            progress=lambda progress: show(progress) if progress.total else None,
        )
        return with_freshness(report)
    finally:
        if sys.stderr.isatty():
            print(file=sys.stderr)


def _duplicates(options: argparse.Namespace) -> None:
    from pipeline.export.duplicates_page import duplicates_page
    from pipeline.export.duplicates_table import duplicates_json, families_csv, pairs_csv, share_of
    from pipeline.export.saving import be_no_users_file
    from pipeline.store.decisions import Decisions
    from pipeline.words.families import share_over_words

    library = library_of(options)
    be_no_users_file(library, options.csv, options.pairs, options.html)
    report = scanned(options, library)
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
        raise TooManyDuplicates(share_over_words(share, options.fail_over, report.documents))


def _with_cost(library: Path, report: DuplicatesReport) -> DuplicatesReport:
    from pipeline.duplicates.cost import measured, questions_and_own
    from pipeline.embed.local import LocalEncoder
    from pipeline.library import model_source
    from pipeline.query import QueryEngine

    questions, own = questions_and_own(library)
    if not questions:
        print("no cost was measured: nothing was asked yet, and the documents have no headings", file=sys.stderr)
        return report
    encoder = LocalEncoder(model_source(library))
    with closing(QueryEngine(library, encoder)) as engine:
        report = measured(report, engine, questions, own=own, progress=progress_line("questions"))
    finish(encoder)
    return report


def _save(file: Path, text: str) -> None:
    from pipeline.export.saving import save_text

    save_text(file, text)
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


COMMANDS: Mapping[str, Command] = {"duplicates": _duplicates}
