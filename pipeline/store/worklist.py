"""What one indexing run has to do, in temporary tables beside the catalog: no list of a folder is held in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlite_utils import Database

from pipeline.store.writer import FileFacts, KnownFile, path_bytes

_KNOWN_ROWS = 1_000  # of the catalog at a time
_READ_ROWS = 128  # of what is to be read
_PUT_ROWS = 500


class KnownRow(NamedTuple):
    """A document, as far as the quick check needs it; `inode` and `device` are texts, for they may be any number."""

    rel: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: str
    device: str
    state: str
    why: str
    id: int


class ToRead(NamedTuple):
    """A file that has to be read, as the scan saw it, and its document if there is one."""

    rel: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: str
    device: str
    link_count: int
    document_id: int | None

    @property
    def facts(self) -> FileFacts:
        return FileFacts(
            os.fsdecode(self.rel),
            self.size,
            self.mtime_ns,
            self.ctime_ns,
            int(self.inode),
            int(self.device),
            self.link_count,
        )


class Worklist:
    """The lists of one run: files to read, documents that are gone, and contents that are new to the library. They end
    with the connection. Nothing of the catalog is changed here."""

    def __init__(self, db: Database) -> None:
        self._db = db
        for table in ("to_read", "gone", "arrived"):
            db.execute(f"DROP TABLE IF EXISTS temp.{table}")
        db.execute(
            "CREATE TEMP TABLE to_read (seq INTEGER PRIMARY KEY, root_id INTEGER, rel BLOB, size INTEGER, "
            "mtime_ns INTEGER, ctime_ns INTEGER, inode TEXT, device TEXT, link_count INTEGER, document_id INTEGER)"
        )
        db.execute("CREATE TEMP TABLE gone (document_id INTEGER PRIMARY KEY, root_id INTEGER, content_sha256 TEXT)")
        db.execute("CREATE TEMP TABLE arrived (content_sha256 TEXT)")

    def known(self, root_id: int, within: str = "") -> Iterator[KnownRow]:
        """The root's documents in the order of their paths' bytes; `within` narrows them to one file or folder."""
        place = path_bytes(within)
        low, high = place, place + b"0" if place else b"\xff" * 8  # "0" follows "/"
        inclusive = ">="
        while True:
            rows = self._db.execute(
                "SELECT rel_bytes, size, mtime_ns, ctime_ns, inode, device, state, why, id FROM documents "
                f"WHERE root_id = ? AND rel_bytes {inclusive} ? AND rel_bytes < ? ORDER BY rel_bytes LIMIT ?",
                [root_id, low, high, _KNOWN_ROWS],
            ).fetchall()
            for row in rows:
                if not place or row[0] == place or row[0].startswith(place + b"/"):
                    yield KnownRow._make(row)
            if len(rows) < _KNOWN_ROWS:
                return
            low, inclusive = rows[-1][0], ">"

    # --- noting ---

    def note_to_read(self, root_id: int, files: Iterable[ToRead]) -> None:
        with self._db.atomic():
            self._db.conn.executemany(
                "INSERT INTO temp.to_read (root_id, rel, size, mtime_ns, ctime_ns, inode, device, link_count, "
                "document_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(root_id, *file) for file in files],
            )

    def note_gone(self, document_ids: Iterable[int]) -> None:
        with self._db.atomic():
            self._db.execute(
                "INSERT OR IGNORE INTO temp.gone SELECT id, root_id, content_sha256 FROM documents "
                "WHERE id IN (SELECT value FROM json_each(?))",
                [json.dumps(list(document_ids))],
            )

    def note_arrived(self, content_sha256s: Iterable[str]) -> None:
        """Contents of documents that were not in the library before."""
        with self._db.atomic():
            self._db.conn.executemany(
                "INSERT INTO temp.arrived (content_sha256) VALUES (?)", [(sha256,) for sha256 in content_sha256s]
            )

    def drop_root(self, root_id: int) -> None:
        """What was noted of this root does not hold: it could not be read to its end."""
        with self._db.atomic():
            self._db.execute("DELETE FROM temp.to_read WHERE root_id = ?", [root_id])
            self._db.execute("DELETE FROM temp.gone WHERE root_id = ?", [root_id])

    # --- doing ---

    def count_to_read(self, root_id: int | None = None) -> int:
        return self._count("temp.to_read WHERE ? IS NULL OR root_id = ?", [root_id, root_id])

    def growth(self) -> int:
        """How many documents more (or, negative, fewer) there will be."""
        return self._count("temp.to_read WHERE document_id IS NULL", []) - self._count("temp.gone", [])

    def to_read(self, root_id: int) -> Iterator[tuple[ToRead, KnownFile | None]]:
        """The root's files to read with their documents as they are now, in the order noted."""
        last = 0
        while True:
            rows = self._db.execute(
                "SELECT w.seq, w.rel, w.size, w.mtime_ns, w.ctime_ns, w.inode, w.device, w.link_count, w.document_id, "
                "d.doc_id, d.size, d.mtime_ns, d.ctime_ns, d.inode, d.device, d.link_count, d.state, "
                "d.content_sha256, d.chunk_count "
                "FROM temp.to_read w LEFT JOIN documents d ON d.id = w.document_id "
                "WHERE w.root_id = ? AND w.seq > ? ORDER BY w.seq LIMIT ?",
                [root_id, last, _READ_ROWS],
            ).fetchall()
            if not rows:
                return
            for seq, *found in rows:
                last = seq
                file = ToRead._make(found[:8])
                doc_id, size, mtime, ctime, inode, device, links, state, sha256, chunks = found[8:]
                if file.document_id is None or doc_id is None:
                    yield file, None
                    continue
                facts = FileFacts(os.fsdecode(file.rel), size, mtime, ctime, int(inode), int(device), links)
                yield file, KnownFile(file.document_id, doc_id, facts, state, sha256, chunks)

    def gone(self) -> Iterator[list[int]]:
        """The documents that are gone, some at a time."""
        last = 0
        while True:
            rows = self._db.execute(
                "SELECT document_id FROM temp.gone WHERE document_id > ? ORDER BY document_id LIMIT ?",
                [last, _PUT_ROWS],
            ).fetchall()
            if not rows:
                return
            yield [row[0] for row in rows]
            last = rows[-1][0]

    def moved(self) -> int:
        """How many contents disappeared in one place and arrived in another."""
        row = self._db.execute(
            "SELECT SUM(MIN(g.n, a.n)) FROM "
            "(SELECT content_sha256, COUNT(*) AS n FROM temp.gone WHERE content_sha256 NOT NULL GROUP BY 1) g JOIN "
            "(SELECT content_sha256, COUNT(*) AS n FROM temp.arrived GROUP BY 1) a USING (content_sha256)"
        ).fetchone()
        return int(row[0] or 0)

    def _count(self, table: str, parameters: list[int | None]) -> int:
        return int(self._db.execute(f"SELECT COUNT(*) FROM {table}", parameters).fetchone()[0])
