"""Hits become candidates: who they are, in which order, and which of them the catalog does not know."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from pipeline.records import Candidate, ChunkMetadata, Fate, Hit, SearchRound
from pipeline.select.outcome import Outcome
from pipeline.textkeys import fold_key, text_sha256


def _first(metadata: Mapping[str, Any], name: str, *others: str) -> Any:
    value = metadata.get(name)
    if value is not None:
        return value
    for other in others:
        value = metadata.get(other)
        if value is not None:
            return value
    return None


def _whole(value: Any) -> int | None:
    """3 and "3" are the same index, 0 is one; anything else is none."""
    if type(value) is int or value is None:
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def evidence_key(doc_id: str | None, chunk_index: int | None, vector_id: str | int | None, text_key: str) -> str:
    """`{doc_id}#chunk-{chunk_index}`, else `vector:{id}`, else `text:{first 16 hex of the fold key}`."""
    if doc_id is not None and chunk_index is not None:
        return f"{doc_id}#chunk-{chunk_index}"
    if vector_id is not None and vector_id != "":
        return f"vector:{vector_id}"
    return f"text:{text_key[:16]}"


def _document_of(hit: Hit) -> str | None:
    doc_id = _first(hit.metadata, "docId", "doc_id")
    return str(doc_id) if doc_id not in (None, "") else None


def _fold_key_of(hit: Hit) -> str:
    meta = hit.metadata
    if type(meta) is ChunkMetadata:
        return str(meta.text["fold_key"])
    # Vectors without a text are not twins of each other.
    known_key = hit.metadata.get("fold_key")
    return str(known_key or (fold_key(hit.text) if hit.text is not None else f"unknown:{hit.vector_id}"))


def served_texts(hits: Sequence[Hit], left_out: Collection[str]) -> list[str]:
    """The fold key of each hit that is a chunk, has a text and is not of a document in `left_out`."""
    return [
        _fold_key_of(hit)
        for hit in hits
        if (text := hit.text) and not text.isspace() and not (left_out and _document_of(hit) in left_out)
    ]


def candidate_of(hit: Hit, rank: int = 0, search_round: int = 1) -> Candidate:
    """The hit with identity, read from its metadata under the names in use (`docId` or `doc_id`, ...)."""
    meta, text = hit.metadata, hit.text
    if type(meta) is ChunkMetadata:
        return _of_library(hit, meta, rank, search_round)
    doc_id = _document_of(hit)
    chunk_index = _whole(_first(meta, "chunkIndex", "chunk_index"))
    fold = _fold_key_of(hit)
    page_first = _whole(_first(meta, "page_first", "pageFirst", "page"))
    page_last = _whole(_first(meta, "page_last", "pageLast"))
    return Candidate(
        rank=rank,
        score=hit.score,
        evidence_key=evidence_key(doc_id, chunk_index, hit.vector_id, fold),
        doc_id=doc_id,
        chunk_index=chunk_index,
        vector_id=hit.vector_id,
        source_path=str(_first(meta, "source_path", "sourcePath", "path", "source", "source_file") or doc_id or ""),
        text=text,
        fold_key=fold,
        text_sha256=str(meta.get("text_sha256") or text_sha256(text or "")),
        page_first=page_first,
        page_last=page_last if page_last is not None else page_first,
        start=_whole(meta.get("start")),
        end=_whole(meta.get("end")),
        hit_reasons=tuple(hit.reasons),
        round=search_round,
        tokens=_whole(meta.get("tokens")),
        tokens_seen=_whole(meta.get("tokens_seen")),
    )


def _of_library(hit: Hit, meta: ChunkMetadata, rank: int, search_round: int) -> Candidate:
    place, text = meta.place, meta.text
    return Candidate(
        rank,
        hit.score,
        place.evidence_key,
        place.doc_id,
        place.chunk_index,
        hit.vector_id,
        place.path,
        hit.text,
        text["fold_key"],
        text["text_sha256"],
        place.page_first,
        place.page_last if place.page_last is not None else place.page_first,
        place.start,
        place.end,
        hit.reasons,
        search_round,
        text["tokens"],
        text["tokens_seen"],
    )


def _order(candidate: Candidate) -> tuple[float, bool, str, int, str]:
    score = -math.inf if math.isnan(candidate.score) else candidate.score
    index = candidate.chunk_index if candidate.chunk_index is not None else -1
    return (-score, candidate.doc_id is None, candidate.doc_id or "", index, candidate.evidence_key)


def identify(hits: Sequence[Hit], rounds: Sequence[SearchRound]) -> tuple[Candidate, ...]:
    """Candidates in the total order (score descending, doc_id, chunk_index), ranked from 1.

    White space alone is no chunk: such hits become no candidate. A hit belongs to the first round that brought it.
    """
    found: list[Candidate] = []
    number, received = 1, [done.received for done in rounds]
    for position, hit in enumerate(hits):
        while number < len(received) and position >= received[number - 1]:
            number += 1
        if (text := hit.text) is None or (text and not text.isspace()):
            found.append(candidate_of(hit, len(found) + 1, number))
    if all(map(_in_order, found, islice(found, 1, None))):  # as a port gives them
        return tuple(found)
    found.sort(key=_order)
    return tuple(_ranked(candidate, rank) for rank, candidate in enumerate(found, start=1))


def _in_order(one: Candidate, other: Candidate) -> bool:
    """Whether one comes before the other in the total order; False for what takes more to tell."""
    if one.score > other.score:
        return True
    if one.score != other.score or one.doc_id is None or other.doc_id is None:
        return False
    if one.doc_id != other.doc_id:
        return one.doc_id < other.doc_id
    return one.chunk_index is not None and other.chunk_index is not None and one.chunk_index < other.chunk_index


def _ranked(candidate: Candidate, rank: int) -> Candidate:
    # dataclasses.replace costs five times as much, which shows with thousands of copies.
    object.__setattr__(candidate, "rank", rank)
    return candidate


def known(candidates: Sequence[Candidate]) -> Outcome[Candidate]:
    """Drops the candidates whose vector has no text in the catalog any more."""
    fates = {
        candidate.rank: Fate("orphaned", "identity", "the vector index knows it, the catalog does not: re-index")
        for candidate in candidates
        if candidate.text is None
    }
    return Outcome(tuple(candidate for candidate in candidates if candidate.rank not in fates), fates)
