"""Copies of one text become one block that cites every served file that holds it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from pipeline.records import Candidate, Copy, Fate, Location
from pipeline.select.outcome import Block, Outcome, joined_reasons, location_of

# One served copy: (not preferred, not decided on, -score, doc_id, chunk_index, number, place, candidate). Its order is
# that of preference; the score is -inf where it is not known, the candidate None where it was not recalled.
_Held = tuple[bool, bool, float, str, int, int, Location, Candidate | None]


def collapse(
    candidates: Sequence[Candidate],
    copies: Mapping[str, Sequence[Copy]] | None = None,
    *,
    left_out: Collection[str] = (),
    preferred: Collection[str] = (),
    decided: Collection[str] = (),
    only_document: str | None = None,
) -> Outcome[Block]:
    """Folds candidates of equal fold keys into blocks, in the order of each text's best candidate.

    `copies` holds, by fold key, every copy that the catalog knows (None for a port without a catalog: then the
    candidates themselves are all there is). Copies in `left_out` documents are not served; with `only_document` no
    other document is cited. The representative is the first served copy by: preferred by the user for this question,
    preferred by a decision (`decided`), higher score, smaller doc_id (code points), smaller chunk_index.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.fold_key, []).append(candidate)
    blocks: list[Block] = []
    fates: dict[int, Fate] = {}
    for key, members in groups.items():
        held = _served(members, (copies or {}).get(key, ()), left_out, preferred, decided, only_document)
        block = _block(members, held)
        blocks.append(block)
        fate = Fate(
            "collapsed",
            "collapse",
            f"identical to candidate {block.carrier.rank}, and one block with it",
            into=block.key,
            numbers={"rank": block.carrier.rank, "places": len(members)},
        )
        fates.update({member.rank: fate for member in members if member.rank != block.carrier.rank})
    return Outcome(tuple(blocks), fates)


def _served(
    members: Sequence[Candidate],
    copies: Sequence[Copy],
    left_out: Collection[str],
    preferred: Collection[str],
    decided: Collection[str],
    only_document: str | None,
) -> list[_Held]:
    """The copies that may be cited, the representative first."""
    found: dict[str, tuple[Location, Candidate | None, float]] = {
        member.evidence_key: (location_of(member), member, member.score) for member in members
    }
    unfound = [copy for copy in copies if copy.location.evidence_key not in found]
    if unfound:
        score_of_text = {member.text_sha256: member.score for member in reversed(members)}
        for copy in unfound:
            place = copy.location
            if place.doc_id not in left_out and only_document in (None, place.doc_id):
                found[place.evidence_key] = (place, None, score_of_text.get(copy.text_sha256, -math.inf))
    held: list[_Held] = [
        (
            place.doc_id not in preferred,
            place.doc_id not in decided,
            -score,
            place.doc_id,
            place.chunk_index,
            number,
            place,
            candidate,
        )
        for number, (place, candidate, score) in enumerate(found.values())
    ]
    held.sort()
    return held


def _block(members: Sequence[Candidate], held: Sequence[_Held]) -> Block:
    representative, candidate = held[0][-2:]
    others = [copy[-2] for copy in held[1:]]
    if held[0][:3] != held[-1][:3]:  # otherwise they are in this order already
        others.sort(key=lambda place: (place.doc_id, place.chunk_index))
    carrier = candidate or members[0]
    return Block(
        carrier=carrier,
        representative=representative,
        citations=(representative, *others),
        content=carrier.text or "",
        score=max(member.score for member in members),
        hit_reasons=joined_reasons(*dict.fromkeys(member.hit_reasons for member in members)),
        places=len(members),
    )
