"""The file of vectors beside a library: derived from the catalog, carrying what it was made from.

    magic | header, one padded line of JSON | ids | checks | codes | rows

`ids` (int64, ascending), `checks` (one CRC-32 a row) and `codes` (one byte a number, of large libraries only) are
checked as a whole when the file is opened. The rows (float32), by far the largest part, stay on the disk in a large
library; each is checked whenever it is read, so a row that was damaged decides nothing. Little-endian throughout.

The file need not be of the library's present state. It is written whole, or it stays as it is while the library moves
on: an id is never given to a second text and a text's vector never changes, so whoever opens the file takes what was
added since from the catalog and leaves out what is gone, at the cost of the difference. That holds along one line of
states only, as a database that was restored from a copy gives its ids again; so the catalog keeps the tokens of the
states that it was in, and a file of any other is made again. A second file of additions would have to be kept in step
with the first one, and with the catalog, at every kill; the catalog has all that would stand in it.

Nothing is flushed to the disk before the file is put in its place: what a power cut spoils fails its check.
"""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pipeline.embed.port import Vectors
from pipeline.store.vectors_scan import Bytes, EightBitScan, Grid, Positions

VECTORS_NAME = "vectors.faiss"
SCANNED_FROM = 20_000  # vectors; below it they are held in memory as they are, and looked through in a millisecond
_MAGIC = b"TWINSPECT-VECTORS-2\n"
_HEADER_BYTES = 1024
_BLOCK = 4096  # rows at a time
_CODED = 512  # rows at a time that become bytes: what is worked out of them stays in the processor's cache
_ABANDONED_SECONDS = 600.0  # a file that is being written changes all the time
_TRIES, _WAIT_SECONDS = 20, 0.1

Ids = npt.NDArray[np.int64]
Checks = npt.NDArray[np.uint32]
Truth = Callable[[Ids], Vectors]
Watch = Callable[[float], None]  # is told the share that is written; what it raises ends the writing


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
class Glance:
    """What a vectors file says of itself: its state, and how many vectors it has, `last` the highest of their ids."""

    stamp: Stamp
    dimension: int
    count: int
    last: int


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


