"""The three policies on the same hits, and what each would have given the agent."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pipeline.findings import PolicyAnswer
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.selection import retrieve
from pipeline.settings import POLICIES, Settings


def policies_on_same_hits(
    engine: QueryEngine,
    text: str,
    settings: Settings,
    *,
    left_out: Collection[str] = (),
    preferred: Collection[str] = (),
    only_document: str | None = None,
    decisions: bool = True,
) -> tuple[PolicyAnswer, ...]:
    """The answers of `plain`, `source` and `evidence`, in this order, to one retrieval: the one of `evidence`, which
    asks for the most. The other two use the head of it, as they would have asked for no more, and their traces show
    the rest as not needed. Raises as `QueryEngine.ask` does.
    """
    scope: dict[str, Any] = {"left_out": left_out, "preferred": preferred, "only_document": only_document}
    with engine.ready(text, settings, **scope, decisions=decisions) as question:
        widest = settings.with_flags({"policy": "evidence"})
        retrieved = retrieve(question.question, question.port, widest, question.scope(widest))
        return tuple(
            policy_answer(question.answer(settings.with_flags({"policy": policy}), retrieved)) for policy in POLICIES
        )


def policy_answer(trace: Trace) -> PolicyAnswer:
    """What the agent receives of this answer, in numbers."""
    blocks = {block.evidence_key: block for block in trace.evidence}
    received = [blocks[item.document_id] for item in trace.projected]
    distinct = len({block.fold_key for block in received})
    return PolicyAnswer(
        policy=trace.policy,
        trace=trace,
        items=len(received),
        distinct=distinct,
        crowding=(len(received) - distinct) / len(received) if received else 0.0,
        cited_files=len({path for block in received for path in block.source_paths}),
        chars=trace.summary.budget.chars,
        tokens=trace.summary.budget.tokens,
    )
