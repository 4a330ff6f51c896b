"""Which two runs stand beside each other: a list for each side, swapping, pins, and settings of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.models.compared import Choice, Side
from app.views.parts import Elided, Flow, Text
from app.views.setting_controls import SettingControl
from pipeline.settings import SPECS, Settings
from pipeline.words.plain import one_line, tool_tip
from pipeline.words.sentences import setting_title

_TITLES: dict[Side, str] = {"left": "Left", "right": "Right"}


class RunList(QComboBox):
    """A list of runs whose chosen name is shortened with an ellipsis where it does not fit."""

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = self.shown_name()
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def shown_name(self) -> str:
        """The chosen name as far as there is room for it."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width() - 4
        return self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)


class SideBox(QWidget):
    """One side: its list of runs, and what the chosen one was asked with."""

    chosen = Signal(str)  # id of a choice
    unpinRequested = Signal(str)

    def __init__(self, side: Side, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices: tuple[Choice, ...] = ()
        self.list = RunList()
        self.list.setAccessibleName(f"Run on the {side}")
        self.list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.list.setMinimumContentsLength(14)
        self.list.setMaxVisibleItems(24)
        self.list.activated.connect(self._activated)
        self._detail = Elided(Qt.TextElideMode.ElideRight, muted=True, scale=0.92)
        self.unpin = QPushButton("Unpin")
        self.unpin.setProperty("flat", True)
        self.unpin.setToolTip("Take this run out of the lists")
        self.unpin.setAccessibleName(f"Take the run on the {side} out of the lists")
        self.unpin.clicked.connect(lambda: self.unpinRequested.emit(self.chosen_id))
        self.unpin.hide()
        label = Text(_TITLES[side], bold=True)
        label.setBuddy(self.list)
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(label)
        first.addWidget(self.list, 1)
        first.addWidget(self.unpin)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addLayout(first)
        column.addWidget(self._detail)

    @property
    def chosen_id(self) -> str:
        return str(self.list.currentData() or "")

    @property
    def detail(self) -> str:
        """What is said of the chosen run."""
        return self._detail.text()

    def set_choices(self, choices: Sequence[Choice], chosen: str, *, note: str = "") -> None:
        """Offer these; `note` stands in the place of the chosen one's detail while there is something to say."""
        with QSignalBlocker(self.list):
            if tuple(choices) != self._choices:
                self._choices = tuple(choices)
                self.list.clear()
                group = ""
                for choice in choices:
                    if choice.group != group and self.list.count():
                        self.list.insertSeparator(self.list.count())
                    group = choice.group
                    self.list.addItem(one_line(choice.title, 90), choice.id)
                    self.list.setItemData(
                        self.list.count() - 1, tool_tip(one_line(choice.detail, 600)), Qt.ItemDataRole.ToolTipRole
                    )
            self.list.setCurrentIndex(self.list.findData(chosen))
        current = next((choice for choice in self._choices if choice.id == chosen), None)
        self._detail.setText(note or (current.detail if current is not None else "Choose a run."))
        self.unpin.setVisible(current is not None and current.unpins)
        self.unpin.setText("Unpin" if current is not None and current.group == "pins" else "Take out")

    def _activated(self, index: int) -> None:
        if self.list.itemData(index):
            self.chosen.emit(str(self.list.itemData(index)))


class OwnSettings(QFrame):
    """Settings for one more run of the question: what is on screen stays as it is."""

    changed = Signal(str, object)
    reset = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lookAt")
        self.setAccessibleName("Other settings")
        self.controls: dict[str, SettingControl] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 10, 6)
        column.setSpacing(4)
        again = QPushButton("As in this run")
        again.setProperty("flat", True)
        again.setToolTip("Take back what was changed here")
        again.clicked.connect(self.reset)
        first = QHBoxLayout()
        words = "Other settings, for this comparison alone: the question and its vector stay the same."
        first.addWidget(Text(words, wrap=True), 1)
        first.addWidget(again)
        column.addLayout(first)
        self._scroll = QScrollArea(self)
        inside = QWidget(self._scroll.viewport())
        flow = Flow(inside, spacing=10)
        for spec in SPECS:
            if spec.key == "top-k":  # it stands for two others that are here
                continue
            pair = QWidget(inside)
            row = QHBoxLayout(pair)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(5)
            label = Text(setting_title(spec.key), muted=True, parent=pair)
            control = SettingControl(spec, pair)
            control.changed.connect(self.changed)
            label.setBuddy(control.control)
            row.addWidget(label)
            row.addWidget(control)
            flow.addWidget(pair)
            self.controls[spec.key] = control
        self._flow = flow
        self._most = 10_000  # pixels that the controls may take; beyond it they scroll
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.viewport().setAutoFillBackground(False)
        inside.setAutoFillBackground(False)
        self._scroll.setWidget(inside)
        column.addWidget(self._scroll)
        self.fit_font()

    def set_most(self, pixels: int) -> None:
        """How high the controls may be together."""
        self._most = pixels
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit)  # once what is inside has its width

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self._fit)  # controls have their sizes only now

    def _fit(self) -> None:
        wanted = self._flow.heightForWidth(self._scroll.viewport().width())
        self._scroll.setFixedHeight(min(wanted, self._most))

    def fit_font(self) -> None:
        """The ranges allow many digits; there is room for those that are used, whatever their size."""
        letter = QFontMetrics(QApplication.font()).averageCharWidth()
        for key, control in self.controls.items():
            if not isinstance(control.control, QCheckBox):
                digits = 14 if key == "policy" else 8 if "chars" in key else 5
                control.control.setFixedWidth(letter * digits + 46)
        self._fit()

    def set_settings(self, settings: Settings) -> None:
        """Show what the other run is asked with."""
        for key, control in self.controls.items():
            control.show_value(settings.in_force[key])


class SidesBar(QWidget):
    """Left, swap, right."""

    chosen = Signal(str, str)  # side, id of a choice
    swapRequested = Signal()
    unpinRequested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.left, self.right = SideBox("left"), SideBox("right")
        for side, box in (("left", self.left), ("right", self.right)):
            box.chosen.connect(lambda chosen, side=side: self.chosen.emit(side, chosen))
            box.unpinRequested.connect(self.unpinRequested)
        self.swap = QToolButton()
        self.swap.setText("⇄")
        self.swap.setAccessibleName("Swap the sides")
        self.swap.setToolTip("Swap the sides")
        self.swap.clicked.connect(self.swapRequested)
        self.left.list.installEventFilter(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.left, 1)
        row.addWidget(self.swap, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.right, 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:  # the button between the lists is as high as they are
            self.swap.setFixedHeight(self.left.list.height())
        return super().eventFilter(watched, event)
