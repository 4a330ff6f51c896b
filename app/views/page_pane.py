"""A page of a PDF as it is printed, with the passage marked. Pages are asked for with a signal, and come when drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.state import Problem
from app.theme import Theme, qcolor
from app.views.parts import Text
from pipeline.extract.records import Box, PagePicture, PageWanted
from pipeline.records import Location, Page
from pipeline.words.phrases import number
from pipeline.words.plain import lines_of

if TYPE_CHECKING:
    from pipeline.store.catalog import DocumentText

MARKER = "#FFE07A"  # as of a felt pen on white paper, whatever the window's colours are
_LARGEST = 1.6  # pixels a point, at the usual size of type
_MARGIN = 14
_REDRAW_MS = 180


def page_wanted(document: DocumentText, page: Page, place: Location, width: int, scale: float = 0.0) -> PageWanted:
    """This page, with the part of the passage that stands on it."""
    start, end = max(place.start, page.start), min(place.end, page.end)
    span = (start - page.start, end - page.start) if start < end else (0, 0)
    return PageWanted(document.path, page.number, width, document.text[page.start : page.end], *span, scale)


class PagePane(QWidget):
    """One page at a time, as wide as there is room for, scrolled to the passage."""

    pageWanted = Signal(object)  # PageWanted

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: DocumentText | None = None
        self._place: Location | None = None
        self._page: Page | None = None
        self._wanted: PageWanted | None = None
        self._redraw = QTimer(self)  # not at every step of a splitter that is dragged
        self._redraw.setSingleShot(True)
        self._redraw.setInterval(_REDRAW_MS)
        self._redraw.timeout.connect(self._ask)
        self._back, self._on = QToolButton(), QToolButton()
        for button, name, step in ((self._back, "Page before", -1), (self._on, "Next page", 1)):
            button.setAccessibleName(name)
            button.setToolTip(name)
            button.clicked.connect(lambda checked=False, step=step: self.turn(step))
        self._where = Text()
        self.note = Text(muted=True, wrap=True)
        self._whole = QToolButton()
        self._whole.setText("Whole page")
        self._whole.setCheckable(True)
        self._whole.setToolTip("Show the whole page at once, or as wide as there is room")
        self._whole.toggled.connect(self._fit)
        self.sheet = _Sheet(theme)
        self._scroll = _Scroll(self)
        self._scroll.setWidget(self.sheet)
        self._instead = QPlainTextEdit()
        self._instead.setReadOnly(True)
        self._instead.setAccessibleName("Text of the page")
        self._stack = QStackedWidget()
        self._stack.addWidget(self._scroll)
        self._stack.addWidget(self._instead)
        row = QHBoxLayout()
        row.setSpacing(6)
        for part in (self._back, self._where, self._on):
            row.addWidget(part)
        row.addWidget(self.note, 1)
        row.addWidget(self._whole)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._stack, 1)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._back.setIcon(icon("chevron-up", theme))
        self._on.setIcon(icon("chevron-down", theme))
        self.sheet.set_theme(theme)

    # --- what is shown --------------------------------------------------------------------------------------------

    def show_place(self, document: DocumentText, place: Location) -> None:
        """The page that holds the most of this passage."""
        self._document, self._place = document, place

        def held(page: Page) -> int:
            return min(page.end, place.end) - max(page.start, place.start)

        best = max(document.pages, key=held, default=None)
        if best is None or held(best) <= 0:
            best = next((page for page in document.pages if page.number == (place.page_first or 1)), None)
        self._show_page(best)

    def clear_page(self) -> None:
        self._document = self._place = self._page = self._wanted = None
        self.sheet.show_picture(None)

    def show_picture(self, wanted: PageWanted, picture: PagePicture) -> None:
        """A page has been drawn; one that is not wanted any more is passed over."""
        if wanted != self._wanted:
            return
        turned = self.sheet.page != wanted.page or not self.sheet.has_picture
        self.sheet.show_picture(picture)
        self._stack.setCurrentWidget(self._scroll)
        self.note.setText(self._said(picture))
        spoken = f"Page {wanted.page} of {picture.pages} as it is printed. {self.note.text()}"
        self._scroll.setAccessibleName(spoken)
        self._fit()
        if turned:
            self._scroll_to_mark()

    def show_problem(self, wanted: PageWanted, problem: Problem) -> None:
        """A page cannot be drawn: its text is shown in its place, and why."""
        if wanted != self._wanted:
            return
        self.sheet.show_picture(None)
        self._instead.setFont(self.sheet.theme.font("body"))
        self._instead.setPlainText(lines_of(wanted.text or "This page has no text."))
        self._stack.setCurrentWidget(self._instead)
        self.note.setText(f"The page cannot be shown as it is printed, so here is its text: {problem.text}")

    def text_instead(self) -> str:
        """The text that is shown in a page's place."""
        return self._instead.toPlainText()

    @property
    def waiting(self) -> bool:
        """Whether a page was asked for and is not there."""
        return self._wanted is not None and self._stack.currentWidget() is self._scroll and not self._is_there

    @property
    def _is_there(self) -> bool:
        return self.sheet.has_picture and self._wanted is not None and self.sheet.page == self._wanted.page

    def turn(self, step: int, *, to_end: bool = False) -> bool:
        """The next page or the one before; False at the last and the first."""
        if self._document is None or self._page is None:
            return False
        numbers = {page.number: page for page in self._document.pages}
        page = numbers.get(self._page.number + step)
        if page is None:
            return False
        self._show_page(page)
        bar = self._scroll.verticalScrollBar()
        bar.setValue(bar.maximum() if to_end else 0)
        return True

    # --- asking ---------------------------------------------------------------------------------------------------

    def _show_page(self, page: Page | None) -> None:
        self._page = page
        pages = len(self._document.pages) if self._document is not None else 0
        self._where.setText(
            f"Page {number(page.number)} of {number(pages)}" if page is not None else "No page is known"
        )
        self._back.setEnabled(page is not None and page.number > 1)
        self._on.setEnabled(page is not None and page.number < pages)
        self._ask()

    def _ask(self) -> None:
        if self._document is None or self._place is None or self._page is None:
            return
        wanted = page_wanted(self._document, self._page, self._place, *self._pixels())
        if wanted == self._wanted:
            return
        turned = self._wanted is None or replace(wanted, width=self._wanted.width) != self._wanted
        self._wanted = wanted
        if turned:
            self.note.setText("Drawing the page…")
            self.sheet.expect()
        self.pageWanted.emit(wanted)

    def _pixels(self) -> tuple[int, float]:
        """How wide the picture has to be: drawn for the very pixels of the screen it is sharp; and how large a point
        is at most: the text of a small page is not to be larger than that of the window around it."""
        dense = self.devicePixelRatioF()
        return round(self._room() * dense), _LARGEST * dense * self.sheet.theme.points / 10

    def _room(self) -> int:
        return max(120, self._scroll.viewport().width() - 2 * _MARGIN)

    def _said(self, picture: PagePicture) -> str:
        place, page = self._place, self._page
        if place is None or page is None:
            return ""
        here = place.start < page.end and place.end > page.start
        several = place.page_first is not None and place.page_last not in (None, place.page_first)
        span = f"The passage goes from page {place.page_first} to {place.page_last}. " if several else ""
        if not here:
            return f"{span}Nothing of it stands on this page." if several else "The passage is not on this page."
        if picture.marks:
            return span + ("Its part on this page is marked." if several else "The passage is marked.")
        return f"{span}It could not be found on the page as it is now, so nothing is marked."

    def _fit(self) -> None:
        viewport = self._scroll.viewport()
        self.sheet.fit(self._room(), viewport.height() if self._whole.isChecked() else 0, viewport.width())

    def _scroll_to_mark(self) -> None:
        top = self.sheet.mark_top()
        # A few lines of what stands before it are kept in sight.
        self._scroll.verticalScrollBar().setValue(0 if top is None else max(0, top - 48))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self._redraw.start()


