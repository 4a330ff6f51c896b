"""Where the system's trash keeps what is put into it: to say where a file can be found again. Only looked at."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import pairwise

SYSTEM_NAME = {"win32": "the Recycle Bin", "darwin": "the Trash"}.get(sys.platform, "the trash")


def found_in_trash(path: str, inode: int, device: int) -> str:
    """Where the file that lay at `path` is now, by its identity, which a move keeps on one disk; "" when that cannot be
    told. A copy on another disk is found by its name and the note that lies beside it."""
    name = os.path.basename(path)
    stem = os.path.splitext(name)[0]
    by_note = ""
    for folder in _folders(path):
        try:
            with os.scandir(folder) as listing:
                entries = [entry for entry in listing if entry.name.startswith(stem)]
        except OSError:
            continue
        for entry in entries:
            try:
                facts = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if (facts.st_ino, facts.st_dev) == (inode, device):
                return entry.path
            if facts.st_dev != device and _note_names(folder, entry.name, path):
                by_note = entry.path
    return by_note


def lies_in_trash(path: str) -> bool:
    """Whether a file lies in some trash already: what can be emptied keeps nothing."""
    parts = os.path.realpath(path).replace("\\", "/").split("/")[:-1]
    names = any(part.lower() in (".trash", "$recycle.bin") or part.startswith(".Trash-") for part in parts)
    return names or ("Trash", "files") in pairwise(parts)


def _folders(path: str) -> Iterator[str]:
    if sys.platform == "darwin":
        yield os.path.expanduser("~/.Trash")
        return
    if sys.platform == "win32":
        return  # renamed there, and listed by Windows alone
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    yield os.path.join(home, "Trash", "files")
    mount = os.path.dirname(os.path.realpath(path))
    while not os.path.ismount(mount):
        mount = os.path.dirname(mount)
    user = os.getuid()
    yield os.path.join(mount, ".Trash", str(user), "files")
    yield os.path.join(mount, f".Trash-{user}", "files")


def _note_names(folder: str, name: str, path: str) -> bool:
    """Whether the note beside a file in the trash says that it lay at `path`."""
    note = os.path.join(os.path.dirname(folder), "info", f"{name}.trashinfo")
    try:
        with open(note, encoding="utf-8", errors="replace") as lines:
            said = next((line[5:].strip() for line in lines if line.startswith("Path=")), "")
    except OSError:
        return False
    return _unquoted(said) == os.fsencode(path)


def _unquoted(said: str) -> bytes:
    """The path of a note, whose bytes beyond ASCII are percent signs with hex digits."""
    first, *rest = said.split("%")
    found = first.encode()
    for part in rest:
        try:
            found += bytes.fromhex(part[:2]) + part[2:].encode()
        except ValueError:
            found += f"%{part}".encode()
    return found
