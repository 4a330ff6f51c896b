"""Use case: library -> the documents that are copies, versions or parts of each other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from pipeline.duplicates.alike import alike_documents
from pipeline.duplicates.boilerplate import boilerplate, common, repeated, tells_enough
from pipeline.duplicates.decided import NOTHING_DECIDED, Decided
from pipeline.duplicates.ground import (
    FEWEST_SHINGLES,
    LEAST_SHARED,
    Ground,
    grouped,
)
from pipeline.duplicates.join import Pairs, no_pairs, pairs_sharing, pairs_since
from pipeline.duplicates.kept import KEPT_NAME, keep_pairs, kept_pairs
from pipeline.duplicates.making import Maker, folder_shares, in_order
from pipeline.duplicates.passages import near_passages
from pipeline.duplicates.records import DuplicateSettings, DuplicatesReport, Family, HeadRule
from pipeline.duplicates.repeats import repeated_passages
from pipeline.duplicates.runs import Run, boilerplate_of, common_runs
from pipeline.duplicates.sets import Sets, sets_of_kept
from pipeline.duplicates.shingles import packed
from pipeline.errors import LibraryError
from pipeline.progress import CancelToken, Progress, ProgressListener
from pipeline.store.catalog import Catalog
from pipeline.store.duplicates import DocumentRow, DuplicateCatalog
from pipeline.store.schema import open_for_reading
from pipeline.textkeys import fold_key

FamiliesListener = Callable[[Sequence[Family]], None]

_TELL_SECONDS = 0.3


def scan_library(
    library: Path,
    settings: DuplicateSettings = DuplicateSettings(),  # noqa: B008  # frozen
    *,
    decided: Decided = NOTHING_DECIDED,
    progress: ProgressListener | None = None,
    cancel: CancelToken | None = None,
    on_families: FamiliesListener | None = None,
) -> DuplicatesReport:
    """Every family of the library, costliest first; nothing of the library or of a file is changed.

    `on_families` gets families as they are found, from the thread that scans: a family that is told takes the place of
    every one told before that shares a document with it. What was found out about pairs of texts is kept beside the
    library, so that the next scan looks at what changed alone. Raises `LibraryError`, `Cancelled`.
    """
    return _Scan(library, settings, decided, progress, cancel or CancelToken(), on_families).run()


def at_least(
    report: DuplicatesReport,
    *,
    near: float | None = None,
    contained: float | None = None,
    head: HeadRule | None = None,
    decided: Decided | None = None,
) -> DuplicatesReport:
    """The same report under other thresholds, another rule for heads or newer decisions, without a new scan: equal to
    what a scan of that state with these settings would find, but for measured costs, which stay with families that are
    unchanged. None keeps what the report has. Raises `LibraryError` for a report that a file held, not a scan."""
    ground = report.ground
    if not isinstance(ground, Ground):
        raise LibraryError("this report holds no pairs: scan the library again to change its thresholds")
    settings = replace(
        report.settings,
        near=report.settings.near if near is None else near,
        contained=report.settings.contained if contained is None else contained,
        head=report.settings.head if head is None else head,
    )
    ground = ground if decided is None else replace(ground, decided=decided)
    with _opened(ground.library) as (_, rows):
        maker = Maker(ground, settings, ground.decided, _text_reader(ground.documents, rows))
        families = list(maker.all())
    costs = {family.key: family.cost for family in report.families}
    families = [replace(family, cost=costs.get(family.key)) for family in families]
    # What was said to be no duplicates takes nobody's place.
    gone = sum(costs[key] or 0.0 for key in ground.decided.declined if key in costs)
    return replace(
        report,
        settings=settings,
        families=in_order(families),
        folders=folder_shares(ground.documents, families),
        redundant_texts=repeated_passages(ground.chunks, ground.documents, ground.decided),
        declined=len(maker.declined),
        cost=None if report.cost is None else max(0.0, report.cost - gone),
        counts=_counts(families),
        ground=ground,
        near_texts=maker.near_texts,
    )


class _Scan:
    """One scan."""

    def __init__(
        self,
        library: Path,
        settings: DuplicateSettings,
        decided: Decided,
        progress: ProgressListener | None,
        cancel: CancelToken,
        on_families: FamiliesListener | None,
    ) -> None:
        self._library, self._settings, self._decided = library, settings, decided
        self._listener, self._cancel, self._on_families = progress, cancel, on_families
        self._runs: list[Run] = []
        self._began, self._told = time.perf_counter(), 0.0

    def run(self) -> DuplicatesReport:
        with _opened(self._library) as (catalog, rows), catalog.snapshot() as state:
            self._tell("reading the library")
            documents = self._with_keys(rows.documents(), rows)
            texts, keys, readable = grouped(documents)
            chunks = rows.chunk_columns()
            ground = Ground(
                self._library, state.generation, state.token, documents, texts, keys, readable,
                np.zeros(len(texts), np.int64), no_pairs(len(texts)), chunks, self._decided,
            )  # fmt: skip
            text_of = _text_reader(documents, rows)
            self._hand_out(Maker(ground, self._settings, self._decided, text_of, self._cancel).equal_only())
            ground, raw = self._compared(ground, rows)
            maker = Maker(ground, self._settings, self._decided, text_of, self._cancel)
            families = self._hand_out(maker.all(), "looking at what differs")
            keep_pairs(self._library / KEPT_NAME, keys, ground.sizes, raw, maker.used)
            ground = replace(ground, passages=near_passages(self._library, rows, self._read_passages, self._cancel))
            maker = Maker(ground, self._settings, self._decided, text_of, self._cancel)
            families = list(maker.all())
            family_of = {member.doc_id: place for place, family in enumerate(families) for member in family.members}
            by_row = {row.id: family_of[row.doc_id] for row in documents if row.doc_id in family_of}
            openings = rows.openings(repeated(chunks, by_row))
            if self._settings.with_alike:
                self._tell("comparing meanings")
                alike = alike_documents(rows, documents, self._settings.alike, by_row, ground, self._cancel)
                ground = replace(ground, alike=alike)
            facts = catalog.facts()
        repeats = boilerplate(documents, chunks, openings, by_row)
        return DuplicatesReport(
            library=str(self._library),
            generation=ground.generation,
            settings=self._settings,
            families=in_order(families),
            alike=ground.alike,
            boilerplate=(*boilerplate_of(self._runs, texts, documents, by_row, repeats), *repeats),
            folders=folder_shares(documents, families),
            documents=facts.documents,
            texts=facts.texts,
            chunks=facts.chunks,
            redundant_texts=repeated_passages(chunks, documents, self._decided),
            declined=len(maker.declined),
            seconds=round(time.perf_counter() - self._began, 3),
            counts=_counts(families),
            ground=ground,
            near_texts=maker.near_texts,
        )

    # --- what is read ---

    def _read_passages(self, number: int) -> None:
        self._tell("comparing passages", number)

    def _with_keys(self, documents: Sequence[DocumentRow], rows: DuplicateCatalog) -> list[DocumentRow]:
        """The documents with the keys of their texts, made now where the library does not keep them yet."""
        missing = [document.id for document in documents if document.chunks and not document.fold_key]
        made = {}
        for row_id, text in rows.texts(missing):
            self._cancel.check()
            made[row_id] = fold_key(text)
        return [replace(document, fold_key=made.get(document.id, document.fold_key)) for document in documents]

    def _sets(self, ground: Ground, rows: DuplicateCatalog) -> Sets:
        """The shingles of each text: kept ones, or made now."""
        asked = {ground.documents[held[0]].id: text for text, held in enumerate(ground.texts) if ground.readable[text]}
        kept: list[bytes] = [b""] * len(ground.texts)
        missing = []
        for number, (row_id, blob) in enumerate(rows.shingles(sorted(asked))):
            if blob is None:
                missing.append(row_id)
            else:
                kept[asked[row_id]] = blob
            self._tell("reading the library", number, len(asked))
        for number, (row_id, text) in enumerate(rows.texts(missing)):
            kept[asked[row_id]] = packed(text)
            self._tell("taking texts apart", number, len(missing))
        return sets_of_kept(kept)

    # --- what is compared ---

    def _compared(self, ground: Ground, rows: DuplicateCatalog) -> tuple[Ground, Pairs]:
        """The ground with its pairs, and the pairs as they are kept: with those that share boilerplate alone."""
        sets = self._sets(ground, rows)
        sizes = sets.sizes
        self._tell("comparing texts")
        long_enough = np.repeat(sizes >= FEWEST_SHINGLES, sizes)
        joined = sets if long_enough.all() else sets.only(long_enough)
        kept = kept_pairs(self._library / KEPT_NAME, ground.keys, sizes)
        pairs = None
        if kept is not None:
            pairs = pairs_since(joined, kept.pairs, ~kept.known, LEAST_SHARED, cancel=self._cancel)
        if pairs is None:
            pairs = pairs_sharing(joined, LEAST_SHARED, cancel=self._cancel)

        def text_of(text: int) -> str:
            return next((found for _, found in rows.texts([ground.documents[ground.texts[text][0]].id])), "")

        often = common(joined)
        telling = tells_enough(pairs, joined, often, text_of)
        self._runs = common_runs(joined, often, text_of)
        told = Pairs(pairs.small[telling], pairs.large[telling], pairs.shared[telling], pairs.crowded)
        differing = dict(kept.differing) if kept is not None else {}
        return replace(ground, sizes=sizes, pairs=told, differing=differing), pairs

    # --- telling ---

    def _hand_out(self, made: Iterator[Family], stage: str = "") -> list[Family]:
        families: list[Family] = []
        told, last = 0, time.perf_counter()
        for family in made:
            families.append(family)
            if stage:
                self._tell(stage, len(families))
            if self._on_families is not None and time.perf_counter() - last >= _TELL_SECONDS:
                self._on_families(families[told:])
                told, last = len(families), time.perf_counter()
        if self._on_families is not None and families[told:]:
            self._on_families(families[told:])
        return families

    def _tell(self, stage: str, done: int = 0, total: int = 0) -> None:
        self._cancel.check()
        now = time.perf_counter()
        if self._listener is not None and (now - self._told >= 0.1 or not done):
            self._told = now
            self._listener(Progress(stage, done, total, seconds=now - self._began))


def _counts(families: Sequence[Family]) -> dict[str, int]:
    return dict(Counter(str(member.tier) for family in families for member in family.members[1:]))


def _text_reader(documents: Sequence[DocumentRow], rows: DuplicateCatalog) -> Callable[[int], str | None]:
    """Texts by row id. A document that was read again since, with another text, has none."""
    keys = {document.id: document.fold_key for document in documents}

    def text_of(row_id: int) -> str | None:
        for _, text in rows.texts([row_id]):
            return text if fold_key(text) == keys[row_id] else None
        return None

    return text_of


@contextmanager
def _opened(library: Path) -> Iterator[tuple[Catalog, DuplicateCatalog]]:
    db = open_for_reading(library)
    try:
        catalog = Catalog(db, library)
        yield catalog, DuplicateCatalog(db, catalog)
    finally:
        db.close()
