"""Dense retrieval: one vector per equal text, answered as if every chunk had its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from pipeline.embed.port import Vectors
from pipeline.errors import QueryError
from pipeline.records import Hit
from pipeline.search.port import Question
from pipeline.store.catalog import Catalog, ChunkRow
from pipeline.store.vectors import Ids, Scores, VectorIndex

REASON = "dense"
_TEXTS_PER_STEP = 256
_TEXTS_AHEAD = 1024


@dataclass(slots=True)
class _Look:
    """What was found for one question so far: the index's answer, `width` texts deep, and what the catalog holds of
    them. Asked again for more, the port goes on from here."""

    vector: Vectors
    only_document: str | None
    width: int
    ids: Ids
    scores: Scores
    counts: dict[int, int] = field(default_factory=dict)  # chunks that hold a text; 0 for one that the catalog lacks
    rows: dict[int, list[ChunkRow]] = field(default_factory=dict)
    whole: set[int] = field(default_factory=set)  # texts all of whose rows are here
    texts: dict[int, str] = field(default_factory=dict)

    def first(self, limit: int) -> list[tuple[int, float]]:
        """The best `limit` texts (id and score) and all that score as the last of them."""
        keep = len(self.scores)
        if 0 < limit < keep:
            keep = int(np.sum(self.scores >= self.scores[limit - 1]))
        return list(zip(self.ids[:keep].tolist(), self.scores[:keep].tolist(), strict=True))


class DenseSearch:
    """`KnowledgeSearchPort` over a vector index of texts and the catalog that knows which chunks hold them.

    For one state of the library: it remembers what it has read for the last question.
    """

    def __init__(self, index: VectorIndex, catalog: Catalog, token_limit: int | None = None) -> None:
        self._index = index
        self._catalog = catalog
        self._token_limit = token_limit
        self._look: _Look | None = None

    def search(self, question: Question, limit: int) -> Sequence[Hit]:
        if question.vector is None:
            raise QueryError("the dense search needs the question's vector")
        look = self._looked(question.vector, question.only_document, limit)
        ranked = look.first(limit)
        hits: list[Hit] = []
        position = 0
        while position < len(ranked) and len(hits) < limit:
            # Texts of equal score stay in one step: their chunks are ordered among each other by document.
            end = min(len(ranked), position + _TEXTS_PER_STEP)
            while end < len(ranked) and ranked[end][1] == ranked[end - 1][1]:
                end += 1
            hits += self._hits(look, ranked[position:end], limit - len(hits))
            position = end
        return hits[:limit]

    def all_texts(self, question: Question) -> tuple[Ids, Scores]:
        """Every text that the index holds (of the one document, where the search is confined to it), best first: ids
        and scores of shape (texts,), texts of equal score in no promised order."""
        if question.vector is None:
            raise QueryError("the dense search needs the question's vector")
        look = self._looked(question.vector, question.only_document, max(1, len(self._index)))
        return look.ids, look.scores

    def _looked(self, vector: Vectors, only_document: str | None, limit: int) -> _Look:
        """At least `limit` texts deep into the index."""
        last, width = self._look, limit
        if last is not None and last.vector is vector and last.only_document == only_document:
            if limit <= last.width:
                return last
            # The port is asked for more: look far ahead, for a scan costs the same for few texts as for many.
            width = max(limit, _TEXTS_AHEAD)
        else:
            last = None
        only = None
        if only_document is not None:
            only = np.array(self._catalog.text_ids_of_document(only_document), np.int64)
        self._look = look = _Look(vector, only_document, width, *self._index.search(vector, width, only))
        if last is not None:
            look.counts, look.rows, look.whole, look.texts = last.counts, last.rows, last.whole, last.texts
        return look

    def _hits(self, look: _Look, ranked: Sequence[tuple[int, float]], wanted: int) -> list[Hit]:
        """The first `wanted` hits of these texts (id and score, by descending score)."""
        self._count(look, [text_id for text_id, _ in ranked])
        needed: list[tuple[int, float]] = []
        reached = 0
        for _, group in groupby(ranked, key=lambda pair: pair[1]):
            if reached >= wanted:
                break
            members = list(group)
            needed += members
            reached += sum(look.counts[text_id] or 1 for text_id, _ in members) if look.only_document is None else 0
        self._read(look, [text_id for text_id, _ in needed], wanted)

        hits: list[Hit] = []
        for score, group in groupby(needed, key=lambda pair: pair[1]):
            held: list[ChunkRow] = []
            for text_id, _ in group:
                if look.counts[text_id]:
                    held += look.rows[text_id]
                else:
                    hits.append(Hit(text_id, score, {}, None, (REASON,)))
            held.sort(key=lambda row: (row.location.doc_id, row.location.chunk_index))
            hits += (self._hit(row, score, look.texts[row.text_id]) for row in held)
            if len(hits) >= wanted:
                break
        return hits

    def _count(self, look: _Look, text_ids: Sequence[int]) -> None:
        unknown = [text_id for text_id in text_ids if text_id not in look.counts]
        if unknown:
            look.counts.update(dict.fromkeys(unknown, 0) | self._catalog.copy_counts(unknown))

    def _read(self, look: _Look, text_ids: Sequence[int], wanted: int) -> None:
        """Texts and the first `wanted` chunks that hold each, as far as they are not known yet."""
        unknown = [text_id for text_id in text_ids if text_id not in look.texts]
        if unknown:
            look.texts.update(self._catalog.texts(unknown))
        few = []
        for text_id in text_ids:
            count = look.counts[text_id]
            if text_id in look.whole or len(look.rows.get(text_id, ())) >= min(count, wanted):
                continue
            if count <= wanted:
                few.append(text_id)
            else:
                # With a limit of its own, so that a text held very often costs no more than is asked for.
                look.rows[text_id] = self._catalog.chunk_rows([text_id], wanted, look.only_document)
        if few:
            look.rows.update({text_id: [] for text_id in few})
            look.whole.update(few)
            for row in self._catalog.chunk_rows(few, -1, look.only_document):
                look.rows[row.text_id].append(row)

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
