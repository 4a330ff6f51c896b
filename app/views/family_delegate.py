"""Draws families and their members: a few lines each, the tier by colour and by word."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.icons import draw_icon
from app.models.families import FamilyRole, FamilyRow
from app.models.family_members import MOST_WEIGHTY, MemberRole, MemberRow
from app.theme import Theme, qcolor
from app.views.ink import Face, Type, type_of, write, write_right
from pipeline.duplicates.records import Tier, Weighty
from pipeline.words.families import TIER_WORDS, WEIGHTY_WORDS
from pipeline.words.phrases import count
from pipeline.words.plain import one_line

Index = QModelIndex | QPersistentModelIndex
PAD = 10
_GAP = 3
_TIER_COLOURS: dict[Tier, int] = {"identical": 2, "same_text": 0, "near": 1, "contained": 6, "alike": 4}
_Right = Qt.TextElideMode.ElideRight


def tier_colour(theme: Theme, tier: Tier) -> str:
    """The colour of a tier; its name always stands beside it."""
    return theme.twin_colours[_TIER_COLOURS[tier]]


def draw_tier(painter: QPainter, theme: Theme, face: Face, tier: Tier, x: float, top: float) -> float:
    """The tier's dot and name; returns where they end."""
    size = face.height * 0.56
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolor(tier_colour(theme, tier)))
    painter.drawEllipse(QRectF(x, top + (face.height - size) / 2, size, size))
    x += size + 5
    name = TIER_WORDS[tier]
    write(painter, face, theme.text, x, top, name)
    return x + face.width(name)


