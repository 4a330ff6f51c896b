"""Where a report may be written: never over a file of the user's that lies in a folder of a library."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from pipeline.errors import SavingError
from pipeline.store.schema import database_file


def be_no_users_file(library: Path, *files: Path | None) -> None:
    """Raises `SavingError` for a file that is there already and lies in a folder of the library, be it indexed or not,
    by whatever way its path leads there. Elsewhere, files are written over as by any other program."""
    from pipeline.library import LibraryReader

    there = [file for file in files if file is not None and os.path.lexists(file)]
    if not there or not database_file(library).is_file():
        return
    with closing(LibraryReader(library)) as reader:
        folders = [root.path for root in reader.roots()]
    lie_in_none(folders, *there)


def lie_in_none(folders: Iterable[str], *files: Path) -> None:
    """The same for those who know the library's folders."""
    roots = [Path(os.path.realpath(folder)) for folder in folders]
    for file in files:
        if not os.path.lexists(file):
            continue
        # A link is written over where it stands, or through to what it names: neither may be the user's.
        places = (Path(os.path.realpath(file)), Path(os.path.realpath(file.parent)) / file.name)
        root = next((root for root in roots for place in places if place.is_relative_to(root)), None)
        if root is not None:
            raise SavingError(
                f"{file} is there already and lies in {root}, a folder of the library: "
                "write into another file, or move that one aside"
            )


def save_text(file: Path, text: str, encoding: str = "utf-8") -> None:
    """Whole or not at all, line ends as they are; what hard links to the file hold stays as it was. Raises
    `OSError`."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding, newline="")
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)
