"""Dense retrieval: one vector per equal text, answered as if every chunk had its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np

from pipeline.embed.port import Vectors
from pipeline.errors import QueryError
from pipeline.records import ChunkMetadata, Hit, IndexUse
from pipeline.search.port import Question
from pipeline.store.catalog import Catalog, ChunkRow, place_order
from pipeline.store.vectors import Ids, Scores, VectorIndex

REASON = "dense"
_REASONS = (REASON,)
_TEXTS_PER_STEP = 256
_TEXTS_AHEAD = 256
_DEEPER = 8  # times as deep, when more is asked for than the texts found so far hold
_WHOLE = 64  # times as many chunks as are asked for: a text held so often is read whole when it is asked for again
_AHEAD = 16  # times as many as are asked for are read of one that is held more often


_Shared = tuple[str, dict[str, Any], str]  # of all hits of a text: the vector's name, facts of the text, the text


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
    rows: dict[int, Sequence[ChunkRow]] = field(default_factory=dict)
    whole: set[int] = field(default_factory=set)  # texts all of whose rows are here
    texts: dict[int, str] = field(default_factory=dict)
    shared: dict[int, _Shared] = field(default_factory=dict)
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

    def reach(self, question: Question, texts: int) -> int:
        """All chunks of the first texts, and one for each that then lacks to `texts` different ones."""
        look = self._looked(question, texts)
        if look.only is not None:
            return texts
        self._count(look, look.ids.tolist())
        hits, lacking = 0, texts
        for _, members in _of_equal_score(look.ids, look.scores):
            if len(members) >= lacking:
                break
            hits += sum(look.counts[text_id] for text_id in members)
            lacking -= len(members)
        return hits + lacking

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
        ids, scores = look.ids[start:end], look.scores[start:end]
        self._count(look, ids.tolist())
        wanted = limit - look.settled
        needed: list[tuple[float, list[int]]] = []
        reached = 0
        for score, members in _of_equal_score(ids, scores):
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
        lists = [look.rows[text_id] for text_id in members if look.counts[text_id]]
        held: Sequence[ChunkRow] = lists[0] if len(lists) == 1 else sorted(chain(*lists), key=place_order)
        there = len(look.hits) - look.settled
        look.hits += [Hit(text_id, score, {}, None, _REASONS) for text_id in orphans[there:most]]
        known = max(0, there - len(orphans))
        end = None if most is None else max(known, most - len(orphans))
        shared = {text_id: self._shared(look, text_id) for text_id in members if look.counts[text_id]}
        for row in held[known:end]:
            name, facts, text = shared[row.text_id]
            look.hits.append(Hit(name, score, ChunkMetadata(row.location, facts), text, _REASONS))
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
            look.whole.update(few)
            look.rows.update(self._catalog.held(few) if look.only is None else self._of_document(few, look))

    def _of_document(self, text_ids: Sequence[int], look: _Look) -> dict[int, list[ChunkRow]]:
        rows: dict[int, list[ChunkRow]] = {text_id: [] for text_id in text_ids}
        for row in self._catalog.chunk_rows(text_ids, -1, look.only_document):
            rows[row.text_id].append(row)
        return rows

    def _shared(self, look: _Look, text_id: int) -> _Shared:
        """What all hits of this text share."""
        if text_id not in look.shared:
            row, limit = look.rows[text_id][0], self._token_limit
            facts = {
                "fold_key": row.fold_key,
                "text_sha256": row.text_sha256,
                "tokens": row.tokens,
                "tokens_seen": row.tokens if row.tokens is None or limit is None else min(row.tokens, limit),
            }
            # The content names the vector: row ids depend on the order of indexing, answers must not.
            look.shared[text_id] = (row.text_sha256[:16], facts, look.texts[text_id])
        return look.shared[text_id]


def _of_equal_score(ids: Ids, scores: Scores) -> Iterator[tuple[float, list[int]]]:
    """The texts of each score, best first. `scores` descend, both of shape (texts,)."""
    ranked = zip(scores.tolist(), ids.tolist(), strict=True)
    for score, group in groupby(ranked, key=itemgetter(0)):
        yield score, [text_id for _, text_id in group]
