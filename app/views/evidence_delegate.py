"""How evidence looks: the block's head, the files that it cites hanging below it, and what fell on the way."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.icons import draw_icon
from app.models.rows import Role
from app.theme import qcolor
from app.views.ink import badge, cross, runs_right_to_left, write, write_line, write_right
from app.views.lane_delegate import PAD, Index, Ink, LaneDelegate
from app.views.raw_delegate import score_words

_TOP = 8
_BAND = 3  # the width of the twin's colour at a block's left edge


class EvidenceDelegate(LaneDelegate):
    """Rows of the second lane."""

    def has_file_buttons(self, index: Index) -> bool:
        return index.data(Role.KIND) in ("file", "block")

    def anchor(self) -> float:
        """How far below a block's top its ribbons end."""
        return _TOP + self.type.body.height / 2

    # --- geometry ---------------------------------------------------------------------------------------------------

    @property
    def indent(self) -> float:
        """Where the text begins, behind the blocks' numbers."""
        return _BAND + 6 + max(20.0, self.rank_digits * self.type.small_strong.digit + 8) + 11

    def _room(self) -> float:
        return self.width - self.indent - PAD

    def _text_lines(self) -> int:
        return 1 if self.compact else 2

    def row_height(self, index: Index) -> float:
        type_ = self.type
        match index.data(Role.KIND):
            case "block":
                height = _TOP + type_.body.height + 2 + type_.small.height
                fate = index.data(Role.FATE)
                if fate:
                    height += (
                        len(type_.small.wrapped(fate, self._room() - type_.small.indent, 3)) * type_.small.height + 1
                    )
                lines = type_.small.wrapped(index.data(Role.SNIPPET), self._room(), self._text_lines())
                return height + len(lines) * type_.small.height + 7
            case "file" | "more":
                return type_.small.height + 6
            case "remedy":
                return type_.small.height + 10
            case "shortfall":
                return len(self._sentence(index)) * type_.small.height + 14
        return len(self._sentence(index)) * type_.small.height + 9

    def _sentence(self, index: Index) -> tuple[str, ...]:
        return self.type.small.wrapped(index.data(Role.TEXT), self._room(), 4)

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        match index.data(Role.KIND):
            case "block":
                self._draw_block(painter, rect, index, ink)
            case "file":
                self._draw_file(painter, rect, index, ink)
            case "more":
                self._draw_more(painter, rect, index, ink)
            case "remedy":
                self._draw_remedy(painter, rect, index, ink)
            case _:
                self._draw_sentence(painter, rect, index, ink)

    def _edge(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink, top: float = 0) -> None:
        """The twin's colour along the left edge: what hangs together has one edge."""
        colour = self.theme.twin(index.data(Role.TWIN)) or self.theme.border_strong
        painter.fillRect(
            QRectF(rect.left(), rect.top() + top, _BAND, rect.height() - top), qcolor(colour, 0.35 if ink.dim else 1.0)
        )

    def _draw_block(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        type_, theme = self.type, self.theme
        if index.row() > 0:
            painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), qcolor(theme.border))
        self._edge(painter, rect, index, ink, 1)
        left, right, top = rect.left() + self.indent, rect.right() - PAD, rect.top() + _TOP
        self._draw_number(painter, rect.left() + _BAND + 6, top, str(index.data(Role.RANK)), ink)
        letter = index.data(Role.TWIN)
        x = left
        if letter:
            x += badge(painter, theme, type_.tiny_strong, letter, x, top + type_.body.height / 2, dim=ink.dim) + 6
        small_top = top + (type_.body.height - type_.tiny.height) / 2 + 0.5
        mono_top = top + (type_.body.height - type_.mono.height) / 2
        end = write_right(painter, type_.mono, ink.normal, right, mono_top, score_words(index.data(Role.SCORE))) - 8
        end = self.draw_moved(painter, index, end, small_top, ink)
        place = index.data(Role.PLACE)
        if place:
            end -= type_.tiny.width(place) + 4
        name = type_.strong.elided(index.data(Role.FILE), end - x - 4)
        write(painter, type_.strong, ink.strong, x, top, name)
        x += type_.strong.width(name) + 6
        write(painter, type_.tiny, ink.quiet, x, small_top, place)
        folder = index.data(Role.FOLDER)
        if self.wide:
            x += type_.tiny.width(place) + 6 if place else 0
            room = (end + type_.tiny.width(place) if place else end) - x
            if folder and room > 40:
                write(painter, type_.tiny, ink.quiet, x, small_top, type_.tiny.elided(folder, room))
        top += type_.body.height + 2
        facts = type_.small.elided(index.data(Role.FACTS), right - left, Qt.TextElideMode.ElideRight)
        write(painter, type_.small, ink.normal, left, top, facts)
        room = right - left - type_.small.width(facts) - 9
        if folder and not self.wide and room > 40:
            small_top = top + (type_.small.height - type_.tiny.height) / 2 + 0.5
            write(painter, type_.tiny, ink.quiet, right - room, small_top, type_.tiny.elided(folder, room))
        top += type_.small.height
        fate = index.data(Role.FATE)
        if fate:
            colour, middle = ink.quiet if ink.dim else theme.warn, top + type_.small.height / 2 + 1
            if index.data(Role.FATE_NAME) == "projected_cut":
                painter.setPen(QPen(qcolor(colour), 1.4, Qt.PenStyle.DotLine))
                painter.drawLine(QPointF(left, middle), QPointF(left + 9, middle))
            else:
                cross(painter, colour, QPointF(left + 4, middle), 6)
            for line in type_.small.wrapped(fate, self._room() - type_.small.indent, 3):
                write(painter, type_.small, colour, left + type_.small.indent, top, line)
                top += type_.small.height
            top += 1
        snippet = index.data(Role.SNIPPET)
        backwards = runs_right_to_left(snippet)
        for line in type_.small.wrapped(snippet, self._room(), self._text_lines()):
            write_line(painter, type_.small, ink.quiet, left, right, top, line, backwards=backwards)
            top += type_.small.height

    def _draw_number(self, painter: QPainter, left: float, top: float, number: str, ink: Ink) -> None:
        """A block's number in a frame: the name by which the other lanes speak of it."""
        face = self.type.small_strong
        width = max(20.0, face.width(number) + 8)
        box = QRectF(left, top + (self.type.body.height - face.height - 2) / 2, width, face.height + 2)
        painter.setPen(QPen(qcolor(self.theme.border_strong), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        write(painter, face, ink.strong, box.left() + (width - face.width(number)) / 2, box.top() + 1, number)

    def _draw_file(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        type_ = self.type
        self._edge(painter, rect, index, ink)
        middle = rect.top() + rect.height() / 2
        stem = rect.left() + self.indent - 12.5
        painter.setPen(QPen(qcolor(self.theme.border_strong), 1))
        painter.drawLine(QPointF(stem, rect.top()), QPointF(stem, middle if index.data(Role.LAST) else rect.bottom()))
        painter.drawLine(QPointF(stem, middle), QPointF(stem + 8, middle))
        left, right = rect.left() + self.indent, rect.right() - PAD
        top = rect.top() + 3
        small_top = top + (type_.small.height - type_.tiny.height) / 2 + 0.5
        place = index.data(Role.PLACE)
        end = write_right(painter, type_.tiny, ink.quiet, right, small_top, place) - 8 if place else right
        if index.data(Role.LINE) == 0 and self.wide:
            end = write_right(painter, type_.tiny, ink.quiet, end, small_top, "cited first") - 8
        name = index.data(Role.FILE)
        folder = index.data(Role.FOLDER)
        # Copies often share their name: the folder gets its half of the line even where the name is long.
        room = end - left
        name_room = room - min(type_.tiny.width(folder) + 7, room / 2) if folder else room
        shown = type_.small.elided(name, name_room)
        write(painter, type_.small, ink.normal, left, top, shown)
        left += type_.small.width(shown) + 7
        if folder:
            write(painter, type_.tiny, ink.quiet, left, small_top, type_.tiny.elided(folder, end - left))

    def _draw_more(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        self._edge(painter, rect, index, ink)
        face = self.type.small
        left = rect.left() + self.indent
        draw_icon(painter, "expand", QRectF(left - 20, rect.top() + 4, 14, 14), ink.link)
        write(painter, face, ink.link, left, rect.top() + 3, index.data(Role.TEXT))

    def _draw_remedy(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        face, theme = self.type.small, self.theme
        text = face.elided(index.data(Role.TEXT), self._room() - 18, Qt.TextElideMode.ElideRight)
        box = QRectF(rect.left() + self.indent, rect.top() + 2, face.width(text) + 18, face.height + 6)
        painter.setPen(QPen(qcolor(theme.border_strong), 1))
        painter.setBrush(qcolor(theme.selected if index.row() == self.hovered_row else theme.raised))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        write(painter, face, ink.link, box.left() + 9, box.top() + 3, text)

    def _draw_sentence(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        """The shortfall, a group of rows that fell, a block that only the run before had."""
        face, theme = self.type.small, self.theme
        kind = index.data(Role.KIND)
        painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), qcolor(theme.border))
        left, top = rect.left() + self.indent, rect.top() + (8 if kind == "shortfall" else 5)
        mark = QPointF(left - 15, top + face.height / 2 + 0.5)
        colour = ink.normal
        if kind == "shortfall":
            colour = ink.quiet if ink.dim else theme.warn
            draw_icon(painter, "warning", QRectF(mark.x() - 8, mark.y() - 8, 16, 16), colour)
        elif kind == "fallen":
            cross(painter, ink.quiet, mark, 6)
        else:
            colour = ink.quiet
            write(painter, face, colour, mark.x() - face.width("−") / 2, top, "−")
        for line in self._sentence(index):
            write(painter, face, colour, left, top, line)
            top += face.height
