"""What the Duplicates page shows: frozen records, and what stands in its place while there is nothing to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.models.families import FamilyRow
from app.state import NextStep, Problem
from pipeline.duplicates.records import DuplicateSettings, DuplicatesReport, JournalEntry
from pipeline.progress import Progress
from pipeline.words.families import declined_words
from pipeline.words.phrases import count

_SCAN = NextStep("Look for duplicates", "scan-duplicates")
_AGAIN = NextStep("Look again", "scan-duplicates")
_CANCEL = NextStep("Cancel", "cancel-scan")
_ADD = NextStep("Add a folder…", "add-folder")
_SAMPLE = NextStep("See it on the sample", "open-sample")
_LIBRARY = NextStep("Look at the documents", "page-library")

Phase = Literal["no_library", "opening", "no_documents", "not_scanned", "scanning", "scanned", "failed"]


@dataclass(frozen=True, slots=True)
class DuplicatesState:
    """`rows` are the families of `report`, or those found so far while `scanning`. `stale` says why the report is
    not of the library as it stands, "" while it is. `read_only` says why nothing can be decided, "" where it can.
    `sample`: this is the built-in sample, of which no file goes to the trash. `measuring`: what copies cost is being
    measured. `working`: something is being written, in words."""

    phase: Phase = "no_library"
    folder: Path | None = None
    report: DuplicatesReport | None = None
    rows: tuple[FamilyRow, ...] = ()
    settings: DuplicateSettings = field(default_factory=DuplicateSettings)
    progress: Progress = field(default_factory=Progress)
    stale: str = ""
    read_only: str = ""
    sample: bool = False
    measuring: bool = False
    narrowing: bool = False
    working: str = ""
    problem: Problem | None = None
    notice: Problem | None = None

    @property
    def listed(self) -> bool:
        """Whether there are families to list, or will be any moment."""
        return bool(self.rows) or self.phase == "scanned"


@dataclass(frozen=True, slots=True)
class DecisionsState:
    """The decisions in force, the journal's newest lines, and what undo and redo would do ("" for nothing)."""

    protected: Mapping[str, str] = field(default_factory=dict)  # folder's path -> its name
    counts: Mapping[str, int] = field(default_factory=dict)  # by kind
    journal: tuple[JournalEntry, ...] = ()
    undo: str = ""
    redo: str = ""


def standing(state: DuplicatesState) -> Problem | None:
    """What to say in the families' place; None where there are some."""
    match state.phase:
        case "no_library":
            return Problem(
                "No library is open", "Add a folder of documents to look for duplicates in.", (_ADD, _SAMPLE)
            )
        case "opening":
            return Problem("Opening the library…", "")
        case "no_documents":
            return Problem(
                "No documents with text",
                "The library holds nothing that could be compared. Its page says why, file by file.",
                (_ADD, _LIBRARY),
            )
        case "not_scanned":
            return Problem(
                "Which documents are copies of each other?",
                "Copies, exports in other formats, older versions and documents that stand in bigger ones are found by "
                "their words. Nothing is changed by looking.",
                (_SCAN,),
            )
        case "scanning" if not state.rows:
            return Problem("Looking for duplicates…", progress_words(state.progress), (_CANCEL,))
        case "failed" if not state.rows:
            return state.problem
        case "scanned" if state.report is not None and not state.report.families:
            return nothing_found(state.report)
    return None


def nothing_found(report: DuplicatesReport) -> Problem:
    """That there are no duplicates, and what was looked at."""
    said = (
        f"{count(report.documents, 'document')} were compared, word by word. Two count as near from "
        f"{report.settings.near:.0%} shared wording, and one as contained when {report.settings.contained:.0%} of it "
        "stands in another."
    )
    if report.declined:
        said += f" {declined_words(report.declined)}"
    return Problem("No duplicates found", said, (_AGAIN,))


def progress_words(progress: Progress) -> str:
    """Where a scan is."""
    stage = progress.stage.replace("_", " ").capitalize() if progress.stage else "Looking"
    if not progress.total:
        return f"{stage}…"
    return f"{stage}: {progress.done:,} of {progress.total:,}"
