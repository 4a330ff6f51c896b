"""Who holds what: documents by the bytes of their files, and texts by the documents that hold them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, cast

from sqlite_utils import Database

from pipeline.records import DocumentState
from pipeline.store.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Holder:
    """A document, and the SHA-256 of its file's bytes (None where it was never read). `identity` is what the disk knew
    the file by when it was indexed, whatever its name: device, inode and time of its last change; "" without any."""

    doc_id: str
    path: str
    content_key: str | None
    identity: str = ""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A document's file as it was when it was indexed. `root` is the folder of the library that it lies in; `unread`
    says what of it could not be read, "" for all of a document that was."""

    doc_id: str
    path: str
    root: str
    state: DocumentState
    content_key: str | None
    chunks: int
    size: int
    mtime_ns: int
    inode: int
    device: int
    link_count: int
    unread: str = ""


_HOLDER = "SELECT doc_id, root_id, rel_bytes, content_sha256, device, inode, mtime_ns FROM documents"


class Holdings:
    """Answers from one database connection; use it from one thread at a time, inside the catalog's snapshot."""

    def __init__(self, db: Database, catalog: Catalog) -> None:
        self._db = db
        self._catalog = catalog

    def holders(self, content_keys: Collection[str]) -> list[Holder]:
        """The documents that hold these bytes, by doc_id."""
        rows = self._rows(
            f"{_HOLDER} WHERE content_sha256 IN (SELECT value FROM json_each(?)) ORDER BY doc_id",
            [json.dumps(list(content_keys))],
        )
        return [self._holder(row) for row in rows]

    def every_document(self) -> list[Holder]:
        """All documents, by doc_id."""
        rows = self._rows(f"{_HOLDER} ORDER BY doc_id")
        return [self._holder(row) for row in rows]

    def files(self, doc_ids: Iterable[str]) -> dict[str, IndexedFile]:
        """These documents' files as they were indexed; documents that are not there are absent."""
        return self._files("d.doc_id IN (SELECT value FROM json_each(?))", [json.dumps(sorted(set(doc_ids)))])

    def files_of_content(self, content_keys: Iterable[str]) -> dict[str, IndexedFile]:
        """The files that held these bytes when they were indexed, by doc_id."""
        keys = json.dumps(sorted(set(content_keys)))
        return self._files("d.content_sha256 IN (SELECT value FROM json_each(?))", [keys])

    def same_inode(self, file: IndexedFile) -> list[str]:
        """Documents that were this very file under another name when they were indexed."""
        rows = self._rows(
            "SELECT doc_id FROM documents WHERE inode = ? AND device = ? AND doc_id != ? ORDER BY doc_id",
            [str(file.inode), str(file.device), file.doc_id],
        )
        return [row[0] for row in rows]

    def passages(self, doc_ids: Iterable[str]) -> list[tuple[str, int, str]]:
        """(doc_id, chunk_index, fold key) of every passage of these documents, in order."""
        return self._rows(
            "SELECT d.doc_id, k.chunk_index, t.fold_key FROM documents d JOIN chunks k ON k.document_id = d.id "
            "JOIN texts t ON t.id = k.text_id WHERE d.doc_id IN (SELECT value FROM json_each(?)) "
            "ORDER BY d.doc_id, k.chunk_index",
            [json.dumps(sorted(set(doc_ids)))],
        )

    def served_holders(self, fold_keys: Iterable[str]) -> dict[str, list[str]]:
        """Fold key -> the documents that hold a passage of it and were read to the end when they were indexed last."""
        rows = self._rows(
            "SELECT DISTINCT t.fold_key, d.doc_id FROM texts t JOIN chunks k ON k.text_id = t.id "
            "JOIN documents d ON d.id = k.document_id "
            "WHERE d.state = 'indexed' AND t.fold_key IN (SELECT value FROM json_each(?)) ORDER BY d.doc_id",
            [json.dumps(sorted(set(fold_keys)))],
        )
        found: dict[str, list[str]] = {}
        for fold_key, doc_id in rows:
            found.setdefault(fold_key, []).append(doc_id)
        return found

    def _holder(self, row: tuple[Any, ...]) -> Holder:
        doc_id, root, rel, key, device, inode, mtime_ns = row
        identity = f"{device}:{inode}:{mtime_ns}" if inode != "0" else ""
        return Holder(doc_id, self._catalog.path_of(root, rel), key, identity)

    def _files(self, where: str, parameters: list[str]) -> dict[str, IndexedFile]:
        roots = {root.id: root.path for root in self._catalog.roots()}
        rows = self._rows(
            "SELECT d.doc_id, d.root_id, d.rel_bytes, d.state, d.content_sha256, d.chunk_count, d.size, d.mtime_ns, "
            f"d.inode, d.device, d.link_count, d.reason FROM documents d WHERE {where} ORDER BY d.doc_id",
            parameters,
        )
        return {
            row[0]: IndexedFile(
                doc_id=row[0],
                path=self._catalog.path_of(row[1], row[2]),
                root=roots[row[1]],
                state=cast(DocumentState, row[3]),
                content_key=row[4],
                chunks=row[5],
                size=row[6],
                mtime_ns=row[7],
                inode=int(row[8]),
                device=int(row[9]),
                link_count=row[10],
                unread=row[11],
            )
            for row in rows
        }

    def _rows(self, sql: str, parameters: Collection[Any] = ()) -> list[Any]:
        return self._db.conn.execute(sql, list(parameters)).fetchall()
