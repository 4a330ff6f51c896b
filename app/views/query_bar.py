"""The question, the settings in force, and the conditions of the search."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QFont, QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QMenu, QToolButton, QVBoxLayout, QWidget

from app.icons import icon
from app.sample import SampleQuestion
from app.state import Scope
from app.theme import Theme
from app.views.parts import Chip, Flow, Text, clear
from app.views.setting_controls import SettingsStrip
from pipeline.settings import Settings


class QueryBar(QWidget):
    """Emits intents only; what it shows is what the session says."""

    typed = Signal(str)
    entered = Signal(str)
    settingChanged = Signal(str, object)
    settingsReset = Signal()
    onlyFileCleared = Signal()
    leftOutCleared = Signal(str)
    preferredCleared = Signal(str)
    sampleQuestionChosen = Signal(object)  # SampleQuestion
    leftDown = Signal()  # the user goes on into the answer with the Down key

    def __init__(self, theme: Theme, questions: tuple[SampleQuestion, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queryBar")
        self._questions = questions
        self._telling = False
        self._narrowed = False
        self.field = QLineEdit()
        self.field.setObjectName("queryField")
        self.field.setPlaceholderText("Type a question")
        self.field.setAccessibleName("Question")
        self.field.setClearButtonEnabled(True)
        self.field.textEdited.connect(self.typed)
        self.field.textChanged.connect(self._cleared)
        self.field.returnPressed.connect(lambda: self.entered.emit(self.field.text()))
        self.field.installEventFilter(self)
        self._glass = QAction(self.field)
        self.field.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        self._menu = QMenu(self)
        self._choose = QToolButton()
        self._choose.setText("Sample questions")
        self._choose.setAccessibleName("Sample questions")
        self._choose.setToolTip("Questions that each show one thing")
        self._choose.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._choose.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self._choose.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._choose.setMenu(self._menu)
        self._choose.hide()
        for number, question in enumerate(questions, start=1):
            action = self._menu.addAction(f"{number}  {question.title}")
            action.setToolTip(question.text)
            action.triggered.connect(lambda checked=False, chosen=question: self.sampleQuestionChosen.emit(chosen))
        self.strip = SettingsStrip()
        self.strip.changed.connect(self.settingChanged)
        self.strip.reset.connect(self.settingsReset)
        self._look_at = Text(wrap=True)
        self._look_at.setObjectName("lookAt")
        self._look_at.hide()
        self._saved = Text(wrap=True, muted=True)
        self._saved.setAccessibleName("What the saved run was asked with")
        self._saved.hide()
        self._chips = QWidget()
        self._chip_row = Flow(self._chips)
        self._chips.setAccessibleName("Conditions of the search")
        self._chips.hide()

        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.field, 1)
        first.addWidget(self._choose)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 8)
        column.setSpacing(8)
        column.addLayout(first)
        column.addWidget(self.strip)
        column.addWidget(self._saved)
        column.addWidget(self._chips)
        column.addWidget(self._look_at)
        self.set_theme(theme)

    # --- state in -----------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self._glass.setIcon(icon("search", theme))
        self._choose.setIcon(icon("chevron-down", theme))
        self.strip.fit_font()
        self._fit_font()

    def set_question(self, text: str) -> None:
        """Show a question that did not come from the keyboard."""
        if text != self.field.text():
            self.field.setText(text)
            self.field.setCursorPosition(0)  # a long question is read from its beginning

    def set_settings(self, settings: Settings) -> None:
        self.strip.set_settings(settings)

    def set_scope(self, scope: Scope) -> None:
        """Show the conditions as chips."""
        clear(self._chip_row)
        if scope.only_file is not None:
            chip = Chip("Only in", _name(scope.only_file), whole=scope.only_file)
            chip.removed.connect(self.onlyFileCleared)
            self._chip_row.addWidget(chip)
        for doc_id in scope.left_out:
            chip = Chip("Left out", _name(doc_id), whole=doc_id)
            chip.removed.connect(lambda doc_id=doc_id: self.leftOutCleared.emit(doc_id))
            self._chip_row.addWidget(chip)
        for doc_id in scope.preferred:
            chip = Chip("Cited first", _name(doc_id), whole=doc_id)
            chip.removed.connect(lambda doc_id=doc_id: self.preferredCleared.emit(doc_id))
            self._chip_row.addWidget(chip)
        self._narrowed = bool(scope.only_file or scope.left_out or scope.preferred)
        self._chips.setVisible(self._narrowed and not self.field.isReadOnly())
        self._chips.updateGeometry()

    def set_saved(self, words: str | None) -> None:
        """A saved run is shown, which was asked with this: its question and settings are read, not changed. None: the
        library is asked again."""
        saved = words is not None
        self.field.setReadOnly(saved)
        self.field.setClearButtonEnabled(not saved)
        self.field.setToolTip("The question of a saved run: go back to the library to ask another" if saved else "")
        self.strip.setVisible(not saved)
        self._saved.setText(words or "")
        self._saved.setVisible(saved)
        self._chips.setVisible(self._narrowed and not saved)
        if saved:
            self.set_sample_question(None)

    def saved_words(self) -> str:
        """What is said of the settings of a saved run; "" while there is none."""
        return self._saved.text()

    def set_sample(self, sample: bool) -> None:
        """Offer the sample's questions, or not."""
        self._choose.setVisible(sample and bool(self._questions))
        if not sample:
            self.set_sample_question(None)

    def set_sample_question(self, question: SampleQuestion | None) -> None:
        """Say what to look at, for a question of the sample."""
        self._look_at.setVisible(question is not None)
        self._look_at.setText("" if question is None else f"Look at this: {question.look_at}")

    def chips(self) -> list[Chip]:
        """The conditions that are shown."""
        items = [self._chip_row.itemAt(at) for at in range(self._chip_row.count())]
        return [chip for item in items if item is not None and isinstance(chip := item.widget(), Chip)]

    def look_at(self) -> str:
        """What the user is told to look at; "" for a question of the user's own."""
        return self._look_at.text()

    @property
    def last(self) -> QWidget:
        """The last of its parts that Tab comes to."""
        return self.strip.last

    def focus_field(self) -> None:
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    # --- the keyboard -------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape and self.field.text() and not self.field.isReadOnly():
                self.field.clear()
                return True
            if event.key() == Qt.Key.Key_Down:
                self.leftDown.emit()
                return True
        return super().eventFilter(watched, event)

    def _fit_font(self) -> None:
        font = QFont(QApplication.font())
        font.setPointSizeF(font.pointSizeF() * 1.3)
        self.field.setFont(font)

    def _cleared(self, text: str) -> None:
        # The field's own × and `clear` are no edits to Qt, but they are to the user.
        if not text:
            self.typed.emit("")


def _name(doc_id: str) -> str:
    return doc_id.rsplit("/", 1)[-1]
