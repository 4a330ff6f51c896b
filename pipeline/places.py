"""Where the program keeps its libraries unless told otherwise."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

LIBRARY_VARIABLE = "TWINSPECT_LIBRARY"


def default_library() -> Path:
    """`$TWINSPECT_LIBRARY`, else `library` in the user's data folder."""
    named = os.environ.get(LIBRARY_VARIABLE)
    return Path(named).expanduser() if named else _data_folder() / "library"


def sample_library() -> Path:
    """The library of the built-in sample, beside the user's own."""
    return _data_folder() / "sample"


def _data_folder() -> Path:
    return user_data_path("twinspect", appauthor=False)
