"""A library kept true to its folders: watched while it is open, brought up to date for one answer, made anew when its
database is damaged."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from app.features.ground import Ground
from app.jobs.backend import Thoroughness
from app.jobs.ends import End
from app.problems import problem_of
from app.state import AnswerState, LibraryState, WorkState
from pipeline.records import Root, Trace
from pipeline.words.phrases import count
from pipeline.words.plain import one_line

_ANEW = "Keeping the library aside"  # what the shelf calls that work


class UpkeepFeature(QObject):
    """Lives as long as its window."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground.window)
        self._ground, self._session, self._crew = ground, ground.session, ground.crew
        self._watched: tuple[Path, tuple[str, ...]] | None = None  # the library and its folders
        self._looked_at: Trace | None = None  # the answer whose files were compared with the library's list
        self._pending: dict[Path, None] = {}  # what changed while something else was being written
        shelf, actions, page = self._session.shelf, ground.window.actions_, ground.window.library
        actions.on("retry-failed", self._retry_failed)
        actions.on("reindex-answer", self._reindex_answer)
        actions.on("keep-up-to-date", lambda: self.keep(actions["keep-up-to-date"].isChecked()))
        actions.on("rebuild-library", self._rebuild)
        page.retryRequested.connect(lambda: actions.trigger("retry-failed"))
        page.keepRequested.connect(self.keep)
        page.reindexFileRequested.connect(self._reindex_file)
        ground.window.inspector.lanes.reindexFileRequested.connect(self._reindex_file)
        shelf.library_changed.connect(self._library_changed)
        shelf.work_changed.connect(self._work_changed)
        shelf.work_ended.connect(self._work_ended)
        self._session.inquiry.answer_changed.connect(self._answer_changed)
        ground.window.pageShown.connect(self._page_shown)
        self._fit()

    # --- one answer, one file -----------------------------------------------------------------------------------

    def _reindex_answer(self) -> None:
        trace = self._session.inquiry.answer.trace
        if trace is not None:
            self._index_only(places_of(trace, self._session.shelf.library.roots))

    def _reindex_file(self, path: str) -> None:
        """One file; where it is gone, its folder is looked through for where it went."""
        root = _root_of(path, self._session.shelf.library.roots)
        gone = root is not None and not Path(path).exists()
        self._index_only((Path(root.path) if gone and root is not None else Path(path),))

    def _index_only(self, places: Sequence[Path]) -> None:
        if places:
            self._session.shelf.index((), Thoroughness(retry_failed=True, only=tuple(places)))

    def _retry_failed(self) -> None:
        """Those files alone; the rest of their folders is not looked at."""
        failed = [item for item in self._session.shelf.library.documents if item.state in ("failed", "stale")]
        self._index_only([Path(item.path) for item in failed])

    # --- watching -----------------------------------------------------------------------------------------------

    def keep(self, wanted: bool) -> None:
        """Keep the open library up to date from now on, or no more; remembered with it."""
        library = self._session.shelf.library
        if library.folder is None:
            return
        self._ground.preferences.watch(library.folder, wanted)
        self._watch(library)
        self._fit()
        if wanted and library.phase == "open":
            self._ground.window.status.say("Files are indexed as they change, for as long as this library is open")

    def _wanted(self, library: LibraryState) -> bool:
        return library.folder is not None and self._ground.preferences.watches(library.folder)

    def _watch(self, library: LibraryState) -> None:
        """Watch the folders of this library, if that is wanted, and of no other."""
        folders = tuple(root.path for root in library.roots)
        if library.phase != "open" or library.folder is None or not folders or not self._wanted(library):
            if self._watched is not None and (library.phase != "opening" or self._watched[0] != library.folder):
                self._crew.watching.stop()
                self._watched, self._pending = None, {}
            return
        if self._watched == (library.folder, folders):
            return
        self._watched, self._pending = (library.folder, folders), {}
        # Each folder is told as a whole at first: what changed while the library was closed is taken too.
        self._crew.watching.start([Path(path) for path in folders], library.folder, self._changed, self._watch_ended)

    def _changed(self, places: tuple[Path, ...]) -> None:
        self._pending |= dict.fromkeys(places)
        self._take_pending()

    def _take_pending(self) -> None:
        shelf = self._session.shelf
        if not self._pending or shelf.work.active or shelf.library.phase != "open":
            return
        places, self._pending = tuple(self._pending), {}
        shelf.index((), Thoroughness(only=places))

    def _watch_ended(self, end: End[None]) -> None:
        self._watched = None
        if end.how == "failed":
            self._ground.window.status.say(
                f"The folders are not watched any more: {one_line(problem_of(end.error, end.details).text)}"
            )

    # --- a damaged library --------------------------------------------------------------------------------------

    def _rebuild(self) -> None:
        folder = self._session.shelf.library.folder
        if folder is None:
            return

        def work() -> tuple[str, ...]:
            from pipeline.rebuild import folders_of

            return folders_of(folder)

        self._crew.look("reading what is left of the library", work, self._folders_read)

    def _folders_read(self, end: End[Any]) -> None:
        folders: tuple[str, ...] = end.value if end.how == "done" and end.value is not None else ()
        dialogs = self._ground.dialogs
        given: tuple[Path, ...] = ()
        if end.how == "cancelled":
            return
        if not folders:
            chosen = dialogs.folder("The library does not tell its folders any more: choose the folder of documents")
            if chosen is None:
                return
            folders, given = (str(chosen),), (chosen,)
        shown = "\n".join(one_line(path) for path in folders[:8])
        more = f"\nand {count(len(folders) - 8, 'more folder', 'more folders')}" if len(folders) > 8 else ""
        if dialogs.confirm(
            "Rebuild the library?",
            "Its database is kept aside under another name, and these folders are indexed into a new one. Your "
            f"documents are not touched; what you decided and asked before is kept.\n\n{shown}{more}",
            "Keep it aside and rebuild",
        ):
            self._session.shelf.begin_anew(given)

    # --- states -------------------------------------------------------------------------------------------------

    def _library_changed(self, library: LibraryState) -> None:
        self._watch(library)
        self._take_pending()
        self._fit()

    def _work_changed(self, work: WorkState) -> None:
        self._fit()

    def _work_ended(self, work: WorkState) -> None:
        library = self._session.shelf.library
        if work.doing == _ANEW and work.phase == "done" and library.folder is not None:
            self._session.open_library(library.folder, sample=library.sample)
            self._session.shelf.index()
        else:
            self._take_pending()

    def _page_shown(self, page: str) -> None:
        """What became of the files since the library was last read is known where its files are listed."""
        if page == "library":
            self._read_anew()

    def _read_anew(self) -> None:
        shelf = self._session.shelf
        if shelf.library.phase == "open" and not shelf.work.active:
            shelf.refresh()

    def _answer_changed(self, answer: AnswerState) -> None:
        # An answer looks at the files that it cites: what it found is true of the library's list as well.
        if answer.phase == "answered" and answer.saved is None and answer.trace is not self._looked_at:
            self._looked_at = answer.trace
            if answer.trace is not None and _is_news(answer.trace, self._session.shelf.library):
                self._read_anew()
        self._fit()
        self._session.shelf.reconsider()

    def _fit(self) -> None:
        """Only what is possible now can be given."""
        session, actions = self._session, self._ground.window.actions_
        library, answer, idle = session.shelf.library, session.inquiry.answer, not session.shelf.work.active
        is_open = library.phase == "open" and bool(library.roots)
        trace = answer.trace if answer.saved is None else None
        failed = any(item.state in ("failed", "stale") for item in library.documents)
        actions["retry-failed"].setEnabled(is_open and idle and failed)
        actions["reindex-answer"].setEnabled(is_open and idle and trace is not None and bool(unlike(trace)))
        actions["keep-up-to-date"].setEnabled(is_open)
        actions["keep-up-to-date"].setChecked(self._wanted(library))
        actions["rebuild-library"].setEnabled(library.phase in ("open", "failed") and idle and not library.sample)
        self._ground.window.library.set_kept(self._wanted(library), possible=is_open)


