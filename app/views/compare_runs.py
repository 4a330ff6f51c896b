"""Two runs side by side: what differs before the answer, where they part, and the lanes with what differs in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.difference import compare
from app.focus import FocusTarget
from app.models.compared import LANES, Compared, Lane
from app.models.comparing import DifferenceRow, DifferencesModel
from app.models.rows import Role
from app.theme import Theme
from app.views.compare import CompareView
from app.views.compare_delegates import DifferenceDelegate
from app.views.lane_header import LaneHeader
from app.views.lane_list import LaneList
from app.views.parts import Elided, Text, clear
from app.views.raw_delegate import rank_digits
from pipeline.words.comparing import change_sentence, counts_words, parting_words, unlike_lines
from pipeline.words.plain import lines_of, one_line

_NAMES: dict[Lane, tuple[str, str]] = {
    "candidates": ("Raw candidates", "what the search found"),
    "blocks": ("Evidence", "what is kept, and cited"),
    "items": ("Projected", "what the agent reads"),
}
_NONE = {
    "candidates": "The search found the same in the same places, and each had the same outcome.",
    "blocks": "The same blocks in the same order, citing the same.",
    "items": "The agent reads the same.",
}
_MOST_UNLIKE_LINES = 5
_LEAST_LINES = 20  # of text as high as this view: with fewer the lanes take all of it


class RunsView(QWidget):
    """Shows one comparison. Row by row it is the comparison, nothing is left out and nothing is added."""

    showRequested = Signal(str, object)  # "left" or "right", FocusTarget
    openRequested = Signal(str)  # path
    revealRequested = Signal(str)  # path
    copyRequested = Signal(str, str)  # text, what it is
    rowChosen = Signal(object)  # DifferenceRow

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.compared: Compared | None = None
        self._current: DifferenceRow | None = None
        self.models = {lane: DifferencesModel(lane, self) for lane in LANES}
        self._delegates = {lane: DifferenceDelegate(theme) for lane in LANES}
        self.lists: dict[Lane, LaneList] = {}
        self.headers: dict[Lane, LaneHeader] = {}
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.across = QSplitter(Qt.Orientation.Horizontal, self.splitter)
        self._verdict = QFrame(self)
        self._verdict.setObjectName("lookAt")
        self._title = Text(bold=True, scale=1.25, wrap=True)
        self._sentence = Text(wrap=True)
        column = QVBoxLayout(self._verdict)
        column.setContentsMargins(10, 6, 10, 6)
        column.setSpacing(2)
        column.addWidget(self._title)
        column.addWidget(self._sentence)
        self._unlike = QScrollArea(self)
        self._unlike.setFrameShape(QFrame.Shape.NoFrame)
        self._unlike.setWidgetResizable(True)
        self._unlike.setAccessibleName("What differs before the answer")
        self._unlike.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        self._grid = QGridLayout(inside)
        self._grid.setContentsMargins(0, 0, 8, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(2, 1)
        self._unlike.setWidget(inside)
        self.across.setChildrenCollapsible(False)
        for lane in LANES:
            self.across.addWidget(self._make_lane(lane))
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.across)
        self._detail = self._make_detail()
        self.splitter.addWidget(self._detail)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._verdict)
        column.addWidget(self._unlike)
        column.addWidget(self.splitter, 1)

    def _make_lane(self, lane: Lane) -> QWidget:
        made = QWidget(self.across)
        name, words = _NAMES[lane]
        header = LaneHeader(name, words, self._theme, made)
        list_ = LaneList(f"{name}: what differs", self.models[lane], self._delegates[lane], made)
        list_.chosen.connect(lambda target, lane=lane: self._choose(lane))
        list_.openRequested.connect(self.openRequested)
        list_.revealRequested.connect(self.revealRequested)
        list_.previewRequested.connect(lambda target: self._show_newer())
        list_.crossRequested.connect(lambda step, lane=lane: self._cross(lane, step))
        list_.menuRequested.connect(self._show_menu)
        list_.focusChanged.connect(header.set_active)
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(header)
        column.addWidget(list_)
        made.setMinimumWidth(210)
        self.lists[lane], self.headers[lane] = list_, header
        return made

    def _make_detail(self) -> QWidget:
        made = QWidget(self.splitter)
        self._what = Elided(Qt.TextElideMode.ElideRight, bold=True)
        self._show: dict[str, QPushButton] = {}
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self._what, 1)
        for side in ("left", "right"):
            button = QPushButton(f"{side.capitalize()} in the inspector")
            button.setToolTip(f"Show the row of the run on the {side} in the inspector")
            button.clicked.connect(lambda checked=False, side=side: self._show_side(side))
            self._show[side] = button
            first.addWidget(button)
        self._stack = QStackedWidget(made)
        self.texts = CompareView(self._theme, self._stack)
        self._alone_title = Elided(muted=True)
        self.alone = QPlainTextEdit()
        self.alone.setReadOnly(True)
        self.alone.setUndoRedoEnabled(False)
        self.alone.setTabChangesFocus(True)
        self.alone.setAccessibleName("The text of the selected row")
        single = QWidget(self._stack)
        column = QVBoxLayout(single)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addWidget(self._alone_title)
        column.addWidget(self.alone, 1)
        self._stack.addWidget(single)
        self._stack.addWidget(self.texts)
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(4)
        column.addLayout(first)
        column.addWidget(self._stack, 1)
        made.setMinimumHeight(110)
        return made

    # --- what it shows ----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for header in self.headers.values():
            header.set_theme(theme)
        for list_ in self.lists.values():
            list_.set_theme(theme)
        self.texts.set_theme(theme)
        self._fit_unlike()

    def show_compared(self, compared: Compared, rows: Mapping[Lane, Sequence[DifferenceRow]]) -> None:
        """Show this comparison; `rows` are those that `rows_of` makes of it."""
        self.compared = compared
        found = compared.found
        parting = parting_words(found)
        self._title.setText(parting.title)
        self._sentence.setText(parting.sentence)
        self._verdict.setAccessibleName(f"{parting.title}. {parting.sentence}")
        self._show_unlike(unlike_lines(found))
        digits = rank_digits(max(len(compared.before.candidates), len(compared.after.candidates)))
        for lane in LANES:
            list_, model = self.lists[lane], self.models[lane]
            list_.forget_hover()
            self._delegates[lane].rank_digits = digits if lane == "candidates" else min(digits, 3)
            model.show(rows[lane])
            same = compared.same(lane)
            self.headers[lane].set_count(counts_words(compared.differences(lane), same))
            list_.set_empty("No difference" if same else "Nothing on either side", _NONE[lane] if same else "")
            list_.scrollToTop()
        self._fit_detail()
        self._show_row(None)
        first = next((lane for lane in reversed(LANES) if compared.differences(lane)), None)
        if first is not None:  # what matters most to the agent, until somebody chooses
            self.lists[first].make_current(0)
            row = self.models[first].rows[0]
            self._show_row(row if isinstance(row, DifferenceRow) else None)

    @property
    def parting(self) -> str:
        """Where they part, as it is said."""
        return self._title.text()

    def unlike(self) -> list[tuple[str, str, str]]:
        """What is said to differ before the answer, line by line."""
        lines = []
        for row in range(1, self._grid.rowCount()):
            cells = [self._grid.itemAtPosition(row, column) for column in range(3)]
            widgets = [cell.widget() for cell in cells if cell is not None]
            if len(widgets) == 3 and all(isinstance(widget, (Text, Elided)) for widget in widgets):
                lines.append(tuple(widget.text() for widget in widgets))  # type: ignore[union-attr]  # as just seen
        return lines  # type: ignore[return-value]  # three each

    def _show_unlike(self, lines: tuple[tuple[str, str, str], ...]) -> None:
        clear(self._grid)
        self._unlike.setVisible(bool(lines))
        for column, words in enumerate(("What differs before it", "left", "right")):
            self._grid.addWidget(Text(words, muted=True, scale=0.92), 0, column)
        for row, (what, left, right) in enumerate(lines, start=1):
            self._grid.addWidget(Text(one_line(what, 60), muted=True), row, 0)
            for column, words in ((1, left), (2, right)):
                cell = Elided(Qt.TextElideMode.ElideMiddle)
                cell.setText(words)
                self._grid.addWidget(cell, row, column)
        self._fit_unlike()

    def _fit_unlike(self) -> None:
        """As high as its lines, but never so high that the lanes have no room."""
        lines = sum(1 for row in range(self._grid.rowCount()) if self._grid.itemAtPosition(row, 0) is not None)
        line = Text("X").sizeHint().height() + self._grid.verticalSpacing()
        self._unlike.setFixedHeight(line * min(lines, _MOST_UNLIKE_LINES + 1) + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_detail()

    def _fit_detail(self) -> None:
        """The text below goes where nothing differs, and where the lanes have no room to give."""
        some = self.compared is not None and any(self.compared.differences(lane) for lane in LANES)
        line = self.fontMetrics().height()
        self._detail.setVisible(some and self.height() >= line * _LEAST_LINES)

    # --- one row ----------------------------------------------------------------------------------------------------

    def _choose(self, lane: Lane) -> None:
        for other in LANES:
            if other != lane:
                self.lists[other].make_current(None)
        row = self.models[lane].rows[self.lists[lane].currentIndex().row()]
        if isinstance(row, DifferenceRow):
            self._show_row(row)
            self.rowChosen.emit(row)

    def _show_row(self, row: DifferenceRow | None) -> None:
        self._current = row
        for side, button in self._show.items():
            button.setEnabled(row is not None and row.target_on(side) is not None)
        if row is None:
            self._what.setText("")
            self._show_alone("", "")
            return
        self._what.setText(f"{row.file()}: {change_sentence(row.difference)}")
        left, right = row.left, row.right
        if left is None or right is None:
            self._show_alone(f"Only on the {'right' if left is None else 'left'}: {row.shown.path}", row.shown.text)
        elif row.same_text:
            self._show_alone(f"The same text on both sides: {row.shown.path}", row.readable)
        elif row.hashed:
            self._show_alone(f"Another text on each side; {row.hashed}: {row.shown.path}", row.readable)
        else:
            self.texts.show_difference(f"Left: {left.path}", f"Right: {right.path}", compare(left.text, right.text))
            self._stack.setCurrentWidget(self.texts)

    def _show_alone(self, title: str, text: str) -> None:
        self._alone_title.setText(title)
        self.alone.setPlainText(lines_of(text))
        self._stack.setCurrentIndex(0)

    @property
    def what(self) -> str:
        """What is said of the selected row."""
        return self._what.text()

    def _show_side(self, side: str) -> None:
        target = self._current.target_on(side) if self._current is not None else None
        if target is not None:
            self.showRequested.emit(side, target)

    def _show_newer(self) -> None:
        """Space shows a row where it stands: on the right, or on the left where only that has it."""
        if self._current is not None:
            self._show_side("left" if self._current.right is None else "right")

    def _cross(self, lane: Lane, step: int) -> None:
        at = LANES.index(lane) + step
        if 0 <= at < len(LANES):
            self.lists[LANES[at]].setFocus(Qt.FocusReason.TabFocusReason)

    def _show_menu(self, index: QModelIndex, place: QPoint) -> None:
        menu = self.menu_for(index)
        menu.popup(place)

    def menu_for(self, index: QModelIndex) -> QMenu:
        """What can be done with a row."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        path = str(index.data(Role.PATH) or "")
        model = index.model()
        row = model.rows[index.row()] if isinstance(model, DifferencesModel) else None
        if isinstance(row, DifferenceRow):
            for side in ("left", "right"):
                target: FocusTarget | None = row.target_on(side)
                if target is not None:
                    action = menu.addAction(f"Show the {side} one in the inspector")
                    action.triggered.connect(
                        lambda checked=False, side=side, target=target: self.showRequested.emit(side, target)
                    )
            menu.addSeparator()
        if path:
            menu.addAction("Open").triggered.connect(lambda: self.openRequested.emit(path))
            menu.addAction("Show in its folder").triggered.connect(lambda: self.revealRequested.emit(path))
            menu.addAction("Copy path").triggered.connect(lambda: self.copyRequested.emit(path, "the path"))
        text = str(index.data(Role.COPY) or "")
        menu.addAction("Copy as text").triggered.connect(lambda: self.copyRequested.emit(text, "the row"))
        return menu
