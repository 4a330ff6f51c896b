"""What a reading process does with one file: its bytes, its text, its chunks."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.duplicates.shingles import packed
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, ReadChunk, ReadDocument, ReadFailure, ReadLimits, Source, in_units
from pipeline.extract.registry import HEAD_BYTES, Extractor, Registry
from pipeline.records import Page
from pipeline.textkeys import fold_key, text_sha256

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)  # a link that took the file's place since the scan may lead anywhere
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO that did so would block the opening
    | getattr(os, "O_NOCTTY", 0)
)
_BLOCK = 1 << 20
_SECOND_LOOK = 0.1  # seconds until a file that changed while being read is read again


class TokenCounter:
    """Counts tokens with a `tokenizer.json`: special tokens included, nothing truncated.

    Remembers the last document's counts, since the splitter and the reader ask about the same texts.
    """

    def __init__(self, tokenizer_file: str) -> None:
        """Raises ValueError when the file is missing or no tokenizer."""
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(tokenizer_file)
        except Exception as error:  # the library raises bare Exception
            raise ValueError(f"{tokenizer_file} cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._counts: dict[str, int] = {}

    def __call__(self, texts: Sequence[str]) -> list[int]:
        new = [text for text in dict.fromkeys(texts) if text not in self._counts]
        if new:
            encodings = self._tokenizer.encode_batch_fast(new)
            self._counts.update(zip(new, map(len, encodings), strict=True))
        return [self._counts[text] for text in texts]

    def forget(self) -> None:
        """Drop the remembered counts, and with them the texts."""
        self._counts.clear()


@dataclass(frozen=True, slots=True)
class _Bytes:
    """A file's bytes, and its facts at the moment they were complete."""

    data: bytes
    facts: os.stat_result


