"""The library's database: its tables, its migrations, and how it is opened."""

from __future__ import annotations

import secrets
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database, Migrations

from pipeline.errors import LibraryDamaged, LibraryError, LibraryLocked, LibraryTooNew
from pipeline.store.lock import writer_lock
from pipeline.store.vectors_file import VECTORS_NAME

DATABASE_NAME = "library.sqlite3"
SCHEMA_VERSION = 3
_PATIENCE = 5.0  # seconds for another process that brings the same library up to date

_DAMAGED = "{file} is damaged or not a library ({said}): rebuild it from its folders; the damaged file is kept aside"

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


@migrations()
def m002_shingles_and_kept_vectors(db: Database) -> None:
    """`shingles` hold sorted 64-bit hashes (little-endian) of 3-word shingles, NULL where they were not made yet;
    `contents.fold_key` is that of the whole text. `spare_texts` keeps vectors of texts that no chunk holds any more.
    `passed_over` lists what a scan did not index, with the rule that did it."""
    db.executescript(
        """
        ALTER TABLE texts ADD COLUMN shingles BLOB;
        ALTER TABLE contents ADD COLUMN fold_key TEXT;
        ALTER TABLE contents ADD COLUMN shingles BLOB;
        CREATE INDEX contents_fold_key ON contents(fold_key);
        CREATE TABLE spare_texts (
            sha256 TEXT PRIMARY KEY,
            fold_key TEXT NOT NULL,
            tokens INTEGER,
            vector BLOB NOT NULL,
            shingles BLOB,
            set_aside_at TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE passed_over (
            root_id INTEGER NOT NULL REFERENCES roots(id) ON DELETE CASCADE,
            rel_bytes BLOB NOT NULL,
            what TEXT NOT NULL,
            rule TEXT NOT NULL,
            PRIMARY KEY (root_id, rel_bytes)
        ) WITHOUT ROWID;
        """
    )


@migrations()
def m003_reasons_and_rules(db: Database) -> None:
    """`documents.why` is the kind of the reason, for programs (see `pipeline.records.WHYS`). A root says whether its
    `.gitignore` files count. `passed_over` is keyed by rule too: a row stands for `entries` names of one folder."""
    db.executescript(
        """
        ALTER TABLE roots ADD COLUMN gitignore INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE documents ADD COLUMN why TEXT NOT NULL DEFAULT '';
        UPDATE documents SET why = 'unknown_kind' WHERE state = 'failed' AND reason LIKE 'unknown kind%';
        DROP TABLE passed_over;
        CREATE TABLE passed_over (
            root_id INTEGER NOT NULL REFERENCES roots(id) ON DELETE CASCADE,
            rel_bytes BLOB NOT NULL,
            what TEXT NOT NULL,
            rule TEXT NOT NULL,
            entries INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (root_id, rel_bytes, what, rule)
        ) WITHOUT ROWID;
        """
    )


@migrations()
def m004_past_states(db: Database) -> None:
    """The states that the library was in, by which a file of vectors is known to be of its past. Nobody who reads needs
    the table, and states that an older program left are only missing: the version of the schema stays."""
    db.executescript("CREATE TABLE past_states (generation INTEGER PRIMARY KEY, token TEXT NOT NULL)")


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
    """The library's database, never written through; one of an older version is migrated first. Works on a read-only
    folder too.

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
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if not version:
                raise LibraryError(f"the library in {folder} holds nothing yet: index a folder first")
            if version < SCHEMA_VERSION:
                connection.close()
                _migrate(folder)
                return open_for_reading(folder)
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


def _migrate(folder: Path) -> None:
    """Bring a library of an older version up to this one's schema, as its next reader. Nothing that it says changes."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with writer_lock(folder):
                open_for_writing(folder).close()
            return
        except LibraryLocked as error:
            # Another reader may be doing the same in this moment: then there is nothing to do the next time.
            if time.monotonic() > deadline:
                raise _not_migrated(folder, error) from error
            time.sleep(0.05)
        except LibraryError as error:
            raise _not_migrated(folder, error) from error


def _not_migrated(folder: Path, why: LibraryError) -> LibraryError:
    return LibraryError(
        f"the library in {folder} was made by an older version and has to be updated before it can be read: {why}"
    )


@contextmanager
def errors_in_words(folder: Path) -> Iterator[None]:
    """Failures of the database that come up while it is used, as `LibraryError` or `LibraryDamaged`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _in_words(error, folder) from error


def _refuse_newer(db: Database, folder: Path) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if not version and (folder / VECTORS_NAME).exists():
        # It was a library once. A run that was killed at its very beginning leaves no vectors beside an empty file.
        raise LibraryDamaged(_DAMAGED.format(file=database_file(folder), said="it is empty"))
    if version > SCHEMA_VERSION:
        raise LibraryTooNew(
            f"the library in {folder} was written by a newer version of Twinspect (schema {version}, this one knows "
            f"{SCHEMA_VERSION}): update Twinspect or choose another library"
        )


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    if isinstance(error, sqlite3.OperationalError):
        # A table that is gone was there when the library was made.
        return any(sign in str(error) for sign in ("malformed", "no such table", "no such column"))
    return not isinstance(error, sqlite3.IntegrityError)


def _in_words(error: sqlite3.DatabaseError, folder: Path) -> LibraryError:
    said = str(error)
    if _is_damage(error):
        return LibraryDamaged(_DAMAGED.format(file=database_file(folder), said=said))
    if "full" in said:
        return LibraryError(f"the disk is full: the library in {folder} keeps what was done before")
    if "readonly" in said:
        return LibraryError(f"the library in {folder} cannot be written: it is read-only")
    return LibraryError(f"the library in {folder} cannot be used: {said}")
