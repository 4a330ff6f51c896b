"""Which of several documents is the best head of a family: by a stated rule, whatever the order of indexing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pipeline.duplicates.originals import lies_aside, plainness
from pipeline.duplicates.records import HeadRule
from pipeline.store.duplicates import DocumentRow

_DIGITS = re.compile(r"\d+")
Rank = tuple[object, ...]


def ranked(
    documents: Sequence[DocumentRow], rule: HeadRule, preferred: Collection[str], left_out: Collection[str]
) -> list[int]:
    """The documents' numbers, the best head first: preferred ones, then those that are served, then by the rule. What
    it leaves equal: what does not lie in a folder for backups, old versions, copies or exports, then the richer
    format, then the shorter path, then by doc_id. Documents with the same text are equally complete, however many
    blanks a format puts into it."""
    complete: dict[str, int] = {}
    for document in documents:
        if document.fold_key:
            complete[document.fold_key] = max(complete.get(document.fold_key, 0), document.characters)
    newest = _newest_of_series(documents) if rule == "newest" else {}

    def key(number: int) -> Rank:
        document = documents[number]
        path = (document.doc_id.count("/"), len(document.doc_id), document.doc_id)
        served = document.doc_id not in left_out and document.state in ("indexed", "no_text")
        original = (lies_aside(document.doc_id), plainness(document.kind))
        by_rule: Rank = ()
        if rule == "most_complete":
            by_rule = (-complete.get(document.fold_key or "", document.characters), *original)
        elif rule == "newest":
            series, numbers = _series(document.doc_id)
            by_rule = (-newest[series], series, tuple(-part for part in numbers), -document.mtime_ns, *original)
        elif rule == "preferred":
            by_rule = (document.doc_id,)
        return (document.doc_id not in preferred, not served, *by_rule, *path)

    return sorted(range(len(documents)), key=key)


def _series(doc_id: str) -> tuple[str, tuple[int, ...]]:
    """`guide-v10.md` -> (`guide-v#.md`, (10,)): files that differ in numbers alone are versions of one."""
    return _DIGITS.sub("#", doc_id), tuple(int(digits[:18]) for digits in _DIGITS.findall(doc_id))


def _newest_of_series(documents: Sequence[DocumentRow]) -> dict[str, int]:
    """The newest time of each series: its versions then stand together, whatever their own times."""
    newest: dict[str, int] = {}
    for document in documents:
        series, _ = _series(document.doc_id)
        newest[series] = max(newest.get(series, document.mtime_ns), document.mtime_ns)
    return newest
