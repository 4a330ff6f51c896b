"""Decisions: kept by content beside the library, honoured by searches, reversible, carried to another library."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.compare import ask_again
from pipeline.duplicates.decided import NOTHING_DECIDED, Decided
from pipeline.duplicates.deciding import (
    decide_documents,
    decide_folder,
    decided_in,
    decline,
    decline_documents,
    leave_out_proposed,
    protect,
    take_back_declined,
    unbound_in,
)
from pipeline.duplicates.records import Decision, Family, Member
from pipeline.duplicates.scan import scan_library
from pipeline.errors import DecisionsError, QueryError
from pipeline.export.again import command_of
from pipeline.export.decisions_file import read_into, write_decisions
from pipeline.index import forget_root, index_library
from pipeline.library import LibraryReader
from pipeline.query import QueryEngine
from pipeline.settings import Layer, resolve
from pipeline.store.decisions import Change, Decisions, decisions_file
from pipeline.store.lock import writer_lock
from pipeline.trace import from_json, left_out_by_choice, to_json
from pipeline.why import why_not
from pipeline.words.fates import TraceWording
from tests.support.folders import Folder, document, passage

LEASE = document(passage("lease deposit"), passage("lease deposit", 1))
RENT = document(passage("rent increase"))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """a.md, b.md and old/c.md are the same bytes; rent.md is another."""
    made = Folder(tmp_path)
    made.write({"a.md": LEASE, "b.md": LEASE, "old/c.md": LEASE, "rent.md": RENT})
    made.index()
    return made


def key_of(folder: Folder, name: str) -> str:
    with closing(LibraryReader(folder.library)) as reader:
        return str(reader.holdings.files([folder.doc_id(name)])[folder.doc_id(name)].content_key)


def decided(folder: Folder) -> list[Decision]:
    with closing(Decisions(folder.library)) as decisions:
        return list(decisions.all())


def left_out(folder: Folder) -> list[str]:
    return sorted(decided_in(folder.library).left_out)


def undo(folder: Folder, batch: str | None = None) -> Any:
    with closing(Decisions(folder.library)) as decisions:
        return decisions.undo(batch)


def redo(folder: Folder, batch: str | None = None) -> Any:
    with closing(Decisions(folder.library)) as decisions:
        return decisions.redo(batch)


def family(folder: Folder, *names: str, proposed: bool = True) -> Family:
    members = tuple(
        Member(
            doc_id=folder.doc_id(name),
            path=str(folder.root / name),
            kind="markdown",
            size=1,
            mtime_ns=1,
            characters=1,
            content_key=key_of(folder, name),
            text_key="",
            tier="identical" if place else None,
            proposed=bool(place) and proposed,
        )
        for place, name in enumerate(names)
    )
    return Family("f" * 64, members, "identical")


# --- the store -------------------------------------------------------------------------------------------------------


def test_looking_makes_nothing_and_deciding_is_journalled(folder: Folder) -> None:
    assert decided_in(folder.library) == NOTHING_DECIDED
    with closing(Decisions(folder.library)) as decisions:
        assert (decisions.all(), decisions.journal(), decisions.batches(), decisions.undo()) == ((), (), (), None)
        assert decisions.revision() == ()
    assert not decisions_file(folder.library).exists()

    batch = decide_documents(folder.library, "left_out", ["docs/b.md"])

    assert (batch.changes, batch.saying) == (1, "leave out: docs/b.md")
    (held,) = decided(folder)
    assert (held.kind, held.subject, held.name) == ("left_out", key_of(folder, "b.md"), "docs/b.md")
    with closing(Decisions(folder.library)) as decisions:
        (entry,) = decisions.journal()
        assert (entry.what, entry.name, entry.before, entry.after) == ("left_out", "docs/b.md", None, "")
        assert (entry.batch, entry.undone, entry.at) == (batch.id, False, held.made_at)
    assert decide_documents(folder.library, "left_out", ["docs/b.md"]).id == ""  # decided so already
    assert decide_documents(folder.library, "note", ["docs/b.md"], value="look again").changes == 1
    assert dict(decided_in(folder.library).notes) == {"docs/b.md": "look again"}


def test_undo_and_redo_by_batch(folder: Folder) -> None:
    first = decide_documents(folder.library, "left_out", ["docs/b.md", "docs/old/c.md"])
    second = decide_documents(folder.library, "note", ["docs/a.md"], value="one")
    third = decide_documents(folder.library, "note", ["docs/a.md"], value="two")
    all_of_it = decided(folder)

    assert undo(folder).id == third.id
    assert dict(decided_in(folder.library).notes) == {"docs/a.md": "one"}
    assert undo(folder).id == second.id
    assert undo(folder).id == first.id
    assert undo(folder) is None
    assert decided(folder) == []
    assert [redo(folder).id for _ in range(3)] == [first.id, second.id, third.id]
    assert redo(folder) is None
    assert decided(folder) == all_of_it  # the time of the decision as well

    assert undo(folder, first.id).undone  # one from the middle
    assert left_out(folder) == []
    with pytest.raises(DecisionsError, match="taken back already"):
        undo(folder, first.id)
    with pytest.raises(DecisionsError, match="decided anew since"):
        undo(folder, second.id)  # its note says something else since
    assert dict(decided_in(folder.library).notes) == {"docs/a.md": "two"}
    with pytest.raises(DecisionsError, match="no batch"):
        undo(folder, "nothing")
    with closing(Decisions(folder.library)) as decisions:
        said = [(entry.what, entry.undone) for entry in decisions.journal()]
    assert said[-3:] == [("note", False), ("left_out", True), ("left_out", True)]
    assert [what for what, _ in said].count("undo") == 4
    assert [what for what, _ in said].count("redo") == 3


def test_what_was_undone_is_not_done_again_by_itself_after_something_new(folder: Folder) -> None:
    old = decide_documents(folder.library, "left_out", ["docs/b.md"])
    undo(folder)
    decide_documents(folder.library, "left_out", ["docs/old/c.md"])
    assert redo(folder) is None
    assert redo(folder, old.id).id == old.id  # but when it is named
    assert left_out(folder) == ["docs/b.md", "docs/old/c.md"]


_STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["preferred", "left_out", "note"]),
            st.sets(st.sampled_from(["a.md", "b.md", "old/c.md", "rent.md"]), min_size=1),
            st.sampled_from(["", "x", None]),
        ),
        st.just("undo"),
        st.just("redo"),
    ),
    max_size=12,
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS)
def test_any_row_of_decisions_can_be_taken_back_to_nothing_and_done_again(folder: Folder, steps: list[Any]) -> None:
    decisions_file(folder.library).unlink(missing_ok=True)
    for step in steps:
        if step == "undo":
            undo(folder)
        elif step == "redo":
            redo(folder)
        else:
            kind, names, value = step
            value = value if kind == "note" or value is None else ""
            decide_documents(folder.library, kind, [folder.doc_id(name) for name in names], value=value)
        now = decided_in(folder.library)
        assert not now.preferred & now.left_out.keys()
    held = decided(folder)
    taken = 0
    while undo(folder) is not None:
        taken += 1
    assert decided(folder) == []
    assert len([None for _ in range(taken) if redo(folder) is not None]) == taken
    assert decided(folder) == held


def test_indexing_does_not_hold_up_deciding_and_a_new_library_keeps_it(folder: Folder) -> None:
    with writer_lock(folder.library):
        db = sqlite3.connect(folder.library / "library.sqlite3")
        db.execute("BEGIN IMMEDIATE")
        decide_documents(folder.library, "left_out", ["docs/b.md"])
        db.rollback()
        db.close()
    for name in ("library.sqlite3", "library.sqlite3-wal", "library.sqlite3-shm", "vectors.faiss"):
        (folder.library / name).unlink(missing_ok=True)
    folder.index()
    assert left_out(folder) == ["docs/b.md"]


def test_several_windows_decide_at_once(folder: Folder) -> None:
    failed: list[Exception] = []

    def decide(number: int) -> None:
        try:
            with closing(Decisions(folder.library)) as decisions:
                for turn in range(5):
                    change = Change("protected", f"/f{number}/{turn}", f"/f{number}/{turn}")
                    assert decisions.decide([change]).changes == 1
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(decided(folder)) == 20


def test_a_damaged_or_newer_file_is_told_and_a_question_does_not_pass_over_it(folder: Folder) -> None:
    decide_documents(folder.library, "left_out", ["docs/b.md"])
    file = decisions_file(folder.library)
    db = sqlite3.connect(file)
    db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(DecisionsError, match="newer version"):
        decided_in(folder.library)
    for name in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        name.unlink(missing_ok=True)
    file.write_bytes(b"no database at all" * 300)
    for use in (decided_in, lambda library: decide_documents(library, "note", ["docs/a.md"], value="x")):
        with pytest.raises(DecisionsError, match=r"damaged.*move it aside"):
            use(folder.library)
    with pytest.raises(DecisionsError, match="damaged"):
        folder.ask("lease deposit")
    assert asked(folder, "lease deposit", decisions=False).evidence
    file.unlink()
    assert folder.ask("lease deposit").left_out == ()


def test_documents_that_cannot_be_decided_about(folder: Folder) -> None:
    decide_documents(folder.library, "note", ["docs/a.md"], value="one")
    for doc_ids, said in ((["docs/a.md", "docs/none.md"], "no document docs/none.md"),):
        with pytest.raises(DecisionsError, match=said):
            decide_documents(folder.library, "left_out", doc_ids)
    with pytest.raises(DecisionsError, match="changed since it was looked at"):
        decide_documents(folder.library, "left_out", ["docs/a.md"], seen={"docs/a.md": "0" * 64})
    with pytest.raises(DecisionsError, match="10,000 are the most"):
        decide_documents(folder.library, "note", ["docs/a.md"], value="x" * 10_001)
    assert [each.value for each in decided(folder)] == ["one"]
    decide_documents(folder.library, "note", ["docs/a.md"], value="half \ud800 a sign")
    assert [each.value for each in decided(folder)] == ["half ? a sign"]


# --- by content, and among copies by name ----------------------------------------------------------------------------


def test_of_byte_identical_copies_only_the_one_that_was_meant(folder: Folder) -> None:
    decide_documents(folder.library, "left_out", ["docs/b.md"])
    decide_documents(folder.library, "preferred", ["docs/old/c.md"])
    assert left_out(folder) == ["docs/b.md"]
    assert decided_in(folder.library).preferred == {"docs/old/c.md"}
    decide_documents(folder.library, "preferred", ["docs/a.md"])  # of one content one is cited first
    assert decided_in(folder.library).preferred == {"docs/a.md"}
    decide_documents(folder.library, "preferred", ["docs/b.md"])  # and none that is left out
    assert (left_out(folder), decided_in(folder.library).preferred) == ([], {"docs/b.md"})
    undo(folder)
    assert (left_out(folder), decided_in(folder.library).preferred) == (["docs/b.md"], {"docs/a.md"})


def test_a_decision_follows_a_file_that_moves_and_jumps_to_no_copy(folder: Folder) -> None:
    decide_documents(folder.library, "left_out", ["docs/b.md"])
    decide_documents(folder.library, "note", ["docs/rent.md"], value="ask Ada")
    (folder.root / "kept").mkdir()
    (folder.root / "b.md").rename(folder.root / "kept" / "renamed.md")
    (folder.root / "rent.md").rename(folder.root / "kept" / "rent.md")
    folder.index()
    now = decided_in(folder.library)
    assert (list(now.left_out), dict(now.notes)) == (["docs/kept/renamed.md"], {"docs/kept/rent.md": "ask Ada"})
    assert unbound_in(folder.library) == ()
    (folder.root / "kept" / "renamed.md").unlink()
    folder.index()
    assert left_out(folder) == []  # a.md and old/c.md were there already, and not meant
    assert [(each.decision.name, each.edited) for each in unbound_in(folder.library)] == [("docs/b.md", False)]
    folder.write({"new.md": LEASE, "kept/b.md": LEASE})
    folder.index()
    assert left_out(folder) == ["docs/kept/b.md"]  # it came back, under the name that is most like
    decide_documents(folder.library, "left_out", ["docs/kept/b.md"], value=None)  # found under its name of now
    assert (left_out(folder), [each.kind for each in decided(folder)]) == ([], ["note"])


def test_a_root_under_another_name_keeps_its_decisions(folder: Folder) -> None:
    decide_documents(folder.library, "left_out", ["docs/b.md"])
    decide_documents(folder.library, "preferred", ["docs/old/c.md"])
    forget_root(folder.library, "docs")
    folder.root.rename(folder.root.with_name("papers"))
    index_library(folder.library, [folder.root.with_name("papers")], encoder=folder.encoder)
    now = decided_in(folder.library)
    assert (list(now.left_out), now.preferred) == (["papers/b.md"], {"papers/old/c.md"})


def test_an_edited_file_is_not_followed_and_that_is_said(folder: Folder) -> None:
    decide_documents(folder.library, "left_out", ["docs/b.md"])
    decline(folder.library, [family(folder, "a.md", "b.md")])
    folder.write({"b.md": LEASE + "\nOne line more.\n"})
    folder.index()
    assert left_out(folder) == []
    assert [(each.decision.name, each.edited) for each in unbound_in(folder.library)] == [("docs/b.md", True)]
    assert folder.ask("lease deposit").left_out == ()
    folder.write({"b.md": LEASE})  # the edit was taken back
    folder.index()
    assert (left_out(folder), unbound_in(folder.library)) == (["docs/b.md"], ())


# --- many at once ----------------------------------------------------------------------------------------------------


def test_by_rule_by_folder_and_by_family(folder: Folder) -> None:
    families = [family(folder, "a.md", "b.md", "old/c.md")]
    batch = leave_out_proposed(folder.library, families)
    assert (left_out(folder), decided_in(folder.library).preferred) == (["docs/b.md", "docs/old/c.md"], {"docs/a.md"})
    assert batch.saying == "leave out 2 copies of 1 family"
    undo(folder)
    assert decided(folder) == []  # in one go
    leave_out_proposed(folder.library, families, folder="docs/old", prefer_heads=False)
    assert (left_out(folder), decided_in(folder.library).preferred) == (["docs/old/c.md"], frozenset())
    undo(folder)
    assert leave_out_proposed(folder.library, [family(folder, "a.md", "b.md", proposed=False)]).id == ""

    assert decide_folder(folder.library, "left_out", str(folder.root / "old")).changes == 1
    assert left_out(folder) == ["docs/old/c.md"]
    assert decide_folder(folder.library, "left_out", "docs").changes == 3
    assert len(left_out(folder)) == 4
    assert decide_folder(folder.library, "left_out", "docs", value=None).changes == 4
    with pytest.raises(DecisionsError, match="no document in"):
        decide_folder(folder.library, "left_out", "docs/none")

    folder.write({"b.md": "other words now"})
    folder.index()
    with pytest.raises(DecisionsError, match="changed since it was looked at"):
        leave_out_proposed(folder.library, families)
    assert decided(folder) == []


def test_sets_that_are_no_duplicates(folder: Folder) -> None:
    declined = family(folder, "a.md", "rent.md")
    decline(folder.library, [declined])
    keys = frozenset(member.content_key for member in declined.members)
    assert dict(decided_in(folder.library).declined) == {declined.key: keys}
    decline(folder.library, [declined], take_back=True)
    assert not decided_in(folder.library).declined
    decline_documents(folder.library, ["docs/a.md", "docs/rent.md"])
    assert list(decided_in(folder.library).declined.values()) == [keys]
    assert take_back_declined(folder.library, ["docs/b.md"]).changes == 1  # of the same content as a.md
    assert not decided_in(folder.library).declined
    decline(folder.library, [family(folder, "a.md", "b.md", "old/c.md")])
    undecided = scan_library(folder.library).families
    assert [len(each.members) for each in undecided] == [3]
    assert scan_library(folder.library, decided=decided_in(folder.library)).families == ()
    (folder.root / "b.md").rename(folder.root / "moved.md")
    folder.index()
    assert scan_library(folder.library, decided=decided_in(folder.library)).families == ()
    folder.write({"fourth.md": LEASE})
    folder.index()
    (again,) = scan_library(folder.library, decided=decided_in(folder.library)).families
    assert len(again.members) == 4
    with pytest.raises(DecisionsError, match="one document alone"):
        decline_documents(folder.library, ["docs/a.md"])


def test_protected_folders(folder: Folder, tmp_path: Path) -> None:
    protect(folder.library, ["docs/old", str(folder.root / "..") + "/docs/./old"])  # the same one twice
    now = decided_in(folder.library)
    assert now.protects(str(folder.root / "old" / "c.md"))
    assert not now.protects(str(folder.root / "older" / "c.md"))
    assert not now.protects(str(folder.root / "a.md"))
    assert len(decided(folder)) == 1
    with pytest.raises(DecisionsError, match="no folder"):
        protect(folder.library, ["docs/none"])
    protect(folder.library, ["docs/old"], take_back=True)
    assert decided_in(folder.library) == NOTHING_DECIDED
    strange = folder.root / os.fsdecode(b"odd \xff")
    try:
        strange.mkdir()
    except OSError:
        return
    protect(folder.library, [str(strange)])
    assert decided_in(folder.library).protects(str(strange / "x.md"))


# --- searches --------------------------------------------------------------------------------------------------------


def asked(folder: Folder, question: str, **how: Any) -> Any:
    engine = QueryEngine(folder.library, folder.encoder)
    try:
        return engine.ask(question, resolve([]), **how)
    finally:
        engine.close()


def test_searches_honour_decisions_and_say_so(folder: Folder) -> None:
    before = folder.ask("lease deposit")
    assert before.evidence[0].doc_id == "docs/a.md"
    decide_documents(folder.library, "left_out", ["docs/b.md"])
    decide_documents(folder.library, "preferred", ["docs/old/c.md"])
    (held,) = [each for each in decided(folder) if each.kind == "left_out"]

    trace = folder.ask("lease deposit")

    first = trace.evidence[0]
    assert (first.doc_id, folder.names(first.source_paths)) == ("docs/old/c.md", ["old/c.md", "a.md"])
    assert (trace.left_out, trace.left_out_decided, trace.left_out_stale) == (("docs/b.md",), ("docs/b.md",), ())
    assert (trace.preferred, trace.preferred_decided) == ((), ("docs/old/c.md",))
    assert left_out_by_choice(trace) == ()
    (fallen,) = [t for t in trace.candidates if t.fate.name == "left_out" and t.candidate.chunk_index == 0]
    said = f"b.md is left out: by your decision of {held.made_at[:10]}, for every search"
    assert TraceWording(trace).fate(fallen) == said
    assert from_json(json.loads(json.dumps(to_json(trace)))) == trace
    assert "--leave-out" not in command_of(trace, folder.library)

    ignoring = asked(folder, "lease deposit", decisions=False)
    assert ignoring.decisions_ignored
    assert ignoring.evidence == before.evidence
    assert "--ignore-decisions" in command_of(ignoring, folder.library)
    with closing(QueryEngine(folder.library, folder.encoder)) as engine:
        assert ask_again(ignoring, engine).evidence == before.evidence
        assert ask_again(trace, engine).evidence == trace.evidence
        told = why_not(engine, trace, "docs/b.md")
        assert "by decision: take that back" in told.evidence.reason
        assert why_not(engine, ignoring, "docs/b.md").outcome != "left_out"


def test_an_open_engine_answers_by_the_decisions_of_now(folder: Folder) -> None:
    """The same engine, the same question: nothing that it remembers stands in a decision's way."""
    with closing(QueryEngine(folder.library, folder.encoder)) as engine:

        def first() -> tuple[str | None, tuple[str, ...]]:
            trace = engine.ask("lease deposit", resolve([]))
            return trace.evidence[0].doc_id, trace.left_out

        assert first() == ("docs/a.md", ())
        decide_documents(folder.library, "preferred", ["docs/b.md"])
        assert first() == ("docs/b.md", ())
        decide_documents(folder.library, "left_out", ["docs/b.md"])
        assert first() == ("docs/a.md", ("docs/b.md",))
        undo(folder)
        assert first() == ("docs/b.md", ())
        (folder.root / "b.md").rename(folder.root / "z.md")
        folder.index()
        assert first() == ("docs/z.md", ())
        decisions_file(folder.library).rename(folder.library / "aside")
        for name in ("-wal", "-shm"):
            (folder.library / f"decisions.sqlite3{name}").unlink(missing_ok=True)
        assert first() == ("docs/a.md", ())
        decide_documents(folder.library, "left_out", ["docs/a.md"])  # another file in its place
        assert first() == ("docs/old/c.md", ("docs/a.md",))


