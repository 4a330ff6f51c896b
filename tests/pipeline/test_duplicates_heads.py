"""Which of equally complete documents is the head: originals before what was made from them."""

from __future__ import annotations

from itertools import permutations

import pytest

from pipeline.duplicates.heads import ranked
from pipeline.duplicates.originals import lies_aside, plainness
from pipeline.store.duplicates import DocumentRow


def row(
    doc_id: str, kind: str = "text", characters: int = 100, fold_key: str | None = "same", mtime: int = 1
) -> DocumentRow:
    return DocumentRow(
        id=1, doc_id=doc_id, path=f"/{doc_id}", kind=kind, state="indexed", why="", reason="", size=1, mtime_ns=mtime,
        inode="1", device="1", link_count=1, content_sha256=doc_id, characters=characters, chunks=1, fold_key=fold_key,
    )  # fmt: skip


def best(*rows: DocumentRow, rule: str = "most_complete", preferred: tuple[str, ...] = ()) -> str:
    found = {held[ranked(held, rule, preferred, ())[0]].doc_id for held in permutations(rows)}  # type: ignore[arg-type]
    assert len(found) == 1  # in whatever order they come
    return found.pop()


def test_originals_come_before_what_was_made_from_them() -> None:
    assert best(row("d/backup/a.txt"), row("d/projects/2024/a.txt")) == "d/projects/2024/a.txt"
    assert best(row("d/a.txt"), row("d/longer/folder/a.pdf", "pdf")) == "d/longer/folder/a.pdf"
    assert best(row("d/a.txt"), row("d/x/a.pdf", "pdf"), row("d/x/y/a.docx", "docx")) == "d/x/y/a.docx"
    assert best(row("d/old/a.docx", "docx"), row("d/a.txt")) == "d/a.txt"  # where it lies says more than its format
    assert best(row("d/b/a.txt"), row("d/a.txt")) == "d/a.txt"


def test_blanks_of_a_format_make_no_text_more_complete() -> None:
    assert best(row("d/a.txt", characters=120), row("d/a.pdf", "pdf", characters=100)) == "d/a.pdf"
    longer = row("d/backup/a.txt", characters=120, fold_key="another text")
    assert best(longer, row("d/a.pdf", "pdf", characters=100)) == "d/backup/a.txt"  # it really says more


def test_a_preferred_copy_and_another_rule_decide_first() -> None:
    held = row("d/backup/a.txt"), row("d/x/a.pdf", "pdf")
    assert best(*held, preferred=("d/backup/a.txt",)) == "d/backup/a.txt"
    assert best(row("d/old/a.txt"), row("d/b/c/a.txt"), rule="shortest_path") == "d/old/a.txt"


@pytest.mark.parametrize(
    "folder",
    [
        "backup",
        "Backup 2019",
        "my-old-files",
        "Archive_2",
        "Kopie von Berichten",
        "Sicherung",
        "ancien",
        "copias",
        "备份文件",
    ],
)
def test_folders_for_what_is_kept_besides(folder: str) -> None:
    assert lies_aside(f"docs/{folder}/sub/a.md")


@pytest.mark.parametrize("folder", ["golden rules", "copyright", "exporters", "Altenburg", "archivists"])
def test_other_folders_are_not_taken_for_such(folder: str) -> None:
    assert not lies_aside(f"docs/{folder}/old copy.md")  # nor is a file's own name


def test_richer_formats() -> None:
    assert plainness("docx") == plainness("odt") < plainness("pdf") < plainness("markdown") < plainness("text")
