"""Duplicates told: tables, plain data, the page, and the commands."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from pipeline.cli import main
from pipeline.duplicates.records import (
    Alike,
    Boilerplate,
    Decision,
    DuplicateSettings,
    DuplicatesReport,
    Family,
    FolderShare,
    Member,
    Weighty,
)
from pipeline.export.duplicates_page import MOST_FAMILIES, duplicates_page
from pipeline.export.duplicates_table import duplicates_json, families_csv, pairs_csv, share_of
from pipeline.store.decisions import decisions_file
from tests.support.encoder import WordEncoder
from tests.support.folders import document, passage

EVIL = "=HYPERLINK(1) <script>alert(1)</script> \x1b[31m \N{RIGHT-TO-LEFT OVERRIDE}evil\n</td></table>"


def member(doc_id: str, **facts: object) -> Member:
    usual: dict[str, object] = {
        "path": f"/home/ada/{doc_id}",
        "kind": "text",
        "size": 1_200,
        "mtime_ns": 1_700_000_000_000_000_000,
        "characters": 1_100,
        "content_key": "a" * 64,
        "text_key": "b" * 64,
        "tier": "identical",
    }
    return Member(doc_id, **(usual | facts))  # type: ignore[arg-type]


def family(number: int, *members: Member) -> Family:
    head = member(f"docs/head{number}.txt", tier=None)
    return Family(f"{number:064x}", (head, *members), "near", 3, 900, 0.25)


@pytest.fixture
def report() -> DuplicatesReport:
    first = family(
        1,
        member("docs/copy.txt", proposed=True, why="the same bytes as the head"),
        member(
            "docs/other amount.txt",
            tier="near",
            in_head=0.98,
            head_in=0.97,
            similarity=0.95,
            weighty=(Weighty("number", "1,200", "1,500"),),
            weighty_in_all=3,
        ),
    )
    second = family(2, member(EVIL, path=EVIL, tier="contained", note=EVIL, head_in=0.2, left_out=True, why=EVIL))
    return DuplicatesReport(
        "/home/ada/library",
        7,
        DuplicateSettings(),
        (first, second),
        alike=(Alike("docs/x.txt", EVIL, 0.93),),
        boilerplate=(Boilerplate("repeated", EVIL, 500, (EVIL, "docs/y.txt")),),
        folders=(FolderShare("docs", 20, 3), FolderShare(EVIL, 2, 1)),
        documents=20,
        texts=30,
        chunks=40,
        redundant_texts=6,
        declined=1,
        cost=0.4,
        questions=12,
        counts={"identical": 1, "near": 1, "contained": 1},
    )


DECIDED = (Decision("note", "a" * 64, EVIL, EVIL, "2026-11-30T20:00:00+00:00"),)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"))))


def test_a_row_for_every_member(report: DuplicatesReport) -> None:
    found = rows(families_csv(report))
    assert [row["document"] for row in found[:3]] == ["docs/head1.txt", "docs/copy.txt", "docs/other amount.txt"]
    assert [row["tier"] for row in found] == ["head", "identical", "near", "head", "contained"]
    assert [row["family"] for row in found] == ["1", "1", "1", "2", "2"]
    other = found[2]
    assert (other["in_head"], other["head_in"], other["similarity"]) == ("0.98", "0.97", "0.95")
    assert other["differs"] == "number: 1,200 / 1,500; and 2 more"
    assert other["modified"] == "2023-11-14T22:13:20+00:00"
    for name in ("document", "path", "note", "why"):
        assert found[4][name].startswith("'=HYPERLINK")  # a text, no formula


def test_pairs_are_those_that_say_the_same(report: DuplicatesReport) -> None:
    text = pairs_csv(report)
    assert text[1:].startswith("duplicate,head\r\ndocs/copy.txt,docs/head1.txt\r\n")
    assert [row["head"] for row in rows(text)] == ["docs/head1.txt", "docs/head2.txt"]  # not the other amount


def test_plain_data_is_as_the_design_says(report: DuplicatesReport) -> None:
    data = json.loads(json.dumps(duplicates_json(report, DECIDED)))
    assert {"families", "counts", "settings"} <= data.keys()
    first = data["families"][0]
    assert {"head", "tier", "cost", "members"} <= first.keys()
    assert first["head"] == "docs/head1.txt"
    wanted = {"doc_id", "path", "tier", "in_head", "head_in", "similarity", "differs"}
    assert all(wanted <= each.keys() for each in first["members"])
    assert first["members"][2]["differs"] == [{"kind": "number", "in_head": "1,200", "in_member": "1,500"}]
    assert (data["counts"]["documents"], data["counts"]["duplicates"], data["share"]) == (20, 3, 0.15)
    assert data["decisions"][0]["kind"] == "note"
    assert share_of(replace(report, documents=0, families=())) == 0.0


def test_the_page_shows_families_figures_and_decisions(report: DuplicatesReport) -> None:
    page = LexborHTMLParser(duplicates_page(report, DECIDED))
    sections = {node.css_first("h2").text().split(" ")[0]: node for node in page.css("main > section")}
    assert list(sections) == ["Families", "Alike", "Boilerplate", "Folders", "Decisions"]
    articles = sections["Families"].css("article")
    assert [len(each.css("tr.head, tr.member")) for each in articles] == [3, 2]
    said = articles[0].text()
    for words in ("docs/head1.txt", "proposed for removal", "98 % of it stands in the head", "“1,500” here", "25 %"):
        assert words in said
    assert "40 %" in page.css_first("ol.strip").text()
    assert "2026-11-30" in sections["Decisions"].text()
    assert "0.93" in sections["Alike"].text()


def test_names_stay_text_and_nothing_is_fetched(report: DuplicatesReport) -> None:
    content = duplicates_page(report, DECIDED)
    page = LexborHTMLParser(content)
    assert not page.css("script, img, link, iframe, object, embed, form, a, base, video, audio, svg")
    assert not [node for node in page.css("*") if any(name.startswith("on") for name in node.attributes)]
    assert "default-src 'none'" in content
    assert [mark for mark in ("url(", "@import", "http:", "https:") if mark in content] == []
    assert page.body is not None
    assert "<script>alert(1)</script>" in page.body.text()
    assert not {"\x00", "\x1b", "\N{RIGHT-TO-LEFT OVERRIDE}"} & set(content)


def test_a_page_of_thousands_stays_light(report: DuplicatesReport) -> None:
    many = replace(report, families=tuple(family(n, member(f"docs/{n}.txt")) for n in range(20_000)))
    content = duplicates_page(many)
    assert len(content) < 3_000_000
    assert f"and {20_000 - MOST_FAMILIES:,} families more" in content


# --- the commands ----------------------------------------------------------------------------------------------------


class SmallEncoder(WordEncoder):
    def close(self) -> None:
        """As the local encoder, which makes its graph here."""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setattr("pipeline.embed.local.LocalEncoder", lambda model=None: SmallEncoder(128))
    docs = tmp_path / "docs"
    (docs / "old").mkdir(parents=True)
    whole = "# Refund policy for returned goods\n\n" + document(
        *(passage("refund within days", n, 640) for n in range(4))
    )
    (docs / "policy.md").write_text(whole)
    (docs / "old" / "policy.md").write_text(whole)
    (docs / "policy.txt").write_text(whole.rstrip())
    (docs / "changed.md").write_text(whole.replace("Passage 2", "Passage 9"))
    for number, letter in enumerate("abcdef"):
        (docs / f"note{number}.md").write_text(" ".join(f"{letter}{word:02x}{letter}" for word in range(90)))
    place = tmp_path / "library"
    assert run(capsys, "index", docs, "--library", place)[0] == 0
    return place


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_duplicates_on_the_command_line(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["duplicates", "--library", library]
    code, out, err = run(capsys, *command)
    assert (code, "twinspect" in err) == (0, False)
    assert out.startswith("3 of 10 documents are copies or versions of others, in 1 family")
    for words in ("identical: the same bytes", "same text", "number: “9” here, “2” in the head", "docs/old"):
        assert words in out
    code, out, err = run(capsys, *command, "--json")
    data = json.loads(out)
    assert (code, len(data["families"]), data["counts"]["duplicates"]) == (0, 1, 3)
    assert data["families"][0]["cost"] is None
    strict = json.loads(run(capsys, *command, "--json", "--near", "0.999", "--contained", "99.9%")[1])
    assert len(strict["families"][0]["members"]) == 3
    newest = json.loads(run(capsys, *command, "--json", "--head", "shortest_path")[1])
    assert newest["settings"]["head"] == "shortest_path"

    files = [tmp_path / name for name in ("f.csv", "p.csv", "d.html")]
    code, out, err = run(capsys, *command, "--csv", files[0], "--pairs", files[1], "--html", files[2])
    assert code == 0
    assert [str(file) in err for file in files] == [True] * 3
    assert len(rows(files[0].read_text("utf-8"))) == 4
    assert len(rows(files[1].read_text("utf-8"))) == 2
    assert "docs/changed.md" in files[2].read_text("utf-8")

    code, out, err = run(capsys, *command, "--json", "--cost")
    assert code == 0
    assert json.loads(out)["questions"] > 0


@pytest.mark.parametrize(
    ("share", "code"), [("0.3", 0), ("0.29", 1), ("30%", 0), ("10%", 1), ("1.5", 2), ("-1", 2), ("much", 2), ("nan", 2)]
)
def test_fail_over(library: Path, capsys: pytest.CaptureFixture[str], share: str, code: int) -> None:
    found, out, err = run(capsys, "duplicates", "--library", library, "--json", f"--fail-over={share}")
    assert found == code
    if code == 1:
        assert json.loads(out)["families"]
        assert err.splitlines()[-1].startswith("twinspect: 30.0 % of 10 documents are duplicates, more than")


@pytest.mark.parametrize("flags", [["--near", "2"], ["--head", "best"], ["--contained", "x"], ["--fail-over"]])
def test_wrong_usage(library: Path, capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    assert run(capsys, "duplicates", "--library", library, *flags)[0] == 2


def test_a_report_is_never_written_over_a_document(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    victim = tmp_path / "docs" / "policy.md"
    before = victim.read_text()
    for flag in ("--csv", "--pairs", "--html"):
        code, _, err = run(capsys, "duplicates", "--library", library, flag, victim)
        assert code == 1
        assert "is there already and lies in" in err
    code, _, err = run(capsys, "decide", "export", victim, "--library", library)
    assert (code, victim.read_text()) == (1, before)


def test_deciding_on_the_command_line(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def decide(*arguments: object) -> str:
        code, out, err = run(capsys, "decide", *arguments, "--library", library)
        assert code == 0, err
        return out

    def asked(*flags: str) -> dict[str, object]:
        query = ["query", "refund within days", "--library", library, "--no-history", "--json", *flags]
        return dict(json.loads(run(capsys, *query)[1]))

    assert decide("list") == "nothing is decided\n"
    assert decide("undo") == "nothing to undo\n"
    assert "leave out: docs/old/policy.md" in decide("leave-out", "old/policy.md")
    decide("prefer", tmp_path / "docs" / "policy.txt")
    decide("note", "changed.md", "the amount is wrong")
    decide("protect", "docs/old")
    decide("not-duplicates", "changed.md", "policy.md")
    decide("not-duplicates", "changed.md", "policy.txt")
    listed = decide("list")
    for words in ("left out of searches  docs/old/policy.md", "note  docs/changed.md: the amount is wrong"):
        assert words in listed
    assert len(json.loads(decide("list", "--json"))["decisions"]) == 6
    assert asked()["left_out_decided"] == ["docs/old/policy.md"]
    assert asked("--ignore-decisions")["left_out"] == []
    data = json.loads(run(capsys, "duplicates", "--library", library, "--json")[1])
    assert len(data["families"][0]["members"]) == 3  # changed.md is none of them any more
    code, out, _ = run(capsys, "why", "refund within days", "docs/old/policy.md", "--library", library)
    assert "by decision" in out

    file = tmp_path / "decisions.json"
    assert "6 decisions written" in decide("export", file)
    assert "already" in decide("import", file)
    decide("note", "changed.md", "")
    decide("leave-out", "docs/old/policy.md", "--take-back")
    assert asked()["left_out"] == []
    assert "(2 changes" in decide("import", file)
    assert asked()["left_out"] == ["docs/old/policy.md"]
    assert "taken back: import" in decide("undo")
    assert "done again: import" in decide("redo")
    journal = json.loads(decide("journal", "--json"))
    assert [entry["what"] for entry in journal[:2]] == ["redo", "undo"]
    assert "left out of searches" in decide("journal", "--limit", "50")
    assert "1 changes" in decide("leave-out", "--in", "docs/old", "--take-back")
    assert "leave out 1 copy of 1 family" in decide("leave-out-proposed")

    assert "2 changes" in decide("not-duplicates", "changed.md", "--take-back")
    decide("not-duplicates", "changed.md")
    assert json.loads(run(capsys, "duplicates", "--library", library, "--json")[1])["families"] == []
    decide("not-duplicates", "changed.md", "--take-back")
    assert len(json.loads(run(capsys, "duplicates", "--library", library, "--json")[1])["families"]) == 1

    for wrong in (["prefer"], ["leave-out", "none.md"], ["undo", "x"], ["protect", "docs/none"], ["import", "none"]):
        code, _, err = run(capsys, "decide", *wrong, "--library", library)
        assert code == 1
        assert len(err.splitlines()) == 1
    assert run(capsys, "decide")[0] == 2
    assert run(capsys, "decide", "trash", "x")[0] == 2  # there is no such command


def test_looking_decides_nothing(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["duplicates"], ["decide", "list"], ["decide", "journal"], ["query", "refund within days"]):
        assert run(capsys, *command, "--library", library)[0] == 0
    assert not decisions_file(library).exists()
    for action in ("list", "journal"):
        assert run(capsys, "decide", action, "--library", library.parent / "none")[0] == 1
    assert not (library.parent / "none").exists()


def test_an_answer_says_what_decisions_did_to_it(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = ["query", "refund within days", "--library", library, "--no-history"]
    assert "by decision" not in run(capsys, *query)[1]
    run(capsys, "decide", "leave-out", "old/policy.md", "--library", library)
    run(capsys, "decide", "prefer", "policy.txt", "--library", library)
    assert "by decision: 1 file left out and 1 file cited before its copies\n" in run(capsys, *query)[1]
    assert "by decision" not in run(capsys, *query, "--ignore-decisions")[1]
