"""What the library's database knows, read-only: documents, chunks, texts and who holds them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sqlite_utils import Database

from pipeline.records import (
    Copy,
    Document,
    DocumentState,
    Freshness,
    LibraryFacts,
    Location,
    Page,
    PassedOverRow,
    Root,
    made_by_the_thousand,
)
from pipeline.store.text_vectors import TextVectors
from pipeline.store.vectors import Stamp


@dataclass(frozen=True, slots=True)
class CatalogState:
    """Identity of what a read transaction sees. `fingerprint` is "" until a model was bound to the library."""

    library_id: str
    generation: int
    token: str
    fingerprint: str
    model: str
    model_source: str | None
    dimension: int
    unfinished: int = 0  # files that a run found which did not come to its end, 0 when it did

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.library_id, self.generation, self.token, self.fingerprint)


@made_by_the_thousand
class ChunkRow(Copy):
    """One chunk and the text that it holds, as the dense search needs them: made once, for the hit and for the copy."""

    text_id: int
    fold_key: str
    tokens: int | None


def place_order(row: ChunkRow) -> tuple[str, int]:
    return (row.location.doc_id, row.location.chunk_index)


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A chunk's place in its document; `copies` counts the chunks of the library that hold an equal folded text."""

    chunk_index: int
    start: int
    end: int
    page_first: int | None
    page_last: int | None
    copies: int


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's extracted text with its pages and chunks."""

    doc_id: str
    path: str
    kind: str
    text: str
    pages: tuple[Page, ...]
    chunks: tuple[ChunkSpan, ...]


_MOST_FILES = 20_000  # are kept for the next snapshot; of a usual length they take some 11 MB

# One row of `_PLACES`: text_id, document_id, chunk_index, start, end, page_first, page_last.
_PLACES = 'k.text_id, k.document_id, k.chunk_index, k.start, k."end", k.page_first, k.page_last'
_File = tuple[str, str, str, int, int, int, str]  # doc_id, path, state, size, mtime_ns, ctime_ns, inode


def _parameters(values: Collection[Any]) -> str:
    # json_each takes any number of values as one parameter, beyond SQLite's limit on parameters.
    return json.dumps(list(values))


@dataclass(slots=True)
class _Files:
    """Files as they were indexed in one state of the library, as far as they were read."""

    by_id: dict[int, _File] = field(default_factory=dict)
    by_doc_id: dict[str, _File] = field(default_factory=dict)

    def add(self, row_id: int, file: _File) -> None:
        self.by_id[row_id] = self.by_doc_id[file[0]] = file


