"""Members whose file is not as it was indexed are marked, and a report is written over no file of the user's."""

from __future__ import annotations

import csv
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.compose import Shell
from app.models.family_members import MemberList
from pipeline.duplicates.freshness import family_with_freshness
from pipeline.duplicates.records import Member
from pipeline.errors import Cancelled
from pipeline.progress import CancelToken
from tests.app.shell import ShellMaker
from tests.app.test_duplicates_page import FILES, Choices, choose, families, settled
from tests.support.duplicate_reports import family, member

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def choices(shells: ShellMaker) -> Choices:
    made = shells.answers = Choices()
    return made


@pytest.fixture
def root(shells: ShellMaker) -> Path:
    return shells.documents(FILES)


@pytest.fixture
def shell(shells: ShellMaker, choices: Choices, root: Path, wait: Wait) -> Iterator[Shell]:
    """A window on a library of these files, its duplicates found, the family of the lease shown."""
    made = shells.shell()
    made.session.start_model()
    made.session.open_library(shells.folder / "library")
    made.session.add_folders((root,))
    wait(lambda: made.session.shelf.library.phase == "open" and not made.session.shelf.work.active)
    wait(lambda: len(made.session.shelf.library.documents) == len(FILES))
    made.window.actions_.trigger("page-duplicates")
    wait(lambda: settled(made))
    choose(made, "docs/old/lease copy.txt")
    return made


def unlike(shell: Shell) -> dict[str, str]:
    """What the rows say of their files, by the file's name."""
    members = shell.window.duplicates.pane.members
    rows = [members.row(at) for at in range(members.rowCount())]
    return {row.name: row.unlike for row in rows if row.unlike}


def activate(shell: Shell) -> None:
    """The user comes back to the window."""
    QApplication.sendEvent(shell.window, QEvent(QEvent.Type.WindowActivate))


# --- files that are not as indexed -----------------------------------------------------------------------------------


def test_a_changed_and_a_missing_file_are_marked_when_the_window_is_looked_at_again(
    shell: Shell, root: Path, wait: Wait
) -> None:
    pane = shell.window.duplicates.pane
    assert unlike(shell) == {}
    (root / "old/lease copy.txt").unlink()
    (root / "old/lease.md").write_text("Something else.")
    assert unlike(shell) == {}
    activate(shell)
    wait(lambda: len(unlike(shell)) == 2)
    assert unlike(shell) == {"lease copy.txt": "its file is gone", "lease.md": "changed since it was indexed"}
    assert "1 file changed since indexing, 1 file gone" in pane.facts.text()
    at = pane.members.row_of("docs/old/lease copy.txt")
    assert at is not None
    assert pane.members.row(at).verdict == "Not proposed: its file is no longer there: index again"
    assert "its file is gone" in pane.members.as_text(at)
    current = pane.current()
    assert current is not None
    assert current.doc_id == "docs/old/lease copy.txt"  # who looks at a row goes on looking at it
    (root / "old/lease copy.txt").write_text(FILES["old/lease copy.txt"])
    activate(shell)
    wait(lambda: unlike(shell)["lease copy.txt"] == "changed since it was indexed")


def test_the_files_are_looked_at_when_a_family_is_opened(shell: Shell, root: Path, wait: Wait) -> None:
    choose(shell, "docs/handbook.txt")
    (root / "old/lease copy.txt").unlink()
    choose(shell, "docs/old/lease copy.txt")
    wait(lambda: unlike(shell) == {"lease copy.txt": "its file is gone"})
    choose(shell, "docs/handbook.txt")
    (root / "handbook.txt").unlink()
    shell.window.show_page("library")
    shell.window.show_page("duplicates")
    wait(lambda: unlike(shell) == {"handbook.txt": "its file is gone"})


