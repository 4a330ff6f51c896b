"""A library opened for reading: its catalog, its vectors kept in step with it, and what a person asks about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.embed.port import Vectors
from pipeline.errors import LibraryError, QueryError
from pipeline.records import STATES, Document, Freshness, LibraryFacts, PassedOverRow, Root, indexed_as
from pipeline.search.dense import DenseSearch
from pipeline.store import vectors
from pipeline.store.catalog import Catalog, CatalogState, DocumentText
from pipeline.store.holdings import Holdings
from pipeline.store.passages import Passages
from pipeline.store.schema import database_file, errors_in_words, open_for_reading

_MANY = 20_000  # new texts; so many are not taken over one by one where there is, or can be, a newer file of vectors
# Texts added and gone since the file of vectors was written, at most, for a run to leave it as it is: to take over so
# many adds some 50 ms to the opening of a library, to write a large file takes seconds.
_FEW, _FEW_OF = 10_000, 50


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """The library as it stands. `counts` counts documents by state, those of unknown kind apart from those that failed;
    then names that rules exclude, and documents whose file differs on disk. `passed_over` lists what is no document."""

    facts: LibraryFacts
    roots: tuple[Root, ...]
    documents: tuple[Document, ...]
    freshness: Mapping[str, Freshness]
    counts: Mapping[str, int]
    model_fingerprint: str
    not_read: int = 0  # files that an indexing run found and did not come to, about
    passed_over: tuple[PassedOverRow, ...] = ()

    def states_of(self, document: Document) -> tuple[str, ...]:
        """What a document counts as: its state, and what its file is now where that differs."""
        now = self.freshness.get(document.doc_id)
        return (indexed_as(document), *((now,) if now in ("changed", "missing") else ()))

    @property
    def excluded(self) -> tuple[PassedOverRow, ...]:
        """What rules leave out."""
        return tuple(row for row in self.passed_over if row.what == "excluded")

    @property
    def left_out(self) -> Mapping[str, int]:
        """How much else was passed over: links, hidden names, devices, the library's own, what cannot be read."""
        counts: Counter[str] = Counter()
        for row in self.passed_over:
            counts[row.what] += row.entries if row.what != "excluded" else 0
        return +counts

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
        self.holdings = Holdings(self._db, self.catalog)
        self._index: vectors.VectorIndex | None = None
        self._stamp = vectors.Stamp("", 0, "", "")  # of the state that the index is in step with
        self.rebuilt_because = ""  # why vectors.faiss had to be made again, "" when it served

    @contextmanager
    def snapshot(self) -> Iterator[CatalogState]:
        """Catalog and vectors of one committed state of the library."""
        with errors_in_words(self.folder):
            # The file first: then the catalog is never behind it.
            ready = self._on_disk() if self._index is None else None
            with self.catalog.snapshot() as state:
                self._keep_in_step(state, ready)
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

    def doc_id_of(self, path: str) -> str:
        """The document that is this file: an absolute path, a path from here, a doc_id, or a path below one of the
        library's folders. Raises `QueryError`."""
        found = self.catalog.doc_id_of_path(path)
        if found:
            return found
        labels = [root.label for root in self.catalog.roots()]
        below = [doc for label in labels if (doc := self.catalog.doc_id_of_path(f"{label}/{path}"))]
        if len(below) > 1:
            raise QueryError(f"several folders of the library have a document {path}: " + ", ".join(below))
        if not below:
            example = f"{labels[0]}/..." if labels else "folder/..."
            raise QueryError(f"the library has no document {path}; documents are named by path, or as {example}")
        return below[0]

    def document_text(self, doc_id: str) -> DocumentText:
        """Raises `QueryError` when the library has no such document."""
        found = self.catalog.document_text(doc_id)
        if found is None:
            raise QueryError(f"the library has no document {doc_id}")
        return found

    def status(self) -> LibraryStatus:
        """Everything that `twinspect status` says; looks at every file's size and time."""
        with errors_in_words(self.folder), self.catalog.snapshot() as state:
            documents = self.catalog.documents()
            freshness = self.catalog.freshness([document.doc_id for document in documents])
            counts = Counter(indexed_as(document) for document in documents)
            counts.update(value for value in freshness.values() if value in ("changed", "missing"))
            passed_over = tuple(self.catalog.passed_over())
            counts["excluded"] = sum(row.entries for row in passed_over if row.what == "excluded")
            return LibraryStatus(
                self.catalog.facts(),
                tuple(self.catalog.roots()),
                tuple(documents),
                freshness,
                {name: counts[name] for name in STATES},
                state.fingerprint,
                max(1, state.unfinished - len(documents)) if state.unfinished else 0,
                passed_over,
            )

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
        self._db.close()

    def _keep_in_step(self, state: CatalogState, ready: vectors.Found | None) -> None:
        index = self._index
        if index is None or index.damaged or index.dimension != max(1, state.dimension):
            self._open(state, ready)
        elif state.stamp != self._stamp:
            if self.catalog.vectors.was_in(self._stamp, state.stamp):
                self._follow(index, state)
            else:  # another library, or a copy of this one, was put in its place
                self._open(state, None)
        self._stamp = state.stamp

    def _on_disk(self) -> vectors.Found | None:
        found, self.rebuilt_because = vectors.latest(self.folder, self._true_vectors)
        return found

    def _open(self, state: CatalogState, ready: vectors.Found | None) -> None:
        """The index of this state: that of the file, which is brought up to date in memory where the library has moved
        on little, and written anew where it has moved on much or is of no state that the library was in."""
        if self._index is not None:
            harmed = self._index.damaged
            self._index.close()
            self._index, self.rebuilt_because = None, "it is damaged"
            ready = None if harmed else self._on_disk()
        if ready is not None and not self._serves(ready, state):
            ready.index.close()
            ready, self.rebuilt_because = None, vectors.OTHER_STATE
        if ready is not None:
            missing = self.catalog.vectors.count_after(ready.index.last)
            if missing <= _MANY or not self._written(state):
                self._index = ready.index
                if ready.stamp != state.stamp:
                    self._bring(ready.index, state)
            else:
                ready.index.close()
        else:
            self._make_again(state)

    def _make_again(self, state: CatalogState) -> None:
        if not self._written(state):
            self._index = vectors.build(self.catalog.vectors.after(), max(1, state.dimension))

    def _written(self, state: CatalogState) -> bool:
        """Write the file anew and open it, where the folder can be written: that spares the next start the work, and a
        large library's vectors need not be held in memory.

        No lock is needed: the file is replaced whole, and whoever opens one that is older than the catalog goes on
        from there.
        """
        count, dimension = self.catalog.facts().texts, max(1, state.dimension)
        if count:
            with suppress(OSError):
                with closing(self.catalog.vectors.after()) as rows:
                    vectors.write(self.folder, state.stamp, dimension, count, rows)
                self._index, _ = vectors.load(self.folder, state.stamp, dimension, self._true_vectors)
                return self._index is not None
        return False

    def _follow(self, index: vectors.VectorIndex, state: CatalogState) -> None:
        """Take over what changed since the index was in step: by way of the file, if it has most of that already."""
        if self.catalog.vectors.count_after(index.last) > _MANY and self._on_disk_is_nearer(index):
            newer, _ = vectors.latest(self.folder, self._true_vectors)
            if newer is not None and self._serves(newer, state):
                index.close()
                self._index = index = newer.index
            elif newer is not None:
                newer.index.close()
        self._bring(index, state)

    def _serves(self, found: vectors.Found, state: CatalogState) -> bool:
        fits = found.index.dimension == max(1, state.dimension)
        return fits and self.catalog.vectors.was_in(found.stamp, state.stamp)

    def _on_disk_is_nearer(self, index: vectors.VectorIndex) -> bool:
        try:
            return vectors.glance(self.folder).last - index.last > _MANY
        except vectors.Unusable:
            return False

    def _bring(self, index: vectors.VectorIndex, state: CatalogState) -> None:
        """Add and remove what sets the index apart from the catalog. It is of a state that the library was in, a text's
        id is never given again and its vector never changes: what has a higher id is new, and what is gone stays gone.
        """
        last, texts = index.last, self.catalog.facts().texts
        added = self.catalog.vectors.count_after(last)
        if texts - added != len(index):
            held = index.ids()
            index.remove(held[np.isin(held, self.catalog.vectors.ids(), invert=True)])
        for ids, rows in vectors.in_blocks(self.catalog.vectors.after(last) if added else (), index.dimension):
            index.add(ids, rows)
        if len(index) != texts:  # the file held what no run has put there
            index.close()
            self.rebuilt_because = vectors.OTHER_STATE
            self._make_again(state)

    def _true_vectors(self, ids: vectors.Ids) -> Vectors:
        """The vectors of these ids from the catalog, shape (len(ids), dimension); zeros for an id it does not know."""
        known = self.catalog.vectors.of(ids.tolist())
        dimension = self._index.dimension if self._index is not None else 1
        nothing = bytes(4 * dimension)
        return vectors.vectors_of([known.get(row_id, nothing) for row_id in ids.tolist()], dimension)


def save_vectors(library: Path, catalog: Catalog, watch: vectors.Watch | None = None) -> None:
    """Write `vectors.faiss` anew from the catalog, unless what it has is so near to that that whoever opens it gets
    there in less than a moment. `watch` is told the share that is written, and may raise to end it."""
    with catalog.snapshot() as state:
        if state.dimension and not _near(library, catalog, state):
            with closing(catalog.vectors.after()) as rows:
                vectors.write(library, state.stamp, state.dimension, catalog.facts().texts, rows, watch)


def _near(library: Path, catalog: Catalog, state: CatalogState) -> bool:
    """Whether the file is of a past state of the library that differs little from this one."""
    try:
        file = vectors.glance(library)
    except vectors.Unusable:
        return False
    if file.dimension != state.dimension or not catalog.vectors.was_in(file.stamp, state.stamp):
        return False
    added = catalog.vectors.count_after(file.last)
    gone = file.count - (catalog.facts().texts - added)
    return added + gone <= min(_FEW, file.count // _FEW_OF)
