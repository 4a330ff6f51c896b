"""The library's database: its tables, its migrations, and how it is opened."""

from __future__ import annotations

import secrets
import sqlite3
import uuid
from pathlib import Path

from sqlite_utils import Database, Migrations

from pipeline.errors import LibraryDamaged, LibraryError, LibraryTooNew

DATABASE_NAME = "library.sqlite3"
SCHEMA_VERSION = 1

migrations = Migrations("twinspect")


@migrations()
def m001_library(db: Database) -> None:
    """The first schema. `*_bytes` hold paths as the file system has them, which need not be valid Unicode."""
    db.executescript(
        """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE roots (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            label TEXT NOT NULL UNIQUE,
            path_bytes BLOB NOT NULL UNIQUE,
            exclude TEXT NOT NULL DEFAULT '[]',
            added_at TEXT NOT NULL
        );
        CREATE TABLE documents (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            root_id INTEGER NOT NULL REFERENCES roots(id) ON DELETE CASCADE,
            rel_bytes BLOB NOT NULL,
            doc_id TEXT NOT NULL UNIQUE,
            state TEXT NOT NULL CHECK (state IN ('indexed', 'no_text', 'failed', 'stale')),
            reason TEXT NOT NULL DEFAULT '',
            kind TEXT NOT NULL DEFAULT '',
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            ctime_ns INTEGER NOT NULL,
            inode TEXT NOT NULL,
            device TEXT NOT NULL,
            link_count INTEGER NOT NULL,
            content_sha256 TEXT,
            characters INTEGER NOT NULL DEFAULT 0,
            page_count INTEGER NOT NULL DEFAULT 0,
            chunk_count INTEGER NOT NULL DEFAULT 0,
            indexed_at TEXT NOT NULL,
            UNIQUE (root_id, rel_bytes)
        );
        CREATE TABLE contents (
            document_id INTEGER PRIMARY KEY REFERENCES documents(id) ON DELETE CASCADE,
            text TEXT NOT NULL,
            pages TEXT NOT NULL DEFAULT '[]'
        );
        CREATE TABLE texts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            sha256 TEXT NOT NULL UNIQUE,
            fold_key TEXT NOT NULL,
            text TEXT NOT NULL,
            tokens INTEGER,
            vector BLOB NOT NULL
        );
        CREATE INDEX texts_fold_key ON texts(fold_key);
        CREATE TABLE chunks (
            document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            chunk_index INTEGER NOT NULL,
            text_id INTEGER NOT NULL REFERENCES texts(id),
            start INTEGER NOT NULL,
            "end" INTEGER NOT NULL,
            page_first INTEGER,
            page_last INTEGER,
            PRIMARY KEY (document_id, chunk_index)
        ) WITHOUT ROWID;
        CREATE INDEX chunks_text ON chunks(text_id);
        """
    )
    for key, value in (
        ("library_id", uuid.uuid4().hex),
        ("generation", "0"),
        ("generation_token", secrets.token_hex(8)),
    ):
        db.execute("INSERT INTO meta (key, value) VALUES (?, ?)", [key, value])


def database_file(folder: Path) -> Path:
    return folder / DATABASE_NAME


def open_for_writing(folder: Path) -> Database:
    """The library's database, made or migrated as needed. The caller holds the writer's lock.

    Raises `LibraryTooNew`, `LibraryDamaged`, `LibraryError`.
    """
    file = database_file(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(str(file), timeout=30, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise LibraryError(f"the library in {folder} cannot be written: {error}") from error
    try:
        db = Database(connection)
        _refuse_newer(db, folder)
        db.enable_wal()
        # NORMAL is enough under WAL: a power cut can lose the last batch, never the database's consistency.
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA foreign_keys=ON")
        migrations.apply(db)
        db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _in_words(error, folder) from error
    except BaseException:
        connection.close()
        raise
    return db


def open_for_reading(folder: Path) -> Database:
    """The library's database, never written through. Works on a read-only folder too.

    Raises `LibraryTooNew`, `LibraryDamaged`, `LibraryError`.
    """
    file = database_file(folder)
    if not file.is_file():
        raise LibraryError(f"there is no library in {folder}: index a folder first")
    # WAL readers need a shared-memory file beside the database. Where that cannot be made (read-only media), nobody
    # can be writing either, so the file may be read as immutable.
    attempts = (f"{file.resolve().as_uri()}?mode=rw", f"{file.resolve().as_uri()}?mode=ro&immutable=1")
    for last, address in enumerate(attempts, start=1):
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(address, uri=True, timeout=30, check_same_thread=False)
            db = Database(connection)
            db.execute("PRAGMA query_only=1")
            _refuse_newer(db, folder)
            if db.execute("PRAGMA user_version").fetchone()[0] < SCHEMA_VERSION:
                raise LibraryError(
                    f"the library in {folder} was made by an older version: index it once with this one to update it"
                )
            db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        except sqlite3.DatabaseError as error:
            if connection is not None:
                connection.close()
            if last < len(attempts) and not _is_damage(error):
                continue
            raise _in_words(error, folder) from error
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return db
    raise AssertionError("unreachable")


def _refuse_newer(db: Database, folder: Path) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise LibraryTooNew(
            f"the library in {folder} was written by a newer version of Twinspect (schema {version}, this one knows "
            f"{SCHEMA_VERSION}): update Twinspect or choose another library"
        )


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return not isinstance(error, sqlite3.OperationalError) or "malformed" in str(error)


def _in_words(error: sqlite3.DatabaseError, folder: Path) -> LibraryError:
    if _is_damage(error):
        return LibraryDamaged(
            f"{database_file(folder)} is damaged or not a library ({error}): move it aside and index the folders again"
        )
    return LibraryError(f"the library in {folder} cannot be opened: {error}")
