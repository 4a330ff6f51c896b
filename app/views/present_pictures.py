"""The pictures of present mode, painted in the room that a slide has for them."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from app.models.slides import Band, Bands, Cards, Fold, Folds, Line, Lines, Picture, Quote, Side, Sides
from app.theme import qcolor
from app.views.ink import badge, bar, runs_right_to_left, write, write_line, write_right
from app.views.present_rows import Stage, draw_ground, draw_lines, draw_more
from pipeline.words.phrases import number


def draw_picture(painter: QPainter, stage: Stage, picture: Picture, room: QRectF) -> None:
    """Draw this picture; what does not fit is counted in words."""
    match picture:
        case Quote():
            _quote(painter, stage, picture, room)
        case Lines():
            draw_lines(painter, stage, picture, room)
        case Bands():
            _bands(painter, stage, picture, room)
        case Folds():
            _folds(painter, stage, picture, room)
        case Cards():
            _cards(painter, stage, picture, room)
        case Sides():
            _sides(painter, stage, picture, room)


# --- the question ------------------------------------------------------------------------------------------------


def _quote(painter: QPainter, stage: Stage, quote: Quote, room: QRectF) -> None:
    theme, unit = stage.theme, stage.unit
    lines = stage.quote.wrapped(quote.text, room.width() - 60 * unit, 5)
    top = room.top() + max(0.0, (room.height() - len(lines) * stage.quote.height - 60 * unit) * 0.4)
    height = len(lines) * stage.quote.height
    painter.fillRect(QRectF(room.left(), top, 8 * unit, height), qcolor(theme.accent))
    backwards = runs_right_to_left(quote.text)
    for line in lines:
        left, right = room.left() + 36 * unit, room.right() - 24 * unit
        write_line(painter, stage.quote, theme.text, left, right, top, line, backwards=backwards)
        top += stage.quote.height
    below = stage.words.elided(quote.below, room.width() - 40 * unit, Qt.TextElideMode.ElideRight)
    write(painter, stage.words, theme.text_quiet, room.left() + 36 * unit, top + 22 * unit, below)


# --- widening ----------------------------------------------------------------------------------------------------


def _bands(painter: QPainter, stage: Stage, picture: Bands, room: QRectF) -> None:
    unit = stage.unit
    legend = stage.small.height + 12 * unit
    head = stage.row.height + 6 * unit
    size = 58 * unit
    while size > 5 and _bands_height(picture.bands, room.width(), size, head, unit) > room.height() - legend:
        size -= 1
    top = room.top()
    for band in picture.bands:
        words = f"{band.title}" + (
            f" \N{MIDDLE DOT} {number(band.total)} new rows" if band is not picture.bands[0] else ""
        )
        write(painter, stage.row, stage.theme.text_secondary, room.left(), top, words)
        top += head
        across = max(1, int(room.width() // size))
        for at, tile in enumerate(band.tiles):
            row, column = divmod(at, across)
            _tile(painter, stage, tile, QRectF(room.left() + column * size, top + row * size, size, size))
        top += -(-len(band.tiles) // across) * size + 12 * unit
    _legend(painter, stage, picture, room)


def _bands_height(bands: tuple[Band, ...], width: float, size: float, head: float, unit: float) -> float:
    across = max(1, int(width // size))
    return sum(head + -(-len(band.tiles) // across) * size + 12 * unit for band in bands)


def _tile(painter: QPainter, stage: Stage, tile: str | None, cell: QRectF) -> None:
    theme, size = stage.theme, cell.width()
    box = cell.adjusted(0, 0, -max(1.0, size * 0.12), -max(1.0, size * 0.12))
    colour = theme.twin(tile)
    if colour is not None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(colour))
    else:
        dashed = Qt.PenStyle.DotLine if tile is None else Qt.PenStyle.SolidLine
        painter.setPen(QPen(qcolor(theme.border_strong), 1.4, dashed))
        painter.setBrush(Qt.BrushStyle.NoBrush if tile is None else qcolor(theme.surface))
        box = box.adjusted(0.7, 0.7, -0.7, -0.7)
    painter.drawRoundedRect(box, size * 0.14, size * 0.14)
    if tile and colour is not None and stage.letter.height < box.height() and stage.letter.width(tile) < box.width():
        x = box.center().x() - stage.letter.width(tile) / 2
        write(painter, stage.letter, theme.on(colour), x, box.center().y() - stage.letter.height / 2, tile)


def _legend(painter: QPainter, stage: Stage, picture: Bands, room: QRectF) -> None:
    unit = stage.unit
    tiles = {tile for band in picture.bands for tile in band.tiles}
    letter = min((tile for tile in tiles if tile), default=None)
    entries = [(letter, "one letter and colour: one text")] if letter else []
    entries += [("", "a text of its own")] if "" in tiles else []
    entries += [(None, "not needed")] if None in tiles else []
    x, top = room.left(), room.bottom() - stage.small.height
    for tile, words in entries:
        side = stage.small.height
        _tile(painter, stage, tile, QRectF(x, top, side * 1.1, side * 1.1))
        write(painter, stage.small, stage.theme.text_quiet, x + side * 1.1 + 8 * unit, top, words)
        x += side * 1.1 + stage.small.width(words) + 40 * unit


# --- folding -----------------------------------------------------------------------------------------------------


def _folds(painter: QPainter, stage: Stage, picture: Folds, room: QRectF) -> None:
    unit = stage.unit
    folds = list(picture.folds)
    height = room.height() - 28 * unit
    most = 8 if len(folds) > 1 else max(8, int(height / (27 * unit)))
    # A few texts with all their rows say more than many with one row each.
    while len(folds) > 2 and _folds_height(folds, most, unit) > height:
        folds.pop()
    while most > 2 and _folds_height(folds, most, unit) > height:
        most -= 1
    top = room.top()
    for fold in folds:
        high = _fold_height(fold, most, unit)
        _fold(painter, stage, fold, most, QRectF(room.left(), top, room.width(), high))
        top += high + 14 * unit
    left = picture.total - len(folds)
    if left:
        draw_more(painter, stage, left, room, top - 8 * unit, "texts with copies" if left > 1 else "text with copies")


def _fold_height(fold: Fold, most: int, unit: float) -> float:
    return max(62 * unit, min(fold.total, most) * 27 * unit)


def _folds_height(folds: list[Fold], most: int, unit: float) -> float:
    return sum(_fold_height(fold, most, unit) + 14 * unit for fold in folds)


def _fold(painter: QPainter, stage: Stage, fold: Fold, most: int, box: QRectF) -> None:
    theme, unit = stage.theme, stage.unit
    colour = theme.twin(fold.block.letter) or theme.border_strong
    all_shown = fold.total <= most
    rows = fold.rows[: most if all_shown else most - 1]
    wide = box.width() * 0.40
    block = QRectF(box.left() + box.width() * 0.54, 0, box.width() * 0.46, 62 * unit)
    block.moveTop(box.center().y() - block.height() / 2)
    step = box.height() / (len(rows) + (0 if all_shown else 1))
    lanes = len(rows) + (0 if all_shown else 1)
    for at in range(lanes):
        middle = box.top() + (at + 0.5) * step
        x = box.left()
        if at < len(rows):
            line = rows[at]
            rank = number(line.rank)
            digits = max(stage.small.width("000"), stage.small.width(rank))
            write_right(painter, stage.small, theme.text_quiet, x + digits, middle - stage.small.height / 2, rank)
            x += digits + 10 * unit
            if line.letter:
                x += badge(painter, theme, stage.letter, line.letter, x, middle, dim=False) + 9 * unit
            name = stage.row.elided(line.title, box.left() + wide - x, Qt.TextElideMode.ElideMiddle)
            write(painter, stage.row, theme.text, x, middle - stage.row.height / 2, name)
            x += stage.row.width(name)
        else:
            words = f"and {number(fold.total - len(rows))} more rows"
            x += stage.small.width("000") + 10 * unit
            write(painter, stage.row, theme.text_quiet, x, middle - stage.row.height / 2, words)
            x += stage.row.width(words)
        _ribbon(painter, colour, QPointF(max(x + 12 * unit, box.left() + wide * 0.7), middle), block, at, lanes, unit)
    _block(painter, stage, fold.block, block, colour)


def _ribbon(painter: QPainter, colour: str, start: QPointF, block: QRectF, at: int, lanes: int, unit: float) -> None:
    """From a row into its share of the block's edge."""
    share = block.height() * 0.8 / lanes
    thick = min(share, 9 * unit)
    end = block.top() + block.height() * 0.1 + share * (at + 0.5)
    bend = (block.left() - start.x()) * 0.5
    path = QPainterPath(QPointF(start.x(), start.y() - thick / 2))
    path.cubicTo(
        start.x() + bend, start.y() - thick / 2, block.left() - bend, end - thick / 2, block.left(), end - thick / 2
    )
    path.lineTo(block.left(), end + thick / 2)
    path.cubicTo(
        block.left() - bend, end + thick / 2, start.x() + bend, start.y() + thick / 2, start.x(), start.y() + thick / 2
    )
    path.closeSubpath()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolor(colour, 0.75))
    painter.drawPath(path)


