"""Use case: folders -> library. Brings a library up to date with its folders, embedding only texts that are new."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from pipeline import roots
from pipeline.embed.cores import usable_cores
from pipeline.embed.port import Encoder, Vectors
from pipeline.errors import LibraryError, ModelMismatch, RootError
from pipeline.extract.pool import ReaderPool
from pipeline.extract.records import ReadDocument, ReadFailure
from pipeline.library import save_vectors
from pipeline.progress import CancelToken, Progress, ProgressListener
from pipeline.records import DocumentState, Root
from pipeline.scan import FileEntry, Scan, doc_name
from pipeline.store import vectors
from pipeline.store.catalog import Catalog
from pipeline.store.lock import writer_lock
from pipeline.store.schema import database_file, open_for_writing
from pipeline.store.writer import CatalogWriter, FileFacts, KnownFile, NewChunk, NewDocument, NewText

# A batch is committed when it holds this much: enough texts to sort by length, little enough to lose by a kill.
_BATCH_TEXTS = 64
_BATCH_DOCUMENTS = 256
_BATCH_CHARACTERS = 4_000_000
_BATCH_SECONDS = 2.0
_ENCODE_TEXTS = 4  # per core and request to the model: a question that comes meanwhile waits for no more than these
_POLL_SECONDS = 0.05

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run did. `documents`, `chunks`, `texts` count the whole library afterwards; every file of the folders
    indexed is in one of added, changed, moved, unchanged, failed; `embedded` counts texts that got a vector."""

    documents: int
    added: int
    changed: int
    moved: int
    removed: int
    unchanged: int
    failed: int
    chunks: int
    texts: int
    embedded: int
    seconds: float


def index_library(
    library: Path,
    add: Sequence[Path] = (),
    *,
    encoder: Encoder,
    exclude: Sequence[str] = (),
    full: bool = False,
    retry_failed: bool = False,
    progress: ProgressListener | None = None,
    cancel: CancelToken | None = None,
) -> IndexReport:
    """Bring these folders up to date, adding those that are new; without any, all folders of the library.

    `exclude` replaces the folders' exclude patterns (gitignore style) when given. `full` reads every file again
    instead of trusting size, times and inode. `retry_failed` reads files again that failed unchanged.

    Raises `RootError` (a folder missing or unreadable: nothing of it is changed, the others are brought up to date
    first), `LibraryLocked`, `ModelMismatch`, `ModelError`, `Cancelled` (what was committed stays).
    """
    began = time.perf_counter()
    cancel = cancel or CancelToken()
    folders = [roots.checked_folder(folder) for folder in add]
    if not add and not database_file(library).is_file():
        raise LibraryError(f"there is no library in {library}: name a folder to index")
    with writer_lock(library):
        db = open_for_writing(library)
        try:
            catalog, writer = Catalog(db, library), CatalogWriter(db)
            _refuse_other_model(catalog, encoder)
            chosen = _chosen_roots(catalog, writer, folders, exclude)
            run = _Run(library, catalog, writer, encoder, progress, cancel, full, retry_failed, began)
            return run.all(chosen)
        finally:
            db.close()


def forget_root(library: Path, folder: Path | str) -> Root:
    """Take a folder (by path or label) out of the library; its files are not touched. Raises `RootError`."""
    if not database_file(library).is_file():
        raise LibraryError(f"there is no library in {library}")
    with writer_lock(library):
        db = open_for_writing(library)
        try:
            catalog, writer = Catalog(db, library), CatalogWriter(db)
            root = roots.match(folder, catalog.roots())
            if root is None:
                known = ", ".join(root.path for root in catalog.roots()) or "none"
                raise RootError(f"{folder} is not in the library; its folders: {known}")
            with writer.change():
                writer.remove_root(root.id)
                writer.remove_unheld_texts()
            save_vectors(library, catalog)
            return root
        finally:
            db.close()


def _refuse_other_model(catalog: Catalog, encoder: Encoder) -> None:
    state = catalog.state()
    if state.fingerprint and state.fingerprint != encoder.fingerprint and catalog.facts().texts:
        raise ModelMismatch(
            f"this library was made with the model {state.model}, not with {encoder.name}: choose that model, or "
            "index the folders into a new library"
        )


