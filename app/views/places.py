"""Every place that holds a text: file, page, characters; each to be shown, opened or revealed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.models.dragging import URI_LIST, files_mime
from app.theme import Theme
from app.views.parts import Text
from pipeline.records import Location
from pipeline.words.plain import one_line, tool_tip
from pipeline.words.sentences import pages

MOST_ROWS = 2_000


class _PlaceList(QTreeWidget):
    """A list whose rows' files can be dragged to another program."""

    def __init__(self, path_of: Callable[[int], str]) -> None:
        super().__init__()
        self._path_of = path_of
        self.setDragDropMode(QTreeWidget.DragDropMode.DragOnly)

    def mimeTypes(self) -> list[str]:
        return [URI_LIST]

    def mimeData(self, items: Sequence[QTreeWidgetItem]) -> QMimeData:
        return files_mime([self._path_of(self.indexOfTopLevelItem(item)) for item in items])

    def startDrag(self, supported: Qt.DropAction) -> None:
        super().startDrag(Qt.DropAction.CopyAction)


class PlacesView(QWidget):
    """A list with three buttons below it. Enter or a double click opens the file; moving shows the place."""

    shown = Signal(object)  # Location
    openRequested = Signal(str)
    openAtRequested = Signal(object)  # Location
    revealRequested = Signal(str)
    copyRequested = Signal(str, str)  # text, what it is

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._places: tuple[Location, ...] = ()
        self._title = Text(bold=True, wrap=True)
        self._list = _PlaceList(lambda row: self._places[row].path)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setAllColumnsShowFocus(True)
        self._list.setHeaderLabels(["File", "Page", "Characters"])
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.setAccessibleName("Files that hold this text")
        header = self._list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        self._list.currentItemChanged.connect(self._moved)
        self._list.itemDoubleClicked.connect(self._open)
        self._list.installEventFilter(self)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._list.customContextMenuRequested.connect(self._menu)
        self._open_button = QToolButton()
        self._open_button.setAccessibleName("Open this file")
        self._open_button.setToolTip("Open this file with its own program (Enter)")
        self._open_button.clicked.connect(self._open)
        self._place_button = QToolButton()
        self._place_button.setAccessibleName("Open at this place")
        self._place_button.setToolTip("Open this file at this page, where its program can do that (Ctrl+Enter)")
        self._place_button.clicked.connect(self._open_at)
        self._reveal_button = QToolButton()
        self._reveal_button.setAccessibleName("Show this file in its folder")
        self._reveal_button.setToolTip("Show this file in its folder")
        self._reveal_button.clicked.connect(self._reveal)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self._title, 1)
        row.addWidget(self._open_button)
        row.addWidget(self._place_button)
        row.addWidget(self._reveal_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._list, 1)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._open_button.setIcon(icon("open", theme))
        self._place_button.setIcon(icon("open-place", theme))
        self._reveal_button.setIcon(icon("reveal", theme))

    def show_places(self, title: str, places: tuple[Location, ...], chosen: Location | None) -> None:
        """Show these places; `chosen` is the one that is shown already."""
        self._places = places[:MOST_ROWS]
        more = len(places) - len(self._places)
        self._title.setText(f"{title} (the first {MOST_ROWS:,} are listed)" if more else title)
        self._list.blockSignals(True)
        self._list.clear()
        current = None
        for place in self._places:
            item = QTreeWidgetItem(
                [one_line(place.doc_id), pages(place.page_first, place.page_last), f"{place.start:,} to {place.end:,}"]
            )
            item.setToolTip(0, tool_tip(place.path))
            self._list.addTopLevelItem(item)
            if chosen is not None and place.evidence_key == chosen.evidence_key:
                current = item
        self._list.setColumnHidden(1, all(place.page_first is None for place in self._places))
        if current is not None:
            self._list.setCurrentItem(current)
        self._list.blockSignals(False)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            watched is self._list
            and event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        ):
            self._open()
            return True
        return super().eventFilter(watched, event)

    def copied(self) -> tuple[str, str] | None:
        """What "Copy" copies while the list has the focus, and what that is; None while it has not."""
        place = self._current()
        return (place.path, "the path") if place is not None and self._list.hasFocus() else None

    def _menu(self, at: QPoint) -> None:
        place = self._current()
        if place is None:
            return
        row = "\t".join((place.path, pages(place.page_first, place.page_last), f"{place.start}", f"{place.end}"))
        menu = QMenu(self)
        menu.addAction("Open", self._open)
        if place.page_first is not None:
            menu.addAction("Open at this place", self._open_at)
        menu.addAction("Show in its folder", self._reveal)
        menu.addSeparator()
        menu.addAction("Copy path", lambda: self.copyRequested.emit(place.path, "the path"))
        menu.addAction("Copy row", lambda: self.copyRequested.emit(row, "the row"))
        menu.popup(self._list.viewport().mapToGlobal(at))
        menu.aboutToHide.connect(menu.deleteLater)

    def _current(self) -> Location | None:
        row = self._list.currentIndex().row()
        return self._places[row] if 0 <= row < len(self._places) else None

    def _fit(self) -> None:
        chosen = self._current() is not None
        self._open_button.setEnabled(chosen)
        self._reveal_button.setEnabled(chosen)
        place = self._current()
        self._place_button.setVisible(place is not None and place.page_first is not None)

    def _moved(self) -> None:
        self._fit()
        place = self._current()
        if place is not None:
            self.shown.emit(place)

    def _open(self) -> None:
        place = self._current()
        if place is not None:
            self.openRequested.emit(place.path)

    def _open_at(self) -> None:
        place = self._current()
        if place is not None:
            self.openAtRequested.emit(place)

    def _reveal(self) -> None:
        place = self._current()
        if place is not None:
            self.revealRequested.emit(place.path)
