"""Every way in which a file, or the last copy of a text, could be lost: nothing is, and the journal says what happened.

Real files, the real library that moves to the trash, and a trash folder of the test's own.
"""

from __future__ import annotations

import ast
import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.duplicates import trash as trash_module
from pipeline.duplicates.deciding import decide_documents, protect
from pipeline.duplicates.records import JournalEntry
from pipeline.duplicates.trash import TrashOutcome, TrashPlan, carry_out, plan_trash, settle
from pipeline.errors import DecisionsError, TrashError
from pipeline.progress import CancelToken
from pipeline.store.decisions import Decisions, decisions_file
from pipeline.store.lock import trash_lock
from tests.support.folders import Folder, document, passage

ROOT = Path(__file__).resolve().parents[2]
LEASE = document(passage("lease deposit"), passage("lease deposit", 1))
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="the trash of other systems is looked into here")
NOBODY = 65534

pytestmark = POSIX


@pytest.fixture
def can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the trash in which files are kept. Not there before something is put into it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "send2trash"]:
        monkeypatch.delitem(sys.modules, name)  # it looks for the trash when it is imported
    if sys.platform == "darwin":
        return tmp_path / ".Trash"
    return tmp_path / "data" / "Trash" / "files"


@pytest.fixture
def folder(tmp_path: Path, can: Path) -> Folder:
    """a.md, b.md and sub/c.md are copies; own.md stands alone; near.md has one passage of its own."""
    made = Folder(tmp_path)
    made.write({"a.md": LEASE, "b.md": LEASE, "sub/c.md": LEASE, "own.md": document(passage("kitchen rota"))})
    made.write({"near.md": document(passage("lease deposit"), passage("parking permit"))})
    made.index()
    return made


def plan_of(folder: Folder, *names: str) -> TrashPlan:
    return plan_trash(folder.library, [folder.doc_id(name) for name in names])


def went(folder: Folder, outcome: TrashOutcome) -> list[str]:
    return [result.doc_id.removeprefix("docs/") for result in outcome.of("trashed")]


def why(outcome: TrashOutcome) -> str:
    """Why the one file did not go."""
    (result,) = outcome.results
    assert result.state != "trashed"
    return result.why


def journal(folder: Folder) -> list[JournalEntry]:
    with closing(Decisions(folder.library)) as decisions:
        return list(decisions.journal())


def refusals(plan: TrashPlan) -> dict[str, str]:
    return {refusal.doc_id.removeprefix("docs/"): refusal.kind for refusal in plan.refused}


def all_there(folder: Folder, *names: str) -> bool:
    return all((folder.root / name).is_file() for name in names)


