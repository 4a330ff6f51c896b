"""A library opened for reading: its catalog, its vectors kept in step with it, and what a person asks about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.errors import LibraryError, QueryError
from pipeline.records import Document, Freshness, LibraryFacts, Root
from pipeline.search.dense import DenseSearch
from pipeline.store import vectors
from pipeline.store.catalog import Catalog, CatalogState, DocumentText
from pipeline.store.passages import Passages
from pipeline.store.schema import database_file, open_for_reading


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """The library as it stands: `counts` by document state, and by freshness for what differs on disk."""

    facts: LibraryFacts
    roots: tuple[Root, ...]
    documents: tuple[Document, ...]
    freshness: Mapping[str, Freshness]
    counts: Mapping[str, int]
    model_fingerprint: str
    not_read: int = 0  # files that an indexing run found and did not come to, about

    @property
    def unfinished(self) -> str:
        """What to know when the last indexing was cancelled or killed; "" when it came to its end."""
        if not self.not_read:
            return ""
        return f"the last indexing did not come to its end: about {self.not_read:,} files were not read; index again"


def library_exists(folder: Path) -> bool:
    return database_file(folder).is_file()


def model_source(folder: Path) -> str | None:
    """The model that the library was made with: a folder or hub name, None for the built-in one or no library yet."""
    if not library_exists(folder):
        return None
    reader = LibraryReader(folder)
    try:
        return reader.catalog.state().model_source
    finally:
        reader.close()


class LibraryReader:
    """One library, read from one thread at a time. Raises `LibraryError` in words when it cannot be opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._db = open_for_reading(folder)
        self.catalog = Catalog(self._db, folder)
        self.passages = Passages(self._db, self.catalog)
        self._index: vectors.VectorIndex | None = None
        self._token = ""
        self.rebuilt_because = ""  # why vectors.faiss had to be made again, "" when it fitted

    @contextmanager
    def snapshot(self) -> Iterator[CatalogState]:
        """Catalog and vectors of one committed state of the library."""
        with self.catalog.snapshot() as state:
            self._keep_in_step(state)
            yield state

    def port(self, token_limit: int | None = None) -> DenseSearch:
        """The dense search over the state seen by the surrounding `snapshot()`."""
        if self._index is None:
            raise LibraryError("the library's vectors are not loaded yet")
        return DenseSearch(self._index, self.catalog, token_limit)

    def roots(self) -> list[Root]:
        return self.catalog.roots()

    def documents(self) -> list[Document]:
        return self.catalog.documents()

    def document_text(self, doc_id: str) -> DocumentText:
        """Raises `QueryError` when the library has no such document."""
        found = self.catalog.document_text(doc_id)
        if found is None:
            raise QueryError(f"the library has no document {doc_id}")
        return found

    def status(self) -> LibraryStatus:
        """Everything that `twinspect status` says; looks at every file's size and time."""
        with self.catalog.snapshot() as state:
            documents = self.catalog.documents()
            freshness = self.catalog.freshness([document.doc_id for document in documents])
            counts = Counter(str(document.state) for document in documents)
            counts.update(value for value in freshness.values() if value in ("changed", "missing"))
            return LibraryStatus(
                self.catalog.facts(),
                tuple(self.catalog.roots()),
                tuple(documents),
                freshness,
                {name: counts[name] for name in ("indexed", "no_text", "failed", "stale", "changed", "missing")},
                state.fingerprint,
                max(1, state.unfinished - len(documents)) if state.unfinished else 0,
            )

    def close(self) -> None:
        self._db.close()

    def _keep_in_step(self, state: CatalogState) -> None:
        if self._index is None:
            self._index, self.rebuilt_because = vectors.load(self.folder, state.stamp, state.dimension)
            if self._index is None:
                self._index = vectors.build(self.catalog.vectors(), max(1, state.dimension))
                self._save_quietly(state)
        elif state.token != self._token:
            if self._index.dimension != state.dimension:
                self._index = vectors.build(self.catalog.vectors(), max(1, state.dimension))
            else:
                self._follow(self._index)
        self._token = state.token

    def _follow(self, index: vectors.VectorIndex) -> None:
        """Take over what changed. A text's id is never reused and its vector never changes, so ids tell it all."""
        held, wanted = index.ids(), np.array(self.catalog.text_ids(), np.int64)
        index.remove(np.setdiff1d(held, wanted, assume_unique=True))
        fresh = np.setdiff1d(wanted, held, assume_unique=True)
        if len(fresh):
            rows = list(self.catalog.vectors(fresh.tolist()))
            ids = np.array([row_id for row_id, _ in rows], np.int64)
            index.add(ids, vectors.vectors_of([blob for _, blob in rows], index.dimension))

    def _save_quietly(self, state: CatalogState) -> None:
        """Spare the next start the rebuilding where the folder can be written.

        No lock is needed: the file is replaced whole, and one that is older than the catalog is noticed.
        """
        if self._index is not None and len(self._index):
            with suppress(OSError):
                self._index.save(self.folder, state.stamp)


def save_vectors(library: Path, catalog: Catalog) -> None:
    """Write `vectors.faiss` anew from the catalog."""
    with catalog.snapshot() as state:
        if state.dimension:
            vectors.build(catalog.vectors(), state.dimension).save(library, state.stamp)
