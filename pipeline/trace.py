"""The trace: collected by the run that makes the answer, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pipeline.records import (
    Candidate,
    Evidence,
    Fate,
    Freshness,
    Location,
    NearTwin,
    ProjectedItem,
    SearchRound,
    StageCount,
    StageName,
    Trace,
    TracedCandidate,
)

TRACE_VERSION = 1


class TraceCollector:
    """Handed into the query function, which tells it of every round, stage and fate as they happen."""

    def __init__(self) -> None:
        self.rounds: list[SearchRound] = []
        self.stages: list[StageCount] = []
        self._fates: dict[int, Fate] = {}

    def round(self, asked: int, received: int, distinct: int) -> None:
        self.rounds.append(SearchRound(asked, received, distinct))

    def stage(self, name: StageName, entered: int, left: int, fates: Mapping[int, Fate]) -> None:
        """One stage that ran. Raises AssertionError when it does not balance or decides a fate a second time."""
        if entered != left + len(fates):
            raise AssertionError(f"stage {name}: {entered} went in, {left} came out, {len(fates)} dropped")
        self.stages.append(StageCount(name, "done", entered, left, len(fates)))
        self.decided(fates)

    def skipped(self, name: StageName, entered: int) -> None:
        self.stages.append(StageCount(name, "skipped", entered, entered, 0))

    def decided(self, fates: Mapping[int, Fate]) -> None:
        """The fates of candidates by rank, each to be told exactly once."""
        twice = self._fates.keys() & fates.keys()
        if twice:
            raise AssertionError(f"candidates {sorted(twice)} have two fates")
        self._fates.update(fates)

    def traced(
        self,
        candidates: Sequence[Candidate],
        freshness: Mapping[str, Freshness],
        twin_groups: Mapping[str, str],
        near: Mapping[int, tuple[NearTwin, ...]],
    ) -> tuple[TracedCandidate, ...]:
        """Every candidate with its one fate. Raises KeyError for a candidate without one."""
        return tuple(
            TracedCandidate(
                candidate,
                self._fates[candidate.rank],
                freshness.get(candidate.doc_id) if candidate.doc_id is not None else None,
                twin_groups.get(candidate.fold_key),
                near.get(candidate.rank, ()),
            )
            for candidate in candidates
        )


def to_json(trace: Trace) -> dict[str, Any]:
    """The `Trace` as plain data, ready for `json.dumps`. Candidates' texts stand once each under `texts`."""
    return {
        "trace_version": TRACE_VERSION,
        "query": trace.query,
        "query_tokens": trace.query_tokens,
        "query_tokens_seen": trace.query_tokens_seen,
        "policy": trace.policy,
        "only_file": trace.only_file,
        "left_out": list(trace.left_out),
        "settings": {
            key: {
                name: value for name, value in asdict(entry).items() if name in ("value", "origin") or value is not None
            }
            for key, entry in trace.settings.items()
        },
        "library": asdict(trace.library),
        "rounds": [asdict(done) for done in trace.rounds],
        "candidates": [_candidate(traced) for traced in trace.candidates],
        "evidence": [_evidence(block) for block in trace.evidence],
        "projected": [projected_json(item) | _measures(item) for item in trace.projected],
        "stages": [
            {
                "name": stage.name,
                "status": stage.status,
                "in": stage.entered,
                "out": stage.left,
                "dropped": stage.dropped,
            }
            for stage in trace.stages
        ],
        "summary": asdict(trace.summary),
        "timings_ms": {name: round(value, 3) for name, value in asdict(trace.timings_ms).items()},
        "texts": {
            traced.candidate.text_sha256: traced.candidate.text
            for traced in trace.candidates
            if traced.candidate.text is not None
        },
    }


def projected_json(item: ProjectedItem) -> dict[str, Any]:
    """The item exactly as an agent receives it; `page` is absent where there is none."""
    page = {} if item.page is None else {"page": item.page}
    return {
        "document_id": item.document_id,
        "source": item.source,
        "also_in": list(item.also_in),
        **page,
        "content": item.content,
        "score": item.score,
        "hit_reasons": list(item.hit_reasons),
    }


def _measures(item: ProjectedItem) -> dict[str, Any]:
    return {"chars": item.chars, "tokens": item.tokens, "cut": item.cut}


def _candidate(traced: TracedCandidate) -> dict[str, Any]:
    candidate, fate = traced.candidate, traced.fate
    return {
        "rank": candidate.rank,
        "score": candidate.score,
        "evidence_key": candidate.evidence_key,
        "doc_id": candidate.doc_id,
        "chunk_index": candidate.chunk_index,
        "vector_id": candidate.vector_id,
        "source_path": candidate.source_path,
        "page_first": candidate.page_first,
        "page_last": candidate.page_last,
        "start": candidate.start,
        "end": candidate.end,
        "text_sha256": candidate.text_sha256,
        "fold_key": candidate.fold_key,
        "tokens": candidate.tokens,
        "tokens_seen": candidate.tokens_seen,
        "twin_group": traced.twin_group,
        "near_twins": [asdict(near) for near in traced.near_twins],
        "hit_reasons": list(candidate.hit_reasons),
        "freshness": traced.freshness,
        "round": candidate.round,
        "fate": {
            "name": fate.name,
            "stage": fate.stage,
            "into": fate.into,
            "reason": fate.reason,
            "numbers": dict(fate.numbers),
        },
    }


def _citation(place: Location) -> dict[str, Any]:
    return {
        "evidence_key": place.evidence_key,
        "path": place.path,
        "page_first": place.page_first,
        "page_last": place.page_last,
        "start": place.start,
        "end": place.end,
    }


def _evidence(block: Evidence) -> dict[str, Any]:
    return {
        "rank": block.rank,
        "evidence_key": block.evidence_key,
        "document_id": block.evidence_key,
        "doc_id": block.doc_id,
        "source_file": block.source_file,
        "source_path": block.source_path,
        "also_in": list(block.also_in),
        "source_files": list(block.source_files),
        "source_paths": list(block.source_paths),
        "page_first": block.page_first,
        "page_last": block.page_last,
        "content": block.content,
        "score": block.score,
        "hit_reasons": list(block.hit_reasons),
        "carrier_rank": block.carrier_rank,
        "places": block.places,
        "citations": [_citation(place) for place in block.citations],
    }
