"""What a library says of its folders: rules, states, counts; and that it stays so through every change."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.errors import Cancelled, RootError, SettingError
from pipeline.index import index_library
from pipeline.index_settings import IndexSettings, index_settings
from pipeline.library import LibraryReader, LibraryStatus
from pipeline.progress import CancelToken, Progress
from pipeline.settings import Layer
from pipeline.textkeys import fold_key
from tests.bench.fuzz_extract import mutants
from tests.support.encoder import WordEncoder
from tests.support.folders import Folder, answer_bytes, document, passage
from tests.support.life import Life, answers, documents, faults

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file kinds")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def status_of(folder: Folder) -> LibraryStatus:
    reader = LibraryReader(folder.library)
    try:
        return reader.status()
    finally:
        reader.close()


def names(folder: Folder) -> list[str]:
    return [item.doc_id.removeprefix("docs/") for item in status_of(folder).documents]


def rules(folder: Folder) -> list[tuple[str, str, int]]:
    return [(row.rel_path, row.rule, row.entries) for row in status_of(folder).excluded]


# --- rules ---


def test_gitignore_files_count_in_their_folder_and_below_the_nearest_first(folder: Folder) -> None:
    page = document(passage("harbour crane"))
    folder.write(
        {
            ".gitignore": "*.log\n/build/\n# a comment\n\n!important.log\nsub/secret.md\n",
            "a.md": page,
            "a.log": page,
            "important.log": page,
            "build/out.md": page,
            "sub/.gitignore": "!kept.log\r\ndrafts\r\n",
            "sub/kept.log": page,
            "sub/other.log": page,
            "sub/secret.md": page,
            "sub/drafts/one.md": page,
            "sub/build/fine.md": page,
        }
    )
    folder.index()
    assert names(folder) == ["a.md", "important.log", "sub/build/fine.md", "sub/kept.log"]
    assert rules(folder) == [
        ("a.log", ".gitignore: *.log", 1),
        ("build/", ".gitignore: /build/", 1),
        ("sub/drafts/", "sub/.gitignore: drafts", 1),
        ("sub/other.log", ".gitignore: *.log", 1),
        ("sub/secret.md", ".gitignore: sub/secret.md", 1),
    ]
    status = status_of(folder)
    assert status.counts["excluded"] == 5
    assert status.left_out == {"hidden": 2}


def test_gitignore_can_be_turned_off_for_a_folder_and_stays_off(folder: Folder) -> None:
    folder.write({".gitignore": "*.log", "a.log": document(passage("log")), "b.md": document(passage("notes", 1))})
    folder.index()
    assert names(folder) == ["b.md"]
    folder.index(gitignore=False)
    assert names(folder) == ["a.log", "b.md"]
    folder.index()
    assert names(folder) == ["a.log", "b.md"]
    assert [root.gitignore for root in status_of(folder).roots] == [False]
    report = folder.index(gitignore=True)
    assert (names(folder), report.removed, report.excluded) == (["b.md"], 1, 1)


def test_a_roots_own_patterns_outrank_its_gitignore_and_are_kept(folder: Folder) -> None:
    folder.write(
        {".gitignore": "*.md", "a.md": document(passage("one")), "b.txt": document(passage("two", 1)), "c.txt": "three"}
    )
    index_library(folder.library, [folder.root], encoder=folder.encoder, exclude=["b.*", "!a.md"])
    assert names(folder) == ["a.md", "c.txt"]
    folder.index()
    assert names(folder) == ["a.md", "c.txt"]
    assert rules(folder) == [("b.txt", "b.*", 1)]
    index_library(folder.library, encoder=folder.encoder, exclude=[])
    assert names(folder) == ["b.txt", "c.txt"]


def test_an_impossible_pattern_changes_nothing(folder: Folder) -> None:
    folder.write({"a.md": "one"})
    folder.index()
    with pytest.raises(SettingError, match="exclude"):
        index_library(folder.library, encoder=folder.encoder, exclude=["[z-a]"])
    assert folder.index().documents == 1


def test_broken_ignore_files_cost_nothing_but_themselves(folder: Folder) -> None:
    folder.write({".gitignore": b"[z-a]\n\xff\xfe.log\n*.tmp\n!\n", "a.md": "one", "b.tmp": "two"})
    (folder.root / "deep/.gitignore").mkdir(parents=True)
    folder.write({"deep/c.md": "three"})
    folder.index()
    assert names(folder) == ["a.md", "deep/c.md"]


def test_a_million_ignored_files_are_a_few_rows(folder: Folder) -> None:
    folder.write({"a.md": "one", "cache/x.md": "two"} | {f"logs/{n:04}.log": "x" for n in range(3_000)})
    for n in range(150):
        folder.write({f"many/{n}/{k}.log": "x" for k in range(15)})
    report = index_library(folder.library, [folder.root], encoder=folder.encoder, exclude=["*.log", "cache/"])
    assert names(folder) == ["a.md"]
    found = rules(folder)
    assert ("cache/", "cache/", 1) in found
    assert ("logs/", "*.log", 3_000) in found
    assert len(found) <= 2_010
    assert sum(entries for *_, entries in found) == report.excluded == 3_000 + 150 * 15 + 1


@posix
def test_links_devices_and_the_library_itself_are_counted(folder: Folder) -> None:
    folder.write({"a.md": "one", ".hidden": "x"})
    (folder.root / "link.md").symlink_to("a.md")
    os.mkfifo(folder.root / "fifo")
    inside = folder.root / "my library"
    index_library(inside, [folder.root], encoder=folder.encoder)
    again = index_library(inside, encoder=folder.encoder)
    assert (again.documents, again.unchanged) == (1, 1)
    reader = LibraryReader(inside)
    assert reader.status().left_out == {"link": 1, "special": 1, "hidden": 1, "own": 1}
    reader.close()


def test_a_library_in_its_own_folder_indexes_all_but_its_own_files(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.library = folder.root
    folder.write({"a.md": "one", "sub/library.txt": "two"})
    folder.index()
    report = folder.index()
    assert (report.documents, report.unchanged) == (2, 2)


def test_what_lies_in_an_unreadable_folder_is_not_gone(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write({"a.md": "one", "closed/b.md": "two", "closed-too.md": "three", "z.md": "four"})
    folder.index()
    folder.remove("z.md", "closed-too.md")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", scandir)
        assert folder.index().removed == 2
    assert names(folder) == ["a.md", "closed/b.md"]
    status = status_of(folder)
    assert [(row.rel_path, row.what, row.rule) for row in status.passed_over] == [
        ("closed", "unreadable", "no permission to read it")
    ]
    folder.index()
    assert status_of(folder).passed_over == ()


# --- states ---


def test_unknown_kinds_are_told_apart_from_failures(folder: Folder) -> None:
    folder.write(
        {
            "a.md": document(passage("one")),
            "broken.pdf": b"%PDF-1.7 nothing",
            "b.pyc": b"\x00\x01\x02" * 99,
            "c.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 64,
            "d.zip": b"PK\x05\x06" + b"\0" * 18,
            "empty.txt": "",
        }
    )
    report = folder.index()
    assert (report.added, report.failed, report.unknown_kind) == (2, 1, 3)
    status = status_of(folder)
    assert status.counts == {
        "indexed": 1, "no_text": 1, "failed": 1, "unknown_kind": 3, "stale": 0, "excluded": 0, "changed": 0,
        "missing": 0,
    }  # fmt: skip
    whys = {item.doc_id: item.why for item in status.documents if item.state == "failed"}
    assert whys == {
        "docs/broken.pdf": "damaged", "docs/b.pyc": "unknown_kind", "docs/c.png": "unknown_kind",
        "docs/d.zip": "unknown_kind",
    }  # fmt: skip
    again = folder.index()
    assert (again.unchanged, again.failed, again.unknown_kind) == (2, 1, 3)


def test_a_file_that_recovers_is_indexed_again_without_a_trace_of_its_failure(folder: Folder) -> None:
    good = document(passage("ferry timetable"))
    folder.write({"a.txt": good})
    folder.index()
    folder.write({"a.txt": bytes(range(256)) * 3})
    report = folder.index()
    assert report.failed == 1
    (stale,) = status_of(folder).documents
    assert (stale.state, stale.why) == ("stale", "not_text")
    assert folder.ask("ferry timetable").evidence == ()
    folder.write({"a.txt": good})
    report = folder.index()
    assert report.embedded == 0
    (fresh,) = status_of(folder).documents
    assert (fresh.state, fresh.why, fresh.reason) == ("indexed", "", "")
    assert len(folder.ask("ferry timetable").evidence) == 1


def test_limits_are_settings(folder: Folder) -> None:
    folder.write({"a.txt": "word " * 300_000, "b.txt": "short", "settings.toml": "x"})
    folder.library.mkdir()
    (folder.library / "settings.toml").write_text("return-n = 3\n[index]\nmax-file-mb = 1\n")
    report = folder.index()
    assert report.failed == 1
    assert "the limit is 1 MB" in next(item.reason for item in status_of(folder).documents if item.state == "failed")
    (folder.library / "settings.toml").write_text("[index]\nmax-files = 1\n")
    with pytest.raises(SettingError, match="max-file-mb"):
        folder.index()


class Words(WordEncoder):
    """The small encoder in the place of the model that the command line loads."""

    runtime = "words"

    def close(self) -> None: ...


def test_status_lists_states_with_their_reasons_and_filters_them(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipeline.embed.local.LocalEncoder", lambda model=None: Words(64))
    folder.write(
        {
            "a.md": document(passage("one")), "gone.md": "x", "edited.md": "y", "broken.pdf": b"%PDF-1.7 nothing",
            "b.pyc": bytes(range(256)), "c.pyc": bytes(range(256)), "logs/x.log": "z", ".gitignore": "*.log",
        }
    )  # fmt: skip

    def run(*arguments: object) -> str:
        assert main([*map(str, arguments), "--library", str(folder.library)]) == 0
        return capsys.readouterr().out

    said = run("index", folder.root)
    assert "1 failed, 2 of unknown kind, 1 excluded" in said
    assert "quick check" in said
    folder.remove("gone.md")
    folder.write({"edited.md": "now something else"})
    lines = run("status").splitlines()
    assert "3 indexed, 1 failed, 2 of unknown kind, 1 excluded, 1 changed on disk, 1 missing on disk" in lines
    assert "passed over: 1 hidden name" in lines
    assert [line for line in lines if line.startswith("  ")] == [
        "  failed: docs/broken.pdf: a damaged PDF: it cannot be opened",
        "  changed on disk: docs/edited.md",
        "  missing on disk: docs/gone.md",
        "  excluded: 1 by .gitignore: *.log (--state excluded lists them)",
        "  of unknown kind: 2 .pyc (--state unknown_kind lists them)",
    ]
    listed = [line for line in run("status", "--state", "unknown_kind").splitlines() if line.startswith("  ")]
    assert listed == ["  docs/b.pyc: unknown kind: .pyc", "  docs/c.pyc: unknown kind: .pyc"]
    (excluded,) = [line for line in run("status", "--state", "excluded").splitlines() if line.startswith("  ")]
    assert excluded == "  excluded: docs/logs/x.log: .gitignore: *.log"
    told = json.loads(run("status", "--state", "failed", "--state", "missing", "--json"))
    assert [(item["doc_id"], item["why"], item["on_disk"]) for item in told["documents"]] == [
        ("docs/broken.pdf", "damaged", "failed"), ("docs/gone.md", "", "missing"),
    ]  # fmt: skip
    assert told["counts"]["unknown_kind"] == 2
    assert "1 changed, 0 moved, 0 removed" in run("index", folder.root / "edited.md")
    assert "1 removed" in run("index", folder.root / "gone.md")
    assert "3 unchanged" not in run("index", "--retry-failed")
    (folder.root / "broken.pdf").write_text("Plain text after all.")
    assert "1 changed" in run("index", "--retry-failed", folder.root / "broken.pdf")


def test_everything_indexed_stands_where_it_is_said_to_stand(tmp_path: Path) -> None:
    """The offset rule from the file to the citation, over damaged files of all kinds."""
    folder = Folder(tmp_path, WordEncoder(64))
    folder.write(dict(mutants(160, 5)))
    folder.index()
    assert faults(folder.library) == []
    with closing(LibraryReader(folder.library)) as reader:
        held = {item.doc_id: reader.document_text(item.doc_id).text for item in reader.documents() if item.chunks}
    assert len(held) > 30
    seen = 0
    for text in list(held.values())[::6]:
        trace = folder.ask(text[:200] or "text", retrieve_k=50, return_n=50)
        for block in trace.evidence:
            for place in block.citations:
                seen += 1
                assert fold_key(held[place.doc_id][place.start : place.end]) == fold_key(block.content)
    assert seen > 100


# --- texts that come back ---


def spares(folder: Folder) -> int:
    with sqlite3.connect(folder.library / "library.sqlite3") as db:
        count: int = db.execute("SELECT COUNT(*) FROM spare_texts").fetchone()[0]
    db.close()
    return count


def test_a_text_that_comes_back_costs_no_embedding(folder: Folder) -> None:
    pages = {f"{n}.md": document(passage(f"topic{n} matter{n}", n)) for n in range(4)}
    folder.write(pages)
    folder.index()
    before = answer_bytes(folder.ask("topic2 matter2"), folder.root.parent)
    folder.remove("2.md", "3.md")
    assert folder.index().texts == 2
    assert spares(folder) == 2
    assert folder.no_orphans()
    folder.write({"2.md": pages["2.md"], "3.md": pages["3.md"]})
    report = folder.index()
    assert (report.added, report.embedded, report.texts) == (2, 0, 4)
    assert spares(folder) == 0
    assert answer_bytes(folder.ask("topic2 matter2"), folder.root.parent) == before
    assert folder.no_orphans()


@pytest.mark.parametrize(
    ("settings", "kept"),
    [({"spare-vectors": 2}, 2), ({"spare-vectors": 0}, 0), ({"spare-days": 0}, 0), ({}, 5)],
)
def test_spare_vectors_are_bounded_by_count_and_age(folder: Folder, settings: dict[str, object], kept: int) -> None:
    folder.write({f"{n}.md": document(passage(f"topic{n}", n)) for n in range(5)})
    folder.index()
    folder.remove(*(f"{n}.md" for n in range(5)))
    in_force = index_settings([Layer(settings, "flag")])
    index_library(folder.library, encoder=folder.encoder, settings=in_force)
    assert spares(folder) == kept
    with sqlite3.connect(folder.library / "library.sqlite3") as db:
        db.execute("UPDATE spare_texts SET set_aside_at = '2020-01-01T00:00:00+00:00'")
    db.close()
    folder.write({"new.md": "new"})
    folder.index()
    assert spares(folder) == 0


def test_spare_vectors_of_another_model_are_not_used(folder: Folder) -> None:
    page = document(passage("lighthouse keeper"))
    folder.write({"a.md": page})
    folder.index()
    folder.remove("a.md")
    folder.index()
    assert spares(folder) == 1
    folder.write({"a.md": page, "b.md": "another"})
    folder.encoder = WordEncoder(128, "others")
    report = folder.index()
    assert report.embedded == 2
    assert folder.no_orphans()


# --- one file of many ---


def test_one_file_is_brought_up_to_date_by_itself(folder: Folder) -> None:
    folder.write({"a.md": "alpha", "b.md": "beta", "sub/c.md": "gamma", "sub/d.md": "delta", "sub.md": "epsilon"})
    folder.index()
    folder.write({"a.md": "alpha two", "b.md": "beta two", "sub/c.md": "gamma two", "sub/new.md": "zeta"})
    folder.remove("sub/d.md")

    def only(*places: str) -> tuple[int, int, int, int]:
        done = index_library(folder.library, encoder=folder.encoder, only=[folder.root / place for place in places])
        return done.added, done.changed, done.removed, done.unchanged

    assert only("a.md") == (0, 1, 0, 0)
    assert status_of(folder).counts["changed"] == 2
    assert only("sub/d.md") == (0, 0, 1, 0)
    assert only("sub", "sub/c.md") == (1, 1, 0, 0)
    assert status_of(folder).counts["changed"] == 1
    assert names(folder) == ["a.md", "b.md", "sub.md", "sub/c.md", "sub/new.md"]
    assert only("") == (0, 1, 0, 4)
    with pytest.raises(RootError, match="no folder of the library"):
        only("../elsewhere.md")


def test_a_folder_larger_than_every_step_is_compared_to_its_end(folder: Folder) -> None:
    names_now = [f"{n % 7}/{n:04}.md" for n in range(1_250)]
    folder.write({name: f"text {name}" for name in names_now})
    assert folder.index().added == 1_250
    assert folder.index().unchanged == 1_250
    folder.remove(*names_now[:620])
    folder.write({name: f"new text {name}" for name in names_now[620:1_150]})
    report = folder.index()
    assert (report.removed, report.changed, report.unchanged, report.documents) == (620, 530, 100, 630)
    assert names(folder) == sorted(names_now[620:])
    assert faults(folder.library) == []


def test_a_file_that_became_a_folder_and_back(folder: Folder) -> None:
    folder.write({"x": "alpha", "x.md": "beta"})
    folder.index()
    folder.remove("x")
    folder.write({"x/y.md": "gamma"})
    index_library(folder.library, encoder=folder.encoder, only=[folder.root / "x"])
    assert names(folder) == ["x.md", "x/y.md"]
    folder.remove("x/y.md")
    (folder.root / "x").rmdir()
    folder.write({"x": "delta"})
    index_library(folder.library, encoder=folder.encoder, only=[folder.root / "x"])
    assert names(folder) == ["x", "x.md"]


def test_one_file_is_still_under_the_rules(folder: Folder) -> None:
    folder.write({"a.md": "alpha", ".gitignore": "b.md", "b.md": "beta", ".hidden/c.md": "gamma"})
    folder.index()
    places = [folder.root / "b.md", folder.root / ".hidden/c.md"]
    assert index_library(folder.library, encoder=folder.encoder, only=places).added == 0
    folder.write({".gitignore": "a.md"})
    assert index_library(folder.library, encoder=folder.encoder, only=[folder.root / "a.md"]).removed == 1


# --- cancel and failure ---


class SlowEncoder(WordEncoder):
    """Cancels a run in its middle."""

    def __init__(self, token: CancelToken, after: int) -> None:
        super().__init__(64)
        self.token, self.after = token, after

    def encode(self, texts):  # type: ignore[no-untyped-def]
        if len(self.encoded) >= self.after:
            self.token.cancel()
        time.sleep(0.004 * len(texts))  # as a model takes: a batch is committed before the next one is made
        return super().encode(texts)


def test_a_cancelled_run_keeps_what_is_committed_and_the_next_one_ends_it(folder: Folder) -> None:
    folder.write({f"{n:03}.md": document(passage(f"topic{n}", n)) for n in range(300)})
    token = CancelToken()
    with pytest.raises(Cancelled):
        index_library(folder.library, [folder.root], encoder=SlowEncoder(token, 90), cancel=token)
    status = status_of(folder)
    assert 0 < len(status.documents) < 300
    assert status.not_read == 300 - len(status.documents)
    kept = len(status.documents)
    folder.encoder = WordEncoder(64)
    report = folder.index()
    assert (report.documents, report.unchanged, report.embedded) == (300, kept, 300 - kept)
    assert status_of(folder).not_read == 0
    assert folder.no_orphans()


def test_progress_counts_what_is_really_done(folder: Folder) -> None:
    folder.write({f"{n:03}.md": f"text {n}" for n in range(40)})
    folder.index()
    folder.write({f"{n:03}.md": f"new text {n}" for n in range(10)} | {f"new{n}.md": "x" for n in range(5)})
    told: list[Progress] = []
    index_library(folder.library, encoder=folder.encoder, progress=told.append)
    reading = [one for one in told if one.stage != "scanning"]
    assert {(one.total) for one in reading} == {45}
    assert reading[0].done == 30
    assert reading[-1].done == 45
    assert [one.done for one in reading] == sorted(one.done for one in reading)


# --- at random ---


@pytest.mark.parametrize("seed", [1, 2])
def test_twenty_rounds_of_changes_leave_the_library_as_a_fresh_one(tmp_path: Path, seed: int) -> None:
    folder = Folder(tmp_path, WordEncoder(64))
    chance = random.Random(seed)
    life = Life(folder.root, chance)
    for _ in range(30):
        life.step()
    for number in range(10):
        for _ in range(chance.randint(1, 14)):
            life.step()
        folder.index()
        fresh = Folder(tmp_path / f"fresh{number}", WordEncoder(64))
        fresh.root = folder.root
        fresh.index()
        asked = chance.randrange(1 << 30)
        assert answers(folder.library, folder.encoder, random.Random(asked)) == answers(
            fresh.library, fresh.encoder, random.Random(asked)
        ), f"round {number}"
        assert faults(folder.library) == []
        assert documents(folder.library) == documents(fresh.library)
        assert rules(folder) == rules(fresh)


def test_an_edit_that_keeps_length_and_time_is_told_as_changed(folder: Folder) -> None:
    folder.write({"a.md": "there are 27 sheep on the meadow"})
    folder.index()
    file = folder.root / "a.md"
    facts = file.stat()
    file.write_text("there are 88 sheep on the meadow")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    with closing(LibraryReader(folder.library)) as reader:
        assert reader.status().freshness[folder.doc_id("a.md")] == "changed"
    assert folder.index().changed == 1


def test_an_empty_stand_in_for_a_folder_takes_nothing_away(folder: Folder) -> None:
    """As a mount point looks while its drive is not there."""
    folder.write({"a.md": "the meadow", "sub/b.md": "the harbour"})
    folder.index()
    aside = folder.root.with_name("aside")
    folder.root.rename(aside)
    folder.root.mkdir()
    with pytest.raises(RootError, match="is empty and not the folder that was indexed"):
        folder.index()
    with closing(LibraryReader(folder.library)) as reader:
        assert {document.state for document in reader.documents()} == {"indexed"}
    folder.root.rmdir()
    aside.rename(folder.root)
    assert (folder.index().unchanged, folder.index().removed) == (2, 0)
    for name in ("a.md", "sub/b.md"):
        (folder.root / name).unlink()
    (folder.root / "sub").rmdir()
    assert folder.index().removed == 2  # the folder itself, emptied


def test_the_default_settings_are_those_of_the_records() -> None:
    assert index_settings() == IndexSettings()
