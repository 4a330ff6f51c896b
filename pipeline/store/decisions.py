"""What was decided about duplicates, and the journal of it, in a file of its own beside the library.

Not in the library's database: deciding never waits for an indexing run, and a library that is made anew keeps its
decisions, which go by content. The journal says what was decided, taken back, done again and moved to the trash
(`pipeline.store.trash_journal`), and when; no line of it goes. A decision whose file is edited does not follow it: it
stays with the content that it was made about (see `pipeline.duplicates.deciding`).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlite_utils import Database, Migrations

from pipeline.duplicates.records import Decision, DecisionKind, JournalEntry
from pipeline.errors import DecisionsError
from pipeline.store.side_file import SideFile, SideFileKind

DECISIONS_NAME = "decisions.sqlite3"
DECISIONS_VERSION = 1
ABOUT_DOCUMENTS: tuple[DecisionKind, ...] = ("preferred", "left_out", "note")  # kept by content key
LONGEST_NOTE = 10_000  # characters

migrations = Migrations("twinspect-decisions")


@migrations()
def m001_decisions(db: Database) -> None:
    """`place` tells apart what is decided about copies of one content: the doc_id for documents, "" elsewhere.
    `others` and the `*_row` columns are JSON. A batch that is `undone` holds the journal's line that did it; one of
    `files` went to the trash and is not undone here."""
    db.executescript(
        """
        CREATE TABLE IF NOT EXISTS decisions (
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            place TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            others TEXT NOT NULL DEFAULT '[]',
            made_at TEXT NOT NULL,
            PRIMARY KEY (kind, subject, place)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS batches (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            at TEXT NOT NULL,
            saying TEXT NOT NULL,
            files INTEGER NOT NULL DEFAULT 0,
            changes INTEGER NOT NULL DEFAULT 0,
            undone INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE IF NOT EXISTS journal (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            batch TEXT NOT NULL,
            what TEXT NOT NULL,
            subject TEXT NOT NULL,
            name TEXT NOT NULL,
            before TEXT,
            after TEXT,
            before_row TEXT,
            after_row TEXT
        );
        CREATE INDEX IF NOT EXISTS journal_batch ON journal(batch);
        CREATE INDEX IF NOT EXISTS journal_what ON journal(what);
        CREATE TABLE IF NOT EXISTS revision (number INTEGER NOT NULL);
        INSERT INTO revision SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM revision);
        """
    )


@dataclass(frozen=True, slots=True)
class Change:
    """One decision to be made, or (`value` None) taken back.

    `subject` and `name` are those of a `Decision`. What is decided about a document goes by its content key and, among
    copies of that content, by its name (its doc_id): `others` are the doc_ids that hold the same bytes and are not
    meant, by which a decision finds its document again after a move, and a set is known to have no new member.
    """

    kind: DecisionKind
    subject: str
    name: str
    value: str | None = ""
    others: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return self.name if self.kind in ABOUT_DOCUMENTS else ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A decision in force, with the doc_ids that held the same bytes when it was made and are not meant."""

    decision: Decision
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """What was done in one go, and can be taken back in one go. `id` is "" when there was nothing to change; `files`
    says that files went to the trash, which nothing here takes back."""

    id: str
    at: str
    saying: str
    changes: int
    undone: bool = False
    files: bool = False


NO_BATCH = Batch("", "", "", 0)


def decisions_file(library: Path) -> Path:
    return library / DECISIONS_NAME


def _damaged(file: Path, error: Exception) -> DecisionsError:
    return DecisionsError(f"{file} is damaged ({error}): move it aside to begin anew, or ask without decisions")


def _unusable(file: Path, error: Exception) -> DecisionsError:
    return DecisionsError(f"the decisions in {file} cannot be used ({error}); they can be ignored for a question")


KIND_OF_FILE = SideFileKind(DECISIONS_VERSION, migrations, "decisions", _damaged, _unusable)


class Decisions:
    """The decisions of one library, used from one thread at a time. Opens its file at first use; looking at decisions
    that are not there makes none. Every function raises `DecisionsError` in words when the file cannot be used."""

    def __init__(self, library: Path) -> None:
        self._file = SideFile(decisions_file(library), KIND_OF_FILE)

    # --- deciding ---

    def decide(self, changes: Iterable[Change], saying: str = "") -> Batch:
        """Make these decisions in one go; what is decided so already stays. `saying` is what the journal and an undo
        menu call it."""
        wanted = [_checked(change) for change in changes]
        if not wanted:
            return NO_BATCH
        with self._file.writing() as db:
            rows = [(change, _row(db, change.kind, change.subject, change.place)) for change in wanted]
            if all(_same(change, row) for change, row in rows):
                return NO_BATCH
            at = now()
            batch = begin_batch(db, at, saying)
            for change in wanted:
                before = _row(db, change.kind, change.subject, change.place)  # anew: one may be named twice
                if _same(change, before):
                    continue
                after = None if change.value is None else _as_row(change, at)
                _put(db, change.kind, change.subject, change.place, after)
                _note(db, at, batch, change.kind, change.subject, change.name, before, after)
            return _finished(db, batch)

    def undo(self, batch: str | None = None) -> Batch | None:
        """Take back what was done in this batch, or in the last one that is not taken back; None when there is none.
        Raises `DecisionsError` when something of it was decided anew since, and nothing is changed then."""
        return self._turn(batch, back=True)

    def redo(self, batch: str | None = None) -> Batch | None:
        """Do this batch again, or the last one that was taken back with nothing decided since; None when there is
        none. Raises as `undo` does."""
        return self._turn(batch, back=False)

    def _turn(self, wanted: str | None, *, back: bool) -> Batch | None:
        with self._file.reading() as there:
            if there is None:
                return None
        with self._file.writing() as db:
            batch = _batch_named(db, wanted) if wanted is not None else _next_batch(db, back=back)
            if batch is None:
                return None
            if batch.undone == back:
                raise DecisionsError(f"this was {'taken back' if back else 'done'} already: {batch.saying}")
            at = now()
            entries = db.execute(
                "SELECT what, subject, name, before_row, after_row FROM journal WHERE batch = ? ORDER BY id", [batch.id]
            ).fetchall()
            for what, subject, name, before, after in reversed(entries) if back else entries:
                found, left = (after, before) if back else (before, after)
                place = name if what in ABOUT_DOCUMENTS else ""
                if _row(db, what, subject, place) != (None if found is None else json.loads(found)):
                    raise DecisionsError(f"{name} was decided anew since: take that back first")
                _put(db, what, subject, place, None if left is None else json.loads(left))
            line = write_entry(db, at, "", "undo" if back else "redo", batch.id, batch.saying, None, None, None, None)
            db.execute("UPDATE batches SET undone = ? WHERE id = ?", [line if back else 0, batch.id])
            count_change(db)
            return _batch_named(db, batch.id)

    # --- looking ---

    def kept(self, kind: DecisionKind | None = None) -> tuple[Kept, ...]:
        """The decisions in force with what tells their document from its copies, by kind, name and subject."""
        with self._file.reading() as db:
            if db is None:
                return ()
            rows = db.execute(
                "SELECT kind, subject, value, name, made_at, others FROM decisions WHERE ? IS NULL OR kind = ? "
                "ORDER BY kind, name, subject",
                [kind, kind],
            ).fetchall()
            return tuple(Kept(Decision(*row[:5]), tuple(json.loads(row[5]))) for row in rows)

    def all(self, kind: DecisionKind | None = None) -> tuple[Decision, ...]:
        """The decisions in force, by kind, name and subject."""
        return tuple(kept.decision for kept in self.kept(kind))

    def revision(self) -> tuple[int, ...]:
        """Changes whenever a decision does; () where none was ever made. Cheap enough for every question."""
        with self._file.reading() as db:
            if db is None:
                return ()
            facts = self._file.file.stat()  # another file in its place counts its own changes
            return (facts.st_dev, facts.st_ino, int(db.execute("SELECT number FROM revision").fetchone()[0]))

    def batches(self, limit: int = 50) -> tuple[Batch, ...]:
        """What was done, the newest first."""
        with self._file.reading() as db:
            return () if db is None else tuple(_batches(db, "1 ORDER BY number DESC LIMIT ?", [limit]))

    def next_undo(self) -> Batch | None:
        """What `undo` would take back."""
        with self._file.reading() as db:
            return None if db is None else _next_batch(db, back=True)

    def next_redo(self) -> Batch | None:
        """What `redo` would do again."""
        with self._file.reading() as db:
            return None if db is None else _next_batch(db, back=False)

    def journal(self, limit: int = 200, offset: int = 0) -> tuple[JournalEntry, ...]:
        """What was done to what and when, the newest first."""
        with self._file.reading() as db:
            if db is None:
                return ()
            rows = db.execute(
                "SELECT j.id, j.at, j.batch, j.what, j.subject, j.name, j.before, j.after, COALESCE(b.undone, 0) "
                "FROM journal j LEFT JOIN batches b ON b.id = j.batch ORDER BY j.id DESC LIMIT ? OFFSET ?",
                [limit, offset],
            ).fetchall()
            return tuple(journal_entry(row) for row in rows)

    # --- carried away and taken in ---

    def take_in(
        self, rows: Sequence[Mapping[str, Any]], saying: str, *, replace: bool, without: Sequence[Change] = ()
    ) -> Batch:
        """Decisions as `rows_out` gave them, in one go. Where ours says another thing, it is replaced or stays.
        `without` are ours that are taken back with it."""
        with self._file.writing() as db:
            at, batch = now(), ""
            for change in without:
                before = _row(db, change.kind, change.subject, change.place)
                if before is not None:
                    batch = batch or begin_batch(db, at, saying)
                    _put(db, change.kind, change.subject, change.place, None)
                    _note(db, at, batch, change.kind, change.subject, change.name, before, None)
            for row in rows:
                place = row["name"] if row["kind"] in ABOUT_DOCUMENTS else ""
                before = _row(db, row["kind"], row["subject"], place)
                if before is not None and (not replace or before["value"] == row["value"]):
                    continue
                batch = batch or begin_batch(db, at, saying)
                after = {key: row[key] for key in ("name", "value", "others", "made_at")}
                _put(db, row["kind"], row["subject"], place, after)
                _note(db, at, batch, row["kind"], row["subject"], row["name"], before, after)
            return _finished(db, batch) if batch else NO_BATCH

    def rows_out(self) -> list[dict[str, Any]]:
        """All decisions as plain data."""
        return [asdict(kept.decision) | {"others": list(kept.others)} for kept in self.kept()]

    def close(self) -> None:
        self._file.close()


# --- rows ---


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def journal_entry(row: Sequence[Any]) -> JournalEntry:
    """Of the columns id, at, batch, what, subject, name, before, after, undone."""
    line, at, batch, what, subject, name, before, after, undone = row
    return JournalEntry(line, at, batch, what, subject, name, before, after, bool(undone))


def count_change(db: Database) -> None:
    """Whoever keeps what depends on the decisions has to look again."""
    db.execute("UPDATE revision SET number = number + 1")


def begin_batch(db: Database, at: str, saying: str, *, files: bool = False) -> str:
    batch = uuid.uuid4().hex[:12]
    db.execute("INSERT INTO batches (id, at, saying, files) VALUES (?, ?, ?, ?)", [batch, at, saying, int(files)])
    return batch


def _finished(db: Database, batch: str) -> Batch:
    db.execute("UPDATE batches SET changes = (SELECT COUNT(*) FROM journal WHERE batch = ?) WHERE id = ?", [batch] * 2)
    count_change(db)
    return _batch_named(db, batch)


def _batches(db: Database, where: str, parameters: Sequence[Any] = ()) -> Iterator[Batch]:
    rows = db.execute(f"SELECT id, at, saying, changes, undone, files FROM batches WHERE {where}", list(parameters))
    for batch, at, saying, changes, undone, files in rows.fetchall():
        yield Batch(batch, at, saying, changes, bool(undone), bool(files))


def _batch_named(db: Database, batch: str) -> Batch:
    found = next(_batches(db, "id = ?", [batch]), None)
    if found is None:
        raise DecisionsError(f"the journal has no batch {batch}")
    if found.files:
        raise DecisionsError("files are brought back from the system's trash; the journal says where each is")
    return found


def _next_batch(db: Database, *, back: bool) -> Batch | None:
    """The last that is not taken back; or the one that was taken back last, if nothing new was decided since."""
    if back:
        return next(_batches(db, "NOT files AND NOT undone ORDER BY number DESC LIMIT 1"), None)
    newest = "SELECT MIN(id) FROM journal WHERE batch = (SELECT id FROM batches WHERE NOT files ORDER BY number DESC)"
    since = db.execute(newest).fetchone()[0] or 0
    return next(_batches(db, "NOT files AND undone > ? ORDER BY undone DESC LIMIT 1", [since]), None)


def _row(db: Database, kind: str, subject: str, place: str) -> dict[str, Any] | None:
    found = db.execute(
        "SELECT name, value, others, made_at FROM decisions WHERE kind = ? AND subject = ? AND place = ?",
        [kind, subject, place],
    ).fetchone()
    return (
        None
        if found is None
        else dict(zip(("name", "value", "others", "made_at"), found, strict=True)) | {"others": json.loads(found[2])}
    )


def _as_row(change: Change, at: str) -> dict[str, Any]:
    return {"name": change.name, "value": change.value, "others": sorted(change.others), "made_at": at}


def _put(db: Database, kind: str, subject: str, place: str, row: Mapping[str, Any] | None) -> None:
    if row is None:
        db.execute("DELETE FROM decisions WHERE kind = ? AND subject = ? AND place = ?", [kind, subject, place])
        return
    db.execute(
        "INSERT OR REPLACE INTO decisions (kind, subject, place, name, value, others, made_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [kind, subject, place, row["name"], row["value"], json.dumps(list(row["others"])), row["made_at"]],
    )


def _note(
    db: Database,
    at: str,
    batch: str,
    what: str,
    subject: str,
    name: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> None:
    values = [None if row is None else str(row["value"]) for row in (before, after)]
    rows = [None if row is None else json.dumps(dict(row)) for row in (before, after)]
    write_entry(db, at, batch, what, subject, name, values[0], values[1], rows[0], rows[1])


def write_entry(db: Database, *values: Any) -> int:
    cursor = db.execute(
        "INSERT INTO journal (at, batch, what, subject, name, before, after, before_row, after_row) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        list(values),
    )
    return int(cursor.lastrowid or 0)


def _same(change: Change, row: Mapping[str, Any] | None) -> bool:
    return (row is None) == (change.value is None) and (row is None or row["value"] == change.value)


def _checked(change: Change) -> Change:
    """Texts as they can be stored. Raises `DecisionsError` for a note that is too long."""
    if change.kind == "note" and change.value is not None and len(change.value) > LONGEST_NOTE:
        raise DecisionsError(f"the note has {len(change.value):,} characters; {LONGEST_NOTE:,} are the most")
    value = None if change.value is None else change.value.encode("utf-8", "replace").decode()
    return Change(change.kind, change.subject, change.name, value, change.others)
