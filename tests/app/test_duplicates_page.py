"""The Duplicates page as a curator uses it: a real library, a real scan, real decisions, real files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from app.compose import Shell
from app.views.duplicates_settings import LEAST_CONTAINED, LEAST_NEAR, DuplicateSettingsDialog
from app.views.trash_dialog import ListingDialog
from pipeline.duplicates.records import Family, Member
from tests.app.shell import Answers, ShellMaker

Wait = Callable[[Callable[[], object]], None]

LEASE = "\n\n".join(
    f"Clause {name}. The tenant keeps the {name} in good order, pays for what is broken, and tells the owner in "
    f"writing within a week when the {name} has to be repaired by somebody who knows how."
    for name in ("roof", "boiler", "garden", "cellar", "stairs", "windows", "gate", "well")
)
LEASE += "\n\nThe rent is 1,200 pounds a month, due on the first."
HANDBOOK = "\n\n".join(
    f"Chapter on {name}. Whoever hires the {name} brings it back clean and dry, hands in the red tag at the desk, and "
    f"signs for every part of the {name} that is missing from its bag."
    for name in ("rafts", "tents", "stoves", "ropes", "maps", "lamps", "oars", "pumps", "paddles", "helmets")
)
FILES = {
    "lease.txt": LEASE,
    "old/lease copy.txt": LEASE,
    "old/lease.md": LEASE.replace(" ", "\n", 1),
    "old/lease 2019.txt": LEASE.replace("1,200", "1,100"),
    "handbook.txt": HANDBOOK,
    "old/handbook, chapters 3 to 5.txt": "\n\n".join(HANDBOOK.split("\n\n")[2:5]),
    "alone.txt": "Nothing else in this library says a word about the lighthouse, its keeper or his dog.",
}


class Choices(Answers):
    """The dialogs of this page, too: each is looked at by `look` and answered with `accepts`."""

    def __init__(self) -> None:
        super().__init__()
        self.accepts = True
        self.typed: str | None = "a note"
        self.chosen_option: int | None = 0
        self.dialogs: list[tuple[str, list[str]]] = []
        self.look: Callable[[QDialog], object] = lambda dialog: None

    def ask(self, dialog: QDialog) -> bool:
        if isinstance(dialog, ListingDialog):
            tops = [dialog.tree.topLevelItem(at) for at in range(dialog.tree.topLevelItemCount())]
            lines = [top.text(0) for top in tops] + [
                top.child(row).text(0) for top in tops for row in range(top.childCount())
            ]
            self.dialogs.append((dialog.tree.accessibleName(), lines))
        self.look(dialog)
        return self.accepts

    def text(self, title: str, label: str, text: str) -> str | None:
        self.asked.append(label)
        return self.typed

    def open_file(self, title: str, kinds: str) -> Path | None:
        return self.chosen_file

    def choose(self, title: str, text: str, options: tuple[str, ...]) -> int | None:
        self.asked.append(title)
        return self.chosen_option


@pytest.fixture
def choices(shells: ShellMaker) -> Choices:
    made = shells.answers = Choices()
    return made


@pytest.fixture
def shell(shells: ShellMaker, choices: Choices, wait: Wait) -> Iterator[Shell]:
    """A window on a library of the files above, its duplicates found."""
    made = shells.shell()
    made.session.start_model()
    made.session.open_library(shells.folder / "library")
    made.session.add_folders((shells.documents(FILES),))
    wait(lambda: made.session.shelf.library.phase == "open" and not made.session.shelf.work.active)
    wait(lambda: len(made.session.shelf.library.documents) == len(FILES))
    made.window.actions_.trigger("page-duplicates")
    wait(lambda: settled(made))
    return made


def settled(shell: Shell) -> bool:
    state = shell.duplicates.scanning.state
    base = shell.duplicates.scanning.base
    return (
        state.phase == "scanned"
        and not state.measuring
        and not state.narrowing
        and not state.working
        and base is not None
        and (base.cost is not None or not base.families)
    )


def families(shell: Shell) -> dict[str, Family]:
    """By the head's name."""
    return {row.family.head.doc_id.rsplit("/", 1)[-1]: row.family for row in shell.duplicates.scanning.state.rows}


