"""What was decided about duplicates, as a scan and a search need it: no store, no words, only keys."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Decided:
    """The decisions as they fall on the documents of a library now (see `pipeline.duplicates.deciding.decided_in`).

    `preferred`, `left_out` (with when it was decided: UTC, ISO 8601) and `notes` go by doc_id: they are kept by content
    and follow a file that moves, but of two byte-identical copies only the one that was meant is preferred or left
    out. `declined` are the sets that were said not to be duplicates: a family's key and the content keys of its
    members; no two of one set are tied together again. `protected` holds absolute paths of folders, as the documents'
    paths spell them: nothing below them is proposed. `trashed` are documents that the library still knows and whose
    files went to the trash: where each lay.
    """

    preferred: frozenset[str] = frozenset()
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    declined: Mapping[str, frozenset[str]] = field(default_factory=dict)
    protected: tuple[str, ...] = ()
    trashed: Mapping[str, str] = field(default_factory=dict)

    def protects(self, path: str) -> bool:
        """Whether the file lies in a protected folder."""
        return any(lies_in(path, folder) for folder in self.protected)


NOTHING_DECIDED = Decided()


def lies_in(path: str, folder: str) -> bool:
    """Whether this path is below the folder, by their spelling alone."""
    return os.path.normcase(path).startswith(os.path.normcase(os.path.join(folder, "")))