def unprivileged() -> Iterator[None]:
    """Tests that run as the superuser, whom no permission stops, do so as somebody else here."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


# --- what goes -------------------------------------------------------------------------------------------------------


def test_a_copy_goes_and_the_journal_says_where_it_is(folder: Folder, can: Path) -> None:
    plan = plan_of(folder, "b.md")
    (item,) = plan.items
    assert (item.last_copy, item.lost, item.hard_link) == (False, 0, False)
    assert set(item.kept_in) <= {"docs/a.md", "docs/sub/c.md"}
    assert all_there(folder, "b.md")  # a plan touches nothing
    told: list[tuple[int, int, str]] = []

    outcome = carry_out(folder.library, plan, listen=lambda *step: told.append(step))

    (result,) = outcome.of("trashed")
    assert not (folder.root / "b.md").exists()
    assert Path(result.where).parent == can
    assert Path(result.where).read_text() == LEASE
    entry = journal(folder)[0]
    assert (entry.what, entry.name, entry.before) == ("trashed", "docs/b.md", str(folder.root / "b.md"))
    assert (entry.after, entry.batch) == (result.where, outcome.batch)
    assert told == [(0, 1, str(folder.root / "b.md")), (1, 1, "")]
    with closing(Decisions(folder.library)) as decisions:
        assert decisions.next_undo() is None
        with pytest.raises(DecisionsError, match="system's trash"):
            decisions.undo(outcome.batch)


def test_files_of_the_same_name_are_told_apart_in_the_trash(folder: Folder, can: Path) -> None:
    folder.write({"x/a.md": LEASE + "\n", "y/a.md": LEASE + "\n\n"})
    folder.index()
    outcome = carry_out(folder.library, plan_of(folder, "x/a.md", "y/a.md", "a.md"))
    assert {Path(result.where).read_text() for result in outcome.of("trashed")} == {LEASE, LEASE + "\n", LEASE + "\n\n"}
    assert len(list(can.iterdir())) == 3


def test_a_name_that_is_no_unicode_goes_and_is_found(folder: Folder) -> None:
    strange = os.fsdecode(b"odd \xff \xe2\x80\xae.md")
    try:
        (folder.root / strange).write_text(LEASE)
    except OSError:
        pytest.skip("this file system takes no such names")
    folder.index()
    (doc_id,) = [d for d in _doc_ids(folder) if "odd" in d]
    outcome = carry_out(folder.library, plan_trash(folder.library, [doc_id]))
    (result,) = outcome.of("trashed")
    assert Path(result.where).read_text() == LEASE
    assert settle(folder.library) == 0


def _doc_ids(folder: Folder) -> list[str]:
    from pipeline.library import LibraryReader

    with closing(LibraryReader(folder.library)) as reader:
        return [document.doc_id for document in reader.documents()]


# --- the last copy ---------------------------------------------------------------------------------------------------


def test_the_last_copy_stays_unless_it_was_confirmed(folder: Folder) -> None:
    plan = plan_of(folder, "own.md")
    (item,) = plan.items
    assert (item.last_copy, item.lost) == (True, 1)
    assert [passage.text.startswith("Passage 0 is about kitchen rota") for passage in plan.lost] == [True]
    assert "no other document that searches find" in why(carry_out(folder.library, plan))
    assert all_there(folder, "own.md")
    entry = journal(folder)[0]
    assert (entry.what, entry.name) == ("not_trashed", "docs/own.md")
    assert "not confirmed" in str(entry.after)
    assert went(folder, carry_out(folder.library, plan, confirmed_last_copies=True)) == ["own.md"]


def test_one_passage_that_stands_nowhere_else_makes_a_last_copy(folder: Folder) -> None:
    plan = plan_of(folder, "near.md", "b.md")
    assert [(item.doc_id, item.last_copy, item.lost) for item in plan.items] == [
        ("docs/b.md", False, 0),
        ("docs/near.md", True, 1),
    ]
    assert ["parking permit" in passage.text for passage in plan.lost] == [True]
    assert went(folder, carry_out(folder.library, plan)) == ["b.md"]


def test_all_members_of_a_family_selected(folder: Folder) -> None:
    names = ("a.md", "b.md", "sub/c.md")
    plan = plan_of(folder, *names)
    assert [item.last_copy for item in plan.items] == [True, True, True]  # passage 1 stands in no other
    assert len(plan.lost) == 1
    outcome = carry_out(folder.library, plan)
    assert went(folder, outcome) == []
    assert all_there(folder, *names)
    assert [entry.what for entry in journal(folder)] == ["not_trashed"] * 3


def test_all_but_one_go_and_that_one_stays(folder: Folder) -> None:
    assert went(folder, carry_out(folder.library, plan_of(folder, "a.md", "sub/c.md"))) == ["a.md", "sub/c.md"]
    plan = plan_of(folder, "b.md")  # not indexed since: the library still lists the other two
    assert plan.items[0].last_copy
    assert went(folder, carry_out(folder.library, plan)) == []
    assert (folder.root / "b.md").read_text() == LEASE


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.unlink(),
        lambda file: file.write_text("gone for good"),
        lambda file: _rewritten_unseen(file),
        lambda file: (file.rename(file.with_suffix(".old")), file.symlink_to(file.with_suffix(".old"))),
    ],
    ids=["deleted", "changed", "changed, with size and time as before", "a link in its place"],
)
def test_a_copy_that_is_no_more_keeps_nothing(folder: Folder, spoil: Callable[[Path], object]) -> None:
    for name in ("a.md", "sub/c.md"):
        spoil(folder.root / name)
    plan = plan_of(folder, "b.md")
    assert plan.items[0].last_copy
    assert went(folder, carry_out(folder.library, plan)) == []
    assert (folder.root / "b.md").read_text() == LEASE


def test_what_became_a_last_copy_since_the_list_was_made_stays_whatever_was_confirmed(folder: Folder) -> None:
    plan = plan_of(folder, "b.md")
    folder.remove("a.md", "sub/c.md")
    assert "not so when the list was made" in why(carry_out(folder.library, plan, confirmed_last_copies=True))
    assert all_there(folder, "b.md")


def test_a_copy_that_goes_in_that_very_moment_keeps_nothing(folder: Folder) -> None:
    plan = plan_of(folder, "b.md")

    def meanwhile(done: int, total: int, name: str) -> None:
        for file in ("a.md", "sub/c.md", "near.md"):
            (folder.root / file).unlink(missing_ok=True)

    assert "in this moment" in why(carry_out(folder.library, plan, listen=meanwhile))
    assert all_there(folder, "b.md")


def test_a_copy_that_searches_leave_out_keeps_nothing(folder: Folder) -> None:
    decide_documents(folder.library, "left_out", ["docs/a.md", "docs/sub/c.md"])
    assert plan_of(folder, "b.md").items[0].last_copy
    assert not plan_of(folder, "a.md").items[0].last_copy  # b.md is served


def test_a_copy_that_lies_in_a_trash_keeps_nothing(tmp_path: Path, can: Path) -> None:
    made = Folder(tmp_path, name="Trash")
    made.write({"files/a.md": LEASE, "files/b.md": LEASE})
    made.index()
    assert plan_trash(made.library, ["Trash/files/b.md"]).items[0].last_copy


def test_a_file_whose_text_is_not_known_is_kept_by_its_bytes_alone(folder: Folder) -> None:
    locked = b"%PDF-1.4 no text here, \x00\x01\x02 nothing to be read" * 40
    folder.write({"scan1.pdf": locked, "scan2.pdf": locked, "other.pdf": locked + b"!"})
    folder.index()
    assert [item.last_copy for item in plan_of(folder, "scan1.pdf").items] == [False]
    assert [item.last_copy for item in plan_of(folder, "scan1.pdf", "scan2.pdf").items] == [True, True]
    plan = plan_of(folder, "other.pdf")
    assert "no text of it is known" in plan.items[0].why_last
    assert went(folder, carry_out(folder.library, plan)) == []


def test_what_could_not_be_read_to_the_end_is_kept_by_its_own_bytes_alone(folder: Folder) -> None:
    cut = "{\\rtf1 " + LEASE.replace("\n\n", "\\par\\par ")  # its closing brace is missing
    folder.write({"cut.rtf": cut})
    folder.index()
    (item,) = plan_of(folder, "cut.rtf").items
    assert item.lost == 0, "all that was read of it stands in the others"
    assert item.last_copy
    assert "not all of it could be read (its end is missing)" in item.why_last
    folder.write({"same.rtf": cut})
    folder.index()
    (item,) = plan_of(folder, "cut.rtf").items
    assert not item.last_copy
    assert item.kept_in[-1] == "docs/same.rtf"


# --- protected, changed, links ---------------------------------------------------------------------------------------


def test_nothing_goes_from_a_protected_folder(folder: Folder) -> None:
    before = plan_of(folder, "sub/c.md")
    protect(folder.library, ["docs/sub"])
    assert refusals(plan_of(folder, "sub/c.md", "b.md")) == {"sub/c.md": "protected"}
    assert "protected" in why(carry_out(folder.library, before))  # protected after the list was made
    assert all_there(folder, "sub/c.md")
    assert journal(folder)[0].what == "not_trashed"


def test_a_folder_protected_by_the_path_behind_a_link_is_protected(tmp_path: Path, can: Path) -> None:
    made = Folder(tmp_path, name="real")
    made.write({"sub/a.md": LEASE, "b.md": LEASE})
    made.root.rename(tmp_path / "elsewhere")
    made.root.symlink_to(tmp_path / "elsewhere")
    made.index()
    protect(made.library, [str(tmp_path / "elsewhere" / "sub")])
    plan = plan_trash(made.library, ["real/sub/a.md"])
    assert [refusal.kind for refusal in plan.refused] == ["protected"]


def _rewritten_unseen(file: Path) -> None:
    """Other content of the same length in the same file, its time put back."""
    facts = file.stat()
    file.write_text(file.read_text().replace("lease", "LEASE"))
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (facts.st_size, facts.st_mtime_ns)


def _replaced(file: Path) -> None:
    """Another file of the same content, size and time in its place."""
    facts = file.stat()
    other = file.with_suffix(".other")
    other.write_bytes(file.read_bytes())
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    os.replace(other, file)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda file: file.write_text("new words"), "changed"),
        (lambda file: os.utime(file, ns=(1, 1)), "changed"),
        (_rewritten_unseen, "changed"),
        (_replaced, "changed"),
        (lambda file: file.unlink(), "missing"),
        (lambda file: (file.unlink(), file.mkdir()), "changed"),
        (lambda file: (file.rename(file.with_suffix(".old")), file.symlink_to(file.with_suffix(".old"))), "link"),
        (lambda file: (file.unlink(), os.mkfifo(file)), "changed"),
    ],
    ids=["content", "time", "content, size and time as before", "another file", "gone", "a folder", "a link", "a pipe"],
)
@pytest.mark.parametrize("when", ["before the list", "after the list", "in that very moment"])
def test_what_is_not_as_it_was_indexed_stays(
    folder: Folder, change: Callable[[Path], object], kind: str, when: str, can: Path
) -> None:
    file = folder.root / "b.md"
    if when == "before the list":
        change(file)
        assert refusals(plan_of(folder, "b.md")) == {"b.md": kind}
        return
    plan = plan_of(folder, "b.md")
    if when == "after the list":
        change(file)
    done: list[int] = []

    def meanwhile(number: int, total: int, name: str) -> None:
        if when == "in that very moment" and not done:
            change(file)
            done.append(number)

    outcome = carry_out(folder.library, plan, listen=meanwhile)
    assert why(outcome)
    assert not can.exists()
    assert [(entry.what, entry.after) for entry in journal(folder)] == [("not_trashed", why(outcome))]


def test_a_link_in_the_place_of_a_folder_is_not_followed(folder: Folder, tmp_path: Path) -> None:
    (folder.root / "sub").rename(tmp_path / "away")
    (folder.root / "sub").symlink_to(tmp_path / "away")
    assert refusals(plan_of(folder, "sub/c.md")) == {"sub/c.md": "link"}
    assert (tmp_path / "away" / "c.md").read_text() == LEASE


def test_hard_links_are_said_and_the_file_under_its_last_name_stays(folder: Folder) -> None:
    os.link(folder.root / "own.md", folder.root / "own2.md")
    folder.index()
    plan = plan_of(folder, "own.md")
    (item,) = plan.items
    assert (item.hard_link, item.doubles, item.last_copy) == (True, ("docs/own2.md",), False)
    both = plan_of(folder, "own.md", "own2.md")
    assert [item.last_copy for item in both.items] == [True, True]
    assert went(folder, carry_out(folder.library, both)) == []
    assert went(folder, carry_out(folder.library, plan)) == ["own.md"]
    assert "kitchen rota" in (folder.root / "own2.md").read_text()
    assert plan_of(folder, "own2.md").items[0].last_copy


def test_a_name_of_the_file_that_the_library_does_not_know_keeps_nothing(folder: Folder, tmp_path: Path) -> None:
    os.link(folder.root / "own.md", tmp_path / "outside.md")
    folder.index()
    (item,) = plan_of(folder, "own.md").items
    assert (item.hard_link, item.doubles, item.last_copy) == (True, (), True)


def test_one_file_under_two_paths_keeps_nothing_by_itself(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a folder that is mounted twice: two documents, one file, which the disk knows by one name."""
    os.link(folder.root / "own.md", folder.root / "own2.md")
    folder.index()
    true_fstat = os.fstat

    class OneName:
        def __init__(self, facts: os.stat_result) -> None:
            self._facts = facts

        def __getattr__(self, name: str) -> object:
            return 1 if name == "st_nlink" else getattr(self._facts, name)

    monkeypatch.setattr("pipeline.duplicates.on_disk.os.fstat", lambda handle: OneName(true_fstat(handle)))
    assert plan_of(folder, "own.md").items[0].last_copy