def members(shell: Shell) -> dict[str, Member]:
    return {m.doc_id: m for family in families(shell).values() for m in family.members}


def choose(shell: Shell, *doc_ids: str) -> None:
    """Select these members of their family."""
    page = shell.window.duplicates
    page.show_family_of(doc_ids[0])
    rows = [page.pane.members.row_of(doc_id) for doc_id in doc_ids]
    page.pane.list.choose_rows(row for row in rows if row is not None)


def journal(shell: Shell) -> list[tuple[str, str]]:
    return [(entry.what, entry.name) for entry in shell.duplicates.deciding.state.journal]


# --- looking -------------------------------------------------------------------------------------------------------


def test_a_small_library_is_looked_at_when_the_page_is_seen(shell: Shell) -> None:
    held = families(shell)
    lease = next(family for family in held.values() if any("lease.txt" in m.doc_id for m in family.members))
    assert {m.doc_id.removeprefix("docs/") for m in lease.members} == {
        "lease.txt",
        "old/lease copy.txt",
        "old/lease.md",
        "old/lease 2019.txt",
    }
    tiers = {m.doc_id: m.tier for m in lease.members}
    assert sorted(filter(None, tiers.values())) == ["identical", "near", "same_text"]
    assert not any("alone" in doc_id for doc_id in members(shell))
    page = shell.window.duplicates
    assert page.model.rowCount() == len(held) == 2
    assert "4 of 7 documents are copies or versions of others" in page._totals.text()
    assert "first places" in page._totals.text()


def test_a_changed_number_is_told_and_never_proposed(shell: Shell) -> None:
    changed = members(shell)["docs/old/lease 2019.txt"]
    assert not changed.proposed
    assert ("1,200", "1,100") in {(word.in_head, word.in_member) for word in changed.weighty}
    choose(shell, "docs/old/lease 2019.txt")
    shown = shell.window.duplicates.pane.members
    row = shown.row_of("docs/old/lease 2019.txt")
    assert row is not None
    assert "number" in shown.as_text(row)
    assert "“1,100” here, “1,200” in the head" in shown.as_text(row)


def test_side_by_side_folds_what_is_common_and_marks_what_matters(shell: Shell, wait: Wait, qtbot: QtBot) -> None:
    choose(shell, "docs/old/lease 2019.txt")
    compare = shell.window.duplicates.pane.compare
    wait(lambda: compare.rows.rows)
    weighty = [part.text for row in compare.rows.rows for part in (*row.left, *row.right) if part.kind == "weighty"]
    assert weighty == ["1,200", "1,100"]
    folds = [at for at, row in enumerate(compare.rows.rows) if row.kind == "fold"]
    assert folds
    before = len(compare.rows.rows)
    compare.list.choose(folds[-1])
    qtbot.keyClick(compare.list, Qt.Key.Key_Space)
    assert len(compare.rows.rows) > before
    qtbot.keyClick(compare.list, Qt.Key.Key_Return)
    assert len(compare.rows.rows) == before


def test_every_state_is_said(shells: ShellMaker, choices: Choices, wait: Wait) -> None:
    made = shells.shell()
    made.window.show_page("duplicates")
    panel = made.window.duplicates.panel
    assert panel.shown is not None
    assert panel.shown.title == "No library is open"
    made.session.open_library(shells.folder / "new")
    assert panel.shown.title == "No documents with text"
    made.session.start_model()
    made.session.open_library(shells.library({"a.txt": "one thing", "b.txt": "another matter"}, "two"))
    wait(lambda: made.duplicates.scanning.state.phase == "scanned")
    assert panel.shown.title == "No duplicates found"
    assert "2 documents" in panel.shown.text
    assert panel.isVisible()


