"""The decisions as a search needs them: looked up for every question, worked out only when something has changed."""

from __future__ import annotations

from pathlib import Path

from pipeline.duplicates.decided import NOTHING_DECIDED, Decided
from pipeline.duplicates.deciding import decided_for
from pipeline.library import LibraryReader
from pipeline.store.catalog import CatalogState
from pipeline.store.decisions import Decisions


class DecisionsInForce:
    """The decisions of one library, used from one thread at a time."""

    def __init__(self, library: Path) -> None:
        self._decisions = Decisions(library)
        self._known: tuple[tuple[int, ...], str] | None = None
        self._decided = NOTHING_DECIDED

    def at(self, reader: LibraryReader, state: CatalogState) -> Decided:
        """As they fall on this state of the library. Where nothing was ever decided, it costs one look whether there is
        a file. Raises `DecisionsError`: what was left out must not come back unsaid."""
        revision = self._decisions.revision()
        if not revision:
            return NOTHING_DECIDED
        if (revision, state.token) != self._known:
            self._decided = decided_for(reader, self._decisions)
            self._known = (revision, state.token)
        return self._decided

    def close(self) -> None:
        self._decisions.close()
