"""Why is this document, or this passage, not in the answer? And what would bring it in?

It is answered from the run itself and from a look further down the port's list with the same vector, on the same
state of the library: never from a second run that differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipeline.errors import QueryError
from pipeline.findings import Outcome, PassageFinding, Standing, Ways, WhyNot
from pipeline.lineup import Wanted
from pipeline.query import QueryEngine, ReadyQuestion
from pipeline.records import STAGE_NAMES, DocumentState, Evidence, Fate, Location, Trace, TracedCandidate
from pipeline.settings import Settings
from pipeline.store.catalog import ChunkRow
from pipeline.textkeys import fold
from pipeline.trace import left_out_by_choice
from pipeline.whatif import WhatIf

SEARCH = "search"  # the stage of what was not recalled
_OPENING = 160  # characters

_SETTING_OF_STAGE = {
    "near": "fold-near",
    "source": "policy",
    "cap": "max-chunks-per-document",
    "return": "return-n",
}
_FURTHEST: tuple[Outcome, ...] = ("projected", "cited", "fell", "not_recalled", "left_out", "other_file", "no_text")


def why_not(engine: QueryEngine, trace: Trace, doc_id: str, chunk_index: int | None = None) -> WhyNot:
    """Why this document of the library (or the one passage of it) is not in the answer `trace`, or how it is.

    Raises `QueryError` when the library has no such document or passage, or is not as it was when the answer was
    given; `LibraryError`, `ModelError`.
    """
    with engine.ready(
        trace.query,
        Settings(trace.settings),
        left_out=left_out_by_choice(trace),
        preferred=trace.preferred,
        only_document=trace.only_file,
        decisions=not trace.decisions_ignored,
    ) as question:
        found = question.reader.passages.state_of(doc_id)
        if found is None:
            raise QueryError(f"the library has no document {doc_id}")
        rows = question.reader.passages.of_document(doc_id)
        if chunk_index is not None:
            rows = [row for row in rows if row.location.chunk_index == chunk_index]
            if not rows:
                raise QueryError(f"{doc_id} has no passage {chunk_index}")
        what_if = WhatIf(question, Wanted(doc_id, chunk_index), rows)
        what_if.standings(question.settings)  # first: one look at the whole index serves all that follow
        _be_the_same(trace, question, what_if)
        return _why(trace, question, what_if, Wanted(doc_id, chunk_index), rows, found)


def _be_the_same(trace: Trace, question: ReadyQuestion, what_if: WhatIf) -> None:
    facts, then = question.reader.catalog.facts(), trace.library
    same = (facts.generation, facts.model, facts.chunks) == (then.generation, then.model, then.chunks)
    if same:
        now = what_if.chosen(question.settings).evidence
        same = [(block.evidence_key, block.score) for block in now] == [
            (block.evidence_key, block.score) for block in trace.evidence
        ]
    if not same:
        raise QueryError("the library has changed since this answer was given: ask the question again first")


def _why(
    trace: Trace,
    question: ReadyQuestion,
    what_if: WhatIf,
    wanted: Wanted,
    rows: Sequence[ChunkRow],
    found: tuple[DocumentState, str],
) -> WhyNot:
    state, reason = found
    standings = what_if.standings(question.settings)
    looked_at = [row for row in rows if _place(row.location) in standings]
    if not looked_at:
        looked_at = list(rows[:100])  # outside the one file that is searched, all stand nowhere
    looked_at.sort(key=lambda row: standings.get(_place(row.location), Standing()).rank or 0)
    texts = question.reader.catalog.texts({row.text_id for row in looked_at})
    answer = _Answer(trace, question)
    passages = tuple(
        answer.finding(row, standings.get(_place(row.location), Standing()), texts[row.text_id]) for row in looked_at
    )
    if not passages:
        nothing = f"it holds no passage to be found{f': {reason}' if reason else ''}"
        none = Ways(False, reason=nothing)
        return WhyNot(
            trace.query,
            wanted.doc_id,
            None,
            state,
            "no_text",
            nothing,
            None,
            None,
            (),
            0,
            evidence=none,
            projection=none,
        )
    best = min(passages, key=_how_far)
    evidence, projection = _ways(what_if, best, trace)
    return WhyNot(
        query=trace.query,
        doc_id=wanted.doc_id,
        chunk_index=wanted.chunk_index,
        state=state,
        outcome=best.outcome,
        sentence=best.sentence,
        stage=best.stage,
        setting=best.setting,
        passages=passages,
        passages_in_all=len(rows),
        evidence=evidence,
        projection=projection,
    )


def _ways(what_if: WhatIf, best: PassageFinding, trace: Trace) -> tuple[Ways, Ways]:
    """Into the evidence, and into the projection. What the user keeps out, no setting brings in."""
    if best.outcome == "other_file":
        none = Ways(
            False, reason=f"the search is confined to {trace.only_file}: search all files to have it considered"
        )
        return none, none
    if best.outcome == "left_out" and best.setting is None:
        decided = best.place.doc_id in trace.left_out_decided
        which = "every search by decision: take that back" if decided else "this search: take it back in"
        none = Ways(False, reason=f"it is left out of {which} to have it considered")
        return none, none
    return what_if.ways("evidence", best.setting), what_if.ways("projection", best.setting)


def _place(location: Location) -> tuple[str, int]:
    return (location.doc_id, location.chunk_index)


def _how_far(finding: PassageFinding) -> tuple[int, int, int]:
    stage = STAGE_NAMES.index(finding.stage) if finding.stage in STAGE_NAMES else -1
    return (_FURTHEST.index(finding.outcome), -stage, finding.standing.rank or 0)


class _Answer:
    """The answer that was given, looked up by passage."""

    def __init__(self, trace: Trace, question: ReadyQuestion) -> None:
        self._trace = trace
        self._left_out = question.scope().left_out
        self._chosen = question.left_out | question.decided.keys()
        self._by_key = {traced.candidate.evidence_key: traced for traced in reversed(trace.candidates)}
        self._by_text: dict[str, TracedCandidate] = {}
        for traced in trace.candidates:
            if traced.fate.name not in ("left_out", "orphaned"):
                self._by_text.setdefault(traced.candidate.fold_key, traced)
        self._citing: Mapping[str, Evidence] = {
            place.evidence_key: block for block in reversed(trace.evidence) for place in block.citations
        }
        self._received = {item.document_id for item in trace.projected}
        recalled = [t for t in trace.candidates if t.fate.stage not in ("identity", "left_out", "merge", "width")]
        self._last_recalled = recalled[-1].candidate.score if recalled else None
        self._last_block = trace.evidence[-1].score if trace.evidence else None

    def finding(self, row: ChunkRow, standing: Standing, text: str) -> PassageFinding:
        """What became of this chunk."""
        place, line = row.location, fold(text)
        opening = line[:_OPENING] + ("…" if len(line) > _OPENING else "")
        bare = PassageFinding(place, opening, standing, "not_recalled", "")
        only_file = self._trace.only_file
        if only_file is not None and only_file != place.doc_id:
            return replace(bare, outcome="other_file", sentence=f"the search is confined to {only_file}")
        if place.doc_id in self._left_out:
            return replace(
                bare,
                outcome="left_out",
                sentence=f"{place.doc_id} is left out: {self._left_out[place.doc_id]}",
                stage="left_out",
                setting=None if place.doc_id in self._chosen else "serve-stale",
            )
        carrier = self._carrier(row)
        if carrier is None or carrier.fate.stage == "width":
            return self._not_recalled(bare, carrier)
        fate = carrier.fate
        known = replace(
            bare, stage=fate.stage, fate=fate, carrier_rank=carrier.candidate.rank, setting=_setting_of(fate)
        )
        block = self._citing.get(place.evidence_key)
        if block is None:
            lacking = _lacking(self._last_block, standing)
            return replace(known, outcome="fell", sentence=_of(carrier, place, fate.reason), lacking=lacking)
        received = block.evidence_key in self._received
        said = _of(carrier, place, f"block {block.rank} cites it" if received else fate.reason)
        outcome: Outcome = "projected" if received else "cited"
        return replace(known, outcome=outcome, sentence=said, block=block.evidence_key)

    def _carrier(self, row: ChunkRow) -> TracedCandidate | None:
        """The candidate that decides for this chunk: its own, or under the rules of evidence that of an equal text,
        followed to the one that it went into."""
        found = self._by_key.get(row.location.evidence_key)
        if found is None and self._trace.policy == "evidence":
            found = self._by_text.get(row.fold_key)
        while found is not None and found.fate.name in ("collapsed", "merged"):
            found = self._trace.candidates[found.fate.numbers["rank"] - 1]
        return found

    def _not_recalled(self, bare: PassageFinding, carrier: TracedCandidate | None) -> PassageFinding:
        what = "text" if self._trace.policy == "evidence" else "hit"
        wanted = self._trace.settings["retrieve-k"].value
        standing = bare.standing
        return replace(
            bare,
            sentence=f"not recalled: it is {what} {standing.distinct_rank or 0:,} in the list (rank "
            f"{standing.rank or 0:,}), and retrieve-k is {wanted:,}",
            stage=SEARCH if carrier is None else "width",
            setting="retrieve-k",
            fate=carrier.fate if carrier is not None else None,
            carrier_rank=carrier.candidate.rank if carrier is not None else None,
            lacking=_lacking(self._last_recalled, standing),
        )


def _of(carrier: TracedCandidate, place: Location, said: str) -> str:
    """Whose fate it is, where the passage shares it with a copy."""
    if carrier.candidate.evidence_key == place.evidence_key:
        return said
    return f"its text is that of candidate {carrier.candidate.rank} ({carrier.candidate.evidence_key}): {said}"


def _setting_of(fate: Fate) -> str | None:
    """The setting that removed it."""
    if fate.name == "projected":
        return None
    named = fate.numbers.get("setting")
    return str(named) if named is not None else _SETTING_OF_STAGE.get(fate.stage)


def _lacking(last: float | None, standing: Standing) -> float | None:
    if last is None or standing.score is None:
        return None
    return max(0.0, round(last - standing.score, 6))
