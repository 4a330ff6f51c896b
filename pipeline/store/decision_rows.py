"""Decisions and their journal as rows: written and read inside a transaction that somebody else holds."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlite_utils import Database

from pipeline.duplicates.records import DecisionKind, JournalEntry
from pipeline.errors import DecisionsError

ABOUT_DOCUMENTS: tuple[DecisionKind, ...] = ("preferred", "left_out", "note")  # kept by content key
LONGEST_NOTE = 10_000  # characters


@dataclass(frozen=True, slots=True)
class Change:
    """One decision to be made, or (`value` None) taken back.

    `subject` and `name` are those of a `Decision`. What is decided about a document goes by its content key and, among
    copies of that content, by its file's identity and its name (its doc_id): `others` are the doc_ids that hold the
    same bytes and are not meant, by which a decision finds its document again after a move, and a set is known to have
    no new member; `other_identities` are their files.
    """

    kind: DecisionKind
    subject: str
    name: str
    value: str | None = ""
    others: tuple[str, ...] = ()
    identity: str = ""
    other_identities: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return self.name if self.kind in ABOUT_DOCUMENTS else ""


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


def finished(db: Database, batch: str) -> Batch:
    db.execute("UPDATE batches SET changes = (SELECT COUNT(*) FROM journal WHERE batch = ?) WHERE id = ?", [batch] * 2)
    count_change(db)
    return batch_named(db, batch)


def batches(db: Database, where: str, parameters: Sequence[Any] = ()) -> Iterator[Batch]:
    rows = db.execute(f"SELECT id, at, saying, changes, undone, files FROM batches WHERE {where}", list(parameters))
    for batch, at, saying, changes, undone, files in rows.fetchall():
        yield Batch(batch, at, saying, changes, bool(undone), bool(files))


def batch_named(db: Database, batch: str) -> Batch:
    found = next(batches(db, "id = ?", [batch]), None)
    if found is None:
        raise DecisionsError(f"the journal has no batch {batch}")
    if found.files:
        raise DecisionsError("files are brought back from the system's trash; the journal says where each is")
    return found


def next_batch(db: Database, *, back: bool) -> Batch | None:
    """The last that is not taken back; or the one that was taken back last, if nothing new was decided since."""
    if back:
        return next(batches(db, "NOT files AND NOT undone ORDER BY number DESC LIMIT 1"), None)
    newest = "SELECT MIN(id) FROM journal WHERE batch = (SELECT id FROM batches WHERE NOT files ORDER BY number DESC)"
    since = db.execute(newest).fetchone()[0] or 0
    return next(batches(db, "NOT files AND undone > ? ORDER BY undone DESC LIMIT 1", [since]), None)


UNSEEN: dict[str, Any] = {"identity": "", "other_identities": []}  # of what comes from another computer


def row_of(db: Database, kind: str, subject: str, place: str) -> dict[str, Any] | None:
    found = db.execute(
        "SELECT name, value, others, made_at, identity, other_identities FROM decisions "
        "WHERE kind = ? AND subject = ? AND place = ?",
        [kind, subject, place],
    ).fetchone()
    if found is None:
        return None
    name, value, others, made_at, identity, other_identities = found
    return {
        "name": name,
        "value": value,
        "others": json.loads(others),
        "made_at": made_at,
        "identity": identity,
        "other_identities": json.loads(other_identities),
    }


def said(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What was decided, without where its file was seen last."""
    return None if row is None else {key: value for key, value in row.items() if key not in UNSEEN}


def as_row(change: Change, at: str) -> dict[str, Any]:
    return {
        "name": change.name,
        "value": change.value,
        "others": sorted(change.others),
        "made_at": at,
        "identity": change.identity,
        "other_identities": sorted(change.other_identities),
    }


def put(db: Database, kind: str, subject: str, place: str, row: Mapping[str, Any] | None) -> None:
    if row is None:
        db.execute("DELETE FROM decisions WHERE kind = ? AND subject = ? AND place = ?", [kind, subject, place])
        return
    row = UNSEEN | dict(row)  # the journal's older lines have no identities
    db.execute(
        "INSERT OR REPLACE INTO decisions (kind, subject, place, name, value, others, made_at, identity, "
        "other_identities) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            kind,
            subject,
            place,
            row["name"],
            row["value"],
            json.dumps(list(row["others"])),
            row["made_at"],
            row["identity"],
            json.dumps(list(row["other_identities"])),
        ],
    )


def note_change(
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


def same(change: Change, row: Mapping[str, Any] | None) -> bool:
    if row is None or change.value is None:
        return row is None and change.value is None
    # The same about another file that has the name now is not the same.
    return bool(row["value"] == change.value and (not change.identity or row["identity"] in ("", change.identity)))


def checked(change: Change) -> Change:
    """Texts as they can be stored. Raises `DecisionsError` for a note that is too long."""
    if change.kind == "note" and change.value is not None and len(change.value) > LONGEST_NOTE:
        raise DecisionsError(f"the note has {len(change.value):,} characters; {LONGEST_NOTE:,} are the most")
    value = None if change.value is None else change.value.encode("utf-8", "replace").decode()
    return replace(change, value=value)
