"""Hits become candidates: who they are, in which order, and which of them the catalog does not know."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pipeline.records import Candidate, Fate, Hit, SearchRound
from pipeline.select.outcome import Outcome
from pipeline.textkeys import fold_key, text_sha256


def _first(metadata: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        value = metadata.get(name)
        if value is not None:
            return value
    return None


def _whole(value: Any) -> int | None:
    """3 and "3" are the same index, 0 is one; anything else is none."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or value is None:
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
    # Vectors without a text are not twins of each other.
    known_key = hit.metadata.get("fold_key")
    return str(known_key or (fold_key(hit.text) if hit.text is not None else f"unknown:{hit.vector_id}"))


def _is_blank(hit: Hit) -> bool:
    return hit.text is not None and (not hit.text or hit.text.isspace())


def served_texts(hits: Sequence[Hit], left_out: Collection[str]) -> list[str]:
    """The fold key of each hit that is a chunk, has a text and is not of a document in `left_out`."""
    return [
        _fold_key_of(hit)
        for hit in hits
        if hit.text is not None and not _is_blank(hit) and not (left_out and _document_of(hit) in left_out)
    ]


def candidate_of(hit: Hit, rank: int = 0, search_round: int = 1) -> Candidate:
    """The hit with identity, read from its metadata under the names in use (`docId` or `doc_id`, ...)."""
    meta, text = hit.metadata, hit.text
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


def _order(candidate: Candidate) -> tuple[float, bool, str, int, str]:
    score = -math.inf if math.isnan(candidate.score) else candidate.score
    index = candidate.chunk_index if candidate.chunk_index is not None else -1
    return (-score, candidate.doc_id is None, candidate.doc_id or "", index, candidate.evidence_key)


def identify(hits: Sequence[Hit], rounds: Sequence[SearchRound]) -> tuple[Candidate, ...]:
    """Candidates in the total order (score descending, doc_id, chunk_index), ranked from 1.

    White space alone is no chunk: such hits become no candidate. A hit belongs to the first round that brought it.
    """
    found: list[Candidate] = []
    for position, hit in enumerate(hits):
        if _is_blank(hit):
            continue
        number = next((n for n, done in enumerate(rounds, start=1) if position < done.received), len(rounds) or 1)
        found.append(candidate_of(hit, search_round=number))
    found.sort(key=_order)
    return tuple(_ranked(candidate, rank) for rank, candidate in enumerate(found, start=1))


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
