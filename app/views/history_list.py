"""The questions that were asked: searched, pinned, forgotten, opened again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.models.history import (
    ASKED,
    CROWDING,
    DROPPED,
    FILES,
    PIN,
    QUESTION,
    SETTINGS,
    TEXTS,
    TIME,
    HistoryTable,
)
from app.state import NextStep, Problem
from app.theme import Theme
from app.views.history_table import QuestionTable
from app.views.parts import Text, push_button
from app.views.states import Notice, StatePanel
from pipeline.findings import HistoryEntry
from pipeline.words.phrases import count, number

SEARCH_PAUSE_MS = 120

NONE_YET = Problem(
    "No question yet",
    "Every question that you ask of this library is kept here as it is answered, with its settings and figures, so "
    "that you can look at it again. Nothing of it leaves this computer.",
    (NextStep("Type a question", "focus-query"),),
)
NONE_KEPT = Problem("Questions are not kept", "Turn on “Keep the questions asked” below to have them listed here.")
NONE_MATCH = Problem("No question matches", "Search for other words, or take back “Pinned only”.")
UNREADABLE = Problem("The questions asked cannot be shown", "What is wrong is said above. Asking goes on without it.")
NOT_USABLE = Problem("No question to look at", "Nothing can be asked of this library yet; what to do is said above.")


class HistoryList(QWidget):
    """Emits intents; shows what the history says."""

    wanted = Signal()  # another search: read `search` and `pinned_only`
    openRequested = Signal(object)  # HistoryEntry
    pinRequested = Signal(object, bool)  # tuple[HistoryEntry, ...]
    forgetRequested = Signal(object)  # tuple[HistoryEntry, ...]
    forgetAllRequested = Signal()
    keepingChanged = Signal(bool)
    exportRequested = Signal(object)  # tuple[HistoryEntry, ...]
    copyRequested = Signal(str, str)  # text, what it is
    stepChosen = Signal(str)  # the id of an action, or "begin-new-history"

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keeping = True
        self._unreadable, self._usable = False, True
        self.field = QLineEdit()
        self.field.setPlaceholderText("Search the questions")
        self.field.setAccessibleName("Search the questions")
        self.field.setClearButtonEnabled(True)
        self.pinned = QCheckBox("Pinned only")
        self._shown = Text(muted=True)
        self.notice = Notice()
        self.model = HistoryTable(self)
        self.table = QuestionTable(theme, "Questions that were asked")
        self.table.setModel(self.model)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(ASKED, Qt.SortOrder.DescendingOrder)
        self.table.set_widths(
            {
                PIN: "00",
                ASKED: "2000-00-00 00:00",
                CROWDING: "100%",
                TEXTS: "0,000",
                FILES: "0,000",
                DROPPED: "0,000",
                TIME: "0,000 ms",
            },
            {QUESTION: 0.62, SETTINGS: 0.38},
        )
        self.panel = StatePanel()
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self.panel)
        self.open_button = push_button("Open", "Show this run again in the inspector (Enter)", self._open)
        self.pin_button = push_button("Pin", "Keep it when the oldest go, and find it quickly", self._pin)
        self.forget_button = push_button("Forget…", "Take it out of the history for good (Delete)", self._forget)
        self.all_button = push_button(
            "Forget all…", "Take every question out of the history for good", self.forgetAllRequested.emit
        )
        self.export_button = push_button(
            "Export as CSV…",
            "The questions listed, for a spreadsheet",
            lambda: self.exportRequested.emit(self._meant()),
        )
        self.keep = QCheckBox("Keep the questions asked")
        self.keep.setToolTip("Every question is kept with its library as it is answered, on this computer alone")
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(SEARCH_PAUSE_MS)
        self._pause.timeout.connect(self.wanted)
        self.field.textChanged.connect(lambda: self._pause.start())
        self.pinned.toggled.connect(lambda: self.wanted.emit())
        self.keep.toggled.connect(self.keepingChanged)
        self.table.opened.connect(lambda row: self.openRequested.emit(self.model.entry(row)))
        self.table.pinClicked.connect(self._pin_row)
        self.table.forgetPressed.connect(self._forget)
        self.table.customContextMenuRequested.connect(self._menu)
        self.table.selectionModel().selectionChanged.connect(lambda: self._fit_buttons())
        self.panel.stepChosen.connect(self.stepChosen)
        self.notice.stepChosen.connect(self.stepChosen)
        self._build()
        self.set_theme(theme)
        self.set_entries(())

    def _build(self) -> None:
        narrow = QHBoxLayout()
        narrow.setSpacing(10)
        narrow.addWidget(self.field, 1)
        narrow.addWidget(self.pinned)
        narrow.addWidget(self._shown)
        row = QHBoxLayout()
        row.setSpacing(6)
        for button in (self.open_button, self.pin_button, self.forget_button):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.keep)
        row.addSpacing(8)
        row.addWidget(self.export_button)
        row.addWidget(self.all_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 0)
        column.setSpacing(8)
        column.addLayout(narrow)
        column.addWidget(self.notice)
        column.addWidget(self._stack, 1)
        column.addLayout(row)

    # --- state in -----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self.table.set_theme(theme)
        self.pin_button.setIcon(icon("pin", theme))
        self.forget_button.setIcon(icon("trash", theme))
        self.export_button.setIcon(icon("export", theme))

    def set_library(self, there: bool) -> None:
        """Whether there is a library whose history this is."""
        if not there:
            self.set_entries(())

    def set_usable(self, usable: bool) -> None:
        """Whether the library can be asked."""
        if usable != self._usable:
            self._usable = usable
            self._show_standing()

    def set_keeping(self, keeping: bool) -> None:
        """Whether questions are kept."""
        self._keeping = keeping
        with QSignalBlocker(self.keep):
            self.keep.setChecked(keeping)
        self._show_standing()

    def show_problem(self, problem: Problem | None, *, unreadable: bool = False) -> None:
        """What is wrong with the history, and whether it cannot even be read; everything else goes on."""
        self.notice.show_problem(problem)
        self._unreadable = unreadable
        self._show_standing()

    def set_entries(self, entries: Sequence[HistoryEntry]) -> None:
        """Show these entries; what was selected stays so where it is still there."""
        chosen = {entry.id for entry in self.chosen()}
        if self.model.set_entries(entries) and chosen:
            rows = [row for row, entry in enumerate(self.model.entries) if entry.id in chosen]
            self.table.choose(rows)
        self._shown.setText(count(len(entries), "question"))
        self._show_standing()
        self._fit_buttons()

    @property
    def search(self) -> str:
        """The words that are searched for."""
        return self.field.text()

    @property
    def pinned_only(self) -> bool:
        return self.pinned.isChecked()

    def _show_standing(self) -> None:
        """The list, or why there is none."""
        if self.model.rowCount():
            self._stack.setCurrentWidget(self.table)
            return
        if self._unreadable:
            standing = UNREADABLE
        elif self.search.strip() or self.pinned_only:
            standing = NONE_MATCH
        elif not self._usable:
            standing = NOT_USABLE
        else:
            standing = NONE_YET if self._keeping else NONE_KEPT
        self.panel.show_state(standing)
        self._stack.setCurrentWidget(self.panel)

    # --- intents out --------------------------------------------------------------------------------------------

    def chosen(self) -> tuple[HistoryEntry, ...]:
        """The selected entries."""
        return tuple(self.model.entry(row) for row in self.table.chosen_rows())

    def copied(self) -> tuple[str, str] | None:
        """The selected rows as text, and what that is."""
        rows = self.table.chosen_rows()
        if not rows:
            return None
        return "\n".join(map(self.model.row_text, rows)), "the row" if len(rows) == 1 else f"{number(len(rows))} rows"

    def _meant(self) -> tuple[HistoryEntry, ...]:
        """Several selected entries, or else all that are listed."""
        chosen = self.chosen()
        return chosen if len(chosen) > 1 else self.model.entries

    def _open(self) -> None:
        chosen = self.chosen()
        if chosen:
            self.openRequested.emit(chosen[0])

    def _pin(self) -> None:
        chosen = self.chosen()
        if chosen:
            self.pinRequested.emit(chosen, not all(entry.pinned for entry in chosen))

    def _pin_row(self, row: int) -> None:
        entry = self.model.entry(row)
        self.pinRequested.emit((entry,), not entry.pinned)

    def _forget(self) -> None:
        chosen = self.chosen()
        if chosen:
            self.forgetRequested.emit(chosen)

    def _menu(self, at: QPoint) -> None:
        index = self.table.currentIndex()  # the menu key means it, too
        if not index.isValid():
            return
        menu = QMenu(self)
        for button in (self.open_button, self.pin_button, self.forget_button):
            action = menu.addAction(button.text())
            action.setEnabled(button.isEnabled())
            action.triggered.connect(button.click)
        menu.addSeparator()
        entry, copied = self.model.entry(index.row()), self.copied()
        for words, text, what in (
            ("Copy question", entry.text, "the question"),
            ("Copy row" if len(self.chosen()) <= 1 else "Copy rows", *(copied or ("", ""))),
            ("Copy cell", str(index.data() or ""), "the cell"),
        ):
            menu.addAction(words, partial(self.copyRequested.emit, text, what)).setEnabled(bool(text))
        menu.popup(self.table.viewport().mapToGlobal(at))
        menu.aboutToHide.connect(menu.deleteLater)

    def _fit_buttons(self) -> None:
        chosen = self.chosen()
        self.open_button.setEnabled(len(chosen) == 1)
        self.pin_button.setEnabled(bool(chosen))
        self.pin_button.setText("Unpin" if chosen and all(entry.pinned for entry in chosen) else "Pin")
        self.forget_button.setEnabled(bool(chosen))
        self.forget_button.setText("Forget…" if len(chosen) <= 1 else f"Forget {number(len(chosen))}…")
        self.export_button.setEnabled(bool(self.model.rowCount()))
        self.all_button.setEnabled(bool(self.model.rowCount()) or bool(self.search or self.pinned_only))
