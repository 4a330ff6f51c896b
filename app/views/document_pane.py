"""A document's text, with one chunk of it marked and its neighbours' borders beside it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.theme import Theme, qcolor
from app.views.ink import runs_right_to_left
from pipeline.words.plain import lines_of

if TYPE_CHECKING:
    from pipeline.store.catalog import ChunkSpan, DocumentText

TEXT_MARGIN = 4
WINDOW = 200_000  # characters of a document that are laid out at once


@dataclass(frozen=True, slots=True)
class _Mark:
    """A chunk of the document in positions of the text widget."""

    chunk: ChunkSpan
    start: int
    end: int


def utf16_length(text: str) -> int:
    """How many positions a text takes in Qt, which counts characters beyond the first plane twice."""
    return len(text) + sum(character > "\uffff" for character in text)


def window_around(start: int, end: int, length: int, most: int = WINDOW) -> tuple[int, int]:
    """The part of a text of this length to show around `[start, end)`: at most `most` characters, all if it fits."""
    if length <= most:
        return 0, length
    first = max(0, min(start - (most - min(end - start, most)) // 2, length - most))
    return first, first + most


class DocumentPane(QPlainTextEdit):
    """Read-only plain text. Never parses markup; of a huge document it lays out only the part around the chunk."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setAccessibleName("Text of the document")
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # lines are wrapped, long words too
        # The document's own margin would show a strip of the line above the first one in sight.
        self.document().setDocumentMargin(0)
        self._marks: list[_Mark] = []
        self._pages: list[tuple[int, int]] = []  # position, page number
        self._current: _Mark | None = None
        self._span: tuple[int, int] | None = None
        self._gutter = _Gutter(self)
        self.note = ""  # what is not shown, in words
        self.updateRequest.connect(self._scrolled)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.setFont(theme.font("body"))
        self._fit_gutter()
        self._highlight()
        self._gutter.update()

    def setPlainText(self, text: str) -> None:
        """Show this text, from the side on which its script begins: plain text layouts know one side for all."""
        side = Qt.AlignmentFlag.AlignRight if runs_right_to_left(text[:2_000]) else Qt.AlignmentFlag.AlignLeft
        option = self.document().defaultTextOption()
        if option.alignment() != side:
            option.setAlignment(side)
            self.document().setDefaultTextOption(option)
        super().setPlainText(text)

    def clear_document(self) -> None:
        """Nothing is shown."""
        self._marks, self._pages, self._current, self._span, self.note = [], [], None, None, ""
        self.setExtraSelections([])
        self.clear()
        self._gutter.update()

    def show_text(self, document: DocumentText, chunk_index: int | None, span: tuple[int, int] | None = None) -> None:
        """Show the document, scrolled to the chunk. `span` marks a part that is no chunk of the library any more."""
        chosen = next((chunk for chunk in document.chunks if chunk.chunk_index == chunk_index), None)
        start, end = (chosen.start, chosen.end) if chosen is not None else span or (0, 0)
        length = len(document.text)
        first, last = window_around(start, end, length)
        self.note = (
            ""
            if (first, last) == (0, length)
            else (
                f"Characters {first + 1:,} to {last:,} of {length:,} are shown: the document is too long to show whole."
            )
        )
        chunks = [chunk for chunk in document.chunks if chunk.end > first and chunk.start < last]
        pages = [page for page in document.pages if first <= page.start < last or page.start <= first < page.end]
        wanted = {first, last, start, end}
        wanted.update(max(first, chunk.start) for chunk in chunks)
        wanted.update(min(last, chunk.end) for chunk in chunks)
        wanted.update(max(first, page.start) for page in pages)
        shown, at = _laid_out(document.text, first, last, wanted)
        self.setPlainText(shown)
        self._marks = [_Mark(chunk, at[max(first, chunk.start)], at[min(last, chunk.end)]) for chunk in chunks]
        self._pages = [(at[max(first, page.start)], page.number) for page in pages]
        self._current = next((mark for mark in self._marks if mark.chunk is chosen), None) if chosen else None
        self._span = (at.get(start, 0), at.get(end, 0)) if end > start else None
        self._fit_gutter()
        self._highlight()
        if self._span is not None:
            self._scroll_to(*self._span)
            # The first layout happens at the first paint: only then are the heights of wrapped lines known.
            QTimer.singleShot(0, self, self._scroll_again)

    def marked_text(self) -> str:
        """The text that is marked, as it is shown."""
        selections = self.extraSelections()
        return selections[0].cursor.selectedText().replace("\u2029", "\n") if selections else ""

    def _scroll_again(self) -> None:
        if self._span is not None:
            self._scroll_to(*self._span)

    def _scroll_to(self, start: int, end: int) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(end)
        self.setTextCursor(cursor)
        cursor.setPosition(start)
        self.setTextCursor(cursor)
        # Two lines of what stands before it are kept in sight.
        block = cursor.blockNumber()
        line = self.document().findBlockByNumber(block).firstLineNumber()
        wanted, bar = max(0, line - 2), self.verticalScrollBar()
        # Bringing the cursor into sight may leave half a line at the top, and the same value again would leave it so.
        bar.setValue(wanted - 1 if wanted >= bar.maximum() else wanted + 1)
        bar.setValue(wanted)

    def _highlight(self) -> None:
        span = self._span
        if span is None:
            self.setExtraSelections([])
            return
        chosen = QTextEdit.ExtraSelection()
        chosen.format = QTextCharFormat()
        chosen.format.setBackground(qcolor(self.theme.selected))
        chosen.cursor = QTextCursor(self.document())
        chosen.cursor.setPosition(span[0])
        chosen.cursor.setPosition(span[1], QTextCursor.MoveMode.KeepAnchor)
        self.setExtraSelections([chosen])

    # --- the gutter ---------------------------------------------------------------------------------------------

    def gutter_width(self) -> int:
        return 18 + (self.fontMetrics().horizontalAdvance("p. 999") if self._pages else 0)

    def _fit_gutter(self) -> None:
        self.setViewportMargins(self.gutter_width() + TEXT_MARGIN, TEXT_MARGIN, TEXT_MARGIN, TEXT_MARGIN)
        inside = self.contentsRect().adjusted(0, TEXT_MARGIN, 0, -TEXT_MARGIN)
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), self.gutter_width(), inside.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_gutter()

    def _scrolled(self, rect: QRect, dy: int) -> None:
        self._gutter.update()

    def paint_gutter(self, painter: QPainter) -> None:
        """A bar for every chunk in sight, strong for the one that is marked, and the pages' beginnings."""
        theme, width, height = self.theme, self._gutter.width(), self._gutter.height()
        painter.fillRect(self._gutter.rect(), qcolor(theme.surface))
        painter.setFont(theme.font("small"))
        starts = [mark.start for mark in self._marks]
        block = self.firstVisibleBlock()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > height:
                break
            low, high = block.position(), block.position() + block.length() - 1
            at = max(0, bisect_right(starts, low) - 1)
            for mark in self._marks[at : at + 64]:
                if mark.start > high:
                    break
                top, bottom = self._lines_of(mark, low, high, box.top(), box.bottom())
                if top is not None and bottom is not None:
                    self._paint_bar(painter, mark, top, bottom, width, low)
            for position, number in self._pages:
                if low <= position <= high:
                    rect = QRect(2, int(box.top()), width - 16, int(self.fontMetrics().height()))
                    painter.setPen(qcolor(theme.text_quiet))
                    painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter), f"p. {number}")
            block = block.next()

    def _lines_of(
        self, mark: _Mark, low: int, high: int, top: float, bottom: float
    ) -> tuple[float | None, float | None]:
        """The vertical extent of a chunk within the block that covers positions `low` to `high`."""
        if mark.end <= low or mark.start > high:
            return None, None
        edges = []
        for position, whole in ((mark.start, top), (mark.end, bottom)):
            if low < position <= high:
                cursor = QTextCursor(self.document())
                cursor.setPosition(position)
                rect = self.cursorRect(cursor)
                edges.append(float(rect.top() if position == mark.start else rect.bottom()))
            else:
                edges.append(whole)
        return edges[0], edges[1]

    def _paint_bar(self, painter: QPainter, mark: _Mark, top: float, bottom: float, width: int, low: int) -> None:
        current = mark is self._current
        colour: QColor = qcolor(self.theme.accent if current else self.theme.border)
        thick = 4 if current else 2
        begins = mark.start >= low
        # A gap of a few pixels at a chunk's first line is the border to the chunk before it.
        upper = int(top) + (3 if begins else 0)
        painter.fillRect(QRect(width - 10, upper, thick, max(2, int(bottom) - upper)), colour)


class _Gutter(QWidget):
    """The strip left of the text; the pane paints it."""

    def __init__(self, pane: DocumentPane) -> None:
        super().__init__(pane)
        self._pane = pane

    def sizeHint(self) -> QSize:
        return QSize(self._pane.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._pane.paint_gutter(painter)
        painter.end()


def _laid_out(text: str, first: int, last: int, offsets: Iterable[int]) -> tuple[str, dict[int, int]]:
    """`text[first:last]` as it is shown, and where the offsets of the text are in it, in Qt's positions.

    Showing a character can take none, one or several (a carriage return, a letter, a named control), so that the
    offsets are carried along piece by piece.
    """
    pieces: list[str] = []
    at: dict[int, int] = {}
    position = 0
    before = first
    for offset in sorted({min(max(offset, first), last) for offset in offsets}):
        piece = lines_of(text[before:offset], offset - before)
        pieces.append(piece)
        position += utf16_length(piece)
        at[offset] = position
        before = offset
    return "".join(pieces), at
