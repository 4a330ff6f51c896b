"""What passes between the program and its reading processes: requests and results as frames (`pipeline.frames`).

Headers are JSON; a document's text is the frame's body, as UTF-8, and behind it the shingles of the document and of
each chunk. Paths are bytes to the operating system and may be no text at all, so they go as base64.
"""

from __future__ import annotations

import base64
import os
from typing import Any

from pipeline.extract.records import (
    Box,
    PagePicture,
    PageWanted,
    ReadChunk,
    ReadDocument,
    ReadFailure,
    ReadLimits,
)
from pipeline.records import Page

Header = dict[str, Any]

_FACTS = ("size", "mtime_ns", "ctime_ns", "inode", "device", "link_count")


def pack_path(path: str) -> str:
    return base64.b64encode(os.fsencode(path)).decode("ascii")


def unpack_path(packed: str) -> str:
    return os.fsdecode(base64.b64decode(packed))


def pack_limits(limits: ReadLimits) -> Header:
    return {
        "seconds": limits.seconds,
        "memory_bytes": limits.memory_bytes,
        "max_bytes": limits.max_bytes,
        "max_chars": limits.max_chars,
    }


def pack_result(result: ReadDocument | ReadFailure) -> tuple[Header, bytes]:
    """A result without its paths, which the asker knows."""
    if isinstance(result, ReadFailure):
        return {"failed": result.reason, "sha256": result.content_sha256, "why": result.why}, b""
    header: Header = {
        "kind": result.kind,
        "pages": [[page.number, page.start, page.end] for page in result.pages],
        "chunks": [
            [c.start, c.end, c.page_first, c.page_last, c.text_sha256, c.fold_key, c.tokens] for c in result.chunks
        ],
        "sha256": result.content_sha256,
        "facts": [getattr(result, fact) for fact in _FACTS],
        "warnings": list(result.warnings),
        "no_text": result.no_text_reason,
        "fold_key": result.fold_key,
    }
    text = result.text.encode("utf-8")
    shingles = [result.shingles, *(chunk.shingles for chunk in result.chunks)]
    header["lengths"] = [len(text), *map(len, shingles)]
    return header, b"".join([text, *shingles])


def unpack_result(header: Header, body: bytes, path: str, rel_path: str) -> ReadDocument | ReadFailure:
    """Raises ValueError, KeyError or TypeError on anything that `pack_result` did not make."""
    if "failed" in header:
        return ReadFailure(rel_path, path, str(header["failed"]), header["sha256"], str(header["why"]))
    facts = dict(zip(_FACTS, map(int, header["facts"]), strict=True))
    text, shingles, *of_chunks = _cut(body, header["lengths"])
    return ReadDocument(
        rel_path=rel_path,
        path=path,
        kind=str(header["kind"]),
        text=text.decode("utf-8"),
        pages=tuple(Page(*page) for page in header["pages"]),
        chunks=tuple(ReadChunk(*(*chunk, own)) for chunk, own in zip(header["chunks"], of_chunks, strict=True)),
        content_sha256=str(header["sha256"]),
        warnings=tuple(map(str, header["warnings"])),
        no_text_reason=str(header["no_text"]),
        fold_key=str(header["fold_key"]),
        shingles=shingles,
        **facts,
    )


def _cut(body: bytes, lengths: list[int]) -> list[bytes]:
    """The body in parts of these lengths. Raises ValueError when they are not its own."""
    if sum(lengths) != len(body) or min(lengths, default=0) < 0:
        raise ValueError("the body is not as long as its parts")
    parts, start = [], 0
    for length in lengths:
        parts.append(body[start : start + length])
        start += length
    return parts


# --- pictures of pages -------------------------------------------------------------------------------------------

_MEASURES = ("page", "pages", "width", "height", "stride")


def pack_wanted(wanted: PageWanted) -> Header:
    passage = [wanted.page, wanted.width, wanted.text, wanted.start, wanted.end, wanted.scale]
    return {"path": pack_path(wanted.path), "picture": passage}


def unpack_wanted(header: Header) -> PageWanted:
    return PageWanted(unpack_path(header["path"]), *header["picture"])


def pack_picture(picture: PagePicture) -> tuple[Header, bytes]:
    marks = [[mark.left, mark.top, mark.width, mark.height] for mark in picture.marks]
    return {"measures": [getattr(picture, name) for name in _MEASURES], "marks": marks}, picture.pixels


def unpack_picture(header: Header, body: bytes) -> PagePicture:
    """Raises ValueError, KeyError or TypeError on anything that is no picture: who shows it trusts its measures."""
    page, pages, width, height, stride = map(int, header["measures"])
    if width < 1 or height < 1 or stride < 4 * width or len(body) < stride * height:
        raise ValueError("the picture is not as large as it says")
    marks = tuple(Box(*map(int, mark)) for mark in header["marks"])
    return PagePicture(page, pages, width, height, stride, body, marks)
