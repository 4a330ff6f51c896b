"""The type of present mode, and rows in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen

from app.models.slides import Line, Lines
from app.theme import Theme, qcolor
from app.views.ink import Face, badge, cross, write, write_right
from pipeline.words.phrases import number


@dataclass(frozen=True, slots=True)
class Stage:
    """The type of a slide. `unit` is a pixel of a projector with 1280 by 720 of them."""

    theme: Theme
    unit: float
    title: Face
    sentence: Face
    figure: Face
    words: Face
    strong: Face
    row: Face
    small: Face
    letter: Face
    quote: Face

    @property
    def margin(self) -> float:
        return 56 * self.unit

    @staticmethod
    def of(theme: Theme, width: int, height: int) -> Stage:
        """As large as this room allows."""
        return _stage(theme, round(max(0.6, min(width / 1280, height / 720)), 2))


@lru_cache(maxsize=4)
def _stage(theme: Theme, unit: float) -> Stage:
    def face(pixels: float, *, bold: bool = False) -> Face:
        font = QFont(theme.family)
        font.setPixelSize(round(pixels * unit))
        if bold:
            font.setWeight(QFont.Weight.DemiBold)
        return Face(font)

    return Stage(
        theme,
        unit,
        title=face(38, bold=True),
        sentence=face(24),
        figure=face(72, bold=True),
        words=face(21),
        strong=face(21, bold=True),
        row=face(19),
        small=face(16),
        letter=face(17, bold=True),
        quote=face(46, bold=True),
    )


def draw_ground(painter: QPainter, theme: Theme, box: QRectF, radius: float) -> None:
    """What a row or a card stands on; outlined where it has the colour of what is behind it (high contrast)."""
    outlined = theme.surface == theme.window
    painter.setPen(QPen(qcolor(theme.border), 1) if outlined else Qt.PenStyle.NoPen)
    painter.setBrush(qcolor(theme.surface))
    painter.drawRoundedRect(box, radius, radius)
    painter.setPen(Qt.PenStyle.NoPen)


def draw_lines(painter: QPainter, stage: Stage, picture: Lines, room: QRectF) -> None:
    unit, columns = stage.unit, picture.columns
    if picture.split is not None:
        _split(painter, stage, picture, picture.split, room)
        return
    shown, more, high = _fitting(picture.lines, picture.total, columns, room.height(), stage)
    gap = 28 * unit
    width = (room.width() - gap * (columns - 1)) / columns
    rows = -(-len(shown) // columns) if shown else 0
    for at, line in enumerate(shown):
        column, row = divmod(at, rows)
        box = QRectF(room.left() + column * (width + gap), room.top() + row * high, width, high - 5 * unit)
        _row(painter, stage, line, box)
    if more:
        draw_more(painter, stage, more, room, room.top() + rows * high)


def _split(painter: QPainter, stage: Stage, picture: Lines, split: int, room: QRectF) -> None:
    """What stayed, and beside it what fell."""
    gap = 28 * stage.unit
    width = (room.width() - gap) / 2
    parts = ((picture.lines[:split], split), (picture.lines[split:], picture.total - split))
    for at, (lines, total) in enumerate(parts):
        draw_lines(
            painter,
            stage,
            Lines(lines, total),
            QRectF(room.left() + at * (width + gap), room.top(), width, room.height()),
        )


def _fitting(
    lines: tuple[Line, ...], total: int, columns: int, height: float, stage: Stage
) -> tuple[tuple[Line, ...], int, float]:
    """The lines that there is room for, how many more there are, and how high each one is."""
    least, most = 37 * stage.unit, 64 * stage.unit
    rows = max(1, int(height // least))
    more = total > rows * columns
    if more:
        rows = max(1, int((height - 26 * stage.unit) // least))
    shown = lines[: rows * columns]
    taken = max(1, -(-len(shown) // columns))
    room = height - (26 * stage.unit if len(shown) < total else 0)
    return shown, total - len(shown), min(most, room / taken)


def _row(painter: QPainter, stage: Stage, line: Line, box: QRectF) -> None:
    """One line on a ground of its own: rank, letter, name, and as much of the rest as there is room for."""
    theme, unit = stage.theme, stage.unit
    colour = theme.twin(line.letter)
    if line.fallen:
        painter.setPen(Qt.PenStyle.NoPen)
    else:
        draw_ground(painter, theme, box, 5 * unit)
    if colour is not None:
        painter.setBrush(qcolor(colour, 0.45 if line.fallen else 1.0))
        painter.drawRoundedRect(QRectF(box.left(), box.top(), 7 * unit, box.height()), 3 * unit, 3 * unit)
    rest = line.note or line.quiet
    two = box.height() >= stage.strong.height + stage.small.height + 4 * unit and bool(rest)
    high = stage.strong.height + (stage.small.height if two else 0)
    top = box.top() + (box.height() - high) / 2
    middle = top + stage.strong.height / 2
    x = box.left() + 18 * unit
    ink = theme.text_quiet if line.fallen else theme.text
    right = box.right() - 12 * unit
    if line.right:
        face = stage.row if len(line.right) < 6 else stage.small
        right = write_right(painter, face, theme.text_secondary, right, middle - face.height / 2, line.right)
        right -= 14 * unit
    rank = number(line.rank)
    digits = max(stage.row.width("00"), stage.row.width(rank))
    write_right(painter, stage.row, theme.text_quiet, x + digits, middle - stage.row.height / 2, rank)
    x += digits + 12 * unit
    if line.fallen:
        cross(painter, theme.text_quiet, QPointF(x + 8 * unit, middle), 12 * unit)
        x += 24 * unit
    if line.letter:
        x += badge(painter, theme, stage.letter, line.letter, x, middle, dim=line.fallen) + 10 * unit
    name = stage.strong.elided(line.title, max(0.0, right - x), Qt.TextElideMode.ElideMiddle)
    face = stage.row if line.fallen else stage.strong
    write(painter, face, ink, x, middle - face.height / 2, name)
    after = x + face.width(name) + 14 * unit
    if line.where and right - after > min(84 * unit, stage.small.width(line.where)):
        text = stage.small.elided(line.where, right - after, Qt.TextElideMode.ElideMiddle)
        write(painter, stage.small, theme.text_quiet, after, middle - stage.small.height / 2, text)
    if two:
        text = stage.small.elided(rest, right - x, Qt.TextElideMode.ElideRight)
        write(painter, stage.small, theme.text_quiet, x, top + stage.strong.height, text)


def draw_more(painter: QPainter, stage: Stage, more: int, room: QRectF, top: float, what: str = "") -> None:
    words = " ".join(filter(None, (f"and {number(more)} more", what)))
    write(painter, stage.row, stage.theme.text_quiet, room.left(), top + 2 * stage.unit, words)
