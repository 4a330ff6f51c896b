"""What counts as a duplicate, asked in a dialog."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.views.parts import QuietSpinBox, Text
from pipeline.duplicates.records import DuplicateSettings
from pipeline.words.families import HEAD_RULE_WORDS

HEAD_HINT = (
    "A copy that you prefer always is. Where the rule leaves several, documents outside folders named like “backup”, "
    "“old” or “copy” come first, then originals before exports as plain text, then the shortest path."
)
LETTERS = 76  # of a line, about
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
        rows = QVBoxLayout()
        rows.setSpacing(16)
        rows.addWidget(
            Asked(
                "Two documents are near when they share at least",
                self.near,
                "of their three-word sequences. Documents with the same text are always found.",
            )
        )
        rows.addWidget(
            Asked(
                "A document is contained in another when at least",
                self.contained,
                "of its three-word sequences stand in the other one.",
            )
        )
        rows.addWidget(
            Asked("The head of a family, the one that the others are compared with, is", self.head, HEAD_HINT)
        )
        rows.addWidget(self.with_alike)
        rows.addWidget(
            Asked(
                "Two documents are alike in meaning when their likeness is at least",
                self.alike,
                "measured by the model. They are listed apart from copies, and never proposed for removal.",
            )
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
        column.addLayout(rows)
        column.addStretch(1)
        column.addWidget(buttons)
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


class Wrapped(Text):
    """Text of several lines that is never cut: it asks for the height that its words take at the width it has.

    The layouts are told nothing of heights that go by widths: what they remember of them is of a font and a width that
    the dialog does not open with.
    """

    def __init__(self, text: str, *, muted: bool = False) -> None:
        super().__init__(text, muted=muted, wrap=True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._ask_for_room()

    def setText(self, text: str) -> None:
        super().setText(text)
        self._ask_for_room()

    def hasHeightForWidth(self) -> bool:
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._ask_for_room()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._ask_for_room()

    def _ask_for_room(self) -> None:
        least = self.fontMetrics().averageCharWidth() * LETTERS
        self.setMinimumSize(least, max(0, self.heightForWidth(max(least, self.width()))))

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSizeHint(self) -> QSize:
        return self.minimumSize()


class Asked(QWidget):
    """One setting as a sentence, top to bottom: its beginning, the field, its end."""

    def __init__(self, begins: str, field: QWidget, ends: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.begins, self.ends = Wrapped(begins), Wrapped(ends, muted=True)
        self.begins.setBuddy(field)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.begins, field, self.ends):
            column.addWidget(part)
