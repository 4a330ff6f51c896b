"""The window: the rail, the pages, the line at the bottom. It lays out and shows; `app.compose` connects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.actions import Actions
from app.focus import Focus
from app.icons import icon
from app.models.slides import Slide
from app.preferences import Preferences
from app.sample import SampleQuestion
from app.theme import Theme
from app.views.compare_page import ComparePage
from app.views.duplicates_page import DuplicatesPage
from app.views.history_page import HistoryPage
from app.views.inspector_page import InspectorPage
from app.views.library_page import LibraryPage
from app.views.parts import Text
from app.views.present import PresentView
from app.views.progress_bar import WorkBar
from app.views.settings_page import SettingsPage
from app.views.states import Notice
from app.views.status_bar import StatusLine
from app.views.welcome import Welcome

PAGES = ("inspector", "compare", "duplicates", "library", "history", "settings")
COLUMNS = "library columns"  # remembered among the splitters
HISTORY_COLUMNS = "history columns"
SET_COLUMNS = "question list columns"
SMALLEST = QSize(940, 600)


class MainWindow(QMainWindow):
    """`firstPainted` comes once, after the first paint: what is slow may begin."""

    firstPainted = Signal()
    foldersDropped = Signal(object)  # tuple[Path, ...]
    tracesDropped = Signal(object)  # tuple[Path, ...]: one or two saved traces
    dropRefused = Signal(str)
    pageShown = Signal(str)
    closed = Signal()

    def __init__(
        self,
        focus: Focus,
        theme: Theme,
        preferences: Preferences,
        questions: tuple[SampleQuestion, ...],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._painted = False
        self._closing: Callable[[], object] = lambda: None
        self.setWindowTitle("Twinspect")
        self.setMinimumSize(SMALLEST)
        self.setAcceptDrops(True)
        self.actions_ = Actions(self)
        self.inspector = InspectorPage(focus, theme, questions)
        self.compare = ComparePage(theme)
        self.duplicates = DuplicatesPage(theme)
        self.library = LibraryPage(theme)
        self.history = HistoryPage(theme)
        self.settings = SettingsPage()
        self.welcome = Welcome(theme)
        self.work = WorkBar()
        self.notice = Notice()
        self.trouble = Notice()  # with something that was wanted just now; the other tells of the library
        self.status = StatusLine()
        self._rail = self._make_rail()
        self._pages = QStackedWidget()
        self._build()
        self._drop_hint = Text("Drop to add this folder to the library", scale=1.6, bold=True, parent=self)
        self._drop_hint.setObjectName("dropHint")
        self._drop_hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._drop_hint.hide()
        self.present = PresentView(theme, self)
        self.present.left.connect(self.stop_presenting)
        self._focus_before: QWidget | None = None
        self._was_full = False
        # A field that takes a drop would swallow a folder meant for the window.
        for field in self.findChildren(QLineEdit):
            field.setAcceptDrops(False)
        for combo in self.findChildren(QComboBox):  # the list that opens is a control of its own
            combo.view().setAccessibleName(combo.accessibleName())
        self.set_theme(theme)
        self._restore()

    def _build(self) -> None:
        """From the outside in: a page is told of its new window at every step that it is carried, all its parts too."""
        inside = QWidget()
        self.setCentralWidget(inside)
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        across, right = QHBoxLayout(), QVBoxLayout()
        for layout in (across, right):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        column.addLayout(across, 1)
        across.addWidget(self._rail)
        across.addLayout(right, 1)
        right.addWidget(self.notice)
        right.addWidget(self.trouble)
        right.addWidget(self._pages, 1)
        for page in (
            self.inspector, self.compare, self.duplicates, self.library, self.history, self.settings, self.welcome
        ):  # fmt: skip
            self._pages.addWidget(page)
        right.addWidget(self.work)
        column.addWidget(self.status)

    def _make_rail(self) -> QFrame:
        rail = QFrame()
        rail.setObjectName("rail")
        column = QVBoxLayout(rail)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(2)
        for name in PAGES:
            button = QToolButton()
            button.setDefaultAction(self.actions_[f"page-{name}"])
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
            button.setIconSize(QSize(22, 22))
            button.setAccessibleName(self.actions_[f"page-{name}"].text())
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            column.addWidget(button)
        column.addStretch(1)
        return rail

    # --- showing ------------------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        """Every part in the colours and sizes of this theme."""
        self.actions_.set_icons(lambda name: icon(name, theme))
        self.setWindowIcon(icon("inspector", theme, theme.accent))
        for part in (
            self.inspector, self.compare, self.duplicates, self.library, self.history, self.welcome, self.present
        ):  # fmt: skip
            part.set_theme(theme)
        self._widen_rail()

    def _widen_rail(self) -> None:
        """As wide as its longest word needs, whatever the size of the text."""
        buttons = self._rail.findChildren(QToolButton)
        wanted = max(button.fontMetrics().horizontalAdvance(button.text()) for button in buttons) + 16
        for button in buttons:
            button.setMinimumWidth(max(72, wanted))

    def show_page(self, name: str) -> None:
        """Show one of the pages, or the welcome."""
        page: QWidget = getattr(self, name)
        if self._pages.currentWidget() is not page:
            self._pages.setCurrentWidget(page)
            self.pageShown.emit(name)
        welcome = name == "welcome"
        for other in PAGES:
            self.actions_[f"page-{other}"].setChecked(other == ("inspector" if welcome else name))
        if welcome:
            self.welcome.focus_first()

    @property
    def page(self) -> str:
        """The name of the page that is shown."""
        shown = self._pages.currentWidget()
        return next(name for name in (*PAGES, "welcome") if getattr(self, name) is shown)

    def start_presenting(self, slides: Sequence[Slide], question: str) -> None:
        """Show these slides over everything, on the whole screen."""
        if not self.present.isVisible():
            self._focus_before, self._was_full = self.focusWidget(), self.isFullScreen()
            self.showFullScreen()
        self.present.setGeometry(self.rect())
        self.present.show_slides(slides, question)
        self.present.show()
        self.present.raise_()
        self.present.setFocus()

    def stop_presenting(self) -> None:
        """The window as it was."""
        self.present.hide()
        if not self._was_full:
            self.setWindowState(self.windowState() & ~Qt.WindowState.WindowFullScreen)
        if self._focus_before is not None:
            self._focus_before.setFocus()

    def set_library_name(self, name: str) -> None:
        self.setWindowTitle(f"{name} \N{EN DASH} Twinspect" if name else "Twinspect")

    # --- the window's own events --------------------------------------------------------------------------------

    def on_close(self, closing: Callable[[], object]) -> None:
        """Do this when the window closes."""
        self._closing = closing

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.present.isVisible():
            self.stop_presenting()  # a window that fills the screen is not how it was left
        self._preferences.change(
            geometry=_text(self.saveGeometry()),
            splitters={name: _text(splitter.saveState()) for name, splitter in self._splitters().items()}
            | {
                COLUMNS: _text(self.library.table.columns()),
                HISTORY_COLUMNS: _text(self.history.asked.table.columns()),
                SET_COLUMNS: _text(self.history.questions.table.columns()),
            },
        )
        self.hide()  # at once: ending the work may take a moment
        self._closing()
        super().closeEvent(event)
        self.closed.emit()

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.Paint and not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.firstPainted.emit)
        return handled

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._drop_hint.setGeometry(self.rect().adjusted(24, 24, -24, -24))
        self.present.setGeometry(self.rect())

    def _splitters(self) -> dict[str, QSplitter]:
        return {
            "inspector": self.inspector.splitter,
            "detail": self.inspector.detail.splitter,
            "library": self.library.splitter,
            "duplicates": self.duplicates.splitter,
            "lanes": self.inspector.lanes.splitter,
            "compared lanes": self.compare.runs.across,
            "comparison": self.compare.runs.splitter,
            "policies": self.compare.policies.across,
            "questions": self.history.questions.splitter,
        }

    def _restore(self) -> None:
        choices = self._preferences.choices
        self.resize(1320, 860)
        if choices.geometry:
            self.restoreGeometry(QByteArray.fromBase64(choices.geometry.encode("ascii", "ignore")))
        for name, splitter in self._splitters().items():
            state = choices.splitters.get(name)
            if state:
                splitter.restoreState(QByteArray.fromBase64(state.encode("ascii", "ignore")))
        for name, table in (
            (COLUMNS, self.library.table),
            (HISTORY_COLUMNS, self.history.asked.table),
            (SET_COLUMNS, self.history.questions.table),
        ):
            columns = choices.splitters.get(name)
            if columns:
                table.restore_columns(QByteArray.fromBase64(columns.encode("ascii", "ignore")))

    # --- folders dropped on the window --------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.source() is not None:  # a file on its way out of one of these windows
            return
        paths = local_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self._drop_hint.setText(_drop_words(paths))
            self._drop_hint.show()
            self._drop_hint.raise_()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._drop_hint.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._drop_hint.hide()
        paths = local_paths(event.mimeData())
        event.acceptProposedAction()
        if paths and all(map(is_trace, paths)):
            if len(paths) <= 2:
                self.tracesDropped.emit(paths)
            else:
                self.dropRefused.emit("Drop one saved trace to see it, or two to compare them.")
            return
        folders = tuple(path for path in paths if path.is_dir())
        if len(folders) < len(paths):
            other = next(path for path in paths if not path.is_dir())
            self.dropRefused.emit(
                f"“{other.name}” is a file. Drop the folder that holds it: folders are indexed whole."
            )
        if folders:
            self.foldersDropped.emit(folders)


def local_paths(data: QMimeData) -> tuple[Path, ...]:
    """The files and folders of this computer that are being dragged."""
    return tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())


def is_trace(path: Path) -> bool:
    """Whether this may be a saved trace, by its name: reading it tells."""
    return path.suffix.lower() == ".json" and not path.is_dir()


def _drop_words(paths: tuple[Path, ...]) -> str:
    """What happens to what is dropped now."""
    if all(map(is_trace, paths)):
        return "Drop to open this saved trace" if len(paths) == 1 else "Drop to compare these saved traces"
    return "Drop to add this folder to the library"


def _text(state: QByteArray) -> str:
    return bytes(state.toBase64().data()).decode("ascii")
