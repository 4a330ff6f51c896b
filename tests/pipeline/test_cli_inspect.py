"""why, compare, policies, find, ask-all and history on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.store.history import history_file
from tests.support.encoder import WordEncoder
from tests.support.folders import document, passage


class SmallEncoder(WordEncoder):
    def close(self) -> None:
        """As the local encoder, which makes its graph here."""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setattr("pipeline.embed.local.LocalEncoder", lambda model=None: SmallEncoder(128))
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "policy.md").write_text(document(*(passage("refund within days", n, 640) for n in range(4))))
    (docs / "copy.md").write_text(document(passage("refund within days", 1, 640)))
    for number in range(6):
        (docs / f"note{number}.md").write_text(document(passage(f"kitchen rota{number}", number)))
    place = tmp_path / "library"
    assert run(capsys, "index", docs, "--library", place)[0] == 0
    return place


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_why(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["why", "refund within days"]
    flags = ["--library", library, "--max-chunks-per-document", "1", "--max-total-chars", "60000"]
    code, out, err = run(capsys, *asked, "docs/policy.md", "--passage", "3", *flags, "--json")
    told = json.loads(out)
    assert code == 0, err
    assert (told["outcome"], told["setting"]) == ("fell", "max-chunks-per-document")
    change = told["evidence"]["changes"][0]
    assert change["before"] == 1
    for value, there in ((change["value"], True), (change["value"] - 1, False)):
        flags[3] = str(value)
        trace = json.loads(run(capsys, "query", "refund within days", *flags, "--json")[1])
        assert any("policy.md#chunk-3" in block["evidence_key"] for block in trace["evidence"]) == there
    flags[3] = "1"
    code, out, _ = run(capsys, *asked, "docs/policy.md", "--passage", "3", *flags)
    assert code == 0
    assert "over the cap" in out
    assert f"into the evidence: max-chunks-per-document {change['value']} (now 1)" in out
    code, out, _ = run(capsys, *asked, "note5", *flags, "--return-n", "2")
    assert "docs/note5.md: " in out
    assert "it takes" in out or "return-n" in out
    code, out, _ = run(capsys, *asked, "passage 3 is about refund", *flags)
    assert "docs/policy.md, passage 3: " in out
    for target, said in (
        ("note", "several are meant"),
        ("passage 1 refund", "--passage"),
        ("zebra", "no document zebra"),
    ):
        code, _, err = run(capsys, *asked, target, *flags)
        assert code == 1
        assert said in err


def test_find(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "find", "note3", "--library", library)
    assert out == "docs/note3.md: 1 passages\n"
    code, out, _ = run(capsys, "find", "refund", "--library", library, "--limit", "2", "--json")
    found = json.loads(out)
    assert (code, len(found["passages"]), found["more_passages"]) == (0, 2, True)
    assert run(capsys, "find", "zebra", "--library", library)[1] == "nothing was found\n"


def test_compare_and_policies(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file, more in zip(files, (["--no-texts"], ["--return-n", "2"]), strict=True):
        file.write_text(run(capsys, "query", "refund within days", "--library", library, "--json", *more)[1])
    assert "refund and the" not in files[0].read_text()
    code, out, _ = run(capsys, "compare", files[0], "--library", library)
    assert (code, out.splitlines()[0]) == (
        0,
        "the same: the same candidates, the same evidence, and the agent receives the same",
    )
    code, out, _ = run(capsys, "compare", *files, "--json")
    found = json.loads(out)
    assert (code, found["parts_at"]) == (0, "return")
    assert [unlike["name"] for unlike in found["settings"]] == ["max-items", "return-n"]
    assert {row["change"] for row in found["blocks"]} == {"only_before"}
    _, out, _ = run(capsys, "compare", *files)
    assert "they part at: return" in out
    assert "setting return-n: 5 -> 2" in out
    files[0].write_text("{")
    code, _, err = run(capsys, "compare", *files)
    assert code == 1
    assert "one.json is damaged or not a trace" in err

    code, out, _ = run(capsys, "policies", "refund within days", "--library", library, "--return-n", "3")
    assert [line.split()[0] for line in out.splitlines()] == ["policy", "plain", "source", "evidence"]
    answers = json.loads(run(capsys, "policies", "refund within days", "--library", library, "--json")[1])
    assert [answer["policy"] for answer in answers] == ["plain", "source", "evidence"]
    assert answers[0]["crowding"] > answers[2]["crowding"] == 0.0
    assert answers[2]["trace"]["trace_version"] == 1


def test_ask_all(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text("refund within days\nkitchen rota3\n" + "x" * 20_001 + "\n")
    table = tmp_path / "rows.csv"
    code, out, err = run(capsys, "ask-all", questions, "--library", library, "--csv", table, "--return-n", "3")
    assert (code, out) == (0, "")
    assert f"saved {table}" in err
    rows = list(csv.DictReader(io.StringIO(table.read_bytes().decode("utf-8-sig"), newline="")))
    assert [row["returned"] for row in rows] == ["3", "3", ""]
    assert "20,000" in rows[2]["error"]
    plain = json.loads(run(capsys, "ask-all", questions, "--library", library, "--json", "--return-n", "3")[1])
    assert (plain["settings"]["return-n"], len(plain["rows"])) == (3, 3)
    code, out, _ = run(capsys, "ask-all", questions, "--library", library)
    assert "kitchen rota3" in out
    for arguments, said, expected in (
        ((tmp_path / "none.txt",), "cannot be read", 1),
        ((questions, "--return-n", "0"), "return-n", 2),
    ):
        code, _, err = run(capsys, "ask-all", *arguments, "--library", library)
        assert code == expected
        assert said in err


def test_history(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--return-n", "2"], ["--no-history", "--return-n", "4"]):
        run(capsys, "query", "refund \x1b[2J within days", "--library", library, *more)
    entries = json.loads(run(capsys, "history", "--library", library, "--json")[1])
    assert [entry["settings"] for entry in entries] == [{"return-n": 2}, {}]
    code, out, _ = run(capsys, "history", "--library", library, "--pin", entries[0]["id"])
    assert "\x1b" not in out
    assert out.splitlines()[0].split()[0] == f"{entries[0]['id']}*"
    assert out.splitlines()[0].endswith("(return-n=2)")
    assert run(capsys, "history", "--library", library, "--search", "zebra")[1] == ""
    code, out, err = run(capsys, "history", "--library", library, "--forget-all")
    assert (code, "1 questions forgotten" in err, len(out.splitlines())) == (0, True, 1)
    run(capsys, "history", "--library", library, "--unpin", entries[0]["id"])
    assert run(capsys, "history", "--library", library, "--forget", entries[0]["id"])[1] == ""
    code, _, err = run(capsys, "history", "--library", library, "--forget", "99")
    assert (code, "no entry 99" in err) == (1, True)
    assert run(capsys, "history", "--library", tmp_path / "none")[0] == 1

    for file in library.glob("history*"):
        file.unlink()
    history_file(library).mkdir()
    code, out, err = run(capsys, "query", "refund", "--library", library)
    assert code == 0  # the answer is whole, the history alone is not
    assert "asked 20" in out
    assert "this question was not kept" in err