def _block(painter: QPainter, stage: Stage, line: Line, box: QRectF, colour: str) -> None:
    theme, unit = stage.theme, stage.unit
    draw_ground(painter, theme, box, 6 * unit)
    painter.setBrush(qcolor(colour))
    painter.drawRoundedRect(QRectF(box.left(), box.top(), 7 * unit, box.height()), 3 * unit, 3 * unit)
    top = box.top() + (box.height() - stage.strong.height - stage.small.height) / 2
    middle = top + stage.strong.height / 2
    x, right = box.left() + 18 * unit, box.right() - 12 * unit
    right = (
        write_right(painter, stage.row, theme.text_secondary, right, middle - stage.row.height / 2, line.right)
        - 12 * unit
    )
    if line.letter:
        x += badge(painter, theme, stage.letter, line.letter, x, middle, dim=False) + 10 * unit
    name = stage.strong.elided(line.title, right - x, Qt.TextElideMode.ElideMiddle)
    write(painter, stage.strong, theme.text, x, top, name)
    text = stage.small.elided(line.quiet, box.right() - 12 * unit - x, Qt.TextElideMode.ElideRight)
    write(painter, stage.small, theme.text_quiet, x, top + stage.strong.height, text)


# --- what the agent reads ----------------------------------------------------------------------------------------


