"""The history of a library: kept beside it, bounded, searchable, forgotten for good; and never in an answer's way."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import HistoryError, HistoryReadOnly
from pipeline.records import Trace
from pipeline.store import history as history_module
from pipeline.store.history import History, history_file, set_aside, writable
from pipeline.store.lock import writer_lock
from tests.support.folders import Folder, document, passage


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.write({"a.md": document(passage("lease deposit")), "b.md": document(passage("lease deposit"))})
    made.index()
    return made


@pytest.fixture
def trace(folder: Folder) -> Trace:
    return folder.ask("lease deposit", return_n=3, left_out=["b.md"], preferred=["a.md"])


def named(trace: Trace, *texts: str) -> list[Trace]:
    return [replace(trace, query=text) for text in texts]


def test_an_entry_says_what_was_asked_and_what_came(folder: Folder, trace: Trace) -> None:
    history = History(folder.library)
    assert history.entries() == ()
    assert not history_file(folder.library).exists()  # looking makes nothing
    entry_id = history.remember(trace)
    (entry,) = history.entries()
    assert entry == history.entry(entry_id)
    assert (entry.text, entry.settings, entry.only_document) == ("lease deposit", {"return-n": 3}, None)
    assert (entry.left_out, entry.preferred, entry.pinned) == (("docs/b.md",), ("docs/a.md",), False)
    assert entry.generation == trace.library.generation
    assert entry.figures.dropped == {"left_out": 1}
    assert (entry.figures.returned, entry.figures.cited_files, entry.figures.ms) == (1, 1, trace.timings_ms.total)
    history.close()
    again = History(folder.library)
    assert again.entries() == (entry,)
    again.close()


def test_the_same_again_counts_and_a_half_typed_question_is_replaced(folder: Folder, trace: Trace) -> None:
    history = History(folder.library)
    first = history.remember(trace)
    assert history.remember(trace) == first
    assert history.entries()[0].times == 2
    other = history.remember(replace(trace, left_out=()))
    assert other != first
    half, whole = named(trace, "how do", "how do I")
    typed = history.remember(half)
    history.remember(whole, replaces=typed)
    assert [entry.text for entry in history.entries()] == ["how do I", "lease deposit", "lease deposit"]
    history.pin(first)
    history.remember(trace, replaces=first)
    assert history.entry(first) is not None  # what is pinned stays
    history.close()


def test_search_pin_forget(folder: Folder, trace: Trace) -> None:
    history = History(folder.library)
    texts = ("Straße 100%", "strasse und Weg", "a_b", "axb", "back\\slash 'quote'")
    ids = {text: history.remember(each) for text, each in zip(texts, named(trace, *texts), strict=True)}

    def found(search: str) -> list[str]:
        return [entry.text for entry in history.entries(search)]

    assert found("STRASSE") == ["strasse und Weg", "Straße 100%"]
    assert found("weg strasse") == ["strasse und Weg"]
    assert found("%") == ["Straße 100%"]
    assert found("a_b") == ["a_b"]
    assert found("\\ '") == ["back\\slash 'quote'"]
    assert [entry.text for entry in history.entries(limit=2, offset=1)] == ["axb", "a_b"]
    history.pin(ids["a_b"])
    assert [entry.text for entry in history.entries(pinned_only=True)] == ["a_b"]
    history.forget(ids["axb"])
    assert history.count() == 4
    assert history.forget_all() == 3
    assert found("") == ["a_b"]
    assert history.forget_all(pinned_too=True) == 1
    history.close()


def test_forgotten_is_gone_from_the_disk(folder: Folder, trace: Trace) -> None:
    history = History(folder.library)
    secret, *rest = named(trace, "the zebra secret", *(f"question {n}" for n in range(50)))
    forgotten = history.remember(secret)
    for each in rest:
        history.remember(each)
    history.forget(forgotten)
    files = [file for file in folder.library.iterdir() if file.name.startswith("history")]
    assert not any(b"zebra" in file.read_bytes() for file in files)
    history.close()


def test_the_oldest_go_and_the_pinned_stay(folder: Folder, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "MOST_ENTRIES", 5)
    history = History(folder.library)
    for number, each in enumerate(named(trace, *(f"q{n}" for n in range(12)))):
        entry_id = history.remember(each)
        if number in (1, 6):
            history.pin(entry_id)
    assert [entry.text for entry in history.entries()] == ["q11", "q10", "q9", "q8", "q7", "q6", "q1"]
    history.close()


def test_it_is_kept_while_another_process_indexes_and_by_several_windows_at_once(folder: Folder, trace: Trace) -> None:
    before = {file.name: file.read_bytes() for file in folder.library.glob("library.sqlite3")}
    with writer_lock(folder.library):
        histories = [History(folder.library) for _ in range(3)]

        def ask(history: History, number: int) -> None:
            for each in named(trace, *(f"{number} {n}" for n in range(40))):
                history.remember(each)

        threads = [threading.Thread(target=ask, args=(each, number)) for number, each in enumerate(histories)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert histories[0].count() == 120
    for each in histories:
        each.close()
    assert before == {file.name: file.read_bytes() for file in folder.library.glob("library.sqlite3")}


@pytest.mark.parametrize("content", [b"not a database, but long enough to be taken for one" * 40, b"SQLite format 3\0"])
def test_a_damaged_history_costs_the_history_alone(folder: Folder, trace: Trace, content: bytes) -> None:
    history_file(folder.library).write_bytes(content)
    history = History(folder.library)
    for use in (history.entries, lambda: history.remember(trace), history.forget_all, history.count):
        with pytest.raises(HistoryError, match=r"history\.sqlite3 is damaged .*answers do not need it"):
            use()
    assert folder.ask("lease deposit").evidence
    history_file(folder.library).unlink()
    history.remember(trace)  # the same object goes on with a new file
    assert history.count() == 1
    history.close()


def test_damage_inside_is_told_and_a_newer_history_is_refused(folder: Folder, trace: Trace) -> None:
    history = History(folder.library)
    history.remember(trace)
    history.close()
    db = sqlite3.connect(history_file(folder.library))
    db.execute("UPDATE entries SET figures = '{'")
    db.commit()
    with pytest.raises(HistoryError, match="cannot be used"):
        history.entries()
    db.execute("PRAGMA user_version=9")
    db.close()
    for use in (history.entries, lambda: history.remember(trace)):
        with pytest.raises(HistoryError, match="newer version"):
            use()


def test_where_nothing_can_be_written_it_can_still_be_read(folder: Folder, trace: Trace, tmp_path: Path) -> None:
    history = History(folder.library)
    history.remember(trace)
    history.close()
    with pytest.raises(HistoryError, match="answers do not need it"):
        History(tmp_path / "nowhere").remember(trace)
    if os.name == "posix" and os.geteuid() != 0:
        folder.library.chmod(0o500)
        history_file(folder.library).chmod(0o400)
        try:
            with pytest.raises(HistoryError):
                history.remember(trace)
            assert len(history.entries()) == 1
        finally:
            folder.library.chmod(0o700)
    # An empty file is one that was just made.
    history.close()
    history_file(folder.library).unlink()
    history_file(folder.library).touch()
    history.remember(trace)
    assert history.count() == 1
    history.close()


def test_a_history_that_is_just_being_made_is_none_yet(folder: Folder, trace: Trace) -> None:
    db = sqlite3.connect(history_file(folder.library))
    db.execute("PRAGMA journal_mode=WAL")
    with closing(History(folder.library)) as history:
        assert history.entries() == ()
        assert history.count() == 0
        history.remember(trace)
        assert history.count() == 1
    db.close()


def test_a_history_that_cannot_be_used_is_moved_aside(folder: Folder, trace: Trace) -> None:
    history_file(folder.library).write_bytes(b"not a database, but long enough to be taken for one" * 40)
    aside = set_aside(folder.library)
    assert aside.read_bytes().startswith(b"not a database")
    with closing(History(folder.library)) as history:
        history.remember(trace)
        assert history.count() == 1
    with pytest.raises(HistoryError, match="cannot be moved aside"):
        set_aside(folder.library / "nowhere")


def test_where_nothing_can_be_written_that_is_said(
    folder: Folder, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(History(folder.library)) as history:
        history.remember(trace)
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
        assert not writable(folder.library)
    with closing(History(folder.library)) as history:
        with pytest.raises(HistoryReadOnly, match="questions are not kept"):
            history.remember(trace)
        assert history.count() == 1
