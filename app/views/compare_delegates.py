"""How the rows of the Compare page look: what differs between two runs, and what one policy gives the agent."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from app.models.comparing import CompareRole
from app.models.rows import Role
from app.theme import qcolor
from app.views.ink import badge, badge_width, cross, runs_right_to_left, write, write_line, write_right
from app.views.lane_delegate import PAD, Index, Ink, LaneDelegate

_TOP = 6
_MOST_LINES = 3  # of one side's words
_HEAD_LINES, _REPEATED_LINES = 3, 1  # of an item's text


class DifferenceDelegate(LaneDelegate):
    """Two ranks, the file, the kind of change; below, what became of it on either side."""

    def _ranks_width(self) -> float:
        return (2 * max(2, self.rank_digits) + 3) * self.type.mono.digit

    def _left(self) -> float:
        return PAD + self._ranks_width() + 8

    def _said(self, index: Index) -> list[tuple[str, tuple[str, ...]]]:
        width = self.width - self._left() - PAD
        face = self.type.small
        said = []
        for side, words in index.data(CompareRole.SAID):
            lead = face.width(f"{side}: ") if side else 0.0
            said.append((side, face.wrapped(words, width - lead, _MOST_LINES)))
        return said

    def row_height(self, index: Index) -> float:
        lines = sum(max(1, len(lines)) for _, lines in self._said(index))
        return 2 * _TOP + self.type.body.height + 1 + self.type.tiny.height + 2 + lines * self.type.small.height

    def draw(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        type_, theme = self.type, self.theme
        painter.fillRect(
            QRectF(rect.left() + PAD, rect.bottom() - 1, rect.width() - PAD, 1), qcolor(theme.border, 0.55)
        )
        top, left, right = rect.top() + _TOP, rect.left() + self._left(), rect.right() - PAD
        self._draw_ranks(painter, rect, index, ink, top)
        end = self._draw_mark(painter, index, right, top)
        write(painter, type_.strong, ink.strong, left, top, type_.strong.elided(index.data(Role.FILE), end - left - 8))
        top += type_.body.height + 1
        place = index.data(Role.PLACE)
        folder_right = right - (type_.tiny.width(place) + 8 if place else 0)
        write(
            painter, type_.tiny, ink.quiet, left, top, type_.tiny.elided(index.data(Role.FOLDER), folder_right - left)
        )
        if place:
            write_right(painter, type_.tiny, ink.quiet, right, top, place)
        top += type_.tiny.height + 2
        for side, lines in self._said(index):
            lead = f"{side}: " if side else ""
            write(painter, type_.small, ink.quiet, left, top, lead)
            indent = type_.small.width(lead)
            for line in lines or ("",):
                write(painter, type_.small, ink.normal, left + indent, top, line)
                top += type_.small.height

    def _draw_ranks(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink, top: float) -> None:
        """ "3 → 1": a dash where it is not there."""
        face = self.type.mono
        before, after = index.data(CompareRole.BEFORE), index.data(CompareRole.AFTER)
        column = max(2, self.rank_digits) * face.digit
        lift = (self.type.body.height - face.height) / 2
        left = rect.left() + PAD
        write_right(painter, face, ink.normal, left + column, top + lift, "–" if before is None else str(before))
        arrow, small = "→", self.type.small
        middle = left + column + 1.5 * face.digit
        lower = (self.type.body.height - small.height) / 2
        write(painter, small, ink.quiet, middle - small.width(arrow) / 2, top + lower, arrow)
        write(
            painter, face, ink.normal, left + column + 3 * face.digit, top + lift, "–" if after is None else str(after)
        )

    def _draw_mark(self, painter: QPainter, index: Index, right: float, top: float) -> float:
        """The kind of change in its colour, which the words say too; returns where it begins."""
        theme, face = self.theme, self.type.tiny_strong
        words, change = index.data(CompareRole.MARK), index.data(CompareRole.CHANGE)
        ground = {"only_before": theme.removed_ground, "only_after": theme.added_ground}.get(change)
        width = face.width(words)
        if ground is None:
            colour = theme.warn if words.startswith("▼") else theme.ok if words.startswith("▲") else theme.link
            lift = (self.type.body.height - face.height) / 2
            return write_right(painter, face, colour, right, top + lift, words)
        box = QRectF(right - width - 12, top, width + 12, self.type.body.height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(ground))
        painter.drawRoundedRect(box, 5, 5)
        write(painter, face, theme.text, box.left() + 6, top + (box.height() - face.height) / 2, words)
        return box.left()


class GivenDelegate(LaneDelegate):
    """An item's number, its twin's letter, its files, the beginning of its text. One that repeats another says so
    and stands back."""

    def _left(self) -> float:
        return PAD + max(2, self.rank_digits) * self.type.mono.digit + 8

    def _head(self, index: Index) -> tuple[str, ...]:
        lines = _REPEATED_LINES if index.data(CompareRole.REPEATS) else _HEAD_LINES
        return self.type.small.wrapped(index.data(Role.SNIPPET), self.width - self._left() - PAD, lines)

    def row_height(self, index: Index) -> float:
        type_ = self.type
        height = 2 * _TOP + type_.body.height + 2 + max(1, len(self._head(index))) * type_.small.height
        return height + (type_.small.height + 2 if index.data(CompareRole.REPEATS) else 0)

    def draw(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        type_, theme = self.type, self.theme
        repeats, letter = index.data(CompareRole.REPEATS), index.data(Role.TWIN)
        colour = theme.twin(letter)
        if repeats:
            painter.fillRect(rect, qcolor(theme.sunken))
        painter.fillRect(
            QRectF(rect.left() + PAD, rect.bottom() - 1, rect.width() - PAD, 1), qcolor(theme.border, 0.55)
        )
        if colour is not None:  # the edge joins the copies of a text into one block
            painter.fillRect(QRectF(rect.left(), rect.top(), 4, rect.height()), qcolor(colour))
        top, left, right = rect.top() + _TOP, rect.left() + self._left(), rect.right() - PAD
        lift = (type_.body.height - type_.mono.height) / 2
        write_right(painter, type_.mono, ink.quiet, left - 8, top + lift, str(index.data(Role.RANK)))
        facts, more = index.data(Role.FACTS), index.data(Role.PLACE)
        small = top + (type_.body.height - type_.tiny.height) / 2
        end = right
        if self.wide:  # on a narrow row the name needs the room, and the tool tip says it
            end = write_right(painter, type_.tiny, ink.quiet, right, small, facts) - 8
        at = left
        if letter:
            middle = top + type_.body.height / 2
            at += badge(painter, theme, type_.tiny_strong, letter, at, middle, dim=bool(repeats)) + 6
        face = type_.body if repeats else type_.strong
        room = end - at - (type_.small.width(more) + 6 if more else 0)
        shown = face.elided(index.data(Role.FILE), room)
        write(painter, face, ink.quiet if repeats else ink.strong, at, top, shown)
        if more:
            lower = top + (type_.body.height - type_.small.height) / 2
            write(painter, type_.small, ink.normal, at + face.width(shown) + 6, lower, more)
        top += type_.body.height + 2
        if repeats:
            cross(painter, theme.warn, QPointF(left + 4, top + type_.small.height / 2 + 0.5), 6)
            write(painter, type_.small_strong, theme.warn, left + type_.small.indent, top, repeats)
            top += type_.small.height + 2
        backwards = runs_right_to_left(index.data(Role.SNIPPET))
        for line in self._head(index):
            write_line(
                painter, type_.small, ink.quiet if repeats else ink.normal, left, right, top, line, backwards=backwards
            )
            top += type_.small.height


def places_badge(
    painter: QPainter, delegate: LaneDelegate, letter: str | None, words: str, x: float, middle: float, *, dim: bool
) -> float:
    """One place of an answer as a square: its twin's letter, or its number; an outline where it repeats another."""
    type_, theme = delegate.type, delegate.theme
    if letter:
        return badge(painter, theme, type_.tiny_strong, letter, x, middle, dim=dim)
    width = badge_width(type_.tiny_strong, words)
    box = QRectF(x, middle - type_.tiny_strong.height / 2, width, type_.tiny_strong.height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolor(theme.border))
    painter.drawRoundedRect(box, 4, 4)
    write(
        painter,
        type_.tiny_strong,
        theme.text_secondary,
        x + (width - type_.tiny_strong.width(words)) / 2,
        box.top(),
        words,
    )
    return width
