"""Use case: rules of a folder -> what they would leave out of it now, before they are in force.

The folder is scanned by the rules in force and by those proposed, side by side in the one order that scans have, so
that memory holds no list of its files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.progress import CancelToken
from pipeline.records import PassedOverRow, Root
from pipeline.scan import doc_name, scan

MOST_NAMES = 3  # of the files that go or come in


@dataclass(frozen=True, slots=True)
class Ahead:
    """What a folder would hold by other rules. `files` would be indexed; `left_out` names would be left out by a
    rule, a folder counting once whatever it holds, told in `rows` as a scan tells them. `going` files that the rules
    in force let in would be indexed no more, `coming` ones would be new; the first of either are named."""

    files: int
    left_out: int
    rows: tuple[PassedOverRow, ...]
    going: int
    going_names: tuple[str, ...]
    coming: int
    coming_names: tuple[str, ...]
    unreadable: int = 0


def look_ahead(
    root: Root, exclude: Sequence[str], gitignore: bool, *, library: Path, cancel: CancelToken | None = None
) -> Ahead:
    """What these rules would leave out of the folder as it is now.

    Raises `RootError` when the folder cannot be read, `SettingError` for an impossible pattern, and `Cancelled`.
    """
    proposed = scan(Path(root.path), exclude=exclude, gitignore=gitignore, library=library, cancel=cancel)
    files = going = coming = 0
    going_names: list[str] = []
    coming_names: list[str] = []
    if (tuple(exclude), gitignore) == (root.exclude, root.gitignore):
        files = sum(1 for _ in proposed.files())
    else:
        held = scan(Path(root.path), exclude=root.exclude, gitignore=root.gitignore, library=library, cancel=cancel)
        for before, after in _beside(_paths(held.files()), _paths(proposed.files())):
            files += after is not None
            if after is None and before is not None:
                going += 1
                _name(going_names, before)
            elif before is None and after is not None:
                coming += 1
                _name(coming_names, after)
    passed = proposed.passed_over
    return Ahead(
        files,
        passed.excluded,
        passed.rules,
        going,
        tuple(going_names),
        coming,
        tuple(coming_names),
        len(passed.unreadable),
    )


def _paths(files: Iterable[tuple[str, os.stat_result]]) -> Iterator[str]:
    return (rel_path for rel_path, _ in files)


def _name(names: list[str], rel_path: str) -> None:
    if len(names) < MOST_NAMES:
        names.append(doc_name(rel_path))


def _beside(one: Iterator[str], other: Iterator[str]) -> Iterator[tuple[str | None, str | None]]:
    """Each path of two ascending runs, None on the side that does not have it."""
    left, right = next(one, None), next(other, None)
    while left is not None or right is not None:
        if left == right:
            yield left, right
            left, right = next(one, None), next(other, None)
        elif right is None or (left is not None and _bytes(left) < _bytes(right)):
            yield left, None
            left = next(one, None)
        else:
            yield None, right
            right = next(other, None)


def _bytes(rel_path: str) -> bytes:
    """What scans are in the order of."""
    try:
        return os.fsencode(rel_path)
    except UnicodeEncodeError:  # Windows names may hold surrogates that stand for no byte
        return rel_path.encode("utf-8", "surrogatepass")
