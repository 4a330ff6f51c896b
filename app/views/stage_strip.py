"""The strip above the lanes: every step a filter with its true number, and how full the agent's budget is."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.models.steps import Step, steps_of
from app.theme import Theme, qcolor, theme_for
from app.views.ink import bar, type_of, write, write_right
from pipeline.records import Budget, Trace
from pipeline.words.plain import tool_tip
from pipeline.words.sentences import count, number

_ARROW = 18  # the room in front of a chip for the arrow that leads to it
_PAD = 8
_TIGHT_ARROW, _TIGHT_PAD = 14, 6
_MARGIN = 10
_LEAST_METER = 150
_MOST_METER = 300
_ALONG = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
_BESIDE = 14  # between the chips and the meter


class StageChip(QAbstractButton):
    """One step. Checked while the rows that it dropped are lit in the lanes."""

    def __init__(self, step: Step, theme: Theme, *, first: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self.step, self._theme, self._first = step, theme, first
        self._tight = self._brief = False
        self._sizes: dict[tuple[bool, bool], QSize] = {}  # a layout asks for them again and again
        self.setCheckable(bool(step.stage))
        self.setAccessibleName(step.spoken)
        self.setAccessibleDescription(step.sentence)
        self.setToolTip(tool_tip(step.sentence, "Click to light up the rows it dropped." if step.dropped else ""))
        self.setCursor(Qt.CursorShape.PointingHandCursor if step.stage else Qt.CursorShape.ArrowCursor)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._sizes.clear()
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ALONG:  # a button would move the focus in its own way
            event.ignore()
        else:
            super().keyPressEvent(event)

    def set_tight(self, tight: bool, brief: bool = False) -> None:
        """Give up room, so that all chips stand on one line; `brief`: and words."""
        if (tight, brief) != (self._tight, self._brief):
            self._tight, self._brief = tight, brief
            self.update()

    def _lead(self, tight: bool) -> int:
        return 0 if self._first else _TIGHT_ARROW if tight else _ARROW

    def _upper(self, brief: bool) -> tuple[str, str]:
        """The figure and its words: "3 skipped", or "+3" alone, of which the tool tip says the rest."""
        step = self.step
        return (f"+{step.figure}", "") if brief and not step.stage else (step.figure, step.words)

    @property
    def shown(self) -> str:
        """The upper line as it is drawn."""
        return " ".join(filter(None, self._upper(self._brief)))

    def size_for(self, tight: bool, brief: bool = False) -> QSize:
        """How large the chip is, with or without room to spare."""
        known = self._sizes.get((tight, brief))
        if known is None:
            known = self._sizes[tight, brief] = self._measured(tight, brief)
        return known

    def _measured(self, tight: bool, brief: bool) -> QSize:
        faces, step = type_of(self._theme), self.step
        figure, words = self._upper(brief)
        upper = (faces.strong.width(figure) + 5 if figure else 0) + faces.small.width(words)
        width = max(upper, faces.tiny.width(step.below)) + 2 * (_TIGHT_PAD if tight else _PAD) + self._lead(tight)
        return QSize(round(width) + 1, round(faces.body.height + faces.tiny.height + 9))

    def sizeHint(self) -> QSize:
        return self.size_for(self._tight, self._brief)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, faces, step = self._theme, type_of(self._theme), self.step
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lead, pad = self._lead(self._tight), _TIGHT_PAD if self._tight else _PAD
        box = QRectF(lead, 0, self.width() - lead, self.height())
        if not self._first:
            self._paint_arrow(painter, lead, box.height() / 2)
        ghost = step.skipped
        if self.isChecked():
            ground, edge = theme.selected, theme.accent
        elif self.underMouse() and step.stage:
            ground, edge = theme.hover, theme.border_strong
        else:
            ground, edge = (theme.window if ghost else theme.surface), theme.border
        painter.setBrush(qcolor(ground))
        line = Qt.PenStyle.DashLine if ghost and not self.isChecked() else Qt.PenStyle.SolidLine
        painter.setPen(QPen(qcolor(theme.accent if self.hasFocus() else edge), 1.5 if self.hasFocus() else 1, line))
        painter.drawRoundedRect(box.adjusted(0.75, 0.75, -0.75, -0.75), 7, 7)
        upper = 4.0 if step.below else (box.height() - faces.body.height) / 2
        x = box.left() + pad
        figure, words = self._upper(self._brief)
        if figure:
            ink = theme.text_secondary if ghost else theme.text
            write(painter, faces.strong, ink, x, upper, figure)
            x += faces.strong.width(figure) + 5
        lift = (faces.body.height - faces.small.height) / 2 + 0.5
        write(
            painter,
            faces.small,
            theme.text_quiet if ghost else theme.text_secondary,
            x,
            upper + lift,
            words,
        )
        if step.below:
            ink = theme.text if self.isChecked() else theme.text_quiet
            write(painter, faces.tiny, ink, box.left() + pad, upper + faces.body.height + 1, step.below)
        painter.end()

    def _paint_arrow(self, painter: QPainter, lead: int, middle: float) -> None:
        painter.setPen(QPen(qcolor(self._theme.border_strong), 1.3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        tip = QPointF(lead - lead // 4, middle)
        painter.drawLine(QPointF(lead // 4, middle), tip)
        painter.drawLine(tip + QPointF(-4, -3.5), tip)
        painter.drawLine(tip + QPointF(-4, 3.5), tip)


class BudgetMeter(QWidget):
    """How many of the agent's characters are used."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._budget: Budget | None = None

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def set_budget(self, budget: Budget | None) -> None:
        self._budget = budget
        self.setVisible(budget is not None)
        if budget is not None:
            self.setAccessibleName(f"Budget: {self._words(budget)}, {self._tokens(budget)}".rstrip(", "))
            self.setToolTip(
                tool_tip(
                    f"The agent reads {count(budget.items, 'block')} of at most {number(budget.max_items)}, "
                    f"{number(budget.chars)} of at most {count(budget.max_total_chars, 'character')}, "
                    f"no block longer than {number(budget.max_chars_per_item)}.",
                    "Tokens are counted with the embedding model's own tokenizer." if budget.tokens is not None else "",
                )
            )
        self.update()

    @staticmethod
    def _words(budget: Budget) -> str:
        return f"{number(budget.chars)} of {count(budget.max_total_chars, 'character')}"

    @staticmethod
    def _tokens(budget: Budget) -> str:
        return count(budget.tokens, "token") if budget.tokens is not None else ""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._budget is None:
            return
        theme, faces, budget = self._theme, type_of(self._theme), self._budget
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = (self.height() - faces.small.height - 11) / 2
        tokens, words = self._tokens(budget), self._words(budget)
        if tokens and faces.small.width(words) + faces.small.width(tokens) + 16 <= self.width():
            write_right(painter, faces.small, theme.text_quiet, self.width(), top, tokens)
        words = faces.small.elided(words, self.width(), Qt.TextElideMode.ElideRight)
        write(painter, faces.small, theme.text_secondary, 0, top, words)
        share = budget.chars / budget.max_total_chars if budget.max_total_chars else 0.0
        track = QRectF(0, top + faces.small.height + 5, self.width(), 6)
        bar(painter, track, share, theme.warn if share >= 1.0 else theme.accent, theme.border)
        painter.end()


