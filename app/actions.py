"""Every command of the window, defined once: its words, its shortcut, its menu, its icon.

Menus, the rail, buttons of empty states and the command palette all trigger the same `QAction`s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QIcon, QKeySequence
from PySide6.QtWidgets import QWidget

from app.action_spec import ActionSpec
from app.actions_duplicates import DUPLICATES

SPECS: tuple[ActionSpec, ...] = (
    ActionSpec(
        "open-library",
        "Open library…",
        "File",
        ("Ctrl+O",),
        "open",
        "Open the folder of a library; an empty folder becomes a new one",
    ),
    ActionSpec(
        "new-window",
        "New window",
        "File",
        ("Ctrl+Shift+N",),
        "",
        "Another window on this library; open another library there to have both",
    ),
    ActionSpec(
        "add-folder",
        "Add folder…",
        "File",
        ("Ctrl+Shift+O",),
        "add-folder",
        "Add a folder of documents to this library and index it",
    ),
    ActionSpec("reindex", "Re-index", "File", ("Ctrl+R",), "refresh", "Bring every folder of this library up to date"),
    ActionSpec(
        "reindex-full",
        "Re-index, reading every file again",
        "File",
        (),
        "",
        "Trust no size and no date: read every file of this library again",
    ),
    ActionSpec("retry-failed", "Read again what failed", "File", (), "refresh", "Try the files that could not be read"),
    ActionSpec(
        "reindex-answer",
        "Re-index what changed in this answer",
        "File",
        (),
        "refresh",
        "Bring the files of this answer that are not as they were indexed up to date, and see what moved",
    ),
    ActionSpec(
        "keep-up-to-date",
        "Keep up to date while open",
        "File",
        (),
        "",
        "Index files as they change, for as long as this library is open",
        checkable=True,
    ),
    ActionSpec(
        "folder-rules",
        "What to leave out…",
        "File",
        (),
        "left-out",
        "Patterns of files and folders of a folder that are not indexed, and whether .gitignore files count",
    ),
    ActionSpec(
        "rebuild-library",
        "Rebuild the library…",
        "File",
        (),
        "",
        "Keep a damaged library's database aside, and make it anew from its folders",
    ),
    ActionSpec(
        "open-sample", "Open the sample", "File", (), "document", "Documents of an invented company, to try it on"
    ),
    ActionSpec(
        "open-place",
        "Open at this place",
        "File",
        ("Ctrl+Return", "Ctrl+Enter"),
        "open-place",
        "Open the selected row's file at its page, where its program can do that",
        separated=True,
    ),
    ActionSpec(
        "export-trace",
        "Export trace as JSON…",
        "File",
        ("Ctrl+E",),
        "export",
        "Everything that happened for this question, as one JSON file",
        separated=True,
    ),
    ActionSpec(
        "export-trace-bare",
        "Export trace without texts…",
        "File",
        (),
        "",
        "The same for those who may not share content: hashes stand in the place of the texts",
    ),
    ActionSpec(
        "open-trace",
        "Open a saved trace…",
        "File",
        ("Ctrl+Shift+E",),
        "open",
        "A run that was exported as JSON, here or elsewhere: it needs no library",
    ),
    ActionSpec(
        "close-trace", "Back to the library", "File", ("Ctrl+Shift+W",), "", "Leave the saved run that is shown"
    ),
    ActionSpec(
        "export-page", "Export as HTML page…", "File", (), "export", "The answer as one page for a mail or a ticket"
    ),
    ActionSpec(
        "export-page-bare",
        "Export as HTML page without texts…",
        "File",
        (),
        "",
        "The same without a word of the documents: names of files, places and figures",
    ),
    ActionSpec(
        "save-lanes",
        "Save picture of the lanes…",
        "File",
        (),
        "present",
        "The three lanes with all their rows as a PNG picture, twice as sharp as the screen",
    ),
    ActionSpec(
        "save-picture", "Save picture of the window…", "File", ("Ctrl+Shift+S",), "", "This window as a PNG picture"
    ),
    ActionSpec("close-window", "Close this window", "File", ("Ctrl+W",), "", separated=True),
    ActionSpec("quit", "Quit", "File", ("Ctrl+Q",), "", "Close every window"),
    ActionSpec("undo", "Undo", "Edit", ("Ctrl+Z",), "", "Take back the last change of a setting or of the scope"),
    ActionSpec("redo", "Redo", "Edit", ("Ctrl+Shift+Z", "Ctrl+Y"), "", "Do again what was taken back"),
    ActionSpec("copy", "Copy", "Edit", ("Ctrl+C",), "copy", "Copy what is selected", separated=True),
    ActionSpec(
        "copy-projection",
        "Copy what the agent reads",
        "Edit",
        ("Ctrl+Shift+C",),
        "copy",
        "The projection as JSON, to the clipboard",
    ),
    ActionSpec("focus-query", "Type a question", "Edit", ("/", "Ctrl+L"), "search", separated=True),
    ActionSpec("clear-query", "Clear the question", "Edit"),
    ActionSpec(
        "reset-settings",
        "Reset the settings",
        "Edit",
        ("Ctrl+Shift+R",),
        "refresh",
        "Take back every setting that was changed here",
    ),
    ActionSpec(
        "search-everything",
        "Search all documents again",
        "Edit",
        (),
        "",
        "Take back “only in this file” and what is left out",
    ),
    ActionSpec(
        "why-not",
        "Why is it not there?…",
        "Answer",
        ("Ctrl+Shift+Y",),
        "search",
        "Find any document or passage, and learn why it is not in the answer and what would bring it in",
    ),
    ActionSpec(
        "why-row",
        "Why is this row there, or not?",
        "Answer",
        ("Ctrl+I",),
        "info",
        "Where the selected row stands, what removed it, and what would bring it in",
    ),
    ActionSpec(
        "pin-run",
        "Pin this run",
        "Answer",
        ("Ctrl+P",),
        "pin",
        "Keep this run as it is, to compare later ones with it",
    ),
    ActionSpec(
        "compare-before",
        "Compare with the run before",
        "Answer",
        ("Ctrl+B",),
        "compare",
        "What the last change did, side by side",
    ),
    ActionSpec(
        "compare-policies",
        "Compare the three policies",
        "Answer",
        ("Ctrl+Shift+B",),
        "compare",
        "What plain, source and evidence make of the same hits",
    ),
    ActionSpec("compare-swap", "Swap the sides of the comparison", "Answer", (), "", "Left becomes right"),
    ActionSpec(
        "rerun-trace",
        "Re-run the saved trace against this library",
        "Answer",
        (),
        "refresh",
        "Ask the saved run's question again with its settings, and say where the two runs first differ",
    ),
    ActionSpec(
        "copy-command",
        "Copy as command",
        "Answer",
        ("Ctrl+Alt+C",),
        "copy",
        "The command line that asks this with these settings",
        separated=True,
    ),
    ActionSpec(
        "copy-python",
        "Copy as Python",
        "Answer",
        ("Ctrl+Alt+P",),
        "copy",
        "A snippet that asks this with these settings through the program's own functions",
    ),
    ActionSpec(
        "pin-question",
        "Pin this question in the history",
        "Answer",
        ("Ctrl+Shift+H",),
        "pin",
        "Keep it there when the oldest go, to ask it again",
        separated=True,
    ),
    ActionSpec(
        "ask-list",
        "Ask a list of questions…",
        "Answer",
        (),
        "history",
        "Many questions in one go, with a row of figures each",
    ),
    ActionSpec(
        "keep-history",
        "Keep the questions asked",
        "Answer",
        (),
        "",
        "Every question is kept with its library as it is answered, on this computer alone",
        checkable=True,
    ),
    ActionSpec(
        "forget-history",
        "Forget the history…",
        "Answer",
        (),
        "",
        "Take every question asked of this library out of its history for good",
    ),
    *DUPLICATES,
    ActionSpec("page-inspector", "Inspector", "View", ("Ctrl+1",), "inspector", group="page", checkable=True),
    ActionSpec("page-compare", "Compare", "View", ("Ctrl+2",), "compare", group="page", checkable=True),
    ActionSpec("page-duplicates", "Duplicates", "View", ("Ctrl+3",), "duplicates", group="page", checkable=True),
    ActionSpec("page-library", "Library", "View", ("Ctrl+4",), "library", group="page", checkable=True),
    ActionSpec("page-history", "History", "View", ("Ctrl+5",), "history", group="page", checkable=True),
    ActionSpec("page-settings", "Settings", "View", ("Ctrl+6", "Ctrl+,"), "settings", group="page", checkable=True),
    ActionSpec("toggle-detail", "Show the document below", "View", ("Ctrl+D",), "", checkable=True, separated=True),
    ActionSpec(
        "present",
        "Present",
        "View",
        ("F5",),
        "present",
        "Large type, one step at a time: for a projector. Esc leaves",
        separated=True,
    ),
    ActionSpec("zoom-in", "Larger text", "View", ("Ctrl++", "Ctrl+="), "", separated=True),
    ActionSpec("zoom-out", "Smaller text", "View", ("Ctrl+-",)),
    ActionSpec("zoom-reset", "Normal text", "View", ("Ctrl+0",)),
    ActionSpec(
        "scheme-system", "Colours of the system", "View", (), "", group="scheme", checkable=True, separated=True
    ),
    ActionSpec("scheme-light", "Light colours", "View", (), "", group="scheme", checkable=True),
    ActionSpec("scheme-dark", "Dark colours", "View", (), "", group="scheme", checkable=True),
    ActionSpec(
        "scheme-contrast-light", "Light colours in high contrast", "View", (), "", group="scheme", checkable=True
    ),
    ActionSpec("scheme-contrast-dark", "Dark colours in high contrast", "View", (), "", group="scheme", checkable=True),
    ActionSpec("palette", "Find a command…", "Help", ("Ctrl+K",), "search", palette=False),
    ActionSpec("shortcuts", "Shortcuts", "Help", ("?", "F1"), "info"),
    ActionSpec("about", "About Twinspect", "Help", (), "info", separated=True),
    ActionSpec("cancel-work", "Cancel the indexing", "", ("Ctrl+.",), "cancel"),
    ActionSpec("reveal-library", "Show the library's folder", "", (), "reveal"),
    ActionSpec("restart-model", "Start the model again", "", (), "refresh"),
    ActionSpec("dismiss-notice", "Close this message", "", (), "cancel", palette=False),
    ActionSpec("retry", "Try again", "", (), "refresh", palette=False),
    ActionSpec("retry-work", "Try the indexing again", "", (), "refresh"),
    ActionSpec("copy-details", "Copy the details", "", (), "copy", palette=False),
)
MENUS = ("File", "Edit", "Answer", "Duplicates", "View", "Help")


class Actions(QObject):
    """The `QAction`s of one window, by id."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._by_id: dict[str, QAction] = {}
        self._groups: dict[str, QActionGroup] = {}
        for spec in SPECS:
            action = QAction(spec.text, window)
            action.setObjectName(spec.id)
            action.setShortcuts([QKeySequence(text) for text in spec.shortcuts])
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            tip = spec.tip or spec.text.rstrip("…")
            action.setToolTip(f"{tip} ({keys})" if keys else tip)
            action.setStatusTip("")
            action.setCheckable(spec.checkable)
            # Roles would move commands between menus by their words on macOS; only these two are meant.
            role = {"quit": QAction.MenuRole.QuitRole, "about": QAction.MenuRole.AboutRole}.get(spec.id)
            action.setMenuRole(role or QAction.MenuRole.NoRole)
            if spec.group:
                group = self._groups.setdefault(spec.group, QActionGroup(window))
                group.setExclusive(True)
                group.addAction(action)
            self._by_id[spec.id] = action
            window.addAction(action)  # so that its shortcut works wherever the focus is

    def __getitem__(self, action_id: str) -> QAction:
        return self._by_id[action_id]

    def __iter__(self) -> Iterator[tuple[ActionSpec, QAction]]:
        return ((spec, self._by_id[spec.id]) for spec in SPECS)

    def on(self, action_id: str, call: Callable[[], object]) -> None:
        """Do this when the command is given."""
        self._by_id[action_id].triggered.connect(lambda checked=False: call())

    def trigger(self, action_id: str) -> None:
        """Give the command, if it is possible now."""
        self._by_id[action_id].trigger()

    def set_icons(self, icon_for: Callable[[str], QIcon]) -> None:
        """Give every command that has one its icon, in the colours of the scheme in force."""
        for spec, action in self:
            if spec.icon:
                action.setIcon(icon_for(spec.icon))
