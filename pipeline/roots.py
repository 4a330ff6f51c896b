"""Folders of a library: added under a unique label, refused in words where they overlap."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from pipeline.errors import RootError
from pipeline.records import Root


def checked_folder(folder: Path | str) -> Path:
    """The folder as an absolute path. Raises `RootError` when it is no folder that can be read."""
    path = Path(folder).expanduser()
    if not path.exists():
        raise RootError(f"there is no folder {path}")
    if not path.is_dir():
        raise RootError(f"{path} is a file: choose the folder that holds it")
    try:
        with os.scandir(path):
            pass
    except OSError as error:
        raise RootError(f"the folder {path} cannot be read: {error.strerror or error}") from error
    return Path(os.path.abspath(path))


def match(folder: Path | str, roots: Sequence[Root]) -> Root | None:
    """The root that is this folder, under whatever path or link, or that has this label."""
    wanted = os.path.realpath(Path(folder).expanduser())
    for root in roots:
        if os.path.realpath(root.path) == wanted or root.path == str(folder):
            return root
    return next((root for root in roots if root.label == str(folder)), None)


def holding(place: Path | str, roots: Sequence[Root]) -> tuple[Root, str] | None:
    """The root that this file or folder lies in, there or not, and its path below it ("/" between the parts); None
    when it lies in none or is one itself."""
    path = os.path.abspath(Path(place).expanduser())
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    for root in roots:
        for own, candidate in ((root.path, path), (os.path.realpath(root.path), real)):
            prefix = os.path.join(own, "")
            if candidate.startswith(prefix) and len(candidate) > len(prefix):
                return root, candidate[len(prefix) :].replace(os.sep, "/")
    return None


def refuse_overlap(folder: Path, roots: Sequence[Root]) -> None:
    """Raises `RootError` when the folder lies inside a root or holds one: every file is one document."""
    wanted = os.path.realpath(folder)
    for root in roots:
        held = os.path.realpath(root.path)
        if _inside(wanted, held):
            raise RootError(f"{folder} lies inside {root.path}, which is in the library already")
        if _inside(held, wanted):
            raise RootError(f"{folder} holds {root.path}, which is in the library already: forget that one first")


def unique_label(folder: Path, taken: Collection[str]) -> str:
    """The folder's base name, with a number where it is taken."""
    base = os.fsencode(folder.name or folder.drive.rstrip(":\\") or "root").decode("utf-8", "backslashreplace")
    label, number = base, 1
    while label in taken:
        number += 1
        label = f"{base}-{number}"
    return label


def _inside(inner: str, outer: str) -> bool:
    return inner != outer and os.path.commonpath([inner, outer]) == outer if _same_drive(inner, outer) else False


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0].lower() == os.path.splitdrive(other)[0].lower()
