"""Documents that this search leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.records import Candidate, Fate
from pipeline.select.outcome import Outcome


def leave_out(candidates: Sequence[Candidate], left_out: Mapping[str, str]) -> Outcome[Candidate]:
    """Drops candidates of the documents in `left_out` (doc_id -> why, in words)."""
    fates = {
        candidate.rank: Fate(
            "left_out",
            "left_out",
            f"{candidate.doc_id} is left out: {left_out[candidate.doc_id]}",
            numbers={"doc_id": candidate.doc_id, "why": left_out[candidate.doc_id]},
        )
        for candidate in candidates
        if candidate.doc_id is not None and candidate.doc_id in left_out
    }
    return Outcome(tuple(candidate for candidate in candidates if candidate.rank not in fates), fates)
