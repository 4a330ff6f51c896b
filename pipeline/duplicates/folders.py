"""Folders as people name them, and the documents below them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pipeline.duplicates.decided import lies_in
from pipeline.errors import DecisionsError
from pipeline.library import LibraryReader
from pipeline.records import Root
from pipeline.store.holdings import Holder


def below(reader: LibraryReader, folder: str) -> list[Holder]:
    path = folder_path(reader, folder, must_exist=False)
    names = names_of(path, reader.roots())
    return [each for each in reader.holdings.every_document() if any(lies_in(each.path, name) for name in names)]


def folder_path(reader: LibraryReader, folder: str, *, must_exist: bool) -> str:
    """The absolute path that is meant by a path or by `<root label>/<path>`."""
    label, _, rest = folder.rstrip("/").partition("/")
    root = next((root for root in reader.roots() if root.label == label), None)
    path = os.path.abspath(os.path.expanduser(folder))
    if root is not None and not os.path.isabs(folder) and not os.path.isdir(path):
        path = os.path.normpath(os.path.join(root.path, rest))
    if must_exist and not os.path.isdir(path):
        raise DecisionsError(f"there is no folder {folder}")
    return path


def names_of(folder: str, roots: Sequence[Root]) -> set[str]:
    """The folder under every name by which a document's path may begin: links above a root are resolved, and below one
    there are none."""
    real = os.path.realpath(folder)
    names = {folder, real}
    for root in roots:
        real_root = os.path.realpath(root.path)
        if real == real_root or lies_in(real_root, real):
            names.add(root.path)
        elif lies_in(real, real_root):
            names.add(os.path.join(root.path, os.path.relpath(real, real_root)))
    return names
