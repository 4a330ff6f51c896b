"""The selected chunk in its document, every file that cites it, and a comparison with its twins and near twins."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.difference import Difference, compare
from app.focus import Focus
from app.state import Problem
from app.subject import Subject, base_name, place_words, subject_of
from app.theme import Theme, qcolor
from app.views.compare import CompareView
from app.views.document_pane import DocumentPane
from app.views.page_pane import PagePane
from app.views.parts import Elided, Text
from app.views.places import PlacesView
from pipeline.records import Location, Trace
from pipeline.words.plain import one_line

if TYPE_CHECKING:
    from pipeline.store.catalog import DocumentText

TEXT, PAGE, COMPARE = range(3)  # the tabs
KEPT_DOCUMENTS = 4
KEPT_CHARACTERS = 20_000_000
COMPARED_AT_ONCE = 20_000  # characters of both sides: some 30 ms; longer texts are compared in a thread


class Badge(QWidget):
    """The letter of a twin group in its colour, as in the lanes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._letter = theme, ""
        self.setFixedSize(QSize(24, 24))

    def show_letter(self, letter: str | None, theme: Theme) -> None:
        self._theme, self._letter = theme, letter or ""
        self.setVisible(bool(letter))
        self.setAccessibleName(f"Twin group {letter}" if letter else "")
        self.setToolTip("Texts with this letter are the same text" if letter else "")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colour = self._theme.twin(self._letter)
        if colour is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(colour))
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 11, 11)
        painter.setPen(qcolor(self._theme.on(colour)))
        painter.setFont(self._theme.font("small", bold=True))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self._letter)
        painter.end()


