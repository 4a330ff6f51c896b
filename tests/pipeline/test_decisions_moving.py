"""Decisions follow their own files among byte-identical copies, wherever those go."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.duplicates.binding import bound
from pipeline.duplicates.deciding import decide_documents, decided_in, unbound_in
from pipeline.duplicates.records import Decision
from pipeline.store.decisions import Decisions, Kept, decisions_file
from pipeline.store.holdings import Holder
from tests.support.folders import Folder, document, passage

SAME = document(passage("lease deposit"))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.write({"a/p.txt": SAME, "a/q.txt": SAME, "a/r.txt": SAME})
    (made.root / "new").mkdir()
    made.index()
    decide_documents(made.library, "preferred", ["docs/a/p.txt"])
    decide_documents(made.library, "left_out", ["docs/a/q.txt"])
    return made


def falls(folder: Folder) -> tuple[list[str], list[str]]:
    now = decided_in(folder.library)
    return sorted(now.preferred), sorted(now.left_out)


def test_each_decision_goes_with_its_own_file(folder: Folder) -> None:
    (folder.root / "a/p.txt").rename(folder.root / "new/x preferred.txt")
    (folder.root / "a/q.txt").rename(folder.root / "new/a left out.txt")
    folder.index()
    assert falls(folder) == (["docs/new/x preferred.txt"], ["docs/new/a left out.txt"])
    # A new copy under the old name is not the file that was decided about, and is decided about by itself.
    folder.write({"a/q.txt": SAME})
    folder.index()
    assert falls(folder)[1] == ["docs/new/a left out.txt"]
    decide_documents(folder.library, "left_out", ["docs/a/q.txt"])
    assert falls(folder)[1] == ["docs/a/q.txt", "docs/new/a left out.txt"]
    decide_documents(folder.library, "left_out", ["docs/a/q.txt"], value=None)
    assert falls(folder)[1] == ["docs/new/a left out.txt"]


def test_names_that_are_exchanged(folder: Folder) -> None:
    (folder.root / "a/p.txt").rename(folder.root / "a/t.txt")
    (folder.root / "a/q.txt").rename(folder.root / "a/p.txt")
    (folder.root / "a/t.txt").rename(folder.root / "a/q.txt")
    folder.index()
    assert falls(folder) == (["docs/a/q.txt"], ["docs/a/p.txt"])
    # One is moved over the other: that file is gone, and its decision with it.
    (folder.root / "a/q.txt").rename(folder.root / "a/p.txt")
    folder.index()
    assert falls(folder) == (["docs/a/p.txt"], [])
    assert [each.decision.kind for each in unbound_in(folder.library)] == ["left_out"]


def test_copied_and_deleted_by_the_path_that_is_most_alike_and_from_there_by_the_file(folder: Folder) -> None:
    for name, to in (("p.txt", "z/p.txt"), ("q.txt", "b/q.txt")):
        (folder.root / to).parent.mkdir()
        shutil.copyfile(folder.root / "a" / name, folder.root / to)
    for name in ("p.txt", "q.txt"):
        (folder.root / "a" / name).unlink()
    folder.index()
    assert falls(folder) == (["docs/z/p.txt"], ["docs/b/q.txt"])
    (folder.root / "z/p.txt").rename(folder.root / "b/9.txt")
    (folder.root / "b/q.txt").rename(folder.root / "b/1.txt")
    folder.index()
    assert falls(folder) == (["docs/b/9.txt"], ["docs/b/1.txt"])


def test_no_decision_jumps_to_a_copy_that_moved(folder: Folder) -> None:
    (folder.root / "a/r.txt").rename(folder.root / "new/p.txt")
    (folder.root / "a/p.txt").unlink()
    folder.index()
    assert falls(folder) == ([], ["docs/a/q.txt"])


def test_hard_links_are_told_apart_by_name(folder: Folder) -> None:
    (folder.root / "new/link.txt").hardlink_to(folder.root / "a/p.txt")
    folder.index()
    decide_documents(folder.library, "left_out", ["docs/new/link.txt"])
    assert falls(folder) == (["docs/a/p.txt"], ["docs/a/q.txt", "docs/new/link.txt"])


def test_a_file_of_the_first_version_is_used_and_gets_what_it_lacks(folder: Folder) -> None:
    with closing(sqlite3.connect(decisions_file(folder.library))) as db:
        for column in ("identity", "other_identities"):
            db.execute(f"ALTER TABLE decisions DROP COLUMN {column}")
        db.execute("DELETE FROM _sqlite_migrations WHERE name = 'm002_identities'")
        db.execute("PRAGMA user_version=1")
        db.commit()
    assert falls(folder) == (["docs/a/p.txt"], ["docs/a/q.txt"])
    folder.index()
    (folder.root / "a/p.txt").rename(folder.root / "new/x.txt")
    (folder.root / "a/q.txt").rename(folder.root / "new/a.txt")
    folder.index()
    assert falls(folder) == (["docs/new/x.txt"], ["docs/new/a.txt"])
    with closing(Decisions(folder.library)) as decisions:
        assert decisions.undo() is not None  # where a file was seen is nothing that was decided anew
    assert falls(folder) == (["docs/new/x.txt"], [])


_PLACES = ["a/1.txt", "a/2.txt", "b/1.txt", "b/2.txt", "c/3.txt", "c/4.txt"]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kinds=st.lists(st.sampled_from(["preferred", "left_out", "note", None]), min_size=3, max_size=3).filter(
        lambda kinds: kinds.count("preferred") < 2
    ),
    rounds=st.lists(st.permutations(_PLACES), min_size=1, max_size=3),
)
def test_after_any_moves_every_decision_is_with_its_file(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[Any], rounds: list[list[str]]
) -> None:
    folder = Folder(tmp_path_factory.mktemp("moves"))
    held = _PLACES[:3]
    folder.write(dict.fromkeys(held, SAME))
    (folder.root / "c").mkdir()
    folder.index()
    expected = {}
    for name, kind in zip(held, kinds, strict=True):
        if kind is not None:
            decide_documents(folder.library, kind, [folder.doc_id(name)], value="x" if kind == "note" else "")
            expected[(folder.root / name).stat().st_ino] = kind
    for places in rounds:
        for number, name in enumerate(held):
            (folder.root / name).rename(folder.root.parent / f"{number}.aside")
        held = places[:3]
        for number, name in enumerate(held):
            (folder.root.parent / f"{number}.aside").rename(folder.root / name)
        folder.index()
        now = decided_in(folder.library)
        found = [(doc_id, kind) for kind in ("preferred", "left_out") for doc_id in getattr(now, kind)]
        found += [(doc_id, "note") for doc_id in now.notes]
        there = {(folder.root.parent / doc_id).stat().st_ino: kind for doc_id, kind in found}
        assert there == expected


_NAMES = st.sampled_from(["r/a/1", "r/a/2", "r/b/1", "r/b/2", "r/1", "r/c/d/1"])
_IDENTITIES = st.sampled_from(["", "1:1:1", "1:1:2", "1:2:1", "1:3:1", "1:4:1"])


@settings(max_examples=300, deadline=None)
@given(
    decided=st.lists(
        st.tuples(st.sampled_from(["preferred", "left_out", "note"]), _NAMES, _IDENTITIES, st.sets(_NAMES)), max_size=6
    ),
    documents=st.dictionaries(_NAMES, _IDENTITIES, max_size=6),
)
def test_whatever_is_there_nothing_is_both_and_every_decision_is_told(
    decided: list[Any], documents: dict[str, str]
) -> None:
    rows = {(kind, name): (identity, others) for kind, name, identity, others in decided}
    kept = [
        Kept(Decision(kind, "k", "", name, f"2026-01-0{n + 1}"), tuple(others - {name}), identity)
        for n, ((kind, name), (identity, others)) in enumerate(rows.items())
    ]
    there = [Holder(name, f"/{name}", "k", identity) for name, identity in sorted(documents.items())]
    found = bound(kept, {"k": there})
    assert sorted((each.decision.kind, each.decision.name) for each, _ in found) == sorted(rows)
    said = [(each.decision.kind, doc_id) for each, doc_id in found if doc_id is not None]
    assert len(said) == len(set(said))
    assert {doc_id for _, doc_id in said} <= set(documents)
    preferred, left_out = ({doc_id for kind, doc_id in said if kind == which} for which in ("preferred", "left_out"))
    assert not preferred & left_out
    for each, doc_id in found:
        own = [name for name, identity in documents.items() if identity and identity == each.identity]
        if len(own) == 1 and doc_id is not None:
            assert doc_id == own[0]
