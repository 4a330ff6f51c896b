"""The questions that the window asks in a dialog of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, qVersion
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHeaderView,
    QInputDialog,
    QMessageBox,
    QPlainTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.actions import Actions
from pipeline import __version__
from pipeline.words.plain import one_line

# Keys that belong to a place of the window, not to a command of it.
LOCAL_KEYS = (
    ("In the question", "Down", "On into the answer"),
    ("In the question", "Esc", "Clear the question"),
    ("In the lanes", "Up, Down", "The row above or below"),
    ("In the lanes", "Tab, Shift+Tab", "The next or previous lane"),
    ("In the lanes", "Left, Right", "What the row belongs to in the lane beside"),
    ("In the lanes", "Home, End", "The first or last row"),
    ("In the lanes", "Menu key", "What can be done with the row"),
    ("In the lanes", "Enter", "Open the file"),
    ("In the lanes", "Space", "Show the row in its document"),
    ("In a comparison", "Left, Right", "The list beside"),
    ("In a comparison", "Space", "Show the row in the inspector"),
    ("Among its files", "Enter", "Open the file"),
    ("On a page", "Page Up, Page Down", "Scroll, and turn the page at its end"),
    ("Among documents", "Enter", "Read the document here"),
    ("Among families", "Right, Enter", "On to the members; Left goes back"),
    ("Among members", "Enter", "Open the file"),
    ("Among members", "Right", "On to what differs"),
    ("In what differs", "Enter, Space", "Show or fold what is common"),
    ("Among questions", "Enter", "Open the run in the inspector"),
    ("Among questions", "Delete", "Forget what is selected"),
    ("In a list of questions", "Ctrl+Enter", "Ask them all"),
    ("Presenting", "Right, Space, Page Down", "The next step"),
    ("Presenting", "Left, Backspace, Page Up", "The step before"),
    ("Presenting", "Home, End", "The first or last step"),
    ("Presenting", "Esc, F5", "Leave"),
)


class Dialogs:
    """Asks the user. Tests hand in answers instead."""

    def __init__(self, window: QWidget) -> None:
        self._window = window

    def folder(self, title: str, start: Path | None = None) -> Path | None:
        """A folder that the user chooses; None when the user does not."""
        chosen = QFileDialog.getExistingDirectory(self._window, title, str(start or Path.home()))
        return Path(chosen) if chosen else None

    def open_file(self, title: str, kinds: str) -> Path | None:
        """A file that the user wants read; None when the user does not."""
        chosen, _ = QFileDialog.getOpenFileName(self._window, title, str(Path.home()), kinds)
        return Path(chosen) if chosen else None

    def save_to(self, title: str, name: str, kinds: str) -> Path | None:
        """A file that the user wants written; None when the user does not."""
        chosen, _ = QFileDialog.getSaveFileName(self._window, title, str(Path.home() / name), kinds)
        return Path(chosen) if chosen else None

    def text(self, title: str, label: str, text: str) -> str | None:
        """Words that the user types, of several lines; None when the user does not."""
        dialog = QInputDialog(self._window)
        dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        dialog.setTextValue(text)
        for field in dialog.findChildren(QPlainTextEdit):
            field.setAccessibleName(label)
            field.setTabChangesFocus(True)
        given = dialog.exec() == QDialog.DialogCode.Accepted
        words = dialog.textValue()
        dialog.deleteLater()
        return words if given else None

    def ask(self, dialog: QDialog) -> bool:
        """Show this dialog; whether the user accepted what it asks."""
        return dialog.exec() == QDialog.DialogCode.Accepted

    def confirm(self, title: str, text: str, yes: str) -> bool:
        """Whether the user wants this done; Escape and Enter both mean no."""
        return self.choose(title, text, (yes,)) == 0

    def choose(self, title: str, text: str, options: Sequence[str]) -> int | None:
        """Which of these the user wants; None for none of them, which Escape and Enter mean."""
        return QuestionBox(self._window, title, text, options).answer()

    def pick(self, title: str, label: str, options: Sequence[str], at: int = 0) -> int | None:
        """Which one of these, however many, the user picks from a list; None for none."""
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        dialog.setComboBoxItems([one_line(words, 90) for words in options])
        (combo,) = dialog.findChildren(QComboBox)
        combo.setAccessibleName(label)
        combo.view().setAccessibleName(label)
        combo.setCurrentIndex(at)
        given = dialog.exec() == QDialog.DialogCode.Accepted
        chosen = combo.currentIndex()
        dialog.deleteLater()
        return chosen if given and chosen >= 0 else None

    def about(self, model: str, library: str) -> None:
        """What this program is."""
        box = QMessageBox(self._window)
        box.setWindowTitle("About Twinspect")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"Twinspect {__version__}")
        box.setInformativeText(
            "Shows what retrieval makes of your documents: raw candidates beside the evidence made of them, twins "
            "marked, every file cited.\n\n"
            f"Model: {model or 'not loaded'}\nLibrary: {library or 'none open'}\nQt {qVersion()}\n\n"
            "Nothing is ever sent anywhere."
        )
        box.exec()

    def shortcuts(self, actions: Actions) -> None:
        """Every key."""
        ShortcutsDialog(actions, self._window).exec()


class QuestionBox(QMessageBox):
    """Asks before something is done. Cancel is what Enter means, from the beginning to the end."""

    def __init__(self, parent: QWidget, title: str, text: str, options: Sequence[str]) -> None:
        super().__init__(parent)
        self.setIcon(QMessageBox.Icon.Question)
        self.setWindowTitle("Twinspect")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(title)
        self.setInformativeText(text)
        self.options = [self.addButton(words, QMessageBox.ButtonRole.AcceptRole) for words in options]
        self.cancel = self.addButton(QMessageBox.StandardButton.Cancel)
        for button in self.options:
            # In another style Qt shows the buttons anew, and the first of these would become the default one.
            button.setAutoDefault(False)
        self.setDefaultButton(self.cancel)

    def answer(self) -> int | None:
        """Ask; which option was chosen, None for none."""
        self.exec()
        return next((at for at, button in enumerate(self.options) if self.clickedButton() is button), None)


class ShortcutsDialog(QDialog):
    """Every shortcut, by where it works."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        table = QTreeWidget()
        table.setHeaderLabels(["Keys", "What they do"])
        table.setRootIsDecorated(False)
        table.setAccessibleName("Shortcuts")
        native = QKeySequence.SequenceFormat.NativeText
        rows: dict[str, list[tuple[str, str]]] = {}
        for spec, action in actions:
            keys = ", ".join(key.toString(native) for key in action.shortcuts())
            if keys:
                rows.setdefault("Everywhere", []).append((keys, spec.text.rstrip("…")))
        for place, keys, what in LOCAL_KEYS:
            rows.setdefault(place, []).append((keys, what))
        for place, entries in rows.items():
            group = QTreeWidgetItem([place, ""])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            font = group.font(0)
            font.setBold(True)
            group.setFont(0, font)
            group.setFirstColumnSpanned(True)
            for keys, what in entries:
                group.addChild(QTreeWidgetItem([keys, what]))
            table.addTopLevelItem(group)
            group.setExpanded(True)
        table.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(table)
        column.addWidget(close)
        self.table = table

    def sizeHint(self) -> QSize:
        return QSize(560, 620)
