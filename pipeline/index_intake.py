"""From files that were read to rows of the catalog: batches, their vectors, their transactions.

The model is given each new text as it arrives, and takes the next ones when it is done with the last; a batch is what
is committed together. One is finished by the model while the next is being read, and two are held at most: memory does
not grow with a folder.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from pipeline.embed.port import Encoder, Vectors, texts_at_once
from pipeline.extract.records import ReadDocument, ReadFailure
from pipeline.progress import CancelToken, ProgressTeller
from pipeline.records import DocumentState, Root
from pipeline.scan import FileEntry, doc_name
from pipeline.store import vectors
from pipeline.store.worklist import Worklist
from pipeline.store.writer import CatalogWriter, FileFacts, KnownFile, NewChunk, NewDocument, NewText

# A batch is committed when it holds this much: enough texts to sort by length, little enough to lose by a kill.
_BATCH_TEXTS = 64
_BATCH_DOCUMENTS = 256
_BATCH_CHARACTERS = 4_000_000
_BATCH_SECONDS = 2.0
_POLL_SECONDS = 0.05

Result = TypeVar("Result")


@dataclass(slots=True)
class _Batch:
    """Documents read and not yet committed, and the texts among theirs that the library does not hold yet, by exact
    key: `spare` are those whose vectors were kept from earlier, `waiting` those that the model has yet to take."""

    documents: list[NewDocument] = field(default_factory=list)
    touched: list[tuple[KnownFile, FileFacts]] = field(default_factory=list)
    failed: list[tuple[KnownFile, FileFacts, ReadFailure]] = field(default_factory=list)
    texts: dict[str, NewText] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # keys that were looked up, of those that are held too
    spare: list[NewText] = field(default_factory=list)
    waiting: list[NewText] = field(default_factory=list)
    requests: list[Future[tuple[list[str], Vectors]]] = field(default_factory=list)
    arrived: list[str] = field(default_factory=list)  # contents of documents that are new
    characters: int = 0
    began: float = field(default_factory=time.perf_counter)

    @property
    def files(self) -> int:
        return len(self.documents) + len(self.touched) + len(self.failed)

    @property
    def made(self) -> bool:
        """Whether the model is done with all its texts."""
        return all(request.done() for request in self.requests)

    @property
    def full(self) -> bool:
        return (
            len(self.texts) >= _BATCH_TEXTS
            or self.files >= _BATCH_DOCUMENTS
            or self.characters >= _BATCH_CHARACTERS
            or time.perf_counter() - self.began > _BATCH_SECONDS
        )


class Intake:
    """Takes what was read, one file after another, and commits it with the vectors of its texts.

    `counts` grows by state: added, changed, unchanged, failed, unknown_kind.
    """

    def __init__(
        self,
        writer: CatalogWriter,
        worklist: Worklist,
        encoder: Encoder,
        teller: ProgressTeller,
        cancel: CancelToken,
    ) -> None:
        self._writer, self._worklist, self._encoder = writer, worklist, encoder
        self._teller, self._cancel = teller, cancel
        self.counts: Counter[str] = Counter()
        # Two requests under way: the model finds the next one when it is done with the last.
        self._model = ThreadPoolExecutor(2, thread_name_prefix="encoder calls")
        self._taking = threading.Lock()
        self._before: _Batch | None = None  # the one that is with the model to its end
        self._batch = _Batch()

    def token_limit(self) -> int:
        """The model's, waiting for it to be loaded but not beyond a cancel."""
        return self._patiently(self._model.submit(lambda: self._encoder.token_limit))

    def close(self) -> None:
        """Ask nothing more of the model."""
        self._model.shutdown(wait=False, cancel_futures=True)

    # --- files in -----------------------------------------------------------------------------------------------

    def take(self, root: Root, entry: FileEntry, result: ReadDocument | ReadFailure, before: KnownFile | None) -> None:
        """One file and what became of it; `before` is its document as the library has it."""
        if isinstance(result, ReadFailure):
            self._take_failure(root, entry, result, before)
        else:
            self._take_document(root, entry, result, before)
        if self._batch.full:
            self._send()
        elif self._before is not None and self._before.made:
            self._commit_before()  # at once: a kill then loses less

    def flush(self) -> None:
        """Commit everything that was taken."""
        self._send()
        self._send()

    def _take_failure(self, root: Root, entry: FileEntry, result: ReadFailure, before: KnownFile | None) -> None:
        self.counts["unknown_kind" if result.why == "unknown_kind" else "failed"] += 1
        facts = facts_of(entry)
        if before is not None and before.chunk_count:
            self._batch.failed.append((before, facts, result))
            return
        self._batch.documents.append(
            NewDocument(
                root.id,
                _doc_id(root, entry),
                facts,
                "failed",
                result.reason,
                content_sha256=result.content_sha256,
                why=result.why,
            )
        )

    def _take_document(self, root: Root, entry: FileEntry, result: ReadDocument, before: KnownFile | None) -> None:
        batch, facts = self._batch, facts_of(result)  # of the very bytes that were read
        if before is not None and _same(before, result):
            self.counts["unchanged"] += 1
            batch.touched.append((before, facts))
            return
        self.counts["added" if before is None else "changed"] += 1
        if before is None:
            batch.arrived.append(result.content_sha256)
        state: DocumentState = "indexed" if result.chunks else "no_text"
        chunks = tuple(
            NewChunk(chunk.start, chunk.end, chunk.page_first, chunk.page_last, chunk.text_sha256)
            for chunk in result.chunks
        )
        batch.documents.append(
            NewDocument(
                root.id,
                _doc_id(root, entry),
                facts,
                state,
                "; ".join(result.warnings) if result.chunks else result.no_text_reason,
                result.kind,
                result.content_sha256,
                result.text,
                result.pages,
                chunks,
                fold_key=result.fold_key,
                shingles=result.shingles,
            )
        )
        batch.characters += len(result.text)
        fresh: dict[str, NewText] = {}
        for chunk in result.chunks:
            key = chunk.text_sha256
            if key not in fresh and not self._seen(key):
                text = result.text[chunk.start : chunk.end]
                fresh[key] = NewText(key, chunk.fold_key, text, chunk.tokens, b"", chunk.shingles)
        if fresh:
            self._ask(fresh)

    def _seen(self, key: str) -> bool:
        """Whether this text is held, or will be when the batch before this one is committed."""
        return key in self._batch.seen or (self._before is not None and key in self._before.seen)

    # --- the model ----------------------------------------------------------------------------------------------

    def _ask(self, fresh: Mapping[str, NewText]) -> None:
        """Have the model make the vectors of those among these texts that have none."""
        batch = self._batch
        held = self._writer.texts_held(fresh)
        new = {key: text for key, text in fresh.items() if key not in held}
        kept = self._writer.spare_vectors(new) if new else {}
        batch.seen.update(fresh)
        batch.texts |= new
        batch.spare += (replace(new[key], vector=vector) for key, vector in kept.items())
        unmade = [text for key, text in new.items() if key not in kept]
        with self._taking:
            batch.waiting += unmade
        # Each takes what waits when its turn comes: the last ones may find nothing left.
        for _ in range(0, len(unmade), texts_at_once(self._encoder)):
            batch.requests.append(self._model.submit(self._encoded, batch))

    def _encoded(self, batch: _Batch) -> tuple[list[str], Vectors]:
        """The vectors of some texts of about one length, by their keys."""
        self._cancel.check()
        size = texts_at_once(self._encoder)
        with self._taking:
            batch.waiting.sort(key=lambda text: len(text.text))
            taken = batch.waiting[-size:]
            del batch.waiting[-size:]
        if not taken:
            return [], np.empty((0, 0), np.float32)
        return [text.sha256 for text in taken], self._encoder.encode([text.text for text in taken])

    # --- one batch ----------------------------------------------------------------------------------------------

    def _send(self) -> None:
        """Commit the batch before, and begin a new one: the model has the last one's texts meanwhile."""
        self._commit_before()
        last = self._batch
        self._before, self._batch = last if last.files else None, _Batch()

    def _commit_before(self) -> None:
        if self._before is not None:
            self._commit(self._before)
            self._before = None

    def _commit(self, batch: _Batch) -> None:
        texts = list(batch.spare)
        for request in batch.requests:
            keys, rows = self._patiently(request)
            texts += (
                replace(batch.texts[key], vector=vectors.blob_of(row)) for key, row in zip(keys, rows, strict=True)
            )
            if keys:
                self._teller.tell(embedded=len(keys))
        self._cancel.check()
        with self._writer.change():
            if texts:
                model = self._encoder
                self._writer.bind_model(model.fingerprint, model.name, model.source, model.dimension)
                self._writer.add_texts(texts)
                self._writer.take_spares(text.sha256 for text in batch.spare)
            for document in batch.documents:
                self._writer.put_document(document)
            for known, facts in batch.touched:
                self._writer.touch(known, facts)
                if known.state == "stale":
                    self._writer.set_state(known, facts, "indexed", "")
            for known, facts, failure in batch.failed:
                self._writer.set_state(known, facts, "stale", failure.reason, failure.why)
        self._worklist.note_arrived(batch.arrived)
        self._teller.tell(advance=batch.files, failed=self.counts["failed"])

    def _patiently(self, future: Future[Result]) -> Result:
        """The future's result, looking at the cancel token while it is not there."""
        while True:
            self._cancel.check()
            try:
                return future.result(timeout=_POLL_SECONDS)
            except TimeoutError:
                if future.done():
                    raise
                self._teller.tell()


def _same(before: KnownFile, result: ReadDocument) -> bool:
    """Whether the library holds what was read now. A newer version of the program may read the same bytes better."""
    same_content = before.content_sha256 == result.content_sha256 and before.state != "failed"
    return same_content and before.chunk_count == len(result.chunks)


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


def _doc_id(root: Root, entry: FileEntry) -> str:
    return f"{root.label}/{doc_name(entry.rel_path)}"
