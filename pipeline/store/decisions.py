"""What was decided about duplicates, and the journal of it, in a file of its own beside the library.

Not in the library's database: deciding never waits for an indexing run, and a library that is made anew keeps its
decisions, which go by content. The journal says what was decided, taken back, done again and moved to the trash
(`pipeline.store.trash_journal`), and when; no line of it goes. A decision whose file is edited does not follow it: it
stays with the content that it was made about (see `pipeline.duplicates.deciding`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database, Migrations

from pipeline.duplicates.records import Decision, DecisionKind, JournalEntry
from pipeline.errors import DecisionsError
from pipeline.store.decision_rows import (
    ABOUT_DOCUMENTS,
    LONGEST_NOTE,
    UNSEEN,
    Batch,
    Change,
    as_row,
    batch_named,
    batches,
    begin_batch,
    checked,
    count_change,
    finished,
    journal_entry,
    next_batch,
    note_change,
    now,
    put,
    row_of,
    said,
    same,
    write_entry,
)
from pipeline.store.side_file import SideFile, SideFileKind

__all__ = ["ABOUT_DOCUMENTS", "LONGEST_NOTE", "Batch", "Change", "Decisions", "Kept", "decisions_file"]

DECISIONS_NAME = "decisions.sqlite3"
DECISIONS_VERSION = 2

migrations = Migrations("twinspect-decisions")


@migrations()
def m001_decisions(db: Database) -> None:
    """`place` tells apart what is decided about copies of one content: the doc_id for documents, "" elsewhere.
    `others` and the `*row_of` columns are JSON. A batch that is `undone` holds the journal's line that did it; one of
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


@migrations()
def m002_identities(db: Database) -> None:
    """The files that decisions are about, as the disk knows them (`pipeline.store.holdings.Holder.identity`): the
    file's own, and as JSON those of its copies that are not meant."""
    if "identity" not in db["decisions"].columns_dict:
        db.execute("ALTER TABLE decisions ADD COLUMN identity TEXT NOT NULL DEFAULT ''")
    if "other_identities" not in db["decisions"].columns_dict:
        db.execute("ALTER TABLE decisions ADD COLUMN other_identities TEXT NOT NULL DEFAULT '[]'")


@dataclass(frozen=True, slots=True)
class Kept:
    """A decision in force, with the doc_ids that held the same bytes when it was made and are not meant, and the
    identities of the files, as an indexing run saw them last."""

    decision: Decision
    others: tuple[str, ...]
    identity: str = ""
    other_identities: tuple[str, ...] = ()


NO_BATCH = Batch("", "", "", 0)


def decisions_file(library: Path) -> Path:
    return library / DECISIONS_NAME


def _damaged(file: Path, error: Exception) -> DecisionsError:
    return DecisionsError(f"{file} is damaged ({error}): move it aside to begin anew, or ask without decisions")


def _unusable(file: Path, error: Exception) -> DecisionsError:
    return DecisionsError(f"the decisions in {file} cannot be used ({error}); they can be ignored for a question")


# Each change survives a power cut: what is decided or moved is little, and it is seldom.
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
        wanted = [checked(change) for change in changes]
        if not wanted:
            return NO_BATCH
        with self._file.writing() as db:
            rows = [(change, row_of(db, change.kind, change.subject, change.place)) for change in wanted]
            if all(same(change, row) for change, row in rows):
                return NO_BATCH
            at = now()
            batch = begin_batch(db, at, saying)
            for change in wanted:
                before = row_of(db, change.kind, change.subject, change.place)  # anew: one may be named twice
                if same(change, before):
                    continue
                after = None if change.value is None else as_row(change, at)
                put(db, change.kind, change.subject, change.place, after)
                note_change(db, at, batch, change.kind, change.subject, change.name, before, after)
            return finished(db, batch)

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
            batch = batch_named(db, wanted) if wanted is not None else next_batch(db, back=back)
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
                if said(row_of(db, what, subject, place)) != said(None if found is None else json.loads(found)):
                    raise DecisionsError(f"{name} was decided anew since: take that back first")
                put(db, what, subject, place, None if left is None else json.loads(left))
            line = write_entry(db, at, "", "undo" if back else "redo", batch.id, batch.saying, None, None, None, None)
            db.execute("UPDATE batches SET undone = ? WHERE id = ?", [line if back else 0, batch.id])
            count_change(db)
            return batch_named(db, batch.id)

    # --- looking ---

    def kept(self, kind: DecisionKind | None = None) -> tuple[Kept, ...]:
        """The decisions in force with what tells their document from its copies, by kind, name and subject."""
        with self._file.reading() as db:
            if db is None:
                return ()
            # A file of the first version has no identities before something is decided anew.
            known = "identity" in db["decisions"].columns_dict
            identities = "identity, other_identities" if known else "'', '[]'"
            rows = db.execute(
                f"SELECT kind, subject, value, name, made_at, others, {identities} FROM decisions "
                "WHERE ? IS NULL OR kind = ? ORDER BY kind, name, subject",
                [kind, kind],
            ).fetchall()
            return tuple(
                Kept(Decision(*row[:5]), tuple(json.loads(row[5])), row[6], tuple(json.loads(row[7]))) for row in rows
            )

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
            return () if db is None else tuple(batches(db, "1 ORDER BY number DESC LIMIT ?", [limit]))

    def next_undo(self) -> Batch | None:
        """What `undo` would take back."""
        with self._file.reading() as db:
            return None if db is None else next_batch(db, back=True)

    def next_redo(self) -> Batch | None:
        """What `redo` would do again."""
        with self._file.reading() as db:
            return None if db is None else next_batch(db, back=False)

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
                before = row_of(db, change.kind, change.subject, change.place)
                if before is not None:
                    batch = batch or begin_batch(db, at, saying)
                    put(db, change.kind, change.subject, change.place, None)
                    note_change(db, at, batch, change.kind, change.subject, change.name, before, None)
            for row in rows:
                place = row["name"] if row["kind"] in ABOUT_DOCUMENTS else ""
                before = row_of(db, row["kind"], row["subject"], place)
                if before is not None and (not replace or before["value"] == row["value"]):
                    continue
                batch = batch or begin_batch(db, at, saying)
                after = {key: row[key] for key in ("name", "value", "others", "made_at")} | UNSEEN
                put(db, row["kind"], row["subject"], place, after)
                note_change(db, at, batch, row["kind"], row["subject"], row["name"], before, after)
            return finished(db, batch) if batch else NO_BATCH

    def saw(self, seen: Iterable[Kept]) -> None:
        """The library has seen these decisions' files: `identity` and `other_identities` are those of now. Nothing is
        decided by it, and neither journal nor revision tells of it."""
        with self._file.writing() as db:
            for each in seen:
                decision = each.decision
                place = decision.name if decision.kind in ABOUT_DOCUMENTS else ""
                db.execute(
                    "UPDATE decisions SET identity = ?, other_identities = ? "
                    "WHERE kind = ? AND subject = ? AND place = ? AND made_at = ?",
                    [
                        each.identity,
                        json.dumps(list(each.other_identities)),
                        decision.kind,
                        decision.subject,
                        place,
                        decision.made_at,
                    ],
                )

    def rows_out(self) -> list[dict[str, Any]]:
        """All decisions as plain data."""
        return [asdict(kept.decision) | {"others": list(kept.others)} for kept in self.kept()]

    def close(self) -> None:
        self._file.close()
