"""What the library's database knows of documents as wholes, and of passages as sets: what a scan for duplicates reads.

Everything comes in streams or in columns: a library may hold a million passages.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from pipeline.records import DocumentState
from pipeline.store.catalog import Catalog

_STEP = 500  # documents asked for at a time
LostRow = tuple[str, int, int, int, str]  # doc_id, chunk index, start, end, text


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as a scan for duplicates sees it. `fold_key` is that of its whole text, None where the library does
    not keep it or there is no text; `why` is the kind of its failure."""

    id: int
    doc_id: str
    path: str
    kind: str
    state: DocumentState
    why: str
    reason: str
    size: int
    mtime_ns: int
    inode: str
    device: str
    link_count: int
    content_sha256: str
    characters: int
    chunks: int
    fold_key: str | None


@dataclass(frozen=True, slots=True)
class ChunkColumns:
    """All chunks by document, then index: the document's row id, the number of the folded text, the characters."""

    documents: NDArray[np.int64]
    groups: NDArray[np.int64]
    characters: NDArray[np.int64]


class DuplicateCatalog:
    """Answers from one database connection; use it from one thread at a time, within a `Catalog.snapshot`."""

    def __init__(self, db: Database, catalog: Catalog) -> None:
        self._db = db
        self._catalog = catalog

    def documents(self) -> list[DocumentRow]:
        """Every document, ordered by doc_id (code points)."""
        roots = {root.id: os.path.join(root.path, "") for root in self._catalog.roots()}
        rows = self._db.conn.execute(
            "SELECT d.id, d.doc_id, d.root_id, d.rel_bytes, d.kind, d.state, d.why, d.reason, d.size, d.mtime_ns, "
            "d.inode, d.device, d.link_count, d.content_sha256, d.characters, d.chunk_count, c.fold_key "
            "FROM documents d LEFT JOIN contents c ON c.document_id = d.id ORDER BY d.doc_id"
        )
        return [
            DocumentRow(
                id=row[0],
                doc_id=row[1],
                path=roots[row[2]] + os.fsdecode(row[3]).replace("/", os.sep),
                kind=row[4],
                state=cast(DocumentState, row[5]),
                why=row[6],
                reason=row[7],
                size=row[8],
                mtime_ns=row[9],
                inode=row[10],
                device=row[11],
                link_count=row[12],
                content_sha256=row[13] or "",
                characters=row[14],
                chunks=row[15],
                fold_key=row[16],
            )
            for row in rows
        ]

    def texts(self, document_ids: Collection[int]) -> Iterator[tuple[int, str]]:
        """(row id, whole text) of these documents, in the order asked for; those without text are passed over."""
        for row_id in document_ids:
            row = self._db.conn.execute("SELECT text FROM contents WHERE document_id = ?", [row_id]).fetchone()
            if row is not None:
                yield row_id, row[0]

    def shingles(self, document_ids: Collection[int]) -> Iterator[tuple[int, bytes | None]]:
        """(row id, shingles as they are kept) of these documents; None where the library does not keep them."""
        ids = list(document_ids)
        for start in range(0, len(ids), _STEP):
            yield from self._db.conn.execute(
                "SELECT document_id, shingles FROM contents WHERE document_id IN (SELECT value FROM json_each(?)) "
                "ORDER BY document_id",
                [json.dumps(ids[start : start + _STEP])],
            )

    def chunk_columns(self) -> ChunkColumns:
        """All chunks, as columns."""
        group: dict[str, int] = {}
        of_text: dict[int, int] = {}
        for text_id, fold_key in self._db.conn.execute("SELECT id, fold_key FROM texts ORDER BY id"):
            of_text[text_id] = group.setdefault(fold_key, text_id)
        del group
        found: NDArray[np.int64] = np.fromiter(
            (
                (document_id, of_text[text_id], length)
                for document_id, text_id, length in self._db.conn.execute(
                    'SELECT document_id, text_id, "end" - start FROM chunks ORDER BY document_id, chunk_index'
                )
            ),
            np.dtype((np.int64, 3)),
        )
        return ChunkColumns(found[:, 0].copy(), found[:, 1].copy(), found[:, 2].copy())

    def openings(self, text_ids: Collection[int]) -> dict[int, str]:
        """The first characters of these texts, by text id."""
        return dict(
            self._db.conn.execute(
                "SELECT id, substr(text, 1, 400) FROM texts WHERE id IN (SELECT value FROM json_each(?))",
                [json.dumps(list(text_ids))],
            ).fetchall()
        )

    def passage_shingles(self) -> Iterator[tuple[int, str, str, bytes | None]]:
        """(number as in `ChunkColumns`, fold key, text or "" where its shingles are kept, shingles) of each folded text
        that a chunk holds, by fold key."""
        yield from self._db.conn.execute(
            "SELECT MIN(id), fold_key, CASE WHEN shingles IS NULL THEN text ELSE '' END, shingles FROM texts "
            "GROUP BY fold_key ORDER BY fold_key"
        )

    def vectors_of_chunks(self) -> Iterator[tuple[int, bytes]]:
        """(document's row id, vector as little-endian float32) of every chunk, by document."""
        yield from self._db.conn.execute(
            "SELECT k.document_id, t.vector FROM chunks k JOIN texts t ON t.id = k.text_id "
            "ORDER BY k.document_id, k.chunk_index"
        )

    # --- what would be lost ---

    def passages_only_in(self, doc_ids: Collection[str], left_out: Collection[str]) -> list[LostRow]:
        """(doc_id, chunk index, start, end, text) of passages of these documents whose folded text no other served
        document holds, by doc_id and place; of equal ones the first. Stale documents and `left_out` are not served."""
        rows = self._db.conn.execute(
            "WITH gone AS (SELECT d.id FROM documents d WHERE d.doc_id IN (SELECT value FROM json_each(:going))), "
            "unserved AS (SELECT id FROM gone UNION SELECT d.id FROM documents d WHERE d.state NOT IN "
            "('indexed', 'no_text') OR d.doc_id IN (SELECT value FROM json_each(:out))) "
            'SELECT d.doc_id, k.chunk_index, k.start, k."end", t.text, t.fold_key FROM gone g '
            "JOIN documents d ON d.id = g.id JOIN chunks k ON k.document_id = d.id JOIN texts t ON t.id = k.text_id "
            "WHERE NOT EXISTS (SELECT 1 FROM texts u JOIN chunks o ON o.text_id = u.id "
            "WHERE u.fold_key = t.fold_key AND o.document_id NOT IN (SELECT id FROM unserved)) "
            "ORDER BY d.doc_id, k.chunk_index",
            {"going": json.dumps(sorted(doc_ids)), "out": json.dumps(sorted(left_out))},
        )
        found: dict[str, LostRow] = {}
        for doc_id, index, start, end, text, fold_key in rows:
            found.setdefault(fold_key, (doc_id, index, start, end, text))
        return list(found.values())
