"""The file of vectors beside a library: derived from the catalog, carrying what it was made from.

    magic | header, one padded line of JSON | ids | checks | codes | rows

`ids` (int64, ascending), `checks` (one CRC-32 a row) and `codes` (one byte a number, of large libraries only) are
checked as a whole when the file is opened. The rows (float32), by far the largest part, stay on the disk in a large
library; each is checked whenever it is read, so a row that was damaged decides nothing. Little-endian throughout.
"""

from __future__ import annotations

import json
import os
import time
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from pipeline.embed.port import Vectors
from pipeline.store.vectors_scan import Bytes, EightBitScan, Grid, Positions

VECTORS_NAME = "vectors.faiss"
SCANNED_FROM = 20_000  # vectors; below it they are held in memory as they are, and looked through in a millisecond
_MAGIC = b"TWINSPECT-VECTORS-2\n"
_HEADER_BYTES = 1024
_BLOCK = 4096  # rows at a time
_TRIES, _WAIT_SECONDS = 20, 0.1

Ids = npt.NDArray[np.int64]
Checks = npt.NDArray[np.uint32]
Truth = Callable[[Ids], Vectors]


class Unusable(Exception):
    """The file is not the one that is wanted, or not sound: the message says why, after "it"."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a vectors file was made from."""

    library_id: str
    generation: int
    token: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the parts of a file of so many vectors begin."""

    count: int
    dimension: int
    scanned: bool

    @property
    def ids(self) -> int:
        return len(_MAGIC) + _HEADER_BYTES

    @property
    def checks(self) -> int:
        return self.ids + 8 * self.count

    @property
    def codes(self) -> int:
        return self.checks + 4 * self.count

    @property
    def rows(self) -> int:
        return self.codes + (self.dimension * self.count if self.scanned else 0)

    @property
    def end(self) -> int:
        return self.rows + 4 * self.dimension * self.count


class StoredVectors:
    """A large library's vectors: their bytes in memory, to be scanned; the rows on the disk, read one by one."""

    def __init__(
        self, file: Path, layout: _Layout, ids: Ids, checks: Checks, scan: EightBitScan, identity: int
    ) -> None:
        self.ids, self.scan = ids, scan
        self.damaged = False
        self._file, self._layout, self._checks, self._identity = file, layout, checks, identity
        # A file that stays open cannot be replaced on Windows: there it is opened for each look. Elsewhere the open
        # one stays what it was when another takes its name.
        self._descriptor = os.open(file, os.O_RDONLY) if os.name != "nt" else None
        if self._descriptor is not None:
            self._end = weakref.finalize(self, os.close, self._descriptor)
            if os.fstat(self._descriptor).st_ino != identity:
                raise Unusable("was replaced while it was being read")

    def __len__(self) -> int:
        return self._layout.count

    def close(self) -> None:
        if self._descriptor is not None:
            self._end()

    def take(self, positions: Positions, truth: Truth) -> Vectors:
        """The rows at these positions, shape (len(positions), dimension). What cannot be read from the file, or is not
        what was written, comes from `truth`."""
        width = 4 * self._layout.dimension
        rows = np.empty((len(positions), self._layout.dimension), "<f4")
        bad: list[int] = []
        try:
            with self._reading() as read:
                for place, position in enumerate(positions.tolist()):
                    found = read(width, self._layout.rows + position * width)
                    if len(found) == width and zlib.crc32(found) == self._checks[position]:
                        rows[place] = np.frombuffer(found, "<f4")
                    else:
                        bad.append(place)
        except OSError:
            bad = list(range(len(positions)))
        if bad:
            self.damaged = True
            rows[bad] = truth(self.ids[positions[bad]])
        return rows.astype(np.float32, copy=False)

    def blocks(self, truth: Truth) -> Iterator[tuple[slice, Vectors]]:
        """All rows in order, some at a time."""
        width = 4 * self._layout.dimension
        for start in range(0, len(self), _BLOCK):
            part = slice(start, min(len(self), start + _BLOCK))
            size = part.stop - part.start
            try:
                with self._reading() as read:
                    found = read(size * width, self._layout.rows + start * width)
            except OSError:
                found = b""
            if len(found) == size * width:
                rows = np.frombuffer(found, "<f4").reshape(size, -1)
                if np.array_equal(checks_of(rows), self._checks[part]):
                    yield part, rows.astype(np.float32, copy=False)
                    continue
            yield part, self.take(np.arange(part.start, part.stop), truth)

    @contextmanager
    def _reading(self) -> Iterator[Callable[[int, int], bytes]]:
        if self._descriptor is not None:
            descriptor = self._descriptor
            yield lambda size, offset: os.pread(descriptor, size, offset)
            return
        with self._file.open("rb", buffering=0) as stream:

            def read(size: int, offset: int) -> bytes:
                stream.seek(offset)
                return stream.read(size) or b""

            yield read


def checks_of(rows: Vectors) -> Checks:
    """One CRC-32 a row, shape (n,)."""
    content = np.ascontiguousarray(rows, "<f4").data.cast("B")
    width = 4 * rows.shape[1]
    crc32 = zlib.crc32
    return np.fromiter(
        (crc32(content[start : start + width]) for start in range(0, len(content), width)), np.uint32, len(rows)
    )


