"""What can go wrong between a file and its text."""

from __future__ import annotations

from pipeline.errors import TwinspectError


class ExtractionFailed(TwinspectError):
    """One file has no text that we can give. `reason` is a plain sentence part for that file's row, `why` the kind of
    that reason for programs, one of `pipeline.records.WHYS`."""

    def __init__(self, reason: str, why: str = "damaged") -> None:
        super().__init__(reason)
        self.reason, self.why = reason, why


class ReaderUnavailable(TwinspectError):
    """The reading process does not start at all: no file is to blame."""
