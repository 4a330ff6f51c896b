"""How the projection looks: each item as the agent receives it, the line where the budget ends, what is behind it."""

from __future__ import annotations

import re

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.models.rows import Role
from app.theme import qcolor
from app.views.ink import badge, bar, cross, runs_right_to_left, write, write_line, write_right
from app.views.lane_delegate import PAD, Index, Ink, LaneDelegate

_TOP = 8
_BAND = 3
_LEFT = 14
_EMPTY_LINES = re.compile(r"\n\s*\n+")
FOLDED_LINES = 5
MOST_LINES = 600  # of an unfolded item: what the agent reads beyond that is read better in the file


class ProjectedDelegate(LaneDelegate):
    """Rows of the third lane."""

    def anchor(self) -> float:
        """How far below an item's top its ribbon ends."""
        return _TOP + self.type.small.height / 2

    # --- geometry ---------------------------------------------------------------------------------------------------

    def _room(self) -> float:
        return self.width - _LEFT - PAD

    def _content(self, index: Index) -> tuple[tuple[str, ...], bool]:
        """The content's lines, and whether there are more than shown."""
        text = index.data(Role.CONTENT)
        unfolded = bool(index.data(Role.LAST))
        most = MOST_LINES if unfolded else FOLDED_LINES - (2 if self.compact else 0)
        room = self._room() - 12
        if not unfolded:
            # Empty lines would take the little room there is. Only as much as can show is looked at: one character
            # more tells whether there is more.
            text = _EMPTY_LINES.sub("\n", text[:8_000]) + text[8_000:]
            text = text[: int(most * room / max(1.0, self.type.small.average) * 3) + 1]
        lines = self.type.small.wrapped(text, room, most)
        shortened = bool(lines) and lines[-1].endswith("\N{HORIZONTAL ELLIPSIS}") and not text.endswith(lines[-1])
        return lines, shortened or unfolded

    def row_height(self, index: Index) -> float:
        type_ = self.type
        match index.data(Role.KIND):
            case "item":
                lines, more = self._content(index)
                keys = 3 + len(index.data(Role.FIELDS))
                height = (
                    _TOP + type_.small.height + 4 + (keys + 1) * type_.mono.height + len(lines) * type_.small.height
                )
                if more:
                    height += type_.small.height + 2
                if index.data(Role.CUT):
                    height += type_.tiny.height + 6
                return height + 8
            case "budget":
                return type_.small.height + 24
        lines = type_.small.wrapped(index.data(Role.FATE), self._room() - 16, 3)
        return type_.body.height + len(lines) * type_.small.height + 12

    def fold_rect(self, rect: QRectF, index: Index) -> QRectF:
        """Where the line stands that folds and unfolds an item's content; empty where there is none."""
        lines, more = self._content(index)
        if not more:
            return QRectF()
        type_ = self.type
        above = _TOP + type_.small.height + 4 + (2 + len(index.data(Role.FIELDS))) * type_.mono.height
        top = rect.top() + above + len(lines) * type_.small.height
        return QRectF(rect.left() + _LEFT, top, self._room(), type_.small.height + 2)

    def unfolds_at(self, rect: object, position: QPoint, index: Index) -> bool:
        return self.fold_rect(QRectF(rect), index).contains(position)  # type: ignore[call-overload]  # missing in the stubs

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        match index.data(Role.KIND):
            case "item":
                self._draw_item(painter, rect, index, ink)
            case "budget":
                self._draw_budget(painter, rect, index)
            case _:
                self._draw_over(painter, rect, index, ink)

    def _draw_item(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        type_, theme = self.type, self.theme
        if index.row() > 0:
            painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), qcolor(theme.border))
        letter = index.data(Role.TWIN)
        edge = qcolor(theme.twin(letter) or theme.border_strong, 0.35 if ink.dim else 1.0)
        painter.fillRect(QRectF(rect.left(), rect.top() + 1, _BAND, rect.height() - 1), edge)
        left, right, top = rect.left() + _LEFT, rect.right() - PAD, rect.top() + _TOP
        number = str(index.data(Role.RANK))
        write(painter, type_.small_strong, ink.strong, left, top, number)
        x = left + type_.small_strong.width(number) + 8
        if letter:
            x += badge(painter, theme, type_.tiny_strong, letter, x, top + type_.small.height / 2, dim=ink.dim) + 8
        facts = type_.small.elided(index.data(Role.FACTS), right - x, Qt.TextElideMode.ElideRight)
        write_right(painter, type_.small, ink.quiet, right, top, facts)
        top += type_.small.height + 4
        write(painter, type_.mono, ink.quiet, left, top, "{")
        top += type_.mono.height
        for key, value in index.data(Role.FIELDS):
            self._draw_field(painter, left + 12, right, top, key, value, ink)
            top += type_.mono.height
        self._draw_field(painter, left + 12, right, top, "content", "", ink)
        top += type_.mono.height
        top = self._draw_content(painter, index, ink, left + 12, right, top)
        tail = type_.mono.elided(index.data(Role.TAIL), right - left - 12, Qt.TextElideMode.ElideRight)
        write(painter, type_.mono, ink.quiet, left + 12, top, tail)
        top += type_.mono.height
        write(painter, type_.mono, ink.quiet, left, top, "}")
        cut = index.data(Role.CUT)
        if cut:
            self._draw_cut(painter, left, right, top + type_.mono.height + 2, cut, ink)

    def _draw_field(
        self, painter: QPainter, left: float, right: float, top: float, key: str, value: str, ink: Ink
    ) -> None:
        face = self.type.mono
        shown = f'"{key}": ' if key else "  "
        write(painter, face, ink.quiet, left, top, shown)
        left += face.width(shown)
        write(painter, face, ink.strong, left, top, face.elided(value, right - left))

    def _draw_content(self, painter: QPainter, index: Index, ink: Ink, left: float, right: float, top: float) -> float:
        face = self.type.small
        lines, more = self._content(index)
        backwards = runs_right_to_left(lines[0]) if lines else False
        for line in lines:
            write_line(painter, face, ink.strong, left, right, top, line, backwards=backwards)
            top += face.height
        if more:
            words = "show less" if index.data(Role.LAST) else "show all that the agent reads"
            write(painter, face, ink.link, left, top, words)
            top += face.height + 2
        return top

    def _draw_cut(self, painter: QPainter, left: float, right: float, top: float, words: str, ink: Ink) -> None:
        face, theme = self.type.tiny, self.theme
        colour = ink.quiet if ink.dim else theme.warn
        shown = face.elided(words, right - left - 40)
        write(painter, face, colour, left, top, shown)
        painter.setPen(QPen(qcolor(colour), 1, Qt.PenStyle.DashLine))
        middle = round(top + face.height / 2) + 0.5
        painter.drawLine(QPointF(left + face.width(shown) + 8, middle), QPointF(right, middle))

    def _draw_budget(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        face, theme = self.type.small, self.theme
        painter.fillRect(rect, qcolor(theme.sunken))
        painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), qcolor(theme.border_strong))
        left, right = rect.left() + _LEFT, rect.right() - PAD
        words = face.elided(index.data(Role.TEXT), right - left, Qt.TextElideMode.ElideRight)
        write(painter, face, theme.text_secondary, left, rect.top() + 6, words)
        track = QRectF(left, rect.top() + face.height + 11, right - left, 5)
        bar(painter, track, index.data(Role.SHARE), theme.accent, theme.border)

    def _draw_over(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        type_, theme = self.type, self.theme
        painter.fillRect(QRectF(rect.left(), rect.bottom() - 1, rect.width(), 1), qcolor(theme.border))
        left, right, top = rect.left() + _LEFT, rect.right() - PAD, rect.top() + 5
        cross(painter, ink.quiet if ink.dim else theme.warn, QPointF(left + 4, top + type_.body.height / 2 + 0.5), 6)
        x = left + 16
        number = str(index.data(Role.RANK))
        write(painter, type_.small_strong, ink.normal, x, top + 0.5, number)
        x += type_.small_strong.width(number) + 7
        letter = index.data(Role.TWIN)
        if letter:
            x += badge(painter, theme, type_.tiny_strong, letter, x, top + type_.body.height / 2, dim=ink.dim) + 6
        write(painter, type_.body, ink.normal, x, top, type_.body.elided(index.data(Role.FILE), right - x))
        top += type_.body.height + 1
        for line in type_.small.wrapped(index.data(Role.FATE), self._room() - 16, 3):
            write(painter, type_.small, ink.quiet if ink.dim else theme.warn, left + 16, top, line)
            top += type_.small.height
