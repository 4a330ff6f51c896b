"""What counts as a duplicate, asked in a dialog."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QVBoxLayout,
    QWidget,
)

from app.views.parts import QuietSpinBox, Text
from pipeline.duplicates.records import DuplicateSettings
from pipeline.words.families import HEAD_RULE_WORDS

LEAST_NEAR, LEAST_CONTAINED = 30, 40  # per cent: pairs that share less are not kept by a scan


class DuplicateSettingsDialog(QDialog):
    """`wanted()` is what the user chose, once the dialog was accepted."""

    def __init__(self, settings: DuplicateSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("What counts as a duplicate")
        self._settings = settings
        self.near = self._share(LEAST_NEAR, "Near: the least share of words in common, in per cent")
        self.contained = self._share(LEAST_CONTAINED, "Contained: the least share in the other, in per cent")
        self.head = QComboBox()
        self.head.setAccessibleName("The head of a family")
        for rule, words in HEAD_RULE_WORDS.items():
            self.head.addItem(words[0].upper() + words[1:], rule)
        self.with_alike = QCheckBox("Look for documents alike in meaning, too")
        self.alike = self._share(50, "Alike in meaning: the least likeness, in per cent")
        self.with_alike.toggled.connect(self.alike.setEnabled)
        form = QFormLayout()
        form.setVerticalSpacing(14)
        form.addRow(
            "Near from",
            _with_hint(self.near, "of the three-word runs of both are the same. Equal documents need no setting."),
        )
        form.addRow("Contained from", _with_hint(self.contained, "of the smaller one stands in the bigger one."))
        form.addRow(
            "Head", _with_hint(self.head, "is the one that the others are compared with. A preferred copy always is.")
        )
        form.addRow("", self.with_alike)
        form.addRow(
            "Alike from",
            _with_hint(self.alike, "likeness of their vectors. These are listed apart and never proposed."),
        )
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok
            | QDialogButtonBox.StandardButton.Cancel
            | QDialogButtonBox.StandardButton.RestoreDefaults
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults).clicked.connect(
            lambda: self._show(DuplicateSettings())
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(14)
        column.addLayout(form)
        column.addWidget(buttons)
        self.setMinimumWidth(460)
        self._show(settings)

    def _share(self, least: int, name: str) -> QuietSpinBox:
        spin = QuietSpinBox()
        spin.setRange(least, 100)
        spin.setSuffix(" %")
        spin.setAccessibleName(name)
        return spin

    def _show(self, settings: DuplicateSettings) -> None:
        self.near.setValue(round(settings.near * 100))
        self.contained.setValue(round(settings.contained * 100))
        self.head.setCurrentIndex(self.head.findData(settings.head))
        self.with_alike.setChecked(settings.with_alike)
        self.alike.setValue(round(settings.alike * 100))
        self.alike.setEnabled(settings.with_alike)

    def wanted(self) -> DuplicateSettings:
        """The settings as they stand in the dialog."""
        return replace(
            self._settings,
            near=self.near.value() / 100,
            contained=self.contained.value() / 100,
            head=self.head.currentData(),
            with_alike=self.with_alike.isChecked(),
            alike=self.alike.value() / 100,
        )


def _with_hint(field: QWidget, hint: str) -> QVBoxLayout:
    """A field with what its value means below it."""
    column = QVBoxLayout()
    column.setSpacing(3)
    column.addWidget(field)
    column.addWidget(Text(hint, muted=True, wrap=True))
    return column
