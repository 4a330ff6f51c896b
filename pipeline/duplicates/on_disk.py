"""A document's file as it lies on the disk now, against what was indexed. Opened without following links, only read."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.progress import CancelToken
from pipeline.store.holdings import IndexedFile

Trouble = Literal["missing", "link", "changed", "unreadable", "never_read"]
_BLOCK = 1 << 20  # bytes
# On Windows a folder cannot be opened so; there each step of the way is looked at by its path.
_BY_FOLDERS = os.open in os.supports_dir_fd and sys.platform != "win32"
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotAsIndexed(Exception):
    """The file is not what was indexed; `str(error)` is the rest of a sentence about it."""

    def __init__(self, trouble: Trouble, why: str) -> None:
        super().__init__(why)
        self.trouble = trouble


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What was found: the file's identity, and under how many names the disk knows it."""

    size: int
    mtime_ns: int
    inode: int
    device: int
    links: int


def verified(file: IndexedFile, token: CancelToken | None = None) -> OnDisk:
    """The file, when it is exactly what was indexed: size, time, inode and every byte. Raises `NotAsIndexed`."""
    if file.content_key is None:
        raise NotAsIndexed("never_read", "it was never read, so what it holds is not known")
    try:
        handle = _opened(file)
    except FileNotFoundError as error:
        raise NotAsIndexed("missing", "there is no such file any more") from error
    except OSError as error:
        raise _in_words(error) from error
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise NotAsIndexed("changed", "it is no plain file any more")
        if (facts.st_size, facts.st_mtime_ns) != (file.size, file.mtime_ns):
            raise NotAsIndexed("changed", "it has changed since it was indexed")
        if facts.st_ino != file.inode:
            raise NotAsIndexed("changed", "another file has taken its place since it was indexed")
        if _sha256(handle, token) != file.content_key:
            raise NotAsIndexed("changed", "its content has changed since it was indexed; size and time have not")
        after = os.fstat(handle)
        if (after.st_size, after.st_mtime_ns) != (facts.st_size, facts.st_mtime_ns):
            raise NotAsIndexed("changed", "it is being written at this moment")
        return OnDisk(facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_dev, facts.st_nlink)
    except OSError as error:
        raise _in_words(error) from error
    finally:
        os.close(handle)


def still_there(file: IndexedFile, seen: OnDisk) -> bool:
    """Whether the file that was `verified` a moment ago is still there, by its identity, size and time."""
    try:
        handle = _opened(file)
    except OSError:
        return False
    except NotAsIndexed:
        return False
    try:
        facts = os.fstat(handle)
    except OSError:
        return False
    finally:
        os.close(handle)
    now = (facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_dev)
    return now == (seen.size, seen.mtime_ns, seen.inode, seen.device)


def movable(file: IndexedFile) -> str:
    """Why the file cannot be taken away from where it lies; "" when it can, as far as the system tells."""
    folder = os.path.dirname(file.path)
    if not os.access(folder, os.W_OK | os.X_OK, **_effectively()):
        return "its folder is read-only"
    if not os.access(file.path, os.W_OK, **_effectively()):
        return "it is read-only"
    if hasattr(os, "statvfs") and os.statvfs(folder).f_flag & getattr(os, "ST_RDONLY", 0):
        return "it lies on a read-only disk"
    return ""


def _effectively() -> dict[str, bool]:
    return {"effective_ids": True} if os.access in os.supports_effective_ids else {}


def _opened(file: IndexedFile) -> int:
    """The file opened for reading, by way of its root and with no link below that. Raises `NotAsIndexed`, `OSError`."""
    steps = Path(os.path.relpath(file.path, file.root)).parts
    if not steps or os.pardir in steps:
        raise NotAsIndexed("link", "it does not lie in its folder of the library")
    if not _BY_FOLDERS:
        return _opened_by_path(file, steps)
    held = os.open(file.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in steps[:-1]:
            inner = os.open(step, os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS, dir_fd=held)
            os.close(held)
            held = inner
        return os.open(steps[-1], os.O_RDONLY | _NO_LINKS, dir_fd=held)
    finally:
        os.close(held)


def _opened_by_path(file: IndexedFile, steps: tuple[str, ...]) -> int:
    place = Path(file.root)
    for step in steps:
        place = place / step
        if place.is_symlink() or os.path.realpath(place) != os.path.join(os.path.realpath(place.parent), step):
            raise NotAsIndexed("link", "it, or a folder on the way to it, is a link")
    return os.open(file.path, os.O_RDONLY | _NO_LINKS)


def _sha256(handle: int, token: CancelToken | None) -> str:
    """64 hex digits. Raises `Cancelled`."""
    found = hashlib.sha256()
    while block := os.read(handle, _BLOCK):
        if token is not None:
            token.check()
        found.update(block)
    return found.hexdigest()


def _in_words(error: OSError) -> NotAsIndexed:
    if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
        return NotAsIndexed("link", "it, or a folder on the way to it, is a link")
    if isinstance(error, PermissionError):
        return NotAsIndexed("unreadable", "there is no permission to read it, so it cannot be checked")
    return NotAsIndexed("unreadable", f"it cannot be read: {(error.strerror or str(error)).lower()}")
