"""Finds any command from a few letters of its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from app.fuzzy import score
from pipeline.words.plain import one_line

FAR_BEHIND = 24
MOST_LINES = 14


@dataclass(frozen=True, slots=True)
class Command:
    """Something that can be done now: its words, where they belong, its keys."""

    words: str
    group: str
    keys: str
    do: Callable[[], None]


class CommandPalette(QDialog):
    """A field and the commands that match what is typed in it; Enter gives the first."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._window = parent
        self.setObjectName("palette")
        self.setAccessibleName("Find a command")
        self._commands: Sequence[Command] = ()
        self._shown: list[Command] = []
        self.field = QLineEdit()
        self.field.setObjectName("paletteField")
        self.field.setPlaceholderText("Find a command")
        self.field.setAccessibleName("Find a command")
        self.field.setAcceptDrops(False)
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self.list = QTreeWidget()
        self.list.setHeaderHidden(True)
        self.list.setColumnCount(2)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setAccessibleName("Commands")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, self.list.header().ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, self.list.header().ResizeMode.ResizeToContents)
        self.list.itemClicked.connect(self._take)
        self._none = QLabel("No command is called that.")
        self._none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._none.setProperty("quiet", True)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        column.addWidget(self.field)
        column.addWidget(self.list, 1)
        column.addWidget(self._none, 1)

    def choose_from(self, commands: Sequence[Command]) -> None:
        """Show the palette over its window with these commands."""
        self._commands = commands
        self.field.clear()
        self._filter("")
        window = self._window
        width = min(620, window.width() - 80)
        self.setFixedWidth(width)
        self._fit()
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - width) // 2, corner.y() + 70)
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
            if event.key() in steps:
                self._move(steps[Qt.Key(event.key())])
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take()
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        ranked = [
            (reached, at, command)
            for at, command in enumerate(self._commands)
            if (reached := _rank(text, command)) is not None
        ]
        ranked.sort(key=lambda entry: (-entry[0], entry[1]))
        # Letters that are found scattered somewhere are noise beside a good match.
        least = ranked[0][0] - FAR_BEHIND if ranked and text else None
        self._shown = [command for reached, _, command in ranked if least is None or reached >= least]
        self.list.clear()
        for command in self._shown:
            words = f"{command.group}: {command.words}" if command.group else command.words
            item = QTreeWidgetItem([one_line(words, 160), command.keys])
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.list.addTopLevelItem(item)
        self.list.setVisible(bool(self._shown))
        self._none.setVisible(not self._shown)
        if self._shown:
            self._go_to(0)
        self._fit()

    def _fit(self) -> None:
        """As high as the commands that it lists, within the window."""
        line = max(self.list.sizeHintForRow(0), self.fontMetrics().height() + 12)
        around = self.field.sizeHint().height() + 38
        most = (self._window.height() - 150 - around) // line
        self.setFixedHeight(max(2, min(len(self._shown), MOST_LINES, most)) * line + around)

    def _move(self, by: int) -> None:
        if self._shown:
            self._go_to(max(0, min(len(self._shown) - 1, self.list.currentIndex().row() + by)))

    def _go_to(self, row: int) -> None:
        self.list.setCurrentIndex(self.list.model().index(row, 0))

    def _take(self) -> None:
        row = self.list.currentIndex().row()
        if not 0 <= row < len(self._shown):
            return
        command = self._shown[row]
        self.hide()  # first: the command may show a dialog of its own
        command.do()


def _rank(text: str, command: Command) -> int | None:
    """The command's own words count more than the group that they stand in."""
    own = score(text, command.words)
    if own is not None:
        return own + 20
    return score(text, f"{command.group} {command.words}")
