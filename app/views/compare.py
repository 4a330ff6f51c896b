"""Two texts side by side, the words that differ marked by colour and by line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.difference import Difference, Piece, PieceKind
from app.subject import base_name, place_words
from app.theme import Theme, qcolor
from app.views.parts import Elided, Text
from pipeline.records import Location
from pipeline.words.phrases import count, file_name, listed
from pipeline.words.plain import lines_of, one_line, tool_tip

_SIGNS = str.maketrans({" ": "·", "\t": "→\t", "\n": "↵\n", "\r": "␍", "\u00a0": "⍽", "\u202f": "⍽", "\u2009": "·"})


PIECES_AT_ONCE = 2_000  # are laid out in one turn: some 15 ms a side


class CompareView(QWidget):
    """Left and right, and one sentence on how they differ."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._difference: Difference | None = None
        self._rest: tuple[Iterator[Piece], Iterator[Piece]] = (iter(()), iter(()))
        self._first = [-1, -1]  # where each side begins to differ
        self._placed = False
        self._filling = QTimer(self)
        self._filling.setSingleShot(True)
        self._filling.setInterval(0)
        self._filling.timeout.connect(self._fill_on)
        self.sentence = Text(wrap=True)
        self._sides: list[QPlainTextEdit] = []
        self._titles: list[Elided] = []
        across = QHBoxLayout()
        across.setSpacing(8)
        for name in ("left", "right"):
            title = Elided(Qt.TextElideMode.ElideRight, muted=True)
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

    def show_difference(
        self,
        left: Location | str,
        right: Location | str,
        difference: Difference,
        places: tuple[Location, ...] = (),
    ) -> None:
        """Show what differs between the texts of these two places; `places` are all that hold an identical one."""
        self.name_sides(left, right)
        self._difference = difference
        self.sentence.setText(difference.sentence + _standing(places if difference.verdict == "identical" else ()))
        self._fill(difference)

    def name_sides(self, left: Location | str, right: Location | str) -> None:
        """Say above each side what stands there."""
        for title, side in zip(self._titles, (left, right), strict=True):
            title.setText(_side(side))
            title.setToolTip(tool_tip(one_line(side.path) if isinstance(side, Location) else one_line(side)))

    def show_nothing(self, why: str) -> None:
        """No comparison, and why."""
        self._difference = None
        self._filling.stop()
        self.sentence.setText(why)
        for title, side in zip(self._titles, self._sides, strict=True):
            title.setText("")
            side.clear()

    def _fill(self, difference: Difference) -> None:
        for side in self._sides:
            side.clear()
        self._first, self._placed = [-1, -1], False
        self._rest = (iter(difference.left), iter(difference.right))
        self._fill_on()

    def _fill_on(self) -> None:
        """The next pieces of both sides; what is left waits for the next turn, so that the window goes on."""
        more = False
        for side, rest, right in zip(self._sides, self._rest, (False, True), strict=True):
            pieces = list(islice(rest, PIECES_AT_ONCE))
            cursor = QTextCursor(side.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.beginEditBlock()
            for piece in pieces:
                if piece.kind != "same" and self._first[right] < 0:
                    self._first[right] = cursor.position()
                cursor.insertText(shown(piece), self._format(piece.kind, right))
            cursor.endEditBlock()
            more = more or len(pieces) == PIECES_AT_ONCE
        if more:
            self._filling.start()
        if not self._placed and (self._first[0] >= 0 or self._first[1] >= 0 or not more):
            self._placed = True
            self._show_first()

    def _show_first(self) -> None:
        """Both sides at their first difference, the line before it in sight; without one, at their beginning."""
        for side, at in zip(self._sides, self._first, strict=True):
            cursor = QTextCursor(side.document())
            cursor.setPosition(max(0, at))
            side.setTextCursor(cursor)
        for side, at in zip(self._sides, self._first, strict=True):
            if at >= 0:
                side.centerCursor()

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


def _side(side: Location | str) -> str:
    """What stands above one side: the file, its folder and the place in it."""
    if not isinstance(side, Location):
        return side
    folder = side.doc_id.rpartition("/")[0]
    return " · ".join(filter(None, (base_name(side.path), place_words(side), folder)))


def _standing(places: tuple[Location, ...]) -> str:
    """Where an identical text stands."""
    if len(places) < 2:
        return ""
    files = len({place.path for place in places})
    where = listed([f"{file_name(place.path)} ({place_words(place)})" for place in places], 2)
    spread = f"in {count(len(places), 'place')}" + (f" of {count(files, 'file')}" if files != len(places) else "")
    return f" It stands {spread}: {where}."


def shown(piece: Piece) -> str:
    """A piece as it is shown; white space that differs is made visible."""
    if piece.kind == "space":
        return "".join(part.translate(_SIGNS) for part in piece.text)
    return lines_of(piece.text, len(piece.text))
