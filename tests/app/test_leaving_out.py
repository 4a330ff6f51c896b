"""What to leave out of a folder, chosen in the window: shown before it is in force, put in force, taken back."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDialog, QInputDialog, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.compose import Shell
from app.dialogs import Dialogs
from app.views.leaving_out_dialog import LeavingOutDialog
from tests.app.shell import Answers, ShellMaker

Wait = Callable[[Callable[[], object]], None]
FILES = {
    "policy.txt": "A damaged item goes back to the desk with its red tag.",
    "notes.log": "The desk was closed.",
    "logs/monday.log": "Nothing happened.",
    "drafts/policy.txt": "A damaged item may go back.",
}


class Given(Answers):
    """The dialog is looked at and filled in by `look`, and answered with `accepts`."""

    def __init__(self) -> None:
        super().__init__()
        self.accepts = True
        self.picked: int | None = 0
        self.offered: list[str] = []
        self.shown = 0
        self.look: Callable[[LeavingOutDialog], object] = lambda dialog: None

    def ask(self, dialog: QDialog) -> bool:
        assert isinstance(dialog, LeavingOutDialog)
        self.shown += 1
        dialog.show()
        self.look(dialog)
        dialog.hide()
        return self.accepts

    def pick(self, title: str, label: str, options: list[str], at: int = 0) -> int | None:
        self.offered = [*options, str(at)]
        return self.picked


@pytest.fixture
def given(shells: ShellMaker) -> Given:
    made = shells.answers = Given()
    return made


@pytest.fixture
def root(shells: ShellMaker, given: Given) -> Path:
    return shells.documents(FILES)


@pytest.fixture
def shell(shells: ShellMaker, wait: Wait, root: Path) -> Shell:
    """A window on a library of the folder, everything indexed."""
    made = shells.shell()
    made.session.start_model()
    made.session.open_library(shells.folder / "library")
    made.session.add_folders((root,))
    settled(made, wait, set(FILES))
    made.window.show_page("library")
    return made


def names(shell: Shell) -> set[str]:
    return {document.doc_id.removeprefix("docs/") for document in shell.session.shelf.library.documents}


def settled(shell: Shell, wait: Wait, held: set[str]) -> None:
    """The work is over, and these are the documents."""
    wait(lambda: not shell.session.shelf.work.active and names(shell) == held)


def button(shell: Shell, words: str) -> QPushButton:
    return next(each for each in shell.window.library.roots.findChildren(QPushButton) if each.text() == words)


def rules(shell: Shell) -> tuple[tuple[str, ...], bool]:
    (root,) = shell.session.shelf.library.roots
    return root.exclude, root.gitignore


def fill(dialog: LeavingOutDialog, text: str) -> None:
    """Type this in the place of what stands there, and do not wait for the pause."""
    dialog.patterns.selectAll()
    QTest.keyClick(dialog.patterns, Qt.Key.Key_Delete)
    for at, line in enumerate(text.split("\n")):
        if at:
            QTest.keyClick(dialog.patterns, Qt.Key.Key_Return)
        QTest.keyClicks(dialog.patterns, line)
    dialog._pause.setInterval(0)
    dialog._pause.start()


def test_patterns_are_shown_looked_at_and_put_in_force(shell: Shell, given: Given, wait: Wait) -> None:
    def look(dialog: LeavingOutDialog) -> None:
        assert dialog.patterns.toPlainText() == ""
        assert dialog.gitignore.isChecked()
        wait(lambda: dialog.change.text() == "4 files remain.")
        fill(dialog, "*.log\n!notes.log\n\ndrafts/")
        wait(lambda: "2 files would be indexed no more" in dialog.change.text())
        assert dialog.ahead.text() == (
            "These rules leave out 2 names now, a folder counting once: 1 by drafts/, 1 by *.log."
        )
        shown = [dialog.names.item(at).text() for at in range(dialog.names.count())]
        assert shown == ["drafts/, by drafts/", "logs/monday.log, by *.log"]

    given.look = look
    button(shell, "Leave out…").click()
    settled(shell, wait, {"policy.txt", "notes.log"})
    assert rules(shell) == (("*.log", "!notes.log", "drafts/"), True)


def test_what_was_put_in_force_is_taken_back_and_done_again(shell: Shell, given: Given, wait: Wait) -> None:
    given.look = lambda dialog: fill(dialog, "drafts/")
    shell.window.actions_.trigger("folder-rules")
    settled(shell, wait, set(FILES) - {"drafts/policy.txt"})
    undo = shell.window.actions_["undo"]
    assert undo.text() == "Undo: what to leave out of docs"
    undo.trigger()
    settled(shell, wait, set(FILES))
    assert rules(shell) == ((), True)
    shell.window.actions_.trigger("redo")
    settled(shell, wait, set(FILES) - {"drafts/policy.txt"})
    assert rules(shell) == (("drafts/",), True)


def test_gitignore_files_count_or_do_not(shell: Shell, given: Given, wait: Wait, root: Path) -> None:
    (root / ".gitignore").write_text("drafts/\n")

    def look(dialog: LeavingOutDialog) -> None:
        wait(lambda: "1 by .gitignore: drafts/" in dialog.ahead.text())
        dialog._pause.setInterval(0)
        dialog.gitignore.click()
        wait(lambda: "1 file would come in: drafts/policy.txt" in dialog.change.text())

    given.look = look
    shell.window.actions_.trigger("folder-rules")
    wait(lambda: rules(shell) == ((), False))
    settled(shell, wait, set(FILES))


@pytest.mark.parametrize("unchanged", [True, False])
def test_cancel_changes_nothing_nor_does_what_stood_there(
    shell: Shell, given: Given, wait: Wait, unchanged: bool
) -> None:
    given.accepts = unchanged
    given.look = (lambda dialog: None) if unchanged else (lambda dialog: fill(dialog, "*.log"))
    shell.window.actions_.trigger("folder-rules")
    assert given.shown == 1
    assert not shell.session.shelf.work.active
    assert shell.window.actions_["undo"].text() == "Undo"
    shell.session.shelf.refresh()
    settled(shell, wait, set(FILES))
    assert rules(shell) == ((), True)


def test_a_line_that_is_no_pattern_is_refused_at_its_place(shell: Shell, given: Given) -> None:
    given.accepts = False

    def look(dialog: LeavingOutDialog) -> None:
        fill(dialog, "*.log\n[z-a]")
        assert dialog.refusal.isVisible()
        assert dialog.refusal.text().startswith("Line 2 cannot be read:")
        assert not dialog.ok.isEnabled()
        (marked,) = dialog.patterns.extraSelections()
        assert marked.cursor.selectedText() == "[z-a]"  # type: ignore[attr-defined]  # the stubs leave it out
        fill(dialog, "*.log")
        assert not dialog.refusal.isVisible()
        assert dialog.ok.isEnabled()
        assert dialog.patterns.extraSelections() == []

    given.look = look
    shell.window.actions_.trigger("folder-rules")
    assert given.shown == 1


def test_a_space_that_does_not_break_stays_one(shell: Shell, given: Given) -> None:
    given.accepts = False

    def look(dialog: LeavingOutDialog) -> None:
        dialog.patterns.setPlainText("a\u00a0b.txt\nc")
        assert dialog.wanted() == (("a\u00a0b.txt", "c"), True)

    given.look = look
    shell.window.actions_.trigger("folder-rules")


def test_a_long_look_neither_holds_the_window_nor_outlives_its_dialog(
    shell: Shell, given: Given, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, tokens, threads = threading.Event(), [], []

    def slow(root: object, exclude: object, gitignore: object, *, library: Path, cancel: object) -> object:
        threads.append(threading.current_thread())
        tokens.append(cancel)
        began.set()
        while True:  # as long as it is wanted
            cancel.check()  # type: ignore[attr-defined]

    monkeypatch.setattr("pipeline.leaving_out.look_ahead", slow)
    given.accepts = False

    def look(dialog: LeavingOutDialog) -> None:
        wait(began.is_set)
        assert dialog.ahead.text() == "Looking through the folder…"
        fill(dialog, "*.log")  # the keys arrive meanwhile
        wait(lambda: len(tokens) == 2)
        assert tokens[0].cancelled

    given.look = look
    shell.window.actions_.trigger("folder-rules")
    assert threading.main_thread() not in threads
    assert all(token.cancelled for token in tokens)


def test_a_folder_that_is_gone_is_told_in_the_dialog(shell: Shell, given: Given, wait: Wait, root: Path) -> None:
    given.accepts = False
    root.rename(root.with_name("elsewhere"))
    given.look = lambda dialog: wait(lambda: "there is no such folder" in dialog.ahead.text())
    shell.window.actions_.trigger("folder-rules")
    assert given.shown == 1


def test_while_something_is_written_the_rules_wait_for_its_end(
    shell: Shell, shells: ShellMaker, given: Given, wait: Wait, root: Path
) -> None:
    shells.model.let_encode.clear()
    shells.model.asked.clear()
    (root / "new.txt").write_text("The harbour has a lantern of its own.")
    shell.window.actions_.trigger("reindex")
    wait(shells.model.asked.is_set)
    given.look = lambda dialog: fill(dialog, "*.log")
    assert button(shell, "Leave out…").isEnabled()
    button(shell, "Leave out…").click()
    assert "when the work under way ends" in shell.window.status.said
    given.look = lambda dialog: texts.append(dialog.patterns.toPlainText())
    texts: list[str] = []
    button(shell, "Leave out…").click()
    assert texts == ["*.log"]
    shells.model.let_encode.set()
    settled(shell, wait, {"policy.txt", "drafts/policy.txt", "new.txt"})
    assert rules(shell) == (("*.log",), True)


def test_of_several_folders_one_is_picked_that_of_the_chosen_document_first(
    shell: Shell, shells: ShellMaker, given: Given, wait: Wait
) -> None:
    shell.session.add_folders((shells.documents({"z.txt": "A lantern."}, "more"),))
    wait(lambda: len(shell.session.shelf.library.roots) == 2 and not shell.session.shelf.work.active)
    wait(lambda: "more/z.txt" in names(shell))
    page = shell.window.library
    page.table.choose(page.model.row_of("more/z.txt"))
    given.picked = None
    shell.window.actions_.trigger("folder-rules")
    assert [name.split(" (")[0] for name in given.offered] == ["docs", "more", "1"]
    assert given.shown == 0
    given.picked, given.accepts = 1, False
    given.look = lambda dialog: titles.append(dialog.where.text())
    titles: list[str] = []
    shell.window.actions_.trigger("folder-rules")
    assert titles == [str(shells.folder / "more")]


def test_the_row_has_a_menu_with_the_same(shell: Shell, given: Given) -> None:
    given.accepts = False
    line = button(shell, "Leave out…").parentWidget()
    line.customContextMenuRequested.emit(line.rect().center())
    menu = shell.window.library.roots.findChildren(QMenu)[-1]
    entry = next(action for action in menu.actions() if action.text() == "What to leave out…")
    entry.trigger()
    menu.close()
    assert given.shown == 1


def test_the_sample_stays_as_it_is(shells: ShellMaker, given: Given, wait: Wait) -> None:
    shell = shells.shell()
    assert not shell.window.actions_["folder-rules"].isEnabled()
    shell.session.start_model()
    shell.session.open_sample()
    wait(lambda: shell.session.shelf.library.roots and not shell.session.shelf.work.active)
    shell.window.show_page("library")
    assert not shell.window.actions_["folder-rules"].isEnabled()
    shown = [each.text() for each in shell.window.library.roots.findChildren(QPushButton)]
    assert "Re-index" in shown
    assert "Leave out…" not in shown


def test_one_of_many_is_picked_from_a_list_by_its_place(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    offered: list[list[str]] = []

    def answer(accept: bool) -> None:
        (dialog,) = [each for each in window.findChildren(QInputDialog) if each.isVisible()]
        offered.append(dialog.comboBoxItems())
        (combo,) = dialog.findChildren(QComboBox)
        assert (combo.accessibleName(), combo.currentIndex()) == ("Of which folder?", 1)
        combo.setCurrentIndex(2)
        dialog.accept() if accept else dialog.reject()

    names = ["docs (/a)", "docs (/b)", "turned\u202e (/c)"]
    QTimer.singleShot(0, window, lambda: answer(True))
    assert Dialogs(window).pick("What to leave out", "Of which folder?", names, 1) == 2
    QTimer.singleShot(0, window, lambda: answer(False))
    assert Dialogs(window).pick("What to leave out", "Of which folder?", names, 1) is None
    assert [names[:2] for names in offered] == [names[:2], names[:2]]
    assert "\u202e" not in offered[0][2]


def test_the_dialog_and_what_it_needs_are_imported_when_it_is_asked_for() -> None:
    late = (
        "app.views.leaving_out_dialog",
        "pipeline.leaving_out",
        "pipeline.ignoring",
        "pipeline.duplicates.freshness",
    )
    told = subprocess.run(
        [sys.executable, "-c", f"import sys, app.compose; print([m for m in {late} if m in sys.modules])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == "[]"
