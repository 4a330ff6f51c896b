"""Folder -> files: what a root holds, in a fixed order, without following links.

Nothing is read here but directories, and `.gitignore` files where they count. What is passed over is counted, excluded
names with the rule that did it, and folders that cannot be read are named: their files are unknown, which is not the
same as deleted. Memory holds the listings of one branch, however many files a root has.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import RootError
from pipeline.ignoring import IGNORE_FILE, Rules, own_rules
from pipeline.progress import CancelToken
from pipeline.records import PassedOverRow

MOST_NAMES = 20  # of one folder left out by one rule that are listed one by one; more of them are one row
MOST_ROWS = 2_000  # of one root; what goes beyond is counted by its rule
_LIBRARY_FILES = ("library.", "vectors.", "decisions.", "history.", "trash.lock", "settings.toml")
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
    """What a scan saw and did not yield. A hidden or excluded folder counts once, whatever it holds. `rules` tells
    what was excluded by which rule, in at most `MOST_ROWS` rows and a few."""

    links: int = 0
    special: int = 0  # sockets, FIFOs, devices
    hidden: int = 0
    excluded: int = 0
    own: int = 0  # the library's own folder or files
    unreadable: tuple[Unreadable, ...] = ()
    rules: tuple[PassedOverRow, ...] = ()


def scan(
    root: Path,
    *,
    exclude: Sequence[str] = (),
    gitignore: bool = True,
    include_hidden: bool = False,
    library: Path | None = None,
    within: str = "",
    cancel: CancelToken | None = None,
) -> Scan:
    """The regular files below `root`, ordered by the bytes of `rel_path`, one at a time.

    `exclude` holds gitignore patterns relative to `root`; `.gitignore` files count where `gitignore` says so.
    `library` is a folder whose files are no documents. `within` (a path below the root with "/") narrows the scan to
    one file or folder. Raises `RootError` (here, or at the end when the root went away meanwhile), `SettingError` for
    an impossible pattern, and `Cancelled` while iterating.
    """
    return Scan(
        root,
        exclude=exclude,
        gitignore=gitignore,
        include_hidden=include_hidden,
        library=library,
        within=within,
        cancel=cancel,
    )


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
        gitignore: bool = True,
        include_hidden: bool = False,
        library: Path | None = None,
        within: str = "",
        cancel: CancelToken | None = None,
    ) -> None:
        self._root = os.path.abspath(root)
        self._prefix = os.path.join(self._root, "")
        self._rules = own_rules(exclude)
        self._gitignore, self._include_hidden = gitignore, include_hidden
        self._within = within.strip("/")
        self._cancel = cancel
        self._links = self._special = self._hidden = self._excluded = self._own = 0
        self._unreadable: list[Unreadable] = []
        self._rows: list[PassedOverRow] = []
        self._beyond: Counter[str] = Counter()  # excluded and not listed any more, by rule
        self._identity = _root_identity(self._root)
        self._library = _identity_of(library)
        _check_root(self._root)
        self._files = self.files()

    def __next__(self) -> FileEntry:
        rel_path, facts = next(self._files)
        return self.entry(rel_path, facts)

    def entry(self, rel_path: str, facts: os.stat_result) -> FileEntry:
        """The file as a record."""
        return FileEntry(
            rel_path,
            self._path(rel_path),
            facts.st_size,
            facts.st_mtime_ns,
            facts.st_ctime_ns,
            facts.st_ino,
            facts.st_dev,
            facts.st_nlink,
        )

    @property
    def passed_over(self) -> PassedOver:
        """What was passed over so far."""
        rows = [*self._rows, *(PassedOverRow("", "excluded", rule, n) for rule, n in self._beyond.items())]
        return PassedOver(
            self._links,
            self._special,
            self._hidden,
            self._excluded,
            self._own,
            tuple(self._unreadable),
            tuple(rows),
        )

    @property
    def has_unreadable(self) -> bool:
        return bool(self._unreadable)

    def is_unreadable(self, rel_path: str) -> bool:
        """Whether this path, or a folder that holds it, could not be read so far: then it may still be there."""
        return any(
            rel_path == place.rel_path or rel_path.startswith(f"{place.rel_path}/") for place in self._unreadable
        )

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """`rel_path` and facts of every file, for those who need no record of each. Iterate this or the scan."""
        # A stack of sorted listings instead of recursion: no depth is too deep, and memory holds one branch only.
        try:
            names, rules = self._kept("", self._rules)
        except OSError as error:
            raise _root_error(self._root, error) from error
        stack: list[tuple[str, Iterator[str], Rules]] = [("", names, rules)]
        check = self._cancel.check if self._cancel is not None else None
        lstat, is_regular, whole_prefix = os.lstat, stat.S_ISREG, self._prefix
        native = os.sep == "/"
        while stack:
            prefix, names, rules = stack[-1]
            for key in names:
                if check is not None:
                    check()
                rel_path = prefix + key
                if key[-1] == "/":
                    if (below := self._below(rel_path, rules)) is not None:
                        stack.append((rel_path, *below))
                        break
                    continue
                try:
                    facts = lstat(whole_prefix + rel_path if native else self._path(rel_path))
                except FileNotFoundError:
                    continue  # deleted since it was listed
                except OSError as error:
                    self._unreadable.append(Unreadable(rel_path, words_for(error)))
                    continue
                if is_regular(facts.st_mode):
                    yield rel_path, facts
                else:
                    self._special += 1
            else:
                stack.pop()
        if _root_identity(self._root) != self._identity:
            # Not the folder that we began with: what is missing now was not deleted by the user.
            raise RootError(f"{doc_name(self._root)}: the folder was replaced while it was being read")

    def _path(self, rel_path: str) -> str:
        return self._prefix + (rel_path if os.sep == "/" else rel_path.replace("/", os.sep))

    def _below(self, rel_path: str, rules: Rules) -> tuple[Iterator[str], Rules] | None:
        try:
            return self._kept(rel_path, rules)
        except FileNotFoundError:
            return None  # deleted since it was listed
        except OSError as error:
            self._unreadable.append(Unreadable(rel_path[:-1], words_for(error)))
            return None

    def _kept(self, prefix: str, rules: Rules) -> tuple[Iterator[str], Rules]:
        """The names in a folder that stay, sorted, and the rules below it. A folder's name has a "/" behind it: a
        pattern may ask for folders only, and files then come in the order of their whole paths ("a.txt" before
        "a/b.txt"). Raises OSError."""
        kept: list[str] = []
        out: dict[str, list[str]] = {}
        if self._gitignore:
            rules = self._with_ignore_file(rules, prefix)
        include_hidden, within, ruled = self._include_hidden, self._within, bool(rules.places)
        in_library = not prefix and self._library == self._identity
        with os.scandir(self._path(prefix[:-1]) if prefix else self._root) as listing:
            for entry in listing:
                name = entry.name
                if within and not _leads_to(within, prefix + name):
                    continue
                hidden = name[0] == "." and not include_hidden
                if hidden and not ruled:
                    self._hidden += 1
                    continue
                try:
                    key = name + "/" if entry.is_dir(follow_symlinks=False) else name
                    if hidden and not rules.takes_in(prefix + key):
                        self._hidden += 1
                        continue
                    if _is_link(entry):
                        self._links += 1
                        continue
                    if (in_library and name.startswith(_LIBRARY_FILES)) or self._is_library(entry, key):
                        self._own += 1
                        continue
                except OSError as error:  # on file systems whose listings do not tell the kinds
                    self._unreadable.append(Unreadable(prefix + name, words_for(error)))
                    continue
                if ruled and (rule := rules.excluding(prefix + key)) is not None:
                    out.setdefault(rule, []).append(key)
                else:
                    kept.append(key)
        if out:
            self._note_excluded(prefix, out)
        try:
            ascii_only = all(map(str.isascii, kept))
            kept.sort(key=None if ascii_only else os.fsencode)
        except UnicodeEncodeError:  # Windows names may hold surrogates that stand for no byte
            kept.sort(key=lambda key: key.encode("utf-8", "surrogatepass"))
        return iter(kept), rules

    def _is_library(self, entry: os.DirEntry[str], key: str) -> bool:
        """Whether this is the library's own folder; asks the disk only where the listing makes it likely."""
        if self._library is None or key[-1] != "/" or entry.inode() != self._library[1]:
            return False
        return _identity_of(entry.path) == self._library

    def _with_ignore_file(self, rules: Rules, prefix: str) -> Rules:
        try:
            return rules.with_file(self._path(prefix + IGNORE_FILE), prefix)
        except FileNotFoundError:
            return rules
        except OSError as error:
            self._unreadable.append(Unreadable(prefix + IGNORE_FILE, words_for(error)))
            return rules

    def _note_excluded(self, prefix: str, out: dict[str, list[str]]) -> None:
        for rule, keys in out.items():
            self._excluded += len(keys)
            many = len(keys) > MOST_NAMES
            if len(self._rows) + (1 if many else len(keys)) > MOST_ROWS:
                self._beyond[rule if rule in self._beyond or len(self._beyond) < MOST_NAMES else ""] += len(keys)
            elif many:
                self._rows.append(PassedOverRow(prefix, "excluded", rule, len(keys)))
            else:
                self._rows += (PassedOverRow(prefix + key, "excluded", rule) for key in sorted(keys))


def _leads_to(within: str, path: str) -> bool:
    """Whether `path` is `within`, lies below it, or holds it."""
    return path == within or path.startswith(f"{within}/") or within.startswith(f"{path}/")


def _identity_of(folder: Path | str | None) -> tuple[int, int] | None:
    if folder is None:
        return None
    try:
        facts = os.stat(folder)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


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


def _root_identity(root: str) -> tuple[int, int]:
    try:
        facts = os.stat(root)
    except OSError as error:
        raise _root_error(root, error) from error
    if not stat.S_ISDIR(facts.st_mode):
        raise RootError(f"{doc_name(root)}: this is not a folder")
    return facts.st_dev, facts.st_ino


def _check_root(root: str) -> None:
    try:
        with os.scandir(root):
            pass
    except OSError as error:
        raise _root_error(root, error) from error


def _root_error(root: str, error: OSError) -> RootError:
    if isinstance(error, FileNotFoundError):
        return RootError(f"{doc_name(root)}: there is no such folder (is a drive not connected?)")
    return RootError(f"{doc_name(root)}: the folder cannot be read: {words_for(error)}")
