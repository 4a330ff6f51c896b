"""The questions that were asked of a library, in a file of their own beside it.

Not in the library's database: a question is asked while another process indexes, and asking must never wait for it,
nor fail with it. Whatever is wrong with the history costs the history alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlite_utils import Database, Migrations

from pipeline.errors import HistoryError, HistoryReadOnly
from pipeline.figures import figures_of
from pipeline.findings import Figures, HistoryEntry
from pipeline.records import Trace
from pipeline.store.side_file import SideFile, SideFileKind
from pipeline.textkeys import fold
from pipeline.trace import left_out_by_choice, settings_given

HISTORY_NAME = "history.sqlite3"
HISTORY_VERSION = 1
MOST_ENTRIES = 10_000  # that are not pinned
_READ_ONLY = "nothing can be written to {}: questions are not kept"

migrations = Migrations("twinspect-history")


@migrations()
def m001_entries(db: Database) -> None:
    """`folded` is the text as it is searched; `asked` what makes two askings the same: text, settings and scope."""
    db.executescript(
        """
        CREATE TABLE IF NOT EXISTS entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            asked_at TEXT NOT NULL,
            text TEXT NOT NULL,
            folded TEXT NOT NULL,
            asked TEXT NOT NULL,
            generation INTEGER NOT NULL,
            figures TEXT NOT NULL,
            pinned INTEGER NOT NULL DEFAULT 0,
            times INTEGER NOT NULL DEFAULT 1
        );
        CREATE INDEX IF NOT EXISTS entries_pinned ON entries(pinned, id);
        """
    )


def _damaged(file: Path, error: Exception) -> Exception:
    return HistoryError(f"{file} is damaged ({error}): move it aside to begin a new history; answers do not need it")


def _unusable(file: Path, error: Exception) -> Exception:
    if isinstance(error, PermissionError) or "readonly" in str(error):
        return HistoryReadOnly(_READ_ONLY.format(file.parent))
    return HistoryError(f"the history in {file} cannot be used ({error}); answers do not need it")


_KIND_OF_FILE = SideFileKind(
    HISTORY_VERSION, migrations, "entries", _damaged, _unusable, durable=False, may_be_empty=True
)


def history_file(library: Path) -> Path:
    return library / HISTORY_NAME


def writable(library: Path) -> bool:
    """Whether questions can be kept beside this library."""
    file = history_file(library)
    return os.access(library, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))


def set_aside(library: Path) -> Path:
    """Give a history that cannot be used another name, so that a new one begins; that name. Raises `HistoryError`."""
    file = history_file(library)
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    aside = file.with_name(f"history-{stamp}.sqlite3")
    try:
        os.replace(file, aside)
        for more in ("-wal", "-shm"):  # they belong to the old file, and a new one would take them for its own
            beside = file.with_name(file.name + more)
            if beside.exists():
                os.replace(beside, aside.with_name(aside.name + more))
    except OSError as error:
        raise HistoryError(f"{file} cannot be moved aside: {error.strerror or error}") from error
    return aside


class History:
    """The history of one library, used from one thread at a time. Opens its file at first use; looking at a history
    that is not there makes none. Every function raises `HistoryError` in words when the file cannot be used."""

    def __init__(self, library: Path) -> None:
        self._file = SideFile(history_file(library), _KIND_OF_FILE)

    # --- keeping ---

    def remember(self, trace: Trace, *, replaces: int | None = None) -> int:
        """Keep the question with its settings, scope and figures; the entry's id.

        Asked again in the same way with no other between, it stays one entry that counts. `replaces` names an entry
        that this one takes the place of, such as the half-typed question before; a pinned one stays.
        """
        asked = json.dumps(
            {
                "settings": settings_given(trace),
                "left_out": left_out_by_choice(trace),
                "preferred": list(trace.preferred),
                "only_document": trace.only_file,
            },
            sort_keys=True,
        )
        figures = figures_of(trace)
        numbers = json.dumps({name: getattr(figures, name) for name in Figures.__slots__})
        with self._changing() as db:
            if replaces is not None:
                db.execute("DELETE FROM entries WHERE id = ? AND pinned = 0", [replaces])
            last = db.execute("SELECT id, text, asked, pinned FROM entries ORDER BY id DESC LIMIT 1").fetchone()
            if last is not None and (last[1], last[2]) == (trace.query, asked) and not last[3]:
                db.execute(
                    "UPDATE entries SET asked_at = ?, generation = ?, figures = ?, times = times + 1 WHERE id = ?",
                    [_now(), trace.library.generation, numbers, last[0]],
                )
                return int(last[0])
            cursor = db.execute(
                "INSERT INTO entries (asked_at, text, folded, asked, generation, figures) VALUES (?, ?, ?, ?, ?, ?)",
                [_now(), trace.query, _searched(trace.query), asked, trace.library.generation, numbers],
            )
            db.execute(
                "DELETE FROM entries WHERE pinned = 0 AND id <= "
                "(SELECT id FROM entries WHERE pinned = 0 ORDER BY id DESC LIMIT 1 OFFSET ?)",
                [MOST_ENTRIES],
            )
            return int(cursor.lastrowid or 0)

    def pin(self, entry_id: int, pinned: bool = True) -> None:
        """Keep this entry whatever comes, or no longer."""
        with self._changing() as db:
            db.execute("UPDATE entries SET pinned = ? WHERE id = ?", [int(pinned), entry_id])

    def forget(self, entry_id: int) -> None:
        """Take this entry out, pinned or not."""
        with self._changing() as db:
            db.execute("DELETE FROM entries WHERE id = ?", [entry_id])
        self._file.wipe()

    def forget_all(self, *, pinned_too: bool = False) -> int:
        """Take all entries out, the pinned ones only if told so; how many went."""
        with self._changing() as db:
            cursor = db.execute("DELETE FROM entries WHERE pinned = 0 OR ?", [int(pinned_too)])
            gone = int(cursor.rowcount)
        self._file.wipe()
        return gone

    # --- looking ---

    def entries(
        self, search: str = "", *, pinned_only: bool = False, limit: int = 200, offset: int = 0
    ) -> tuple[HistoryEntry, ...]:
        """The newest first; with `search`, those whose text holds all its words, whatever their case."""
        words = _searched(search).split()
        wanted = " AND ".join(["instr(folded, ?) > 0"] * len(words) + ["(pinned OR NOT ?)"])
        return self._entries(
            f"WHERE {wanted} ORDER BY id DESC LIMIT ? OFFSET ?", [*words, int(pinned_only), limit, offset]
        )

    def entry(self, entry_id: int) -> HistoryEntry | None:
        """One entry; None when it is not there any more."""
        found = self._entries("WHERE id = ?", [entry_id])
        return found[0] if found else None

    def count(self) -> int:
        """How many entries there are."""
        with self._file.reading() as db:
            return int(db.execute("SELECT COUNT(*) FROM entries").fetchone()[0]) if db is not None else 0

    def close(self) -> None:
        self._file.close()

    # --- the file ---

    @contextmanager
    def _changing(self) -> Iterator[Database]:
        library = self._file.file.parent
        if library.is_dir() and not writable(library):
            raise HistoryReadOnly(_READ_ONLY.format(library))
        with self._file.writing() as db:
            yield db

    def _entries(self, where: str, parameters: Sequence[Any]) -> tuple[HistoryEntry, ...]:
        with self._file.reading() as db:
            if db is None:
                return ()
            columns = "id, asked_at, text, asked, generation, figures, pinned, times"
            rows = db.execute(f"SELECT {columns} FROM entries {where}", list(parameters)).fetchall()
            return tuple(_entry(row) for row in rows)


def _entry(row: tuple[Any, ...]) -> HistoryEntry:
    entry_id, asked_at, text, asked, generation, figures, pinned, times = row
    scope = json.loads(asked)
    return HistoryEntry(
        id=entry_id,
        asked_at=asked_at,
        text=text,
        settings=scope["settings"],
        left_out=tuple(scope["left_out"]),
        preferred=tuple(scope["preferred"]),
        only_document=scope["only_document"],
        generation=generation,
        figures=Figures(**json.loads(figures)),
        pinned=bool(pinned),
        times=times,
    )


def _searched(text: str) -> str:
    return fold(text).casefold()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
