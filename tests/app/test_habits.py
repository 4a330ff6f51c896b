"""What people expect of any window: files dragged out, rows copied, columns remembered, every control named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QAccessible, QDragEnterEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QMenu, QTreeWidget, QWidget

from app.compose import Shell
from app.dialogs import LOCAL_KEYS, ShortcutsDialog
from app.focus import FocusTarget
from app.main_window import PAGES
from app.models.rows import Role
from app.preferences import Preferences
from app.views.command_palette import CommandPalette
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def asked(shells: ShellMaker, wait: Wait) -> Shell:
    """A window with an answer, and one of its blocks selected."""
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    shell.session.inquiry.ask("late items damaged")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    block = next(block for block in trace.evidence if len(block.citations) == 3)
    shell.focus.selected = FocusTarget("evidence", block.evidence_key, block.rank)
    wait(lambda: not shell.window.inspector.detail.waiting)
    return shell


# --- dragging a file out -------------------------------------------------------------------------------------------


def view(shell: Shell, name: str) -> QAbstractItemView:
    return next(v for v in shell.window.findChildren(QAbstractItemView) if v.accessibleName() == name)


@pytest.mark.parametrize("name", ["Raw candidates", "Evidence", "Projected", "Files that hold this text", "Documents"])
def test_a_rows_file_can_be_dragged_out_as_a_copy(asked: Shell, name: str) -> None:
    asked.window.show_page("library" if name == "Documents" else "inspector")
    rows = view(asked, name)
    model = rows.model()
    index = next(
        model.index(row, 0)
        for row in range(model.rowCount())
        if model.flags(model.index(row, 0)) & Qt.ItemFlag.ItemIsDragEnabled
    )
    data = model.mimeData([index])

    assert rows.dragEnabled()
    assert data.hasFormat("text/uri-list")
    (url,) = data.urls()
    assert url.isLocalFile()
    assert url.toLocalFile().startswith("/")
    assert data.text() == url.toLocalFile()
    if not isinstance(rows, QTreeWidget):  # which says so when the drag starts
        assert model.supportedDragActions() == Qt.DropAction.CopyAction


def test_a_row_without_a_file_is_not_dragged(asked: Shell) -> None:
    model = view(asked, "Evidence").model()
    for row in range(model.rowCount()):
        index = model.index(row, 0)
        dragged = bool(model.flags(index) & Qt.ItemFlag.ItemIsDragEnabled)
        assert dragged <= bool(index.data(Role.PATH))


def test_a_folder_from_outside_is_welcome(asked: Shell, tmp_path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    event = QDragEnterEvent(
        QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(asked.window, event)
    assert event.isAccepted()


# --- copying -------------------------------------------------------------------------------------------------------


def test_copy_in_the_list_of_files_takes_the_path(asked: Shell) -> None:
    asked.window.activateWindow()
    files = view(asked, "Files that hold this text")
    files.setFocus()
    asked.window.actions_.trigger("copy")
    place = asked.window.inspector.detail.shown_place()
    assert place is not None
    assert QGuiApplication.clipboard().text() == place.path


def test_path_row_and_cell_of_a_document_can_be_copied(asked: Shell) -> None:
    asked.window.show_page("library")
    page = asked.window.library
    page.table.selectRow(0)
    menu = QMenu()
    page._add_copies(menu)
    copied = {}
    for action in menu.actions():
        if action.text():
            action.trigger()
            copied[action.text()] = QGuiApplication.clipboard().text()
    document = page.current_document()
    assert document is not None
    assert copied["Copy path"] == document.path
    assert copied["Copy cell"] == document.doc_id.rsplit("/", 1)[-1]
    assert copied["Copy row"].split("\t")[:2] == [copied["Copy cell"], document.doc_id.rsplit("/", 1)[0]]


# --- remembering ---------------------------------------------------------------------------------------------------


def test_columns_and_lanes_are_as_they_were_left(shells: ShellMaker, preferences: Preferences) -> None:
    first = shells.shell()
    first.session.open_library(shells.library())
    first.window.show_page("library")
    first.window.library.table.horizontalHeader().resizeSection(0, 333)
    first.window.show_page("inspector")
    first.window.inspector.lanes.splitter.setSizes([500, 220, 220])
    lanes = first.window.inspector.lanes.splitter.sizes()
    first.window.close()

    again = shells.shell()
    again.window.show_page("library")
    assert again.window.library.table.horizontalHeader().sectionSize(0) == 333
    again.window.show_page("inspector")
    assert again.window.inspector.lanes.splitter.sizes() == pytest.approx(lanes, abs=3)


def test_columns_that_nobody_changed_go_on_fitting_the_window(shells: ShellMaker) -> None:
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.window.show_page("library")
    assert shell.window.library.table.columns() == QByteArray()


# --- names for screen readers --------------------------------------------------------------------------------------

_INNER = (
    "qt_spinbox_lineedit",
    "qt_scrollarea_viewport",
    "ScrollBar",
    "qt_toolbar_ext_button",
    "qt_menubar_ext_button",
)


def named(widget: QWidget) -> bool:
    """Whether a screen reader has words for this control: its own, or those that Qt finds (text, buddy)."""
    interface = QAccessible.queryAccessibleInterface(widget)
    said = interface.text(QAccessible.Text.Name) if interface is not None else ""
    return bool((widget.accessibleName() or said or "").strip())


def focusable(root: QWidget) -> Iterator[QWidget]:
    for widget in (root, *root.findChildren(QWidget)):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or widget.focusProxy() is not None:
            continue
        if any(part in widget.objectName() or part in type(widget).__name__ for part in _INNER):
            continue
        if isinstance(widget, QLabel) and not widget.text():
            continue  # nothing to read out
        yield widget


def nameless(root: QWidget) -> list[str]:
    return [
        f"{type(widget).__name__} in {type(widget.parent()).__name__} {widget.objectName()}"
        for widget in focusable(root)
        if not named(widget)
    ]


def test_every_control_of_every_page_has_a_name(asked: Shell, shells: ShellMaker) -> None:
    window = asked.window
    for page in (*PAGES, "welcome"):
        window.show_page(page)
        QApplication.processEvents()
        assert "\n".join(nameless(window)) == "", page


def test_every_control_of_every_dialog_has_a_name(asked: Shell) -> None:
    window = asked.window
    assert nameless(ShortcutsDialog(window.actions_, window)) == []
    palette = CommandPalette(window)
    palette.choose_from(tuple(asked.wiring.menus.commands()))
    assert nameless(palette) == []
    palette.close()


# --- shortcuts -----------------------------------------------------------------------------------------------------


def test_the_list_of_shortcuts_is_complete(asked: Shell) -> None:
    dialog = ShortcutsDialog(asked.window.actions_, asked.window)
    listed = set()
    for at in range(dialog.table.topLevelItemCount()):
        group = dialog.table.topLevelItem(at)
        listed |= {group.child(row).text(1) for row in range(group.childCount())}  # type: ignore[union-attr]
    for spec, action in asked.window.actions_:
        if action.shortcuts():
            assert spec.text.rstrip("…") in listed
    assert {what for _, _, what in LOCAL_KEYS} <= listed


def test_no_shortcut_means_two_things(asked: Shell) -> None:
    keys = [key.toString() for _, action in asked.window.actions_ for key in action.shortcuts()]
    assert sorted(keys) == sorted(set(keys))