# --- what the system refuses -----------------------------------------------------------------------------------------


def test_a_read_only_folder_is_refused_before_and_survived_in_that_moment(folder: Folder, can: Path) -> None:
    plan = plan_of(folder, "sub/c.md")
    (folder.root / "sub").chmod(0o555)
    try:
        for _ in _as_nobody(folder):
            outcome = carry_out(folder.library, plan)
            assert refusals(plan_of(folder, "sub/c.md")) == {"sub/c.md": "read_only"}
    finally:
        (folder.root / "sub").chmod(0o755)
    assert "read-only" in why(outcome)
    assert (folder.root / "sub" / "c.md").read_text() == LEASE


def _as_nobody(folder: Folder) -> Iterator[None]:
    """Somebody who owns the library and the home, and whom permissions stop."""
    home = folder.library.parent
    if os.geteuid() == 0:
        for place in (home.parents[2], home.parents[1], home.parents[0]):
            place.chmod(place.stat().st_mode | 0o055)
        for place in [home, *home.rglob("*")]:
            os.chown(place, NOBODY, NOBODY, follow_symlinks=False)
    yield from unprivileged()


def test_no_trash_no_loss(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "Trash").write_text("a file where the trash should be")
    outcome = carry_out(folder.library, plan_of(folder, "b.md"))
    assert [result.state for result in outcome.results] == ["failed"]
    assert (folder.root / "b.md").read_text() == LEASE
    assert (journal(folder)[0].what, journal(folder)[0].after) == ("not_trashed", outcome.results[0].why)


