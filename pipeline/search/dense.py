"""Dense retrieval: one vector per equal text, answered as if every chunk had its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from pipeline.embed.port import Vectors
from pipeline.errors import QueryError
from pipeline.records import ChunkMetadata, Hit, IndexUse
from pipeline.search.port import Question
from pipeline.store.catalog import Catalog, ChunkRow
from pipeline.store.vectors import Ids, Scores, VectorIndex

REASON = "dense"
_REASONS = (REASON,)
_TEXTS_PER_STEP = 256
_TEXTS_AHEAD = 256
_DEEPER = 8  # times as deep, when more is asked for than the texts found so far hold
_WHOLE = 64  # times as many chunks as are asked for: a text held so often is read whole when it is asked for again
_AHEAD = 16  # times as many as are asked for are read of one that is held more often


@dataclass(slots=True)
class _Look:
    """What was found for one question so far: the index's answer, `width` texts deep, what the catalog holds of them,
    and the hits made of it. Asked again for more, the port goes on from here."""

    vector: Vectors
    only_document: str | None
    only: Ids | None  # that document's texts
    width: int
    ids: Ids
    scores: Scores
    counts: dict[int, int] = field(default_factory=dict)  # chunks that hold a text; 0 for one that the catalog lacks
    rows: dict[int, list[ChunkRow]] = field(default_factory=dict)
    whole: set[int] = field(default_factory=set)  # texts all of whose rows are here
    texts: dict[int, str] = field(default_factory=dict)
    facts: dict[int, dict[str, Any]] = field(default_factory=dict)
    hits: list[Hit] = field(default_factory=list)  # of the first texts, in the total order
    settled: int = 0  # so many of the hits are of texts that gave all of theirs
    position: int = 0  # which are so many
    everything: tuple[Ids, Scores] | None = None


class DenseSearch:
    """`KnowledgeSearchPort` over a vector index of texts and the catalog that knows which chunks hold them.

    For one state of the library: it remembers what it has read for the last question.
    """

    def __init__(self, index: VectorIndex, catalog: Catalog, token_limit: int | None = None) -> None:
        self._index = index
        self._catalog = catalog
        self._token_limit = token_limit
        self._look: _Look | None = None

    @property
    def index(self) -> IndexUse:
        return IndexUse(self._index.kind, True, len(self._index))

    def search(self, question: Question, limit: int) -> Sequence[Hit]:
        look = self._looked(question, min(limit, _TEXTS_AHEAD))
        while len(look.hits) < limit:
            if look.position == len(look.ids):
                if look.width >= (len(self._index) if look.only is None else len(look.only)):
                    break
                # Far ahead: a scan costs the same for few texts as for many.
                self._deepen(look, max(look.width * _DEEPER, _TEXTS_AHEAD))
            else:
                self._go_on(look, limit)
        return look.hits[:limit]

    def all_texts(self, question: Question) -> tuple[Ids, Scores]:
        """Every text that the index holds (of the one document, where the search is confined to it), best first: ids
        and scores of shape (texts,), texts of equal score in no promised order."""
        look = self._looked(question, 1)
        if look.everything is None:
            size = max(1, len(self._index))
            if look.only is None:
                look.everything = self._index.everything(look.vector)
            else:
                look.everything = self._index.search(look.vector, size, look.only)
        return look.everything

    def _looked(self, question: Question, width: int) -> _Look:
        if question.vector is None:
            raise QueryError("the dense search needs the question's vector")
        look, only_document = self._look, question.only_document
        if look is None or look.vector is not question.vector or look.only_document != only_document:
            only = None
            if only_document is not None:
                only = np.array(self._catalog.text_ids_of_document(only_document), np.int64)
            found = self._index.search(question.vector, width, only)
            self._look = look = _Look(question.vector, only_document, only, width, *found)
        return look

    def _deepen(self, look: _Look, width: int) -> None:
        """Look deeper into the index: the same texts and more behind them, those of equal score together as before."""
        look.width = width
        look.ids, look.scores = self._index.search(look.vector, width, look.only)

    def _go_on(self, look: _Look, limit: int) -> None:
        """Make hits of the next texts, until there are `limit` of them or the next step is done."""
        start = look.position
        end = min(len(look.ids), start + _TEXTS_PER_STEP)
        # Texts of equal score stay in one step: their chunks are ordered among each other by document.
        end = int(np.searchsorted(-look.scores, -look.scores[end - 1], side="right"))
        ranked = list(zip(look.ids[start:end].tolist(), look.scores[start:end].tolist(), strict=True))
        self._count(look, [text_id for text_id, _ in ranked])
        wanted = limit - look.settled
        needed: list[tuple[float, list[int]]] = []
        reached = 0
        for score, group in groupby(ranked, key=itemgetter(1)):
            members = [text_id for text_id, _ in group]
            needed.append((score, members))
            reached += sum(look.counts[text_id] or 1 for text_id in members) if look.only is None else 0
            if reached >= wanted:
                break
        self._read(look, [text_id for _, members in needed for text_id in members], wanted)
        for score, members in needed:
            self._settle(look, score, members, limit)

    def _settle(self, look: _Look, score: float, members: Sequence[int], limit: int) -> None:
        """The hits of one group of texts, as far as they are not there yet; at least `limit` hits in all if the group
        has more chunks than were read."""
        complete = look.whole.issuperset(members)
        most = None if complete else limit - look.settled  # what the rows that were read tell for certain
        orphans = [text_id for text_id in members if not look.counts[text_id]]
        held = [row for text_id in members if look.counts[text_id] for row in look.rows[text_id]]
        if len(members) > 1:
            held.sort(key=lambda row: (row.location.doc_id, row.location.chunk_index))
        there = len(look.hits) - look.settled
        look.hits += [Hit(text_id, score, {}, None, _REASONS) for text_id in orphans[there:most]]
        known = max(0, there - len(orphans))
        end = None if most is None else max(known, most - len(orphans))
        texts, facts = look.texts, look.facts
        for text_id in members:
            if text_id not in facts and look.counts[text_id]:
                facts[text_id] = self._facts(look.rows[text_id][0])
        # The content names the vector: row ids depend on the order of indexing, answers must not.
        named = {text_id: facts[text_id]["text_sha256"][:16] for text_id in members if text_id in facts}
        look.hits += [
            Hit(
                named[row.text_id], score, ChunkMetadata(row.location, facts[row.text_id]), texts[row.text_id], _REASONS
            )
            for row in held[known:end]
        ]
        if complete:
            look.position += len(members)
            look.settled = len(look.hits)

    def _count(self, look: _Look, text_ids: Sequence[int]) -> None:
        unknown = [text_id for text_id in text_ids if text_id not in look.counts]
        if unknown:
            look.counts.update(dict.fromkeys(unknown, 0) | self._catalog.copy_counts(unknown))

    def _read(self, look: _Look, text_ids: Sequence[int], wanted: int) -> None:
        """Texts and at least the first `wanted` chunks that hold each, as far as they are not known yet."""
        unknown = [text_id for text_id in text_ids if text_id not in look.texts]
        if unknown:
            look.texts.update(self._catalog.texts(unknown))
        few = []
        for text_id in text_ids:
            count, known = look.counts[text_id], len(look.rows.get(text_id, ()))
            if text_id in look.whole or known >= min(count, wanted) > 0:
                continue
            if count <= (wanted * _WHOLE if known else wanted) or look.only is not None:
                few.append(text_id)
            else:
                # With a limit of its own, so that a text held very often costs little more than is asked for.
                most = wanted * _AHEAD if known else wanted
                look.rows[text_id] = self._catalog.chunk_rows([text_id], most, look.only_document)
                if len(look.rows[text_id]) >= count:
                    look.whole.add(text_id)
        if few:
            look.rows.update({text_id: [] for text_id in few})
            look.whole.update(few)
            for row in self._catalog.chunk_rows(few, -1, look.only_document):
                look.rows[row.text_id].append(row)

    def _facts(self, row: ChunkRow) -> dict[str, Any]:
        """What all copies of this chunk's text share."""
        seen = row.tokens if row.tokens is None or self._token_limit is None else min(row.tokens, self._token_limit)
        return {
            "fold_key": row.fold_key,
            "text_sha256": row.text_sha256,
            "tokens": row.tokens,
            "tokens_seen": seen,
        }
