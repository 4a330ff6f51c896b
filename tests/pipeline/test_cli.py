"""The command line: JSON alone on stdout, reasons on stderr, exit codes; window and pictures handed in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from pipeline import cli
from pipeline.cli import OpenRequest, main
from pipeline.embed.graph_cache import CACHE_VARIABLE
from tests.support.encoder import WordEncoder
from tests.support.folders import document, passage


class Words(WordEncoder):
    runtime = "words"

    def close(self) -> None: ...


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small encoder instead of the model."""
    monkeypatch.setattr("pipeline.embed.local.LocalEncoder", lambda model=None: Words(128))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "old").mkdir(parents=True)
    text = document(passage("refund within days"))
    (docs / "policy.md").write_text(text)
    (docs / "old" / "policy copy.md").write_text(text)
    (docs / "other.md").write_text(document(passage("kitchen rota", 1)))
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 nothing more")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.usefixtures("words")
def test_index_query_status_forget(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = place / "lib rary"
    code, out, err = run(capsys, "index", place / "docs", "--library", library, "--json")
    report = json.loads(out)
    assert code == 0, err
    counts = (
        "documents added changed moved removed unchanged failed chunks texts embedded seconds unknown_kind excluded "
        "check wrote"
    )
    assert list(report) == counts.split()
    assert (report["documents"], report["added"], report["failed"], report["embedded"]) == (4, 3, 1, 2)

    code, out, _ = run(capsys, "query", "refund within days", "--library", library, "--json", "--return-n", "3")
    trace = json.loads(out)
    assert (code, trace["trace_version"]) == (0, 1)
    assert trace["settings"]["return-n"] == {"value": 3, "origin": "flag"}
    assert trace["settings"]["retrieve-k"] == {"value": 20, "origin": "default"}
    block = trace["evidence"][0]
    assert [Path(path).name for path in block["source_paths"]] == ["policy copy.md", "policy.md"]
    assert "page" not in trace["projected"][0]
    assert {stage["name"] for stage in trace["stages"]} >= {"collapse", "cap", "pack"}
    assert all(c["fate"]["name"] for c in trace["candidates"])

    code, out, _ = run(capsys, "query", "refund", "--library", library, "--leave-out", place / "docs/policy.md")
    assert "docs/policy.md is left out: you left it out of this search" in out
    assert code == 0
    assert "policy copy.md" in out
    assert "also in" not in out
    only = ["query", "refund", "--library", library, "--only-file", place / "docs/policy.md", "--json"]
    assert {c["doc_id"] for c in json.loads(run(capsys, *only)[1])["candidates"]} == {"docs/policy.md"}

    (place / "docs/other.md").write_text("changed")
    code, out, _ = run(capsys, "status", "--library", library, "--json")
    status = json.loads(out)
    nothing = dict.fromkeys(("no_text", "unknown_kind", "stale", "excluded", "missing"), 0)
    assert status["counts"] == nothing | {"indexed": 3, "failed": 1, "changed": 1}
    (failed,) = [document for document in status["documents"] if document["state"] == "failed"]
    assert failed["doc_id"] == "docs/broken.pdf"
    assert failed["reason"]
    code, out, _ = run(capsys, "status", "--library", library)
    assert "failed: docs/broken.pdf: " in out
    assert "changed on disk: docs/other.md" in out

    code, out, _ = run(capsys, "forget", place / "docs", "--library", library)
    assert code == 0
    assert "not touched" in out
    assert json.loads(run(capsys, "status", "--library", library, "--json")[1])["library"]["texts"] == 0
    assert (place / "docs/policy.md").is_file()


@pytest.mark.usefixtures("words")
@pytest.mark.parametrize(
    ("arguments", "code", "words_in_reason"),
    [
        (["index", "{place}/nowhere"], 1, "there is no folder"),
        (["index", "{place}/docs/policy.md"], 1, "is a file"),
        (["index"], 1, "no library"),
        (["query", "x"], 1, "no library"),
        (["status"], 1, "no library"),
        (["forget", "x"], 1, "no library"),
        (["query", "x", "--policy", "best"], 2, "plain or source or evidence"),
        (["query", "x", "--retrieve-k", "0"], 2, "from 1 to 10,000"),
        (["query", "x", "--return-n", "many"], 2, "'many'"),
        (["query", "x", "--config", "{place}/none.toml"], 2, "none.toml"),
        (["query"], 2, "TEXT"),
        (["dance"], 2, "dance"),
        (["query", "x", "--screenshot", "a.png"], 1, "need the window"),
        ([], 1, "no window"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words_in_reason: str
) -> None:
    got, out, err = run(capsys, "--library", place / "library", *(a.format(place=place) for a in arguments))
    assert (got, out) == (code, "")
    assert words_in_reason in err
    assert "Traceback" not in err
    assert err.strip().splitlines()[-1].startswith("twinspect")


@pytest.mark.usefixtures("words")
def test_questions_that_cannot_be_asked_are_refused_and_long_ones_answered(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = place / "library"
    run(capsys, "index", place / "docs", "--library", library)
    for question, reason in (("", "empty"), ("  \n", "empty"), ("x" * 20_001, "20,000")):
        code, _, err = run(capsys, "query", question, "--library", library)
        assert code == 1
        assert reason in err
    code, out, _ = run(capsys, "query", "возврат 返金 " * 1200, "--library", library, "--json")
    trace = json.loads(out)
    assert code == 0
    assert trace["query_tokens"] > trace["query_tokens_seen"] == 256
    for flag in ("--leave-out", "--only-file", "--prefer"):
        code, _, err = run(capsys, "query", "x", "--library", library, flag, "nowhere.md")
        assert code == 1
        assert "no document nowhere.md" in err


@pytest.mark.usefixtures("words")
def test_settings_come_from_the_library_the_config_and_the_flags(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = place / "library"
    run(capsys, "index", place / "docs", "--library", library)
    (library / "settings.toml").write_text("retrieve-k = 11\nreturn-n = 2\n")
    (place / "tool.toml").write_text("[rag]\nreturn-n = 3\npolicy = 'plain'\n")
    arguments = [
        "query",
        "refund",
        "--library",
        library,
        "--config",
        place / "tool.toml",
        "--policy",
        "source",
        "--json",
    ]
    settings = json.loads(run(capsys, *arguments)[1])["settings"]
    assert settings["retrieve-k"]["value"] == 11
    assert settings["retrieve-k"]["file"].endswith("settings.toml")
    assert (settings["return-n"]["value"], settings["policy"]["value"]) == (3, "source")
    (library / "settings.toml").write_text("retrieve_k = 11\n")
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert "retrieve_k" in err


@pytest.mark.usefixtures("words")
def test_document_text_commands_no_terminal(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "docs/evil.md").write_text("refund \x1b[2J\x07 \N{RIGHT-TO-LEFT OVERRIDE}evil " * 3)
    library = place / "library"
    run(capsys, "index", place / "docs", "--library", library)
    _, out, _ = run(capsys, "query", "evil refund", "--library", library)
    assert "evil" in out
    assert not {"\x1b", "\x07", "\N{RIGHT-TO-LEFT OVERRIDE}"} & set(out)
    _, out, _ = run(capsys, "query", "evil refund", "--library", library, "--json")
    assert not {"\x1b", "\x07"} & set(out)


def test_the_window_is_handed_in(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[OpenRequest] = []

    def open_window(request: OpenRequest) -> int:
        asked.append(request)
        return 7

    assert main([], open_window=open_window) == 7
    assert main(["demo"], open_window=open_window) == 7
    assert main(["--library", "x"], open_window=open_window) == 7
    assert asked == [OpenRequest(), OpenRequest(sample=True), OpenRequest(Path("x"))]


@pytest.mark.usefixtures("words")
def test_a_picture_is_handed_in(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = place / "library"
    run(capsys, "index", place / "docs", "--library", library)
    saved = []
    code = main(
        ["query", "refund", "--library", str(library), "--screenshot", "a.png"],
        save_screenshot=lambda *given: saved.append(given),
    )
    assert code == 0
    assert saved[0][0] == library
    assert saved[0][1].query == "refund"


@pytest.mark.real_model
@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_ctrl_c_ends_with_130_and_keeps_what_was_done(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(place / "cache"))  # the model's graph is not there: it takes its time
    for n in range(60):
        (place / f"docs/{n}.md").write_text(document(*(passage(f"subject{n} part{m}", m) for m in range(4))))
    library = place / "library"
    command = [sys.executable, "-m", "pipeline", "index", str(place / "docs"), "--library", str(library)]
    # What a shell starts in the background inherits that Ctrl+C is ignored, and so would the child.
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=listening) as child:
        try:
            deadline = time.monotonic() + 90
            while not (library / "library.sqlite3").exists() and time.monotonic() < deadline:
                time.sleep(0.1)
            time.sleep(6)
            child.send_signal(signal.SIGINT)
            # A tenth of a second on a calm machine; on a busy one, importing torch holds the interpreter for longer.
            _, err = child.communicate(timeout=90)
        finally:
            child.kill()
    assert child.returncode == cli.CANCELLED, err
    assert "cancelled" in err
    assert "Traceback" not in err
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["documents"] == 64


@pytest.mark.usefixtures("words")
def test_text_answers_say_what_json_says(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = place / "library"
    run(capsys, "index", place / "docs", "--library", library)
    (place / "docs/policy.md").write_text("changed since")
    (place / "docs/old/policy copy.md").unlink()
    out = run(capsys, "query", "refund within days", "--library", library)[1]
    assert "policy.md  (changed since it was indexed: index again)" in out
    assert "policy copy.md  (missing since it was indexed: index again)" in out
    assert "the model read 256 of" in run(capsys, "query", "refund " * 900, "--library", library)[1]
    assert "nothing fits" in run(capsys, "query", "refund", "--library", library, "--max-total-chars", "1")[1]


@pytest.mark.usefixtures("words")
def test_documents_are_named_by_a_path_below_their_folder_too(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = place / "library"
    run(capsys, "index", place / "docs", "--library", library)
    out = run(capsys, "query", "refund", "--library", library, "--only-file", "old/policy copy.md", "--json")[1]
    assert {found["doc_id"] for found in json.loads(out)["candidates"]} == {"docs/old/policy copy.md"}


@pytest.mark.usefixtures("words")
@pytest.mark.skipif(os.name != "posix", reason="names that are no Unicode")
def test_names_that_are_no_unicode_make_json_all_the_same(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (Path(os.fsdecode(os.fsencode(place / "docs") + b"/caf\xe9 \\udce9.md"))).write_text(
        document(passage("coffee beans"))
    )
    library = place / "library"
    run(capsys, "index", place / "docs", "--library", library)
    code, out, _ = run(capsys, "query", "coffee beans \udcff", "--library", library, "--json")
    trace = json.loads(out)
    assert code == 0
    assert trace["query"].endswith("\N{REPLACEMENT CHARACTER}")
    assert trace["evidence"][0]["source_path"].endswith("caf\\xe9 \\udce9.md")
    json.dumps(trace, ensure_ascii=False).encode()  # no half of a surrogate pair anywhere


def test_a_closed_output_is_no_failure(place: Path) -> None:
    command = f"exec {sys.executable} -m pipeline status --library '{place}/none' >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
