"""The first start: what this is for, and two doors."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.icons import icon
from app.theme import Theme
from app.views.parts import Text


class Door(QFrame):
    """A large button: an icon, a title, a sentence."""

    opened = Signal()

    def __init__(self, icon_name: str, title: str, text: str, keys: str) -> None:
        super().__init__()
        self.setObjectName("door")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMaximumWidth(340)
        self._icon_name = icon_name
        self._icon = QLabel()
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 22, 22, 22)
        column.setSpacing(10)
        column.addWidget(self._icon)
        column.addWidget(Text(title, scale=1.25, bold=True, wrap=True))
        column.addWidget(Text(text, wrap=True))
        column.addStretch(1)
        column.addWidget(Text(keys, muted=True, wrap=True))

    def set_theme(self, theme: Theme) -> None:
        self._icon.setPixmap(icon(self._icon_name, theme, theme.accent).pixmap(QSize(34, 34), self.devicePixelRatio()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit()
        else:
            super().keyPressEvent(event)


class Welcome(QWidget):
    """Two doors, and one sentence on what lies behind them."""

    sampleWanted = Signal()
    folderWanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sample = Door(
            "inspector",
            "See it on the sample",
            "The files of an invented hire company, with their backups and old versions, and eight questions that "
            "each show one thing.",
            "Takes half a minute",
        )
        self._folder = Door(
            "add-folder",
            "Add a folder",
            "Your own documents: text, PDF, Office files, web pages and more. They are read where they lie and never "
            "changed, and nothing leaves this computer.",
            "Or drop a folder anywhere on this window",
        )
        self._sample.opened.connect(self.sampleWanted)
        self._folder.opened.connect(self.folderWanted)
        title = Text("What does your search hand to the agent?", scale=1.9, bold=True, wrap=True)
        title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        text = Text(
            "Twinspect searches your folders and shows, for every question, what a plain search recalls beside the "
            "evidence made of it: copies of the same text become one block that cites every file.",
            scale=1.1,
            wrap=True,
            muted=True,
        )
        text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        text.setMaximumWidth(660)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(text, 20)
        middle.addStretch(1)
        doors = QHBoxLayout()
        doors.setSpacing(20)
        doors.addStretch(1)
        doors.addWidget(self._sample, 10)
        doors.addWidget(self._folder, 10)
        doors.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(40, 24, 40, 24)
        column.addStretch(2)
        column.addWidget(title)
        column.addSpacing(8)
        column.addLayout(middle)
        column.addSpacing(26)
        column.addLayout(doors)
        column.addStretch(3)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        for door in (self._sample, self._folder):
            door.set_theme(theme)

    def doors(self) -> tuple[Door, Door]:
        """The sample, and a folder of one's own."""
        return self._sample, self._folder

    def focus_first(self) -> None:
        self._sample.setFocus(Qt.FocusReason.OtherFocusReason)