def test_a_system_without_a_trash_touches_nothing(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "send2trash", None)
    with pytest.raises(TrashError, match="cannot be used"):
        carry_out(folder.library, plan_of(folder, "b.md"))
    assert all_there(folder, "b.md")


def test_half_of_a_batch_fails_and_it_is_said_which(folder: Folder, can: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"copy{number}.md" for number in range(6)]
    folder.write(dict.fromkeys(names, LEASE))
    folder.index()
    real = trash_module._system_trash()

    def send(path: str) -> None:
        if int(path[-4]) % 2:
            raise OSError(28, "No space left on device")
        real(path)

    monkeypatch.setattr(trash_module, "_system_trash", lambda: send)
    outcome = carry_out(folder.library, plan_of(folder, *names))
    assert went(folder, outcome) == ["copy0.md", "copy2.md", "copy4.md"]
    assert [result.doc_id for result in outcome.of("failed")] == [f"docs/copy{n}.md" for n in (1, 3, 5)]
    assert all_there(folder, "copy1.md", "copy3.md", "copy5.md")
    said = {entry.name: (entry.what, entry.after) for entry in journal(folder)}
    for result in outcome.results:
        if result.state == "trashed":
            assert said[result.doc_id] == ("trashed", result.where)
            assert Path(result.where).read_text() == LEASE
        else:
            assert said[result.doc_id] == ("not_trashed", result.why)
            assert "No space left" in result.why


