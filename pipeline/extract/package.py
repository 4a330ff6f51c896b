"""A file that is a zip archive of parts: Office Open XML, OpenDocument, EPUB. Reads parts, within bounds.

An archive inside the archive is never opened. What is unpacked is counted by what comes out, whatever the archive says
of its sizes.
"""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import MEGABYTE, in_units
from pipeline.extract.sax import NotWellFormed, Rules, walk

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

MAX_MEMBERS = 20_000
MAX_UNPACKED = 300 * MEGABYTE  # of all parts that are read
# Markup packs 5 to 40 times, the emptiest of spreadsheets 100 times; a bomb of one layer 1,000 times.
MAX_RATIO = 200
_RATIO_FROM = 4 * MEGABYTE  # small parts may be as empty as they like
_ENCRYPTED = 0x1

ENCRYPTED = "encrypted: it needs a password"


class DamagedPart(ExtractionFailed):
    """One part cannot be read; the others may be."""


class Package:
    """The parts of one file. `what` is what messages call it: `DOCX`."""

    def __init__(self, data: bytes, what: str) -> None:
        """Raises `ExtractionFailed` when the archive cannot be opened, or is a bomb by its own account."""
        from zipfile import BadZipFile, ZipFile

        self.what = what
        self._left = MAX_UNPACKED
        try:
            self._zip: ZipFile = ZipFile(io.BytesIO(data))
        except (BadZipFile, ValueError, OverflowError, NotImplementedError, struct.error, EOFError) as error:
            raise ExtractionFailed(f"a damaged {what}: {_why_not_opened(data)}") from error
        members = self._zip.infolist()
        if len(members) > MAX_MEMBERS:
            raise ExtractionFailed(f"too many parts: {len(members):,}, the limit is {MAX_MEMBERS:,}", "too_large")
        self._members = {_normal(member.filename): member for member in members}
        self._folded = {name.lower(): name for name in self._members}

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def has(self, name: str) -> bool:
        return name.lower() in self._folded

    def read(self, name: str) -> bytes:
        """Raises `DamagedPart` when the part is missing or cannot be unpacked, `ExtractionFailed` when it is
        encrypted or a bomb."""
        member = self._members.get(self._folded.get(name.lower(), ""))
        if member is None:
            raise DamagedPart(f"a damaged {self.what}: {_shown(name)} is missing")
        if member.flag_bits & _ENCRYPTED:
            raise ExtractionFailed(ENCRYPTED, "encrypted")
        self._check(member)
        return self._unpacked(member)

    def _check(self, member: ZipInfo) -> None:
        size = member.file_size
        if size > _RATIO_FROM and size > MAX_RATIO * member.compress_size:
            raise ExtractionFailed(
                f"a zip bomb: {in_units(size)} packed in {in_units(member.compress_size)}", "too_large"
            )
        if size > self._left:
            raise ExtractionFailed(f"too large: it unpacks to more than {in_units(MAX_UNPACKED)}", "too_large")

    def _unpacked(self, member: ZipInfo) -> bytes:
        from zipfile import BadZipFile

        try:
            with self._zip.open(member) as part:
                data = part.read(member.file_size + 1)
        except (BadZipFile, zlib.error, EOFError, OSError, ValueError, OverflowError, NotImplementedError,
                RuntimeError, struct.error) as error:  # fmt: skip
            raise DamagedPart(f"a damaged {self.what}: {_shown(member.filename)} cannot be unpacked") from error
        self._left -= len(data)
        return data


def walk_part(package: Package, part: str, rules: Rules) -> None:
    """`walk` over one part. Raises `DamagedPart` where it is missing, cannot be unpacked or is no XML."""
    read_part(package, part, lambda data: walk(data, rules))


def read_part(package: Package, part: str, work: Callable[[bytes], None]) -> None:
    """Let `work` read one part. Raises `DamagedPart` as `walk_part`."""
    data = package.read(part)
    try:
        work(data)
    except NotWellFormed as error:
        raise DamagedPart(f"a damaged {package.what}: {part} is {error.reason}") from error


def walked(package: Package, part: str, rules: Rules) -> bool:
    """`walk_part`; False when the part is damaged, of which `rules` have then seen the beginning. What concerns the
    whole file goes through."""
    try:
        walk_part(package, part, rules)
    except DamagedPart:
        return False
    return True


def _normal(name: str) -> str:
    return name.replace("\\", "/").lstrip("/")  # some programs write it as a path of their system


def _shown(name: str) -> str:
    return name[:100].encode("utf-8", "backslashreplace").decode()


def _why_not_opened(data: bytes) -> str:
    # The list of parts stands at the very end, and goes first.
    cut = data.startswith(b"PK\3\4") and b"PK\5\6" not in data[-70_000:]
    return "its end is missing" if cut else "it cannot be opened"


def beside(part: str, target: str) -> str:
    """The part that `target` means, as `part` refers to it."""
    path = target if target.startswith("/") else posixpath.join(posixpath.dirname(part), target)
    return posixpath.normpath(path).lstrip("/")


_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def without_escapes(target: str) -> str:
    """A reference with its `%20` and the like resolved."""
    return _ESCAPED.sub(lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), target)
