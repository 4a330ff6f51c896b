"""A lane's title, what the lane holds, and, while something is lit on request, what that is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme, qcolor
from app.views.ink import Face, type_of, write, write_right

_PAD = 10


class LaneHeader(QWidget):
    """One line above a lane: its name in capitals, a few words, the count of its rows."""

    def __init__(self, title: str, words: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._words, self._count, self._note = title, words, "", ""
        self._active = False
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        font = QFont(theme.font("tiny", bold=True))
        font.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 106)
        self._face = Face(font)
        self.updateGeometry()
        self.update()

    def set_count(self, count: str) -> None:
        """What stands at the right: how many rows there are."""
        self._count = count
        self._describe()

    def set_note(self, note: str) -> None:
        """Words that take the place of the lane's own while something is lit on request."""
        self._note = note
        self._describe()

    def set_active(self, active: bool) -> None:
        """Whether the keyboard is in this lane."""
        self._active = active
        self.update()

    def _describe(self) -> None:
        self.setAccessibleName(", ".join(filter(None, (self._title, self._note or self._words, self._count))))
        self.setToolTip("")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, round(self._face.height + 14))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, small = self._theme, type_of(self._theme).tiny
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolor(theme.sunken))
        thick = 2 if self._active else 1
        rule = QRectF(0, self.height() - thick, self.width(), thick)
        painter.fillRect(rule, qcolor(theme.accent if self._active else theme.border))
        top = (self.height() - self._face.height) / 2
        right = float(self.width() - _PAD)
        if self._count and not self._note:
            right = write_right(painter, small, theme.text_quiet, right, top, self._count) - 12
        title = self._face.elided(self._title.upper(), right - _PAD, Qt.TextElideMode.ElideRight)
        write(painter, self._face, theme.text_secondary, _PAD, top, title)
        left = _PAD + self._face.width(title) + 9
        if self._note:
            words = small.elided(self._note, right - left, Qt.TextElideMode.ElideRight)
            write(painter, small, theme.warn, left, top, words)
        elif small.width(self._words) <= right - left:  # half a phrase explains nothing
            write(painter, small, theme.text_quiet, left, top, self._words)
        painter.end()