@dataclass(slots=True)
class Reader:
    """Reads one file after another. Everything that a file can do wrong becomes a `ReadFailure`, but for what only a
    separate process can survive: hanging, crashing, eating memory."""

    registry: Registry = field(default_factory=Registry)
    counter: TokenCounter | None = None
    token_limit: int | None = None
    limits: ReadLimits = field(default_factory=ReadLimits)

    def read(self, path: str, rel_path: str) -> ReadDocument | ReadFailure:
        """The file's text in chunks, or why there is none. MemoryError goes through."""
        sha256: str | None = None
        try:
            content = self._bytes(path)
            sha256 = hashlib.sha256(content.data).hexdigest()
            source = Source(os.path.basename(path), content.data, self.limits.max_chars)
            if content.data:
                extractor, extracted = self.registry.extract(source)
            else:
                extractor = self.registry.extractor_for(source.name, b"")
                extracted = Extracted(extractor.kind, "")
            return self._document(path, rel_path, content, sha256, extractor, extracted)
        except ExtractionFailed as error:
            return ReadFailure(rel_path, path, error.reason, sha256, error.why)
        except MemoryError:
            raise
        except Exception as error:  # a fault of an extractor must cost this file only
            return ReadFailure(rel_path, path, _in_words(error), sha256)
        finally:
            if self.counter is not None:
                self.counter.forget()

    def content(self, path: str) -> bytes:
        """The file's bytes as they are now. Raises `ExtractionFailed`."""
        return self._bytes(path).data

    # --- bytes ---

    def _bytes(self, path: str) -> _Bytes:
        for attempt in (1, 2):
            content = self._bytes_once(path)
            if content is not None:
                return content
            if attempt == 1:
                time.sleep(_SECOND_LOOK)
        raise ExtractionFailed("changed while being read", "unsteady")

    def _bytes_once(self, path: str) -> _Bytes | None:
        """None when the file changed meanwhile."""
        try:
            handle = os.open(path, _OPEN_FLAGS)
        except OSError as error:
            why = "unsteady" if isinstance(error, FileNotFoundError) else "unreadable"
            raise ExtractionFailed(_why_not_opened(path, error), why) from error
        try:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                raise ExtractionFailed("not a regular file any more", "unsteady")
            data = bytearray(os.read(handle, min(HEAD_BYTES, before.st_size + 1)))
            if data:
                self.registry.extractor_for(os.path.basename(path), bytes(data))  # no gigabytes of video for nothing
            self._check_size(before.st_size)
            while len(data) <= self.limits.max_bytes and (block := os.read(handle, _BLOCK)):
                data += block
            self._check_size(len(data))  # it may have grown, or its size may be a lie
            after = os.fstat(handle)
        except OSError as error:
            raise ExtractionFailed(f"cannot be read: {(error.strerror or str(error)).lower()}", "unreadable") from error
        finally:
            os.close(handle)
        if len(data) != after.st_size or _version(before) != _version(after):
            return None
        return _Bytes(bytes(data), after)

    def _check_size(self, size: int) -> None:
        if size > self.limits.max_bytes:
            said = f"too large: {in_units(size)}, the limit is {in_units(self.limits.max_bytes)}"
            raise ExtractionFailed(said, "too_large")

    # --- text and chunks ---

    def _document(
        self, path: str, rel_path: str, content: _Bytes, sha256: str, extractor: Extractor, extracted: Extracted
    ) -> ReadDocument:
        facts = content.facts
        chunks = self._chunks(extracted, extractor)
        return ReadDocument(
            rel_path=rel_path,
            path=path,
            kind=extracted.kind,
            text=extracted.text,
            pages=extracted.pages,
            chunks=chunks,
            content_sha256=sha256,
            size=facts.st_size,
            mtime_ns=facts.st_mtime_ns,
            ctime_ns=facts.st_ctime_ns,
            inode=facts.st_ino,
            device=facts.st_dev,
            link_count=facts.st_nlink,
            warnings=extracted.warnings,
            no_text_reason="" if chunks else _why_no_text(extracted, facts.st_size),
            fold_key=fold_key(extracted.text),
            shingles=packed(extracted.text) if chunks else b"",
        )

    def _chunks(self, extracted: Extracted, extractor: Extractor) -> tuple[ReadChunk, ...]:
        text = extracted.text
        if not text or text.isspace():
            return ()
        from pipeline.chunk import split  # not before there is something to split

        spans = split(text, markup=extractor.markup, token_counter=self.counter, token_limit=self.token_limit)
        texts = [text[start:end] for start, end in spans]
        tokens: Sequence[int | None] = self.counter(texts) if self.counter is not None else [None] * len(texts)
        pages = _PageIndex(extracted.pages)
        return tuple(
            ReadChunk(start, end, *pages.of(start, end), text_sha256(piece), fold_key(piece), count, packed(piece))
            for (start, end), piece, count in zip(spans, texts, tokens, strict=True)
        )


class _PageIndex:
    """Finds the pages that a span overlaps. What joins two pages belongs to neither."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = [page for page in pages if page.start < page.end]
        self._starts = [page.start for page in self._pages]
        self._ends = [page.end for page in self._pages]

    def of(self, start: int, end: int) -> tuple[int | None, int | None]:
        """First and last page of `[start, end)`, None and None in a format without pages."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end) - 1
        if not self._pages or first > last:
            return None, None
        return self._pages[first].number, self._pages[last].number


def _version(facts: os.stat_result) -> tuple[int, int, int]:
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _in_words(error: Exception) -> str:
    text = f"the reader failed: {type(error).__name__}: {error}"[:500]
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # it may quote anything


def _why_not_opened(path: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "deleted or moved before it was read"
    if os.path.islink(path):
        return "a symbolic link took its place"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return f"cannot be opened: {(error.strerror or str(error)).lower()}"


_WHY_NO_TEXT = {
    "pdf": "no text layer: scanned pages only", "html": "no visible text", "xml": "no text between its tags",
    "pptx": "no text on its slides", "odp": "no text on its slides", "xlsx": "no cells with text",
    "ods": "no cells with text", "docx": "no text in it", "odt": "no text in it", "odg": "no text in it",
    "epub": "no text in it", "rtf": "no text in it", "json": "no values in it", "notebook": "no text in its cells",
}  # fmt: skip


def _why_no_text(extracted: Extracted, size: int) -> str:
    return _WHY_NO_TEXT.get(extracted.kind, "white space only") if size else "empty file"