def _chosen_roots(
    catalog: Catalog, writer: CatalogWriter, folders: Sequence[Path], exclude: Sequence[str]
) -> list[Root]:
    if not folders:
        return catalog.roots()
    chosen: list[Root] = []
    for folder in folders:
        known = catalog.roots()
        root = roots.match(folder, known)
        with writer.change():
            if root is None:
                roots.refuse_overlap(folder, known)
                label = roots.unique_label(folder, {other.label for other in known})
                root = Root(writer.add_root(label, str(folder)), label, str(folder))
            if exclude:
                writer.set_exclude(root.id, exclude)
        if root not in chosen:
            chosen.append(root)
    return chosen


@dataclass(slots=True)
class _Batch:
    """Documents read and not yet committed, and the texts among theirs that need a vector, by exact key."""

    documents: list[NewDocument] = field(default_factory=list)
    touched: list[tuple[KnownFile, FileFacts]] = field(default_factory=list)
    failed: list[tuple[KnownFile, FileFacts, str]] = field(default_factory=list)
    texts: dict[str, NewText] = field(default_factory=dict)
    characters: int = 0
    began: float = field(default_factory=time.perf_counter)

    @property
    def files(self) -> int:
        return len(self.documents) + len(self.touched) + len(self.failed)

    @property
    def full(self) -> bool:
        return (
            len(self.texts) >= _BATCH_TEXTS
            or self.files >= _BATCH_DOCUMENTS
            or self.characters >= _BATCH_CHARACTERS
            or time.perf_counter() - self.began > _BATCH_SECONDS
        )


