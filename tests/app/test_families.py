"""The rules behind the Duplicates page: what is listed, in which order, how documents are laid side by side."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.models.duplicate_tables import folder_rows, folder_table
from app.models.families import FamilyFilter, FamilyList, rows_of
from app.models.family_comparison import FETCHED, ComparisonRows
from app.models.family_difference import Comparison, compare_documents, in_rows
from app.models.family_members import MemberList
from app.theme import DARK, LIGHT
from app.views.family_compare import FamilyCompare
from app.views.family_delegate import MemberDelegate
from app.views.family_list import RowList
from pipeline.duplicates.records import FolderShare, JournalEntry
from pipeline.words.families import held_words, journal_words, percent, size_words, tie_words, totals_words
from tests.support.duplicate_reports import family, many_families, member, report, small_report


def compared(left: str, right: str) -> Comparison:
    return compare_documents(left, right, lambda word: any(sign.isdigit() for sign in word), lambda: None)


def side(comparison: Comparison, name: str) -> str:
    return "".join(part.text for stretch in comparison.stretches for part in getattr(stretch, name))


# --- side by side ----------------------------------------------------------------------------------------------------

words = st.lists(st.sampled_from(["the", "desk", "takes", "cards", "and", "coins", "12", "not", "é", "́x"]), max_size=60)
texts = st.builds(lambda parts, sep: sep.join(parts), words, st.sampled_from([" ", "\n", "  \t"]))


@given(left=texts, right=texts)
def test_nothing_of_either_document_is_lost_or_made_up(left: str, right: str) -> None:
    found = compared(left, right)
    assert side(found, "left") == left.strip()
    assert side(found, "right") == right.strip()
    changed = [
        sum(len(part.text.split()) for s in found.stretches for part in getattr(s, name) if part.kind != "same")
        for name in ("left", "right")
    ]
    assert changed == [found.only_left, found.only_right]
    assert (found.differences == 0) == (left.split() == right.split())


@given(left=texts, right=texts)
def test_what_is_called_the_same_is_the_same_but_for_white_space(left: str, right: str) -> None:
    for stretch in compared(left, right).stretches:
        if stretch.same:
            assert [part.text.split() for part in stretch.left] == [part.text.split() for part in stretch.right]


@given(text=texts, most=st.integers(1, 20))
def test_rows_hold_all_of_a_side(text: str, most: int) -> None:
    parts = compared(text, "").stretches
    rows = [row for stretch in parts for row in in_rows(stretch.left, most)]
    assert "".join(part.text for row in rows for part in row) == text.strip()
    assert all(sum(len(part.text.split()) for part in row) <= most for row in rows)


def test_a_changed_amount_is_found_among_a_hundred_thousand_words() -> None:
    text = [f"word{at % 7_000}" for at in range(100_000)]
    other = list(text)
    other[70_000] = "1,500"
    found = compared(" ".join(text), " ".join(other))
    assert found.differences == 1
    assert (found.only_left, found.only_right) == (1, 1)
    assert [part.text for s in found.stretches for part in s.right if part.kind == "weighty"] == ["1,500"]


def test_a_format_that_breaks_lines_elsewhere_differs_in_nothing() -> None:
    text = "The desk takes cards, and coins too. " * 40
    assert compared(text, re.sub(r"(\S+ \S+ \S+) ", r"\1\n", text)).differences == 0


def test_a_difference_stands_in_its_sentence_and_the_rest_is_folded() -> None:
    filling = "and so it goes on and on in words that are the same on either side of the page "
    found = compared(f"{filling * 3} costs 12 pounds {filling * 3}", f"{filling * 3} costs 15 pounds {filling * 3}")
    assert [stretch.same for stretch in found.stretches] == [True, False, True]
    left = "".join(part.text for part in found.stretches[1].left)
    assert "costs 12 pounds" in left
    assert 10 < len(left.split()) < 30


def test_the_work_can_be_stopped() -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        compare_documents("a b c " * 50, "c b a " * 50, lambda word: False, stop)


def test_a_long_comparison_is_laid_out_a_few_rows_at_a_time(qtbot: QtBot) -> None:
    rows = ComparisonRows()
    rows.show(compared(" ".join(f"l{at}" for at in range(40_000)), " ".join(f"r{at}" for at in range(40_000))))
    assert rows.rowCount() == FETCHED
    assert rows.canFetchMore()
    rows.fetchMore()
    assert rows.rowCount() == 2 * FETCHED
    assert rows.next_difference(0) is None  # it is all one difference
    assert not rows.canFetchMore()


def test_the_next_difference_is_found_beyond_what_is_laid_out() -> None:
    same = " ".join(f"w{at}" for at in range(30))
    left = " ".join(f"{same} {at}" for at in range(200))
    rows = ComparisonRows()
    rows.show(compared(left, left.replace(f"{same} 199", f"{same} x199")))
    found = rows.next_difference(-1)
    assert found is not None
    assert rows.rows[found].differs
    assert rows.next_difference(found) is None
    assert rows.next_difference(len(rows.rows), -1) == found


def test_the_comparison_goes_from_one_difference_to_the_next(qtbot: QtBot) -> None:
    view = FamilyCompare(LIGHT)
    qtbot.addWidget(view)
    view.resize(700, 300)
    view.show()
    filling = " ".join(f"w{at}" for at in range(60))
    view.show_comparison("a", "b", compared(f"1 {filling} 2 {filling} 3", f"4 {filling} 5 {filling} 6"))
    places = []
    for _ in range(4):
        view.go(1)
        places.append(view.list.currentIndex().row())
    assert places == [0, 2, 4, 4]
    view.go(-1)
    assert view.list.currentIndex().row() == 2
    view.set_theme(DARK)
    view.show_nothing("nothing")
    assert not view.list.isVisible()


# --- the list --------------------------------------------------------------------------------------------------------


def listed(families: FamilyList) -> list[str]:
    return [row.name for row in families.shown]


def test_orders() -> None:
    families = FamilyList()
    families.set_rows(
        rows_of(
            [
                family(member("d/b.txt"), member("d/b2.txt", "near", similarity=0.7), cost=0.1, redundant_characters=5),
                family(member("d/a.txt"), member("d/a2.txt", "identical"), cost=0.3, redundant_characters=1),
                family(
                    member("d/c.txt"),
                    member("d/c2.txt", "contained", similarity=0.2),
                    member("d/c3.txt", "identical"),
                    cost=None,
                    redundant_characters=9,
                ),
            ]
        )
    )
    assert listed(families) == ["a.txt", "b.txt", "c.txt"]
    for order, wanted in (("characters", "cba"), ("members", "cab"), ("least_similar", "cba"), ("name", "abc")):
        families.set_order(order)  # type: ignore[arg-type]
        assert [name[0] for name in listed(families)] == list(wanted), order


@pytest.mark.parametrize(
    ("wanted", "takes"),
    [
        (FamilyFilter(("policy", "old")), ["policy.docx"]),
        (FamilyFilter(("chapter",)), ["handbook.md"]),
        (FamilyFilter(folder="docs/old"), ["policy.docx", "handbook.md"]),
        (FamilyFilter(folder="docs/ol"), []),  # a folder, not the beginning of its name
        (FamilyFilter(tier="contained"), ["handbook.md"]),
        (FamilyFilter(kind="pdf"), ["policy.docx"]),
        (FamilyFilter(proposed=True), ["policy.docx"]),
        (FamilyFilter(("policy",), tier="contained"), []),
    ],
)
def test_filters(wanted: FamilyFilter, takes: list[str]) -> None:
    families = FamilyList()
    families.set_rows(rows_of(small_report().families))
    families.set_filter(wanted)
    assert sorted(listed(families)) == sorted(takes)


def test_names_are_shown_safely() -> None:
    families, members = FamilyList(), MemberList()
    families.set_rows(rows_of([family(member("d/\u202egpj.exe\n<b>"), member("d/x\0y.txt", "identical"))]))
    assert families.shown[0].name == "‹RLO›gpj.exe‹LF›<b>"
    assert "&lt;b&gt;" in families.index(0).data(Qt.ItemDataRole.ToolTipRole)
    members.set_family(families.shown[0].family)
    assert "‹NUL›" in members.as_text(1)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_very_many_families_are_scrolled_without_asking_for_all(qtbot: QtBot, theme: object) -> None:
    from app.views.family_delegate import FamilyDelegate
    from app.views.family_list import LongList

    asked: list[int] = []

    class Counting(FamilyList):
        def data(self, index: object, role: int = 0) -> object:  # type: ignore[override]
            asked.append(index.row())  # type: ignore[attr-defined]
            return super().data(index, role)  # type: ignore[arg-type]

    families = Counting()
    view = LongList("families", families, FamilyDelegate(theme))  # type: ignore[arg-type]
    view.set_theme(theme)  # type: ignore[arg-type]
    qtbot.addWidget(view)
    view.resize(400, 600)
    view.show()
    families.set_rows(rows_of(many_families(5_000, 10_000).families))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    view.grab()
    assert 0 < len(set(asked)) < 60
    view.choose(3)
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.currentIndex().row() == 4_999
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.currentIndex().row() == 0


def test_rows_of_members_are_as_high_as_what_they_say(qtbot: QtBot) -> None:
    members = MemberList()
    members.set_family(small_report().families[0])
    view = RowList("members", members, MemberDelegate(LIGHT))
    qtbot.addWidget(view)
    view.resize(420, 500)
    view.show()
    heights = [view.sizeHintForIndex(members.index(at)).height() for at in range(4)]
    assert heights[0] < heights[1] < heights[3]
    assert "differs in number: “1,500” here, “1,200” in the head" in members.as_text(3)
    assert "6 more" in members.as_text(3)


def test_folders_know_their_path_and_their_protection() -> None:
    shares = (FolderShare("docs", 10, 4), FolderShare("docs/old", 4, 3), FolderShare("docs/old/deep", 1, 1))
    rows = folder_rows(shares, {"docs": "/srv/docs"}, ("/srv/docs/old",), "/")
    assert [row.path for row in rows] == ["/srv/docs", "/srv/docs/old", "/srv/docs/old/deep"]
    assert [row.protected for row in rows] == ["", "protected", "with /srv/docs/old"]
    table = folder_table()
    table.set_rows(rows)
    table.sort(3, Qt.SortOrder.DescendingOrder)
    assert [row.share.folder for row in table.rows] == ["docs/old/deep", "docs/old", "docs"]


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "said"),
    [(0, "0 %"), (0.0004, "under 0.1 %"), (0.021, "2.1 %"), (0.38, "38 %"), (0.9951, "over 99 %"), (1.0, "100 %")],
)
def test_a_share_never_says_more_than_there_is(share: float, said: str) -> None:
    assert percent(share) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [(1, "1 byte"), (999, "999 bytes"), (4_321, "4.3 kB"), (999_600, "1.0 MB"), (5 * 10**12, "5.0 TB")],
)
def test_sizes(size: int, said: str) -> None:
    assert size_words(size) == said


def test_ties_are_told_in_both_directions() -> None:
    near = member("d/a", "near", in_head=0.94, head_in=1.0)
    assert tie_words(near) == "near: 94 % of it stands in the head; all of the head stands in it"
    assert held_words(member("d/a", "contained", in_head=1.0, head_in=0.05)).startswith("all of it stands in the head")
    assert "hard link" in tie_words(member("d/a", "identical", hard_link=True))
    assert tie_words(member("d/a", "same_text")) == "same text as the head, word for word"


def test_totals_in_words() -> None:
    said = totals_words(small_report())
    assert said.startswith("4 of 16 documents are copies or versions of others, in 2 families; copies take 40 % of")
    assert totals_words(report((), documents=3, redundant_texts=0)).startswith("None of 3 documents is a copy")
    assert "1 set said to be no duplicates is not listed." in totals_words(report((), documents=3, declined=1))


def test_the_journal_in_words() -> None:
    def entry(what: str, before: str | None, after: str | None) -> JournalEntry:
        return JournalEntry(1, "2026-01-01T00:00:00+00:00", "b", what, "k", "docs/a.txt", before, after)

    assert journal_words(entry("left_out", None, "")) == "left out of searches"
    assert journal_words(entry("left_out", "", None)) == "taken back into searches"
    assert journal_words(entry("trashed", None, "/trash/a.txt")) == "moved to the trash: /trash/a.txt"


def test_a_scan_that_was_told_a_family_again_takes_the_newer_one() -> None:
    from app.features import duplicates_scan

    run = duplicates_scan._Run()
    run._rows_at = 0.0
    first = family(member("d/a"), member("d/b", "identical"))
    run.families([first])
    run._rows_at = 0.0
    run.families([family(member("d/c"), member("d/b", "near"), member("d/a", "near"))])
    assert [[m.doc_id for m in row.family.members] for row in run.rows] == [["d/c", "d/b", "d/a"]]
