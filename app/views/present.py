"""Present mode: one step of an answer at a time, in type that is read from the back of a room. Keyboard only."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.models.slides import Slide
from app.theme import Theme, qcolor
from app.views.ink import write, write_right
from app.views.present_pictures import draw_picture
from app.views.present_rows import Stage

_FORTH = (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_PageDown, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Backspace, Qt.Key.Key_PageUp)
_LEAVE = (Qt.Key.Key_Escape, Qt.Key.Key_F5)
# What still means what it means elsewhere: quit, close, the picture of what is shown.
_PASSED_ON = (Qt.Key.Key_Q, Qt.Key.Key_W, Qt.Key.Key_S)
_HINT = "← →  step      Home  End      Esc  leave"


class PresentView(QWidget):
    """Lies over the whole window while it is shown."""

    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._slides: tuple[Slide, ...] = ()
        self._at = 0
        self._question = ""
        self.setAccessibleName("Presentation")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_slides(self, slides: Sequence[Slide], question: str) -> None:
        """Begin with the first of these."""
        self._slides, self._question = tuple(slides), question
        self._go(0)

    @property
    def slide(self) -> Slide | None:
        """The slide that is shown."""
        return self._slides[self._at] if self._slides else None

    @property
    def place(self) -> tuple[int, int]:
        """Which slide that is, from 1, and of how many."""
        return self._at + 1, len(self._slides)

    def _go(self, to: int) -> None:
        self._at = max(0, min(to, len(self._slides) - 1))
        slide = self.slide
        if slide is not None:
            self.setAccessibleName(f"Step {self._at + 1} of {len(self._slides)}. {slide.spoken}")
        self.update()

    # --- keys -----------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        # The window's shortcuts would work on what lies behind and is not seen.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            if not (control and event.key() in _PASSED_ON):
                event.accept()
                return True
        return super().event(event)

    def focusNextPrevChild(self, following: bool) -> bool:
        return False  # nothing behind is reached by Tab

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in _LEAVE:
            self.left.emit()
        elif key in _FORTH:
            self._go(self._at + 1)
        elif key in _BACK:
            self._go(self._at - 1)
        elif key == Qt.Key.Key_Home:
            self._go(0)
        elif key == Qt.Key.Key_End:
            self._go(len(self._slides) - 1)
        event.accept()

    # --- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolor(self._theme.window))
        slide = self.slide
        if slide is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            stage = Stage.of(self._theme, self.width(), self.height())
            draw_picture(painter, stage, slide.picture, self._paint_head(painter, stage, slide))
            self._paint_foot(painter, stage)
        painter.end()

    def _paint_head(self, painter: QPainter, stage: Stage, slide: Slide) -> QRectF:
        """The words of the slide; returns the room that is left for its picture."""
        theme, unit = self._theme, stage.unit
        left, right = stage.margin, self.width() - stage.margin
        first = slide.name == "question"
        if not first:
            asked = stage.small.elided(self._question, right - left, Qt.TextElideMode.ElideRight)
            write(painter, stage.small, theme.text_quiet, left, 20 * unit, asked)
        top = 52 * unit
        room = right - left
        if slide.figure:
            figure = max(stage.figure.width(slide.figure), stage.words.width(slide.words))
            write_right(painter, stage.figure, theme.accent, right, top - 12 * unit, slide.figure)
            below = top - 12 * unit + stage.figure.height - 6 * unit
            write_right(painter, stage.words, theme.text_secondary, right, below, slide.words)
            room -= figure + 48 * unit
        for line in stage.title.wrapped(slide.title, room, 2):
            write(painter, stage.title, theme.text, left, top, line)
            top += stage.title.height
        top += 8 * unit
        for line in stage.sentence.wrapped(slide.sentence, room, 3):
            write(painter, stage.sentence, theme.text_secondary, left, top, line)
            top += stage.sentence.height
        top = max(top + 20 * unit, 190 * unit)
        return QRectF(left, top, right - left, self.height() - 62 * unit - top)

    def _paint_foot(self, painter: QPainter, stage: Stage) -> None:
        theme, unit = self._theme, stage.unit
        middle = self.height() - 28 * unit
        line = middle - stage.small.height / 2
        at, of = self.place
        write(painter, stage.small, theme.text_quiet, stage.margin, line, f"{at} of {of}")
        hint = stage.small.elided(_HINT, self.width() / 2 - stage.margin - of * 11 * unit, Qt.TextElideMode.ElideLeft)
        write_right(painter, stage.small, theme.text_quiet, self.width() - stage.margin, line, hint)
        step = 22 * unit
        x = (self.width() - step * (of - 1)) / 2
        painter.setPen(Qt.PenStyle.NoPen)
        for number in range(of):
            size = (14 if number == at - 1 else 8) * unit
            painter.setBrush(qcolor(theme.accent if number == at - 1 else theme.border_strong))
            painter.drawEllipse(QRectF(x + step * number - size / 2, middle - size / 2, size, size))
