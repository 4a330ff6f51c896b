"""Where passages stand in the whole of a dense search's list, without making a hit of everything before them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from pipeline.findings import Standing
from pipeline.search.dense import DenseSearch
from pipeline.search.port import Question
from pipeline.store.catalog import Catalog, ChunkRow
from pipeline.store.passages import Passages

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

    fold_of = passages.fold_keys()
    held = passages.held(question.only_document)
    out = passages.held_by(left_out) if left_out else {}
    wanted_folds = {row.fold_key for row in wanted.values()}
    # Only where a wanted text stands among others of equal score does their order among each other matter.
    bounds = [0, *(np.flatnonzero(np.diff(scores)) + 1).tolist(), len(ids)]
    groups = [ids[start:end].tolist() for start, end in pairwise(bounds)]
    close = [any(fold_of.get(text_id) in wanted_folds for text_id in group) for group in groups]
    ordered: dict[int, list[ChunkRow]] = {}
    looked_into = [text_id for group, is_close in zip(groups, close, strict=True) if is_close for text_id in group]
    for row in catalog.chunk_rows(looked_into, -1, question.only_document):
        ordered.setdefault(row.text_id, []).append(row)

    rank = place = 0
    seen: set[str] = set()
    place_of_text: dict[str, int] = {}
    found: dict[Place, tuple[int, int | None]] = {}
    for group, is_close in zip(groups, close, strict=True):
        if not is_close:
            for text_id in group:
                count = held.get(text_id, 0)
                rank += count or 1  # a vector that no chunk holds is a hit all the same
                served = count - out.get(text_id, 0)
                if not by_text:
                    place += served
                elif served and fold_of[text_id] not in seen:
                    seen.add(fold_of[text_id])
                    place += 1
            continue
        for row in sorted((row for text_id in group for row in ordered.get(text_id, ())), key=_place):
            rank += 1
            served = row.location.doc_id not in left_out
            if served and (not by_text or row.fold_key not in seen):
                seen.add(row.fold_key)
                place += 1
                place_of_text.setdefault(row.fold_key, place)
            if _place(row) in wanted:
                found[_place(row)] = (rank, place if served else None)
        rank += sum(1 for text_id in group if text_id not in held)
        if len(found) == len(wanted) and not (by_text and any(fold not in seen for fold in wanted_folds)):
            break
    standing = {}
    for key, row in wanted.items():
        own_rank, own_place = found[key]
        if by_text and own_place is not None:
            own_place = place_of_text[row.fold_key]
        standing[key] = Standing(own_rank, own_place, score_of[row.text_id])
    return standing


def _place(row: ChunkRow) -> Place:
    return (row.location.doc_id, row.location.chunk_index)
