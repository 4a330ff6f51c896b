"""One writer per library: a lock that the operating system drops with the process that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from pipeline.errors import LibraryError, LibraryLocked, TrashError

LOCK_NAME = "library.lock"
TRASH_LOCK_NAME = "trash.lock"


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Hold the writer's lock of the library in `folder`, which is made when absent.

    Raises `LibraryLocked` at once when another process (or another job of this one) holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # thread_local=False: the lock belongs to the job, whichever thread ends it.
        lock = FileLock(str(folder / LOCK_NAME), timeout=0, thread_local=False)
        lock.acquire()
    except Timeout as error:
        raise LibraryLocked(
            f"another window or command is writing to the library in {folder}: wait for it, or stop it first"
        ) from error
    except OSError as error:
        raise LibraryError(f"the library in {folder} cannot be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def trash_lock(folder: Path) -> Iterator[None]:
    """Hold the lock under which files of the library in `folder` go to the trash: of two windows that each move the
    other's last copy, one has to wait and look again. Indexing does not take it.

    Raises `TrashError` at once when another process holds it.
    """
    lock = FileLock(str(folder / TRASH_LOCK_NAME), timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise TrashError("another window is moving files of this library to the trash: wait for it") from error
    except OSError as error:
        raise TrashError(f"the library in {folder} cannot be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()
