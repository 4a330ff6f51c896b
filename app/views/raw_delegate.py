"""How a raw candidate looks: rank, score and bar; twin, file and place; its fate in words; its first words."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.models.rows import LaneModel, Role, Row
from app.theme import qcolor
from app.views.ink import Face, badge, bar, cross, runs_right_to_left, write, write_line, write_right
from app.views.lane_delegate import PAD, Index, Ink, LaneDelegate

_FOLDED = {"collapsed": "=", "merged": "=", "near_collapsed": "≈"}
_MOST_FATE_LINES = 4
_TOP = 6


class RawDelegate(LaneDelegate):
    """Rows of the first lane."""

    # --- geometry ---------------------------------------------------------------------------------------------------

    def _columns(self) -> tuple[float, float, float]:
        """Where the rank ends, where the score begins, where the text begins."""
        digit = self.type.mono.digit
        if not self.wide:  # the score stands below the rank: the name needs the room
            width = max(5, self.rank_digits) * digit
            return PAD + width, PAD + width - 5 * digit, PAD + width + 10
        rank_right = PAD + max(2, self.rank_digits) * digit
        score = rank_right + 9
        return rank_right, score, score + 5 * digit + 11

    def _text_width(self) -> float:
        return self.width - self._columns()[2] - PAD

    def anchor(self) -> float:
        """How far below a row's top its ribbon begins."""
        return _TOP + self.type.body.height / 2

    def row_height(self, index: Index) -> float:
        type_, row = self.type, self._row(index)
        if row.value(Role.KIND) != "candidate":
            lines = len(type_.tiny.wrapped(str(row.value(Role.TEXT)), self.width - 2 * PAD - 16, 2))
            return lines * type_.tiny.height + 10
        height = _TOP + type_.body.height + 1
        if not self.wide:
            height += type_.tiny.height + 1
        kept = row.value(Role.KEPT)
        if not kept:
            height += len(self._fate_lines(str(row.value(Role.FATE)))) * type_.small.height + 1
        if kept or not self.compact:
            height += type_.small.height
        return height + _TOP

    @staticmethod
    def _row(index: Index) -> Row:
        # Not by way of Qt: all rows of an answer are measured at once, and a crowded one has thousands.
        model = index.model()
        assert isinstance(model, LaneModel)
        return model.rows[index.row()]

    def _fate_lines(self, fate: str) -> tuple[str, ...]:
        return self.type.small.wrapped(fate, self._text_width() - self.type.small.indent, _MOST_FATE_LINES)

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        if index.data(Role.KIND) == "candidate":
            self._draw_candidate(painter, rect, index, ink)
        else:
            self._draw_sentence(painter, rect, index)

    def _draw_candidate(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        type_, theme = self.type, self.theme
        kept = bool(index.data(Role.KEPT))
        painter.fillRect(
            QRectF(rect.left() + PAD, rect.bottom() - 1, rect.width() - PAD, 1), qcolor(theme.border, 0.55)
        )
        rank_right, score_left, left = (rect.left() + offset for offset in self._columns())
        right = rect.right() - PAD
        top = rect.top() + _TOP
        lift = (type_.body.height - type_.mono.height) / 2
        write_right(painter, type_.mono, ink.quiet, rank_right, top + lift, str(index.data(Role.RANK)))
        score = float(index.data(Role.SCORE))
        score_top = top + lift if self.wide else top + type_.body.height + 1
        score_ink = ink.normal if kept else ink.quiet
        write(painter, type_.mono, score_ink, score_left, score_top, score_words(score))
        letter = index.data(Role.TWIN)
        colour = theme.twin(letter) or theme.border_strong
        below = top + type_.body.height + 2 if self.wide else score_top + type_.mono.height + 2
        track = QRectF(score_left, below, 5 * type_.mono.digit, 4)
        bar(painter, track, score, theme.border_strong if ink.dim else colour, theme.border)

        end = self._draw_first_line(painter, index, ink, left, right, top, kept=kept)
        top += type_.body.height + 1
        if not self.wide:
            self._draw_place(painter, type_.tiny, index, ink, left, end, top)
            top += type_.tiny.height + 1
        if not kept:
            top = self._draw_fate(painter, index, ink, left, top)
        if kept or not self.compact:
            snippet = index.data(Role.SNIPPET)
            face = type_.small
            shown = face.elided(snippet[:200], right - left, Qt.TextElideMode.ElideRight)
            colour = ink.normal if kept else ink.quiet
            write_line(painter, face, colour, left, right, top, shown, backwards=runs_right_to_left(snippet))

    def _draw_first_line(
        self, painter: QPainter, index: Index, ink: Ink, left: float, right: float, top: float, *, kept: bool
    ) -> float:
        """Badge, file name; on a wide row folder and place too. Returns where the line below has to end."""
        type_ = self.type
        letter = index.data(Role.TWIN)
        if letter:
            left += (
                badge(painter, self.theme, type_.tiny_strong, letter, left, top + type_.body.height / 2, dim=ink.dim)
                + 6
            )
        small_top = top + (type_.body.height - type_.tiny.height) / 2 + 0.5
        end = self.draw_moved(painter, index, right, small_top, ink)
        if self.wide:
            end = self._draw_marks(painter, index, ink, end, small_top)
        face = type_.strong if kept else type_.body
        name = index.data(Role.FILE)
        shown = face.elided(name, end - left - 4)
        write(painter, face, ink.strong if kept else ink.normal, left, top, shown)
        if self.wide:
            left += face.width(shown) + 7
            folder = index.data(Role.FOLDER)
            if folder and end - left > 40:
                write(painter, type_.tiny, ink.quiet, left, small_top, type_.tiny.elided(folder, end - left - 6))
        return right

    def _draw_marks(self, painter: QPainter, index: Index, ink: Ink, right: float, top: float) -> float:
        """Freshness, near twins and the place, right-aligned; returns where they begin."""
        face = self.type.tiny
        for text, colour in self._marks(index, ink):
            right = write_right(painter, face, colour, right, top, text) - 8
        return right

    def _marks(self, index: Index, ink: Ink) -> list[tuple[str, str]]:
        marks = [
            (index.data(Role.PLACE), ink.quiet),
            (index.data(Role.NEAR), ink.quiet if ink.dim else ink.normal),
            (index.data(Role.FRESHNESS), ink.quiet if ink.dim else self.theme.warn),
        ]
        return [(text, colour) for text, colour in marks if text]

    def _draw_place(
        self, painter: QPainter, face: Face, index: Index, ink: Ink, left: float, right: float, top: float
    ) -> None:
        """A narrow row's second line: the folder, and the marks behind it."""
        marks = self._marks(index, ink)
        taken = sum(face.width(text) + 8 for text, _ in marks)
        folder = face.elided(index.data(Role.FOLDER), max(0.0, right - left - taken))
        write(painter, face, ink.quiet, left, top, folder)
        left += face.width(folder) + 8 if folder else 0
        for text, colour in marks:
            write(painter, face, colour, left, top, text)
            left += face.width(text) + 8

    def _draw_fate(self, painter: QPainter, index: Index, ink: Ink, left: float, top: float) -> float:
        face = self.type.small
        sign = _FOLDED.get(index.data(Role.FATE_NAME))
        if sign:
            write(painter, face, ink.quiet, left, top, sign)
        else:
            cross(painter, ink.quiet, QPointF(left + 4, top + face.height / 2 + 0.5), 6)
        for line in self._fate_lines(str(index.data(Role.FATE))):
            write(painter, face, ink.normal, left + face.indent, top, line)
            top += face.height
        return top + 1

    def _draw_sentence(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        """A widening round: its reason between two rules; or what only the run before had."""
        face, theme = self.type.tiny, self.theme
        lines = face.wrapped(index.data(Role.TEXT), self.width - 2 * PAD - 16, 2)
        painter.fillRect(rect, qcolor(theme.sunken))
        top = rect.top() + 5
        for line in lines:
            width = face.width(line)
            x = rect.left() + (rect.width() - width) / 2
            write(painter, face, theme.text_quiet, x, top, line)
            if len(lines) == 1:
                painter.setPen(QPen(qcolor(theme.border_strong), 1, Qt.PenStyle.DotLine))
                middle = round(top + face.height / 2) + 0.5
                painter.drawLine(QPointF(rect.left() + PAD, middle), QPointF(x - 8, middle))
                painter.drawLine(QPointF(x + width + 8, middle), QPointF(rect.right() - PAD, middle))
            top += face.height


def score_words(score: float) -> str:
    """A similarity in five signs, negative ones too."""
    return f"{score:.3f}" if score >= 0 else f"{score:.2f}"


def rank_digits(rows: int) -> int:
    """How many digits the rank column needs."""
    return len(str(max(1, rows)))
