"""Dense retrieval: one vector per equal text, answered as if every chunk had its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from pipeline.errors import QueryError
from pipeline.records import Hit
from pipeline.search.port import Question
from pipeline.store.catalog import Catalog, ChunkRow
from pipeline.store.vectors import VectorIndex

REASON = "dense"
_TEXTS_PER_LOOK = 256


class DenseSearch:
    """`KnowledgeSearchPort` over a vector index of texts and the catalog that knows which chunks hold them."""

    def __init__(self, index: VectorIndex, catalog: Catalog, token_limit: int | None = None) -> None:
        self._index = index
        self._catalog = catalog
        self._token_limit = token_limit

    def search(self, question: Question, limit: int) -> Sequence[Hit]:
        if question.vector is None:
            raise QueryError("the dense search needs the question's vector")
        only = None
        if question.only_document is not None:
            only = np.array(self._catalog.text_ids_of_document(question.only_document), np.int64)
        ids, scores = self._index.search(question.vector, limit, only)
        ranked = list(zip(ids.tolist(), scores.tolist(), strict=True))
        hits: list[Hit] = []
        position = 0
        while position < len(ranked) and len(hits) < limit:
            # Texts of equal score stay in one look: their chunks are ordered among each other by document.
            end = min(len(ranked), position + _TEXTS_PER_LOOK)
            while end < len(ranked) and ranked[end][1] == ranked[end - 1][1]:
                end += 1
            hits += self._hits(ranked[position:end], limit - len(hits), question.only_document)
            position = end
        return hits[:limit]

    def _hits(self, ranked: Sequence[tuple[int, float]], wanted: int, only: str | None) -> list[Hit]:
        """The first `wanted` hits of these texts (id and score, by descending score)."""
        counts = self._catalog.copy_counts([text_id for text_id, _ in ranked])
        needed: list[tuple[int, float]] = []
        reached = 0
        for _, group in groupby(ranked, key=lambda pair: pair[1]):
            if reached >= wanted:
                break
            members = list(group)
            needed += members
            reached += sum(counts.get(text_id, 1) for text_id, _ in members) if only is None else 0
        # A text held very often is read with a limit of its own, so that its copies cost no more than is asked for.
        crowded = {text_id for text_id, _ in needed if counts.get(text_id, 0) > wanted}
        rows: dict[int, list[ChunkRow]] = {}
        for row in self._catalog.chunk_rows([text_id for text_id, _ in needed if text_id not in crowded], -1, only):
            rows.setdefault(row.text_id, []).append(row)
        for text_id in crowded:
            rows[text_id] = self._catalog.chunk_rows([text_id], wanted, only)
        texts = self._catalog.texts([text_id for text_id, _ in needed])

        hits: list[Hit] = []
        for score, group in groupby(needed, key=lambda pair: pair[1]):
            held: list[ChunkRow] = []
            for text_id, _ in group:
                if text_id in counts:
                    held += rows.get(text_id, ())
                else:
                    hits.append(Hit(text_id, score, {}, None, (REASON,)))
            held.sort(key=lambda row: (row.location.doc_id, row.location.chunk_index))
            hits += (self._hit(row, score, texts[row.text_id]) for row in held)
            if len(hits) >= wanted:
                break
        return hits

    def _hit(self, row: ChunkRow, score: float, text: str) -> Hit:
        place = row.location
        seen = row.tokens if row.tokens is None or self._token_limit is None else min(row.tokens, self._token_limit)
        return Hit(
            # The content names the vector: row ids depend on the order of indexing, answers must not.
            vector_id=row.text_sha256[:16],
            score=score,
            metadata={
                "doc_id": place.doc_id,
                "chunk_index": place.chunk_index,
                "source_path": place.path,
                "page_first": place.page_first,
                "page_last": place.page_last,
                "start": place.start,
                "end": place.end,
                "fold_key": row.fold_key,
                "text_sha256": row.text_sha256,
                "tokens": row.tokens,
                "tokens_seen": seen,
            },
            text=text,
            reasons=(REASON,),
        )
