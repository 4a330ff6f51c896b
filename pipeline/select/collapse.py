"""Copies of one text become one block that cites every served file that holds it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pipeline.records import Candidate, Copy, Fate, Location
from pipeline.select.outcome import Block, Outcome, joined_reasons, location_of


@dataclass(frozen=True, slots=True)
class _Held:
    """One served copy: its place, its candidate where it was recalled, and its score where that is known."""

    place: Location
    candidate: Candidate | None
    score: float


def collapse(
    candidates: Sequence[Candidate],
    copies: Mapping[str, Sequence[Copy]] | None = None,
    *,
    left_out: Collection[str] = (),
    preferred: Collection[str] = (),
    only_document: str | None = None,
) -> Outcome[Block]:
    """Folds candidates of equal fold keys into blocks, in the order of each text's best candidate.

    `copies` holds, by fold key, every copy that the catalog knows (None for a port without a catalog: then the
    candidates themselves are all there is). Copies in `left_out` documents are not served; with `only_document` no
    other document is cited. The representative is the first served copy by: preferred by the user, higher score,
    smaller doc_id (code points), smaller chunk_index.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.fold_key, []).append(candidate)
    blocks: list[Block] = []
    fates: dict[int, Fate] = {}
    for key, members in groups.items():
        held = _served(members, (copies or {}).get(key, ()), left_out, only_document)
        held.sort(key=lambda copy: _preference(copy, preferred))
        block = _block(members, held)
        blocks.append(block)
        for member in members:
            if member.rank != block.carrier.rank:
                fates[member.rank] = Fate(
                    "collapsed",
                    "collapse",
                    f"identical to candidate {block.carrier.rank}, and one block with it",
                    into=block.key,
                    numbers={"rank": block.carrier.rank, "places": len(members)},
                )
    return Outcome(tuple(blocks), fates)


def _served(
    members: Sequence[Candidate], copies: Sequence[Copy], left_out: Collection[str], only_document: str | None
) -> list[_Held]:
    held = {member.evidence_key: _Held(location_of(member), member, member.score) for member in members}
    score_of_text = {member.text_sha256: member.score for member in reversed(members)}
    for copy in copies:
        place = copy.location
        if place.evidence_key in held or place.doc_id in left_out:
            continue
        if only_document is not None and place.doc_id != only_document:
            continue
        held[place.evidence_key] = _Held(place, None, score_of_text.get(copy.text_sha256, -math.inf))
    return list(held.values())


def _preference(copy: _Held, preferred: Collection[str]) -> tuple[bool, float, str, int]:
    return (copy.place.doc_id not in preferred, -copy.score, copy.place.doc_id, copy.place.chunk_index)


def _block(members: Sequence[Candidate], held: Sequence[_Held]) -> Block:
    first = held[0]
    others = sorted((copy.place for copy in held[1:]), key=lambda place: (place.doc_id, place.chunk_index))
    carrier = first.candidate or members[0]
    return Block(
        carrier=carrier,
        representative=first.place,
        citations=(first.place, *others),
        content=carrier.text or "",
        score=max(member.score for member in members),
        hit_reasons=joined_reasons(*(member.hit_reasons for member in members)),
        places=len(members),
    )
