"""What the library holds: its folders, and every document with its state."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.models.documents import LEFT_OUT, ROW_WORDS, DocumentTable, left_out_rows
from app.state import LibraryState, NextStep, Problem, Scope
from app.theme import Theme
from app.views.document_pane import DocumentPane
from app.views.document_table import DocumentTableView
from app.views.parts import Elided, Text, push_button
from app.views.roots_list import RootsList
from app.views.states import StatePanel
from pipeline.records import Document
from pipeline.words.sentences import count, number
from pipeline.words.states import left_out_words

if TYPE_CHECKING:
    from pipeline.store.catalog import DocumentText

CLEAR_FILTER = "clear-filter"
NONE_MATCH = Problem(
    "No document matches",
    "None has these words in its name, folder or reason.",
    (NextStep("Clear the filter", CLEAR_FILTER),),
)


class LibraryPage(QWidget):
    """Emits intents; shows what the session says."""

    addFolderRequested = Signal()
    reindexRequested = Signal()
    reindexRootRequested = Signal(str)  # path
    forgetRequested = Signal(str, str)  # path, label
    openRequested = Signal(str)  # path
    revealRequested = Signal(str)  # path
    copyRequested = Signal(str, str)  # text, what it is
    documentRequested = Signal(str)  # doc_id
    onlyFileRequested = Signal(str)  # doc_id
    leaveOutRequested = Signal(str, object)  # doc_id, bool
    whyRequested = Signal(str)  # doc_id: why is it not in the answer
    reindexFileRequested = Signal(str)  # path
    retryRequested = Signal()  # read again what failed
    keepRequested = Signal(bool)  # keep the library up to date while it is open
    stepChosen = Signal(str)  # the id of an action

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scope = Scope()
        self._library = LibraryState()
        self._coming: LibraryState | None = None
        self._awaited = ""
        self._working = False
        self._title = Text("Library", scale=1.5, bold=True)
        self._counts = Elided(Qt.TextElideMode.ElideRight, muted=True)
        self._add = QPushButton("Add folder…")
        self._add.clicked.connect(self.addFolderRequested)
        self._reindex = QPushButton("Re-index")
        self._reindex.clicked.connect(self.reindexRequested)
        self._retry = QPushButton("Read again")
        self._retry.setToolTip("Read the files again that failed")
        self._retry.clicked.connect(self.retryRequested)
        self._retry.hide()
        self.keep = QCheckBox("Keep up to date while open")
        self.keep.setToolTip("Index files as they change, for as long as this library is open")
        self.keep.clicked.connect(self.keepRequested)
        self.roots = RootsList(theme)
        self.roots.reindexRequested.connect(self.reindexRootRequested)
        self.roots.forgetRequested.connect(self.forgetRequested)
        self.roots.revealRequested.connect(self.revealRequested)

        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter by name, folder or reason")
        self.filter.setAccessibleName("Filter the documents")
        self.filter.setClearButtonEnabled(True)
        self.state = QComboBox()
        self.state.setAccessibleName("Show documents in this state")
        self.state.view().setAccessibleName("Show documents in this state")
        self.state.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.model = DocumentTable(self)
        self.table = DocumentTableView(theme)
        self.table.setModel(self.model)
        self.panel = StatePanel()
        self.panel.stepChosen.connect(self._step)
        self._standing: Problem | None = None
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self.panel)
        self._shown_count = Text(muted=True)
        self.filter.textChanged.connect(self._filter_text)
        self.state.currentIndexChanged.connect(self._filter_state)
        self.table.doubleClicked.connect(self._show_document)
        self.table.activatedRow.connect(self._show_document)
        self.table.customContextMenuRequested.connect(self._menu)
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)

        self._open = push_button("Open", "Open the file with its own program", self._open_file)
        self._reveal = push_button("Show in its folder", "Show the file in its folder", self._reveal_file)
        self._read = push_button("Read here", "Show the text that was read from it (Enter)", self._show_document)
        self.only_button = push_button("Search only in it", "Ask questions of this file alone", self._only_file)
        self.leave_button = push_button(
            "Leave out", "Leave this file out of searches, or take it back in", self._leave_out
        )

        self._again = push_button("Re-index it", "Bring this file alone up to date", self._reindex_file)
        self._reason = Elided(Qt.TextElideMode.ElideRight, muted=True)
        self.pane = DocumentPane(theme)
        self._pane_title = Elided(bold=True)
        self._pane_note = Text(muted=True, wrap=True)
        self._close_pane = QPushButton("Close")
        self._pane_box = QWidget()
        self._close_pane.clicked.connect(self._pane_box.hide)
        self._build()
        self.set_theme(theme)
        self._fit_buttons()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addWidget(self._counts, 1)
        head.addWidget(self.keep)
        head.addWidget(self._add)
        head.addWidget(self._reindex)
        narrow = QHBoxLayout()
        narrow.setSpacing(8)
        narrow.addWidget(self.filter, 1)
        narrow.addWidget(self.state)
        narrow.addWidget(self._retry)
        narrow.addWidget(self._shown_count)
        row = QHBoxLayout()
        row.setSpacing(6)
        for button in self._row_buttons():
            row.addWidget(button)
        row.addWidget(self._reason, 1)
        upper = QWidget()
        column = QVBoxLayout(upper)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(narrow)
        column.addWidget(self._stack, 1)
        column.addLayout(row)
        pane_head = QHBoxLayout()
        pane_head.addWidget(self._pane_title, 1)
        pane_head.addWidget(self._close_pane)
        lower = QVBoxLayout(self._pane_box)
        lower.setContentsMargins(0, 6, 0, 0)
        lower.setSpacing(4)
        lower.addLayout(pane_head)
        lower.addWidget(self.pane, 1)
        lower.addWidget(self._pane_note)
        self._pane_box.hide()
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(upper)
        self.splitter.addWidget(self._pane_box)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        page = QVBoxLayout(self)
        page.setContentsMargins(20, 16, 20, 12)
        page.setSpacing(10)
        page.addLayout(head)
        page.addWidget(self.roots)
        page.addWidget(self.splitter, 1)
        self.setTabOrder(self._add, self._reindex)
        self.setTabOrder(self._reindex, self.keep)

    # --- state in -----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self.table.set_theme(theme)
        self.roots.set_theme(theme)
        self.pane.set_theme(theme)
        self._add.setIcon(icon("add-folder", theme))
        self._reindex.setIcon(icon("refresh", theme))

    def set_library(self, library: LibraryState) -> None:
        """Show what the library holds, now or when the page is next seen: ten thousand rows are not arranged anew
        every other second behind another page."""
        self._coming = library
        if self.isVisible():
            self._show_library()

    def showEvent(self, event: QShowEvent) -> None:
        self._show_library()
        super().showEvent(event)

    def _show_library(self) -> None:
        """The selected document stays selected."""
        library, self._coming = self._coming, None
        if library is None:
            return
        other = library.folder != self._library.folder
        self._library = library
        self._title.setText(f"Library: {library.name}" if library.name else "Library")
        facts = library.facts
        self._counts.setText(
            ""
            if facts is None
            else f"{count(facts.documents, 'document')}, {count(facts.chunks, 'chunk')}, "
            f"{count(facts.texts, 'different text')}, in {library.folder}"
            + (f"; passed over: {left_out_words(library.left_out)}" if library.left_out else "")
        )
        self._add.setToolTip(
            "Add a folder of documents to your own library: the sample stays as it is (Ctrl+Shift+O)"
            if library.sample
            else "Add a folder of documents (Ctrl+Shift+O)"
        )
        self._reindex.setEnabled(bool(library.roots))
        self.roots.set_roots(library.roots, library.documents, removable=not library.sample)
        chosen = None if other else self.current_document()
        self.model.set_documents(
            library.documents, library.freshness, left_out_rows(library.passed_over, library.roots)
        )
        self._fit_states()
        if chosen is not None and self.table.currentIndex().row() < 0:
            self.table.choose(self.model.row_of(chosen.doc_id))
        if other:
            self._pane_box.hide()
        self._filtered()

    def set_standing(self, standing: Problem | None) -> None:
        """What stands in the table's place while the library holds no document; None when it holds some."""
        self._standing = standing
        self._show_standing()

    def name_reindex(self, tip: str) -> None:
        """What its button says beside its words, its key included."""
        self._reindex.setToolTip(tip)

    def set_scope(self, scope: Scope) -> None:
        self._scope = scope
        self._fit_buttons()

    def set_working(self, working: bool) -> None:
        """While something is being written, nothing else can be."""
        self._working = working
        self._reindex.setEnabled(not working and bool(self._library.roots))
        self._retry.setEnabled(not working)
        self._fit_buttons()
        self.roots.set_working(working)

    def set_kept(self, kept: bool, *, possible: bool) -> None:
        """Whether the library is kept up to date, and whether it can be."""
        self.keep.setEnabled(possible)
        self.keep.setChecked(kept)

    def show_document(self, document: DocumentText) -> None:
        """A document's text has arrived."""
        if document.doc_id != self._awaited:
            return
        self._awaited = ""
        self._pane_title.setText(document.doc_id)
        self.pane.show_text(document, None)
        note = self.pane.note if document.text else "No text was read from this file."
        self._pane_note.setText(note)
        self._pane_note.setVisible(bool(note))
        self._pane_box.show()
        self.splitter.setSizes([3, 2] if self.splitter.sizes()[1] == 0 else self.splitter.sizes())

    def show_problem(self, doc_id: str, problem: Problem) -> None:
        """A document's text could not be read."""
        if doc_id == self._awaited:
            self._awaited = ""
            self._pane_title.setText(doc_id)
            self.pane.clear_document()
            self._pane_note.setText(problem.text)
            self._pane_note.show()
            self._pane_box.show()

    # --- intents out --------------------------------------------------------------------------------------------

    def current_document(self) -> Document | None:
        """The selected document."""
        row = self.table.currentIndex().row()
        return self.model.document(row) if 0 <= row < self.model.rowCount() else None

    def _show_document(self) -> None:
        document = self.current_document()
        if document is not None:
            self._awaited = document.doc_id
            self.documentRequested.emit(document.doc_id)

    def _open_file(self) -> None:
        document = self.current_document()
        if document is not None:
            self.openRequested.emit(document.path)

    def _reveal_file(self) -> None:
        document = self.current_document()
        if document is not None:
            self.revealRequested.emit(document.path)

    def _only_file(self) -> None:
        document = self.current_document()
        if document is not None:
            self.onlyFileRequested.emit(document.doc_id)

    def _leave_out(self) -> None:
        document = self.current_document()
        if document is not None:
            self.leaveOutRequested.emit(document.doc_id, document.doc_id not in self._scope.left_out)

    def _reindex_file(self) -> None:
        document = self.current_document()
        if document is not None:
            self.reindexFileRequested.emit(document.path)

    def _row_buttons(self) -> tuple[QPushButton, ...]:
        """What can be done with the selected row."""
        return (self._read, self._open, self._reveal, self.only_button, self.leave_button, self._again)

    def _ask_why(self) -> None:
        document = self.current_document()
        if document is not None:
            self.whyRequested.emit(document.doc_id)

    def _menu(self, at: QPoint) -> None:
        if self.current_document() is None:
            return
        menu = QMenu(self)
        for button in self._row_buttons():
            action = menu.addAction(button.text())
            action.setEnabled(button.isEnabled())
            action.triggered.connect(button.click)
        why = menu.addAction("Why is it not in the answer?")
        why.setObjectName("why")
        why.triggered.connect(lambda checked=False: self._ask_why())
        self._add_copies(menu)
        menu.popup(self.table.viewport().mapToGlobal(at))
        menu.aboutToHide.connect(menu.deleteLater)

    def _add_copies(self, menu: QMenu) -> None:
        """Path, row and cell of the current row."""
        index, document = self.table.currentIndex(), self.current_document()
        if document is None:
            return
        menu.addSeparator()
        for words, text, what in (
            ("Copy path", document.path, "the path"),
            ("Copy row", self.model.row_text(index.row()), "the row"),
            ("Copy cell", str(index.data() or ""), "the cell"),
        ):
            menu.addAction(words, partial(self.copyRequested.emit, text, what)).setEnabled(bool(text))

    # --- the filter ---------------------------------------------------------------------------------------------

    def _filter_text(self, text: str) -> None:
        self.model.set_text(text)
        self._filtered()

    def _filter_state(self, index: int) -> None:
        self.model.set_state(self.state.itemData(index) or "")
        self._filtered()

    def _filtered(self) -> None:
        shown, of = self.model.rowCount(), len(self._library.documents)
        if (chosen := self.state.currentData()) in LEFT_OUT:
            of = self.model.held().get(chosen, 0)
        self._shown_count.setText(f"{number(shown)} of {number(of)}")
        self._shown_count.setVisible(shown != of)
        self._show_standing()
        self._fit_buttons()

    def _show_standing(self) -> None:
        """The table, or why it has no row to show."""
        standing = None
        if not self.model.rowCount():
            filtered = bool(self._library.documents) and bool(self.filter.text().strip() or self.state.currentData())
            standing = NONE_MATCH if filtered else self._standing
        if standing is not None:
            self.panel.show_state(standing)
        self._stack.setCurrentWidget(self.table if standing is None else self.panel)
        there = bool(self._library.documents or self._library.passed_over)
        for part in (self.filter, self.state, *self._row_buttons()):
            part.setVisible(there)

    def _step(self, step: str) -> None:
        if step != CLEAR_FILTER:
            self.stepChosen.emit(step)
            return
        self.filter.clear()
        self.state.setCurrentIndex(0)
        self.filter.setFocus()

    def _fit_states(self) -> None:
        """The states that there are, with how many documents are in each."""
        held = self.model.held()
        failed = held.get("failed", 0) + held.get("stale", 0)
        self._retry.setText(f"Read {count(failed, 'failed file')} again")
        self._retry.setVisible(failed > 0)
        chosen = self.state.currentData() or ""
        with QSignalBlocker(self.state):
            self.state.clear()
            self.state.addItem(f"All states ({number(len(self._library.documents))})", "")
            for state, words in ROW_WORDS.items():
                if held.get(state) or state == chosen:
                    self.state.addItem(f"{words} ({number(held.get(state, 0))})", state)
            self.state.setCurrentIndex(max(0, self.state.findData(chosen)))

    def _row_changed(self) -> None:
        self._fit_buttons()

    def _fit_buttons(self) -> None:
        document = self.current_document()
        for button in self._row_buttons():
            button.setEnabled(document is not None)
        self._reason.setText(document.reason if document is not None else "")
        if document is not None:
            self.only_button.setEnabled(document.chunks > 0)
            self.leave_button.setEnabled(document.chunks > 0)
            is_document = document.why not in LEFT_OUT
            self._read.setEnabled(is_document)
            self._again.setEnabled(is_document and not self._working)
            self.leave_button.setText("Take back in" if document.doc_id in self._scope.left_out else "Leave out")