def test_only_the_shown_family_is_looked_at_and_never_in_the_window_thread(
    shell: Shell, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    true_stat = os.stat

    def stat(path: object, **how: object) -> os.stat_result:
        if threading.current_thread().name.startswith("twinspect comparing files"):
            looked.append(str(path))
        else:
            assert threading.current_thread() is not threading.main_thread() or "docs" not in str(path)
        return true_stat(path, **how)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr("pipeline.duplicates.freshness.os.stat", stat)
    activate(shell)
    shown = shell.window.duplicates.pane.members.family
    assert shown is not None
    wait(lambda: len(looked) >= len(shown.members))
    assert set(looked) == {each.path for each in shown.members}
    shell.window.show_page("inspector")
    looked.clear()
    activate(shell)
    QApplication.processEvents()
    assert looked == []


def test_a_look_that_is_overtaken_ends_and_shows_nothing(
    shell: Shell, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()
    tokens: list[CancelToken] = []

    def slow(wanted: object, cancel: CancelToken) -> object:
        tokens.append(cancel)
        began.set()
        while True:  # a drive that answers slowly
            cancel.check()

    monkeypatch.setattr("pipeline.duplicates.freshness.family_with_freshness", slow)
    activate(shell)
    wait(began.is_set)
    choose(shell, "docs/handbook.txt")
    wait(lambda: len(tokens) > 1)
    assert tokens[0].cancelled
    shell.window.close()
    assert all(token.cancelled for token in tokens)


def test_a_cancelled_look_at_a_family_ends_at_its_next_file() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        family_with_freshness(family(member("a.txt"), member("b.txt", "identical")), token)


def test_rows_that_changed_are_told_and_the_others_stay(qapp: QApplication) -> None:
    shown = family(member("a.txt"), member("b.txt", "identical"), member("c.txt", "identical"))
    rows = MemberList()
    rows.set_family(shown)
    held = [rows.row(at) for at in range(3)]
    told: list[tuple[int, int]] = []
    rows.dataChanged.connect(lambda first, last: told.append((first.row(), last.row())))
    rows.show_looked_at(shown.members)
    assert told == []
    now: list[Member] = list(family_with_freshness(shown).members)  # there is no /srv/b.txt
    rows.show_looked_at([shown.members[0], now[1], shown.members[2]])
    assert told == [(1, 1)]
    assert [rows.row(at) is held[at] for at in range(3)] == [True, False, True]
    assert rows.family is shown


def test_what_is_proposed_is_left_out_only_while_its_file_is_as_indexed(
    shell: Shell, choices: Choices, root: Path, wait: Wait
) -> None:
    before = {m.doc_id for each in families(shell).values() for m in each.members if m.proposed}
    assert {"docs/old/lease copy.txt", "docs/old/lease.md"} <= before
    (root / "old/lease copy.txt").write_text("Another lease altogether.")
    choices.chosen_option = 0
    shell.window.actions_.trigger("leave-out-proposed")
    wait(lambda: settled(shell) and any(m.left_out for each in families(shell).values() for m in each.members))
    left = {m.doc_id for each in families(shell).values() for m in each.members if m.left_out}
    assert "docs/old/lease.md" in left
    assert "docs/old/lease copy.txt" not in left


def test_where_no_proposed_file_is_as_indexed_nothing_is_left_out(
    shell: Shell, choices: Choices, root: Path, wait: Wait
) -> None:
    (root / "lease.txt").unlink()  # the head: nothing is let go for its sake
    shell.window.actions_.trigger("leave-out-proposed")
    wait(lambda: "not as indexed any more" in shell.window.status.said)
    assert choices.dialogs == []
    assert shell.duplicates.deciding.state.counts.get("left_out", 0) == 0


# --- where a report may be written ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action", ["save-duplicates-html", "save-duplicates-csv", "save-pairs-csv", "save-duplicates-json"]
)
def test_a_report_is_never_written_over_a_document(
    shell: Shell, choices: Choices, root: Path, wait: Wait, action: str
) -> None:
    choices.chosen_file = root / "lease.txt"
    shell.window.actions_.trigger(action)
    wait(lambda: shell.duplicates.scanning.state.notice is not None)
    notice = shell.duplicates.scanning.state.notice
    assert notice is not None
    assert notice.title == "Nothing was saved"
    assert "is there already and lies in" in notice.text
    assert [step.action for step in notice.steps] == [action]
    assert (root / "lease.txt").read_text() == FILES["lease.txt"]
    choices.chosen_file = root.parent / "report.out"
    shell.window.actions_.trigger(action)
    wait(lambda: shell.window.status.said.startswith("Saved"))
    assert shell.duplicates.scanning.state.notice is None


def test_neither_through_a_link_nor_by_the_export_of_decisions(
    shell: Shell, choices: Choices, root: Path, wait: Wait
) -> None:
    link = root.parent / "report.json"
    link.symlink_to(root / "alone.txt")
    choices.chosen_file = link
    for action in ("save-duplicates-json", "export-decisions"):
        shell.duplicates.scanning.notice(None)
        shell.window.actions_[action].setEnabled(True)
        shell.window.actions_.trigger(action)
        wait(lambda: shell.duplicates.scanning.state.notice is not None)
        assert shell.duplicates.scanning.state.notice.title == "Nothing was saved"  # type: ignore[union-attr]
    assert (root / "alone.txt").read_text() == FILES["alone.txt"]


def test_a_name_without_its_suffix_is_asked_about_where_that_file_is_there(
    shell: Shell, choices: Choices, tmp_path: Path, wait: Wait
) -> None:
    (tmp_path / "report.csv").write_text("mine")
    choices.chosen_file, choices.confirms = tmp_path / "report", False
    shell.window.actions_.trigger("save-duplicates-csv")
    assert choices.asked[-1] == "“report.csv” is there already"
    assert (tmp_path / "report.csv").read_text() == "mine"
    choices.confirms = True
    shell.window.actions_.trigger("save-duplicates-csv")
    wait(lambda: shell.window.status.said.startswith("Saved"))
    assert "lease" in (tmp_path / "report.csv").read_text("utf-8")


def test_a_saved_report_tells_which_files_are_not_as_indexed(
    shell: Shell, choices: Choices, root: Path, tmp_path: Path, wait: Wait
) -> None:
    (root / "old/lease copy.txt").unlink()
    choices.chosen_file = tmp_path / "report.csv"
    shell.window.actions_.trigger("save-duplicates-csv")
    wait(lambda: shell.window.status.said.startswith("Saved"))
    with (tmp_path / "report.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["document"]: row for row in csv.DictReader(file)}
    assert rows["docs/old/lease copy.txt"]["on_disk"] == "missing"
    assert rows["docs/old/lease copy.txt"]["proposed"] == ""
    assert rows["docs/old/lease.md"]["on_disk"] == "fresh"


def test_no_export_of_an_answer_is_written_over_a_document(
    shell: Shell, choices: Choices, root: Path, wait: Wait
) -> None:
    shell.session.inquiry.ask("rafts clean and dry red tag")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    choices.chosen_file = root / "alone.txt"
    for action in ("export-trace", "export-page", "save-picture"):
        shell.window.status.say("")
        shell.window.actions_.trigger(action)
        assert "a folder of the library" in shell.window.status.said
        assert (root / "alone.txt").read_text() == FILES["alone.txt"]
    choices.chosen_file = root / "new trace.json"  # nothing is lost by a new file
    shell.window.actions_.trigger("export-trace")
    assert (root / "new trace.json").exists()
