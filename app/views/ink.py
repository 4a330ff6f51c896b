"""Type and small marks that the delegates draw with. Everything is plain text, sliced before it is laid out."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from app.theme import FontRole, Theme, qcolor


class Face:
    """A font with its measures. Widths of words are kept: sentences are made of the same ones again and again."""

    def __init__(self, font: QFont) -> None:
        self.font = font
        self._metrics = QFontMetricsF(font)
        self.height = self._metrics.height()
        self.ascent = self._metrics.ascent()
        self.space = self._metrics.horizontalAdvance(" ")
        self.digit = self._metrics.horizontalAdvance("0")
        self.average = self._metrics.averageCharWidth()
        self.width = lru_cache(maxsize=32_768)(self._width)
        self.elided = lru_cache(maxsize=4_096)(self._elided)
        self.wrapped = lru_cache(maxsize=2_048)(self._wrapped)

    def _width(self, text: str) -> float:
        # A method of ours around Qt's: the cache copies the documentation of what it wraps, and Qt's is made when it
        # is asked for, from the signatures of all of PySide.
        return self._metrics.horizontalAdvance(text)

    def _elided(self, text: str, width: float, where: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> str:
        if width <= 0:
            return ""
        return self._metrics.elidedText(text, where, width)

    def _wrapped(self, text: str, width: float, most: int) -> tuple[str, ...]:
        """`text` in at most `most` lines, broken at spaces, the last one shortened where there is more."""
        if len(text) < 400 and "\n" not in text and self.width(text) <= width:
            return (text,) if text else ()
        lines: list[str] = []
        paragraphs = text.split("\n")
        for position, paragraph in enumerate(paragraphs):
            pending = paragraph
            while len(lines) < most:
                taken = self._fitting(pending, width)
                lines.append(pending[:taken].rstrip(" "))
                pending = pending[taken:].lstrip(" ")
                if not pending:
                    break
            if pending or (len(lines) >= most and position + 1 < len(paragraphs)):
                rest = pending or paragraphs[position + 1]
                lines[-1] = self._elided(f"{lines[-1]} {rest[:200]}", width, Qt.TextElideMode.ElideRight)
                if not lines[-1].endswith("\N{HORIZONTAL ELLIPSIS}"):
                    lines[-1] += "\N{HORIZONTAL ELLIPSIS}"
                break
        return tuple(lines)

    def _fitting(self, text: str, width: float) -> int:
        """How many characters of `text` stand on one line: whole words, or a part of a single endless one."""
        used, at = 0.0, 0
        while at < len(text):
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
            word = text[at : min(end, at + 400)]
            used += self.width(word)
            if used > width:
                break
            used += self.space
            at = end + 1
        if at > 0:
            return min(at, len(text))
        low, high = 1, min(len(text), 400)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.width(text[:middle]) <= width else (low, middle - 1)
        return low

    @property
    def indent(self) -> float:
        """The room that a mark in front of a line takes."""
        return round(self.height * 0.95)


@dataclass(frozen=True, slots=True)
class Type:
    """Every face that the lanes use."""

    body: Face
    strong: Face
    small: Face
    small_strong: Face
    tiny: Face
    tiny_strong: Face
    mono: Face


@lru_cache(maxsize=8)
def type_of(theme: Theme) -> Type:
    """The faces of a theme."""

    def face(role: FontRole, *, bold: bool = False) -> Face:
        return Face(theme.font(role, bold=bold))

    return Type(
        face("body"),
        face("body", bold=True),
        face("small"),
        face("small", bold=True),
        face("tiny"),
        face("tiny", bold=True),
        face("mono_small"),
    )


def runs_right_to_left(text: str) -> bool:
    """The direction of a paragraph: that of its first letter."""
    for sign in text[:64]:
        direction = unicodedata.bidirectional(sign)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False


def write(painter: QPainter, face: Face, colour: str, x: float, top: float, text: str) -> None:
    """One line of plain text whose box begins at (x, top)."""
    if text:
        painter.setFont(face.font)
        painter.setPen(qcolor(colour))
        painter.drawText(QPointF(x, top + face.ascent), text)


def write_line(
    painter: QPainter, face: Face, colour: str, left: float, right: float, top: float, text: str, *, backwards: bool
) -> None:
    """One line of a paragraph, from the side on which its script begins."""
    if not backwards:
        write(painter, face, colour, left, top, text)
        return
    painter.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    write(painter, face, colour, right - face.width(text), top, text)
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def write_right(painter: QPainter, face: Face, colour: str, right: float, top: float, text: str) -> float:
    """One line that ends at `right`; returns where it begins."""
    x = right - face.width(text)
    write(painter, face, colour, x, top, text)
    return x


def badge_width(face: Face, letter: str) -> float:
    """How wide a twin's badge is."""
    return max(face.height, face.width(letter) + 7)


def badge(painter: QPainter, theme: Theme, face: Face, letter: str, x: float, middle: float, *, dim: bool) -> float:
    """A twin's letter in its colour, centred on `middle`; returns its width. Dimmed it is an outline."""
    colour = theme.twin(letter) or theme.border_strong
    width, height = badge_width(face, letter), face.height
    box = QRectF(x, middle - height / 2, width, height)
    if dim:
        painter.setPen(QPen(qcolor(colour, 0.55), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        ink = theme.text_dimmed
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(colour))
        painter.drawRoundedRect(box, 4, 4)
        ink = theme.on(colour)
    write(painter, face, ink, x + (width - face.width(letter)) / 2, box.top(), letter)
    return width


def bar(painter: QPainter, rect: QRectF, share: float, colour: str, track: str) -> None:
    """A thin bar filled to `share` (0..1)."""
    radius = rect.height() / 2
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolor(track))
    painter.drawRoundedRect(rect, radius, radius)
    filled = QRectF(rect.left(), rect.top(), rect.width() * min(1.0, max(0.0, share)), rect.height())
    if filled.width() > 0:
        painter.setBrush(qcolor(colour))
        painter.drawRoundedRect(filled, min(radius, filled.width() / 2), radius)


def cross(painter: QPainter, colour: str, middle: QPointF, size: float) -> None:
    """The mark of what fell."""
    half = size / 2
    painter.setPen(QPen(qcolor(colour), 1.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawLine(middle + QPointF(-half, -half), middle + QPointF(half, half))
    painter.drawLine(middle + QPointF(-half, half), middle + QPointF(half, -half))
