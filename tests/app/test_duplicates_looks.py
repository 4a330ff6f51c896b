"""What the Duplicates page and its dialogs offer, say and have room for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from app.compose import Shell
from app.models.family_members import member_row, verdict_words
from app.sample import DOCUMENTS as SAMPLE
from app.views.duplicates_beside import _aside_words
from app.views.duplicates_settings import DuplicateSettingsDialog, Wrapped
from app.views.family_compare import CompareDelegate
from app.views.trash_dialog import _laid_out, trash_dialog
from pipeline.duplicates.records import Boilerplate, DuplicateSettings
from pipeline.duplicates.trash import TrashItem, TrashPlan, TrashRefusal
from tests.app.shell import ShellMaker
from tests.app.test_duplicates_page import FILES, Choices, choose, members, settled

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def choices(shells: ShellMaker) -> Choices:
    made = shells.answers = Choices()
    return made


@pytest.fixture
def shell(shells: ShellMaker, choices: Choices, wait: Wait) -> Shell:
    """A window on a library of the page's files, its duplicates found."""
    made = shells.shell()
    made.session.start_model()
    made.session.open_library(shells.folder / "library")
    made.session.add_folders((shells.documents(FILES),))
    wait(lambda: made.session.shelf.library.phase == "open" and not made.session.shelf.work.active)
    wait(lambda: len(made.session.shelf.library.documents) == len(FILES))
    made.window.actions_.trigger("page-duplicates")
    wait(lambda: settled(made))
    return made


def test_nothing_of_the_sample_is_offered_for_the_trash(shells: ShellMaker, wait: Wait) -> None:
    made = shells.shell()
    made.session.start_model()
    made.session.open_sample()
    wait(lambda: made.session.shelf.library.phase == "open" and not made.session.shelf.work.active)
    wait(lambda: len(made.session.shelf.library.documents) > 40)
    made.window.actions_.trigger("page-duplicates")
    wait(lambda: settled(made))
    page, actions = made.window.duplicates, made.window.actions_
    page.list.selectAll()
    row = next(row for row in page.model.shown if row.proposed)
    choose(made, next(member.doc_id for member in row.family.members if member.proposed))
    assert actions["leave-out-proposed"].isEnabled()  # there is something to decide about
    for action, button in (
        ("trash-copies", page.pane.buttons["trash-copies"]),
        ("trash-proposed", page._family_buttons["trash-proposed"]),
    ):
        assert not actions[action].isEnabled()
        assert not button.isEnabled()
        assert button.toolTip() == "The sample is as it is: its files belong to the program."
    assert "its files belong to the program" in page._totals.text()
    made.duplicates.choices._trash([member.doc_id for member in row.family.members])
    assert not made.duplicates.trashing.busy
    assert SAMPLE.is_dir()


def guarded(shell: Shell) -> dict[str, bool]:
    """The protected folders of the Folders tab, and whether they have listed duplicates."""
    rows = shell.window.duplicates.beside.folders_model.rows
    return {row.share.folder: row.listed for row in rows if row.protected == "protected"}


def test_what_protects_a_member_is_taken_away_from_the_member(shell: Shell, choices: Choices, wait: Wait) -> None:
    member, button = "docs/old/lease copy.txt", shell.window.duplicates.pane.buttons["protect-folder"]
    choose(shell, member)
    assert button.text() == "Protect folder"
    button.click()
    wait(lambda: settled(shell) and members(shell)[member].protected)
    choose(shell, member)
    assert button.text() == "Stop protecting…"
    assert shell.window.actions_["protect-folder"].text() == "Stop protecting its folder…"
    assert button.isEnabled()
    choices.confirms = False
    button.click()
    assert choices.asked[-1] == "Stop protecting this folder?"
    assert guarded(shell) == {"docs/old": True}
    choices.confirms = True
    button.click()
    wait(lambda: settled(shell) and not members(shell)[member].protected)
    assert guarded(shell) == {}


def test_a_protected_folder_without_duplicates_is_listed_and_freed(shell: Shell, choices: Choices, wait: Wait) -> None:
    choose(shell, "docs/old/lease copy.txt")
    shell.window.actions_.trigger("protect-folder")
    wait(lambda: settled(shell) and guarded(shell) == {"docs/old": True})
    shell.window.duplicates.list.selectAll()
    shell.window.actions_.trigger("not-duplicates")
    wait(lambda: settled(shell) and not members(shell))
    assert guarded(shell) == {"docs/old": False}
    beside = shell.window.duplicates.beside
    assert shell.window.duplicates._stack.currentWidget() is shell.window.duplicates.tabs
    row = next(at for at, one in enumerate(beside.folders_model.rows) if not one.listed)
    beside.folders.table.choose([row])
    assert not beside.show_families.isEnabled()
    assert beside.protect.text() == "Stop protecting"
    beside.protect.click()
    wait(lambda: settled(shell) and guarded(shell) == {})


