"""Where passages stand in the whole of a dense search's list, without making a hit of everything before them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from pipeline.findings import Standing
from pipeline.search.dense import DenseSearch
from pipeline.search.port import Question
from pipeline.store.catalog import Catalog, ChunkRow
from pipeline.store.passages import Passages
from pipeline.store.vectors import Ids

Place = tuple[str, int]  # doc_id, chunk_index


def standings(
    rows: Sequence[ChunkRow],
    question: Question,
    port: DenseSearch,
    catalog: Catalog,
    passages: Passages,
    *,
    left_out: Collection[str],
    by_text: bool,
    most: int = 100,
) -> dict[Place, Standing]:
    """The standing of the `most` best of these chunks, best first; of one state of the library.

    `by_text`: `distinct_rank` counts different texts, otherwise hits; in either case of served documents only. Chunks
    outside the one document that is searched stand nowhere.
    """
    ids, scores = port.all_texts(question)
    score_of = dict(zip(ids.tolist(), scores.tolist(), strict=True))
    reachable = [
        row for row in rows if question.only_document in (None, row.location.doc_id) and row.text_id in score_of
    ]
    reachable.sort(key=lambda row: (-score_of[row.text_id], row.location.doc_id, row.location.chunk_index))
    wanted = {_place(row): row for row in reachable[:most]}
    if not wanted:
        return {}
    wanted_folds = {row.fold_key for row in wanted.values()}
    counts = _Counts(ids, passages, question.only_document, left_out, by_text)
    # Only where a wanted text stands among others of equal score does their order among each other matter.
    bounds = np.array([0, *(np.flatnonzero(np.diff(scores)) + 1), len(ids)])
    groups = np.searchsorted(bounds, counts.positions(passages.texts_of(wanted_folds)), side="right") - 1
    close = [(int(bounds[group]), int(bounds[group + 1])) for group in np.unique(groups)]
    ordered: dict[int, list[ChunkRow]] = {}
    looked_into = [text_id for start, end in close for text_id in ids[start:end].tolist()]
    for row in catalog.chunk_rows(looked_into, -1, question.only_document):
        ordered.setdefault(row.text_id, []).append(row)

    place_of_text: dict[str, int] = {}
    found: dict[Place, tuple[int, int | None]] = {}
    for start, end in close:
        rank, place = counts.before(start)
        among = [row for text_id in ids[start:end].tolist() for row in ordered.get(text_id, ())]
        for row in sorted(among, key=_place):
            rank += 1
            served = row.location.doc_id not in left_out
            if served and not (by_text and (row.fold_key in place_of_text or counts.counted(row.fold_key, start))):
                place += 1
                place_of_text[row.fold_key] = place
            if _place(row) in wanted:
                found[_place(row)] = (rank, place if served else None)
    standing = {}
    for key, row in wanted.items():
        own_rank, own_place = found[key]
        if by_text and own_place is not None:
            own_place = place_of_text[row.fold_key]
        standing[key] = Standing(own_rank, own_place, score_of[row.text_id])
    return standing


def _place(row: ChunkRow) -> Place:
    return (row.location.doc_id, row.location.chunk_index)


class _Counts:
    """How much stands before a position of the list of texts: chunks, and what `retrieve-k` counts of them."""

    def __init__(
        self, ids: Ids, passages: Passages, only_document: str | None, left_out: Collection[str], by_text: bool
    ) -> None:
        self._order = np.argsort(ids)
        self._ids = ids
        if only_document is None:
            held = np.ones(len(ids), np.int64)
            self._put(held, passages.held_not_once())
        else:
            held = np.zeros(len(ids), np.int64)
            self._put(held, passages.held_by([only_document]))
        served = held.copy()
        out_of_reach = [doc_id for doc_id in left_out if only_document in (None, doc_id)]
        if out_of_reach:
            out = np.zeros(len(ids), np.int64)
            self._put(out, passages.held_by(out_of_reach))
            served -= out
        self._first: dict[str, int] = {}  # of the folded texts that several texts stand for: the first served one
        if by_text:
            served = np.minimum(served, 1)
            shared = passages.texts_that_fold_alike()
            for position, text_id in sorted((at, text_id) for text_id, at in self._located(shared)):
                fold_key = shared[text_id]
                if served[position] and self._first.setdefault(fold_key, position) != position:
                    served[position] = 0
        # A vector that no chunk holds is a hit all the same.
        self._ranks = np.concatenate(([0], np.cumsum(np.maximum(held, 1))))
        self._places = np.concatenate(([0], np.cumsum(served)))

    def positions(self, text_ids: Iterable[int]) -> list[int]:
        """Where these texts stand, as far as they stand in the list."""
        return [position for _, position in self._located(text_ids)]

    def _located(self, text_ids: Iterable[int]) -> list[tuple[int, int]]:
        keys = np.fromiter(text_ids, np.int64)
        if not len(keys) or not len(self._ids):
            return []
        places = np.minimum(np.searchsorted(self._ids, keys, sorter=self._order), len(self._ids) - 1)
        positions = self._order[places]
        there = self._ids[positions] == keys
        return list(zip(keys[there].tolist(), positions[there].tolist(), strict=True))

    def _put(self, counts: Ids, values: Mapping[int, int]) -> None:
        for text_id, position in self._located(values):
            counts[position] = values[text_id]

    def before(self, position: int) -> tuple[int, int]:
        return int(self._ranks[position]), int(self._places[position])

    def counted(self, fold_key: str, position: int) -> bool:
        """Whether an equal folded text stands before this position and counts there."""
        return self._first.get(fold_key, position) < position
