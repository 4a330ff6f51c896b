"""Two traces beside each other: what differs, and the first stage at which they part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pipeline.findings import At, BlockAt, CandidateAt, Comparison, Difference, ItemAt, Unlike
from pipeline.records import STAGE_NAMES, Evidence, Trace
from pipeline.settings import Settings
from pipeline.textkeys import text_sha256
from pipeline.trace import HASH_MARK, left_out_by_choice

if TYPE_CHECKING:
    from pipeline.query import QueryEngine

# Scores are given at 4 decimals. Another processor may round the last one otherwise, which changes nothing.
_DUST = 0.00015

Key = tuple[Any, ...]
Item = TypeVar("Item")


def compare(before: Trace, after: Trace) -> Comparison:
    """What differs between two answers. `compare(b, a) == compare(a, b).mirrored()`."""
    candidates = _paired(_candidates(before), _candidates(after))
    blocks = _paired_blocks(before, after)
    items = _paired(_items(before), _items(after))
    return Comparison(
        question=Unlike("question", before.query, after.query) if before.query != after.query else None,
        settings=_unlike(_values(before), _values(after)),
        scope=_unlike(_scope(before), _scope(after)),
        library=_unlike(_library(before), _library(after)),
        candidates=_changed(candidates),
        blocks=_changed(blocks),
        items=_changed(items),
        same_candidates=_same(candidates),
        same_blocks=_same(blocks),
        same_items=_same(items),
        parts_at=_parting(before, after),
    )


def rerun_difference(saved: Trace, engine: QueryEngine) -> Comparison:
    """The saved trace against the same question, asked now, under its settings, of its documents.

    Raises `QueryError`, `SettingError` (a setting that this version does not know), `LibraryError`, `ModelError`.
    """
    return compare(saved, ask_again(saved, engine))


def ask_again(saved: Trace, engine: QueryEngine) -> Trace:
    """The saved trace's question, settings and scope, asked now. Raises as `rerun_difference` does."""
    settings = Settings(saved.settings).with_flags({})  # checks them against what this version knows
    return engine.ask(
        saved.query,
        settings,
        left_out=left_out_by_choice(saved),
        preferred=saved.preferred,
        only_document=None if saved.only_file is None else engine.doc_id_of(saved.only_file),
        decisions=not saved.decisions_ignored,
    )


# --- what differs ---


def _numbered(items: Iterable[Item], name_of: Callable[[Item], Any]) -> dict[Key, Item]:
    """By name and how often the name came before: the same chunk may stand in a list twice."""
    seen: Counter[Any] = Counter()
    found = {}
    for item in items:
        name = name_of(item)
        found[(name, seen[name])] = item
        seen[name] += 1
    return found


def _candidates(trace: Trace) -> dict[Key, CandidateAt]:
    return _numbered(
        (
            CandidateAt(
                traced.candidate.evidence_key,
                traced.candidate.source_path,
                traced.candidate.rank,
                traced.candidate.score,
                traced.candidate.text_sha256,
                traced.fate.name,
                traced.fate.stage,
            )
            for traced in trace.candidates
        ),
        lambda at: at.evidence_key,
    )


def _items(trace: Trace) -> dict[Key, ItemAt]:
    return _numbered(
        (
            ItemAt(item.document_id, item.source, rank, item.chars, item.cut, _content_sha256(item.content, trace))
            for rank, item in enumerate(trace.projected, start=1)
        ),
        lambda at: at.evidence_key,
    )


def _content_sha256(content: str, trace: Trace) -> str:
    return text_sha256(content) if trace.with_texts else content.removeprefix(HASH_MARK)


def _paired(before: Mapping[Key, At], after: Mapping[Key, At]) -> list[Difference[At]]:
    return [Difference(before.get(key), after.get(key)) for key in before.keys() | after.keys()]