# --- the dialogs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zoom", [1.0, 1.5])
def test_no_words_of_the_settings_are_cut(shells: ShellMaker, qtbot: QtBot, zoom: float) -> None:
    shells.watch.set_scale(zoom)
    dialog = DuplicateSettingsDialog(DuplicateSettings())
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    labels = dialog.findChildren(Wrapped)
    assert len(labels) == 8
    for _ in range(20):
        QApplication.processEvents()
    for label in labels:
        assert label.height() >= label.heightForWidth(label.width()), label.text()
        below = label.mapTo(dialog, label.rect().bottomLeft()).y()
        holder = label.parentWidget()
        assert holder is not None
        assert label.geometry().bottom() <= holder.rect().bottom(), label.text()
        assert below < dialog.height()
    spin = dialog.near.lineEdit()
    assert spin.textMargins().left() >= 4


def plan(*, last: int = 1) -> TrashPlan:
    long = "documents/Quarterly report on the state of the harbour and its many basins, reviewed by everyone/Policies"
    moved = [
        TrashItem(f"{long}/{year}/Returns policy.md", f"/{long}/{year}/Returns policy.md", 1_000, 1, "k",
                  kept_in=(f"{long}/Retail/Returns policy, final version.md",))
        for year in (2019, 2020)
    ]  # fmt: skip
    kept = [
        TrashItem(f"docs/{n}.md", f"/docs/{n}.md", 5_000, 1, "k", last_copy=True, why_last="its whole text would go")
        for n in range(last)
    ]
    refused = TrashRefusal("docs/b.md", "/docs/b.md", "protected", "it lies in a protected folder")
    return TrashPlan("library", 1, (*moved, *kept), (refused,))


def test_every_word_of_the_trashs_list_can_be_read(qtbot: QtBot) -> None:
    dialog = trash_dialog(plan())
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    tree = dialog.tree
    assert [tree.headerItem().text(column) for column in range(3)] == ["File or passage", "Where", "Why"]
    lines = [tree.topLevelItem(0).child(row) for row in range(2)]
    assert lines[0].text(1) != lines[1].text(1)
    for line in lines:
        for column in range(3):
            index = tree.indexFromItem(line, column)
            room = tree.visualRect(index)
            assert room.height() >= _laid_out(line.text(column), tree.font(), room.width() - 8)[1], line.text(column)
        assert tree.visualItemRect(line).height() > 2 * tree.fontMetrics().height()  # on several lines


def test_the_title_counts_what_really_goes(qtbot: QtBot) -> None:
    dialog = trash_dialog(plan())
    qtbot.addWidget(dialog)
    assert dialog.title.text() == "Move 2 files (2.0 kB) to the trash?"
    assert "I want it to go" in dialog.tick.text()
    dialog.tick.setChecked(True)
    assert dialog.title.text() == "Move 3 files (7.0 kB) to the trash?"
    titles = [dialog.tree.topLevelItem(at).text(0) for at in range(dialog.tree.topLevelItemCount())]
    assert titles == [
        "2 files will be moved",
        "1 last copy will be moved only if you tick the sentence below",
        "1 file stays where it is",
    ]
    many = trash_dialog(plan(last=2))
    qtbot.addWidget(many)
    assert "I want them to go" in many.tick.text()


def test_the_notes_field_has_a_name(shells: ShellMaker) -> None:
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QDialog, QPlainTextEdit

    from app.dialogs import Dialogs

    made = shells.shell()
    seen: list[str] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QDialog)
        seen.extend(field.accessibleName() for field in dialog.findChildren(QPlainTextEdit))
        dialog.accept()

    QTimer.singleShot(50, look)
    assert Dialogs(made.window).text("Note", "A note on a.md", "two\nlines") == "two\nlines"
    assert seen == ["A note on a.md"]


# --- filters and tables --------------------------------------------------------------------------------------------


def test_the_filters_stand_still_while_a_letter_is_typed(shell: Shell, qtbot: QtBot) -> None:
    filters = shell.window.duplicates.filters
    field = filters.text
    assert field.fontMetrics().horizontalAdvance(field.placeholderText()) < field.width() - 2 * 7 - 22
    before = [part.geometry() for part in (field, filters.folder, filters.tier, filters.proposed)]
    qtbot.keyClicks(field, "lease")
    for _ in range(20):
        QApplication.processEvents()
    assert [part.geometry() for part in (field, filters.folder, filters.tier, filters.proposed)] == before


