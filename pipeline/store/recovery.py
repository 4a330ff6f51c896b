"""What can be saved of a library whose database is damaged: the file itself, under another name, and its folders.

Everything else is made anew from the folders. Decisions and history lie in files of their own and stay.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.errors import LibraryError
from pipeline.store.page_rows import PageRows
from pipeline.store.schema import DATABASE_NAME, database_file
from pipeline.store.vectors_file import VECTORS_NAME

_BESIDE = ("-wal", "-shm", "-journal")
_ROOTS = "SELECT label, path_bytes, exclude, gitignore FROM roots ORDER BY id"


@dataclass(frozen=True, slots=True)
class SavedRoot:
    """A folder of the library as far as it could be read, with its rules."""

    label: str
    path: str
    exclude: tuple[str, ...] = ()
    gitignore: bool = True


@dataclass(frozen=True, slots=True)
class Saved:
    """What a damaged database still says. `model_source` is None for the built-in model, or where it is unreadable."""

    roots: tuple[SavedRoot, ...] = ()
    model_source: str | None = None


def damage(folder: Path) -> str:
    """What is wrong with the library's database, "" when every page and every row of an index is as it should be.

    Reads all of it. Raises `LibraryError` when there is none.
    """
    file = database_file(folder)
    if not file.is_file():
        raise LibraryError(f"there is no library in {folder}")
    try:
        with closing(_opened(file)) as connection:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                return "it is empty"
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
            if found != ["ok"]:
                return "; ".join(" ".join(line.split()) for line in found)
            orphans = connection.execute("PRAGMA foreign_key_check").fetchone()
            connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
            return "" if orphans is None else f"rows of {orphans[0]} point nowhere"
    except sqlite3.DatabaseError as error:
        return str(error)


def saved_of(folder: Path) -> Saved:
    """What can be read of the library's folders, whatever state the file is in; nothing when nothing can."""
    file = database_file(folder)
    try:
        with closing(_opened(file)) as connection:
            roots = [_root(*row) for row in connection.execute(_ROOTS)]
            row = connection.execute("SELECT value FROM meta WHERE key = 'model_source'").fetchone()
            if roots:
                return Saved(tuple(roots), str(row[0]) if row and row[0] else None)
    except (sqlite3.DatabaseError, ValueError, TypeError):
        pass
    return _saved_from(PageRows(file))


def set_aside(folder: Path) -> Path:
    """Rename the database, and what belongs to it, so that a new one can be made; the new name of the file.

    The caller holds the writer's lock. Raises `LibraryError` when that cannot be done; then nothing has changed.
    """
    file = database_file(folder)
    stamp = datetime.now().strftime("%Y-%m-%d %H%M%S")
    aside = folder / f"{DATABASE_NAME}.aside {stamp}"
    number = 1
    while aside.exists():
        number += 1
        aside = folder / f"{DATABASE_NAME}.aside {stamp} {number}"
    try:
        os.rename(file, aside)
        for ending in _BESIDE:
            # The log belongs to its file alone: beside a new one it would be taken for the new one's.
            with suppress(FileNotFoundError):
                os.rename(f"{file}{ending}", f"{aside}{ending}")
    except OSError as error:
        if not file.exists() and aside.exists():
            with suppress(OSError):
                os.rename(aside, file)
        raise LibraryError(f"{file} cannot be kept aside: {error.strerror or error}") from error
    with suppress(OSError):
        (folder / VECTORS_NAME).unlink()
    return aside


def _opened(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
    connection.execute("PRAGMA query_only=1")
    return connection


def _root(label: Any, path: Any, exclude: Any, gitignore: Any) -> SavedRoot:
    """Raises ValueError or TypeError when these are no root's."""
    place = os.fsdecode(path)
    if not isinstance(label, str) or not label or not os.path.isabs(place):
        raise ValueError("no folder")
    patterns = json.loads(exclude)
    if not isinstance(patterns, list):
        raise ValueError("no patterns")
    return SavedRoot(label, place, tuple(map(str, patterns)), bool(gitignore))


def _saved_from(rows: PageRows) -> Saved:
    """Roots have an id (which is not stored in the row), a label, a path, patterns, a time and, since version 3,
    whether .gitignore files count."""
    roots: dict[str, SavedRoot] = {}
    source: str | None = None
    for row in rows:
        with suppress(ValueError, TypeError):
            if len(row) == 2 and row[0] == "model_source" and isinstance(row[1], str):
                source = row[1] or None
            elif len(row) in (5, 6) and row[0] is None and isinstance(row[2], bytes):
                datetime.fromisoformat(str(row[4]))
                root = _root(row[1], row[2], row[3], row[5] if len(row) == 6 else 1)
                roots[root.label] = root
    return Saved(tuple(roots.values()), source)
