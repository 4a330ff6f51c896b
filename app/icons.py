"""The window's icons: one set of stroked drawings, tinted to the theme and drawn anew at every size and scale."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.theme import Theme
from app.views.stylesheet import ICONS

_STROKE = b"#000000"


def icon_names() -> tuple[str, ...]:
    """Every icon that can be asked for."""
    return tuple(sorted(file.stem for file in ICONS.glob("*.svg") if not file.stem.startswith("chevron")))


@lru_cache(maxsize=256)
def _drawing(name: str, colour: str) -> QSvgRenderer:
    file = Path(ICONS, f"{name}.svg")
    try:
        source = file.read_bytes()
    except OSError as error:
        raise KeyError(f"no icon named {name!r}; there are {', '.join(icon_names())}") from error
    return QSvgRenderer(QByteArray(source.replace(_STROKE, colour.encode("ascii"))))


def draw_icon(painter: QPainter, name: str, rect: QRect | QRectF, colour: str) -> None:
    """Draw an icon into `rect` in a colour of the caller's."""
    _drawing(name, colour).render(painter, QRectF(rect))


class TintedEngine(QIconEngine):
    """Draws one icon in the theme's colours. Qt asks it again for every size and device pixel ratio."""

    def __init__(self, name: str, normal: str, disabled: str, active: str) -> None:
        super().__init__()
        self._name, self._normal, self._disabled, self._active = name, normal, disabled, active

    def _colour(self, mode: QIcon.Mode, state: QIcon.State) -> str:
        if mode == QIcon.Mode.Disabled:
            return self._disabled
        return self._active if state == QIcon.State.On else self._normal

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        draw_icon(painter, self._name, rect, self._colour(mode, state))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        made = QPixmap(size * scale)  # `size` is in the screen's own units, `scale` its device pixel ratio
        made.setDevicePixelRatio(scale)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return made

    def clone(self) -> QIconEngine:
        return TintedEngine(self._name, self._normal, self._disabled, self._active)

    def key(self) -> str:
        return "twinspect-tinted"


@lru_cache(maxsize=256)
def icon(name: str, theme: Theme, colour: str | None = None) -> QIcon:
    """The icon `name` for a theme; `colour` overrides the tint of its normal state. Raises KeyError when unknown."""
    name = name.replace(" ", "-").replace("_", "-")
    _drawing(name, theme.text)  # an unknown name fails here, not at the first paint
    return QIcon(TintedEngine(name, colour or theme.text_secondary, theme.border_strong, theme.accent))
