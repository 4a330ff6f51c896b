"""What the command line takes care of: losses, the user's files, files not as indexed, one number of copies."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from pipeline.cli import main
from tests.support.encoder import WordEncoder
from tests.support.folders import Folder, document, passage

SHARED, ONLY = passage("refund within days"), passage("parking permit")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """a.md, copy.md and old/copy.md are the same bytes; only.md is alone with what it says."""
    made = Folder(tmp_path)
    made.write({"a.md": SHARED, "copy.md": SHARED, "old/copy.md": SHARED, "only.md": document(SHARED, ONLY)})
    made.index()
    monkeypatch.setattr("pipeline.embed.local.LocalEncoder", lambda *_args, **_how: WordEncoder())
    return made


def run(capsys: pytest.CaptureFixture[str], folder: Folder, *arguments: object) -> tuple[int, str, str]:
    code = main([*(str(argument) for argument in arguments), "--library", str(folder.library)])
    out, err = capsys.readouterr()
    return code, out, err


def in_force(capsys: pytest.CaptureFixture[str], folder: Folder) -> list[tuple[str, str]]:
    found = json.loads(run(capsys, folder, "decide", "list", "--json")[1])["decisions"]
    return [(each["kind"], each["name"]) for each in found]


# --- losses ----------------------------------------------------------------------------------------------------------


def test_leaving_out_lists_what_no_search_would_find_and_waits_for_a_yes(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, folder, "decide", "leave-out", "only.md")
    assert code == 1
    assert "would stand in no other document that searches find:" in out
    assert "docs/only.md: " in out
    assert "parking permit" in out
    assert "nothing was decided" in err
    assert "--yes" in err
    assert in_force(capsys, folder) == []

    code, out, _ = run(capsys, folder, "decide", "leave-out", "only.md", "--json")
    data = json.loads(out)
    assert (code, data["batch"]) == (1, None)
    assert {each["doc_id"] for each in data["lost"]} == {"docs/only.md"}
    assert in_force(capsys, folder) == []

    code, out, _ = run(capsys, folder, "decide", "leave-out", "only.md", "--yes")
    assert code == 0
    assert "docs/only.md: " in out
    assert in_force(capsys, folder) == [("left_out", "docs/only.md")]
    assert run(capsys, folder, "decide", "leave-out", "only.md")[0] == 0  # nothing more is lost by it
    assert run(capsys, folder, "decide", "leave-out", "only.md", "--take-back")[0] == 0


def test_a_copy_is_left_out_at_once_and_the_last_one_is_not(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, folder, "decide", "leave-out", "only.md", "--yes")[0] == 0
    code, out, _ = run(capsys, folder, "decide", "leave-out", "a.md", "copy.md", "--json")
    assert (code, json.loads(out)["lost"], json.loads(out)["batch"]["changes"]) == (0, [], 2)
    assert run(capsys, folder, "decide", "leave-out", "old/copy.md")[0] == 1  # no other served document has it now
    assert run(capsys, folder, "decide", "leave-out", "--in", "docs/old")[0] == 1
    assert run(capsys, folder, "decide", "leave-out", "--in", "docs/old", "--yes")[0] == 0
    assert ("left_out", "docs/old/copy.md") in in_force(capsys, folder)


def test_leaving_out_by_rule_lists_losses_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Folder(tmp_path)
    made.write({"a.md": SHARED, "b.md": SHARED.upper()})  # the same words, and another passage by its letters
    made.index()
    proposed = [doc_id for doc_id, m in members_of(capsys, made).items() if m["proposed"]]
    code, out, err = run(capsys, made, "decide", "leave-out-proposed")
    assert (code, in_force(capsys, made)) == (1, [])
    assert f"{proposed[0]}: 1" in out
    assert "--yes" in err
    code, out, _ = run(capsys, made, "decide", "leave-out-proposed", "--json", "--yes")
    data = json.loads(out)
    assert (code, data["batch"]["changes"], [each["doc_id"] for each in data["lost"]]) == (0, 2, proposed)
    made.write({"b.md": SHARED})
    made.index()
    assert run(capsys, made, "decide", "undo")[0] == 0
    assert run(capsys, made, "decide", "leave-out-proposed")[0] == 0  # the same bytes: nothing is lost


# --- the user's files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["duplicates", "--csv"],
        ["duplicates", "--pairs"],
        ["duplicates", "--html"],
        ["decide", "export"],
        ["query", "refund", "--html"],
    ],
)
def test_no_report_goes_over_a_file_in_a_folder_of_the_library(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    victim = folder.root / "ledger.xls"  # never indexed
    victim.write_text("mine")
    link, way = tmp_path / "link.html", tmp_path / "way"
    link.symlink_to(victim)
    way.symlink_to(folder.root)
    for place in (victim, link, way / "ledger.xls"):
        code, _, err = run(capsys, folder, *command, place)
        assert code == 1
        assert "is there already and lies in" in err
        assert victim.read_text() == "mine"
        assert not list(folder.root.glob("*.partial"))


def test_elsewhere_and_under_a_new_name_reports_are_written(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.csv"
    out.write_text("an older one")
    os.link(out, tmp_path / "also.csv")
    assert run(capsys, folder, "duplicates", "--csv", out)[0] == 0
    assert out.read_text("utf-8").count("\n") == 5
    assert (tmp_path / "also.csv").read_text() == "an older one"
    assert run(capsys, folder, "duplicates", "--csv", folder.root / "report.csv")[0] == 0
    questions = tmp_path / "questions.txt"
    questions.write_text("refund within days\n")
    victim = folder.root / "only.md"
    before = victim.read_text()
    code, _, err = run(capsys, folder, "ask-all", questions, "--csv", victim)
    assert (code, victim.read_text()) == (1, before)
    assert "is there already and lies in" in err


# --- not as indexed --------------------------------------------------------------------------------------------------


def members_of(capsys: pytest.CaptureFixture[str], folder: Folder) -> dict[str, dict[str, object]]:
    report = json.loads(run(capsys, folder, "duplicates", "--json")[1])
    return {m["doc_id"]: m for each in report["families"] for m in each["members"]}


def test_members_that_are_missing_or_changed_are_marked_and_not_proposed(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = members_of(capsys, folder)
    proposed = sorted(doc_id for doc_id, m in before.items() if m["proposed"])
    assert len(proposed) == 2
    assert {m["on_disk"] for m in before.values()} == {"fresh"}
    gone, other = proposed
    (folder.root.parent / gone).unlink()
    now = members_of(capsys, folder)
    assert (now[gone]["on_disk"], now[gone]["proposed"]) == ("missing", False)
    assert (now[other]["on_disk"], now[other]["proposed"]) == ("fresh", True)
    (folder.root.parent / other).write_text("quite another text")
    assert members_of(capsys, folder)[other]["on_disk"] == "changed"
    table, page = tmp_path / "t.csv", tmp_path / "t.html"
    code, out, _ = run(capsys, folder, "duplicates", "--csv", table, "--html", page)
    assert code == 0
    assert "2 of the documents shown are no longer as indexed: index again." in out
    assert "no longer there" in page.read_text("utf-8")
    rows = {row["document"]: row for row in csv.DictReader(table.read_text("utf-8-sig").splitlines())}
    assert (rows[gone]["on_disk"], rows[gone]["proposed"]) == ("missing", "")
    assert f"{gone}: " in run(capsys, folder, "duplicates")[1]
    assert "leave out 0" in run(capsys, folder, "decide", "leave-out-proposed")[1] or not in_force(capsys, folder)


def test_nothing_is_proposed_for_the_sake_of_a_head_that_is_gone(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    head = json.loads(run(capsys, folder, "duplicates", "--json")[1])["families"][0]["head"]
    (folder.root.parent / head).unlink()
    assert not any(m["proposed"] for m in members_of(capsys, folder).values())


# --- one number ------------------------------------------------------------------------------------------------------


def test_hard_links_are_no_copies_and_all_figures_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Folder(tmp_path)
    others = {f"{letter}.md": " ".join(f"{letter}{word:02x}{letter}" for word in range(90)) for letter in "xyz"}
    made.write({"a.md": SHARED, "copy.md": SHARED, **others})
    (made.root / "link.md").hardlink_to(made.root / "a.md")
    (made.root / "x link.md").hardlink_to(made.root / "x.md")
    made.index()
    code, out, _ = run(capsys, made, "duplicates", "--fail-over", "0.2")
    assert code == 0
    assert out.startswith(
        "1 of 7 documents is a copy or a version of others, in 1 family; 2 more are hard links, no copies."
    )
    assert "1 of 7  docs" in out
    data = json.loads(run(capsys, made, "duplicates", "--json")[1])
    assert (data["counts"]["duplicates"], data["folders"][0]["duplicates"]) == (1, 1)
    code, _, err = run(capsys, made, "duplicates", "--fail-over", "14.2%")
    assert code == 1
    assert "14.3 % of 7 documents are duplicates, more than 14.2 %" in err
    assert "more than 14.28 %" in run(capsys, made, "duplicates", "--fail-over", "14.28%")[2]
