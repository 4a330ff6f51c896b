"""The trace: collected by the run that makes the answer, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from pipeline.decoding import DecodingError, decoded, entries, entry
from pipeline.errors import TraceFileError
from pipeline.records import (
    Candidate,
    Evidence,
    Fate,
    Freshness,
    IndexUse,
    LibraryFacts,
    Location,
    NearTwin,
    ProjectedItem,
    SearchRound,
    SettingInForce,
    StageCount,
    StageName,
    Summary,
    Timings,
    Trace,
    TracedCandidate,
)
from pipeline.textkeys import text_sha256

TRACE_VERSION = 1
_SCOPE = ("left_out", "left_out_stale", "left_out_decided", "preferred", "preferred_decided")  # lists of doc_ids
HASH_MARK = "sha256:"  # what stands before a hash that takes the place of a text


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
        fates = self._fates
        return tuple(
            [
                TracedCandidate(
                    candidate,
                    fates[candidate.rank],
                    freshness.get(candidate.doc_id) if candidate.doc_id is not None else None,
                    twin_groups.get(candidate.fold_key),
                    near.get(candidate.rank, ()),
                )
                for candidate in candidates
            ]
        )


def settings_given(trace: Trace) -> dict[str, Any]:
    """The settings that somebody gave, by flag or file. Those that follow another one follow it again."""
    return {
        key: entry.value for key, entry in trace.settings.items() if entry.origin != "default" and entry.via is None
    }


def left_out_by_choice(trace: Trace) -> tuple[str, ...]:
    """The documents that this question left out; stale ones, and those of a decision, are left out of themselves."""
    by_themselves = {*trace.left_out_stale, *trace.left_out_decided}
    return tuple(doc_id for doc_id in trace.left_out if doc_id not in by_themselves)


def without_texts(trace: Trace) -> Trace:
    """The trace for those who may not share content: every text of a document is `sha256:` and its hash. The question
    and the names of files stay. A short text can be guessed from its hash."""
    if not trace.with_texts:
        return trace
    return replace(
        trace,
        with_texts=False,
        candidates=tuple(
            traced
            if traced.candidate.text is None
            else replace(traced, candidate=replace(traced.candidate, text=HASH_MARK + traced.candidate.text_sha256))
            for traced in trace.candidates
        ),
        evidence=tuple(replace(block, content=_hashed(block.content)) for block in trace.evidence),
        projected=tuple(replace(item, content=_hashed(item.content)) for item in trace.projected),
    )


def _hashed(text: str) -> str:
    return HASH_MARK + text_sha256(text)


def to_json(trace: Trace, *, with_texts: bool = True) -> dict[str, Any]:
    """The `Trace` as plain data, ready for `json.dumps`. Candidates' texts stand once each under `texts`; without
    texts, a hash stands in the place of each."""
    if not with_texts:
        trace = without_texts(trace)
    return {
        "trace_version": TRACE_VERSION,
        "with_texts": trace.with_texts,
        "query": trace.query,
        "query_tokens": trace.query_tokens,
        "query_tokens_seen": trace.query_tokens_seen,
        "policy": trace.policy,
        "only_file": trace.only_file,
        "left_out": list(trace.left_out),
        "left_out_stale": list(trace.left_out_stale),
        "left_out_decided": list(trace.left_out_decided),
        "preferred": list(trace.preferred),
        "preferred_decided": list(trace.preferred_decided),
        "decisions_ignored": trace.decisions_ignored,
        "settings": {
            key: {
                name: value for name, value in asdict(entry).items() if name in ("value", "origin") or value is not None
            }
            for key, entry in trace.settings.items()
        },
        "library": asdict(trace.library),
        "index": None if trace.index is None else asdict(trace.index),
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
        "timings_ms": asdict(trace.timings_ms),
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
        "doc_id": place.doc_id,
        "chunk_index": place.chunk_index,
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
        "fold_key": block.fold_key,
        "carrier_rank": block.carrier_rank,
        "places": block.places,
        "citations": [_citation(place) for place in block.citations],
    }


# --- back ---


def from_json(data: object) -> Trace:
    """The trace that `to_json` made this plain data of. Keys that it does not know are passed over.

    Raises `TraceFileError` when it is no trace, one of another version, or damaged.
    """
    if not isinstance(data, dict) or "trace_version" not in data:
        raise TraceFileError("this is not a trace of Twinspect: it names no trace_version")
    version = data["trace_version"]
    if type(version) is not int or version < 1:
        raise TraceFileError(f"this is not a trace of Twinspect: its trace_version is {version!r:.60}")
    if version > TRACE_VERSION:
        raise TraceFileError(
            f"the trace was written by a newer version of Twinspect (trace version {version}, this one knows "
            f"{TRACE_VERSION}): update Twinspect to open it"
        )
    try:
        trace = _trace(data)
        _check(trace)
    except DecodingError as error:
        raise TraceFileError(f"the trace is damaged: {error}") from error
    return trace


def _trace(data: dict[str, Any]) -> Trace:
    texts = decoded(dict[str, str], entry(data, "texts"), "texts")
    with_texts = decoded(bool, data.get("with_texts", True), "with_texts")
    for key, text in texts.items():
        if (text_sha256(text) if with_texts else text.removeprefix(HASH_MARK)) != key:
            raise DecodingError(f"texts: the text of {key[:16]!r} is another one")
    stages = [
        {"name": raw.get("name"), "status": raw.get("status"), "entered": raw.get("in"), "left": raw.get("out")}
        | {"dropped": raw.get("dropped")}
        for raw in entries(data, "stages")
    ]
    projected = [{"page": None} | raw for raw in entries(data, "projected")]
    scope = {key: data.get(key, []) for key in _SCOPE}
    return Trace(
        query=decoded(str, entry(data, "query"), "query"),
        policy=decoded(str, entry(data, "policy"), "policy"),
        settings=decoded(dict[str, SettingInForce], entry(data, "settings"), "settings"),
        library=decoded(LibraryFacts, entry(data, "library"), "library"),
        index=decoded(IndexUse | None, data.get("index"), "index"),
        rounds=decoded(tuple[SearchRound, ...], entry(data, "rounds"), "rounds"),
        candidates=tuple(
            _traced(raw, texts, f"candidates[{number}]") for number, raw in enumerate(entries(data, "candidates"))
        ),
        evidence=decoded(tuple[Evidence, ...], entry(data, "evidence"), "evidence"),
        projected=decoded(tuple[ProjectedItem, ...], projected, "projected"),
        stages=decoded(tuple[StageCount, ...], stages, "stages"),
        summary=decoded(Summary, entry(data, "summary"), "summary"),
        timings_ms=decoded(Timings, entry(data, "timings_ms"), "timings_ms"),
        only_file=decoded(str | None, data.get("only_file"), "only_file"),
        query_tokens=decoded(int | None, data.get("query_tokens"), "query_tokens"),
        query_tokens_seen=decoded(int | None, data.get("query_tokens_seen"), "query_tokens_seen"),
        with_texts=with_texts,
        decisions_ignored=decoded(bool, data.get("decisions_ignored", False), "decisions_ignored"),
        **{key: decoded(tuple[str, ...], value, key) for key, value in scope.items()},
    )


def _traced(raw: dict[str, Any], texts: Mapping[str, str], where: str) -> TracedCandidate:
    sha256 = decoded(str, entry(raw, "text_sha256", where), f"{where}.text_sha256")
    return TracedCandidate(
        decoded(Candidate, raw | {"text": texts.get(sha256)}, where),
        decoded(Fate, entry(raw, "fate", where), f"{where}.fate"),
        decoded(Freshness | None, raw.get("freshness"), f"{where}.freshness"),
        decoded(str | None, raw.get("twin_group"), f"{where}.twin_group"),
        decoded(tuple[NearTwin, ...], raw.get("near_twins", []), f"{where}.near_twins"),
    )


def _check(trace: Trace) -> None:
    """What the window and the comparison count on. Raises `DecodingError`."""
    ranks = [traced.candidate.rank for traced in trace.candidates]
    if ranks != list(range(1, len(ranks) + 1)):
        raise DecodingError("candidates: the ranks have gaps or are out of order")
    if [block.rank for block in trace.evidence] != list(range(1, len(trace.evidence) + 1)):
        raise DecodingError("evidence: the ranks have gaps or are out of order")
    if not all(1 <= block.carrier_rank <= len(ranks) for block in trace.evidence):
        raise DecodingError("evidence: a block comes from a candidate that is not there")
    if not {item.document_id for item in trace.projected} <= {block.evidence_key for block in trace.evidence}:
        raise DecodingError("projected: an item comes from a block that is not there")
    if not all(block.citations and block.source_paths for block in trace.evidence):
        raise DecodingError("evidence: a block cites nothing")
    if not trace.rounds or any(stage.entered != stage.left + stage.dropped for stage in trace.stages):
        raise DecodingError("stages: the numbers do not add up")
