"""The library's bulk writing beside plain `executemany` of the same rows into tables without anything else."""

from __future__ import annotations

import itertools
import random
import sqlite3
import time
from pathlib import Path

import numpy as np

from pipeline.store import vectors
from pipeline.store.schema import open_for_writing
from pipeline.store.writer import CatalogWriter, FileFacts, NewChunk, NewDocument, NewText
from pipeline.textkeys import fold_key, text_sha256
from tests.bench.corpus import paragraph
from tests.bench.figures import Row, Target, alternating

_PER_DOCUMENT = 8
_BATCH = 8  # documents in one transaction, as an indexing run has them


def write(place: Path, *, chunks: int, runs: int) -> list[Row]:
    """Documents of some chunks each, every text a new one, into an empty library."""
    documents, texts = _documents(chunks)
    numbers = itertools.count()

    def ours(_: int) -> float:
        db = open_for_writing(place / f"written {next(numbers)}")
        try:
            writer = CatalogWriter(db)
            with writer.change():
                root = writer.add_root("files", str(place))
            began = time.perf_counter()
            for start in range(0, len(documents), _BATCH):
                with writer.change():
                    some = documents[start : start + _BATCH]
                    writer.add_texts(texts[chunk.text_sha256] for each in some for chunk in each.chunks)
                    for each in some:
                        writer.put_document(each if each.root_id == root else _of_root(each, root))
            return time.perf_counter() - began
        finally:
            db.close()

    value, baseline = alternating(runs, ours, lambda _: _plainly(place / f"plain {next(numbers)}", documents, texts))
    name = f"writing {chunks:,} chunks of {len(documents):,} documents"
    target = Target("ratio", "at most", 1.5)
    against = f"executemany into bare tables with the same indexes, median of {runs}"
    return [Row("writing", name, value, "s", baseline, against, target)]


def _of_root(document: NewDocument, root: int) -> NewDocument:
    from dataclasses import replace

    return replace(document, root_id=root)


def _documents(chunks: int) -> tuple[list[NewDocument], dict[str, NewText]]:
    chance, random_vectors = random.Random(3), np.random.default_rng(3)
    texts: dict[str, NewText] = {}
    documents = []
    for number in range(chunks // _PER_DOCUMENT):
        pieces, places, start = [], [], 0
        for _ in range(_PER_DOCUMENT):
            piece = paragraph(chance)
            key = text_sha256(piece)
            vector = vectors.blob_of(random_vectors.standard_normal(384).astype(np.float32))
            texts[key] = NewText(key, fold_key(piece), piece, 180, vector)
            places.append(NewChunk(start, start + len(piece), None, None, key))
            pieces.append(piece)
            start += len(piece) + 2
        name, text = f"document {number:06}.md", "\n\n".join(pieces)
        facts = FileFacts(name, len(text), 1, 1, number, 1, 1)
        documents.append(
            NewDocument(
                1,
                f"files/{name}",
                facts,
                "indexed",
                kind="markdown",
                content_sha256=text_sha256(text),
                text=text,
                chunks=tuple(places),
            )
        )
    return documents, texts


def _plainly(folder: Path, documents: list[NewDocument], texts: dict[str, NewText]) -> float:
    """One `executemany` a table and batch, with WAL, the same indexes, and nothing asked back."""
    folder.mkdir()
    db = sqlite3.connect(folder / "plain.sqlite3", isolation_level=None)
    try:
        db.executescript(
            """
            PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
            CREATE TABLE documents (id INTEGER PRIMARY KEY, doc_id TEXT UNIQUE, rel BLOB UNIQUE, size INTEGER,
                                    mtime INTEGER, sha256 TEXT);
            CREATE TABLE contents (id INTEGER PRIMARY KEY, text TEXT);
            CREATE TABLE texts (id INTEGER PRIMARY KEY, sha256 TEXT UNIQUE, fold_key TEXT, text TEXT, tokens INTEGER,
                                vector BLOB);
            CREATE INDEX texts_fold_key ON texts(fold_key);
            CREATE TABLE chunks (document INTEGER, number INTEGER, text INTEGER, start INTEGER, "end" INTEGER,
                                 PRIMARY KEY (document, number)) WITHOUT ROWID;
            CREATE INDEX chunks_text ON chunks(text);
            """
        )
        numbers = {key: number for number, key in enumerate(texts)}
        began = time.perf_counter()
        for start in range(0, len(documents), _BATCH):
            some = list(enumerate(documents[start : start + _BATCH], start=start))
            held = [texts[chunk.text_sha256] for _, each in some for chunk in each.chunks]
            db.execute("BEGIN")
            db.executemany(
                "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?)",
                [(numbers[t.sha256], t.sha256, t.fold_key, t.text, t.tokens, t.vector) for t in held],
            )
            db.executemany(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (at, d.doc_id, d.facts.rel_path.encode(), d.facts.size, d.facts.mtime_ns, d.content_sha256)
                    for at, d in some
                ],
            )
            db.executemany("INSERT INTO contents VALUES (?, ?)", [(at, d.text) for at, d in some])
            db.executemany(
                "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)",
                [
                    (at, number, numbers[chunk.text_sha256], chunk.start, chunk.end)
                    for at, d in some
                    for number, chunk in enumerate(d.chunks)
                ],
            )
            db.execute("COMMIT")
        return time.perf_counter() - began
    finally:
        db.close()