def test_what_the_question_names_outranks_what_was_decided(folder: Folder) -> None:
    decide_documents(folder.library, "left_out", ["docs/b.md"])
    decide_documents(folder.library, "preferred", ["docs/old/c.md"])
    trace = folder.ask("lease deposit", preferred=["a.md"])
    assert trace.evidence[0].doc_id == "docs/a.md"
    assert (trace.preferred, trace.preferred_decided) == (("docs/a.md",), ("docs/old/c.md",))
    assert folder.ask("lease deposit", preferred=["b.md"]).evidence[0].doc_id == "docs/b.md"
    assert folder.ask("lease deposit", only="b.md").evidence[0].doc_id == "docs/b.md"
    trace = folder.ask("lease deposit", left_out=["old/c.md"])
    assert (trace.evidence[0].doc_id, left_out_by_choice(trace)) == ("docs/a.md", ("docs/old/c.md",))
    assert trace.preferred_decided == ()


def test_nothing_decided_costs_no_database(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    true_connect = sqlite3.connect

    def connect(name: str, *args: Any, **kwargs: Any) -> sqlite3.Connection:
        opened.append(name)
        return true_connect(name, *args, **kwargs)

    monkeypatch.setattr("sqlite3.connect", connect)
    folder.ask("lease deposit")
    assert [name for name in opened if "decisions" in name] == []


# --- carried to another library --------------------------------------------------------------------------------------


@pytest.fixture
def everything(folder: Folder) -> Folder:
    decide_documents(folder.library, "left_out", ["docs/b.md"])
    decide_documents(folder.library, "preferred", ["docs/a.md"])
    decide_documents(folder.library, "note", ["docs/rent.md"], value="ünïcode\nand lines")
    decline(folder.library, [family(folder, "a.md", "rent.md")])
    protect(folder.library, ["docs/old"])
    return folder


def test_out_and_in_again(everything: Folder, tmp_path: Path) -> None:
    file = tmp_path / "decisions.json"
    assert write_decisions(everything.library, file) == 5
    held, falls = decided(everything), decided_in(everything.library)
    assert read_into(everything.library, file).id == ""  # all of it is there
    for name in decisions_file(everything.library).parent.glob("decisions.sqlite3*"):
        name.unlink()
    assert decided(everything) == []
    assert read_into(everything.library, file).changes == 5
    assert (decided(everything), decided_in(everything.library)) == (held, falls)
    undo(everything)
    assert decided(everything) == []


def test_conflicts_are_said_and_nothing_is_half_taken_in(everything: Folder, tmp_path: Path) -> None:
    file = tmp_path / "decisions.json"
    write_decisions(everything.library, file)
    decide_documents(everything.library, "note", ["docs/rent.md"], value="ours")
    decide_documents(everything.library, "preferred", ["docs/b.md"])  # theirs leaves it out
    decide_documents(everything.library, "note", ["docs/a.md"], value="stays")
    ours = decided(everything)
    with pytest.raises(DecisionsError, match=r"decided otherwise about left out docs/b.md; note docs/rent.md"):
        read_into(everything.library, file)
    assert decided(everything) == ours
    read_into(everything.library, file, on_conflict="keep")
    now = decided_in(everything.library)
    assert (now.notes["docs/rent.md"], left_out(everything)) == ("ours", [])
    read_into(everything.library, file, on_conflict="replace")
    now = decided_in(everything.library)
    assert (now.notes["docs/rent.md"], left_out(everything)) == ("ünïcode\nand lines", ["docs/b.md"])
    assert "docs/b.md" not in now.preferred
    assert now.notes["docs/a.md"] == "stays"
    undo(everything)
    assert decided_in(everything.library).notes["docs/rent.md"] == "ours"


def _with(change: Callable[[Any], object]) -> Callable[[Any], Any]:
    def changed(data: Any) -> Any:
        change(data)
        return data

    return changed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: [], "no decisions of Twinspect"),
        (lambda data: {"twinspect_decisions": 2, "decisions": []}, "newer version"),
        (_with(lambda data: data["decisions"][0].update(kind="delete")), "is not one of"),
        (_with(lambda data: data["decisions"][0].update(subject="../../etc")), "64 hex digits"),
        (_with(lambda data: data["decisions"][0].pop("subject")), "subject"),
        (_with(lambda data: data["decisions"][0].update(value=7)), "value"),
        (_with(lambda data: data["decisions"][0].update(made_at="yesterday")), "yesterday"),
        (_with(lambda data: data["decisions"][0].update(name="")), "a name is missing"),
        (_with(lambda data: data["decisions"].append(data["decisions"][0])), "decided twice"),
        (
            _with(lambda data: [row.update(subject="x") for row in data["decisions"] if row["kind"] == "protected"]),
            "path",
        ),
        (_with(lambda data: data["decisions"][0].update(others="abc")), "others"),
    ],
)
def test_a_file_that_is_no_good_is_refused_whole(
    everything: Folder, tmp_path: Path, change: Callable[[Any], Any], said: str
) -> None:
    file = tmp_path / "decisions.json"
    write_decisions(everything.library, file)
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    for name in decisions_file(everything.library).parent.glob("decisions.sqlite3*"):
        name.unlink()
    with pytest.raises(DecisionsError, match=said):
        read_into(everything.library, file, on_conflict="replace")
    assert decided(everything) == []


