"""What to leave out of a folder, asked in a dialog: its patterns, and what they would leave out now."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontDatabase, QPalette, QShowEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.views.duplicates_settings import Wrapped
from app.views.parts import Elided, Text
from pipeline.ignoring import impossible
from pipeline.leaving_out import Ahead
from pipeline.records import Root
from pipeline.words.leaving_out import HOW_PATTERNS_READ, ahead_words, change_words, row_words, unreadable_words
from pipeline.words.phrases import count
from pipeline.words.plain import one_line, tool_tip

PAUSE_MS = 300  # of typing, before the folder is looked through
MOST_ROWS = 200
_LOOKING = "Looking through the folder…"


class LeavingOutDialog(QDialog):
    """Tells when it wants to know what the patterns would leave out; `wanted()` is what the user chose, once the
    dialog was accepted."""

    lookWanted = Signal(object, bool)  # tuple of patterns, whether .gitignore files count

    def __init__(self, root: Root, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("What to leave out")
        self.patterns = QPlainTextEdit()
        self.patterns.setAccessibleName("Patterns of what is left out, one a line")
        self.patterns.setTabChangesFocus(True)
        self.patterns.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(QApplication.font().pointSizeF())  # as large as the rest of the window
        self.patterns.setFont(font)
        self.patterns.setPlaceholderText("No pattern: nothing is left out but by .gitignore files")
        self.patterns.setPlainText("\n".join(root.exclude))
        self.gitignore = QCheckBox(".gitignore files in this folder and below it count as well")
        self.gitignore.setChecked(root.gitignore)
        self.refusal = Wrapped("")
        self.refusal.setProperty("error", True)
        self.ahead, self.change = Wrapped(_LOOKING), Wrapped("")
        self.names = QListWidget()
        self.names.setAccessibleName("What would be left out now")
        self.names.setUniformItemSizes(True)
        self.names.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.names.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText("Re-index the folder")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        self.patterns.textChanged.connect(self._changed)
        self.gitignore.toggled.connect(self._changed)
        self._build(root)
        self._check()

    def _build(self, root: Root) -> None:
        where = Elided(muted=True)
        where.setText(root.path)
        self.where = where
        line = self.patterns.fontMetrics().height()
        self.patterns.setMinimumHeight(line * 4)
        self.names.setMinimumHeight(line * 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(8)
        column.addWidget(Text(one_line(f"What to leave out of “{root.label}”", 80), scale=1.2, bold=True))
        column.addWidget(where)
        column.addWidget(Wrapped(HOW_PATTERNS_READ, muted=True))
        column.addWidget(self.patterns, 2)
        column.addWidget(self.refusal)
        column.addWidget(self.gitignore)
        column.addSpacing(4)
        column.addWidget(self.ahead)
        column.addWidget(self.change)
        column.addWidget(self.names, 3)
        column.addWidget(self.buttons)

    def sizeHint(self) -> QSize:
        return QSize(660, 600).boundedTo(super().sizeHint().expandedTo(QSize(660, 600)))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.patterns.setFocus()
        self.patterns.moveCursor(QTextCursor.MoveOperation.End)
        self._ask()

    def wanted(self) -> tuple[tuple[str, ...], bool]:
        """The patterns and whether `.gitignore` files count, as they stand in the dialog."""
        return tuple(line for line in self._lines() if line.strip()), self.gitignore.isChecked()

    def _lines(self) -> list[str]:
        # Not as plain text: that makes ordinary spaces of those that do not break, and a file may be named so.
        raw = self.patterns.document().toRawText()
        return raw.replace("\N{PARAGRAPH SEPARATOR}", "\n").replace("\N{LINE SEPARATOR}", "\n").split("\n")

    def _changed(self) -> None:
        self._check()
        self._pause.start()

    def _check(self) -> None:
        """A line that is no pattern is named, marked, and cannot be wanted."""
        bad = impossible(self._lines())
        self.refusal.setText(unreadable_words(bad))
        self.refusal.setVisible(bool(bad))
        self.ok.setEnabled(not bad)
        marked = []
        for at in bad:
            mark = QTextEdit.ExtraSelection()
            form = QTextCharFormat()
            form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            form.setUnderlineColor(self.palette().color(QPalette.ColorRole.BrightText))
            cursor = QTextCursor(self.patterns.document().findBlockByNumber(at))
            cursor.select(QTextCursor.SelectionType.LineUnderCursor)
            mark.format, mark.cursor = form, cursor
            marked.append(mark)
        self.patterns.setExtraSelections(marked)

    def _ask(self) -> None:
        self._pause.stop()
        if not self.ok.isEnabled():
            self.show_failure("Not looked at while a line cannot be read.")
            return
        self._say(_LOOKING)
        self.lookWanted.emit(*self.wanted())

    def _say(self, words: str) -> None:
        self.ahead.setText(words)
        self.change.setText("")
        self.change.hide()
        self.names.setEnabled(False)

    def show_ahead(self, ahead: Ahead) -> None:
        """What would be left out is known."""
        self.ahead.setText(ahead_words(ahead))
        self.change.setText(change_words(ahead))
        self.change.show()
        self.names.clear()
        self.names.setEnabled(True)
        for row in ahead.rows[:MOST_ROWS]:
            words = row_words(row)
            item = QListWidgetItem(words, self.names)
            item.setToolTip(tool_tip(words))
        if len(ahead.rows) > MOST_ROWS:
            item = QListWidgetItem(f"and {count(len(ahead.rows) - MOST_ROWS, 'more', 'more')}", self.names)
            item.setFlags(Qt.ItemFlag.NoItemFlags)

    def show_failure(self, words: str) -> None:
        """The folder could not be looked through."""
        self._say(words)
        self.names.clear()
