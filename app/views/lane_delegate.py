"""What the lanes' delegates share: the ground of a row, the inks of its state, its height, its files' small buttons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRectF, QSize
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from app.icons import draw_icon
from app.models.rows import Role
from app.theme import Theme, qcolor
from app.views.ink import Type, type_of, write_right

Index = QModelIndex | QPersistentModelIndex
WIDE = 400  # pixels from which a row says more on its first line and less below it
PAD = 10
ACTION_SIZE = 20
FILE_ACTIONS = ("open", "reveal")
_BUTTON_WORDS = {"open": "Open the file", "reveal": "Show it in its folder"}


class Light(Enum):
    """A row's part in the highlight: there is none, it belongs to it, it does not. What a lasting selection leaves
    out stands back (REST); what the pointer or a stage leaves out for a moment is dimmed (DIM)."""

    NONE = 0
    LIT = 1
    REST = 2
    DIM = 3


@dataclass(frozen=True, slots=True)
class Ink:
    """The text colours of one row."""

    strong: str
    normal: str
    quiet: str
    link: str
    dim: bool


class LaneDelegate(QStyledItemDelegate):
    """Draws rows from their named roles. Subclasses say how high a row is and what stands on it."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.type: Type = type_of(theme)
        self.width = 300
        self.compact = False
        self.rank_digits = 2
        self.hovered_row = -1
        self.focused = False
        self._heights: dict[int, int] = {}  # Qt asks for a row's height at every look at it
        self.light_of: Callable[[int], Light] = lambda row: Light.NONE

    def set_theme(self, theme: Theme) -> None:
        self.theme, self.type = theme, type_of(theme)

    def set_room(self, width: int, *, compact: bool) -> bool:
        """The width that rows have, and whether height is scarce. True when rows may change their height."""
        changed = (width, compact) != (self.width, self.compact)
        self.width, self.compact = width, compact
        return changed

    def forget_heights(self) -> None:
        """Rows, room or type have changed."""
        self._heights.clear()

    @property
    def wide(self) -> bool:
        return self.width >= WIDE

    # --- for subclasses -------------------------------------------------------------------------------------------

    def row_height(self, index: Index) -> float:
        raise NotImplementedError

    def draw(self, painter: QPainter, rect: QRectF, index: Index, ink: Ink) -> None:
        raise NotImplementedError

    def has_file_buttons(self, index: Index) -> bool:
        """Whether the row shows open and reveal buttons while the pointer is over it."""
        return False

    # --- Qt -------------------------------------------------------------------------------------------------------

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.row()
        height = self._heights.get(row)
        if height is None:
            height = self._heights[row] = round(self.row_height(index))
        return QSize(self.width, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.row()
        rect = QRectF(option.rect)
        light = self.light_of(row)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        theme = self.theme
        painter.save()
        painter.setClipRect(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = None
        if selected:
            ground = theme.selected
        elif light is Light.LIT:
            ground = theme.lit
        elif row == self.hovered_row:
            ground = theme.hover
        if ground is not None:
            painter.fillRect(rect, qcolor(ground))
        dim = light is Light.DIM and not selected
        if dim:
            ink = Ink(theme.text_dimmed, theme.text_dimmed, theme.text_dimmed, theme.text_dimmed, True)
        elif light is Light.REST and not selected:
            ink = Ink(theme.text_secondary, theme.text_quiet, theme.text_dimmed, theme.link, False)
        else:
            ink = Ink(theme.text, theme.text_secondary, theme.text_quiet, theme.link, False)
        self.draw(painter, rect, index, ink)
        if selected:
            edge = theme.accent if self.focused else theme.border_strong
            painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), qcolor(edge))
        if row == self.hovered_row and self.has_file_buttons(index):
            self._draw_buttons(painter, option.rect, ground or theme.surface)
        painter.restore()

    # --- small buttons ----------------------------------------------------------------------------------------------

    def _button(self, rect: object, number: int) -> QRectF:
        frame = QRectF(rect)  # type: ignore[call-overload]  # missing in the stubs
        left = frame.right() - PAD / 2 - (len(FILE_ACTIONS) - number) * (ACTION_SIZE + 2)
        return QRectF(left, frame.top() + 2, ACTION_SIZE, ACTION_SIZE)

    def _draw_buttons(self, painter: QPainter, rect: object, ground: str) -> None:
        first, last = self._button(rect, 0), self._button(rect, len(FILE_ACTIONS) - 1)
        painter.fillRect(first.united(last).adjusted(-6, 0, 6, 0), qcolor(ground))
        for number, name in enumerate(FILE_ACTIONS):
            draw_icon(painter, name, self._button(rect, number).adjusted(2, 2, -2, -2), self.theme.text_secondary)

    def button_at(self, rect: object, position: QPoint, index: Index) -> str | None:
        """ "open" or "reveal" where the pointer is on such a button of this row."""
        if not self.has_file_buttons(index):
            return None
        for number, name in enumerate(FILE_ACTIONS):
            if self._button(rect, number).contains(position):
                return name
        return None

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        """A small button names itself; anywhere else the row's own tool tip stands."""
        name = self.button_at(option.rect, event.pos(), index)
        if name is not None and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), _BUTTON_WORDS[name], view)
            return True
        return super().helpEvent(event, view, option, index)

    def unfolds_at(self, rect: object, position: QPoint, index: Index) -> bool:
        """Whether a click here folds or unfolds the row's text."""
        return False

    # --- marks ------------------------------------------------------------------------------------------------------

    def draw_moved(self, painter: QPainter, index: Index, right: float, top: float, ink: Ink) -> float:
        """The mark of what moved since the run before, ending at `right`; returns where it begins."""
        moved = index.data(Role.MOVED)
        if not moved:
            return right
        theme = self.theme
        colour = ink.quiet if ink.dim else {"▲": theme.ok, "▼": theme.warn}.get(moved[0], theme.link)
        face = self.type.tiny_strong
        return write_right(painter, face, colour, right, top, moved) - 6