class _Run:
    """One indexing run. Reads ahead of the model, and embeds one batch while the next is being read."""

    def __init__(
        self,
        library: Path,
        catalog: Catalog,
        writer: CatalogWriter,
        encoder: Encoder,
        progress: ProgressListener | None,
        cancel: CancelToken,
        full: bool,
        retry_failed: bool,
        began: float,
    ) -> None:
        self._library, self._catalog, self._writer, self._encoder = library, catalog, writer, encoder
        self._listener, self._cancel, self._full, self._retry = progress, cancel, full, retry_failed
        self._began, self._told = began, 0.0
        self._progress = Progress()
        self._counts: Counter[str] = Counter()
        self._added_contents: Counter[str] = Counter()
        self._removed_contents: Counter[str] = Counter()
        self._changed_anything = False
        self._found = 0  # files that the library holds once this run has come to its end
        # Two requests under way: the model finds the next one when it is done with the last.
        self._model = ThreadPoolExecutor(2, thread_name_prefix="encoder calls")
        self._in_flight: tuple[_Batch, list[Future[tuple[list[str], Vectors]]]] | None = None

    def all(self, chosen: Sequence[Root]) -> IndexReport:
        unreachable: list[str] = []
        try:
            work = [(root, *self._scanned(root, unreachable)) for root in chosen]
            total = sum(len(entries) for _, entries, _ in work)
            self._tell(force=True, stage="reading", total=total)
            elsewhere = self._catalog.facts().documents - sum(len(known) for _, _, known in work)
            self._found = total + elsewhere
            for root, entries, known in work:
                self._bring_up_to_date(root, entries, known)
            self._tell(force=True, stage="finishing", current="")
            self._clear_away()
        finally:
            self._model.shutdown(wait=False, cancel_futures=True)
            if self._changed_anything:
                save_vectors(self._library, self._catalog)
        if unreachable:
            raise RootError("; ".join(unreachable) + ": the library keeps what it had of it")
        return self._report()

    # --- one folder ---

    def _scanned(self, root: Root, unreachable: list[str]) -> tuple[list[FileEntry], dict[str, KnownFile]]:
        """The root's files now, and the documents to compare them with (those that can be told to be gone)."""
        own = os.path.realpath(self._library) + os.sep
        try:
            scan = Scan(Path(root.path), exclude=self._writer.exclude_of(root.id), cancel=self._cancel)
            entries = []
            for entry in scan:
                if not os.path.realpath(os.path.dirname(entry.path)).startswith(own.rstrip(os.sep)):
                    entries.append(entry)
                self._tell(current=entry.rel_path)
        except RootError as error:
            unreachable.append(str(error))
            return [], {}
        known = self._writer.known_files(root.id)
        # What lies in a folder that cannot be read now is not gone.
        blind = tuple(f"{place.rel_path}/" for place in scan.passed_over.unreadable)
        known = {rel: file for rel, file in known.items() if not f"{rel}/".startswith(blind)} if blind else known
        return entries, known

    def _bring_up_to_date(self, root: Root, entries: Sequence[FileEntry], known: dict[str, KnownFile]) -> None:
        gone = dict(known)
        to_read: list[FileEntry] = []
        for entry in entries:
            before = gone.pop(entry.rel_path, None)
            if before is not None and self._unchanged(before, entry):
                self._counts["failed" if before.state in ("failed", "stale") else "unchanged"] += 1
                self._tell(advance=1)
            else:
                to_read.append(entry)
        if to_read:
            with self._change():
                self._writer.set_unfinished(self._found)
            self._read(root, to_read, known)
        if gone:
            with self._change():
                self._writer.remove_documents(file.id for file in gone.values())
            self._counts["removed"] += len(gone)
            self._removed_contents.update(file.content_sha256 for file in gone.values() if file.content_sha256)

    def _unchanged(self, before: KnownFile, entry: FileEntry) -> bool:
        if self._full or (self._retry and before.state in ("failed", "stale")):
            return False
        return replace(before.facts, link_count=0) == replace(facts_of(entry), link_count=0)

    def _read(self, root: Root, entries: Sequence[FileEntry], known: dict[str, KnownFile]) -> None:
        limit = self._patiently(self._model.submit(lambda: self._encoder.token_limit))
        batch = _Batch()
        with ReaderPool(tokenizer_file=self._encoder.tokenizer_file, token_limit=limit, cancel=self._cancel) as pool:
            for entry, result in pool.read(entries):
                self._cancel.check()
                self._take(batch, root, entry, result, known.get(entry.rel_path))
                self._tell(current=entry.rel_path)
                if batch.full:
                    self._send(batch)
                    batch = _Batch()
        self._send(batch)
        self._commit_in_flight()

    def _take(
        self,
        batch: _Batch,
        root: Root,
        entry: FileEntry,
        result: ReadDocument | ReadFailure,
        before: KnownFile | None,
    ) -> None:
        facts = facts_of(entry)
        doc_id = f"{root.label}/{doc_name(entry.rel_path)}"
        if isinstance(result, ReadFailure):
            self._counts["failed"] += 1
            if before is not None and before.chunk_count:
                batch.failed.append((before, facts, result.reason))
            else:
                batch.documents.append(
                    NewDocument(root.id, doc_id, facts, "failed", result.reason, content_sha256=result.content_sha256)
                )
            return
        facts = facts_of(result)  # of the very bytes that were read
        if before is not None and before.content_sha256 == result.content_sha256 and before.state != "failed":
            self._counts["unchanged"] += 1
            batch.touched.append((before, facts))
            return
        self._counts["added" if before is None else "changed"] += 1
        if before is None:
            self._added_contents[result.content_sha256] += 1
        state: DocumentState = "indexed" if result.chunks else "no_text"
        chunks = tuple(
            NewChunk(chunk.start, chunk.end, chunk.page_first, chunk.page_last, chunk.text_sha256)
            for chunk in result.chunks
        )
        batch.documents.append(
            NewDocument(
                root.id,
                doc_id,
                facts,
                state,
                "; ".join(result.warnings) if result.chunks else result.no_text_reason,
                result.kind,
                result.content_sha256,
                result.text,
                result.pages,
                chunks,
            )
        )
        batch.characters += len(result.text)
        for chunk in result.chunks:
            if chunk.text_sha256 not in batch.texts:
                text = result.text[chunk.start : chunk.end]
                batch.texts[chunk.text_sha256] = NewText(chunk.text_sha256, chunk.fold_key, text, chunk.tokens, b"")

    # --- one batch ---

    def _send(self, batch: _Batch) -> None:
        """Commit the batch that is being embedded, and hand this one's new texts to the model."""
        self._commit_in_flight()
        if not batch.files:
            return
        held = self._writer.texts_held(batch.texts)
        new = sorted((text for key, text in batch.texts.items() if key not in held), key=lambda text: len(text.text))
        step = max(8, _ENCODE_TEXTS * usable_cores())
        futures = [self._model.submit(self._encoded, new[start : start + step]) for start in range(0, len(new), step)]
        self._in_flight = (batch, futures)

    def _encoded(self, texts: Sequence[NewText]) -> tuple[list[str], Vectors]:
        self._cancel.check()
        return [text.sha256 for text in texts], self._encoder.encode([text.text for text in texts])

    def _commit_in_flight(self) -> None:
        if self._in_flight is None:
            return
        batch, futures = self._in_flight
        self._in_flight = None
        embedded: list[NewText] = []
        for future in futures:
            keys, rows = self._patiently(future)
            embedded += [
                replace(batch.texts[key], vector=vectors.blob_of(row)) for key, row in zip(keys, rows, strict=True)
            ]
            self._tell(embedded=len(keys))
        with self._change():
            if embedded:
                model = self._encoder
                self._writer.bind_model(model.fingerprint, model.name, model.source, model.dimension)
                self._writer.add_texts(embedded)
            for document in batch.documents:
                self._writer.put_document(document)
            for known, facts in batch.touched:
                self._writer.touch(known, facts)
                if known.state == "stale":
                    self._writer.set_state(known, facts, "indexed", "")
            for known, facts, reason in batch.failed:
                self._writer.set_state(known, facts, "stale", reason)
        self._tell(advance=batch.files)

    def _patiently(self, future: Future[Result]) -> Result:
        """The future's result, looking at the cancel token while it is not there."""
        while True:
            self._cancel.check()
            try:
                return future.result(timeout=_POLL_SECONDS)
            except TimeoutError:
                if future.done():
                    raise
                self._tell()

    # --- the end ---

    def _clear_away(self) -> None:
        if self._writer.unfinished():
            with self._change():
                self._writer.set_unfinished(0)
        if self._writer.unheld_texts():
            with self._change():
                self._writer.remove_unheld_texts()

    def _change(self) -> AbstractContextManager[None]:
        self._changed_anything = True
        return self._writer.change()

    def _report(self) -> IndexReport:
        moved = (self._added_contents & self._removed_contents).total()
        facts = self._catalog.facts()
        return IndexReport(
            documents=facts.documents,
            added=self._counts["added"] - moved,
            changed=self._counts["changed"],
            moved=moved,
            removed=self._counts["removed"] - moved,
            unchanged=self._counts["unchanged"],
            failed=self._counts["failed"],
            chunks=facts.chunks,
            texts=facts.texts,
            embedded=self._progress.embedded,
            seconds=round(time.perf_counter() - self._began, 3),
        )

    def _tell(
        self,
        *,
        force: bool = False,
        stage: str | None = None,
        total: int | None = None,
        advance: int = 0,
        current: str | None = None,
        embedded: int = 0,
    ) -> None:
        """Note where the run is, and tell the listener at most ten times a second."""
        now = time.perf_counter()
        self._progress = replace(
            self._progress,
            stage=stage or self._progress.stage,
            done=self._progress.done + advance,
            total=self._progress.total if total is None else total,
            current=self._progress.current if current is None else current,
            embedded=self._progress.embedded + embedded,
            failed=self._counts["failed"],
            seconds=now - self._began,
        )
        if self._listener is not None and (force or now - self._told >= 0.1):
            self._told = now
            self._listener(self._progress)


def facts_of(entry: FileEntry | ReadDocument) -> FileFacts:
    return FileFacts(
        entry.rel_path,
        entry.size,
        entry.mtime_ns,
        entry.ctime_ns,
        entry.inode,
        entry.device,
        entry.link_count,
    )
