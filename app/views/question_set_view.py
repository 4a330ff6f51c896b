"""A list of questions: where they come from, the run with its progress, and a row of figures each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.models.question_set import NUMBER, QUESTION, REASON, SetTable
from app.theme import Theme
from app.views.history_table import QuestionTable
from app.views.parts import Elided, Text, push_button
from pipeline.findings import SetQuestion, SetRow
from pipeline.progress import Progress
from pipeline.words.asked import set_sum_words
from pipeline.words.phrases import count, number
from pipeline.words.plain import one_line

SUM_SECONDS = 1.0


class QuestionBox(QPlainTextEdit):
    """Lines of text; Ctrl+Enter says that they are all there."""

    finished = Signal()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_finish(event):
            event.accept()  # here it means this, and no command of the window
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_finish(event):
            self.finished.emit()
        else:
            super().keyPressEvent(event)


def _is_finish(event: QKeyEvent) -> bool:
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    return enter and bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


class QuestionSetView(QWidget):
    """Emits intents; shows what the run says."""

    edited = Signal()  # the questions in the box are others now: read `text`
    fileRequested = Signal()
    pinnedRequested = Signal()
    sampleRequested = Signal()
    runRequested = Signal()
    cancelRequested = Signal()
    openRequested = Signal(object)  # SetRow
    exportRequested = Signal(str)  # "csv" or "json"
    copyRequested = Signal(str, str)  # text, what it is

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._running = False
        self._summed = 0.0  # when the foot was last made
        self._questions = 0
        self._why_not = ""
        self.box = QuestionBox()
        self.box.finished.connect(self._run)
        self.box.setPlaceholderText("One question a line. Type or paste them here, or take them from a file.")
        self.box.setAccessibleName("Questions to ask, one a line")
        self.box.setTabChangesFocus(True)
        self.box.textChanged.connect(self.edited)
        self.file_button = push_button(
            "From a file…",
            "A text file with a question a line, CSV with a column “question”, or TOML",
            self.fileRequested.emit,
        )
        self.pinned_button = push_button(
            "Pinned questions", "Those pinned in this library's history, with their settings", self.pinnedRequested.emit
        )
        self.sample_button = push_button(
            "Sample questions", "Those that come with the sample", self.sampleRequested.emit
        )
        self.run_button = push_button("Ask them all", "Ask one after the other (Ctrl+Enter)", self.runRequested.emit)
        self.run_button.setProperty("primary", True)
        self.cancel_button = push_button("Cancel", "Stop; the answers so far stay", self.cancelRequested.emit)
        self._count = Text(muted=True)
        self._with = Elided(Qt.TextElideMode.ElideRight, muted=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("How many questions are answered")
        self._at = Elided(Qt.TextElideMode.ElideRight, muted=True)
        self.model = SetTable(self)
        self.table = QuestionTable(theme, "Questions and their answers in figures")
        self.table.setModel(self.model)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(NUMBER, Qt.SortOrder.AscendingOrder)
        figures = dict.fromkeys(range(2, REASON), "0,000")
        self.table.set_widths({NUMBER: "00,000"} | figures | {REASON - 1: "0,000 ms"}, {QUESTION: 0.6, REASON: 0.4})
        self.table.opened.connect(self._open_row)
        self.table.customContextMenuRequested.connect(self._menu)
        self.table.selectionModel().selectionChanged.connect(lambda: self._fit_buttons())
        self.foot = Text(wrap=True)
        self.foot.setAccessibleName("Sums of the answers")
        self.open_button = push_button("Open", "Show this run in the inspector (Enter)", self._open_chosen)
        self.csv_button = push_button(
            "Export as CSV…", "The rows for a spreadsheet", lambda: self.exportRequested.emit("csv")
        )
        self.json_button = push_button(
            "Export as JSON…", "The rows with the settings in force", lambda: self.exportRequested.emit("json")
        )
        self._build()
        self.set_theme(theme)
        self.set_running(False)
        self.show_rows(())

    def _build(self) -> None:
        sources = QHBoxLayout()
        sources.setSpacing(6)
        for button in (self.file_button, self.pinned_button, self.sample_button):
            sources.addWidget(button)
        sources.addStretch(1)
        sources.addWidget(self._count)
        run = QHBoxLayout()
        run.setSpacing(8)
        run.addWidget(self.run_button)
        run.addWidget(self.cancel_button)
        run.addWidget(self._with, 1)
        run.addWidget(self._bar, 1)
        run.addWidget(self._at, 1)
        upper = QWidget()
        asked = QVBoxLayout(upper)
        asked.setContentsMargins(0, 0, 0, 6)
        asked.setSpacing(8)
        asked.addLayout(sources)
        asked.addWidget(self.box, 1)
        asked.addLayout(run)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.open_button)
        row.addStretch(1)
        row.addWidget(self.csv_button)
        row.addWidget(self.json_button)
        lower = QWidget()
        answered = QVBoxLayout(lower)
        answered.setContentsMargins(0, 6, 0, 0)
        answered.setSpacing(8)
        answered.addWidget(self.table, 1)
        answered.addWidget(self.foot)
        answered.addLayout(row)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(upper)
        self.splitter.addWidget(lower)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 0)
        column.addWidget(self.splitter)

    # --- state in -----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self.table.set_theme(theme)
        self.file_button.setIcon(icon("document", theme))
        self.pinned_button.setIcon(icon("pin", theme))
        self.csv_button.setIcon(icon("export", theme))
        self.json_button.setIcon(icon("export", theme))
        self.cancel_button.setIcon(icon("cancel", theme))

    @property
    def text(self) -> str:
        """What stands in the box."""
        return self.box.toPlainText()

    def set_text(self, text: str) -> None:
        """Put these questions into the box."""
        self.box.setPlainText(text)

    def set_sources(self, *, sample: bool) -> None:
        """Whether the sample's questions can be asked here."""
        self.sample_button.setVisible(sample)

    def set_standing(self, questions: int, why_not: str, settings: str) -> None:
        """How many questions the box holds, why they cannot be asked now ("" when they can), and with what."""
        self._questions, self._why_not = questions, why_not
        self._count.setText(count(questions, "question") if questions else "")
        self._with.setText(why_not or settings)
        self._fit_buttons()

    def set_running(self, running: bool) -> None:
        """Whether the questions are being asked."""
        self._running = running
        self.run_button.setVisible(not running)
        self.cancel_button.setVisible(running)
        self._with.setVisible(not running)
        self._bar.setVisible(running)
        self._at.setVisible(running)
        for part in (self.file_button, self.pinned_button, self.sample_button, self.box):
            part.setEnabled(not running)
        self._fit_buttons()

    def show_progress(self, progress: Progress) -> None:
        """How far the run is."""
        self._bar.setRange(0, max(1, progress.total))
        self._bar.setValue(progress.done)
        said = f"{number(progress.done)} of {number(progress.total)}"
        if progress.failed:
            said += f", {number(progress.failed)} failed"
        left = progress.seconds_left
        if left is not None and progress.done < progress.total:
            said += f", about {count(max(1, round(left)), 'second')} left"
        if progress.current:
            said += f": {one_line(progress.current, 160)}"
        self._at.setText(said)

    def show_questions(self, questions: Sequence[SetQuestion]) -> None:
        """A run begins: nothing is answered yet."""
        self.model.set_questions(questions)
        self.show_rows(())

    def show_rows(self, rows: Sequence[SetRow]) -> None:
        """More answers have come."""
        self.model.add_rows(rows)
        # Summing up thousands takes a moment: while more come, not at every turn.
        if not self._running or time.monotonic() - self._summed > SUM_SECONDS:
            self._sum_up()

    def _sum_up(self) -> None:
        self._summed = time.monotonic()
        self.table.show_columns(self.model.used_columns())
        found = self.model.rows
        self.foot.setText(set_sum_words(found) if found else "")
        self.foot.setVisible(bool(found))
        self._fit_buttons()

    def run_ended(self) -> None:
        """All answers are there that will be: in order now."""
        self.model.arrange()
        self._sum_up()

    # --- intents out --------------------------------------------------------------------------------------------

    def _run(self) -> None:
        if self.run_button.isEnabled() and not self._running:
            self.runRequested.emit()

    def copied(self) -> tuple[str, str] | None:
        """The selected rows as text, and what that is."""
        rows = self.table.chosen_rows()
        if not rows:
            return None
        return "\n".join(map(self.model.row_text, rows)), "the row" if len(rows) == 1 else f"{number(len(rows))} rows"

    def _open_chosen(self) -> None:
        rows = self.table.chosen_rows()
        if rows:
            self._open_row(rows[0])

    def _open_row(self, at: int) -> None:
        row = self.model.row_at(at)
        if row is not None:
            self.openRequested.emit(row)

    def _menu(self, at: QPoint) -> None:
        index = self.table.currentIndex()  # the menu key means it, too
        if not index.isValid():
            return
        menu = QMenu(self)
        menu.addAction("Open", self._open_chosen).setEnabled(self.open_button.isEnabled())
        menu.addSeparator()
        copied = self.copied() or ("", "")
        menu.addAction("Copy row", partial(self.copyRequested.emit, *copied)).setEnabled(bool(copied[0]))
        cell = str(index.data() or "")
        menu.addAction("Copy cell", partial(self.copyRequested.emit, cell, "the cell")).setEnabled(bool(cell))
        menu.popup(self.table.viewport().mapToGlobal(at))
        menu.aboutToHide.connect(menu.deleteLater)

    def _fit_buttons(self) -> None:
        self.run_button.setEnabled(bool(self._questions) and not self._why_not)
        rows = self.table.chosen_rows()
        self.open_button.setEnabled(len(rows) == 1 and self.model.row_at(rows[0]) is not None)
        answered = self.model.answered > 0 and not self._running
        self.csv_button.setEnabled(answered)
        self.json_button.setEnabled(answered)
