"""Files that belong to the program itself, such as its sample: in whatever library, they stay where they are."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

Identity = tuple[int, int]  # device and inode: a folder is the same under every spelling of its path

# .../pipeline/duplicates/own_files.py: what holds `pipeline` holds `app` and `resources`, too.
_INSTALLATION = Path(__file__).resolve().parents[2]


def is_programs_own(path: str) -> bool:
    """Whether the file lies below the folder that the program is installed in, by whatever way the path leads there."""
    own = _folders()
    return any(_identity(folder) in own for folder in Path(os.path.realpath(path)).parents)


@cache
def _folders() -> frozenset[Identity]:
    """The installation, and where a packaged program unpacks itself."""
    unpacked = getattr(sys, "_MEIPASS", "")
    places = (_INSTALLATION, *([Path(unpacked)] if unpacked else []))
    return frozenset(found for place in places if (found := _identity(place)) is not None)


def _identity(folder: Path) -> Identity | None:
    try:
        facts = os.stat(folder)
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino)
