"""The program's own files never go to the trash, whoever's library holds them and by whatever way."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipeline.duplicates.own_files import is_programs_own
from pipeline.duplicates.trash import carry_out, plan_trash
from pipeline.duplicates.trash_plan import TrashItem, TrashPlan
from pipeline.index import index_library
from pipeline.library import LibraryReader
from tests.support.encoder import WordEncoder

PROGRAM = Path(__file__).resolve().parents[2]
SAMPLE = PROGRAM / "resources" / "sample" / "documents"


def documents(library: Path) -> list[tuple[str, str, int]]:
    """(doc_id, path, size) of every document."""
    reader = LibraryReader(library)
    try:
        return [(one.doc_id, one.path, one.size) for one in reader.documents()]
    finally:
        reader.close()


@pytest.mark.parametrize("linked", [False, True])
def test_the_samples_files_stay_in_an_own_library_too(tmp_path: Path, linked: bool) -> None:
    root = SAMPLE
    if linked:
        root = tmp_path / "linked"
        root.symlink_to(SAMPLE, target_is_directory=True)
    library = tmp_path / "library"
    index_library(library, [root], encoder=WordEncoder(256))
    held = documents(library)
    assert len(held) > 40
    plan = plan_trash(library, [doc_id for doc_id, _, _ in held])
    assert plan.items == ()
    assert {one.kind for one in plan.refused} == {"program"}
    assert {one.why for one in plan.refused} == {"it belongs to the program, which needs it where it is"}
    # A list that says otherwise changes nothing.
    forged = TrashPlan(
        str(library), 1, tuple(TrashItem(i, path, size, 0, "", last_copy=True) for i, path, size in held)
    )
    outcome = carry_out(library, forged, confirmed_last_copies=True)
    assert {one.state for one in outcome.results} == {"skipped"}
    assert all(Path(path).exists() for _, path, _ in held)


def test_what_only_lies_near_the_program_is_the_users(tmp_path: Path) -> None:
    assert is_programs_own(str(SAMPLE / "gone.md"))
    assert is_programs_own(str(PROGRAM / "pipeline" / "index.py"))
    assert not is_programs_own(str(PROGRAM.parent / "letter.md"))
    assert not is_programs_own(str(tmp_path / "resources" / "sample" / "documents" / "letter.md"))


def test_a_packaged_program_owns_what_it_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline.duplicates import own_files

    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    own_files._folders.cache_clear()
    try:
        assert is_programs_own(str(tmp_path / "resources" / "a.md"))
    finally:
        own_files._folders.cache_clear()
