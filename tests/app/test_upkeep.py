"""The window keeps a library true: files re-indexed from an answer, folders watched, a damaged library made anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.compose import Shell
from pipeline.words.states import STATE_WORDS
from tests.app.shell import GUIDE, POLICY, ShellMaker

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    (made / "policy.txt").write_text(POLICY)
    (made / "guide.txt").write_text(GUIDE)
    return made


def indexed(shells: ShellMaker, wait: Wait, root: Path) -> Shell:
    """A window on a library of this folder, the model loaded, everything indexed."""
    shell = shells.shell()
    shell.session.open_library(shells.folder / "own")
    shell.session.start_model()
    wait(lambda: shell.session.model.phase == "ready")
    shell.session.add_folders((root,))
    wait(lambda: shell.session.shelf.library.phase == "open" and not shell.session.shelf.work.active)
    wait(lambda: len(shell.session.shelf.library.documents) >= 2)
    return shell


def ask(shell: Shell, question: str, wait: Wait) -> None:
    shell.session.inquiry.ask(question)
    wait(lambda: shell.session.inquiry.answer.phase == "answered")


def names(shell: Shell) -> list[str]:
    return [document.doc_id for document in shell.session.shelf.library.documents]


def test_a_changed_file_is_re_indexed_from_the_answer_which_shows_what_moved(
    shells: ShellMaker, wait: Wait, root: Path
) -> None:
    shell = indexed(shells, wait, root)
    actions = shell.window.actions_
    ask(shell, "damaged item red tag", wait)
    assert not actions["reindex-answer"].isEnabled()
    (root / "policy.txt").write_text("Late items cost two pounds a day, and the desk takes cards.")
    (root / "guide.txt").rename(root / "moved guide.txt")
    shell.session.inquiry.ask_again()
    wait(lambda: shell.session.shelf.library.notice is not None)
    notice = shell.session.shelf.library.notice
    assert notice is not None
    assert notice.title == "1 file of this answer changed, 1 is missing"
    assert notice.text == "policy.txt; missing: guide.txt. The text shown is the indexed one."
    assert [step.action for step in notice.steps] == ["reindex-answer"]
    assert actions["reindex-answer"].isEnabled()
    before = shell.session.inquiry.answer.trace
    actions.trigger("reindex-answer")
    wait(lambda: shell.session.inquiry.answer.trace is not before and not shell.session.shelf.work.active)
    wait(lambda: shell.session.shelf.library.notice is None)
    answer = shell.session.inquiry.answer
    assert answer.before is before
    assert answer.trace is not None
    assert not any("red tag" in (traced.candidate.text or "") for traced in answer.trace.candidates)
    assert {traced.freshness for traced in answer.trace.candidates} == {"fresh"}
    assert any("moved guide" in (traced.candidate.doc_id or "") for traced in answer.trace.candidates)
    assert not actions["reindex-answer"].isEnabled()


def test_only_the_file_that_was_asked_for_is_looked_at(shells: ShellMaker, wait: Wait, root: Path) -> None:
    shell = indexed(shells, wait, root)
    (root / "policy.txt").write_text("Something else entirely.")
    (root / "guide.txt").write_text("Another matter.")
    shell.window.library.reindexFileRequested.emit(str(root / "policy.txt"))
    wait(lambda: not shell.session.shelf.work.active and shell.session.shelf.library.counts.get("changed") == 1)
    held = {item.doc_id: item.characters for item in shell.session.shelf.library.documents}
    assert held == {"files/guide.txt": len(GUIDE), "files/policy.txt": len("Something else entirely.")}


def test_a_library_is_kept_up_to_date_while_it_is_open_and_that_is_remembered(
    shells: ShellMaker, wait: Wait, root: Path
) -> None:
    shell = indexed(shells, wait, root)
    page, action = shell.window.library, shell.window.actions_["keep-up-to-date"]
    shell.window.show_page("library")
    assert not page.keep.isChecked()
    page.keep.click()
    assert action.isChecked()
    assert shells.preferences.watches(shells.folder / "own")
    (root / "new.txt").write_text("A lantern hangs in the harbour.")
    wait(lambda: "files/new.txt" in names(shell))
    (root / "guide.txt").unlink()
    wait(lambda: "files/guide.txt" not in names(shell))
    shell.window.close()
    (root / "closed.txt").write_text("Written while nobody looked.")
    again = shells.shell()
    again.session.open_library(shells.folder / "own")
    again.session.start_model()
    wait(lambda: "files/closed.txt" in names(again))
    assert again.window.actions_["keep-up-to-date"].isChecked()
    again.window.actions_.trigger("keep-up-to-date")
    assert not again.window.library.keep.isChecked()
    (root / "late.txt").write_text("Too late.")
    wait(lambda: not again.session._crew.watching.running)
    assert "files/late.txt" not in names(again)


def test_states_are_listed_filtered_and_tried_again(shells: ShellMaker, wait: Wait, root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n")
    (root / "a.log").write_text("x")
    (root / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 64)
    shell = indexed(shells, wait, root)
    page = shell.window.library
    shell.window.show_page("library")
    entries = {page.state.itemData(at): page.state.itemText(at) for at in range(page.state.count())}
    assert entries["excluded"] == "excluded (1)"
    assert entries["unknown_kind"] == f"{STATE_WORDS['unknown_kind']} (1)"
    assert page.model.rowCount() == 4
    page.state.setCurrentIndex(page.state.findData("excluded"))
    assert page.model.rowCount() == 1
    page.table.selectRow(0)
    assert page._reason.text() == "by .gitignore: *.log"
    assert not page._read.isEnabled()
    page.state.setCurrentIndex(page.state.findData("failed"))
    assert page.model.document(0).doc_id == "files/broken.pdf"
    assert page._retry.text() == "Read 1 failed file again"
    (root / "broken.pdf").unlink()
    page._retry.click()
    wait(lambda: "files/broken.pdf" not in names(shell))
    assert page._retry.isHidden()


def test_a_damaged_library_is_kept_aside_and_rebuilt(shells: ShellMaker, wait: Wait, root: Path) -> None:
    shell = indexed(shells, wait, root)
    folder = shells.folder / "own"
    shell.window.close()
    data = bytearray((folder / "library.sqlite3").read_bytes())
    data[:100] = b"\0" * 100
    (folder / "library.sqlite3").write_bytes(data)
    again = shells.shell()
    again.session.open_library(folder)
    again.session.start_model()
    wait(lambda: again.session.shelf.library.phase == "failed")
    problem = again.session.shelf.library.problem
    assert problem is not None
    assert problem.steps[0].action == "rebuild-library"
    wait(lambda: again.session.model.phase == "ready")
    again.window.actions_.trigger("rebuild-library")
    wait(lambda: len(again.session.shelf.library.documents) == 2 and not again.session.shelf.work.active)
    assert shells.answers.asked[-1] == "Rebuild the library?"
    (aside,) = [path for path in folder.iterdir() if ".aside " in path.name]
    assert aside.read_bytes() == bytes(data)
    ask(again, "damaged item red tag", wait)
    assert again.session.inquiry.answer.trace is not None


def test_a_library_that_tells_no_folders_asks_for_one(shells: ShellMaker, wait: Wait, root: Path) -> None:
    folder = shells.folder / "own"
    folder.mkdir()
    (folder / "library.sqlite3").write_bytes(b"nonsense" * 900)
    shell = shells.shell()
    shell.session.open_library(folder)
    shell.session.start_model()
    wait(lambda: shell.session.shelf.library.phase == "failed" and shell.session.model.phase == "ready")
    shells.answers.chosen_folder = root
    shell.window.actions_.trigger("rebuild-library")
    wait(lambda: len(shell.session.shelf.library.documents) == 2)
    assert names(shell) == ["files/guide.txt", "files/policy.txt"]