def unlike(trace: Trace) -> tuple[str, ...]:
    """The files of this answer that are not as they were indexed, each once."""
    return tuple(
        dict.fromkeys(
            traced.candidate.source_path
            for traced in trace.candidates
            if traced.freshness not in (None, "fresh") and traced.candidate.source_path
        )
    )


def _is_news(trace: Trace, library: LibraryState) -> bool:
    """Whether this answer knows of a file something else than the library's list."""
    return any(
        traced.freshness is not None
        and library.freshness.get(traced.candidate.doc_id, traced.freshness) != traced.freshness
        for traced in trace.candidates
    )


def places_of(trace: Trace, roots: Collection[Root]) -> tuple[Path, ...]:
    """What to index so that the answer's files are as they are on the disk: a file that changed, and for one that is
    gone its folder, in which it may have moved."""
    places: dict[Path, None] = {}
    for traced in trace.candidates:
        path = traced.candidate.source_path
        if traced.freshness in (None, "fresh") or not path:
            continue
        root = _root_of(path, roots)
        places[Path(root.path) if traced.freshness == "missing" and root is not None else Path(path)] = None
    return tuple(places)


def _root_of(path: str, roots: Collection[Root]) -> Root | None:
    return next((root for root in roots if Path(root.path) in Path(path).parents), None)
