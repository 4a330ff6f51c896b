"""Folder -> files: what a root holds, in a fixed order, without following links.

Nothing is opened here and nothing is read but directories. What is passed over is counted, and folders that cannot be
read are named: their files are unknown, which is not the same as deleted.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from pathspec import GitIgnoreSpec

from pipeline.errors import RootError, SettingError
from pipeline.progress import CancelToken

_WINDOWS = sys.platform == "win32"
# A name and its entry. A folder's name has a "/" behind it: a gitignore pattern may ask for folders only, and files
# then come in the order of their whole paths ("a.txt" before "a/b.txt").
_Kept = tuple[str, os.DirEntry[str]]
_by_key = itemgetter(0)
_LITERAL_ESCAPE = re.compile(r"\\(?=x[0-9a-f]{2})")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A regular file below a root, as the scan saw it.

    `rel_path` uses `/` and holds undecodable bytes as lone surrogates (`os.fsdecode`), so that it names the file
    exactly; use `doc_name` for anything that is shown or stored. Times are nanoseconds, `size` is bytes.
    """

    rel_path: str
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    link_count: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A folder (or a file's directory entry) below the root that could not be read, and why."""

    rel_path: str
    reason: str


@dataclass(frozen=True, slots=True)
class PassedOver:
    """What a scan saw and did not yield. A hidden or excluded folder counts once, whatever it holds."""

    links: int = 0
    special: int = 0  # sockets, FIFOs, devices
    hidden: int = 0
    excluded: int = 0
    unreadable: tuple[Unreadable, ...] = ()


def scan(
    root: Path,
    *,
    exclude: Sequence[str] = (),
    include_hidden: bool = False,
    cancel: CancelToken | None = None,
) -> Scan:
    """The regular files below `root`, ordered by the code points of `rel_path`, one at a time.

    `exclude` holds gitignore patterns relative to `root`. Raises `RootError` (here, or at the end when the root went
    away meanwhile), `SettingError` for an impossible pattern, and `Cancelled` while iterating.
    """
    return Scan(root, exclude=exclude, include_hidden=include_hidden, cancel=cancel)


def doc_name(rel_path: str) -> str:
    r"""`rel_path` as readable text that always encodes to UTF-8: bytes that are not UTF-8 become `\xNN`.

    Different paths have different names: a backslash that would read as such an escape becomes `\x5c`.
    """
    escaped = _LITERAL_ESCAPE.sub(r"\\x5c", rel_path)
    try:
        return escaped.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # surrogates that stand for no byte: Windows names may hold them
        return escaped.encode("utf-8", "surrogatepass").decode("utf-8", "backslashreplace")


class Scan(Iterator[FileEntry]):
    """One pass over a root; `passed_over` grows while it is iterated."""

    def __init__(
        self,
        root: Path,
        *,
        exclude: Sequence[str] = (),
        include_hidden: bool = False,
        cancel: CancelToken | None = None,
    ) -> None:
        self._root = os.path.abspath(root)
        self._excluded = _exclude_spec(exclude)
        self._include_hidden = include_hidden
        self._cancel = cancel
        self._links = self._special = self._hidden = self._excluded_count = 0
        self._unreadable: list[Unreadable] = []
        self._identity = _root_identity(self._root)
        self._first = _list_root(self._root)
        self._files = self._walk()

    def __next__(self) -> FileEntry:
        return next(self._files)

    @property
    def passed_over(self) -> PassedOver:
        """What was passed over so far."""
        return PassedOver(self._links, self._special, self._hidden, self._excluded_count, tuple(self._unreadable))

    def _walk(self) -> Iterator[FileEntry]:
        # A stack of sorted listings instead of recursion: no depth is too deep, and memory holds one branch only.
        stack: list[tuple[str, Iterator[_Kept]]] = [("", self._kept(self._first, ""))]
        self._first = []
        cancel = self._cancel
        while stack:
            prefix, entries = stack[-1]
            for key, entry in entries:
                if cancel is not None:
                    cancel.check()
                rel_path = prefix + key
                if key[-1] == "/":
                    if (listing := self._list(entry, rel_path[:-1])) is not None:
                        stack.append((rel_path, self._kept(listing, rel_path)))
                        break
                    continue
                try:
                    # scandir's own stat has neither inode nor link count on Windows
                    facts = os.lstat(entry.path) if _WINDOWS else entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # deleted since it was listed
                except OSError as error:
                    self._unreadable.append(Unreadable(rel_path, words_for(error)))
                    continue
                if not stat.S_ISREG(facts.st_mode):
                    self._special += 1
                    continue
                yield FileEntry(
                    rel_path,
                    entry.path,
                    facts.st_size,
                    facts.st_mtime_ns,
                    facts.st_ctime_ns,
                    facts.st_ino,
                    facts.st_dev,
                    facts.st_nlink,
                )
            else:
                stack.pop()
        if _root_identity(self._root) != self._identity:
            # Not the folder that we began with: what is missing now was not deleted by the user.
            raise RootError(f"{doc_name(self._root)}: the folder was replaced while it was being read")

    def _list(self, entry: os.DirEntry[str], rel_path: str) -> list[os.DirEntry[str]] | None:
        try:
            with os.scandir(entry.path) as listing:
                return list(listing)
        except FileNotFoundError:
            return None  # deleted since it was listed
        except OSError as error:
            self._unreadable.append(Unreadable(rel_path, words_for(error)))
            return None

    def _kept(self, listing: list[os.DirEntry[str]], prefix: str) -> Iterator[_Kept]:
        kept: list[_Kept] = []
        excluded, include_hidden = self._excluded, self._include_hidden
        for entry in listing:
            name = entry.name
            if name[0] == "." and not include_hidden:
                self._hidden += 1
                continue
            try:
                if _is_link(entry):
                    self._links += 1
                    continue
                key = name + "/" if entry.is_dir(follow_symlinks=False) else name
            except OSError as error:  # on file systems whose listings do not tell the kinds
                self._unreadable.append(Unreadable(prefix + name, words_for(error)))
                continue
            if excluded is not None and excluded.match_file(prefix + key):
                self._excluded_count += 1
            else:
                kept.append((key, entry))
        kept.sort(key=_by_key)
        return iter(kept)


def words_for(error: OSError) -> str:
    """Why the file system refused, as a user would say it."""
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, FileNotFoundError):
        return "it is no longer there"
    return (error.strerror or str(error)).lower()


