"""The vectors that the catalog holds, read-only: what `vectors.faiss` is made from and brought up to date with."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator

import numpy as np
from sqlite_utils import Database

from pipeline.store.vectors import Ids, Stamp


class TextVectors:
    """Answers from one database connection, within the catalog's snapshot."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def was_in(self, state: Stamp, now: Stamp) -> bool:
        """Whether the library, which is in the state `now`, was in this one once and only went on since, or is in it. A
        copy that was restored knows nothing of what came after it, whatever number that has."""
        if (state.library_id, state.fingerprint) != (now.library_id, now.fingerprint):
            return False
        if state == now:
            return True
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'past_states'").fetchone():
            return False
        found = self._db.execute(
            "SELECT 1 FROM past_states WHERE generation = ? AND token = ?", [state.generation, state.token]
        )
        return found.fetchone() is not None

    def count_after(self, last: int) -> int:
        """How many texts have a higher id: they came later."""
        return int(self._db.execute("SELECT COUNT(*) FROM texts WHERE id > ?", [last]).fetchone()[0])

    def ids(self) -> Ids:
        """Those of all texts, shape (texts,), in no promised order."""
        # In one row: a million rows, each a tuple, take three times as long.
        listed = self._db.execute("SELECT group_concat(id) FROM texts").fetchone()[0]
        return np.fromstring(listed or "", dtype=np.int64, sep=",")

    def after(self, last: int = 0) -> Generator[tuple[int, bytes]]:
        """(text id, vector as little-endian float32) of all texts with a higher id, ascending. To be closed where it is
        not read to its end."""
        yield from self._db.execute("SELECT id, vector FROM texts WHERE id > ? ORDER BY id", [last])

    def of(self, ids: Collection[int]) -> dict[int, bytes]:
        """The vectors of those of these texts that the catalog knows."""
        wanted = "SELECT id, vector FROM texts WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(wanted, [json.dumps(list(ids))]).fetchall())
