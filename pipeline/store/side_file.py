"""A small database of its own beside the library's: never in an indexing run's way, and never in an answer's.

Whatever is wrong with such a file costs that file alone, and is told in the words of whoever it belongs to.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database, Migrations

PATIENCE = 2.0  # seconds for another process that writes to the same file


@dataclass(frozen=True, slots=True)
class SideFileKind:
    """What tells one such file from another. `table` is one that every version has; `damaged` and `unusable` make the
    error out of the file and what the database said. `durable`: each change survives a power cut, as costs a wait for
    the disk. `may_be_empty`: a file without a table counts as none, for the little while in which another process makes
    it; where that may not be, an emptied file is damage."""

    version: int
    migrations: Migrations
    table: str
    damaged: Callable[[Path, Exception], Exception]
    unusable: Callable[[Path, Exception], Exception]
    durable: bool = True
    may_be_empty: bool = False


class SideFile:
    """One such file, used from one thread at a time. Opens at first use; looking where none is makes none."""

    def __init__(self, file: Path, kind: SideFileKind) -> None:
        self.file = file
        self._kind = kind
        self._db: Database | None = None
        self._writable = False
        self._identity: tuple[int, int] | None = None

    @contextmanager
    def reading(self) -> Iterator[Database | None]:
        """None where there is no file yet. Everything read inside comes from one committed state."""
        if not self._there():
            self.close()
            yield None
            return
        with self._in_words():
            db = self._for_look()
            if db is None:
                yield None
                return
            db.conn.execute("BEGIN")
            try:
                yield db
            finally:
                if db.conn.in_transaction:
                    db.conn.rollback()

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """One transaction: all of it or nothing."""
        with self._in_words():
            self._there()
            db = self._for_change()
            # At once, not at the first change: a transaction that has read cannot wait for another that writes.
            db.conn.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.conn.commit()
            finally:
                db.conn.rollback()

    def wipe(self) -> None:
        """What was deleted must not linger in the write-ahead log."""
        with self._in_words():
            self._for_change().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _there(self) -> bool:
        """Whether there is a file. One that was put in the place of ours is opened anew."""
        try:
            facts = self.file.stat()
        except OSError:
            self._identity = None
            self.close()
            return False
        identity = (facts.st_dev, facts.st_ino)
        if identity != self._identity:
            self.close()
            self._identity = identity
        return True

    def _for_look(self) -> Database | None:
        """The database as it is open, or for reading; None while another process still makes it."""
        if self._db is None:
            self._db, self._writable = self._for_reading(), False
        return self._db

    def _for_change(self) -> Database:
        if self._db is None or not self._writable:
            self.close()
            self._db, self._writable = self._for_writing(), True
        return self._db

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Whatever the database says, in the owner's words; the connection is opened anew next time."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, KeyError, TypeError) as error:
            self.close()
            made = self._kind.damaged if _is_damage(error) else self._kind.unusable
            raise made(self.file, error) from error

    def _for_writing(self) -> Database:
        if not self.file.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.file.parent}")
        deadline = time.monotonic() + PATIENCE
        while True:
            connection = sqlite3.connect(str(self.file), timeout=PATIENCE, check_same_thread=False)
            try:
                return self._set_up(Database(connection))
            except (sqlite3.OperationalError, sqlite3.IntegrityError):
                connection.close()
                # Another window makes the same file in this moment: SQLite does not wait for that by itself.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            except BaseException:
                connection.close()
                raise

    def _set_up(self, db: Database) -> Database:
        self._refuse_newer(db)
        db.enable_wal()
        db.execute(f"PRAGMA synchronous={'FULL' if self._kind.durable else 'NORMAL'}")
        db.execute("PRAGMA secure_delete=ON")  # forgotten means overwritten
        if _version_of(db) < self._kind.version:
            self._kind.migrations.apply(db)
            db.execute(f"PRAGMA user_version={self._kind.version}")
        return db

    def _for_reading(self) -> Database | None:
        """As the library is read: where WAL's shared memory cannot be made, nobody writes, and it stands still."""
        address = self.file.resolve().as_uri()
        for last, mode in ((False, "mode=rw"), (True, "mode=ro&immutable=1")):
            connection = sqlite3.connect(f"{address}?{mode}", uri=True, timeout=PATIENCE, check_same_thread=False)
            try:
                db = Database(connection)
                db.execute("PRAGMA query_only=1")
                self._refuse_newer(db)
                if self._kind.may_be_empty and _version_of(db) == 0:
                    connection.close()
                    return None
                db.execute(f"SELECT COUNT(*) FROM {self._kind.table}").fetchone()
            except sqlite3.OperationalError:
                connection.close()
                if last:
                    raise
                continue
            except BaseException:
                connection.close()
                raise
            return db
        raise AssertionError("unreachable")

    def _refuse_newer(self, db: Database) -> None:
        version = _version_of(db)
        if version > self._kind.version:
            raise ValueError(f"it was written by a newer version of Twinspect: version {version} of its kind")


def _version_of(db: Database) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _is_damage(error: Exception) -> bool:
    return isinstance(error, sqlite3.DatabaseError) and (
        not isinstance(error, sqlite3.OperationalError) or "malformed" in str(error) or "no such" in str(error)
    )