def test_a_scan_that_fails_says_so_and_can_be_tried_again(
    shells: ShellMaker, choices: Choices, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.duplicates import scan
    from pipeline.errors import LibraryError

    real = scan.scan_library

    def fails(*given: object, **named: object) -> object:
        raise LibraryError("the disk is gone")

    monkeypatch.setattr(scan, "scan_library", fails)
    made = shells.shell()
    made.session.open_library(shells.library())
    wait(lambda: made.session.shelf.library.phase == "open")
    made.window.show_page("duplicates")
    wait(lambda: made.duplicates.scanning.state.phase == "failed")
    panel = made.window.duplicates.panel
    assert panel.shown is not None
    assert "the disk is gone" in panel.shown.text
    assert panel.shown.steps[0].action == "scan-duplicates"
    monkeypatch.setattr(scan, "scan_library", real)
    panel.stepChosen.emit("scan-duplicates")
    wait(lambda: made.duplicates.scanning.state.phase == "scanned")


def test_a_scan_is_cancelled_and_closing_does_not_wait_for_it(
    shells: ShellMaker, choices: Choices, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.duplicates import scan

    started: list[object] = []

    def endless(*given: object, cancel: object, **named: object) -> object:
        started.append(cancel)
        while True:
            cancel.check()  # type: ignore[attr-defined]

    monkeypatch.setattr(scan, "scan_library", endless)
    made = shells.shell()
    made.session.open_library(shells.library())
    wait(lambda: made.session.shelf.library.phase == "open")
    made.window.show_page("duplicates")
    wait(lambda: started)
    assert made.window.actions_["cancel-scan"].isEnabled()
    made.window.actions_.trigger("cancel-scan")
    wait(lambda: made.duplicates.scanning.state.phase == "not_scanned")
    made.window.actions_.trigger("scan-duplicates")
    wait(lambda: len(started) == 2)
    assert made.session._crew._lanes
    made.window.close()
    assert made.session._crew._lanes["looking for duplicates"].join(2)


def test_families_found_so_far_are_listed_while_the_scan_runs(
    shells: ShellMaker, choices: Choices, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from app.features import duplicates_scan
    from pipeline.duplicates import scan
    from tests.support.duplicate_reports import small_report

    monkeypatch.setattr(duplicates_scan, "LIST_SECONDS", 0.0)
    report, go_on = small_report(), threading.Event()

    def slow(*given: object, on_families: Callable[..., None], **named: object) -> object:
        on_families(report.families[:1])
        go_on.wait(10)
        return report

    monkeypatch.setattr(scan, "scan_library", slow)
    made = shells.shell()
    made.session.open_library(shells.library())
    wait(lambda: made.session.shelf.library.phase == "open")
    made.window.show_page("duplicates")
    page = made.window.duplicates
    wait(lambda: page.model.rowCount() == 1)
    assert made.duplicates.scanning.state.phase == "scanning"
    assert not made.window.actions_["leave-out-copies"].isEnabled()  # nothing is decided about half a report
    go_on.set()
    wait(lambda: page.model.rowCount() == 2)


def test_after_indexing_the_library_is_looked_at_again(shell: Shell, shells: ShellMaker, wait: Wait) -> None:
    before = len(members(shell))
    shells.documents({"new/lease again.txt": LEASE})
    shell.session.reindex()
    wait(lambda: shell.session.shelf.work.phase == "done")
    wait(lambda: settled(shell) and len(members(shell)) == before + 1)
    assert not shell.duplicates.scanning.state.stale


def test_what_is_stale_is_said_where_looking_again_is_not_cheap(
    shell: Shell, shells: ShellMaker, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.features import duplicates_scan

    monkeypatch.setattr(duplicates_scan, "CHEAP_DOCUMENTS", 0)
    shells.documents({"new/lease again.txt": LEASE})
    shell.session.reindex()
    wait(lambda: shell.session.shelf.work.phase == "done" and shell.duplicates.scanning.state.stale)
    page = shell.window.duplicates
    assert page._notice.isVisible()
    page._notice.stepChosen.emit("scan-duplicates")
    wait(lambda: settled(shell) and "docs/new/lease again.txt" in members(shell))
    assert not page._notice.isVisible()


# --- filters -------------------------------------------------------------------------------------------------------


def test_filters_narrow_the_list(shell: Shell, wait: Wait) -> None:
    page = shell.window.duplicates
    page.filters.text.setText("chapters")
    wait(lambda: page.model.rowCount() == 1)
    assert "handbook" in page.model.shown[0].searched
    assert "1 of 2 families" in page._shown.text()
    page.filters.clear()
    page.filters.tier.setCurrentIndex(page.filters.tier.findData("contained"))
    assert page.model.rowCount() == 1
    page.filters.tier.setCurrentIndex(0)
    page.filters.proposed.setChecked(True)
    assert all(row.proposed for row in page.model.shown)
    page.filters.text.setText("no such name")
    wait(lambda: page.model.rowCount() == 0)
    assert "no family fits" in page._shown.text()
    assert page.pane.members.rowCount() == 0


def test_similarity_is_raised_without_a_new_scan(shell: Shell, wait: Wait, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline.duplicates import scan

    monkeypatch.setattr(scan, "scan_library", None)  # nobody may call it
    page = shell.window.duplicates
    page.filters.similarity.setValue(100)
    wait(lambda: settled(shell) and "docs/old/lease 2019.txt" not in members(shell))
    assert "docs/old/lease copy.txt" in members(shell)
    page.filters.similarity.setValue(page.filters.similarity.minimum())
    wait(lambda: settled(shell) and "docs/old/lease 2019.txt" in members(shell))


def test_the_rule_for_heads_is_a_setting(shell: Shell, choices: Choices, wait: Wait) -> None:
    def shortest(dialog: QDialog) -> None:
        assert isinstance(dialog, DuplicateSettingsDialog)
        dialog.head.setCurrentIndex(dialog.head.findData("shortest_path"))

    choices.look = shortest
    shell.window.actions_.trigger("duplicate-settings")
    wait(lambda: settled(shell) and shell.duplicates.scanning.state.report.settings.head == "shortest_path")  # type: ignore[union-attr]
    assert "lease.txt" in families(shell)


def test_thresholds_that_can_be_set_are_those_that_a_scan_keeps() -> None:
    from pipeline.duplicates import ground

    near = LEAST_NEAR / 100
    assert LEAST_CONTAINED / 100 >= ground.LEAST_SHARED
    assert 2 * near / (1 + near) >= ground.LEAST_SHARED  # of two that share so little, the share in the smaller one


# --- deciding ------------------------------------------------------------------------------------------------------


def test_a_preferred_copy_becomes_the_head_and_undo_takes_it_back(shell: Shell, wait: Wait, qtbot: QtBot) -> None:
    choose(shell, "docs/old/lease copy.txt")
    shell.window.duplicates.pane.buttons["prefer-copy"].click()
    wait(lambda: settled(shell) and members(shell)["docs/old/lease copy.txt"].preferred)
    assert members(shell)["docs/old/lease copy.txt"].tier is None
    assert journal(shell)[0] == ("preferred", "docs/old/lease copy.txt")
    undo = shell.window.actions_["undo"]
    assert undo.isEnabled()
    assert "lease copy" in undo.text()
    qtbot.keyClick(shell.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    wait(lambda: settled(shell) and not members(shell)["docs/old/lease copy.txt"].preferred)
    assert "lease copy" in shell.window.actions_["redo"].text()
    shell.window.actions_.trigger("redo")
    wait(lambda: settled(shell) and members(shell)["docs/old/lease copy.txt"].preferred)


def test_undo_on_this_page_leaves_the_question_alone(shell: Shell, wait: Wait) -> None:
    shell.session.inquiry.change_setting("return-n", 3)
    assert not shell.window.actions_["undo"].isEnabled()  # nothing was decided here
    shell.window.show_page("inspector")
    assert shell.window.actions_["undo"].isEnabled()
    shell.window.show_page("duplicates")
    assert not shell.window.actions_["undo"].isEnabled()


def test_a_copy_is_left_out_of_searches_and_taken_back(shell: Shell, choices: Choices, wait: Wait) -> None:
    shell.session.inquiry.ask("tenant boiler repaired")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    choose(shell, "docs/old/lease copy.txt")
    shell.window.actions_.trigger("leave-out-copies")
    wait(lambda: settled(shell) and members(shell)["docs/old/lease copy.txt"].left_out)
    assert choices.dialogs == []  # nothing is lost, so nothing is asked
    wait(lambda: "docs/old/lease copy.txt" not in cited(shell))
    choose(shell, "docs/old/lease copy.txt")
    assert "Take back" in shell.window.actions_["leave-out-copies"].text()
    shell.window.actions_.trigger("leave-out-copies")
    wait(lambda: settled(shell) and not members(shell)["docs/old/lease copy.txt"].left_out)
    wait(lambda: "docs/old/lease copy.txt" in cited(shell))


def cited(shell: Shell) -> set[str]:
    answer = shell.session.inquiry.answer
    if answer.phase != "answered" or answer.trace is None:
        return set()
    return {place.doc_id for block in answer.trace.evidence for place in block.citations}


def test_what_would_be_lost_is_listed_before_it_is_left_out(shell: Shell, choices: Choices, wait: Wait) -> None:
    choices.accepts = False
    choose(shell, "docs/old/lease 2019.txt")
    shell.window.actions_.trigger("leave-out-copies")
    wait(lambda: choices.dialogs)
    title, lines = choices.dialogs[0]
    assert title == "Leave 1 document out of searches?"
    assert "1 passage no search would find any more" in lines
    wait(lambda: settled(shell))
    assert not members(shell)["docs/old/lease 2019.txt"].left_out  # the user said no
    assert journal(shell) == []


def test_all_that_is_proposed_is_left_out_by_rule(shell: Shell, choices: Choices, wait: Wait) -> None:
    proposed = {doc_id for doc_id, member in members(shell).items() if member.proposed}
    assert "docs/old/lease copy.txt" in proposed or "docs/lease.txt" in proposed
    page = shell.window.duplicates
    page.list.selectAll()
    assert shell.window.actions_["leave-out-proposed"].isEnabled()
    shell.window.actions_.trigger("leave-out-proposed")
    wait(lambda: settled(shell) and {d for d, m in members(shell).items() if m.left_out} == proposed)
    assert len(choices.dialogs) == 1
    heads = [family.head for family in families(shell).values() if any(m.left_out for m in family.members)]
    assert all(head.preferred for head in heads)
    shell.window.actions_.trigger("undo")  # all of it at once
    wait(lambda: settled(shell) and not any(m.left_out or m.preferred for m in members(shell).values()))


def test_a_set_said_to_be_no_duplicates_is_gone_until_a_new_member_comes(
    shell: Shell, shells: ShellMaker, wait: Wait
) -> None:
    page = shell.window.duplicates
    page.show_family_of("docs/handbook.txt")
    shell.window.actions_.trigger("not-duplicates")
    wait(lambda: settled(shell) and "docs/handbook.txt" not in members(shell))
    assert "1 set said to be no duplicates is not listed" in page._totals.text()
    shells.documents({"new/handbook.txt": HANDBOOK + "\n\nAn appendix on lanterns."})
    shell.session.reindex()
    wait(lambda: shell.session.shelf.work.phase == "done")
    wait(lambda: settled(shell) and "docs/new/handbook.txt" in members(shell))


def test_a_note_stays_with_the_document(shell: Shell, choices: Choices, wait: Wait) -> None:
    choices.typed = "ask Ann\nfirst"
    choose(shell, "docs/old/lease.md")
    shell.window.duplicates.pane.buttons["note-copy"].click()
    wait(lambda: settled(shell) and members(shell)["docs/old/lease.md"].note == "ask Ann\nfirst")
    pane = shell.window.duplicates.pane
    row = pane.members.row_of("docs/old/lease.md")
    assert row is not None
    assert "Note: ask Ann first" in pane.members.as_text(row)
    choices.typed = ""
    choose(shell, "docs/old/lease.md")
    pane.buttons["note-copy"].click()
    wait(lambda: settled(shell) and not members(shell)["docs/old/lease.md"].note)


def test_nothing_in_a_protected_folder_is_proposed(shell: Shell, wait: Wait) -> None:
    page = shell.window.duplicates
    page.tabs.setCurrentIndex(1)
    folders = page.beside.folders
    row = next(at for at, one in enumerate(page.beside.folders_model.rows) if one.share.folder == "docs/old")
    folders.table.choose([row])
    page.beside.protect.click()
    wait(lambda: settled(shell) and members(shell)["docs/old/lease copy.txt"].protected)
    assert not any(m.proposed for m in members(shell).values() if "/old/" in m.doc_id)
    row = next(at for at, one in enumerate(page.beside.folders_model.rows) if one.share.folder == "docs/old")
    assert page.beside.folders_model.rows[row].protected == "protected"
    folders.table.choose([row])
    assert page.beside.protect.text() == "Stop protecting"
    page.beside.protect.click()
    wait(lambda: settled(shell) and not members(shell)["docs/old/lease copy.txt"].protected)


def test_a_folder_leads_to_its_families_and_is_decided_about_as_a_whole(
    shell: Shell, choices: Choices, wait: Wait
) -> None:
    page = shell.window.duplicates
    inside = {d for d, m in members(shell).items() if m.proposed and d.startswith("docs/old/")}
    page.tabs.setCurrentIndex(1)
    row = next(at for at, one in enumerate(page.beside.folders_model.rows) if one.share.folder == "docs/old")
    page.beside.folders.table.choose([row])
    page.beside.leave_out.click()
    wait(lambda: settled(shell) and {d for d, m in members(shell).items() if m.left_out} == inside)
    page.beside.folders.table.choose([row])
    page.beside.show_families.click()
    assert page.tabs.currentIndex() == 0
    assert page.model.filter.folder == "docs/old"


def test_decisions_are_carried_out_and_in(shell: Shell, choices: Choices, wait: Wait, tmp_path: Path) -> None:
    choose(shell, "docs/old/lease copy.txt")
    shell.window.actions_.trigger("prefer-copy")
    wait(lambda: settled(shell) and members(shell)["docs/old/lease copy.txt"].preferred)
    choices.typed = "theirs"
    choose(shell, "docs/old/lease.md")
    shell.window.actions_.trigger("note-copy")
    wait(lambda: settled(shell) and members(shell)["docs/old/lease.md"].note == "theirs")
    choices.chosen_file = tmp_path / "decisions"
    shell.window.actions_.trigger("export-decisions")
    wait((tmp_path / "decisions.json").exists)
    choices.typed = "ours"
    choose(shell, "docs/old/lease.md")
    shell.window.actions_.trigger("note-copy")
    wait(lambda: settled(shell) and members(shell)["docs/old/lease.md"].note == "ours")
    choices.chosen_file, choices.chosen_option = tmp_path / "decisions.json", 1
    shell.window.actions_.trigger("import-decisions")
    wait(lambda: settled(shell) and members(shell)["docs/old/lease.md"].note == "theirs")
    assert choices.asked[-1] == "This library has decided otherwise"
    choices.chosen_file = tmp_path / "nonsense.json"
    choices.chosen_file.write_text("[]", "utf-8")
    shell.window.actions_.trigger("import-decisions")
    wait(lambda: shell.duplicates.scanning.state.notice is not None)
    assert shell.window.duplicates._notice.isVisible()


def test_where_nothing_can_be_written_nothing_can_be_decided(
    shells: ShellMaker, choices: Choices, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = shells.library({f"{name}.txt": LEASE for name in ("a", "b")})
    real = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode, **how: False if Path(path) == library else real(path, mode, **how)
    )
    made = shells.shell()
    made.session.open_library(library)
    made.window.show_page("duplicates")
    wait(lambda: made.duplicates.scanning.state.phase == "scanned")
    page = made.window.duplicates
    assert page.model.rowCount() == 1
    assert page._notice.isVisible()
    assert "cannot be written to" in page._notice._text.text()
    for action in ("prefer-copy", "leave-out-copies", "not-duplicates", "trash-copies", "import-decisions"):
        assert not made.window.actions_[action].isEnabled(), action


# --- files ---------------------------------------------------------------------------------------------------------


def test_a_copy_goes_to_the_trash_and_the_library_follows(
    shell: Shell, choices: Choices, shells: ShellMaker, wait: Wait
) -> None:
    file = shells.folder / "docs" / "old" / "lease copy.txt"
    choose(shell, "docs/old/lease copy.txt")
    shell.window.duplicates.pane.buttons["trash-copies"].click()
    wait(lambda: len(choices.dialogs) == 2)
    (asked, lines), (told, _) = choices.dialogs
    assert asked.startswith("Move 1 file (")
    assert "1 file will be moved" in lines
    assert "lease copy.txt" in lines
    assert told == "1 file moved to the trash"
    assert not file.exists()
    wait(lambda: settled(shell) and "docs/old/lease copy.txt" not in members(shell))
    assert journal(shell)[0] == ("trashed", "docs/old/lease copy.txt")
    page = shell.window.duplicates
    page.tabs.setCurrentIndex(4)
    assert "moved to the trash" in page.beside.journal_model.index(0, 1).data()


def test_a_last_copy_goes_only_when_its_sentence_is_ticked(
    shell: Shell, choices: Choices, shells: ShellMaker, wait: Wait
) -> None:
    seen: list[tuple[bool, str, bool]] = []

    def look(dialog: QDialog) -> None:
        assert isinstance(dialog, ListingDialog)
        if dialog.accept_button is not None:
            seen.append(
                (dialog.tick.isVisibleTo(dialog), dialog.accept_button.text(), dialog.accept_button.isEnabled())
            )
            dialog.tick.setChecked(True)
            seen.append((True, dialog.accept_button.text(), dialog.accept_button.isEnabled()))

    choices.look, choices.accepts = look, False
    choose(shell, "docs/old/lease 2019.txt")
    shell.window.actions_.trigger("trash-copies")
    wait(lambda: len(seen) == 2)
    assert seen[0] == (True, "Move to the trash", False)
    assert seen[1] == (True, "Move 1 file to the trash", True)
    assert "1 passage would stand in no other document that searches find" in choices.dialogs[0][1]
    assert (shells.folder / "docs" / "old" / "lease 2019.txt").exists()


def test_a_file_that_changed_stays_and_it_is_said(
    shell: Shell, choices: Choices, shells: ShellMaker, wait: Wait
) -> None:
    file = shells.folder / "docs" / "old" / "lease copy.txt"
    file.write_text(LEASE + "\n\nA clause that nobody else has.", "utf-8")
    choose(shell, "docs/old/lease copy.txt")
    shell.window.actions_.trigger("trash-copies")
    wait(lambda: choices.dialogs)
    assert choices.dialogs[0][0] == "No file can go"
    assert "1 file stays where it is" in choices.dialogs[0][1]
    wait(lambda: not shell.duplicates.trashing.busy)
    assert file.exists()


# --- reports -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "suffix", "holds"),
    [
        ("save-duplicates-html", ".html", "<h1>Duplicates</h1>"),
        ("save-duplicates-csv", ".csv", "docs/old/lease copy.txt"),
        ("save-pairs-csv", ".csv", "duplicate,head"),
        ("save-duplicates-json", ".json", '"families"'),
    ],
)
def test_reports_are_saved(
    shell: Shell, choices: Choices, wait: Wait, tmp_path: Path, action: str, suffix: str, holds: str
) -> None:
    choices.chosen_file = tmp_path / "report"
    shell.window.actions_.trigger(action)
    file = tmp_path / f"report{suffix}"
    wait(lambda: file.exists() and file.stat().st_size and shell.window.status.said.startswith("Saved"))
    text = file.read_text("utf-8-sig")
    assert holds in text
    if suffix == ".json":
        assert len(json.loads(text)["families"]) == 2


def test_a_report_that_cannot_be_written_is_told(shell: Shell, choices: Choices, wait: Wait, tmp_path: Path) -> None:
    choices.chosen_file = tmp_path / "no such folder" / "report.html"
    shell.window.actions_.trigger("save-duplicates-html")
    wait(lambda: "could not be written" in shell.window.status.said)


# --- to and fro ----------------------------------------------------------------------------------------------------


def test_a_row_of_an_answer_leads_to_its_family_and_back(shell: Shell, wait: Wait) -> None:
    shell.window.show_page("inspector")
    shell.session.inquiry.ask("rafts clean and dry red tag")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    shell.window.inspector.lanes.familyRequested.emit("docs/handbook.txt")
    page = shell.window.duplicates
    assert shell.window.page == "duplicates"
    current = page.current_row()
    assert current is not None
    assert "docs/handbook.txt" in {m.doc_id for m in current.family.members}
    assert page.pane.current() is not None
    assert page.pane.current().doc_id == "docs/handbook.txt"  # type: ignore[union-attr]
    page.searchRequested.emit("docs/handbook.txt")
    wait(lambda: shell.window.page == "inspector")
    wait(lambda: shell.session.inquiry.answer.question.startswith("Chapter on rafts."))
    page.libraryRequested.emit("docs/old/lease copy.txt")
    assert shell.window.page == "library"
    document = shell.window.library.current_document()
    assert document is not None
    assert document.doc_id == "docs/old/lease copy.txt"
    shell.window.actions_.trigger("show-family")
    assert page.pane.current().doc_id == "docs/old/lease copy.txt"  # type: ignore[union-attr]


def test_a_document_without_family_is_told_of(shell: Shell, wait: Wait) -> None:
    shell.duplicates.ways.show_family("docs/alone.txt")
    assert "is no copy" in shell.window.status.said


def test_a_filter_never_hides_the_family_that_is_asked_for(shell: Shell, wait: Wait) -> None:
    page = shell.window.duplicates
    page.filters.text.setText("handbook")
    wait(lambda: page.model.rowCount() == 1)
    shell.duplicates.ways.show_family("docs/lease.txt")
    assert page.pane.current() is not None
    assert page.pane.current().doc_id == "docs/lease.txt"  # type: ignore[union-attr]


# --- the keyboard --------------------------------------------------------------------------------------------------


def test_everything_is_reached_by_keyboard(shell: Shell, qtbot: QtBot) -> None:
    page = shell.window.duplicates
    page.list.setFocus()
    assert page.list.hasFocus()
    qtbot.keyClick(page.list, Qt.Key.Key_Home)
    first = page.current_row()
    qtbot.keyClick(page.list, Qt.Key.Key_Down)
    assert page.current_row() != first
    qtbot.keyClick(page.list, Qt.Key.Key_Right)
    assert page.pane.list.hasFocus()
    qtbot.keyClick(page.pane.list, Qt.Key.Key_Left)
    assert page.list.hasFocus()
    qtbot.keyClick(page.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert "documents" in QApplication.clipboard().text()


def test_what_was_decided_elsewhere_is_seen_when_the_page_is(shell: Shell, shells: ShellMaker, wait: Wait) -> None:
    from pipeline.duplicates.deciding import decide_documents

    shell.window.show_page("inspector")
    decide_documents(shells.folder / "library", "left_out", ["docs/old/lease copy.txt"])
    assert not members(shell)["docs/old/lease copy.txt"].left_out
    shell.window.show_page("duplicates")
    wait(lambda: settled(shell) and members(shell)["docs/old/lease copy.txt"].left_out)
    assert "lease copy" in shell.window.actions_["undo"].text()


def test_every_row_with_a_document_offers_its_family(shell: Shell, wait: Wait) -> None:
    from app.models.rows import Role
    from app.views.lane_menu import Circumstances, LaneMenu

    shell.window.show_page("inspector")
    shell.session.inquiry.ask("tenant boiler repaired")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    lanes = shell.window.inspector.lanes
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    seen: list[str] = []
    lanes.familyRequested.connect(seen.append)
    for number, lane in enumerate(lanes._lists[:2]):
        index = lane.model().index(0, 0)
        menu = LaneMenu(index, Circumstances(trace), shell.window.duplicates._theme)
        menu.picked.connect(lambda what, argument, number=number: lanes._picked(number, what, argument))
        action = next(action for action in menu.actions() if action.objectName() == "family")
        action.trigger()
        assert seen[-1] == index.data(Role.DOC_ID)
        menu.deleteLater()
    assert shell.window.page == "duplicates"