class StageStrip(QWidget):
    """Chips in as many lines as the width asks for, the budget at the right of the last."""

    stageActivated = Signal(str)  # a stage's name; "asked", "fetched"; "" when none is chosen any more

    def __init__(self, theme: Theme | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme or theme_for()
        self._chips: list[StageChip] = []
        self._meter = BudgetMeter(self._theme, self)
        self._meter.hide()
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Stages of the search")

    @property
    def chips(self) -> list[StageChip]:
        """The chips in order."""
        return self._chips

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for chip in self._chips:
            chip.set_theme(theme)
        self._meter.set_theme(theme)
        self._arrange()

    def set_trace(self, trace: Trace | None) -> None:
        """Show a run's steps, or none."""
        focused = next((at for at, chip in enumerate(self._chips) if chip.hasFocus()), None)
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        steps = steps_of(trace) if trace is not None else []
        self._chips = [StageChip(step, self._theme, first=at == 0, parent=self) for at, step in enumerate(steps)]
        for chip in self._chips:
            chip.clicked.connect(lambda _=False, chip=chip: self._clicked(chip))
            chip.show()
        self._let_tab_reach(focused or 0)
        if focused is not None and self._chips:
            self._chips[min(focused, len(self._chips) - 1)].setFocus()
        self._meter.set_budget(trace.summary.budget if trace is not None else None)
        self._arrange()

    def put_behind(self, before: QWidget) -> None:
        """Have Tab come to the chips after this: they are made with every answer, later than all around them."""
        for chip in self._chips:
            QWidget.setTabOrder(before, chip)
            before = chip

    def set_active(self, stage: str | None) -> None:
        """Show which stage's rows are lit; tells nobody."""
        for chip in self._chips:
            chip.setChecked(bool(stage) and chip.step.stage == stage)

    def _clicked(self, chip: StageChip) -> None:
        if not chip.step.stage:
            return
        self._let_tab_reach(self._chips.index(chip))
        chosen = chip.step.stage if chip.isChecked() else ""
        self.set_active(chosen)
        self.stageActivated.emit(chosen)

    # --- keyboard: the strip is one stop of Tab, the arrows go along it ----------------------------------------------

    def _let_tab_reach(self, number: int) -> None:
        for at, chip in enumerate(self._chips):
            chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus if at == number else Qt.FocusPolicy.ClickFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        at = next((at for at, chip in enumerate(self._chips) if chip.hasFocus()), None)
        last = len(self._chips) - 1
        places = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -last, Qt.Key.Key_End: last}
        if at is None or event.key() not in places:
            super().keyPressEvent(event)
            return
        wanted = min(last, max(0, at + places[Qt.Key(event.key())]))
        self._let_tab_reach(wanted)
        self._chips[wanted].setFocus(Qt.FocusReason.OtherFocusReason)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    # --- geometry ---------------------------------------------------------------------------------------------------

    def _rows(self, width: int) -> tuple[list[QRect], QRect, int, tuple[bool, bool]]:
        """Where chips and meter stand in this width, the height that they take, whether the chips have to be tight, and
        brief as well."""
        how = (False, False)
        for how in ((False, False), (True, False), (True, True)):
            sizes = [chip.size_for(*how) for chip in self._chips]
            if 2 * _MARGIN + sum(size.width() for size in sizes) + _BESIDE + _LEAST_METER <= width:
                break
        height = sizes[0].height() if sizes else 0
        meter = width - 2 * _MARGIN - sum(size.width() for size in sizes) - _BESIDE
        meter = min(_MOST_METER, meter) if meter >= _LEAST_METER else _LEAST_METER
        # The meter keeps its corner; where the chips do not all fit beside it, they wrap.
        end = max(_MARGIN + 120, width - _MARGIN - meter - _BESIDE)
        x, y = _MARGIN, 6
        places: list[QRect] = []
        for size in sizes:
            if x > _MARGIN and x + size.width() > end:
                x, y = _MARGIN, y + height + 5
            places.append(QRect(x, y, min(size.width(), end - _MARGIN), height))
            x += size.width()
        return places, QRect(width - _MARGIN - meter, 6, meter, height), y + height + 6, how

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._rows(width)[2] if self._chips else 0

    def sizeHint(self) -> QSize:
        return QSize(600, self.heightForWidth(max(self.width(), 300)))

    def minimumSizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(max(self.width(), 300)))

    def _arrange(self) -> None:
        places, meter, _, how = self._rows(self.width())
        for chip, place in zip(self._chips, places, strict=True):
            chip.set_tight(*how)
            chip.setGeometry(place)
        self._meter.setGeometry(meter)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
