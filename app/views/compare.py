"""Two texts side by side, the words that differ marked by colour and by line."""

from __future__ import annotations

from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.difference import Difference, Piece, PieceKind
from app.theme import Theme, qcolor
from app.views.parts import Elided, Text
from pipeline.words.plain import lines_of

_SIGNS = str.maketrans({" ": "·", "\t": "→\t", "\n": "↵\n", "\r": "␍", "\u00a0": "⍽", "\u202f": "⍽", "\u2009": "·"})


class CompareView(QWidget):
    """Left and right, and one sentence on how they differ."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._difference: Difference | None = None
        self.sentence = Text(wrap=True)
        self._sides: list[QPlainTextEdit] = []
        self._titles: list[Elided] = []
        across = QHBoxLayout()
        across.setSpacing(8)
        for name in ("left", "right"):
            title = Elided(muted=True)
            side = QPlainTextEdit()
            side.setReadOnly(True)
            side.setUndoRedoEnabled(False)
            side.setTabChangesFocus(True)
            side.setAccessibleName(f"Comparison, {name}")
            column = QVBoxLayout()
            column.setSpacing(3)
            column.addWidget(title)
            column.addWidget(side, 1)
            across.addLayout(column, 1)
            self._sides.append(side)
            self._titles.append(title)
        left, right = (side.verticalScrollBar() for side in self._sides)
        left.valueChanged.connect(right.setValue)
        right.valueChanged.connect(left.setValue)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.sentence)
        column.addLayout(across, 1)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for side in self._sides:
            side.setFont(theme.font("body"))
        if self._difference is not None:
            self._fill(self._difference)

    def show_difference(self, left: str, right: str, difference: Difference) -> None:
        """Show what differs between the texts of these two names."""
        self._titles[0].setText(left)
        self._titles[1].setText(right)
        self._difference = difference
        self.sentence.setText(difference.sentence)
        self._fill(difference)

    def show_nothing(self, why: str) -> None:
        """No comparison, and why."""
        self._difference = None
        self.sentence.setText(why)
        for title, side in zip(self._titles, self._sides, strict=True):
            title.setText("")
            side.clear()

    def _fill(self, difference: Difference) -> None:
        for side, pieces, right in (
            (self._sides[0], difference.left, False),
            (self._sides[1], difference.right, True),
        ):
            side.clear()
            cursor = QTextCursor(side.document())
            cursor.beginEditBlock()
            for piece in pieces:
                cursor.insertText(shown(piece), self._format(piece.kind, right))
            cursor.endEditBlock()
            side.moveCursor(QTextCursor.MoveOperation.Start)

    def _format(self, kind: PieceKind, right: bool) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setForeground(qcolor(self._theme.text))
        if kind == "same":
            return made
        made.setBackground(qcolor(self._theme.added_ground if right else self._theme.removed_ground))
        if kind == "spelling":
            made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
        elif kind == "changed":
            # Colour alone would not do: the left side's words are struck, the right side's underlined.
            made.setFontStrikeOut(not right)
            made.setFontUnderline(right)
        return made


def shown(piece: Piece) -> str:
    """A piece as it is shown; white space that differs is made visible."""
    if piece.kind == "space":
        return "".join(part.translate(_SIGNS) for part in piece.text)
    return lines_of(piece.text, len(piece.text))