def test_cut_off_and_shuffled_files_never_do_anything_else_than_refuse(everything: Folder, tmp_path: Path) -> None:
    file = tmp_path / "decisions.json"
    write_decisions(everything.library, file)
    whole = file.read_bytes()
    ours = decided(everything)
    chance = random.Random(5)
    for _ in range(60):
        bad = bytearray(whole[: chance.randrange(len(whole) - 3)])
        for _ in range(chance.randrange(4)):
            bad[chance.randrange(len(bad))] = chance.randrange(256) if bad else 0
        file.write_bytes(bytes(bad))
        with pytest.raises(DecisionsError):
            read_into(everything.library, file, on_conflict="replace")
    assert decided(everything) == ours


def test_files_that_are_not_there(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(DecisionsError, match="cannot be read"):
        read_into(folder.library, tmp_path / "none.json")
    with pytest.raises(DecisionsError, match="cannot be written"):
        write_decisions(folder.library, tmp_path / "no folder" / "x.json")
    with pytest.raises(DecisionsError, match="no folder"), closing(Decisions(tmp_path / "none")) as decisions:
        decisions.decide([Change("protected", "/x", "/x")])
    with pytest.raises(QueryError):
        folder.ask("")
    assert Decided() == NOTHING_DECIDED
    assert resolve([Layer({}, "flag")])
