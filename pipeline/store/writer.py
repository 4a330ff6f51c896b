"""Changes to the library's catalog, each in one transaction that also moves the generation on."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlite_utils import Database

from pipeline.records import DocumentState, Page, PassedOverRow

_UNHELD = "NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.text_id = {})"
_PAST_STATES = 100_000  # kept; a file of vectors that is older is made again


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file as the scan saw it; what the quick check compares."""

    rel_path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    link_count: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A document as the last run left it."""

    id: int
    doc_id: str
    facts: FileFacts
    state: DocumentState
    content_sha256: str | None
    chunk_count: int


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk to be written: its place, and the text that it holds by its exact key."""

    start: int
    end: int
    page_first: int | None
    page_last: int | None
    text_sha256: str


@dataclass(frozen=True, slots=True)
class NewText:
    """A text to be stored with its vector (little-endian float32). `shingles` is None where they were not made."""

    sha256: str
    fold_key: str
    text: str
    tokens: int | None
    vector: bytes
    shingles: bytes | None = None


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document as it was read now. `text` is None for one that failed or is unchanged in content. `fold_key` and
    `shingles` are those of the whole text, None where they were not made."""

    root_id: int
    doc_id: str
    facts: FileFacts
    state: DocumentState
    reason: str = ""
    kind: str = ""
    content_sha256: str | None = None
    text: str | None = None
    pages: tuple[Page, ...] = ()
    chunks: tuple[NewChunk, ...] = ()
    why: str = ""  # the kind of the reason, one of `WHYS`
    fold_key: str | None = None
    shingles: bytes | None = None


class CatalogWriter:
    """Writes through one connection; the caller holds the library's lock."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # Texts that lost a chunk through this connection: among them are those that no chunk holds any more.
        db.execute("CREATE TEMP TABLE IF NOT EXISTS let_go (text_id INTEGER PRIMARY KEY)")
        db.execute(
            "CREATE TEMP TRIGGER IF NOT EXISTS chunk_let_go AFTER DELETE ON main.chunks "
            "BEGIN INSERT OR IGNORE INTO let_go (text_id) VALUES (OLD.text_id); END"
        )

    @contextmanager
    def change(self) -> Iterator[None]:
        """One transaction: all of it or nothing, and a new generation with it."""
        with self._db.atomic():
            yield
            self._db.execute(
                "INSERT INTO past_states (generation, token) SELECT CAST(g.value AS INTEGER), t.value "
                "FROM meta g, meta t WHERE g.key = 'generation' AND t.key = 'generation_token'"
            )
            self._db.execute(
                "DELETE FROM past_states WHERE generation <= (SELECT MAX(generation) FROM past_states) - ?",
                [_PAST_STATES],
            )
            self._db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation'")
            # Tells apart two states of the same number, such as those of a restored copy that went on by itself.
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'generation_token'", [secrets.token_hex(8)])

    def bind_model(self, fingerprint: str, name: str, source: str | None, dimension: int) -> None:
        """The library's vectors are of this model from now on."""
        for key, value in (
            ("model_fingerprint", fingerprint),
            ("model_name", name),
            ("model_source", source or ""),
            ("dimension", str(dimension)),
        ):
            self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", [key, value])

    def name_model(self, source: str | None) -> None:
        """The model that is to make the vectors, while there are none."""
        self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('model_source', ?)", [source or ""])

    def set_unfinished(self, files: int) -> None:
        """A run begins to read, of so many files in all; 0 when it came to its end."""
        if files:
            self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('unfinished', ?)", [str(files)])
        else:
            self._db.execute("DELETE FROM meta WHERE key = 'unfinished'")

    def unfinished(self) -> bool:
        """Whether the last run did not come to its end."""
        return self._db.execute("SELECT 1 FROM meta WHERE key = 'unfinished'").fetchone() is not None

    def root_identity(self, root_id: int) -> str:
        """What the root's folder was on its disk when it was scanned last; "" where that is not known."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", [f"root_identity_{root_id}"]).fetchone()
        return str(row[0]) if row else ""

    def set_root_identity(self, root_id: int, identity: str) -> None:
        """Keep what the root's folder is on its disk. No change of the library: nothing that it says depends on it."""
        with self._db.atomic():
            self._db.execute(
                "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", [f"root_identity_{root_id}", identity]
            )

    def add_root(self, label: str, path: str) -> int:
        cursor = self._db.execute(
            "INSERT INTO roots (label, path_bytes, added_at) VALUES (?, ?, ?)",
            [label, os.fsencode(path), _now()],
        )
        return int(cursor.lastrowid or 0)

    def set_exclude(self, root_id: int, patterns: Sequence[str]) -> None:
        self._db.execute("UPDATE roots SET exclude = ? WHERE id = ?", [json.dumps(list(patterns)), root_id])

    def set_gitignore(self, root_id: int, honoured: bool) -> None:
        self._db.execute("UPDATE roots SET gitignore = ? WHERE id = ?", [int(honoured), root_id])

    def remove_root(self, root_id: int) -> None:
        self._db.execute("DELETE FROM roots WHERE id = ?", [root_id])

    def put_passed_over(self, root_id: int, rows: Iterable[PassedOverRow]) -> None:
        """What the last whole scan of a root left out, in place of what an earlier one did. No question depends on it,
        so the generation stays."""
        with self._db.atomic():
            self._db.execute("DELETE FROM passed_over WHERE root_id = ?", [root_id])
            self._db.conn.executemany(
                "INSERT OR REPLACE INTO passed_over (root_id, rel_bytes, what, rule, entries) VALUES (?, ?, ?, ?, ?)",
                [(root_id, path_bytes(row.rel_path), row.what, row.rule, row.entries) for row in rows],
            )

    def texts_held(self, sha256s: Iterable[str]) -> set[str]:
        """Which of these texts are stored already."""
        rows = self._db.execute(
            "SELECT sha256 FROM texts WHERE sha256 IN (SELECT value FROM json_each(?))",
            [json.dumps(list(sha256s))],
        )
        return {row[0] for row in rows}

    def add_texts(self, texts: Iterable[NewText]) -> None:
        self._db.conn.executemany(
            "INSERT OR IGNORE INTO texts (sha256, fold_key, text, tokens, vector, shingles) VALUES (?, ?, ?, ?, ?, ?)",
            [(new.sha256, new.fold_key, new.text, new.tokens, new.vector, new.shingles) for new in texts],
        )

    def put_document(self, new: NewDocument) -> None:
        """Add or replace a document with its content and chunks; its texts are stored already."""
        document_id = self._put_row(new)
        self._db.execute("DELETE FROM chunks WHERE document_id = ?", [document_id])
        if new.text is None:
            self._db.execute("DELETE FROM contents WHERE document_id = ?", [document_id])
            return
        self._db.execute(
            "INSERT OR REPLACE INTO contents (document_id, text, pages, fold_key, shingles) VALUES (?, ?, ?, ?, ?)",
            [
                document_id,
                new.text,
                json.dumps([[page.number, page.start, page.end] for page in new.pages]),
                new.fold_key,
                new.shingles,
            ],
        )
        ids = self._text_ids(chunk.text_sha256 for chunk in new.chunks)
        self._db.conn.executemany(
            'INSERT INTO chunks (document_id, chunk_index, text_id, start, "end", page_first, page_last) '
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    document_id,
                    index,
                    ids[chunk.text_sha256],
                    chunk.start,
                    chunk.end,
                    chunk.page_first,
                    chunk.page_last,
                )
                for index, chunk in enumerate(new.chunks)
            ],
        )

    def touch(self, known: KnownFile, facts: FileFacts) -> None:
        """Only what the file system says of the file has changed, its content has not."""
        self._db.execute(
            "UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, device = ?, link_count = ? "
            "WHERE id = ?",
            [
                facts.size,
                facts.mtime_ns,
                facts.ctime_ns,
                str(facts.inode),
                str(facts.device),
                facts.link_count,
                known.id,
            ],
        )

    def set_state(self, known: KnownFile, facts: FileFacts, state: DocumentState, reason: str, why: str = "") -> None:
        """The file could not be read this time: keep what is known of it, under this state."""
        self.touch(known, facts)
        self._db.execute(
            "UPDATE documents SET state = ?, reason = ?, why = ? WHERE id = ?", [state, reason, why, known.id]
        )

    def remove_documents(self, ids: Iterable[int]) -> None:
        self._db.conn.executemany("DELETE FROM documents WHERE id = ?", [(row_id,) for row_id in ids])

    def spare_vectors(self, sha256s: Iterable[str]) -> dict[str, bytes]:
        """Vectors of these texts that were set aside when no chunk held them any more."""
        rows = self._db.execute(
            "SELECT sha256, vector FROM spare_texts WHERE sha256 IN (SELECT value FROM json_each(?))",
            [json.dumps(list(sha256s))],
        )
        return dict(rows.fetchall())

    def drop_spares(self) -> None:
        """Keep none of them: another model makes the vectors from now on."""
        self._db.execute("DELETE FROM spare_texts")

    def take_spares(self, sha256s: Iterable[str]) -> None:
        """These texts are held again."""
        self._db.conn.executemany("DELETE FROM spare_texts WHERE sha256 = ?", [(sha256,) for sha256 in sha256s])

    def remove_unheld_texts(self, *, keep: int = 0, keep_days: float = 0.0, all_texts: bool = False) -> int:
        """Take out the texts that no chunk holds any more since this connection was opened, or with `all_texts`
        whenever that was, which takes a look at every text; how many went. Their vectors are set aside, at most `keep`
        of them and none for longer than `keep_days`, so that a text that comes back costs no embedding."""
        if all_texts:
            self._db.execute(
                "INSERT OR IGNORE INTO let_go (text_id) SELECT id FROM texts WHERE " + _UNHELD.format("texts.id")
            )
        unheld = f"id IN (SELECT text_id FROM let_go WHERE {_UNHELD.format('let_go.text_id')})"
        if keep and keep_days:
            self._db.execute(
                "INSERT OR REPLACE INTO spare_texts (sha256, fold_key, tokens, vector, shingles, set_aside_at) "
                f"SELECT sha256, fold_key, tokens, vector, shingles, ? FROM texts WHERE {unheld} "
                "ORDER BY id DESC LIMIT ?",
                [_now(), keep],
            )
        oldest = datetime.now(UTC) - timedelta(days=keep_days)
        self._db.execute("DELETE FROM spare_texts WHERE set_aside_at < ?", [oldest.isoformat(timespec="seconds")])
        self._db.execute(
            "DELETE FROM spare_texts WHERE sha256 IN "
            "(SELECT sha256 FROM spare_texts ORDER BY set_aside_at DESC, sha256 LIMIT -1 OFFSET ?)",
            [keep],
        )
        gone = int(self._db.execute(f"DELETE FROM texts WHERE {unheld}").rowcount)
        self._db.execute("DELETE FROM let_go")
        return gone

    def _put_row(self, new: NewDocument) -> int:
        facts = new.facts
        values: Mapping[str, Any] = {
            "root_id": new.root_id,
            "rel_bytes": path_bytes(facts.rel_path),
            "doc_id": new.doc_id,
            "state": new.state,
            "reason": new.reason,
            "why": new.why,
            "kind": new.kind,
            "size": facts.size,
            "mtime_ns": facts.mtime_ns,
            "ctime_ns": facts.ctime_ns,
            "inode": str(facts.inode),
            "device": str(facts.device),
            "link_count": facts.link_count,
            "content_sha256": new.content_sha256,
            "characters": len(new.text or ""),
            "page_count": len(new.pages),
            "chunk_count": len(new.chunks),
            "indexed_at": _now(),
        }
        updates = ", ".join(
            f"{column} = excluded.{column}" for column in values if column not in ("root_id", "rel_bytes")
        )
        row = self._db.execute(
            f"INSERT INTO documents ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "
            f"ON CONFLICT (root_id, rel_bytes) DO UPDATE SET {updates} RETURNING id",
            list(values.values()),
        ).fetchone()
        return int(row[0])

    def _text_ids(self, sha256s: Iterable[str]) -> dict[str, int]:
        rows = self._db.execute(
            "SELECT sha256, id FROM texts WHERE sha256 IN (SELECT value FROM json_each(?))",
            [json.dumps(sorted(set(sha256s)))],
        )
        return dict(rows.fetchall())


def path_bytes(rel_path: str) -> bytes:
    """A path as it is stored: the file system's bytes, in whose order scans and lists come."""
    try:
        return os.fsencode(rel_path)
    except UnicodeEncodeError:  # Windows names may hold surrogates that stand for no byte
        return rel_path.encode("utf-8", "surrogatepass")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
