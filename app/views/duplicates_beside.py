"""What stands beside the families: folders, boilerplate, documents alike in meaning, and the journal."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.models.duplicate_state import DecisionsState
from app.models.duplicate_tables import (
    FolderRow,
    alike_table,
    boilerplate_table,
    folder_rows,
    folder_table,
    folders_words,
    journal_table,
)
from app.theme import Theme
from app.views.duplicates_tables import TablePane
from pipeline.duplicates.records import Boilerplate, DuplicatesReport
from pipeline.words.families import percent
from pipeline.words.phrases import count, number

_BOILERPLATE = (
    "These make no two documents duplicates: passages that very many documents hold, such as footers and licences, "
    "and documents in which nothing can be read. They are not among the families."
)
_NO_BOILERPLATE = "Nothing of this kind was found in this library. "
_ALIKE = (
    "These speak of the same things in other words. That is no sameness: nothing here is ever proposed for removal, "
    "and none of them counts as a copy."
)
_NO_ALIKE = (
    "Documents alike in meaning were not looked for. To have them listed here, tick it under “What counts…” and look "
    "again."
)
_JOURNAL = "Everything that was decided here, the newest first. Undo and redo go by it."


class Beside(QObject):
    """The tables of the other tabs."""

    stepChosen = Signal(str)  # the id of an action
    familiesWanted = Signal(str)  # a folder's name
    protectRequested = Signal(object, bool)  # paths; False takes it back
    leaveOutRequested = Signal(str)  # a folder's name
    openRequested = Signal(str)
    copyRequested = Signal(str, str)  # text, what it is

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._report: DuplicatesReport | None = None
        self._decisions = DecisionsState()
        self._roots: Mapping[str, str] = {}
        self._possible: Callable[[str], bool] = lambda action: False
        self.folders_model, self.journal_model = folder_table(self), journal_table(self)
        self.boilerplate_model, self.alike_model = boilerplate_table(self), alike_table(self)
        self.folders = TablePane("Folders and their share of copies", self.folders_model)
        self.boilerplate = TablePane("Boilerplate", self.boilerplate_model)
        self.alike = TablePane("Documents alike in meaning", self.alike_model)
        self.journal = TablePane("Journal of decisions", self.journal_model)
        self.show_families = self.folders.add_button(
            "Show its families", "List the families with a document in this folder (Enter)", self._families
        )
        self.leave_out = self.folders.add_button(
            "Leave out proposed in it…",
            "Leave every proposed document of this folder out of searches",
            self._leave_out,
        )
        self.protect = self.folders.add_button(
            "Protect", "Nothing in this folder is ever proposed, nor moved to the trash", self._protect
        )
        self.undo = self.journal.add_button("Undo", "", lambda: self.stepChosen.emit("undo"))
        self.redo = self.journal.add_button("Redo", "", lambda: self.stepChosen.emit("redo"))
        self.export = self.journal.add_button(
            "Export decisions…", "All decisions as one file", lambda: self.stepChosen.emit("export-decisions")
        )
        self.taking_in = self.journal.add_button(
            "Import decisions…", "Take in an exported file", lambda: self.stepChosen.emit("import-decisions")
        )
        self.copy = self.journal.add_button(
            "Copy", "Copy the selected lines with every path in full, such as a file's place in the trash", self._copy
        )
        self.journal.picked.connect(self._fit)
        self.folders.table.activatedRow.connect(self._families)
        self.folders.picked.connect(self._fit)
        self.boilerplate.said.setText(_BOILERPLATE)
        self._fit()

    @property
    def decided(self) -> bool:
        """Whether there is anything to be seen of decisions."""
        return bool(self._decisions.protected or self._decisions.journal)

    def panes(self) -> tuple[tuple[str, QWidget], ...]:
        """The tabs: name and what stands there."""
        return tuple(zip(self.titles(), (self.folders, self.boilerplate, self.alike, self.journal), strict=True))

    def titles(self) -> tuple[str, ...]:
        """The tabs' names with how much is in them."""
        return (
            "Folders",
            _aside_words(self.boilerplate_model.rows),
            _counted("Alike in meaning", len(self.alike_model.rows)),
            _counted("Journal", len(self.journal_model.rows)),
        )

    def set_theme(self, theme: Theme) -> None:
        for pane in (self.folders, self.boilerplate, self.alike, self.journal):
            pane.set_theme(theme)

    def set_roots(self, roots: Mapping[str, str]) -> None:
        """Where the folders of the library lie: label -> path."""
        self._roots = roots
        self._fill_folders()

    def show_report(self, report: DuplicatesReport | None, folder: Path | None) -> None:
        """What a scan found beside families."""
        if report is self._report:
            return
        self._report = report
        self._fill_folders()
        self.boilerplate_model.set_rows(report.boilerplate if report is not None else ())
        none = "" if report is None or report.boilerplate else _NO_BOILERPLATE
        self.boilerplate.said.setText(f"{none}{_BOILERPLATE}")
        self.alike_model.set_rows(report.alike if report is not None else ())
        asked = report is not None and report.settings.with_alike
        self.alike.said.setText(
            f"{count(len(self.alike_model.rows), 'pair')} with a likeness of at least "
            f"{percent(report.settings.alike)}. {_ALIKE}"
            if report is not None and asked
            else _NO_ALIKE
        )

    def show_decisions(self, decisions: DecisionsState) -> None:
        """What was decided has changed."""
        self._decisions = decisions
        self.journal_model.set_rows(decisions.journal)
        self._fill_folders()
        self._fit()

    def fit_buttons(self, possible: Callable[[str], bool]) -> None:
        """Only what is possible now can be done."""
        self._possible = possible
        self._fit()

    def copied(self) -> str:
        """The selected rows of the table that has the focus, as text."""
        panes = (self.folders, self.boilerplate, self.alike, self.journal)
        return next((pane.table.copied() for pane in panes if pane.table.hasFocus()), "")

    def _fill_folders(self) -> None:
        chosen = {row.share.folder for row in self.folders.table.chosen()}
        shares = self._report.folders if self._report is not None else ()
        rows = folder_rows(shares, self._roots, tuple(self._decisions.protected), os.sep)
        self.folders_model.set_rows(rows)
        self.folders.said.setText(
            folders_words(rows) if self._report is not None or rows else "No folder was looked at yet."
        )
        self.folders.table.choose(at for at, row in enumerate(self.folders_model.rows) if row.share.folder in chosen)

    def _chosen(self) -> list[FolderRow]:
        return self.folders.table.chosen()

    def _fit(self) -> None:
        chosen = self._chosen()
        writable = self._possible("protect-folder-any")
        one = len(chosen) == 1 and chosen[0].listed
        self.show_families.setEnabled(one)
        self.leave_out.setEnabled(one and writable)
        own = [row for row in chosen if row.protected == "protected"]
        self.protect.setText("Stop protecting" if chosen and len(own) == len(chosen) else "Protect")
        self.protect.setEnabled(bool(chosen) and writable and all(row.path for row in chosen))
        for button, words in ((self.undo, self._decisions.undo), (self.redo, self._decisions.redo)):
            button.setEnabled(bool(words) and writable)
            button.setToolTip(words)
        self.copy.setEnabled(bool(self.journal.table.chosen()))
        self.export.setEnabled(self._possible("export-decisions"))
        self.taking_in.setEnabled(self._possible("import-decisions"))
        self.journal.said.setText(_JOURNAL if self._decisions.journal else f"Nothing was decided yet. {_JOURNAL}")

    def _copy(self) -> None:
        self.copyRequested.emit(self.journal.table.copied(), "the selected lines")

    def _families(self) -> None:
        chosen = self._chosen()
        if chosen:
            self.familiesWanted.emit(chosen[0].share.folder)

    def _leave_out(self) -> None:
        chosen = self._chosen()
        if chosen:
            self.leaveOutRequested.emit(chosen[0].share.folder)

    def _protect(self) -> None:
        chosen = self._chosen()
        held = all(row.protected == "protected" for row in chosen)
        self.protectRequested.emit(tuple(row.path for row in chosen), not held)


def _aside_words(rows: Sequence[Boilerplate]) -> str:
    """Repeated passages and documents without text are two things, told apart: "Boilerplate (3), no text (1)"."""
    repeated = sum(row.kind == "repeated" for row in rows)
    silent = sum(row.documents for row in rows if row.kind != "repeated")
    if not silent:
        return _counted("Boilerplate", repeated)
    return (
        f"{_counted('Boilerplate', repeated)}, {_counted('no text', silent)}"
        if repeated
        else _counted("No text", silent)
    )


def _counted(name: str, held: int) -> str:
    return f"{name} ({number(held)})" if held else name
