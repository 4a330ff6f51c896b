"""From an answer or the library to a document's family, and back."""

from __future__ import annotations

from contextlib import closing

from PySide6.QtCore import QObject

from app.features.duplicates_scan import Scanning
from app.features.ground import Ground
from app.jobs.ends import End
from pipeline.words.phrases import file_name

_READING = "reading a document to ask with"
_BEGINNING = 240  # characters of a document that make a question of it


class Ways(QObject):
    """Where else a document stands in the window."""

    def __init__(self, ground: Ground, scanning: Scanning) -> None:
        super().__init__(ground.window)
        self._ground, self._window, self._session = ground, ground.window, ground.session
        self._page, self.scanning = ground.window.duplicates, scanning
        ground.window.actions_.on("show-family", self._show_chosen_family)
        ground.window.inspector.lanes.familyRequested.connect(self.show_family)
        self._page.searchRequested.connect(self._search_with)
        self._page.onlyFileRequested.connect(self._search_only)
        self._page.libraryRequested.connect(self._show_in_library)

    def show_family(self, doc_id: str) -> None:
        """Show the family of this document; the library is looked at first where it was not."""
        self._window.show_page("duplicates")
        if self.scanning.base is None and not self.scanning.scanning:
            self.scanning.scan()
        if not self._page.show_family_of(doc_id):
            self._window.status.say(f"{file_name(doc_id)} is no copy and no version of another document.")

    def chosen_document(self) -> str:
        """The document that is selected in the answer or in the library."""
        if self._window.page == "library":
            document = self._window.library.current_document()
            return document.doc_id if document is not None else ""
        place = self._window.inspector.detail.shown_place() if self._window.page == "inspector" else None
        return place.doc_id if place is not None else ""

    def _show_chosen_family(self) -> None:
        doc_id = self.chosen_document()
        if doc_id:
            self.show_family(doc_id)

    def _search_only(self, doc_id: str) -> None:
        self._session.inquiry.only_file(doc_id)
        self._window.show_page("inspector")
        self._window.inspector.query.focus_field()

    def _search_with(self, doc_id: str) -> None:
        """Ask with the document's own beginning."""
        folder = self.scanning.state.folder
        if folder is None:
            return
        open_reader = self._ground.crew.backend.open_reader

        def work() -> str:
            with closing(open_reader(folder)) as reader:
                return beginning_of(reader.document_text(doc_id).text)

        def ended(end: End[str]) -> None:
            if end.how == "done" and end.value:
                self._window.inspector.query.set_question(end.value)
                self._window.show_page("inspector")
                self._session.inquiry.ask(end.value)
            elif end.how != "cancelled":
                self._window.status.say(f"{file_name(doc_id)} holds no text to ask with.")

        self._ground.crew.look(_READING, work, ended)

    def _show_in_library(self, doc_id: str) -> None:
        library = self._window.library
        self._window.show_page("library")
        library.filter.clear()
        library.state.setCurrentIndex(0)
        library.table.choose(library.model.row_of(doc_id))
        library.table.scrollTo(library.table.currentIndex())
        library.table.setFocus()


def beginning_of(text: str) -> str:
    """A document's first words as a question: up to a sentence's end where one is near."""
    head = " ".join(text[: _BEGINNING * 8].split())[:_BEGINNING]
    for sign in (". ", "? ", "! "):
        end = head.find(sign, 60)
        if end > 0:
            return head[: end + 1]
    return head.rsplit(" ", 1)[0] if len(head) == _BEGINNING else head
