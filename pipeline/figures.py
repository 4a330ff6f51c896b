"""An answer in numbers, as histories, sets of questions and overviews show it."""

from __future__ import annotations

from pipeline.findings import Figures
from pipeline.records import Trace


def figures_of(trace: Trace) -> Figures:
    """The trace's figures. Stages that dropped nothing are left away."""
    summary = trace.summary
    return Figures(
        crowding=summary.crowding,
        distinct=summary.distinct,
        cited_files=summary.cited_files,
        returned=len(trace.evidence),
        items=len(trace.projected),
        dropped={stage.name: stage.dropped for stage in trace.stages if stage.dropped},
        ms=trace.timings_ms.total,
    )
