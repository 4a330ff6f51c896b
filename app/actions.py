"""Every command of the window, defined once: its words, its shortcut, its menu, its icon.

Menus, the rail, buttons of empty states and the command palette all trigger the same `QAction`s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QIcon, QKeySequence
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One command. `menu` "" means that no menu shows it; `palette` says whether the command palette finds it;
    `group` makes it one of several of which exactly one is checked."""

    id: str
    text: str
    menu: str = ""
    shortcuts: tuple[str, ...] = ()
    icon: str = ""
    tip: str = ""
    group: str = ""
    checkable: bool = False
    palette: bool = True
    separated: bool = False  # a line stands before it in its menu


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
        "export-page", "Export as HTML page…", "File", (), "export", "The answer as one page for a mail or a ticket"
    ),
    ActionSpec("save-picture", "Save picture…", "File", ("Ctrl+Shift+S",), "present", "This window as a PNG picture"),
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
    ActionSpec("page-inspector", "Inspector", "View", ("Ctrl+1",), "inspector", group="page", checkable=True),
    ActionSpec("page-library", "Library", "View", ("Ctrl+2",), "library", group="page", checkable=True),
    ActionSpec("page-settings", "Settings", "View", ("Ctrl+3", "Ctrl+,"), "settings", group="page", checkable=True),
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
    ActionSpec("palette", "Find a command…", "Help", ("Ctrl+K",), "search", palette=False),
    ActionSpec("shortcuts", "Shortcuts", "Help", ("?", "F1"), "info"),
    ActionSpec("about", "About Twinspect", "Help", (), "info", separated=True),
    ActionSpec("cancel-work", "Cancel the indexing", "", ("Ctrl+.",), "cancel"),
    ActionSpec("reveal-library", "Show the library's folder", "", (), "reveal"),
    ActionSpec("restart-model", "Start the model again", "", (), "refresh"),
    ActionSpec("retry", "Try again", "", (), "refresh", palette=False),
    ActionSpec("retry-work", "Try the indexing again", "", (), "refresh"),
    ActionSpec("copy-details", "Copy the details", "", (), "copy", palette=False),
)
MENUS = ("File", "Edit", "View", "Help")


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
