"""The report in files, and the decisions carried out and in."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.features.duplicates_deciding import Deciding
from app.features.ground import Ground
from app.jobs.ends import End
from app.problems import problem_of
from app.state import NextStep, Problem
from pipeline.duplicates.records import Decision, DuplicatesReport
from pipeline.errors import DecisionsError, SavingError
from pipeline.words.plain import one_line

if TYPE_CHECKING:
    from pipeline.store.decisions import Batch

_LANE = "saving the duplicates"
_IMPORT_LANE = "taking in decisions"
_JSON = "JSON (*.json)"
_OTHERWISE = "decided otherwise"  # of the one failure after which another choice is possible
Write = Callable[[DuplicatesReport, tuple[Decision, ...]], str]


@dataclass(frozen=True, slots=True)
class ReportKind:
    """A way to save the report: the command, the file that is suggested, and what is written to it."""

    action: str
    title: str
    name: str
    kinds: str
    write: Write


def _page(report: DuplicatesReport, decisions: tuple[Decision, ...]) -> str:
    from pipeline.export.duplicates_page import duplicates_page

    return duplicates_page(report, decisions)


def _table(report: DuplicatesReport, decisions: tuple[Decision, ...]) -> str:
    from pipeline.export.duplicates_table import families_csv

    return families_csv(report)


def _pairs(report: DuplicatesReport, decisions: tuple[Decision, ...]) -> str:
    from pipeline.export.duplicates_table import pairs_csv

    return pairs_csv(report)


def _plain(report: DuplicatesReport, decisions: tuple[Decision, ...]) -> str:
    from pipeline.export.duplicates_table import duplicates_json

    return json.dumps(duplicates_json(report, decisions), indent=2) + "\n"


REPORTS = (
    ReportKind("save-duplicates-html", "Save the report", "duplicates.html", "HTML (*.html)", _page),
    ReportKind("save-duplicates-csv", "Save the families", "duplicates.csv", "CSV (*.csv)", _table),
    ReportKind("save-pairs-csv", "Save pairs of duplicate and head", "duplicate-pairs.csv", "CSV (*.csv)", _pairs),
    ReportKind("save-duplicates-json", "Save the report", "duplicates.json", _JSON, _plain),
)


class Reports(QObject):
    """Asks where to, and writes in a thread: never over a file of the user's, as on the command line."""

    told = Signal(str)
    failed = Signal(object)  # Problem; None when what was told last is settled

    def __init__(self, ground: Ground, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._crew, self._dialogs = ground.crew, ground.dialogs
        self._refused = False  # the last file

    def save(self, kind: ReportKind, report: DuplicatesReport | None, library: Path | None) -> None:
        """Save the report as it is shown: with the thresholds in force. It tells which files are not as indexed."""
        named = self._file(kind.title, kind.name, kind.kinds) if report is not None else None
        if named is None or report is None or library is None:
            return

        def work() -> None:
            from pipeline.duplicates.freshness import with_freshness
            from pipeline.export.saving import be_no_users_file, save_text
            from pipeline.store.decisions import Decisions

            be_no_users_file(library, named)
            with closing(Decisions(library)) as decisions:
                held = decisions.all()
            save_text(named, kind.write(with_freshness(report), held))

        self._crew.look(_LANE, work, lambda end: self._saved(kind.action, named, end))

    def _file(self, title: str, name: str, kinds: str) -> Path | None:
        """Where to; a name without a suffix gets the usual one, and then nobody was asked whether that file may be
        written over."""
        file = self._dialogs.save_to(title, name, kinds)
        if file is None or file.suffix:
            return file
        named = file.with_suffix(Path(name).suffix)
        if named.exists() and not self._dialogs.confirm(
            f"“{one_line(named.name, 80)}” is there already", "What it holds would be lost.", "Write over it"
        ):
            return None
        return named

    def _saved(self, action: str, file: Path, end: End[None]) -> None:
        refused, self._refused = self._refused, False
        if end.how == "done":
            self.told.emit(f"Saved {file}")
            if refused:
                self.failed.emit(None)
        elif isinstance(end.error, SavingError):
            said, self._refused = one_line(str(end.error), 600), True
            steps = (NextStep("Save elsewhere…", action),)
            self.failed.emit(Problem("Nothing was saved", f"{said[:1].upper()}{said[1:]}.", steps))
        elif isinstance(end.error, OSError):
            self.told.emit(f"“{file.name}” could not be written: {end.error.strerror or end.error}")
        elif end.how == "failed":
            self.failed.emit(problem_of(end.error, end.details))

    def export_decisions(self, library: Path | None) -> None:
        """All decisions of the library as one file."""
        named = self._file("Export the decisions", "decisions.json", _JSON) if library is not None else None
        if named is None or library is None:
            return

        def work() -> None:
            from pipeline.export.decisions_file import write_decisions

            write_decisions(library, named)

        self._crew.look(_LANE, work, lambda end: self._saved("export-decisions", named, end))

    def import_decisions(self, library: Path | None, deciding: Deciding) -> None:
        """Take in an exported file; where the library has decided otherwise, the user says which counts."""
        file = self._dialogs.open_file("Import decisions", _JSON) if library is not None else None
        if file is not None and library is not None:
            self._take_in(library, file, deciding, "refuse")

    def _take_in(self, library: Path, file: Path, deciding: Deciding, on_conflict: Any) -> None:
        def work() -> Batch:
            from pipeline.export.decisions_file import read_into

            return read_into(library, file, on_conflict=on_conflict)

        def ended(end: End[Batch]) -> None:
            if end.how == "failed" and isinstance(end.error, DecisionsError) and _OTHERWISE in str(end.error):
                self._ask_which(library, file, deciding, str(end.error))
            elif end.how == "failed":
                self.failed.emit(Problem("The decisions were not taken in", problem_of(end.error, end.details).text))
            elif end.value is not None:
                deciding.taken_in(end.value)

        self._crew.look(_IMPORT_LANE, work, ended)

    def _ask_which(self, library: Path, file: Path, deciding: Deciding, said: str) -> None:
        chosen = self._dialogs.choose(
            "This library has decided otherwise",
            f"{said[:1].upper()}{said[1:]}.",
            ("Keep what is decided here", "Take what the file says"),
        )
        if chosen is not None:
            self._take_in(library, file, deciding, ("keep", "replace")[chosen])