def _paired_blocks(before: Trace, after: Trace) -> list[Difference[BlockAt]]:
    """Blocks by their key; what is left by its text, which another copy may represent now."""
    ours = _numbered(before.evidence, lambda block: block.evidence_key)
    theirs = _numbered(after.evidence, lambda block: block.evidence_key)
    left = _numbered((ours[key] for key in ours if key not in theirs), lambda block: block.fold_key)
    right = _numbered((theirs[key] for key in theirs if key not in ours), lambda block: block.fold_key)
    pairs = [(ours[key], theirs[key]) for key in ours.keys() & theirs.keys()]
    others = [(left.get(key), right.get(key)) for key in left.keys() | right.keys()]
    return [Difference(_block(mine, before), _block(other, after)) for mine, other in (*pairs, *others)]


def _block(block: Evidence | None, trace: Trace) -> BlockAt | None:
    if block is None:
        return None
    cites = tuple(place.evidence_key for place in block.citations)
    content = _content_sha256(block.content, trace)
    return BlockAt(block.evidence_key, block.source_path, block.rank, block.score, content, cites)


def _changed(pairs: Sequence[Difference[At]]) -> tuple[Difference[At], ...]:
    """What differs, in rank order: an order that does not change when the sides change places."""

    def order(pair: Difference[At]) -> Key:
        ranks = sorted(side.rank for side in (pair.before, pair.after) if side is not None)
        keys = sorted(side.evidence_key for side in (pair.before, pair.after) if side is not None)
        return (ranks[0], ranks[-1], keys)

    return tuple(sorted((pair for pair in pairs if pair.change != "same"), key=order))


def _same(pairs: Sequence[Difference[At]]) -> int:
    return sum(pair.change == "same" for pair in pairs)


def _unlike(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Unlike, ...]:
    names = sorted(before.keys() | after.keys())
    return tuple(
        Unlike(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )


def _values(trace: Trace) -> dict[str, Any]:
    return {key: entry.value for key, entry in trace.settings.items()}


def _scope(trace: Trace) -> dict[str, Any]:
    return {
        "only-file": trace.only_file,
        "left-out": trace.left_out,
        "preferred": trace.preferred,
        "preferred by decision": trace.preferred_decided,
        "decisions ignored": trace.decisions_ignored,
    }


def _library(trace: Trace) -> dict[str, Any]:
    facts = trace.library
    return {
        "path": facts.path,
        "generation": facts.generation,
        "model": facts.model,
        "dimension": facts.dimension,
        "documents": facts.documents,
        "chunks": facts.chunks,
        "texts": facts.texts,
    }


# --- where they part ---


def _parting(before: Trace, after: Trace) -> str | None:
    if before.query != after.query:
        return "question"
    if not _same_hits(before, after):
        return "search"
    for stage in STAGE_NAMES:
        if _decided(before, stage) != _decided(after, stage) or (
            stage == "collapse" and _shown(before, after) != _shown(after, before)
        ):
            return stage
    if _items(before) != _items(after):
        return "pack"
    return None


def _same_hits(before: Trace, after: Trace) -> bool:
    return len(before.candidates) == len(after.candidates) and all(
        one.candidate.evidence_key == other.candidate.evidence_key
        and one.candidate.text_sha256 == other.candidate.text_sha256
        and abs(one.candidate.score - other.candidate.score) < _DUST
        for one, other in zip(before.candidates, after.candidates, strict=True)
    )


def _decided(trace: Trace, stage: str) -> dict[int, tuple[str, str | None]]:
    """The candidates whose fate this stage decided (by rank, the same in both once the hits are), and what it is."""
    return {
        traced.candidate.rank: (traced.fate.name, traced.fate.into)
        for traced in trace.candidates
        if traced.fate.stage == stage
    }


def _shown(trace: Trace, other: Trace) -> dict[int, BlockAt | None]:
    """The blocks here of the candidates that became blocks in both: which copy stands for them, and what they cite."""
    shared = {block.carrier_rank for block in other.evidence}
    return {
        block.carrier_rank: _block(replace(block, rank=0), trace)
        for block in trace.evidence
        if block.carrier_rank in shared
    }
