"""Controls for retrieval settings: what they allow is what is possible, and a changed one is marked."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from app.views.parts import Flow, LetsUndoThrough, QuietSpinBox, Text
from pipeline.records import SettingInForce
from pipeline.settings import BY_KEY, Settings, SettingSpec, Value
from pipeline.words.plain import tool_tip
from pipeline.words.sentences import policy_sentence, setting_title, setting_value


class SettingControl(QWidget):
    """One setting's control, whatever its kind."""

    changed = Signal(str, object)

    def __init__(self, spec: SettingSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self.setProperty("changed", False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self.control: QWidget
        if spec.choices:
            self.control = combo = QComboBox()
            for choice in spec.choices:
                combo.addItem(setting_value(spec.key, choice), choice)
                combo.setItemData(combo.count() - 1, policy_sentence(choice), Qt.ItemDataRole.ToolTipRole)
            combo.currentIndexChanged.connect(lambda index: self._tell(combo.itemData(index)))
        elif spec.kind is bool:
            self.control = box = QCheckBox()
            # Not `toggled`: it would hand a bool through a signal of a type that this one does not need.
            box.clicked.connect(lambda checked=False: self._tell(box.isChecked()))
        elif spec.kind is float:
            self.control = decimal = QDoubleSpinBox()
            decimal.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            decimal.lineEdit().setTextMargins(4, 0, 0, 0)
            decimal.installEventFilter(LetsUndoThrough(decimal))
            decimal.setDecimals(2)
            decimal.setSingleStep(0.05)
            decimal.setRange(spec.low or 0.0, spec.high or 1.0)
            decimal.valueChanged.connect(self._tell)
        else:
            self.control = spin = QuietSpinBox()
            spin.lineEdit().setTextMargins(4, 0, 0, 0)
            spin.setRange(int(spec.low or 0), int(spec.high or 0))
            if spec.key == "max-chunks-per-document":
                spin.setSpecialValueText("none")
            if spec.key.startswith("max-") and "chars" in spec.key:
                spin.setSingleStep(100)
            spin.valueChanged.connect(self._tell)
        self.control.setAccessibleName(setting_title(spec.key))
        self.control.setAccessibleDescription(spec.description)
        self.setFocusProxy(self.control)
        row.addWidget(self.control)

    def show_value(self, entry: SettingInForce) -> None:
        """Show the value in force, without telling of a change."""
        control = self.control
        with QSignalBlocker(control):
            match control:
                case QComboBox():
                    control.setCurrentIndex(max(0, control.findData(entry.value)))
                case QCheckBox():
                    control.setChecked(bool(entry.value))
                case QDoubleSpinBox() if isinstance(entry.value, (int, float)):
                    if control.value() != entry.value:
                        control.setValue(float(entry.value))
                case QuietSpinBox() if isinstance(entry.value, int):
                    # While the user is typing in it, the text stays as it is typed.
                    if control.value() != entry.value:
                        control.setValue(entry.value)
        control.setToolTip(tool_tip(self.spec.description, f"In force: {origin_sentence(self.spec, entry)}."))
        mark_changed(control, is_changed(entry))

    def _tell(self, value: Value) -> None:
        self.changed.emit(self.spec.key, value)


def is_changed(entry: SettingInForce) -> bool:
    """Whether the value was set here, not by a file or by default."""
    return entry.origin == "flag" and entry.via is None


def mark_changed(widget: QWidget, changed: bool) -> None:
    """Mark a widget as changed: the style sheet draws it."""
    if widget.property("changed") != changed:
        widget.setProperty("changed", changed)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def value_words(spec: SettingSpec, value: Value) -> str:
    """A setting's value for people, with its unit."""
    if value is None and spec.follows:
        return f"as “{setting_title(spec.follows)}”"
    return setting_value(spec.key, value)


def origin_sentence(spec: SettingSpec, entry: SettingInForce) -> str:
    """Where the value in force came from."""
    default = value_words(spec, spec.default)
    if entry.via is not None:
        return f"follows “{setting_title(entry.via)}”"
    if entry.origin == "flag":
        return f"changed here, the default is {default}"
    if entry.origin == "file":
        return f"from {entry.file}, the default is {default}"
    return "the default"


class SettingsStrip(QWidget):
    """The settings that shape an answer, in one line: k, n, cap, policy, budgets, and a way back."""

    changed = Signal(str, object)
    reset = Signal()

    _SHOWN = (
        ("policy", "Policy"),
        ("retrieve-k", "Recall"),
        ("return-n", "Return"),
        ("max-chunks-per-document", "Cap per file"),
    )
    _NEAR = ("fold-near", "near-threshold")
    _BUDGETS = ("max-items", "max-chars-per-item", "max-total-chars")

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.controls: dict[str, SettingControl] = {}
        flow = Flow(self, spacing=8)
        for key, words in self._SHOWN:
            flow.addWidget(self._pair(key, words))
        self._budget = QToolButton()
        self._budget.setObjectName("budgetButton")
        self._budget.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._budget.setMenu(self._budget_menu())
        flow.addWidget(self._budget)
        self._near = QToolButton()
        self._near.setObjectName("nearButton")
        self._near.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._near.setMenu(self._near_menu())
        flow.addWidget(self._near)
        self.reset_button = QPushButton("Reset")
        self.reset_button.setProperty("flat", True)
        self.reset_button.setToolTip("Take back every setting that was changed here (Ctrl+Shift+R)")
        self.reset_button.setAccessibleName("Reset the settings")
        self.reset_button.clicked.connect(self.reset)
        flow.addWidget(self.reset_button)

    @property
    def last(self) -> QWidget:
        """The last of its controls."""
        return self.reset_button

    def fit_font(self) -> None:
        """The range allows five digits; the strip has room for the few that are used, whatever their size."""
        letter = QFontMetrics(QApplication.font()).averageCharWidth()
        for key, _ in self._SHOWN:
            self.controls[key].control.setFixedWidth(letter * (14 if key == "policy" else 6) + 46)
        self.updateGeometry()

    def set_settings(self, settings: Settings) -> None:
        """Show what is in force."""
        for key, control in self.controls.items():
            control.show_value(settings.in_force[key])
        total = settings.max_total_chars
        self._budget.setText(f"Budget {total:,}  ▾")
        self._budget.setAccessibleName(f"Budgets: {total:,} characters in all")
        self._budget.setToolTip(
            f"What the agent receives: at most {settings.max_items:,} blocks, {settings.max_chars_per_item:,} "
            f"characters each, {total:,} in all"
        )
        mark_changed(self._budget, any(is_changed(settings.in_force[key]) for key in self._BUDGETS))
        folded, share = settings.fold_near and settings.policy == "evidence", f"{settings.near_threshold:.0%}"
        self._near.setText(f"Near twins{' ✓' if folded else ''}  ▾")
        self._near.setAccessibleName(f"Near twins: {'folded' if folded else 'kept apart'}, from {share} of the wording")
        self._near.setToolTip(
            f"Texts that share {share} of their wording or more are near twins. They "
            + ("become one block, which cites the best one alone" if folded else "are marked, and each keeps its block")
        )
        mark_changed(self._near, any(is_changed(settings.in_force[key]) for key in self._NEAR))
        self.reset_button.setVisible(any(is_changed(entry) for entry in settings.in_force.values()))
        self.updateGeometry()

    def _pair(self, key: str, words: str) -> QWidget:
        pair = QWidget()
        row = QHBoxLayout(pair)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5)
        label = Text(words, muted=True)
        control = self._control(key)
        label.setBuddy(control.control)
        row.addWidget(label)
        row.addWidget(control)
        return pair

    def _control(self, key: str) -> SettingControl:
        control = SettingControl(BY_KEY[key])
        control.changed.connect(self.changed)
        self.controls[key] = control
        return control

    def _budget_menu(self) -> QMenu:
        return self._menu_of("What the agent receives, at most", self._BUDGETS)

    def _near_menu(self) -> QMenu:
        return self._menu_of("Texts that are almost the same", self._NEAR)

    def _menu_of(self, title: str, keys: Sequence[str]) -> QMenu:
        menu = QMenu(self)
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(12, 10, 12, 10)
        grid.setHorizontalSpacing(12)
        grid.addWidget(Text(title, bold=True), 0, 0, 1, 2)
        for row, key in enumerate(keys, start=1):
            label = Text(setting_title(key))
            control = self._control(key)
            label.setBuddy(control.control)
            grid.addWidget(label, row, 0)
            grid.addWidget(control, row, 1)
        action = QWidgetAction(menu)
        action.setDefaultWidget(inside)
        menu.addAction(action)
        return menu
