"""The ribbons between two lanes: which bands there are for the rows in sight, and the gap that paints them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget

from app.focus import FocusTarget
from app.models.answer import Answer
from app.models.evidence import EvidenceModel
from app.models.projected import ProjectedModel
from app.models.raw import RawModel
from app.models.rows import Role
from app.theme import Theme, qcolor
from app.views.lane_delegate import Light
from app.views.lane_list import LaneList

_THICK = 8.0
_OUTSIDE = 14.0  # how far beyond the lanes' edge a band runs whose other end is out of sight


@dataclass(frozen=True, slots=True)
class Band:
    """One ribbon: the heights of its middle at both sides of the gap, its thickness there, its colour. A `thread` is
    the thin dashed way of a row that fell."""

    left: float
    right: float
    thick_left: float
    thick_right: float
    colour: str
    light: Light
    thread: bool
    target: FocusTarget | None
    stub: bool = False  # a thread whose end is out of sight: only its beginning is drawn

    def path(self, width: float) -> QPainterPath:
        """Its outline across a gap of this width."""
        bend = width * 0.5
        upper_left, upper_right = self.left - self.thick_left / 2, self.right - self.thick_right / 2
        path = QPainterPath(QPointF(0, upper_left))
        path.cubicTo(QPointF(bend, upper_left), QPointF(bend, upper_right), QPointF(width, upper_right))
        if self.thread:
            return path
        path.lineTo(QPointF(width, upper_right + self.thick_right))
        path.cubicTo(
            QPointF(bend, upper_right + self.thick_right),
            QPointF(bend, upper_left + self.thick_left),
            QPointF(0, upper_left + self.thick_left),
        )
        path.closeSubpath()
        return path


class Lane:
    """One side of a gap: a list, its place beside the gap, and how far below a row's top its ribbons are tied."""

    def __init__(self, list_: LaneList, anchor: Callable[[], float]) -> None:
        self.list, self._anchor = list_, anchor

    def top_in(self, gap: QSplitterHandle) -> float:
        """Where the viewport begins, as seen from the gap."""
        return self.list.viewport().mapTo(gap.splitter(), QPoint(0, 0)).y() - gap.y()

    def height(self) -> float:
        return self.list.viewport().height()

    def shows(self, row: int) -> bool:
        """Whether a row is in sight."""
        rect = self.list.rect_of(row)
        return rect.bottom() > 0 and rect.top() < self.height()

    def tie(self, row: int) -> float:
        """Where a row's ribbons are tied, in the viewport; rows out of sight are tied just outside it."""
        rect = self.list.rect_of(row)
        reach = min(self._anchor(), max(0.0, rect.height() - 4.0))
        return min(self.height() + _OUTSIDE, max(-_OUTSIDE, rect.top() + reach))


def raw_bands(answer: Answer, theme: Theme, raw: Lane, evidence: Lane) -> list[Band]:
    """From the raw rows in sight to what they became; and for blocks in sight a stub towards rows out of sight."""
    links, bands = answer.links, []
    raw_model, evidence_model = raw.list.model(), evidence.list.model()
    assert isinstance(raw_model, RawModel)
    assert isinstance(evidence_model, EvidenceModel)
    seen: list[int] = []
    for row, _ in raw.list.visible_rows():
        rank = raw_model.index(row).data(Role.RANK)
        if rank is None:
            continue
        seen.append(rank)
        block = links.block_of.get(rank)
        end = evidence_model.at_block(block) if block is not None else evidence_model.at_fallen(rank)
        if end is None:
            continue
        thread = block is None
        colour = theme.twin(links.candidates[rank].twin_group) or theme.border_strong
        thick, offset = (1.0, 0.0) if block is None else _stacked(links.raw_of_block[block], rank)
        bands.append(
            Band(
                raw.tie(row),
                evidence.tie(end) + offset,
                _THICK,
                thick,
                theme.border_strong if thread else colour,
                raw.list.light_of(row),
                thread,
                raw.list.target_at(row),
                stub=thread and not evidence.shows(end),
            )
        )
    if seen:
        bands += _stubs(answer, theme, raw, evidence, seen[0], seen[-1])
    return bands


def _stacked(ranks: Sequence[int], rank: int) -> tuple[float, float]:
    """Many bands share one block's height: the thickness of each, and the offset of this one."""
    thick = min(_THICK, max(1.5, 16.0 / len(ranks)))
    return thick, (bisect_left(ranks, rank) - (len(ranks) - 1) / 2) * min(thick, 16.0 / len(ranks))


def _stubs(answer: Answer, theme: Theme, raw: Lane, evidence: Lane, first: int, last: int) -> list[Band]:
    """Blocks in sight whose raw rows stand above or below what is in sight."""
    bands = []
    for row, _ in evidence.list.visible_rows():
        index = evidence.list.model().index(row, 0)
        if index.data(Role.KIND) != "block":
            continue
        ranks = answer.links.raw_of_block.get(index.data(Role.RANK), [])
        colour = theme.twin(index.data(Role.TWIN)) or theme.border_strong
        end = evidence.tie(row)
        above, below = bisect_left(ranks, first), len(ranks) - bisect_right(ranks, last)
        for number, begin in ((above, -_OUTSIDE), (below, raw.height() + _OUTSIDE)):
            if number:
                light, target = evidence.list.light_of(row), evidence.list.target_at(row)
                bands.append(Band(begin, end, _THICK, min(_THICK, 2.0 + number), colour, light, False, target))
    return bands


