"""Every failure that a user can meet, in words: what is so, and what to do about it."""

from __future__ import annotations


class TwinspectError(Exception):
    """Base of all expected failures. `str(error)` is one line that a user can read and act on."""


class SettingError(TwinspectError):
    """A setting that does not exist or whose value is impossible."""

    def __init__(self, key: str, value: object, allowed: str, source: str = "") -> None:
        where = f" ({source})" if source else ""
        super().__init__(f"setting {key!r}: {value!r} is not possible{where}; allowed: {allowed}")
        self.key, self.value, self.allowed, self.source = key, value, allowed, source


class LibraryError(TwinspectError):
    """The library cannot be opened or written."""


class LibraryLocked(LibraryError):
    """Another process is writing to this library."""


class LibraryTooNew(LibraryError):
    """The library was written by a newer version of the program."""


class LibraryDamaged(LibraryError):
    """`library.sqlite3` is not a readable library database."""


class ModelMismatch(LibraryError):
    """The library holds vectors of another model."""


class ModelError(TwinspectError):
    """The embedding model cannot be loaded or stopped answering."""


class RootError(TwinspectError):
    """A folder cannot be added, read or forgotten."""


class QueryError(TwinspectError):
    """The question cannot be asked as given."""


class TraceFileError(TwinspectError):
    """A saved trace cannot be read."""


class HistoryError(TwinspectError):
    """The history of a library cannot be read or written; answers do not need it."""


class DecisionsError(TwinspectError):
    """The decisions about duplicates cannot be read or written, or not as asked."""


class SavingError(TwinspectError):
    """A report would be written over a file of the user's."""


class TooManyDuplicates(TwinspectError):
    """More of the documents are duplicates than was allowed."""


class TrashError(TwinspectError):
    """Files cannot be moved to the trash; nothing was touched."""


class HistoryReadOnly(HistoryError):
    """Nothing can be written beside this library: its history can be read at most."""


class QuestionSetError(TwinspectError):
    """A file of questions cannot be read."""


class Cancelled(TwinspectError):
    """The user stopped the work; what was committed stays."""

    def __init__(self, message: str = "cancelled") -> None:
        super().__init__(message)
