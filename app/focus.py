"""The one shared highlight: what the pointer is over and what is selected, in every part of the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

TargetKind = Literal["candidate", "evidence", "item", "file"]


@dataclass(frozen=True, slots=True)
class FocusTarget:
    """A part of the answer.

    `key` is an evidence key (candidate, evidence, item) or a path (file). `rank` counts from 1 in the part's own
    lane; for a file it is the evidence block under whose citations it stands, if any. `ranks` names further raw
    candidates that the target stands for, where one line of the evidence lane sums up several.
    """

    kind: TargetKind
    key: str
    rank: int | None = None
    ranks: tuple[int, ...] = ()


class Focus(QObject):
    """Holds what is hovered and what is selected. Views write to it and redraw on `changed`; none knows another."""

    changed = Signal()
    hoveredChanged = Signal()
    selectedChanged = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hovered: FocusTarget | None = None
        self._selected: FocusTarget | None = None

    @property
    def hovered(self) -> FocusTarget | None:
        return self._hovered

    @hovered.setter
    def hovered(self, target: FocusTarget | None) -> None:
        self.hover(target)

    @property
    def selected(self) -> FocusTarget | None:
        return self._selected

    @selected.setter
    def selected(self, target: FocusTarget | None) -> None:
        self.select(target)

    @property
    def current(self) -> FocusTarget | None:
        """What is to be lit: the pointer's target while there is one, else the selection."""
        return self._hovered or self._selected

    def hover(self, target: FocusTarget | None) -> None:
        """The pointer is over `target`, or over nothing."""
        if target != self._hovered:
            self._hovered = target
            self.hoveredChanged.emit()
            self.changed.emit()

    def select(self, target: FocusTarget | None) -> None:
        """`target` is selected, or nothing is."""
        if target != self._selected:
            self._selected = target
            self.selectedChanged.emit()
            self.changed.emit()

    def clear(self) -> None:
        """Neither hovered nor selected: another answer stands in the window."""
        if self._hovered is not None or self._selected is not None:
            had_hover, had_selection = self._hovered is not None, self._selected is not None
            self._hovered = self._selected = None
            if had_hover:
                self.hoveredChanged.emit()
            if had_selection:
                self.selectedChanged.emit()
            self.changed.emit()
