"""The journal's lines about files that go to the trash, in the file of the decisions.

Each line is written before its file is moved and completed afterwards: whatever happens in between, a file that went
has a line that says where it lay.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.duplicates.records import JournalEntry
from pipeline.store.decision_rows import begin_batch, count_change, journal_entry, now, write_entry
from pipeline.store.decisions import KIND_OF_FILE, decisions_file
from pipeline.store.side_file import SideFile

MOVING, TRASHED, STAYED, GONE = "trashing", "trashed", "not_trashed", "gone"


@dataclass(frozen=True, slots=True)
class MovedFile:
    """A file that is about to be moved, or was. `path` is exact, as the file system has it."""

    doc_id: str
    path: str
    content_key: str
    size: int
    inode: int
    device: int


class TrashJournal:
    """Used from one thread at a time. Every function raises `DecisionsError` when the file cannot be used."""

    def __init__(self, library: Path) -> None:
        self._file = SideFile(decisions_file(library), KIND_OF_FILE)

    def begin(self, saying: str) -> str:
        """A batch of files that are to be moved; its id."""
        with self._file.writing() as db:
            return begin_batch(db, now(), saying, files=True)

    def moving(self, batch: str, file: MovedFile, shown: str) -> int:
        """This file is about to be moved; the line's id. `shown` is its path for people."""
        exact = json.dumps(asdict(file))  # ASCII: a name that is no Unicode stays what it is
        with self._file.writing() as db:
            return write_entry(
                db, now(), batch, MOVING, file.content_key, file.doc_id, storable(shown), None, exact, None
            )

    def settle(self, line: int, what: str, where: str) -> None:
        """What became of the file of this line, and where it can be found, or why not."""
        with self._file.writing() as db:
            db.execute("UPDATE journal SET what = ?, after = ? WHERE id = ?", [what, storable(where), line])
            db.execute(
                "UPDATE batches SET changes = (SELECT COUNT(*) FROM journal WHERE batch = batches.id AND what = ?) "
                "WHERE id = (SELECT batch FROM journal WHERE id = ?)",
                [TRASHED, line],
            )
            count_change(db)

    def skipped(self, batch: str, doc_id: str, content_key: str, shown: str, why: str) -> None:
        """This file stays, and why."""
        with self._file.writing() as db:
            write_entry(db, now(), batch, STAYED, content_key, doc_id, storable(shown), storable(why), None, None)

    def files(self, what: str) -> list[tuple[int, MovedFile]]:
        """The lines that say `what`, in order: the line's id, and its file."""
        with self._file.reading() as db:
            if db is None:
                return []
            rows = db.execute(
                "SELECT id, before_row FROM journal WHERE what = ? AND before_row IS NOT NULL ORDER BY id", [what]
            ).fetchall()
            return [(int(line), MovedFile(**json.loads(exact))) for line, exact in rows]

    def of_batch(self, batch: str) -> tuple[JournalEntry, ...]:
        """What the journal says of this batch, in order."""
        with self._file.reading() as db:
            if db is None:
                return ()
            rows = db.execute(
                "SELECT id, at, batch, what, subject, name, before, after, 0 FROM journal WHERE batch = ? ORDER BY id",
                [batch],
            ).fetchall()
            return tuple(journal_entry(row) for row in rows)

    def close(self) -> None:
        self._file.close()


def storable(path: str) -> str:
    """A path, or words that hold one, as readable text: bytes of a name that are no UTF-8 as escapes."""
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # surrogates that stand for no byte: Windows names may hold them
        return path.encode("utf-8", "surrogatepass").decode("utf-8", "backslashreplace")
