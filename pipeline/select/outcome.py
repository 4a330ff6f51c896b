"""What every stage gives back, and the block that travels between the stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pipeline.records import Candidate, Fate, Location

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Item]):
    """`kept` goes on to the next stage in this order; `fates` holds the end of every candidate dropped, by rank."""

    kept: tuple[Item, ...]
    fates: Mapping[int, Fate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """Evidence in the making: one text and the copies of it.

    `carrier` is the raw candidate whose fate the block decides. `representative` is the copy whose content and place
    the block shows; it is the carrier's own place unless the user prefers a copy that is not among the candidates.
    `score` is the best of the members'. `places` counts the raw candidates that became this block.
    """

    carrier: Candidate
    representative: Location
    citations: tuple[Location, ...]
    content: str
    score: float
    hit_reasons: tuple[str, ...]
    places: int = 1

    @property
    def key(self) -> str:
        return self.representative.evidence_key


def counted_document(block: Block) -> str:
    """The document that a block counts against: its representative's alone."""
    return block.representative.doc_id or block.representative.path or block.key


def location_of(candidate: Candidate) -> Location:
    """The candidate's own place as a citation. A hit without a document is cited by its path alone."""
    doc_id, index, start, end = candidate.doc_id, candidate.chunk_index, candidate.start, candidate.end
    return Location(
        candidate.evidence_key,
        doc_id if doc_id is not None else "",
        index if index is not None else -1,
        candidate.source_path,
        start if start is not None else 0,
        end if end is not None else len(candidate.text or ""),
        candidate.page_first,
        candidate.page_last,
    )


def single_block(candidate: Candidate) -> Block:
    """A block of one candidate that cites itself only."""
    place = location_of(candidate)
    return Block(candidate, place, (place,), candidate.text or "", candidate.score, candidate.hit_reasons)


def joined_reasons(*groups: tuple[str, ...]) -> tuple[str, ...]:
    """All reasons in order of first appearance, each once."""
    return tuple(dict.fromkeys(reason for group in groups for reason in group))
