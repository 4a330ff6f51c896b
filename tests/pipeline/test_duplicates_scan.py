"""A scan for duplicates on real libraries: tiers, heads, traps, decisions, and that a second scan equals a first."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from pipeline.duplicates import making, scan
from pipeline.duplicates.decided import NOTHING_DECIDED, Decided
from pipeline.duplicates.kept import KEPT_NAME
from pipeline.duplicates.records import DuplicateSettings, DuplicatesReport, Family, Member
from pipeline.duplicates.scan import at_least, scan_library
from pipeline.duplicates.trash_plan import plan_trash
from pipeline.errors import Cancelled, LibraryError
from pipeline.index import index_library
from pipeline.library import LibraryReader
from pipeline.progress import CancelToken
from pipeline.words import proposing
from tests.support.encoder import FlatEncoder, WordEncoder
from tests.support.folders import Folder
from tests.support.libraries import make_library
from tests.support.pdfs import drawn
from tests.support.prose import changed, prose


def scanned(
    folder: Path, documents: Mapping[str, str], decided: Decided = NOTHING_DECIDED, **wanted: object
) -> DuplicatesReport:
    make_library(folder, documents, WordEncoder() if wanted.get("with_alike") else FlatEncoder())
    return scan_library(folder, DuplicateSettings(**wanted), decided=decided)  # type: ignore[arg-type]


def shape(report: DuplicatesReport) -> list[list[tuple[str, str | None]]]:
    """The families as (doc_id below the root, tier), by head."""
    return sorted([(m.doc_id.removeprefix("docs/"), m.tier) for m in family.members] for family in report.families)


def proposed(report: DuplicatesReport) -> set[str]:
    return {m.doc_id.removeprefix("docs/") for family in report.families for m in family.members if m.proposed}


def member(report: DuplicatesReport, name: str) -> Member:
    return next(m for family in report.families for m in family.members if m.doc_id == f"docs/{name}")


# --- tiers -------------------------------------------------------------------------------------------------------


def test_each_tier_by_name(tmp_path: Path) -> None:
    text = prose("handbook", 300)
    report = scanned(
        tmp_path,
        {
            "handbook.txt": text,
            "copy/handbook.txt": text,
            "folded.txt": text.replace(" ", "\u00a0 "),
            "near.txt": changed(text, 0.02),
            "part.txt": text[: len(text) // 2],
            "other.txt": prose("other", 300),
        },
    )
    assert shape(report) == [
        [
            ("folded.txt", None),
            ("copy/handbook.txt", "same_text"),
            ("handbook.txt", "same_text"),
            ("near.txt", "near"),
            ("part.txt", "contained"),
        ]
    ]
    part = member(report, "part.txt")
    assert part.in_head > 0.97
    assert 0.4 < part.head_in < 0.6
    assert report.counts == {"same_text": 2, "near": 1, "contained": 1}
    assert report.families[0].tier == "contained"


def test_identical_is_told_from_the_same_text(tmp_path: Path) -> None:
    text = prose(1)
    report = scanned(
        tmp_path, {"a.txt": text, "b.txt": text, "longer/c.txt": text.replace(". ", ".\n ")}, head="shortest_path"
    )
    assert shape(report) == [[("a.txt", None), ("b.txt", "identical"), ("longer/c.txt", "same_text")]]
    assert proposed(report) == {"b.txt", "longer/c.txt"}


def test_case_and_punctuation_alone_make_near_documents(tmp_path: Path) -> None:
    text = prose(1)
    report = scanned(tmp_path, {"a.txt": text, "b.txt": text.replace(".", " -").replace("\n\n", "\n")})
    assert shape(report) == [[("b.txt", None), ("a.txt", "near")]]
    assert member(report, "a.txt").similarity == 1.0


@pytest.mark.parametrize("script", ["這是一份關於退貨的說明文件每個人都可以閱讀", "ระเบียบการคืนสินค้าที่ชำรุดภายในสามสิบวัน"])
def test_scripts_without_spaces_are_compared_by_their_signs(tmp_path: Path, script: str) -> None:
    """One long run without a space: as words of white space it would be one word, and any change all of it."""
    text = "".join(script[number * 7 % len(script) :] + script[number % 5 :] for number in range(12))
    other = "".join(reversed(text))
    middle = len(text) // 2
    sign = next(sign for sign in script if sign != text[middle])
    report = scanned(tmp_path, {"a.txt": text, "b.txt": text[:middle] + sign + text[middle + 1 :], "c.txt": other})
    assert shape(report) == [[("a.txt", None), ("b.txt", "near")]]


def test_a_library_without_kept_shingles_is_scanned_all_the_same(tmp_path: Path) -> None:
    """`make_library` keeps none, the indexing keeps them: both find the same."""
    texts = {"a.txt": prose(1, 200), "b.txt": changed(prose(1, 200), 0.03), "c.txt": prose(2, 200)}
    made = scanned(tmp_path / "made", texts)
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    index_library(tmp_path / "indexed", [folder], encoder=FlatEncoder())
    indexed = scan_library(tmp_path / "indexed")
    assert shape(made) == shape(indexed) == [[("a.txt", None), ("b.txt", "near")]]
    assert member(made, "b.txt").similarity == member(indexed, "b.txt").similarity


# --- families without chaining -------------------------------------------------------------------------------------


def test_a_chain_of_revisions_ties_each_to_its_head_alone(tmp_path: Path) -> None:
    """Each of five revisions resembles the next; the last shares too little with the first."""
    texts = [prose("revised", 400)]
    for number in range(4):
        texts.append(changed(texts[-1], 0.07, number))
    report = scanned(tmp_path, {f"v{number}.txt": text for number, text in enumerate(texts)}, head="newest")
    for family in report.families:
        for each in family.members[1:]:
            assert each.similarity >= report.settings.near
            assert each.similarity == pytest.approx(_jaccard(texts, family.head, each), abs=1e-4)
    newest = next(family for family in report.families if family.head.doc_id == "docs/v4.txt")
    assert len(newest.members) > 1
    assert "docs/v0.txt" not in {m.doc_id for m in newest.members}


def _jaccard(texts: Sequence[str], head: Member, other: Member) -> float:
    from pipeline.duplicates.shingles import shingles

    one, two = (shingles(texts[int(m.doc_id[-5])]) for m in (head, other))
    return len(one & two) / len(one | two)


def test_parts_of_one_collection_are_tied_to_it_and_not_to_each_other(tmp_path: Path) -> None:
    parts = {f"part{number}.txt": prose(number, 150) for number in range(4)}
    report = scanned(tmp_path, {**parts, "all.txt": "\n\n".join(parts.values())})
    assert shape(report) == [[("all.txt", None), *((name, "contained") for name in parts)]]
    assert proposed(report) == set(parts)


def test_a_version_that_shrank_stays_with_its_family(tmp_path: Path) -> None:
    """The shortest resembles the second alone, and stands in the head: one family, tied to the head by that."""
    long = prose("page", 600)
    middle, short = long[: int(len(long) * 0.6)], long[: int(len(long) * 0.4)]
    report = scanned(tmp_path, {"long.txt": long, "middle.txt": middle, "short.txt": short})
    assert shape(report) == [[("long.txt", None), ("middle.txt", "contained"), ("short.txt", "contained")]]


def test_what_holds_a_head_is_never_proposed(tmp_path: Path) -> None:
    small, big = prose("small", 150), prose("small", 150) + "\n\n" + prose("more", 600)
    report = scanned(tmp_path, {"small.txt": small, "big.txt": big}, Decided(preferred=frozenset({"docs/small.txt"})))
    assert shape(report) == [[("small.txt", None), ("big.txt", "contained")]]
    assert not proposed(report)
    assert member(report, "big.txt").head_in > 0.99
    assert member(report, "big.txt").why == "it holds more than the head does"


@pytest.mark.parametrize(
    ("rule", "head"),
    [
        ("most_complete", "deep/er/manual-2.txt"),
        ("newest", "manual-10.txt"),
        ("shortest_path", "a.txt"),
        ("preferred", "a.txt"),  # nothing is: by name
    ],
)
def test_the_head_is_chosen_by_the_rule_that_is_set(tmp_path: Path, rule: str, head: str) -> None:
    text = prose("manual", 300)
    folder = Folder(tmp_path, FlatEncoder())
    folder.write(
        {
            "manual-9.txt": text,
            "manual-10.txt": changed(text, 0.01, 1),
            "deep/er/manual-2.txt": text + " " + prose("added", 15),
            "a.txt": changed(text, 0.01, 2),
        }
    )
    for time, name in enumerate(("a.txt", "deep/er/manual-2.txt", "manual-10.txt", "manual-9.txt")):
        os.utime(folder.root / name, (time, time))  # the number of a version says more than the time of its file
    folder.index()
    report = scan_library(folder.library, DuplicateSettings(head=rule))  # type: ignore[arg-type]
    assert report.families[0].head.doc_id == f"docs/{head}"
    assert len(report.families[0].members) == 4


def test_the_preferred_mark_decides_before_every_rule(tmp_path: Path) -> None:
    text = prose("manual", 300)
    documents = {"a.txt": text + " " + prose("more", 20), "b.txt": text, "c.txt": text}
    report = scanned(tmp_path, documents, Decided(preferred=frozenset({"docs/c.txt"})))
    assert report.families[0].head.doc_id == "docs/c.txt"
    assert member(report, "b.txt").tier == "identical"


def test_the_order_of_indexing_makes_no_difference(tmp_path: Path) -> None:
    texts = {f"{name}.txt": changed(prose("x", 200), 0.02, name) for name in "abcdef"}
    one = scanned(tmp_path / "one", texts)
    other = scanned(tmp_path / "other", dict(reversed(texts.items())))
    assert shape(one) == shape(other)


# --- traps: nothing wrongly proposed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("1,200 EUR", "1,300 EUR", "number"),
        ("is granted", "is not granted", "negation"),
        ("to Alice Miller", "to Robert Miller", "name"),
        ("on 2024-03-01", "on 2024-04-01", "date"),
        ("on 2 March", "on 2 May", "date"),
        ("within five days", "within seven days", "number"),
    ],
)
def test_a_word_that_matters_is_told_and_keeps_from_being_proposed(
    tmp_path: Path, old: str, new: str, kind: str
) -> None:
    around = prose("contract", 300)
    text = f"{around} The sum that {old} is due. {prose('end', 100)}"
    report = scanned(tmp_path, {"a.txt": text, "b.txt": text.replace(old, new)})
    (family,) = report.families
    found = family.members[1]
    assert (found.tier, found.weighty_in_all, found.weighty[0].kind) == ("near", 1, kind)
    assert not proposed(report)
    assert "differs from the head" in found.why


def test_two_forms_with_other_facts_are_not_proposed(tmp_path: Path) -> None:
    form = prose("form", 200) + "\n\nName: {}\nBorn: {}\nAmount: {}\n\n" + prose("rules", 200)
    documents = {
        "one.txt": form.format("Alice Miller", "1980-02-03", "1,200"),
        "two.txt": form.format("Robert Stone", "1975-11-30", "950"),
    }
    report = scanned(tmp_path, documents)
    assert shape(report) == [[("one.txt", None), ("two.txt", "near")]]
    assert not proposed(report)
    assert report.families[0].members[1].weighty_in_all == 4


def test_copies_of_a_version_that_differs_are_proposed_as_copies_of_each_other(tmp_path: Path) -> None:
    text = f"{prose('contract', 300)} The fee is 40 EUR. {prose('end', 100)}"
    newer = text.replace("40", "45") + prose("more", 20)
    report = scanned(
        tmp_path, {"new.txt": newer, "old/a.txt": text, "old/b.txt": text, "old/c.txt": text.replace(" ", "\n", 1)}
    )
    assert shape(report) == [[("new.txt", None), ("old/a.txt", "near"), ("old/b.txt", "near"), ("old/c.txt", "near")]]
    assert proposed(report) == {"old/b.txt", "old/c.txt"}
    assert "differs from the head in numbers" in member(report, "old/a.txt").why
    assert member(report, "old/b.txt").why == "the same bytes as “a.txt” of this family, which stays"
    assert member(report, "old/c.txt").why == "the same words throughout as “a.txt” of this family, which stays"
    without = scan_library(tmp_path, decided=Decided(left_out={"docs/old/a.txt": ""}))
    assert proposed(without) == {"old/c.txt"}, "what is left out is no reason to let another one go"


def test_a_changed_word_in_a_part_is_told_too(tmp_path: Path) -> None:
    part = f"{prose('a', 100)} The fee of 40 EUR stays. {prose('b', 100)}"
    whole = f"{prose('c', 300)}\n\n{part.replace('40', '45')}\n\n{prose('d', 300)} It has 17 more."
    report = scanned(tmp_path, {"part.txt": part, "whole.txt": whole})
    assert [(w.in_head, w.in_member) for w in member(report, "part.txt").weighty] == [("45", "40")]
    assert not proposed(report)


@pytest.mark.parametrize("footer_words", [30, 200])
def test_a_footer_in_500_files_makes_no_duplicates(tmp_path: Path, footer_words: int) -> None:
    footer = "\n\n" + prose("footer", footer_words).replace("\n\n", " ")
    report = scanned(tmp_path, {f"{number:03}.txt": prose(number, 40) + footer for number in range(500)})
    assert report.families == ()
    (told,) = report.boilerplate
    assert (told.kind, told.documents) == ("repeated", 500)
    assert told.opening in " ".join(footer.split())


def test_a_footer_that_is_never_a_passage_by_itself_is_told_too(tmp_path: Path) -> None:
    """It is cut together with what precedes it."""
    footer = prose("footer", 40).replace("\n\n", " ")
    report = scanned(tmp_path, {f"{number:03}.txt": f"{prose(number, 30)} {footer}" for number in range(60)})
    assert report.families == ()
    (told,) = report.boilerplate
    assert (told.kind, told.documents, told.examples[0]) == ("repeated", 60, "docs/000.txt")
    assert told.opening.split()[:8] == footer.lower().replace(".", "").split()[:8]


def test_copies_are_found_below_a_footer(tmp_path: Path) -> None:
    footer = "\n\n" + prose("footer", 200)
    documents = {f"{number:03}.txt": prose(number, 60) + footer for number in range(60)}
    documents["copy.txt"] = documents["007.txt"]
    documents["near.txt"] = changed(prose(9, 60), 0.02) + footer
    report = scanned(tmp_path, documents)
    tied = {frozenset(m.doc_id for m in family.members) for family in report.families}
    assert tied == {frozenset({"docs/copy.txt", "docs/007.txt"}), frozenset({"docs/near.txt", "docs/009.txt"})}


def test_thirty_versions_of_one_document_are_a_family_and_no_boilerplate(tmp_path: Path) -> None:
    text = prose("weekly", 500)
    report = scanned(tmp_path, {f"{number:02}.txt": changed(text, 0.01, number) for number in range(30)})
    assert [len(family.members) for family in report.families] == [30]
    assert report.boilerplate == ()


def test_hundreds_of_versions_are_one_family_whatever_the_rule(tmp_path: Path) -> None:
    """More than are all compared with each other."""
    text = prose("hourly", 150)
    documents = {f"{number:03}.txt": changed(text, 0.02, number) for number in range(260)}
    for rule in ("most_complete", "newest"):
        report = scanned(tmp_path / rule, documents, head=rule)
        assert [len(family.members) for family in report.families] == [260]


def test_a_licence_alone_is_no_part_of_every_file_that_begins_with_it(tmp_path: Path) -> None:
    licence = prose("licence", 150)
    documents = {f"{number:03}.txt": licence + "\n\n" + prose(number, 200) for number in range(40)}
    report = scanned(tmp_path, {**documents, "LICENCE": licence + " x"})
    assert report.families == ()


def test_short_files_that_share_a_licence_alone_are_no_family(tmp_path: Path) -> None:
    """Next to nothing of them is their own: that is what has to be shared."""
    licence = prose("licence", 220)
    documents = {f"{number:03}.py": f"{licence}\n\nvalue = {number}\n" for number in range(30)}
    documents |= {f"long{number:03}.py": f"{licence}\n\n{prose(number, 15)}" for number in range(60)}
    report = scanned(tmp_path / "one", documents)
    assert report.families == ()
    copied = scanned(tmp_path / "two", {f"{number:02}/LICENCE": licence for number in range(90)})
    assert [len(family.members) for family in copied.families] == [90]
    assert len(proposed(copied)) == 89


def indexed(folder: Path, tmp_path: Path) -> DuplicatesReport:
    index_library(tmp_path / "library", [folder], encoder=FlatEncoder())
    return scan_library(tmp_path / "library")


def test_a_thousand_empty_files_are_no_duplicates(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(1_000):
        (folder / f"{number}.txt").write_bytes(b"" if number % 2 else b" \n")
    report = indexed(folder, tmp_path)
    assert report.families == ()
    assert [(b.kind, b.documents) for b in report.boilerplate] == [("no_text", 1_000)]
    assert len(report.boilerplate[0].examples) == 5


def test_two_encrypted_pdfs_are_no_duplicates(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in (("a.pdf", "One contract"), ("b.pdf", "Quite another contract")):
        (folder / name).write_bytes(drawn([[text]], encrypt=StandardEncryption("secret", canPrint=1)))
    report = indexed(folder, tmp_path)
    assert report.families == ()
    assert [(b.kind, b.documents) for b in report.boilerplate] == [("encrypted", 2)]


def test_copies_of_a_locked_file_are_told_by_their_bytes_and_never_proposed(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    data = drawn([["One contract"]], encrypt=StandardEncryption("secret", canPrint=1))
    for name in ("a.pdf", "b.pdf"):
        (folder / name).write_bytes(data)
    report = indexed(folder, tmp_path)
    assert shape(report) == [[("a.pdf", None), ("b.pdf", "identical")]]
    assert not proposed(report)


@pytest.mark.skipif(os.name != "posix", reason="hard links are made here as POSIX makes them")
def test_hard_links_are_told_from_copies(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text(prose(1))
    os.link(folder / "a.txt", folder / "b.txt")
    (folder / "c.txt").write_text(prose(1))
    report = indexed(folder, tmp_path)
    assert {m.doc_id: m.hard_link for m in report.families[0].members} == {
        "docs/a.txt": False, "docs/b.txt": True, "docs/c.txt": False,
    }  # fmt: skip
    assert proposed(report) == {"c.txt"}
    assert report.folders[0].duplicates == 1


def test_what_was_not_read_to_the_end_is_proposed_for_its_bytes_alone(tmp_path: Path) -> None:
    text = prose(1, 300)
    cut = "{\\rtf1 " + text  # its closing brace is missing
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, content in {"a.txt": f"{text} more", "cut.rtf": cut, "same.rtf": cut}.items():
        (folder / name).write_text(content, "utf-8")
    report = indexed(folder, tmp_path)
    assert proposed(report) == {"same.rtf"}
    assert member(report, "cut.rtf").why == proposing.PARTLY_READ


def test_stale_documents_are_never_proposed(tmp_path: Path) -> None:
    make_library(tmp_path, {"a.txt": prose(1), "b.txt": prose(1)}, FlatEncoder(), stale=["b.txt"])
    report = scan_library(tmp_path)
    assert report.families[0].head.doc_id == "docs/a.txt"
    assert not proposed(report)


# --- decisions -----------------------------------------------------------------------------------------------------


def test_what_was_declined_is_not_told_again_and_a_third_one_is(tmp_path: Path) -> None:
    text = prose(1, 300)
    two = {"a.txt": text, "b.txt": changed(text, 0.02, 1)}
    (family,) = scanned(tmp_path / "two", two).families
    declined = Decided(declined={family.key: frozenset(m.content_key for m in family.members)})
    again = scan_library(tmp_path / "two", decided=declined)
    assert (again.families, again.declined) == ((), 1)
    three = scanned(tmp_path / "three", {**two, "c.txt": changed(text, 0.02, 2)}, declined)
    assert "docs/c.txt" in {m.doc_id for f in three.families for m in f.members}
    assert not any({"docs/a.txt", "docs/b.txt"} <= {m.doc_id for m in f.members[:1]} for f in three.families)


def test_copies_that_were_declined_stay_so_wherever_they_move(tmp_path: Path) -> None:
    (family,) = scanned(tmp_path / "here", {"a.txt": prose(1), "b.txt": prose(1)}).families
    declined = Decided(declined={family.key: frozenset(m.content_key for m in family.members)})
    assert scanned(tmp_path / "there", {"x/a.txt": prose(1), "y/b.txt": prose(1)}, declined).families == ()


def test_a_family_is_named_by_its_contents_alone(tmp_path: Path) -> None:
    texts = [prose(1), changed(prose(1), 0.02)]
    keys = [
        scanned(tmp_path / folder, dict(zip(names, texts, strict=True))).families[0].key
        for folder, names in (("one", ("a.txt", "b.txt")), ("two", ("z/q.txt", "c.txt")))
    ]
    assert keys[0] == keys[1]


def test_marks_stand_with_the_members_and_keep_from_proposing(tmp_path: Path) -> None:
    documents = {name: prose(1) for name in ("a.txt", "b.txt", "kept/c.txt", "d.txt", "e.txt")}
    decided = Decided(
        preferred=frozenset({"docs/a.txt"}),
        left_out={"docs/b.txt": "2026-01-01T00:00:00+00:00"},
        notes={"docs/d.txt": "look again"},
        protected=(str(tmp_path / "docs" / "kept"),),
    )
    report = scanned(tmp_path, documents, decided)
    assert report.families[0].head.preferred
    assert member(report, "b.txt").left_out
    assert member(report, "kept/c.txt").protected
    assert member(report, "d.txt").note == "look again"
    assert proposed(report) == {"d.txt", "e.txt"}


# --- figures -------------------------------------------------------------------------------------------------------


def test_what_is_redundant_is_counted(tmp_path: Path) -> None:
    one, two = prose(1, 60).replace("\n\n", " "), prose(2, 60).replace("\n\n", " ")
    text = f"{one}\n\n{two}"
    report = scanned(tmp_path, {"a.txt": text, "x/b.txt": text, "x/c.txt": text, "other.txt": prose(3)})
    assert report.families[0].redundant_texts == report.redundant_texts == 4
    assert report.families[0].redundant_characters == 2 * (len(one) + len(two))
    assert [(f.folder, f.documents, f.duplicates) for f in report.folders] == [("docs", 4, 2), ("docs/x", 2, 2)]
    assert report.documents == 4


def test_passages_that_nearly_stand_twice_are_counted(tmp_path: Path) -> None:
    """Also where the documents that hold them are no family; and from what a scan before knew."""
    passages = [prose(number, 60).replace("\n\n", " ") for number in range(5)]
    near = changed(passages[0], 0.03)
    documents = {"a.txt": "\n\n".join(passages[:3]), "b.txt": "\n\n".join([near, *passages[1:3]])}
    report = scanned(tmp_path, {**documents, "c.txt": changed(passages[3], 0.03), "d.txt": "\n\n".join(passages[3:])})
    assert report.near_texts == 4
    tied = next(family for family in report.families if "docs/a.txt" in {m.doc_id for m in family.members})
    assert (tied.redundant_texts, tied.near_texts) == (2, 1)
    assert bare(scan_library(tmp_path)) == bare(report)
    assert at_least(report, near=0.99).near_texts == 0


def test_the_costliest_family_comes_first(tmp_path: Path) -> None:
    short, long = prose(1, 50), prose(2, 500)
    report = scanned(tmp_path, {"a.txt": short, "b.txt": short, "y.txt": long, "z.txt": long})
    assert [family.head.doc_id for family in report.families] == ["docs/y.txt", "docs/a.txt"]


def test_families_are_told_while_the_scan_runs(tmp_path: Path) -> None:
    text = prose(1)
    make_library(tmp_path, {"a.txt": text, "b.txt": text, "near.txt": changed(text, 0.03)}, FlatEncoder())
    told: list[Family] = []
    calls: list[list[int]] = []
    report = scan_library(tmp_path, on_families=lambda found: (told.extend(found), calls.append([len(found)]))[0])
    assert len(calls) == 2  # equal texts at once, before anything is compared
    assert [m.doc_id for m in told[0].members] == ["docs/a.txt", "docs/b.txt"]
    assert told[-1] == replace(report.families[0], near_texts=0)  # passages are compared at the end
    assert report.families[0].near_texts > 0


def test_a_scan_can_be_cancelled(tmp_path: Path) -> None:
    make_library(tmp_path, {"a.txt": prose(1), "b.txt": prose(1)}, FlatEncoder())
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        scan_library(tmp_path, cancel=token)


def test_without_a_library_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="no library"):
        scan_library(tmp_path)


def test_alike_documents_are_told_apart_and_only_on_request(tmp_path: Path) -> None:
    words = prose("topic", 60).split()
    documents = {"a.txt": " ".join(words), "b.txt": " ".join(words[::-1]), "c.txt": prose("quite another", 60)}
    assert scanned(tmp_path / "no", documents).alike == ()
    report = scanned(tmp_path / "yes", documents, with_alike=True)
    assert [(pair.doc_id, pair.other_doc_id) for pair in report.alike] == [("docs/a.txt", "docs/b.txt")]
    assert report.families == ()


# --- without a new scan, and the second scan -------------------------------------------------------------------------


def bare(report: DuplicatesReport) -> DuplicatesReport:
    return replace(report, seconds=0.0, generation=0, library="", ground=None)


_FEW = [prose(number, 60) for number in range(3)]
_POOL = st.sampled_from(
    [
        *_FEW,
        *(changed(text, share, share) for text in _FEW for share in (0.02, 0.06, 0.12, 0.2)),
        *(text[: len(text) // 2] for text in _FEW),
        _FEW[0] + "\n\n" + _FEW[1],
        _FEW[0].replace(" ", "  "),
        "",
        "two words",
    ]
)
_LIBRARY = st.dictionaries(st.sampled_from([f"{name}.txt" for name in "abcdefghij"]), _POOL, max_size=8)
_RULES = st.sampled_from(["most_complete", "newest", "shortest_path", "preferred"])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    documents=_LIBRARY,
    near=st.sampled_from([0.3, 0.5, 0.7, 0.95]),
    contained=st.sampled_from([0.5, 0.9, 1.0]),
    rule=_RULES,
)
def test_thresholds_and_rules_changed_afterwards_equal_a_scan_with_them(
    tmp_path_factory: pytest.TempPathFactory, documents: dict[str, str], near: float, contained: float, rule: str
) -> None:
    folder = tmp_path_factory.mktemp("library")
    report = scanned(folder, documents)
    wanted = DuplicateSettings(near=near, contained=contained, head=rule)  # type: ignore[arg-type]
    narrowed = at_least(report, near=near, contained=contained, head=wanted.head)
    assert bare(narrowed) == bare(scan_library(folder, wanted))
    assert bare(at_least(narrowed, near=0.5, contained=0.9, head="most_complete")) == bare(report)
    for family in narrowed.families:
        for each in family.members[1:]:
            close = each.similarity >= near or max(each.in_head, each.head_in) >= contained
            assert close or each.tier in ("identical", "same_text")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=_LIBRARY, after=_LIBRARY)
def test_a_second_scan_equals_a_first(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    place = tmp_path_factory.mktemp("scan")
    scanned(place / "before", before)
    make_library(place / "after", after, FlatEncoder())
    fresh = scan_library(place / "after")
    os.replace(place / "before" / KEPT_NAME, place / "after" / KEPT_NAME)  # what an earlier state of it left
    again = scan_library(place / "after")
    assert bare(again) == bare(fresh)
    assert bare(scan_library(place / "after")) == bare(fresh)


def test_the_second_scan_looks_at_what_changed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.txt").write_text(changed(prose(number // 2, 200), 0.02, number))
    index_library(tmp_path / "library", [folder], encoder=FlatEncoder())
    scan_library(tmp_path / "library")
    (folder / "5.txt").write_text(changed(prose(2, 200), 0.02, "again"))
    index_library(tmp_path / "library", encoder=FlatEncoder())
    monkeypatch.setattr(scan, "pairs_sharing", lambda *a, **k: pytest.fail("everything was looked at again"))
    compared: list[object] = []
    real = making.weighty_among
    monkeypatch.setattr(making, "weighty_among", lambda *a, **k: (compared.append(a), real(*a, **k))[1])
    report = scan_library(tmp_path / "library")
    assert len(compared) == 1
    assert len(report.families) == 3


@pytest.mark.parametrize("damage", [b"", b"no archive", b"PK\x03\x04" + b"x" * 50])
def test_a_damaged_saving_costs_time_alone(tmp_path: Path, damage: bytes) -> None:
    documents = {"a.txt": prose(1), "b.txt": changed(prose(1), 0.02)}
    report = scanned(tmp_path, documents)
    (tmp_path / KEPT_NAME).write_bytes(damage)
    assert bare(scan_library(tmp_path)) == bare(report)


# --- what is not read ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (
            '<p>{}</p><form><input value="1200"></form>',
            '<p>{}</p><form><input value="9900"></form>',
            "fields of a form",
        ),
        ('<p>{}</p><img src="a.png">', '<p>{}</p><img src="b.png">', "pictures"),
        ("<p>{} may <del>not</del> smoke</p>", "<p>{} may not smoke</p><s></s>", "struck-out words"),
    ],
)
def test_what_is_not_read_may_differ_and_keeps_from_proposing(tmp_path: Path, one: str, other: str, what: str) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, page in (("a.html", one), ("b.html", other)):
        (folder / name).write_text(page.format(prose(1, 200)), "utf-8")
    report = indexed(folder, tmp_path)
    (found,) = report.families[0].members[1:]
    assert (found.tier, found.proposed, found.why) == ("same_text", False, proposing.PARTLY_READ)
    with closing(LibraryReader(tmp_path / "library")) as reader:
        assert all(what in each.reason for each in reader.documents())


def test_two_filled_forms_of_one_pdf_are_not_proposed(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("Ann Smith", "Bob Jones"):
        (folder / f"{name}.pdf").write_bytes(form_pdf(prose(1, 60), name))
    report = indexed(folder, tmp_path)
    assert [m.tier for m in report.families[0].members] == [None, "same_text"]
    assert not proposed(report)
    (item,) = plan_trash(tmp_path / "library", ["docs/Bob Jones.pdf"]).items
    assert item.last_copy
    assert "a form, whose fields are not read" in item.why_last


def form_pdf(text: str, filled: str) -> bytes:
    """A page of this text with one field that is filled in."""
    stream = io.BytesIO()
    page = Canvas(stream)
    lines = page.beginText(50, 800)
    words = text.split()
    for start in range(0, len(words), 8):
        lines.textLine(" ".join(words[start : start + 8]))
    page.drawText(lines)
    page.acroForm.textfield(name="who", value=filled, x=50, y=50, width=200, height=20)
    page.save()
    return stream.getvalue()


def test_code_that_is_indented_otherwise_is_not_proposed(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    lines = [f"    work({number}, '{word}')" for number, word in enumerate(prose(1, 200).split())]
    code = "def run():\n" + "\n".join(lines) + "\n"
    (folder / "a.py").write_text(code + "    done()\n")
    (folder / "b.py").write_text(code + "done()\n")
    (folder / "c.py").write_text(code + "    done()\n\n")
    report = indexed(folder, tmp_path)
    assert {m.tier for m in report.families[0].members} == {None, "same_text"}
    assert len(proposed(report)) == 1
    odd = member(report, "b.py")
    assert odd.tier is None or odd.why == proposing.INDENTED