class RowDelegate(QStyledItemDelegate):
    """The ground of a row and the mark of the current one. Subclasses draw what stands on it."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.focused = False
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.type: Type = type_of(theme)

    def draw(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        raise NotImplementedError

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self.theme, QRectF(option.rect)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setClipRect(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if selected:
            painter.fillRect(rect, qcolor(theme.selected))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, qcolor(theme.hover))
        self.draw(painter, rect, index)
        painter.fillRect(QRectF(rect.left(), rect.bottom() - 1, rect.width(), 1), qcolor(theme.border))
        if selected:
            painter.fillRect(
                QRectF(rect.left(), rect.top(), 3, rect.height()),
                qcolor(theme.accent if self.focused else theme.border_strong),
            )
        if self.focused and option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(qcolor(theme.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -1.5))
        painter.restore()


class FamilyDelegate(RowDelegate):
    """Three lines: the head's name and what the family costs; the folder; the tier and how much is repeated."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        type_ = self.type
        return QSize(120, round(type_.body.height + 2 * type_.small.height + 2 * _GAP + 13))

    def draw(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        row: FamilyRow | None = index.data(FamilyRole.ROW)
        if row is None:
            return
        theme, type_ = self.theme, self.type
        left, right, top = rect.left() + PAD, rect.right() - PAD, rect.top() + 6
        lift = type_.body.ascent - type_.small_strong.ascent
        end = write_right(painter, type_.small_strong, theme.text_secondary, right, top + lift, row.figure)
        write(painter, type_.strong, theme.text, left, top, type_.strong.elided(row.name, end - left - 10))
        top += type_.body.height + _GAP
        folder = type_.small.elided(row.folder, right - left)
        write(painter, type_.small, theme.text_quiet, left, top, folder)
        top += type_.small.height + _GAP
        x = draw_tier(painter, theme, type_.small, row.family.tier, left, top) + 10
        facts = type_.small.elided(row.facts, right - x, _Right)
        write(painter, type_.small, theme.text_secondary, x, top, facts)


class MemberDelegate(RowDelegate):
    """Name, size and date; the folder and what was decided; the tie to the head; the words that matter; the verdict."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: MemberRow | None = index.data(MemberRole.ROW)
        lines = row.lines if row is not None else 3
        return QSize(200, round(self.type.body.height + (lines - 1) * (self.type.small.height + _GAP) + 14))

    def draw(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        row: MemberRow | None = index.data(MemberRole.ROW)
        if row is None:
            return
        theme, type_ = self.theme, self.type
        left, right, top = rect.left() + PAD, rect.right() - PAD, rect.top() + 6
        step = type_.small.height + _GAP
        self._first_line(painter, row, left, right, top)
        top += type_.body.height + _GAP
        self._second_line(painter, row, left, right, top)
        top += step
        self._tie(painter, row, left, right, top)
        top += step
        if row.member.weighty:
            self._weighty(painter, row, left, right, top)
            top += step
        if row.note:
            write(
                painter,
                type_.small,
                theme.text_secondary,
                left,
                top,
                type_.small.elided(row.note, right - left, _Right),
            )
            top += step
        if row.verdict:
            colour = theme.warn if row.member.proposed else theme.text_quiet
            write(painter, type_.small, colour, left, top, type_.small.elided(row.verdict, right - left, _Right))

    def _first_line(self, painter: QPainter, row: MemberRow, left: float, right: float, top: float) -> None:
        theme, type_ = self.theme, self.type
        lift = type_.body.ascent - type_.small.ascent
        end = write_right(painter, type_.small, theme.text_quiet, right, top + lift, row.facts)
        if row.head:
            left = self._tag(painter, "head", left, top + lift, theme.accent) + 7
        write(painter, type_.strong, theme.text, left, top, type_.strong.elided(row.name, end - left - 10))

    def _second_line(self, painter: QPainter, row: MemberRow, left: float, right: float, top: float) -> None:
        theme, type_ = self.theme, self.type
        if row.unlike:
            right = self._unlike(painter, row.unlike, left, right, top) - 5
        for mark in reversed(row.marks):
            width = type_.tiny_strong.width(mark) + 12
            self._tag(painter, mark, right - width, top, theme.text_secondary)
            right -= width + 5
        write(painter, type_.small, theme.text_quiet, left, top, type_.small.elided(row.folder, right - left - 4))

    def _unlike(self, painter: QPainter, words: str, left: float, right: float, top: float) -> float:
        """What became of its file, behind a warning; returns where that begins."""
        theme, face, height = self.theme, self.type.tiny_strong, self.type.small.height
        shown = face.elided(words, right - left - height, _Right)
        x = right - face.width(shown)
        write(painter, face, theme.warn, x, top + (height - face.height) / 2, shown)
        draw_icon(painter, "warning", QRectF(x - height, top + 1, height - 2, height - 2), theme.warn)
        return x - height

    def _tag(self, painter: QPainter, words: str, x: float, top: float, colour: str) -> float:
        """A word in an outline; returns where it ends."""
        face, height = self.type.tiny_strong, self.type.small.height
        box = QRectF(x, top, face.width(words) + 12, height)
        painter.setPen(qcolor(colour))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        write(painter, face, colour, x + 6, top + (height - face.height) / 2, words)
        return box.right()

    def _tie(self, painter: QPainter, row: MemberRow, left: float, right: float, top: float) -> None:
        """How it is tied to the head: the tier's dot, and the sentence, which begins with its name."""
        theme, face = self.theme, self.type.small
        if row.member.tier is not None:
            size = face.height * 0.56
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(qcolor(tier_colour(theme, row.member.tier)))
            painter.drawEllipse(QRectF(left, top + (face.height - size) / 2, size, size))
            left += size + 5
        colour = theme.text if row.member.tier is not None else theme.text_quiet
        write(painter, face, colour, left, top, face.elided(row.tie, right - left, _Right))

    def _weighty(self, painter: QPainter, row: MemberRow, left: float, right: float, top: float) -> None:
        """The words that matter: what the head has, and what this one has, underlined, as in a comparison."""
        theme, face, member = self.theme, self.type.small, row.member
        draw_icon(painter, "warning", QRectF(left, top + 1, face.height - 2, face.height - 2), theme.warn)
        x = left + face.height + 3
        shown = member.weighty[:MOST_WEIGHTY]
        for number, weighty in enumerate(shown):
            rest = max(member.weighty_in_all, len(member.weighty)) - number
            tail = f"and {count(rest, 'more', 'more')}"
            if number and x + self._weighty_width(weighty) + (face.width(tail) + 12 if rest > 1 else 0) > right:
                write(painter, face, theme.text_quiet, x, top, face.elided(tail, right - x, _Right))
                return
            x = self._one_weighty(painter, weighty, x, right, top) + 12
        rest = max(member.weighty_in_all, len(member.weighty)) - len(shown)
        if rest > 0:
            write(
                painter,
                face,
                theme.text_quiet,
                x,
                top,
                face.elided(f"and {count(rest, 'more', 'more')}", right - x, _Right),
            )

    def _weighty_width(self, weighty: Weighty) -> float:
        face = self.type.small
        return face.width(f"{WEIGHTY_WORDS[weighty.kind]} {weighty.in_head} {weighty.in_member}") + 24

    def _one_weighty(self, painter: QPainter, weighty: Weighty, x: float, right: float, top: float) -> float:
        theme, face = self.theme, self.type.small
        name = f"{WEIGHTY_WORDS[weighty.kind]} "
        write(painter, face, theme.text_quiet, x, top, name)
        x += face.width(name)
        for word, ground in ((weighty.in_head, theme.removed_ground), (weighty.in_member, theme.added_ground)):
            if not word or x > right:
                continue
            shown = face.elided(one_line(word, 40), max(0.0, right - x - 8), _Right)
            width = face.width(shown)
            painter.fillRect(QRectF(x, top, width + 6, face.height), qcolor(ground))
            write(painter, face, theme.text, x + 3, top, shown)
            if word is weighty.in_member:
                painter.fillRect(QRectF(x + 3, top + face.ascent + 1.5, width, 1), qcolor(theme.text))
            x += width + 9
        return x
