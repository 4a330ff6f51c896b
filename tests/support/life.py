"""The life of a folder, made up at random, and whether a library tells the truth about it: as a fresh one does."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from pipeline.embed.port import Encoder
from pipeline.library import LibraryReader
from pipeline.query import QueryEngine
from pipeline.settings import resolve
from tests.support.folders import document, passage

_WORDS = [
    "harbour", "lantern", "copper", "meadow", "ribbon", "thunder", "walnut", "velvet", "compass", "orchard", "saddle",
    "anchor", "mirror", "basket",
]  # fmt: skip
_QUESTIONS = 50


class Life:
    """Adds, edits, moves, renames and removes files at random, copies among them."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self.chance = root, chance

    def files(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.is_file() and path.name != ".gitignore")

    def text(self) -> str:
        picked = self.chance.choices(range(40), k=self.chance.randint(1, 4))
        return document(*(passage(f"{_WORDS[n % 14]} {_WORDS[n // 14]}{n}", n) for n in picked))

    def place(self) -> Path:
        name = f"{self.chance.choice(_WORDS)}{self.chance.randint(0, 30)}.{self.chance.choice(['md', 'txt', 'log'])}"
        return self.root / self.chance.choice(["", "sub", "sub/deep", "ünï code", "other"]) / name

    def step(self) -> None:
        files = self.files()
        what = self.chance.choices(
            ["add", "copy", "edit", "cut", "move", "remove", "break", "empty", "ignore", "touch"],
            [6, 3, 4, 2, 4, 4, 1, 1, 1, 1],
        )[0]
        target = self.place()
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            return
        source = self.chance.choice(files) if files else None
        if what == "ignore":
            (self.root / ".gitignore").write_text(self.chance.choice(["*.log\n", "other/\n", "", "sub/*\n!sub/deep\n"]))
        elif what == "add" or source is None:
            target.write_text(self.text())
        elif what == "copy":
            target.write_bytes(source.read_bytes())
        elif what == "edit":
            source.write_text(source.read_text(errors="replace").replace("\0", "") + "\n" + self.text())
        elif what == "cut":
            source.write_text(source.read_text(errors="replace").replace("\0", "")[:900])
        elif what == "move":
            source.replace(target)
        elif what == "remove":
            source.unlink()
        elif what == "break":
            source.write_bytes(bytes(range(256)) * 4)
        elif what == "empty":
            source.write_bytes(b"")
        else:
            os.utime(source)


def questions(chance: random.Random) -> Iterator[str]:
    for _ in range(_QUESTIONS):
        n = chance.randrange(40)
        yield f"{_WORDS[n % 14]} {_WORDS[n // 14]}{n} {chance.choice(_WORDS)}"


def answers(library: Path, encoder: Encoder, chance: random.Random) -> list[str]:
    """What the library answers to fifty questions, as far as a fresh library can know it."""
    engine = QueryEngine(library, encoder)
    try:
        asked = [engine.ask(text, resolve()) for text in questions(chance)]
    finally:
        engine.close()
    return [
        repr([(b.evidence_key, b.score, b.content, b.source_paths, b.citations) for b in trace.evidence])
        for trace in asked
    ]


def documents(library: Path) -> list[tuple[str, str, int, int]]:
    """doc_id, state, chunks and characters of every document. One that is stale failed for a fresh library."""
    with closing(LibraryReader(library)) as reader:
        found = reader.documents()
    return [
        (item.doc_id, "failed", 0, 0)
        if item.state == "stale"
        else (item.doc_id, item.state, item.chunks, item.characters)
        for item in found
    ]


def faults(library: Path) -> list[str]:
    """What no library may hold: rows or vectors that point nowhere, chunks that are not in their document's text."""
    found: list[str] = []
    with closing(sqlite3.connect(library / "library.sqlite3")) as db:
        for what, sql in _FAULTS.items():
            rows = db.execute(sql).fetchall()
            if rows:
                found.append(f"{len(rows)} {what}: {rows[:3]}")
        found += [f"foreign key: {row}" for row in db.execute("PRAGMA foreign_key_check")]
        found += [str(row[0]) for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    with closing(LibraryReader(library)) as reader, reader.snapshot() as state:
        assert reader._index is not None
        if set(reader._index.ids().tolist()) != set(reader.catalog.vectors.ids().tolist()):
            found.append("vectors and texts are not the same")
        if state.unfinished:
            found.append("the run is said to be unfinished")
    return found


_FAULTS = {
    "texts without a chunk": "SELECT id FROM texts WHERE id NOT IN (SELECT text_id FROM chunks)",
    "chunks without a text": "SELECT document_id FROM chunks WHERE text_id NOT IN (SELECT id FROM texts)",
    "chunks without a document": "SELECT chunk_index FROM chunks WHERE document_id NOT IN (SELECT id FROM documents)",
    "contents without a document": (
        "SELECT document_id FROM contents WHERE document_id NOT IN (SELECT id FROM documents)"
    ),
    "documents without their text": (
        "SELECT doc_id FROM documents WHERE state IN ('indexed', 'no_text') "
        "AND id NOT IN (SELECT document_id FROM contents)"
    ),
    "documents that miss chunks": (
        "SELECT doc_id FROM documents d WHERE chunk_count <> (SELECT COUNT(*) FROM chunks k WHERE k.document_id = d.id)"
    ),
    "chunks that are not in their text": (
        "SELECT k.document_id FROM chunks k JOIN texts t ON t.id = k.text_id JOIN contents c USING (document_id) "
        'WHERE substr(c.text, k.start + 1, k."end" - k.start) <> t.text'
    ),
    "spare texts that are held": "SELECT sha256 FROM spare_texts WHERE sha256 IN (SELECT sha256 FROM texts)",
}
