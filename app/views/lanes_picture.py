"""The three lanes of an answer as a picture, all rows of them and not only those that the window has room for."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter

from app.focus import Focus
from app.theme import Theme, qcolor
from app.views.lane_list import LaneList
from app.views.lanes import LanesView
from app.views.stage_strip import StageStrip
from pipeline.records import Trace
from pipeline.words.phrases import count
from pipeline.words.plain import first_words

LEAST_WIDTH = 1_100
TALLEST = 24_000  # pixels of the window; rows below are counted in words
SHARPNESS = 2
SHARP_TO = 8_000  # pixels; a taller picture is as sharp as the window: painters know no more than 32,767


def lanes_picture(trace: Trace, theme: Theme, width: int) -> QImage:
    """The question, the strip of the stages and the lanes, `width` of the window's pixels wide, twice as sharp."""
    width = max(LEAST_WIDTH, width)
    lanes, strip = LanesView(Focus(), theme), StageStrip(theme)
    try:
        strip.set_trace(trace)
        strip_height = strip.heightForWidth(width)
        for part, height in ((strip, strip_height), (lanes, 400)):
            part.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
            part.resize(width, height)
            part.show()
        lanes.set_trace(trace, None)
        _settle()
        hidden = max(each.verticalScrollBar().maximum() for each in lanes.findChildren(LaneList))
        lanes.resize(width, min(TALLEST, 400 + hidden))
        _settle()
        for each in lanes.findChildren(LaneList):
            each.verticalScrollBar().hide()  # nothing can be scrolled in a picture
        left = max(each.verticalScrollBar().maximum() for each in lanes.findChildren(LaneList))
        return _painted(trace, theme, strip, lanes, cut=left > 0)
    finally:
        for part in (lanes, strip):
            part.hide()
            part.deleteLater()


def _settle() -> None:
    """Lay out what was just made; nothing of the user's is handled."""
    for _ in range(2):  # a layout may ask for another one
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)


def _painted(trace: Trace, theme: Theme, strip: StageStrip, lanes: LanesView, *, cut: bool) -> QImage:
    title, small = theme.font("title", bold=True), theme.font("small")
    head = QFontMetrics(title).height() + 20
    foot = QFontMetrics(small).height() + 12 if cut else 0
    width, height = lanes.width(), head + strip.height() + lanes.height() + foot
    sharpness = SHARPNESS if height <= SHARP_TO else 1
    image = QImage(QSize(width, height) * sharpness, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(sharpness)
    image.fill(qcolor(theme.window))
    painter = QPainter(image)
    painter.setPen(qcolor(theme.text))
    painter.setFont(title)
    shown = QFontMetrics(title).elidedText(first_words(trace.query), Qt.TextElideMode.ElideRight, width - 32)
    painter.drawText(QRect(16, 0, width - 32, head), Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)
    strip.render(painter, QPoint(0, head))
    lanes.render(painter, QPoint(0, head + strip.height()))
    if cut:
        painter.setFont(small)
        painter.setPen(qcolor(theme.text_quiet))
        words = (
            f"The picture ends here; the answer has {count(len(trace.candidates), 'raw candidate')}, "
            f"{count(len(trace.evidence), 'block')} of evidence and {count(len(trace.projected), 'projected block')}."
        )
        painter.drawText(QRect(16, height - foot, width - 32, foot), Qt.AlignmentFlag.AlignVCenter, words)
    painter.end()
    return image
