"""What can go wrong between a file and its text."""

from __future__ import annotations

from pipeline.errors import TwinspectError


class ExtractionFailed(TwinspectError):
    """One file has no text that we can give. `reason` is a plain sentence part for that file's row."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ReaderUnavailable(TwinspectError):
    """The reading process does not start at all: no file is to blame."""