def write(
    folder: Path,
    stamp: Stamp,
    dimension: int,
    count: int,
    blocks: Iterable[tuple[Ids, Vectors]],
    watch: Watch | None = None,
) -> None:
    """Write `vectors.faiss` whole or not at all, of exactly `count` vectors with ascending ids. Raises `OSError`, and
    what `watch` raises, which is asked many times a second."""
    target = folder / VECTORS_NAME
    _clear_abandoned(folder)
    # Readers in several threads may be at it at once, each with a file of its own.
    partial = folder / f"{VECTORS_NAME}.{os.getpid()}-{threading.get_ident()}.partial"
    try:
        with partial.open("wb+", buffering=0) as stream:
            layout = _Layout(count, dimension, count >= SCANNED_FROM)
            _write_parts(stream, stamp, layout, blocks, watch or (lambda share: None))
        _put_in_place(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _clear_abandoned(folder: Path) -> None:
    """Remove what writers left that were killed."""
    oldest = time.time() - _ABANDONED_SECONDS
    for left in folder.glob(f"{VECTORS_NAME}.*.partial"):
        with suppress(OSError):
            if left.stat().st_mtime < oldest:
                left.unlink()


def _write_parts(
    stream: IO[bytes], stamp: Stamp, layout: _Layout, blocks: Iterable[tuple[Ids, Vectors]], watch: Watch
) -> None:
    ids, checks = np.empty(layout.count, "<i8"), np.empty(layout.count, "<u4")
    low, high, done = np.inf, -np.inf, 0
    steps = layout.count * (2 if layout.scanned else 1) or 1
    stream.seek(layout.rows)
    for some, rows in blocks:
        part = slice(done, done + len(some))
        if not len(some):
            continue
        ids[part], checks[part] = some, checks_of(rows)
        low, high = min(low, float(rows.min())), max(high, float(rows.max()))
        _put(stream, np.ascontiguousarray(rows, "<f4"))
        done = part.stop
        watch(done / steps)
    if done != layout.count:
        raise AssertionError(f"{done} vectors came of {layout.count}")
    grid = Grid.over(low, high) if layout.scanned else None
    codes_crc = 0
    if grid is not None:
        grid, codes_crc = _write_codes(stream, layout, grid, lambda coded: watch((layout.count + coded) / steps))
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
    _put(stream, ids)
    _put(stream, checks)
    stream.seek(0)
    _put(stream, np.frombuffer(_MAGIC + line.ljust(_HEADER_BYTES - 1) + b"\n", np.uint8))
    stream.truncate(layout.end)


def _write_codes(stream: IO[bytes], layout: _Layout, grid: Grid, told: Callable[[int], None]) -> tuple[Grid, int]:
    """The codes of the rows that were just written; the grid with its error, and the codes' CRC-32."""
    width, crc, error = 4 * layout.dimension, 0, 0.0
    rows = np.empty((_BLOCK, layout.dimension), "<f4")
    codes = np.empty((_BLOCK, layout.dimension), np.uint8)
    for start in range(0, layout.count, _BLOCK):
        size = min(_BLOCK, layout.count - start)
        stream.seek(layout.rows + start * width)
        _fill(stream, rows[:size].reshape(-1).view(np.uint8))
        for some in range(0, size, _CODED):
            part = slice(some, min(size, some + _CODED))
            codes[part] = grid.encoded(rows[part])
            error = max(error, float(grid.distances(rows[part], codes[part]).max()))
        crc = zlib.crc32(codes[:size].data, crc)
        stream.seek(layout.codes + start * layout.dimension)
        _put(stream, codes[:size])
        told(start + size)
    return Grid(grid.low, grid.span, error), crc


def _put(stream: IO[bytes], array: npt.NDArray[Any]) -> None:
    """All of it: a raw stream may take less at a time."""
    view = array.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        done += stream.write(view[done:])


def _put_in_place(partial: Path, target: Path) -> None:
    for left in reversed(range(_TRIES)):
        try:
            os.replace(partial, target)
            return
        except PermissionError:  # on Windows while somebody reads the old one
            if not left or os.name != "nt":
                raise
            time.sleep(_WAIT_SECONDS)


def glance(folder: Path) -> Glance:
    """What the file says of itself; nothing but its beginning and its size are looked at. Raises `Unusable`."""
    with _open(folder) as (_, stream):
        stamp, layout, _ = _head(stream)
        stream.seek(max(layout.ids, layout.checks - 8))
        last = np.zeros(1, "<i8")
        if layout.count:
            _fill(stream, last.view(np.uint8))
        return Glance(stamp, layout.dimension, layout.count, int(last[0]))


def read(folder: Path) -> tuple[Stamp, int, StoredVectors | tuple[Ids, Vectors]]:
    """The file's state, its vectors' dimension, and the vectors: all of them with their ids, or those of a large
    library to be scanned. Raises `Unusable`."""
    with _open(folder) as (file, stream):
        return _read(file, stream)


@contextmanager
def _open(folder: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    file = folder / VECTORS_NAME
    try:
        with file.open("rb", buffering=0) as stream:
            yield file, stream
    except FileNotFoundError:
        raise Unusable("is missing") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unusable(f"cannot be read ({error})") from error


def _head(stream: IO[bytes]) -> tuple[Stamp, _Layout, dict[str, Any]]:
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise Unusable("is not a vectors file")
    header = json.loads(stream.read(_HEADER_BYTES))
    stamp = Stamp(header["library_id"], int(header["generation"]), header["token"], header["fingerprint"])
    layout = _Layout(int(header["count"]), int(header["dimension"]), header["grid"] is not None)
    # The sizes are known before anything is read, and what is read is checked before it is used.
    if layout.count < 0 or layout.dimension < 1 or os.fstat(stream.fileno()).st_size != layout.end:
        raise Unusable("is truncated or damaged")
    return stamp, layout, header


def _read(file: Path, stream: IO[bytes]) -> tuple[Stamp, int, StoredVectors | tuple[Ids, Vectors]]:
    stamp, layout, header = _head(stream)
    count, dimension = layout.count, layout.dimension
    grid = Grid(*map(float, header["grid"])) if layout.scanned else None
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
        return stamp, dimension, (ids.astype(np.int64, copy=False), rows.astype(np.float32, copy=False))
    crc = 0

    def fill(place: Bytes) -> None:
        nonlocal crc
        _fill(stream, place)
        crc = zlib.crc32(place.data, crc)

    scan = EightBitScan(count, dimension, grid, fill)
    if crc != header["crc32"][2]:
        raise Unusable("is truncated or damaged")
    identity = os.fstat(stream.fileno()).st_ino
    return stamp, dimension, StoredVectors(file, layout, ids.astype(np.int64, copy=False), checks, scan, identity)


def _fill(stream: IO[bytes], place: Bytes) -> None:
    view = place.data
    done = 0
    while done < len(view):
        size = stream.readinto(view[done : done + 2**24])  # type: ignore[attr-defined]  # a raw stream has it
        if not size:
            raise Unusable("is truncated or damaged")
        done += size