def write(folder: Path, stamp: Stamp, dimension: int, count: int, blocks: Iterable[tuple[Ids, Vectors]]) -> None:
    """Write `vectors.faiss` whole or not at all, of exactly `count` vectors with ascending ids. Raises `OSError`."""
    target = folder / VECTORS_NAME
    partial = folder / f"{VECTORS_NAME}.{os.getpid()}.partial"
    try:
        with partial.open("wb+") as stream:
            _write_parts(stream, stamp, _Layout(count, dimension, count >= SCANNED_FROM), blocks)
            stream.flush()
            os.fsync(stream.fileno())
        _put_in_place(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _write_parts(stream: IO[bytes], stamp: Stamp, layout: _Layout, blocks: Iterable[tuple[Ids, Vectors]]) -> None:
    ids, checks = np.empty(layout.count, "<i8"), np.empty(layout.count, "<u4")
    low, high, done = np.inf, -np.inf, 0
    stream.seek(layout.rows)
    for some, rows in blocks:
        part = slice(done, done + len(some))
        if not len(some):
            continue
        ids[part], checks[part] = some, checks_of(rows)
        low, high = min(low, float(rows.min())), max(high, float(rows.max()))
        stream.write(np.ascontiguousarray(rows, "<f4").data)
        done = part.stop
    if done != layout.count:
        raise AssertionError(f"{done} vectors came of {layout.count}")
    grid = Grid.over(low, high) if layout.scanned else None
    codes_crc = 0
    if grid is not None:
        grid, codes_crc = _write_codes(stream, layout, grid)
    header = {
        "library_id": stamp.library_id,
        "generation": stamp.generation,
        "token": stamp.token,
        "fingerprint": stamp.fingerprint,
        "dimension": layout.dimension,
        "count": layout.count,
        "grid": None if grid is None else [grid.low, grid.span, grid.error],
        "crc32": [zlib.crc32(ids.data), zlib.crc32(checks.data), codes_crc],
    }
    line = json.dumps(header).encode()
    stream.seek(layout.ids)
    stream.write(ids.data)
    stream.write(checks.data)
    stream.seek(0)
    stream.write(_MAGIC + line.ljust(_HEADER_BYTES - 1) + b"\n")
    stream.truncate(layout.end)


def _write_codes(stream: IO[bytes], layout: _Layout, grid: Grid) -> tuple[Grid, int]:
    """The codes of the rows that were just written; the grid with its error, and the codes' CRC-32."""
    width, crc, error = 4 * layout.dimension, 0, 0.0
    for start in range(0, layout.count, _BLOCK):
        size = min(_BLOCK, layout.count - start)
        stream.seek(layout.rows + start * width)
        rows = np.frombuffer(stream.read(size * width), "<f4").reshape(size, -1)
        codes = grid.encoded(rows)
        error = max(error, float(grid.distances(rows, codes).max()))
        crc = zlib.crc32(codes.data, crc)
        stream.seek(layout.codes + start * layout.dimension)
        stream.write(codes.data)
    return Grid(grid.low, grid.span, error), crc


def _put_in_place(partial: Path, target: Path) -> None:
    for left in reversed(range(_TRIES)):
        try:
            os.replace(partial, target)
            return
        except PermissionError:  # on Windows while somebody reads the old one
            if not left or os.name != "nt":
                raise
            time.sleep(_WAIT_SECONDS)


def read(folder: Path, stamp: Stamp, dimension: int) -> StoredVectors | tuple[Ids, Vectors]:
    """The stored vectors if they are exactly of `stamp`: all of them with their ids, or those of a large library to be
    scanned. Raises `Unusable`."""
    file = folder / VECTORS_NAME
    try:
        with file.open("rb", buffering=0) as stream:
            return _read(file, stream, stamp, dimension)
    except FileNotFoundError:
        raise Unusable("is missing") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unusable(f"cannot be read ({error})") from error


def _read(file: Path, stream: IO[bytes], stamp: Stamp, dimension: int) -> StoredVectors | tuple[Ids, Vectors]:
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise Unusable("is not a vectors file")
    header = json.loads(stream.read(_HEADER_BYTES))
    wanted = (stamp.library_id, stamp.generation, stamp.token, stamp.fingerprint, dimension)
    if wanted != tuple(header[key] for key in ("library_id", "generation", "token", "fingerprint", "dimension")):
        raise Unusable("was made from another state of the library")
    count, grid = int(header["count"]), None if header["grid"] is None else Grid(*map(float, header["grid"]))
    layout = _Layout(count, dimension, grid is not None)
    facts = os.fstat(stream.fileno())
    # The sizes are known before anything is read, and what is read is checked before it is used.
    if count < 0 or facts.st_size != layout.end:
        raise Unusable("is truncated or damaged")
    ids, checks = np.empty(count, "<i8"), np.empty(count, "<u4")
    for part, crc in zip((ids, checks), header["crc32"], strict=False):
        _fill(stream, part.view(np.uint8))
        if zlib.crc32(part.data) != crc:
            raise Unusable("is truncated or damaged")
    if count and not bool(np.all(ids[1:] > ids[:-1])):
        raise Unusable("is truncated or damaged")
    if grid is None:
        rows = np.empty((count, dimension), "<f4")
        _fill(stream, rows.reshape(-1).view(np.uint8))
        if not np.array_equal(checks_of(rows), checks):
            raise Unusable("is truncated or damaged")
        return ids.astype(np.int64, copy=False), rows.astype(np.float32, copy=False)
    crc = 0

    def fill(place: Bytes) -> None:
        nonlocal crc
        _fill(stream, place)
        crc = zlib.crc32(place.data, crc)

    scan = EightBitScan(count, dimension, grid, fill)
    if crc != header["crc32"][2]:
        raise Unusable("is truncated or damaged")
    return StoredVectors(file, layout, ids.astype(np.int64, copy=False), checks, scan, facts.st_ino)


def _fill(stream: IO[bytes], place: Bytes) -> None:
    view = place.data
    done = 0
    while done < len(view):
        size = stream.readinto(view[done : done + 2**24])  # type: ignore[attr-defined]  # a raw stream has it
        if not size:
            raise Unusable("is truncated or damaged")
        done += size