def _cards(painter: QPainter, stage: Stage, picture: Cards, room: QRectF) -> None:
    theme, unit = stage.theme, stage.unit
    foot = 46 * unit
    height = room.height() - foot
    least = stage.strong.height + 18 * unit
    fit = max(1, min(len(picture.cards), int(height // (least + 8 * unit))))
    high = min(124 * unit, height / fit) if picture.cards else 0
    for at in range(fit if picture.cards else 0):
        box = QRectF(room.left(), room.top() + at * high, room.width(), high - 8 * unit)
        _card(painter, stage, picture.cards[at], picture.contents[at], box)
    left = len(picture.cards) - fit
    words = picture.budget + (f" \N{MIDDLE DOT} and {number(left)} more texts" if left > 0 else "")
    top = room.bottom() - foot + 12 * unit
    write(painter, stage.row, theme.text_secondary, room.left(), top, words)
    x = room.left() + stage.row.width(words) + 24 * unit
    track = QRectF(x, top + stage.row.height / 2 - 6 * unit, max(0.0, room.right() - x), 12 * unit)
    bar(painter, track, picture.share, theme.accent, theme.border)


def _card(painter: QPainter, stage: Stage, line: Line, content: str, box: QRectF) -> None:
    theme, unit = stage.theme, stage.unit
    colour = theme.twin(line.letter)
    draw_ground(painter, theme, box, 6 * unit)
    painter.setBrush(qcolor(colour or theme.border_strong))
    painter.drawRoundedRect(QRectF(box.left(), box.top(), 7 * unit, box.height()), 3 * unit, 3 * unit)
    lines = max(0, int((box.height() - stage.strong.height - 10 * unit) // stage.row.height))
    x, right = box.left() + 20 * unit, box.right() - 14 * unit
    top = box.top() + max(4 * unit, (box.height() - stage.strong.height - min(lines, 3) * stage.row.height) / 2)
    middle = top + stage.strong.height / 2
    end = write_right(painter, stage.small, theme.text_quiet, right, middle - stage.small.height / 2, line.right)
    rank = number(line.rank)
    write(painter, stage.strong, theme.text_quiet, x, top, rank)
    x += stage.strong.width(rank) + 12 * unit
    start = x
    if line.letter:
        x += badge(painter, theme, stage.letter, line.letter, x, middle, dim=False) + 10 * unit
    quiet = stage.row.width(line.quiet) + 16 * unit if line.quiet else 0.0
    name = stage.strong.elided(line.title, max(120 * unit, end - x - quiet - 16 * unit), Qt.TextElideMode.ElideMiddle)
    write(painter, stage.strong, theme.text, x, top, name)
    if line.quiet:
        x += stage.strong.width(name) + 16 * unit
        words = stage.row.elided(line.quiet, end - x - 12 * unit, Qt.TextElideMode.ElideRight)
        write(painter, stage.row, theme.text_secondary, x, middle - stage.row.height / 2, words)
    backwards = runs_right_to_left(content)
    for text in stage.row.wrapped(content, right - start, min(lines, 3)) if lines else ():
        top += stage.row.height
        write_line(painter, stage.row, theme.text_secondary, start, right, top + 4 * unit, text, backwards=backwards)


# --- plain beside evidence -----------------------------------------------------------------------------------------


def _sides(painter: QPainter, stage: Stage, picture: Sides, room: QRectF) -> None:
    gap = 44 * stage.unit
    width = (room.width() - gap) / 2
    for at, side in enumerate((picture.left, picture.right)):
        _side(
            painter, stage, side, QRectF(room.left() + at * (width + gap), room.top(), width, room.height()), bool(at)
        )


def _side(painter: QPainter, stage: Stage, side: Side, room: QRectF, ours: bool) -> None:
    theme, unit = stage.theme, stage.unit
    title = stage.strong.elided(side.title, room.width(), Qt.TextElideMode.ElideRight)
    write(painter, stage.strong, theme.text, room.left(), room.top(), title)
    line = QRectF(room.left(), room.top() + stage.strong.height + 4 * unit, room.width(), 3 * unit)
    painter.fillRect(line, qcolor(theme.accent if ours else theme.border_strong))
    below = stage.title.height + 2 * stage.small.height + 4 * unit
    rows = QRectF(room.left(), line.bottom() + 10 * unit, room.width(), 0)
    rows.setBottom(room.bottom() - below - 8 * unit)
    draw_lines(painter, stage, Lines(side.lines, len(side.lines)), rows)
    each = room.width() / max(1, len(side.figures))
    for at, (figure, words, good) in enumerate(side.figures):
        x, top = room.left() + at * each, room.bottom() - below
        write(painter, stage.title, theme.ok if good and ours else theme.text if good else theme.warn, x, top, figure)
        top += stage.title.height
        for text in stage.small.wrapped(words, each - 16 * unit, 2):
            write(painter, stage.small, theme.text_secondary, x, top, text)
            top += stage.small.height
