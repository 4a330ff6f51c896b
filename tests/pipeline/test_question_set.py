"""A list of questions in one go: read from TOML, CSV and text, a row of figures each, and carried away as CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from pipeline.errors import Cancelled, LibraryError, QueryError, QuestionSetError
from pipeline.export.table import csv_text
from pipeline.findings import SetQuestion, SetRow
from pipeline.progress import CancelToken, Progress
from pipeline.query import QueryEngine
from pipeline.question_set import ask_all, read_questions, rows_csv, rows_json
from pipeline.records import STAGE_NAMES
from pipeline.settings import resolve
from tests.support.folders import Folder, document, passage

SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample" / "questions.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    text = document(passage("refund within days"))
    made.write({"policy.md": text, "old/policy.md": text, "rota.md": document(passage("kitchen rota", 1))})
    made.index()
    return made


def test_the_sample_questions_are_read() -> None:
    questions = read_questions(SAMPLE)
    assert len(questions) == 8
    by_id = {question.id: question for question in questions}
    assert by_id["widening"].settings == {"retrieve-k": 10}
    assert by_id["one-file-only"].only_file == "Products/Packraft field guide.pdf"
    assert by_id["left-out"].leave_out == ("HR/Employee handbook 2024.md",)


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("q.txt", "\N{ZERO WIDTH NO-BREAK SPACE}first\r\n\r\n  second \n# third\n", ["first", "second", "# third"]),
        ("q", "返金は\n", ["返金は"]),
        ("q.csv", 'id,Question\n1,first\n2,\n3,"two, or\nmore"\n', ["first", "two, or\nmore"]),
        ("q.csv", "question;note\nfirst;x\nsecond\n", ["first", "second"]),
        ("q.CSV", "note\tquestion\nx\tfirst\n", ["first"]),
        ("q.toml", "[[question]]\ntext = 'first'\n[[question]]\ntext = 'second'\n", ["first", "second"]),
    ],
)
def test_lists_are_read(tmp_path: Path, name: str, content: str, texts: list[str]) -> None:
    file = tmp_path / name
    file.write_text(content, "utf-8", newline="")
    assert [question.text for question in read_questions(file)] == texts


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.txt", b"\n\n", "holds no question"),
        ("q.txt", b"\xff\xfe\x00", "not UTF-8"),
        ("q.txt", b"q\n" * 10_001, "10,001 questions"),
        ("q.csv", b"text\nfirst\n", "no column named question"),
        ("q.csv", b"question\n" + b"x" * 200_000, "field larger"),
        ("q.toml", b"[[question]\n", "q.toml"),
        ("q.toml", b"question = 3\n", r"write \[\[question\]\]"),
        ("q.toml", b"[[question]]\ntitle = 'x'\n", "question 1 has no text"),
        ("q.toml", b"[[question]]\ntext = 'x'\nsettings = 3\n", "settings is not a table"),
        ("q.toml", b"[[question]]\ntext = 'x'\nsettings = { return-n = [1] }\n", "neither a number nor a word"),
        ("q.toml", b"[[question]]\ntext = 'x'\nleave_out = 'y'\n", "not a list of paths"),
        ("q.toml", b"[[question]]\ntext = 'x'\nonly_file = 1\n", "not a path"),
    ],
)
def test_what_is_no_list_is_refused_in_words(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(QuestionSetError, match=said):
        read_questions(tmp_path / name)
    with pytest.raises(QuestionSetError, match="cannot be read"):
        read_questions(tmp_path / "none")


def test_each_question_has_its_row_and_a_bad_one_costs_its_own(folder: Folder) -> None:
    engine = QueryEngine(folder.library, folder.encoder)
    told: list[Progress] = []
    heard: list[SetRow] = []
    questions = (
        SetQuestion("refund within days", settings={"return-n": 1}),
        SetQuestion(""),
        SetQuestion("refund", settings={"return-n": 0}),
        SetQuestion("refund", only_file="none.md"),
        SetQuestion("refund", leave_out=("old/policy.md",)),
        SetQuestion("refund", only_file=str(folder.root / "rota.md")),
    )
    rows = ask_all(questions, engine, resolve(), progress=told.append, listen=heard.append)
    assert list(rows) == heard
    assert [row.number for row in rows] == [1, 2, 3, 4, 5, 6]
    errors = [row.error for row in rows]
    assert errors[0] == errors[4] == errors[5] == ""
    assert "empty" in errors[1]
    assert "'return-n': 0" in errors[2]
    assert "no document none.md" in errors[3]
    first, fifth = rows[0].figures, rows[4].figures
    assert first is not None
    assert fifth is not None
    assert (first.cited_files, first.returned, first.dropped) == (2, 1, {"collapse": 1, "return": 1})
    assert rows[4].question.leave_out == ("docs/old/policy.md",)
    assert fifth.dropped == {"left_out": 1}
    assert [(each.done, each.total) for each in told] == [(n, 6) for n in range(7)]
    assert told[-1].failed == 3
    engine.close()


def test_a_document_below_two_folders_has_to_be_named_by_one(folder: Folder, tmp_path: Path) -> None:
    from pipeline.index import index_library

    other = tmp_path / "more"
    other.mkdir()
    (other / "policy.md").write_text("another one")
    index_library(folder.library, [other], encoder=folder.encoder)
    engine = QueryEngine(folder.library, folder.encoder)
    assert engine.doc_id_of("rota.md") == "docs/rota.md"
    assert engine.doc_id_of("docs/policy.md") == "docs/policy.md"
    with pytest.raises(QueryError, match=r"several folders .* docs/policy\.md, more/policy\.md"):
        engine.doc_id_of("policy.md")
    engine.close()


def test_a_cancelled_run_has_told_its_rows_and_a_lost_library_ends_it(folder: Folder, tmp_path: Path) -> None:
    engine = QueryEngine(folder.library, folder.encoder)
    token = CancelToken()
    heard: list[SetRow] = []

    def listen(row: SetRow) -> None:
        heard.append(row)
        if len(heard) == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        ask_all([SetQuestion(f"q{n}") for n in range(5)], engine, resolve(), cancel=token, listen=listen)
    assert [row.question.text for row in heard] == ["q0", "q1"]
    engine.close()
    with pytest.raises(LibraryError):
        ask_all([SetQuestion("x")], QueryEngine(tmp_path / "none", folder.encoder), resolve())


def test_rows_are_carried_away_and_no_cell_is_a_formula(folder: Folder) -> None:
    engine = QueryEngine(folder.library, folder.encoder)
    questions = [SetQuestion('=HYPERLINK("x")', "+1"), SetQuestion("two\nlines, 返金", title="@sum"), SetQuestion(" ")]
    rows = ask_all(questions, engine, resolve())
    engine.close()
    text = rows_csv(rows)
    assert text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}number,")
    read = list(csv.DictReader(io.StringIO(text[1:], newline="")))
    assert [row["question"] for row in read] == ['\'=HYPERLINK("x")', "two\nlines, 返金", " "]
    assert (read[0]["id"], read[1]["title"]) == ("'+1", "'@sum")
    assert {f"dropped_{stage}" for stage in STAGE_NAMES} <= set(read[0])
    assert float(read[0]["crowding"]) == rows[0].figures.crowding  # type: ignore[union-attr]
    assert (read[2]["crowding"], "empty" in read[2]["error"]) == ("", True)
    plain = json.loads(json.dumps(rows_json(rows, resolve())))
    assert plain["settings"]["return-n"] == 5
    assert plain["rows"][0]["figures"]["dropped"] == rows[0].figures.dropped  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "  =1", "\N{NO-BREAK SPACE}=1", "＝1"]
)
def test_a_formula_is_made_a_text(text: str) -> None:
    line = csv_text(["a"], [[text]])
    assert next(csv.reader(io.StringIO(line.split("\r\n", 1)[1], newline="")))[0] == f"'{text}".replace("\r", "")


def test_numbers_stay_numbers_and_odd_characters_do_no_harm() -> None:
    assert csv_text(["a", "b", "c"], [[-1, -0.5, None]]).splitlines()[1] == "-1,-0.5,"
    assert csv_text(["a"], [["x\0y\ud800"]]).splitlines()[1] == "x‹NUL›y\N{REPLACEMENT CHARACTER}"
