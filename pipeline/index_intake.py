"""From files that were read to rows of the catalog: batches, their vectors, their transactions.

One batch is being embedded while the next is being read, and two are held at most: memory does not grow with a folder.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pipeline.embed.cores import usable_cores
from pipeline.embed.port import Encoder, Vectors
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
_ENCODE_TEXTS = 4  # per core and request to the model: a question that comes meanwhile waits for no more than these
_POLL_SECONDS = 0.05

Result = TypeVar("Result")


@dataclass(slots=True)
class _Batch:
    """Documents read and not yet committed, and the texts among theirs that need a vector, by exact key."""

    documents: list[NewDocument] = field(default_factory=list)
    touched: list[tuple[KnownFile, FileFacts]] = field(default_factory=list)
    failed: list[tuple[KnownFile, FileFacts, ReadFailure]] = field(default_factory=list)
    texts: dict[str, NewText] = field(default_factory=dict)
    arrived: list[str] = field(default_factory=list)  # contents of documents that are new
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


@dataclass(slots=True)
class _InFlight:
    """A batch whose new texts are with the model; `spare` are those whose vectors were kept from earlier."""

    batch: _Batch
    spare: list[NewText]
    futures: list[Future[tuple[list[str], Vectors]]]


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
        self._in_flight: _InFlight | None = None
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

    def flush(self) -> None:
        """Commit everything that was taken."""
        self._send()
        self._commit_in_flight()

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
        for chunk in result.chunks:
            if chunk.text_sha256 not in batch.texts:
                text = result.text[chunk.start : chunk.end]
                batch.texts[chunk.text_sha256] = NewText(
                    chunk.text_sha256, chunk.fold_key, text, chunk.tokens, b"", chunk.shingles
                )

    # --- one batch ----------------------------------------------------------------------------------------------

    def _send(self) -> None:
        """Commit the batch that is being embedded, and hand the next one's new texts to the model."""
        batch, self._batch = self._batch, _Batch()
        self._commit_in_flight()
        if not batch.files:
            return
        held = self._writer.texts_held(batch.texts)
        kept = self._writer.spare_vectors(key for key in batch.texts if key not in held)
        spare = [replace(batch.texts[key], vector=vector) for key, vector in kept.items()]
        new = [text for key, text in batch.texts.items() if key not in held and key not in kept]
        new.sort(key=lambda text: len(text.text))
        step = max(8, _ENCODE_TEXTS * usable_cores())
        futures = [self._model.submit(self._encoded, new[start : start + step]) for start in range(0, len(new), step)]
        self._in_flight = _InFlight(batch, spare, futures)

    def _encoded(self, texts: Sequence[NewText]) -> tuple[list[str], Vectors]:
        self._cancel.check()
        return [text.sha256 for text in texts], self._encoder.encode([text.text for text in texts])

    def _commit_in_flight(self) -> None:
        if self._in_flight is None:
            return
        work, self._in_flight = self._in_flight, None
        batch, texts = work.batch, list(work.spare)
        for future in work.futures:
            keys, rows = self._patiently(future)
            texts += (
                replace(batch.texts[key], vector=vectors.blob_of(row)) for key, row in zip(keys, rows, strict=True)
            )
            self._teller.tell(embedded=len(keys))
        self._cancel.check()
        with self._writer.change():
            if texts:
                model = self._encoder
                self._writer.bind_model(model.fingerprint, model.name, model.source, model.dimension)
                self._writer.add_texts(texts)
                self._writer.take_spares(text.sha256 for text in work.spare)
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
