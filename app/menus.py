"""The menu bar, and the commands that the palette offers beside the menus' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.actions import MENUS, Actions
from app.sample import SampleQuestion
from app.views.command_palette import Command
from pipeline.words.plain import one_line


class Menus:
    """Builds the menus once; the list of recent libraries is made anew whenever it is opened."""

    def __init__(
        self,
        window: QMainWindow,
        actions: Actions,
        questions: tuple[SampleQuestion, ...],
        recent: Callable[[], tuple[str, ...]],
        open_library: Callable[[Path], None],
        ask_sample: Callable[[SampleQuestion], None],
    ) -> None:
        self._actions = actions
        self._questions = questions
        self._recent = recent
        self._open_library = open_library
        self._ask_sample = ask_sample
        bar = window.menuBar()
        self._menus: dict[str, QMenu] = {}
        for name in MENUS:
            menu = self._menus[name] = bar.addMenu(f"&{name}")
            for spec, action in actions:
                if spec.menu != name:
                    continue
                if spec.separated:
                    menu.addSeparator()
                menu.addAction(action)
        self._recent_menu = QMenu("Recent libraries", window)
        self._menus["File"].insertMenu(actions["add-folder"], self._recent_menu)
        self._menus["File"].aboutToShow.connect(self._list_recent)

    def _list_recent(self) -> None:
        self._recent_menu.clear()
        names = self._recent()
        for name in names:
            action = self._recent_menu.addAction(_menu_words(name))
            action.triggered.connect(lambda checked=False, name=name: self._open_library(Path(name)))
        self._recent_menu.setEnabled(bool(names))

    def commands(self) -> Iterator[Command]:
        """Everything that can be done now, for the command palette."""
        for spec, action in self._actions:
            if spec.palette and action.isEnabled():
                keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
                yield Command(action.text().replace("&&", "&"), spec.menu, keys, action.trigger)
        for name in self._recent():
            yield Command(name, "Recent library", "", partial(self._open_library, Path(name)))
        for question in self._questions:
            yield Command(question.title, "Sample question", "", partial(self._ask_sample, question))


def _menu_words(path: str) -> str:
    # An ampersand in a path is no mnemonic.
    return one_line(path, 90).replace("&", "&&")
