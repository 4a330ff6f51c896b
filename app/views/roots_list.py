"""The folders of the library, one line each: where it lies, how much it holds, and what can be done with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.icons import icon
from app.theme import Theme
from app.views.parts import Elided, Text, clear
from pipeline.records import Document, Root
from pipeline.words.sentences import count
from pipeline.words.states import rules_of_root

MOST_LINES = 4  # beyond these the list scrolls
_MENU_WORDS = ("Show in its folder", "Re-index", "What to leave out…", "Forget…")


class RootsList(QScrollArea):
    """Emits what is wanted of a folder."""

    reindexRequested = Signal(str)  # path
    forgetRequested = Signal(str, str)  # path, label
    revealRequested = Signal(str)  # path
    rulesRequested = Signal(str)  # path: what is left out of it

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Folders of this library")
        self._theme = theme
        self._shown: tuple[tuple[Root, int], ...] = ()
        self._removable = True
        self._writers: list[QPushButton] = []
        self.setObjectName("roots")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setWidgetResizable(True)
        self._inside = QWidget()
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(10, 4, 6, 4)
        self._column.setSpacing(2)
        self.setWidget(self._inside)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._lay()

    def set_roots(self, roots: Sequence[Root], documents: Sequence[Document], *, removable: bool) -> None:
        """Show these folders."""
        held = Counter(document.root_label for document in documents)
        shown = tuple((root, held[root.label]) for root in roots)
        if (shown, removable) == (self._shown, self._removable):
            return
        self._shown, self._removable = shown, removable
        self._lay()

    def set_working(self, working: bool) -> None:
        for button in self._writers:
            button.setEnabled(not working)

    def _lay(self) -> None:
        clear(self._column)
        self._writers = []
        for root, documents in self._shown:
            self._column.addWidget(self._line(root, documents))
        self.setVisible(bool(self._shown))
        if self._shown:
            line = max(self._inside.sizeHint().height() // len(self._shown), self.fontMetrics().height() * 2)
            self.setFixedHeight(line * min(len(self._shown), MOST_LINES) + 10)

    def _line(self, root: Root, documents: int) -> QWidget:
        line = QWidget()
        grid = QGridLayout(line)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        path = Elided(muted=True)
        path.setText(f"{root.path}{rules_of_root(root)}")
        grid.addWidget(Text(root.label, bold=True), 0, 0)
        grid.addWidget(path, 0, 1)
        grid.addWidget(Text(count(documents, "document"), muted=True), 0, 2)
        grid.setColumnStretch(1, 1)
        reveal = QPushButton("Show")
        reveal.setIcon(icon("reveal", self._theme))
        reveal.setAccessibleName(f"Show the folder {root.label}")
        reveal.clicked.connect(lambda checked=False: self.revealRequested.emit(root.path))
        again = QPushButton("Re-index")
        again.setAccessibleName(f"Re-index the folder {root.label}")
        again.clicked.connect(lambda checked=False: self.reindexRequested.emit(root.path))
        buttons = [reveal, again]
        self._writers.append(again)
        if self._removable:
            rules = QPushButton("Leave out…")
            rules.setAccessibleName(f"What to leave out of the folder {root.label}")
            rules.setToolTip("Patterns of files and folders that are not indexed, and whether .gitignore files count")
            rules.clicked.connect(lambda checked=False: self.rulesRequested.emit(root.path))
            forget = QPushButton("Forget…")
            forget.setAccessibleName(f"Forget the folder {root.label}")
            forget.setToolTip("Take this folder out of the library; its files are not touched")
            forget.clicked.connect(lambda checked=False: self.forgetRequested.emit(root.path, root.label))
            buttons += [rules, forget]
            self._writers.append(forget)
        for at, button in enumerate(buttons, start=3):
            button.setProperty("flat", True)
            grid.addWidget(button, 0, at)
        line.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        line.customContextMenuRequested.connect(lambda place: self._menu(line, buttons, place))
        return line

    def _menu(self, line: QWidget, buttons: Sequence[QPushButton], place: QPoint) -> None:
        """The same by the words that stand beside no folder's name."""
        menu = QMenu(self)
        for button, words in zip(buttons, _MENU_WORDS, strict=False):
            entry = menu.addAction(words)
            entry.setEnabled(button.isEnabled())
            entry.triggered.connect(button.click)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(line.mapToGlobal(place))
