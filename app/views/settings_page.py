"""Every setting with what it does, what it may be, what is in force and why; the look; the model; the library."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.preferences import ZOOMS
from app.state import LibraryState, ModelState
from app.views.parts import Text
from app.views.setting_controls import SettingControl, is_changed, origin_sentence, value_words
from pipeline.settings import SPECS, Settings, SettingSpec
from pipeline.words.sentences import number, policy_sentence, setting_title, setting_value

CONTROL_WIDTH = 210
RESET_WIDTH = 64
_SCHEMES = (
    ("system", "As the system"),
    ("light", "Light"),
    ("dark", "Dark"),
    ("contrast-light", "Light, high contrast"),
    ("contrast-dark", "Dark, high contrast"),
)


class SettingRow(QWidget):
    """One setting: its title and description, its control, where its value came from, and a way back."""

    def __init__(self, spec: SettingSpec, page: SettingsPage) -> None:
        super().__init__()
        self.spec = spec
        self.control = SettingControl(spec)
        self.control.changed.connect(page.settingChanged)
        self.control.setFixedWidth(CONTROL_WIDTH)
        title = Text(setting_title(spec.key), bold=True)
        title.setBuddy(self.control.control)
        self._origin = Text(muted=True, wrap=True)
        self._reset = QPushButton("Reset")
        self._reset.setProperty("flat", True)
        self._reset.setAccessibleName(f"Reset {setting_title(spec.key)}")
        self._reset.clicked.connect(lambda checked=False: page.settingChanged.emit(spec.key, None))
        # The button keeps its place while it is hidden: rows do not jump when a value is changed.
        keeps = self._reset.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self._reset.setSizePolicy(keeps)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 9, 0, 9)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        grid.addWidget(title, 0, 0)
        grid.addWidget(Text(_about(spec), wrap=True), 1, 0)
        grid.addWidget(self._origin, 2, 0)
        grid.addWidget(self.control, 0, 1, 3, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self._reset, 0, 2, 3, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.setColumnStretch(0, 1)
        self._reset.setFixedWidth(RESET_WIDTH)

    def show_settings(self, settings: Settings) -> None:
        entry = settings.in_force[self.spec.key]
        if entry.value is None:
            self.control.setVisible(False)
            self._origin.setText("Not given")
        else:
            self.control.setVisible(True)
            self.control.show_value(entry)
            origin = origin_sentence(self.spec, entry)
            self._origin.setText(f"In force: {value_words(self.spec, entry.value)} ({origin}).")
        self._reset.setVisible(is_changed(entry))


def _about(spec: SettingSpec) -> str:
    """What the setting does and what it may be."""
    if spec.key == "policy":
        return "\n".join(f"{setting_value(spec.key, choice)}: {policy_sentence(choice)}" for choice in spec.choices)
    if spec.choices or spec.kind is bool:
        return spec.description
    return f"{spec.description} From {number(spec.low or 0)} to {number(spec.high or 0)}."


class SettingsPage(QScrollArea):
    """Emits intents; shows what the session says."""

    settingChanged = Signal(str, object)
    schemeChosen = Signal(str)
    zoomChosen = Signal(int)
    stepChosen = Signal(str)  # the id of an action

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Settings")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        inside.setMaximumWidth(860)
        column = QVBoxLayout(inside)
        column.setContentsMargins(28, 20, 28, 28)
        column.setSpacing(2)
        column.addWidget(Text("Settings", scale=1.5, bold=True))
        column.addWidget(
            Text("Changes apply at once, to the question that stands in the window.", muted=True, wrap=True)
        )

        column.addSpacing(14)
        column.addWidget(Text("Retrieval", scale=1.15, bold=True))
        self.rows = [SettingRow(spec, self) for spec in SPECS if spec.key != "top-k"]
        for row in self.rows:
            column.addWidget(row)
            column.addWidget(_line())

        column.addSpacing(18)
        column.addWidget(Text("Look", scale=1.15, bold=True))
        self._scheme = QComboBox()
        for value, words in _SCHEMES:
            self._scheme.addItem(words, value)
        self._scheme.currentIndexChanged.connect(lambda index: self.schemeChosen.emit(_SCHEMES[index][0]))
        column.addLayout(_choice("Colours", self._scheme))
        self._zoom = QComboBox()
        for percent in ZOOMS:
            self._zoom.addItem(f"{percent} %", percent)
        self._zoom.currentIndexChanged.connect(lambda index: self.zoomChosen.emit(ZOOMS[index]))
        column.addLayout(_choice("Size of text", self._zoom))

        column.addSpacing(18)
        column.addWidget(Text("Model", scale=1.15, bold=True))
        self._model = _selectable()
        self._restart = QPushButton("Start the model again")
        self._restart.clicked.connect(lambda checked=False: self.stepChosen.emit("restart-model"))
        column.addLayout(_with_button(self._model, self._restart))

        column.addSpacing(18)
        column.addWidget(Text("Library", scale=1.15, bold=True))
        self._library = _selectable()
        self._reveal = QPushButton("Show its folder")
        self._reveal.clicked.connect(lambda checked=False: self.stepChosen.emit("reveal-library"))
        column.addLayout(_with_button(self._library, self._reveal))
        column.addStretch(1)

        outer = QWidget()
        across = QHBoxLayout(outer)
        across.setContentsMargins(0, 0, 0, 0)
        across.addWidget(inside, 100)
        across.addStretch(1)
        self.setWidget(outer)

    def set_settings(self, settings: Settings) -> None:
        for row in self.rows:
            row.show_settings(settings)

    def set_look(self, scheme: str, zoom: int) -> None:
        with QSignalBlocker(self._scheme), QSignalBlocker(self._zoom):
            self._scheme.setCurrentIndex(max(0, self._scheme.findData(scheme)))
            self._zoom.setCurrentIndex(max(0, self._zoom.findData(zoom)))

    def look(self) -> tuple[str, int]:
        """The colours and the size of text that are shown as chosen."""
        return self._scheme.currentData(), self._zoom.currentData()

    def set_model(self, model: ModelState) -> None:
        self._restart.setVisible(model.phase == "failed")
        self._model.setText(model_sentence(model))

    def set_library(self, library: LibraryState) -> None:
        self._reveal.setVisible(library.folder is not None)
        self._library.setText(library_sentence(library))


def model_sentence(model: ModelState) -> str:
    """The model in use, for people."""
    match model.phase:
        case "ready":
            return (
                f"{model.name}: {model.dimension} dimensions, reads {model.token_limit} tokens of a text. It runs on "
                "this computer; nothing is sent anywhere."
            )
        case "failed":
            return model.problem.text if model.problem is not None else "The model cannot be loaded."
        case "loading":
            return "The model is loading."
    return "The model is loaded once the window is there."


def library_sentence(library: LibraryState) -> str:
    """Where the library is and what it holds."""
    if library.folder is None:
        return "No library is open."
    where = f"{Path(library.folder)}"
    if library.facts is None:
        return where
    facts = library.facts
    return (
        f"{where}\n{number(facts.documents)} documents, {number(facts.chunks)} chunks, {number(facts.texts)} different "
        f"texts, made with {facts.model or 'no model yet'}"
    )


def _selectable() -> Text:
    label = Text(wrap=True)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label


def _choice(words: str, combo: QComboBox) -> QHBoxLayout:
    label = Text(words)
    label.setBuddy(combo)
    combo.setAccessibleName(words)
    combo.setFixedWidth(CONTROL_WIDTH)
    row = QHBoxLayout()
    row.setContentsMargins(0, 5, 0, 5)
    row.addWidget(label, 1)
    row.addWidget(combo)
    row.addSpacing(RESET_WIDTH + 16)
    return row


def _with_button(label: QWidget, button: QPushButton) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(0, 5, 0, 5)
    row.addWidget(label, 1)
    row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
    return row


def _line() -> QFrame:
    line = QFrame()
    line.setObjectName("line")
    line.setFixedHeight(1)
    return line