def _is_link(entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        return True
    if sys.platform == "win32":  # a junction is a link to a folder in all but name
        return entry.stat(follow_symlinks=False).st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT
    return False


def _exclude_spec(patterns: Sequence[str]) -> GitIgnoreSpec | None:
    if not patterns:
        return None
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern], backend="simple")
        except (ValueError, re.error) as error:
            raise SettingError("exclude", pattern, "gitignore patterns such as *.log or build/") from error
    # The simple backend, always: the faster ones cannot take names that are not UTF-8.
    return GitIgnoreSpec.from_lines(patterns, backend="simple")


def _root_identity(root: str) -> tuple[int, int]:
    try:
        facts = os.stat(root)
    except OSError as error:
        raise _root_error(root, error) from error
    if not stat.S_ISDIR(facts.st_mode):
        raise RootError(f"{doc_name(root)}: this is not a folder")
    return facts.st_dev, facts.st_ino


def _list_root(root: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(root) as listing:
            return list(listing)
    except OSError as error:
        raise _root_error(root, error) from error


def _root_error(root: str, error: OSError) -> RootError:
    if isinstance(error, FileNotFoundError):
        return RootError(f"{doc_name(root)}: there is no such folder (is a drive not connected?)")
    return RootError(f"{doc_name(root)}: the folder cannot be read: {words_for(error)}")
