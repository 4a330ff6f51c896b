"""How many passages are repeated in other documents, with what was said to be no duplicates not counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.duplicates.decided import Decided
from pipeline.store.duplicates import ChunkColumns, DocumentRow


class Apart:
    """Whether it was said of a set with both documents that they are no duplicates. Documents go by content key."""

    def __init__(self, decided: Decided) -> None:
        self._sets: dict[str, set[str]] = {}
        for key, contents in decided.declined.items():
            for content in contents:
                self._sets.setdefault(content, set()).add(key)

    def __bool__(self) -> bool:
        return bool(self._sets)

    def __contains__(self, content: str) -> bool:
        return content in self._sets

    def __call__(self, one: str, other: str) -> bool:
        return not self._sets.get(one, set()).isdisjoint(self._sets.get(other, ()))


def repeated_passages(chunks: ChunkColumns, documents: Sequence[DocumentRow], decided: Decided) -> int:
    """Passages (by document and folded text) that stand in an earlier document too, from which theirs was not said to
    be apart."""
    if not len(chunks.groups):
        return 0
    held = np.unique(np.stack([chunks.groups, chunks.documents], axis=1), axis=0)
    total = len(held) - len(np.unique(held[:, 0]))
    apart = Apart(decided)
    if not apart:
        return total
    content = {row.id: row.content_sha256 for row in documents}
    concerned = [row.id for row in documents if row.content_sha256 in apart]
    groups = np.unique(held[np.isin(held[:, 1], concerned), 0])
    if not len(groups):
        return total
    holders: dict[int, list[str]] = {}
    for group, row_id in held[np.isin(held[:, 0], groups)].tolist():
        holders.setdefault(group, []).append(content[row_id])
    for contents in holders.values():
        repeats = sum(
            any(not apart(one, other) for other in contents[:place]) for place, one in enumerate(contents) if place
        )
        total -= len(contents) - 1 - repeats
    return total
