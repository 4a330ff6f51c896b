"""Which names below a root are left out, and by which rule: the root's own patterns, and `.gitignore` files.

The root's own patterns decide first. Then, as in git, the `.gitignore` nearest to a file outranks those above it, and
in each the last pattern that fits decides. What an excluded folder holds is not looked at. Hidden names are left out
unless the root's own patterns take them in (`!.*` all of them).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from pipeline.errors import SettingError

IGNORE_FILE = ".gitignore"
_MOST_BYTES = 1 << 20  # of one such file; the largest collections of patterns have a tenth of it
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)  # links are not followed; git takes no rules from one either
    | getattr(os, "O_NONBLOCK", 0)  # a FIFO of that name would block the opening
)


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns of one place. They are told paths relative to `prefix` ("" or a folder with its "/")."""

    prefix: str
    source: str  # how a rule of it is named: "" for the root's own
    lines: tuple[str, ...]
    spec: GitIgnoreSpec

    def decide(self, rel_path: str) -> tuple[bool, str] | None:
        """Whether this leaves the path out, and the rule; None when no pattern fits."""
        found = self.spec.check_file(rel_path[len(self.prefix) :])
        if found.include is None or found.index is None:
            return None
        return found.include, self.source + self.lines[found.index].encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in force in one folder: the root's own first, then `.gitignore` files, the nearest first."""

    places: tuple[_Patterns, ...] = ()

    def excluding(self, rel_path: str) -> str | None:
        """The rule that leaves this out (folders have a "/" at their end), None when it stays."""
        for place in self.places:
            decided = place.decide(rel_path)
            if decided is not None:
                out, rule = decided
                return rule if out else None
        return None

    def takes_in(self, rel_path: str) -> bool:
        """Whether the root's own patterns take this in (`!.config/`), though its name is hidden."""
        if not self.places or self.places[0].source:
            return False
        decided = self.places[0].decide(rel_path)
        return decided is not None and not decided[0]

    def with_file(self, path: str, prefix: str) -> Rules:
        """These rules and, nearer, those of the `.gitignore` at `path`, which lies in `prefix`. Raises OSError."""
        lines = _lines_of(path)
        if not lines:
            return self
        spec = GitIgnoreSpec.from_lines(lines, backend="simple")
        source = f"{prefix}{IGNORE_FILE}: ".encode("utf-8", "backslashreplace").decode()
        place = _Patterns(prefix, source, tuple(lines), spec)
        own = self.places[:1] if self.places and not self.places[0].source else ()
        return Rules((*own, place, *self.places[len(own) :]))


def own_rules(patterns: Sequence[str]) -> Rules:
    """The rules that a root's own patterns (gitignore style) make. Raises `SettingError` for an impossible one."""
    lines = [line for line in patterns if _says_something(line)]
    for line in impossible(lines).values():
        raise SettingError("exclude", line, "gitignore patterns such as *.log or build/")
    if not lines:
        return Rules()
    # The simple backend, always: the faster ones cannot take names that are not UTF-8.
    return Rules((_Patterns("", "", tuple(lines), GitIgnoreSpec.from_lines(lines, backend="simple")),))


def impossible(lines: Sequence[str]) -> dict[int, str]:
    """The lines that cannot be read as patterns, by their places in `lines`; empty lines and comments say nothing."""
    return {at: line for at, line in enumerate(lines) if _says_something(line) and not _possible(line)}


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _possible(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line], backend="simple")
    except (ValueError, re.error):
        return False
    return True


def _lines_of(path: str) -> list[str]:
    """The patterns of a `.gitignore`; lines that are none are passed over, as git does."""
    try:
        handle = os.open(path, _OPEN_FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return []
        raise
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return []
        data = os.read(handle, _MOST_BYTES)
    finally:
        os.close(handle)
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    kept = (line.removesuffix("\r") for line in lines)
    return [line for line in kept if _says_something(line) and _possible(line)]
