"""The frozen records between a file and its chunks. Offsets are code points into `text`, half open."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.records import Page

MEGABYTE = 1024 * 1024
GIGABYTE = 1024 * MEGABYTE
_MAX_CHARS = 20_000_000


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one file may cost: wall-clock `seconds`, a reading process's `memory_bytes`, the file's `max_bytes`, the
    extracted text's `max_chars` (code points)."""

    seconds: float = 30.0
    memory_bytes: int = 2 * GIGABYTE
    max_bytes: int = 200 * MEGABYTE
    max_chars: int = _MAX_CHARS


@dataclass(frozen=True, slots=True)
class Source:
    """What an extractor gets. `name` is the file's base name, for its suffix."""

    name: str
    data: bytes
    max_chars: int = _MAX_CHARS


@dataclass(frozen=True, slots=True)
class Extracted:
    """A file's text. It holds no lone surrogates, so it always encodes to UTF-8. `pages` is empty where the format
    has none; otherwise it names every page in order, with an empty span where a page has no text."""

    kind: str
    text: str
    pages: tuple[Page, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadChunk:
    """One chunk: `text[start:end]` of its document. `tokens` counts the special ones too, None without a tokenizer.
    `shingles` is what `pipeline.duplicates.shingles.packed` makes of it."""

    start: int
    end: int
    page_first: int | None
    page_last: int | None
    text_sha256: str
    fold_key: str
    tokens: int | None
    shingles: bytes = b""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A file that was read. The file's facts (`size` in bytes to `link_count`) are those of the very bytes that were
    read, not of the scan. `no_text_reason` says why there are no chunks; it is empty when there are. `fold_key` and
    `shingles` are those of the whole text."""

    rel_path: str
    path: str
    kind: str
    text: str
    pages: tuple[Page, ...]
    chunks: tuple[ReadChunk, ...]
    content_sha256: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    link_count: int
    warnings: tuple[str, ...] = ()
    no_text_reason: str = ""
    fold_key: str = ""
    shingles: bytes = b""


@dataclass(frozen=True, slots=True)
class ReadFailure:
    """A file that could not be read. `content_sha256` is None when its bytes were not all seen. `why` is the kind of
    the reason, one of `pipeline.records.WHYS`."""

    rel_path: str
    path: str
    reason: str
    content_sha256: str | None = None
    why: str = "damaged"


@dataclass(frozen=True, slots=True)
class PageWanted:
    """A page of a PDF to be drawn `width` pixels wide, or less where `scale` (pixels a point, 0: any) bounds it, with
    `text[start:end]` marked; `text` is what the extractor made of that page. An empty span marks nothing."""

    path: str
    page: int
    width: int
    text: str = ""
    start: int = 0
    end: int = 0
    scale: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as it is printed: rows of `stride` bytes, four bytes a pixel (blue, green, red, nothing). `marks` are the
    lines of the passage, none where it was not found on the page."""

    page: int
    pages: int
    width: int
    height: int
    stride: int
    pixels: bytes
    marks: tuple[Box, ...] = ()


def in_units(size: int) -> str:
    """A number of bytes for people: `2 GB`, `1.5 MB`, `10 bytes`."""
    for unit, name in ((GIGABYTE, "GB"), (MEGABYTE, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}" if size < 1000 * unit else f"{size / unit:,.0f} {name}"
    return f"{size} bytes"