def test_the_root_has_moved(folder: Folder, tmp_path: Path) -> None:
    plan = plan_of(folder, "b.md")
    folder.root.rename(tmp_path / "moved")
    assert refusals(plan_of(folder, "b.md")) == {"b.md": "missing"}
    assert why(carry_out(folder.library, plan, confirmed_last_copies=True)) == "there is no such file any more"
    assert (tmp_path / "moved" / "b.md").read_text() == LEASE


def test_cancelled_in_between(folder: Folder) -> None:
    token = CancelToken()
    plan = plan_of(folder, "a.md", "b.md")
    outcome = carry_out(folder.library, plan, token=token, listen=lambda done, total, name: done or token.cancel())
    assert outcome.cancelled
    assert [result.state for result in outcome.results] == ["skipped", "skipped"]
    assert all_there(folder, "a.md", "b.md")


# --- the journal -----------------------------------------------------------------------------------------------------


def test_nothing_moves_without_a_journal(folder: Folder, can: Path) -> None:
    plan = plan_of(folder, "a.md", "b.md")
    with closing(Decisions(folder.library)) as decisions:
        decisions.undo()  # makes the file, with nothing in it
    protect(folder.library, [str(folder.root / "nowhere")], take_back=True)
    decide_documents(folder.library, "note", ["docs/own.md"], value="keep")
    other = sqlite3.connect(decisions_file(folder.library))
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DecisionsError, match="locked"):
            carry_out(folder.library, plan)
        assert all_there(folder, "a.md", "b.md")
        other.rollback()

        def meanwhile(done: int, total: int, name: str) -> None:
            if done == 1:
                other.execute("BEGIN IMMEDIATE")

        outcome = carry_out(folder.library, plan, listen=meanwhile)
    finally:
        other.rollback()
        other.close()
    assert [result.state for result in outcome.results] == ["trashed", "skipped"]
    assert "journal" in outcome.results[1].why
    assert all_there(folder, "b.md")