class DetailView(QWidget):
    """Follows the focus. Texts of documents are asked for with a signal and arrive when they are read."""

    documentRequested = Signal(str)  # doc_id
    pageWanted = Signal(object)  # PageWanted
    openRequested = Signal(str)  # path
    openAtRequested = Signal(object)  # Location
    revealRequested = Signal(str)  # path
    copyRequested = Signal(str, str)  # text, what it is
    whyWanted = Signal()  # why is this there, or not
    comparisonWanted = Signal(str, str)  # two long texts, to be compared elsewhere: see `show_difference`

    def __init__(self, focus: Focus, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._focus, self._theme = focus, theme
        self._trace: Trace | None = None
        self._subject: Subject | None = None
        self._place: Location | None = None  # the place that is shown: the subject's own, or one chosen in the list
        self._texts: OrderedDict[str, DocumentText] = OrderedDict()
        self._awaited = ""
        self._sides: tuple[Location | str, Location | str] | None = None  # of the comparison
        self._wants_page = False  # who reads pages goes on reading pages, where there are some
        self._fitting = False
        focus.selectedChanged.connect(self._follow)

        self._badge = Badge(theme)
        self._title = Text(bold=True, scale=1.05)
        self._where = Text(muted=True)
        self._said = Elided(Qt.TextElideMode.ElideRight)
        self._pane = DocumentPane(theme)
        self._note = Text(muted=True, wrap=True)
        self.page = PagePane(theme)
        self.page.pageWanted.connect(self.pageWanted)
        self._places = PlacesView(theme)
        self._places.shown.connect(self._show_place)
        self._places.openRequested.connect(self.openRequested)
        self._places.openAtRequested.connect(self.openAtRequested)
        self._places.revealRequested.connect(self.revealRequested)
        self._places.copyRequested.connect(self.copyRequested)
        self._with = QComboBox()
        self._with.setAccessibleName("Compare with")
        self._with.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._with.currentIndexChanged.connect(self._compare)
        self._compare_view = CompareView(theme)
        self._compared: tuple[str, str] = ("", "")  # the texts whose comparison is shown or awaited
        self._why = QPushButton("Why?")
        self._why.setProperty("flat", True)
        self._why.setToolTip("Why is this in the answer, or not, and what would change it (Ctrl+I)")
        self._why.setAccessibleName("Why is this in the answer, or not")
        self._why.clicked.connect(lambda checked=False: self.whyWanted.emit())
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.currentChanged.connect(self._show_tab)
        self._hint = Text(
            "Select a row above to read it in its document, beside every file that holds the same text.",
            muted=True,
            wrap=True,
        )
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._build()
        self.set_theme(theme)

    def _build(self) -> None:
        document = QWidget()
        column = QVBoxLayout(document)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._pane, 1)
        column.addWidget(self._note)
        comparing = QWidget()
        column = QVBoxLayout(comparing)
        column.setContentsMargins(0, 6, 0, 0)
        row = QHBoxLayout()
        label = Text("Compare with", muted=True)
        label.setBuddy(self._with)
        row.addWidget(label)
        row.addWidget(self._with, 1)
        column.addLayout(row)
        column.addWidget(self._compare_view, 1)
        self.tabs.addTab(document, "In its document")
        self.tabs.addTab(self.page, "As a page")
        self.tabs.addTab(comparing, "Compare")
        self.tabs.setTabVisible(PAGE, False)
        self.tabs.setTabToolTip(TEXT, "The chunk where it stands, with what is before and after it")
        self.tabs.setTabToolTip(PAGE, "The page as it is printed, with the passage marked")
        self.tabs.setTabToolTip(COMPARE, "Word by word, with a twin or a near twin")

        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._badge)
        head.addWidget(self._title)
        head.addWidget(self._where)
        head.addWidget(self._said, 1)
        head.addWidget(self._why)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(10, 0, 0, 0)
        column.addWidget(self._places)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self.tabs)
        split.addWidget(side)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([560, 400])
        self.splitter = split
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(12, 6, 12, 8)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(split, 1)
        self._stack.addWidget(self._hint)
        self._stack.addWidget(full)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)
        self.setMinimumHeight(120)

    # --- state in -----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._pane.set_theme(theme)
        self.page.set_theme(theme)
        self._compare_view.set_theme(theme)
        self._places.set_theme(theme)
        if self._subject is not None:
            self._badge.show_letter(self._subject.letter, theme)

    def set_trace(self, trace: Trace | None) -> None:
        """Another answer: what is selected is looked up in it."""
        if trace is None or self._trace is None or trace.library != self._trace.library:
            self._texts.clear()  # another state of the library may hold other texts
        self._trace = trace
        self._follow()

    def show_document(self, document: DocumentText) -> None:
        """A document's text has arrived."""
        self._texts[document.doc_id] = document
        self._texts.move_to_end(document.doc_id)
        while len(self._texts) > 1 and (
            len(self._texts) > KEPT_DOCUMENTS or sum(len(one.text) for one in self._texts.values()) > KEPT_CHARACTERS
        ):
            self._texts.popitem(last=False)
        if document.doc_id != self._awaited:
            return
        self._awaited = ""
        self._fit_page_tab()
        self._show_tab()

    def show_subject(self, subject: Subject) -> None:
        """Show a passage that is no row of the answer; what is selected next takes its place."""
        self._show_subject(subject)

    def show_difference(self, left: str, right: str, difference: Difference) -> None:
        """The comparison of two long texts has arrived."""
        if (left, right) == self._compared and self._sides is not None:
            self._compare_view.show_difference(*self._sides, difference, self._where_it_stands())

    def say_not_compared(self, left: str, right: str) -> None:
        """The comparison of two long texts did not work."""
        if (left, right) == self._compared:
            self._compare_view.show_nothing("These two texts could not be compared.")

    def show_problem(self, doc_id: str, problem: Problem) -> None:
        """A document's text could not be read: the chunk itself is shown, as the answer holds it."""
        if doc_id == self._awaited and self._subject is not None:
            self._awaited = ""
            self._pane.clear_document()
            self._pane.setPlainText(self._subject.text)
            self.tabs.setTabVisible(PAGE, False)
            self._note.setText(f"Only the chunk is shown: {problem.text}")
            self._note.show()

    @property
    def subject(self) -> Subject | None:
        """The chunk that is shown."""
        return self._subject

    @property
    def waiting(self) -> bool:
        """Whether a document's text or page was asked for and has not arrived."""
        return bool(self._awaited) or (self.tabs.currentIndex() == PAGE and self.page.waiting)

    @property
    def hint(self) -> str:
        """What is said while nothing is selected."""
        return self._hint.text()

    def shown_place(self) -> Location | None:
        """The place whose text is shown."""
        return self._place

    def copied(self) -> tuple[str, str] | None:
        """What "Copy" copies, and what that is: the path in the list of files, else the text that is shown."""
        own = self._places.copied()
        if own is not None or self._subject is None:
            return own
        return self._subject.text, "the text of the selected row"

    def shown_text(self) -> str:
        """The text in the document's pane, as it is shown."""
        return self._pane.toPlainText()

    def marked_text(self) -> str:
        """The part of it that is marked."""
        return self._pane.marked_text()

    def comparison_sentence(self) -> str:
        """What the comparison says."""
        return self._compare_view.sentence.text()

    def show_document_tab(self) -> None:
        """The chunk in its document, as text or as a page, not the comparison."""
        if self.tabs.currentIndex() == COMPARE:
            self.tabs.setCurrentIndex(TEXT)

    def show_page_tab(self) -> None:
        """The page as it is printed, where the document has pages."""
        self.tabs.setCurrentIndex(PAGE)

    def show_comparison(self) -> None:
        """The comparison with a twin or near twin."""
        self.tabs.setCurrentIndex(COMPARE)

    # --- following the focus ------------------------------------------------------------------------------------

    def _follow(self) -> None:
        subject = subject_of(self._focus.selected, self._trace)
        if subject != self._subject or subject is None:
            self._show_subject(subject)

    def _show_subject(self, subject: Subject | None) -> None:
        self._subject = subject
        self._stack.setCurrentIndex(0 if subject is None else 1)
        if subject is None:
            self._place = None
            self._pane.clear_document()
            self.page.clear_page()
            return
        self._badge.show_letter(subject.letter, self._theme)
        self._said.setText(" ".join(subject.said))
        self._places.show_places(subject.places_title, subject.places, subject.place)
        self._with.blockSignals(True)
        self._with.clear()
        for partner in subject.partners:
            self._with.addItem(partner.label)
        self._with.blockSignals(False)
        self.tabs.setTabText(COMPARE, f"Compare ({len(subject.partners)})" if subject.partners else "Compare")
        self._show_place(subject.place)
        if self.tabs.currentIndex() == COMPARE:
            self._compare()

    def _show_place(self, place: Location | None) -> None:
        subject = self._subject
        if subject is None:
            return
        self._place = place
        name = one_line(subject.title if place is None else base_name(place.path), 48)
        # A name that begins right to left still ends in its suffix on the right, as in the lanes.
        self._title.setText(f"\N{LEFT-TO-RIGHT MARK}{name}")
        self._where.setText("no document is known" if place is None else place_words(place))
        self._fit_page_tab()
        if self.tabs.currentIndex() != COMPARE:
            self._show_tab()

    def _fit_page_tab(self) -> None:
        """Only a PDF has a page to show; until its text is there, its name says so."""
        place = self._place
        known = self._texts.get(place.doc_id) if place is not None else None
        by_name = place is not None and place.path.lower().endswith(".pdf")
        shown = known.kind == "pdf" and bool(known.pages) if known is not None else by_name
        self._fitting = True
        if not shown and self.tabs.currentIndex() == PAGE:  # Qt itself would go on to the comparison
            self.tabs.setCurrentIndex(TEXT)
        self.tabs.setTabVisible(PAGE, shown)
        if shown and self._wants_page and self.tabs.currentIndex() == TEXT:
            self.tabs.setCurrentIndex(PAGE)
        self._fitting = False

    def _show_page(self) -> None:
        place = self._place
        document = self._document(place.doc_id) if place is not None else None
        if place is not None and document is not None:
            self.page.show_place(document, place)

    def _show_text(self) -> None:
        place, subject = self._place, self._subject
        self._note.hide()
        if subject is None:
            return
        if place is None:
            self._pane.clear_document()
            self._pane.setPlainText(subject.text)
            return
        document = self._document(place.doc_id)
        if document is None:
            return
        self._pane.show_text(document, place.chunk_index, (place.start, place.end))
        if self._pane.note:
            self._note.setText(self._pane.note)
            self._note.show()

    def _document(self, doc_id: str) -> DocumentText | None:
        """The document's text, or None and a request for it."""
        known = self._texts.get(doc_id)
        if known is not None:
            self._texts.move_to_end(doc_id)
            return known
        self._awaited = doc_id
        self.documentRequested.emit(doc_id)
        return None

    # --- comparing ----------------------------------------------------------------------------------------------

    def _show_tab(self) -> None:
        if not self._fitting:
            self._wants_page = self.tabs.currentIndex() == PAGE
        (self._show_text, self._show_page, self._compare)[self.tabs.currentIndex()]()

    def _compare(self) -> None:
        subject = self._subject
        if subject is None or self.tabs.currentIndex() != COMPARE:
            return
        at = self._with.currentIndex()
        self._with.setEnabled(bool(subject.partners))
        self._sides = None
        if not 0 <= at < len(subject.partners):
            self._compare_view.show_nothing(
                "No other row of this answer says the same or nearly the same, so there is nothing to compare with."
            )
            return
        partner = subject.partners[at]
        text = partner.text
        if text is None and partner.place is not None:
            document = self._document(partner.place.doc_id)
            if document is None:
                self._compare_view.show_nothing("Reading the other document…")
                return
            text = document.text[partner.place.start : partner.place.end]
        left = subject.place if subject.place is not None else subject.title
        right = partner.place if partner.place is not None else partner.label
        self._sides = (left, right)
        self._compared = (subject.text, text or "")
        if len(subject.text) + len(text or "") > COMPARED_AT_ONCE:
            self._compare_view.show_nothing("Comparing…")
            self.comparisonWanted.emit(*self._compared)
        else:
            self.show_difference(*self._compared, compare(*self._compared))

    def _where_it_stands(self) -> tuple[Location, ...]:
        """Every place that holds the selected text, as far as the answer knows."""
        return self._subject.places if self._subject is not None else ()