def test_the_button_that_empties_the_filter_goes_with_the_text(shell: Shell, qtbot: QtBot) -> None:
    filters = shell.window.duplicates.filters
    filters.text.setText("lease")
    button = filters.text.findChild(QToolButton)
    assert button is not None
    qtbot.waitUntil(lambda: button.property("opacity") == 1.0)
    filters.clear()
    assert shell.window.duplicates.model.rowCount() == 2  # at once
    qtbot.waitUntil(lambda: button.property("opacity") == 0.0)


def test_empty_tables_say_why(shell: Shell) -> None:
    beside = shell.window.duplicates.beside
    assert "Nothing of this kind was found" in beside.boilerplate.said.text()
    assert "not looked for" in beside.alike.said.text()
    assert "Nothing was decided yet" in beside.journal.said.text()


def test_a_document_without_text_is_no_boilerplate() -> None:
    footer = Boilerplate("repeated", "Printed on", 30, ("docs/a.md",))
    silent = Boilerplate("no_text", "", 2, ("docs/empty.txt",))
    assert _aside_words([silent]) == "No text (2)"
    assert _aside_words([footer, silent]) == "Boilerplate (1), no text (2)"
    assert _aside_words([footer]) == "Boilerplate (1)"


def test_where_a_file_lies_in_the_trash_can_be_copied(shell: Shell, choices: Choices, wait: Wait) -> None:
    from pipeline.duplicates.records import JournalEntry
    from pipeline.words.families import journal_words

    place = "/home/somebody/" + "a long folder/" * 30 + "lease.txt"
    entry = JournalEntry(1, "2026-01-01T00:00:00Z", "b", "trashed", "k", "docs/lease.txt", None, place)
    assert place in journal_words(entry)
    beside = shell.window.duplicates.beside
    choose(shell, "docs/old/lease.md")
    shell.window.actions_.trigger("prefer-copy")
    wait(lambda: settled(shell) and beside.journal_model.rows)
    assert not beside.copy.isEnabled()
    beside.journal.table.choose([0])
    beside.copy.click()
    assert "docs/old/lease.md" in QApplication.clipboard().text()


# --- words ---------------------------------------------------------------------------------------------------------


def test_the_heads_words_are_not_struck_through(shell: Shell) -> None:
    painter = shell.window.duplicates.pane.compare.list.itemDelegate()
    assert isinstance(painter, CompareDelegate)
    for kind in ("changed", "weighty"):
        for right in (False, True):
            made = painter._format(kind, right)
            assert made is not None
            assert not made.fontStrikeOut()
            assert made.underlineStyle() != made.UnderlineStyle.NoUnderline
        assert painter._format(kind, False) != painter._format(kind, True)


def test_plain_words_are_said_once(shell: Shell) -> None:
    held = members(shell)
    same = next(member for member in held.values() if member.tier == "identical" and member.proposed)
    assert member_row(same).tie == "identical: the same bytes as the head"
    assert verdict_words(same) in ("Proposed for removal", f"Proposed for removal: {same.why}")
    assert "same bytes as the head" not in verdict_words(same)
    page = shell.window.duplicates
    page.show_family_of("docs/handbook.txt")
    assert "2 documents, versions: contained" in page.pane.facts.text()
    assert "at least" not in page.pane.facts.text()


def test_set_aside_by_the_user_the_totals_follow(shell: Shell, wait: Wait) -> None:
    page = shell.window.duplicates
    before = shell.duplicates.scanning.state.report
    assert before is not None
    assert "of the documents' own headings as questions" in page._totals.text()
    page.show_family_of("docs/lease.txt")
    shell.window.actions_.trigger("not-duplicates")
    wait(lambda: settled(shell) and "docs/lease.txt" not in members(shell))
    after = shell.duplicates.scanning.state.report
    assert after is not None
    assert after.redundant_texts < before.redundant_texts
    assert (after.cost or 0.0) < (before.cost or 0.0)


def test_the_tables_fit_their_window_and_no_title_is_cut(shell: Shell) -> None:
    page = shell.window.duplicates
    for tab, pane in enumerate((page.beside.folders, page.beside.boilerplate), start=1):
        page.tabs.setCurrentIndex(tab)
        for _ in range(10):
            QApplication.processEvents()
        table, header = pane.table, pane.table.horizontalHeader()
        assert table.horizontalScrollBar().maximum() == 0
        for at, column in enumerate(table._table.columns):
            assert header.sectionSize(at) > header.fontMetrics().horizontalAdvance(column.title) + 10, column.title
