"""What would be lost: passages that stand in no other served document."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from pipeline.duplicates.deciding import decided_in
from pipeline.duplicates.records import LostPassage
from pipeline.store.catalog import Catalog
from pipeline.store.duplicates import DuplicateCatalog
from pipeline.store.schema import open_for_reading


def passages_lost(
    library: Path, doc_ids: Collection[str], *, left_out: Collection[str] = ()
) -> tuple[LostPassage, ...]:
    """The passages of these documents that would stand in no other served document (by fold key) if these went, by
    doc_id and place; of a passage that several of them hold, the first. `left_out` names documents that are not
    served either. Stale and failed documents count as not served. Raises `LibraryError`."""
    with closing(open_for_reading(library)) as db:
        catalog = Catalog(db, library)
        with catalog.snapshot():
            rows = DuplicateCatalog(db, catalog).passages_only_in(doc_ids, left_out)
    return tuple(LostPassage(*row) for row in rows)


def lost_by_leaving_out(library: Path, doc_ids: Collection[str]) -> tuple[LostPassage, ...]:
    """What no search would find any more if these documents were left out as well. Raises `LibraryError`,
    `DecisionsError`."""
    already = decided_in(library).left_out
    return passages_lost(library, [each for each in doc_ids if each not in already], left_out=list(already))