class Catalog:
    """Answers from one database connection; use it from one thread at a time."""

    def __init__(self, db: Database, folder: Path) -> None:
        self._db = db
        self.vectors = TextVectors(db)
        self._folder = folder
        self._root_paths: dict[int, str] = {}  # each ends with the separator
        # What was read in the snapshot that is open: all chunks that hold a text, and files as they were indexed.
        self._held: dict[int, list[ChunkRow]] = {}
        self._files = _Files()
        # Those that the last snapshot read, and the token of its state: in the next of this state they are the same.
        self._last_files = ("", _Files())
        self._facts: tuple[str, LibraryFacts] | None = None

    @contextmanager
    def snapshot(self) -> Iterator[CatalogState]:
        """Everything read inside comes from one committed state of the library. Snapshots may nest."""
        if self._db.conn.in_transaction:
            yield self.state()
            return
        self._db.conn.execute("BEGIN")
        try:
            state = self.state()
            self._forget()
            token, files = self._last_files
            if token == state.token:
                self._files = files
            yield state
            if len(self._files.by_id) <= _MOST_FILES:
                self._last_files = (state.token, self._files)
        finally:
            self._forget()
            self._db.conn.execute("ROLLBACK")

    def _forget(self) -> None:
        self._root_paths.clear()
        self._held.clear()
        self._files = _Files()

    def state(self) -> CatalogState:
        meta = dict(self._rows("SELECT key, value FROM meta"))
        return CatalogState(
            meta["library_id"],
            int(meta["generation"]),
            meta["generation_token"],
            meta.get("model_fingerprint", ""),
            meta.get("model_name", ""),
            meta.get("model_source") or None,
            int(meta.get("dimension", "0")),
            int(meta.get("unfinished", "0")),
        )

    def facts(self) -> LibraryFacts:
        """Counts of the library; counted once a generation."""
        state = self.state()
        if self._facts is None or self._facts[0] != state.token:
            count = {
                table: int(self._rows(f"SELECT COUNT(*) FROM {table}")[0][0])
                for table in ("documents", "chunks", "texts")
            }
            self._facts = (
                state.token,
                LibraryFacts(str(self._folder), state.generation, state.model, state.dimension, **count),
            )
        return self._facts[1]

    # --- folders and documents ---

    def roots(self) -> list[Root]:
        rows = self._rows("SELECT id, label, path_bytes, exclude, gitignore FROM roots ORDER BY label")
        return [
            Root(row_id, label, os.fsdecode(path), tuple(json.loads(exclude)), bool(gitignore))
            for row_id, label, path, exclude, gitignore in rows
        ]

    def passed_over(self, root_id: int | None = None) -> list[PassedOverRow]:
        """What the last scans left out, by root and path; kinds that are only counted have no path."""
        rows = self._rows(
            "SELECT p.rel_bytes, p.what, p.rule, p.entries, r.label FROM passed_over p "
            "JOIN roots r ON r.id = p.root_id WHERE ? IS NULL OR p.root_id = ? "
            "ORDER BY r.label, p.rel_bytes, p.what, p.rule",
            [root_id, root_id],
        )
        return [PassedOverRow(os.fsdecode(rel), *rest) for rel, *rest in rows]

    def documents(self) -> list[Document]:
        """Every document, ordered by doc_id (code points)."""
        rows = self._rows(
            "SELECT d.doc_id, d.root_id, d.rel_bytes, d.state, d.reason, d.kind, d.size, d.mtime_ns, d.page_count, "
            "d.chunk_count, d.characters, r.label, d.indexed_at, d.link_count, d.why "
            "FROM documents d JOIN roots r ON r.id = d.root_id ORDER BY d.doc_id"
        )
        return [
            Document(
                doc_id=row[0],
                path=self._path(row[1], row[2]),
                state=cast(DocumentState, row[3]),
                reason=row[4],
                kind=row[5],
                size=row[6],
                mtime_ns=row[7],
                pages=row[8],
                chunks=row[9],
                characters=row[10],
                root_label=row[11],
                indexed_at=row[12],
                link_count=row[13],
                why=row[14],
            )
            for row in rows
        ]

    def doc_id_of_path(self, path: str) -> str | None:
        """The document that is this file, by its absolute path or its doc_id; None when the library has none."""
        if self._rows("SELECT 1 FROM documents WHERE doc_id = ?", [path]):
            return path
        real = os.path.realpath(path)
        for root in self.roots():
            root_real = os.path.realpath(root.path)
            if real.startswith(root_real.rstrip(os.sep) + os.sep):
                rel = real[len(root_real.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
                rows = self._rows(
                    "SELECT doc_id FROM documents WHERE root_id = ? AND rel_bytes = ?",
                    [root.id, os.fsencode(rel)],
                )
                if rows:
                    return str(rows[0][0])
        return None

    def document_text(self, doc_id: str) -> DocumentText | None:
        rows = self._rows(
            "SELECT d.id, d.root_id, d.rel_bytes, d.kind, c.text, c.pages FROM documents d "
            "LEFT JOIN contents c ON c.document_id = d.id WHERE d.doc_id = ?",
            [doc_id],
        )
        if not rows:
            return None
        row_id, root_id, rel, kind, text, pages = rows[0]
        chunks = self._rows(
            'SELECT k.chunk_index, k.start, k."end", k.page_first, k.page_last, '
            "(SELECT COUNT(*) FROM chunks o JOIN texts u ON u.id = o.text_id WHERE u.fold_key = t.fold_key) "
            "FROM chunks k JOIN texts t ON t.id = k.text_id WHERE k.document_id = ? ORDER BY k.chunk_index",
            [row_id],
        )
        return DocumentText(
            doc_id,
            self._path(root_id, rel),
            kind,
            text or "",
            tuple(Page(*page) for page in json.loads(pages or "[]")),
            tuple(ChunkSpan(*chunk) for chunk in chunks),
        )

    def unserved(self) -> Mapping[str, str]:
        return dict(self._rows("SELECT doc_id, reason FROM documents WHERE state = 'stale'"))

    def freshness(self, doc_ids: Collection[str]) -> Mapping[str, Freshness]:
        known = self._files.by_doc_id
        unknown = [doc_id for doc_id in doc_ids if doc_id not in known]
        if unknown:
            self._read_files("d.doc_id", unknown)
        return {doc_id: self._compare(known[doc_id]) for doc_id in doc_ids if doc_id in known}

    @staticmethod
    def _compare(file: _File) -> Freshness:
        """As the quick check of an indexing run looks at it: what that would read again has changed."""
        _, path, state, size, mtime_ns, ctime_ns, inode = file
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return "missing"
        except OSError:
            return "failed"
        if state in ("failed", "stale"):
            return "failed"
        same = (
            found.st_size == size
            and found.st_mtime_ns == mtime_ns
            and found.st_ctime_ns == ctime_ns
            and str(found.st_ino) == inode
        )
        return "fresh" if same else "changed"

    # --- chunks and texts ---

    def copies(self, fold_keys: Collection[str]) -> Mapping[str, Sequence[Copy]]:
        texts = self._rows(
            "SELECT id, fold_key FROM texts WHERE fold_key IN (SELECT value FROM json_each(?))",
            [_parameters(fold_keys)],
        )
        held = self.held([text_id for text_id, _ in texts])
        found: dict[str, Sequence[ChunkRow]] = {}
        for text_id, fold_key in texts:
            rows = held[text_id]
            if fold_key in found:
                rows = sorted([*found[fold_key], *rows], key=place_order)
            if rows:
                found[fold_key] = rows
        return found

    def contents(self, locations: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        found: dict[tuple[str, int], str] = {}
        for doc_id, index in locations:
            rows = self._rows(
                "SELECT t.text FROM documents d JOIN chunks k ON k.document_id = d.id JOIN texts t ON t.id = k.text_id "
                "WHERE d.doc_id = ? AND k.chunk_index = ?",
                [doc_id, index],
            )
            if rows:
                found[(doc_id, index)] = rows[0][0]
        return found

    def copy_counts(self, text_ids: Collection[int]) -> dict[int, int]:
        """How many chunks hold each text; texts that the catalog does not know are absent."""
        return dict(
            self._rows(
                "SELECT t.id, (SELECT COUNT(*) FROM chunks k WHERE k.text_id = t.id) FROM texts t "
                "WHERE t.id IN (SELECT value FROM json_each(?))",
                [_parameters(text_ids)],
            )
        )

    def chunk_rows(self, text_ids: Collection[int], limit: int, only_document: str | None = None) -> list[ChunkRow]:
        """At most `limit` of the chunks that hold these texts (-1: all), ordered by doc_id, then chunk_index."""
        wanted = _parameters(text_ids)
        rows = self._rows(
            f"SELECT {_PLACES} FROM json_each(?) wanted JOIN chunks k ON k.text_id = wanted.value "
            "JOIN documents d ON d.id = k.document_id "
            "WHERE ? IS NULL OR d.doc_id = ? ORDER BY d.doc_id, k.chunk_index LIMIT ?",
            [wanted, only_document, only_document, limit],
        )
        return self._chunk_rows(rows, wanted)

    def held(self, text_ids: Collection[int]) -> Mapping[int, Sequence[ChunkRow]]:
        """All chunks that hold each of these texts, ordered by doc_id, then chunk_index; read once in a snapshot."""
        held = self._held
        unknown = [text_id for text_id in text_ids if text_id not in held]
        if unknown:
            held.update({text_id: [] for text_id in unknown})
            wanted = _parameters(unknown)
            # Without the documents, and in the order of the index: of a text that is held 10,000 times, reading and
            # sorting here takes 18 ms where a joined and sorted row for each takes 22.
            rows = self._rows(
                f"SELECT {_PLACES} FROM json_each(?) wanted JOIN chunks k ON k.text_id = wanted.value", [wanted]
            )
            for row in self._chunk_rows(rows, wanted):
                held[row.text_id].append(row)
            for text_id in unknown:
                held[text_id].sort(key=place_order)
        return {text_id: held[text_id] for text_id in text_ids}

    def _chunk_rows(self, rows: Sequence[tuple[Any, ...]], wanted: str) -> list[ChunkRow]:
        """The chunks of these rows of `_PLACES`, in their order. `wanted` are the ids of their texts."""
        texts = {
            row[0]: row[1:]
            for row in self._rows(
                "SELECT id, sha256, fold_key, tokens FROM texts WHERE id IN (SELECT value FROM json_each(?))", [wanted]
            )
        }
        files = self._files.by_id
        unknown = {row[1] for row in rows}.difference(files)
        if unknown:
            self._read_files("d.id", unknown)
        found = []
        for text_id, document_id, index, start, end, page_first, page_last in rows:
            file = files[document_id]
            doc_id, path = file[0], file[1]
            sha256, fold_key, tokens = texts[text_id]
            place = Location(f"{doc_id}#chunk-{index}", doc_id, index, path, start, end, page_first, page_last)
            found.append(ChunkRow(place, sha256, text_id, fold_key, tokens))
        return found

    def _read_files(self, key: str, values: Collection[Any]) -> None:
        """Those of the documents whose `key` is one of these."""
        rows = self._rows(
            "SELECT d.id, d.doc_id, d.root_id, d.rel_bytes, d.state, d.size, d.mtime_ns, d.ctime_ns, d.inode "
            f"FROM json_each(?) wanted JOIN documents d ON {key} = wanted.value",
            [_parameters(values)],
        )
        for row_id, doc_id, root_id, rel, state, size, mtime_ns, ctime_ns, inode in rows:
            path = self._path(root_id, rel)
            self._files.add(row_id, (doc_id, path, state, size, mtime_ns, ctime_ns, inode))

    def texts(self, text_ids: Collection[int]) -> dict[int, str]:
        return dict(
            self._rows(
                "SELECT id, text FROM texts WHERE id IN (SELECT value FROM json_each(?))",
                [_parameters(text_ids)],
            )
        )

    def text_ids_of_document(self, doc_id: str) -> list[int]:
        rows = self._rows(
            "SELECT DISTINCT k.text_id FROM documents d JOIN chunks k ON k.document_id = d.id WHERE d.doc_id = ?",
            [doc_id],
        )
        return [row[0] for row in rows]

    # --- rows ---

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor: sqlite3.Cursor = self._db.conn.execute(sql, parameters)
        return cursor.fetchall()

    def path_of(self, root_id: int, rel_bytes: bytes) -> str:
        """The absolute path of the file at this place below this root."""
        return self._path(root_id, rel_bytes)

    def _path(self, root_id: int, rel_bytes: bytes) -> str:
        if root_id not in self._root_paths:
            self._root_paths.update({root.id: os.path.join(root.path, "") for root in self.roots()})
        rel = os.fsdecode(rel_bytes)
        return self._root_paths[root_id] + (rel if os.sep == "/" else rel.replace("/", os.sep))
