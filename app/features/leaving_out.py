"""What is left out of a folder: its patterns shown, what they would do looked up, and put in force by indexing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QUndoCommand

from app.features.ground import Ground
from app.jobs.backend import Thoroughness
from app.jobs.ends import End
from app.problems import problem_of
from app.state import LibraryState, WorkState
from pipeline.progress import CancelToken
from pipeline.records import Root
from pipeline.words.phrases import file_name

if TYPE_CHECKING:
    from app.views.leaving_out_dialog import LeavingOutDialog
    from pipeline.leaving_out import Ahead

_LANE = "looking at what would be left out"


@dataclass(frozen=True, slots=True)
class _Rules:
    """Of one folder."""

    exclude: tuple[str, ...]
    gitignore: bool


class LeavingOutFeature(QObject):
    """Lives as long as its window."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground.window)
        self._ground, self._window, self._shelf = ground, ground.window, ground.session.shelf
        self._owed: dict[str, _Rules] = {}  # by the folder's path: wanted while something else was being written
        self._library: Path | None = None  # that these are of
        self._token = CancelToken()
        self._asked = 0
        ground.window.actions_.on("folder-rules", self._choose_folder)
        ground.window.library.roots.rulesRequested.connect(self._edit)
        self._shelf.library_changed.connect(self._fit)
        self._shelf.work_ended.connect(self._work_ended)
        ground.window.installEventFilter(self)
        self._fit(self._shelf.library)

    def _fit(self, library: LibraryState) -> None:
        possible = library.phase == "open" and bool(library.roots) and not library.sample
        self._window.actions_["folder-rules"].setEnabled(possible)
        if library.folder != self._library:
            self._library, self._owed = library.folder, {}

    # --- asking -----------------------------------------------------------------------------------------------------

    def _choose_folder(self) -> None:
        """Of several folders the user says which; that of the selected document is offered first."""
        roots = self._shelf.library.roots
        at: int | None = 0
        if len(roots) > 1:
            document = self._window.library.current_document()
            label = document.root_label if document is not None else ""
            likely = next((place for place, root in enumerate(roots) if root.label == label), 0)
            names = [f"{root.label} ({root.path})" for root in roots]
            at = self._ground.dialogs.pick("What to leave out", "Of which folder?", names, likely)
        if roots and at is not None:
            self._edit(roots[at].path)

    def _edit(self, path: str) -> None:
        library = self._shelf.library
        root = next((root for root in library.roots if root.path == path), None)
        if root is None or library.folder is None:
            return
        from app.views.leaving_out_dialog import LeavingOutDialog

        folder, held = library.folder, self._owed.get(path, _Rules(root.exclude, root.gitignore))
        shown = Root(root.id, root.label, root.path, held.exclude, held.gitignore)
        dialog = LeavingOutDialog(shown, self._window)
        dialog.lookWanted.connect(lambda exclude, gitignore: self._look(dialog, folder, root, exclude, gitignore))
        wanted = self._ground.dialogs.ask(dialog)
        self._stop_looking()
        chosen = _Rules(*dialog.wanted())
        dialog.deleteLater()
        if not wanted or chosen == held or folder != self._shelf.library.folder:
            return
        self._ground.commands.can_take_back(
            _Change(root.label, lambda: self._put(path, chosen), lambda: self._put(path, held))
        )

    def _look(
        self, dialog: LeavingOutDialog, library: Path, root: Root, exclude: tuple[str, ...], gitignore: bool
    ) -> None:
        """What these would leave out; a look that is not wanted any more ends at the next name."""
        self._stop_looking()
        asked, token = self._asked, self._token

        def work() -> Ahead:
            from pipeline.leaving_out import look_ahead

            return look_ahead(root, exclude, gitignore, library=library, cancel=token)

        def ended(end: End[Any]) -> None:
            if asked != self._asked:
                return  # the dialog may be gone
            if end.how == "done":
                dialog.show_ahead(end.value)
            elif end.how == "failed":
                dialog.show_failure(problem_of(end.error, end.details).text)

        self._ground.crew.look(_LANE, work, ended)

    def _stop_looking(self) -> None:
        self._token.cancel()
        self._token = CancelToken()
        self._asked += 1

    # --- putting in force -------------------------------------------------------------------------------------------

    def _put(self, path: str, rules: _Rules) -> None:
        """Index this folder by these rules, now or when what is being written is written."""
        self._owed[path] = rules
        if self._shelf.work.active:
            self._window.status.say("The folder is indexed by its new rules when the work under way ends")
        self._take_owed()

    def _take_owed(self) -> None:
        if not self._owed or self._shelf.work.active:
            return
        path = next(iter(self._owed))
        rules = self._owed.pop(path)
        if any(root.path == path for root in self._shelf.library.roots):
            self._shelf.index((Path(path),), Thoroughness(exclude=rules.exclude, gitignore=rules.gitignore))

    def _work_ended(self, work: WorkState) -> None:
        self._take_owed()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.Close:
            self._stop_looking()  # before the window waits for its threads
        return False


class _Change(QUndoCommand):
    """Other rules of a folder: put in force as this is pushed, taken back by those before."""

    def __init__(self, label: str, do: Callable[[], None], take_back: Callable[[], None]) -> None:
        super().__init__(f"what to leave out of {file_name(label)}")
        self._do, self._take_back = do, take_back

    def redo(self) -> None:
        self._do()

    def undo(self) -> None:
        self._take_back()
