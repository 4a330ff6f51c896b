"""The first `retrieve-k` different texts; and whether that many have been found yet."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.records import Candidate, Fate
from pipeline.select.outcome import Outcome


def distinct_texts(candidates: Sequence[Candidate]) -> int:
    """How many different fold keys the candidates hold."""
    return len({candidate.fold_key for candidate in candidates})


def first_distinct(candidates: Sequence[Candidate], retrieve_k: int) -> Outcome[Candidate]:
    """Keeps the candidates of the first `retrieve_k` different texts, and every further copy of those texts.

    The rest came with widening and is not needed: it would not have been asked for, had there been no copies.
    """
    places: dict[str, int] = {}
    kept: list[Candidate] = []
    fates: dict[int, Fate] = {}
    for candidate in candidates:
        place = places.get(candidate.fold_key)
        if place is None:
            place = places[candidate.fold_key] = len(places) + 1
        if place <= retrieve_k:
            kept.append(candidate)
        else:
            fates[candidate.rank] = _beyond(place, retrieve_k)
    return Outcome(tuple(kept), fates)


def first_candidates(candidates: Sequence[Candidate], retrieve_k: int) -> Outcome[Candidate]:
    """Keeps the first `retrieve_k` candidates: the width of the policies that do not look at the text."""
    fates = {
        candidate.rank: _beyond(place, retrieve_k)
        for place, candidate in enumerate(candidates, start=1)
        if place > retrieve_k
    }
    return Outcome(tuple(candidates[:retrieve_k]), fates)


def _beyond(place: int, retrieve_k: int) -> Fate:
    return Fate(
        "beyond_retrieve_k",
        "width",
        f"text {place} of the {retrieve_k} asked for: it came with widening and was not needed",
        numbers={"distinct_rank": place, "retrieve_k": retrieve_k},
    )