def projected_bands(answer: Answer, theme: Theme, evidence: Lane, projected: Lane) -> list[Band]:
    """From the blocks in sight to what the agent reads of them, or to the line that says why it does not."""
    projected_model, evidence_model = projected.list.model(), evidence.list.model()
    assert isinstance(projected_model, ProjectedModel)
    assert isinstance(evidence_model, EvidenceModel)
    rows = {}  # evidence rank -> row of its block
    for row, _ in evidence.list.visible_rows():
        index = evidence_model.index(row)
        if index.data(Role.KIND) == "block":
            rows[index.data(Role.RANK)] = row
    for row, _ in projected.list.visible_rows():
        target = projected.list.target_at(row)
        if target is not None:
            rank = answer.links.block_of_item.get(target.rank or 0) if target.kind == "item" else target.rank
            block = evidence_model.at_block(rank) if rank is not None else None
            if rank is not None and block is not None:
                rows.setdefault(rank, block)
    bands = []
    for rank, row in rows.items():
        end = projected_model.at_block(rank)
        if end is None:
            continue
        thread = rank not in answer.links.item_of_block
        colour = theme.twin(answer.links.twin_of_block(rank)) or theme.border_strong
        bands.append(
            Band(
                evidence.tie(row),
                projected.tie(end),
                _THICK,
                _THICK,
                colour,
                evidence.list.light_of(row),
                thread,
                evidence.list.target_at(row),
                stub=thread and not (evidence.shows(row) and projected.shows(end)),
            )
        )
    return bands


class RibbonGap(QSplitterHandle):
    """The gap between two lanes. It is the splitter's handle as well: dragging it gives a lane more room."""

    hovered = Signal(object)  # FocusTarget or None

    def __init__(self, splitter: QSplitter, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal, splitter)
        self._theme = theme
        self._sides: tuple[Lane, Lane] | None = None
        self._make: Callable[[], list[Band]] = list
        self.setMouseTracking(True)
        self.setAccessibleName("Ribbons; drag to give a lane more room")

    def tie(self, left: Lane, right: Lane, make: Callable[[], list[Band]]) -> None:
        """Paint the bands that `make` gives, tied to these lanes."""
        self._sides, self._make = (left, right), make
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolor(theme.window))
        if self._sides is not None:
            side = self._sides[0]  # both lanes begin at one height: their headers are alike
            top, bottom = side.top_in(self), side.top_in(self) + side.height()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.save()
            painter.setClipRect(0, round(top), self.width(), round(bottom - top))
            painter.translate(0, top)
            # Threads below, then what is dimmed, then what is lit: what matters is never crossed out.
            for band in sorted(self._make(), key=lambda band: (band.light is Light.LIT, not band.thread)):
                self._paint(painter, band)
            painter.restore()
        if self.underMouse():
            middle = self.width() / 2
            painter.setPen(QPen(qcolor(theme.border_strong), 1))
            for offset in (-6, -2, 2, 6):
                painter.drawPoint(QPointF(middle, self.height() / 2 + offset))
        painter.end()

    def _paint(self, painter: QPainter, band: Band) -> None:
        if band.stub:
            if band.light is not Light.DIM and -_THICK < band.left < self.height():
                painter.setPen(QPen(qcolor(band.colour, 0.8), 1.2))
                painter.drawLine(QPointF(0, band.left), QPointF(6, band.left))
            return
        if band.thread:
            alpha = {Light.NONE: 0.55, Light.LIT: 1.0, Light.REST: 0.4, Light.DIM: 0.25}[band.light]
            pen = QPen(qcolor(band.colour, alpha), 1.5 if band.light is Light.LIT else 1, Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        else:
            alpha = {Light.NONE: 0.5, Light.LIT: 0.9, Light.REST: 0.28, Light.DIM: 0.12}[band.light]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(qcolor(band.colour, alpha))
        painter.drawPath(band.path(self.width()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if self._sides is None or event.buttons():
            return
        point = event.position() - QPointF(0, self._sides[0].top_in(self))
        found = next(
            (band.target for band in self._make() if not band.thread and band.path(self.width()).contains(point)), None
        )
        self.hovered.emit(found)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(None)
        self.update()


class LaneSplitter(QSplitter):
    """Lanes side by side, with ribbons in the gaps."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._theme = theme
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setChildrenCollapsible(False)

    def createHandle(self) -> QSplitterHandle:
        return RibbonGap(self, self._theme)

    def gap(self, number: int) -> RibbonGap:
        """The gap right of lane `number`, from 0."""
        handle = self.handle(number + 1)
        assert isinstance(handle, RibbonGap)
        return handle