@pytest.mark.parametrize("moment", ["before it is moved", "after it was moved"])
def test_killed_in_the_middle(folder: Folder, can: Path, moment: str) -> None:
    script = f"""
        import os, sys
        from pathlib import Path
        from pipeline.duplicates import trash
        from pipeline.store.trash_journal import TrashJournal
        real = trash._system_trash()
        def send(path):
            if {moment == "after it was moved"}:
                real(path)
            os._exit(9)
        trash._system_trash = lambda: send
        library = Path(sys.argv[1])
        trash.carry_out(library, trash.plan_trash(library, ["docs/b.md"]))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(folder.library)], cwd=ROOT, check=False)
    assert done.returncode == 9
    line = journal(folder)[0]
    assert (line.what, line.before, line.after) == ("trashing", str(folder.root / "b.md"), None)

    assert settle(folder.library) == 1
    assert settle(folder.library) == 0

    line = journal(folder)[0]
    if moment == "after it was moved":
        assert line.what == "trashed"
        assert Path(str(line.after)).read_text() == LEASE
    else:
        assert (line.what, line.after) == ("not_trashed", "moving it was cut off")
        assert all_there(folder, "b.md")


def test_two_windows_do_not_take_each_others_last_copy(folder: Folder) -> None:
    plan = plan_of(folder, "b.md")
    with trash_lock(folder.library):
        with pytest.raises(TrashError, match="another window"):
            carry_out(folder.library, plan)
        assert settle(folder.library) == 0  # what the other is at is left to it
    assert went(folder, carry_out(folder.library, plan)) == ["b.md"]


def test_a_list_is_good_for_its_own_library_and_for_what_it_named(folder: Folder) -> None:
    plan = plan_of(folder, "b.md")
    with pytest.raises(TrashError, match="another library"):
        carry_out(folder.library, replace(plan, library="/elsewhere"))
    (folder.root / "b.md").write_text(document(passage("lease deposit")))
    folder.index()
    assert "not what was listed" in why(carry_out(folder.library, plan, confirmed_last_copies=True))
    assert refusals(plan_trash(folder.library, ["docs/nothing.md"])) == {"nothing.md": "unknown"}


def test_searches_cite_nothing_that_lies_in_the_trash_until_it_is_taken_out_again(folder: Folder) -> None:
    outcome = carry_out(folder.library, plan_of(folder, "a.md"))
    trace = folder.ask("lease deposit")
    assert "docs/a.md" in trace.left_out_decided
    assert all(str(folder.root / "a.md") not in block.source_paths for block in trace.evidence)
    fates = {t.candidate.doc_id: t.fate for t in trace.candidates if t.fate.name == "left_out"}
    assert "moved to the trash" in fates["docs/a.md"].reason
    Path(outcome.results[0].where).rename(folder.root / "a.md")
    assert folder.ask("lease deposit").left_out == ()
    (folder.root / "a.md").unlink()
    folder.index()
    assert folder.ask("lease deposit").left_out == ()


# --- the rest of the program -----------------------------------------------------------------------------------------

# Every place in the program that deletes, moves or writes a file by its name, and what that file is. A new place has to
# say here that no file of the user is meant.
_TAKING = {"unlink", "remove", "rmtree", "rmdir", "removedirs", "replace", "rename", "renames", "move", "truncate"}
_WRITING = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "save", "copy", "copyfile", "copytree"}
_ON_FILES_ALONE = {"unlink", "rmtree", "rmdir", "removedirs", "write_text", "write_bytes", "symlink_to", "hardlink_to"}
_MODULES = {"os", "shutil", "Path", "partial"}  # what the other names are called on where files are meant
PLACES = {
    "app/features/asked_carrying.py": "an answer, in a file that the user names in the system's dialog",
    "app/features/asked_history.py": "the history, in a file that the user names in the system's dialog",
    "app/features/asked_sets.py": "a table, in a file that the user names in the system's dialog",
    "app/features/duplicates_report.py": "a report, in a file that the user names in the system's dialog",
    "app/preferences.py": "the window's own preferences",
    "app/windows.py": "a lock of the window's own",
    "pipeline/cli.py": "the null device, where there is no standard output",
    "pipeline/duplicates/kept.py": "pairs that a scan keeps in the library's folder",
    "pipeline/embed/graph_cache.py": "the model's graph in the user's cache",
    "pipeline/embed/making.py": "the model's graph, while it is made",
    "pipeline/embed/model.py": "the model's tokenizer, in a folder of the program's own",
    "pipeline/export/decisions_file.py": "decisions, in a file that the user names, written whole",
    "pipeline/export/saving.py": "a report that the user names, written whole, never over a file in a folder of it",
    "pipeline/export/trace_file.py": "a trace, in a file that the user names, written whole",
    "pipeline/store/history.py": "the library's own history",
    "pipeline/store/recovery.py": "the library's own database and vectors",
    "pipeline/store/vectors_file.py": "the library's own vectors",
}


def taking_or_writing(file: Path) -> set[str]:
    """The calls in this module that delete, move or write a file by its name."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        if (isinstance(node.func, ast.Name) and node.func.id == "open") or _is(node.func, "open"):
            modes = [each.value for each in [*node.args[:2], *(k.value for k in node.keywords if k.arg == "mode")]
                     if isinstance(each, ast.Constant) and isinstance(each.value, str)]  # fmt: skip
            if any(set(mode) <= set("rwxabt+") and set(mode) & set("wxa+") for mode in modes):
                found.add(ast.unparse(node))
        elif isinstance(node.func, ast.Attribute):
            name, on = node.func.attr, ast.unparse(node.func.value)
            if name in _ON_FILES_ALONE or (name in _TAKING | _WRITING and on in _MODULES):
                found.add(f"{on}.{name}")
    return found


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def test_nothing_else_deletes_or_overwrites_a_file() -> None:
    found = {
        file.relative_to(ROOT).as_posix(): calls
        for package in ("app", "pipeline")
        for file in sorted((ROOT / package).rglob("*.py"))
        if (calls := taking_or_writing(file))
    }
    assert {name: calls for name, calls in found.items() if name not in PLACES} == {}
    # Files of the user leave through the system's trash alone, and only here.
    assert "pipeline/duplicates/trash.py" not in found
    sending = [f for f in (ROOT / "pipeline").rglob("*.py") if "send2trash" in f.read_text("utf-8")]
    assert [f.relative_to(ROOT).as_posix() for f in sending] == ["pipeline/duplicates/trash.py"]


@pytest.mark.parametrize(
    "line",
    ["os.unlink(path)", "shutil.rmtree(path)", "Path(path).write_text('')", "open(path, 'w')", "os.rename(a, b)"],
)
def test_the_check_sees_what_it_is_for(tmp_path: Path, line: str) -> None:
    module = tmp_path / "module.py"
    module.write_text(line)
    assert taking_or_writing(module)
    module.write_text("text.replace('a', 'b'); open(path); names.remove('a')")
    assert not taking_or_writing(module)