class _Scroll(QScrollArea):
    """Page keys turn the page at its end."""

    def __init__(self, pane: PagePane) -> None:
        super().__init__(pane)
        self._pane = pane
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("The page as it is printed")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.key() == Qt.Key.Key_PageDown and bar.value() == bar.maximum():
            self._pane.turn(1)
        elif event.key() == Qt.Key.Key_PageUp and bar.value() == 0:
            self._pane.turn(-1, to_end=True)
        else:
            super().keyPressEvent(event)


class _Sheet(QWidget):
    """The picture and its marks."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.page = 0
        self._image: QImage | None = None
        self._marks: tuple[Box, ...] = ()
        self._stale = False  # another page is on its way
        self._paper = QRectF()

    @property
    def has_picture(self) -> bool:
        return self._image is not None and not self._stale

    @property
    def marks(self) -> tuple[Box, ...]:
        return self._marks

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def expect(self) -> None:
        """What is shown is not what is wanted any more."""
        self._stale = True
        self.update()

    def show_picture(self, picture: PagePicture | None) -> None:
        self._stale = False
        if picture is None:
            self._image, self._marks, self.page = None, (), 0
        else:
            size = (picture.width, picture.height, picture.stride)
            # The image only borrows the bytes: a copy outlives them.
            self._image = QImage(picture.pixels, *size, QImage.Format.Format_RGB32).copy()
            self._marks, self.page = picture.marks, picture.page
        self.update()

    def fit(self, width: int, height: int, across: int) -> None:
        """Lay the page out `width` wide, and no higher than `height` where that is given, in the middle of `across`."""
        image = self._image
        ratio = image.height() / image.width() if image is not None else 1.414
        if height:
            width = min(width, round((height - 2 * _MARGIN) / ratio))
        elif image is not None:
            width = min(width, round(image.width() / self.devicePixelRatioF()))
        width = max(40, width)
        tall = width * ratio
        self._paper = QRectF(max(_MARGIN, (across - width) / 2), _MARGIN, width, tall)
        self.resize(QSize(max(across, width + 2 * _MARGIN), round(tall) + 2 * _MARGIN))
        self.update()

    def mark_top(self) -> int | None:
        """Where the first mark stands."""
        if not self._marks or self._image is None:
            return None
        scale = self._paper.height() / self._image.height()
        return round(self._paper.top() + min(mark.top for mark in self._marks) * scale)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), qcolor(self.theme.sunken))
        if self._image is None:
            painter.fillRect(self._paper, qcolor(self.theme.raised))
            painter.end()
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setOpacity(0.35 if self._stale else 1.0)
        painter.drawImage(self._paper, self._image)
        if not self._stale:
            self._paint_marks(painter, self._paper.width() / self._image.width())
        painter.setOpacity(1.0)
        painter.setPen(qcolor(self.theme.border_strong))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self._paper.adjusted(-0.5, -0.5, 0.5, 0.5))
        painter.end()

    def _paint_marks(self, painter: QPainter, scale: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)  # the ink stays black
        painter.setBrush(qcolor(MARKER))
        for mark in self._marks:
            box = QRectF(mark.left * scale, mark.top * scale, mark.width * scale, mark.height * scale)
            painter.drawRoundedRect(box.translated(self._paper.topLeft()).adjusted(-3, -2, 3, 2), 3, 3)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        if self._marks:
            top = min(mark.top for mark in self._marks) * scale
            bottom = max(mark.top + mark.height for mark in self._marks) * scale
            bar = QRectF(self._paper.left() - 7, self._paper.top() + top, 4, bottom - top)
            painter.fillRect(bar, qcolor(self.theme.accent))
