"""Two runs beside each other, and the policies beside each other, as rows ask of them. Qt-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from app.models.answer import folder_of, name_of, place_of
from pipeline.findings import BlockAt, CandidateAt, Comparison, Difference, ItemAt, PolicyAnswer
from pipeline.records import Evidence, ProjectedItem, Trace, TracedCandidate
from pipeline.words.plain import first_words
from pipeline.words.sentences import TraceWording, cites_words, count, number

Lane = Literal["candidates", "blocks", "items"]
LANES: tuple[Lane, ...] = ("candidates", "blocks", "items")
Side = Literal["left", "right"]
At = CandidateAt | BlockAt | ItemAt


@dataclass(frozen=True, slots=True)
class Choice:
    """A run that may stand on a side. `detail` says its question, settings and time in a line; `group` keeps what
    belongs together in the list; `unpins` says that it can be taken out of it."""

    id: str
    title: str
    detail: str = ""
    group: str = ""
    unpins: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """What stands in one place of one run: its file, its text, and in words what became of it."""

    file: str
    folder: str
    place: str
    path: str
    doc_id: str | None
    words: str
    text: str


class RunSide:
    """One run of the two, with the words for its parts."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._blocks = {block.evidence_key: block for block in reversed(trace.evidence)}

    @cached_property
    def _words(self) -> TraceWording:
        return TraceWording(self.trace)

    def part(self, lane: Lane, at: At) -> Part:
        """What stands at this rank of this lane. Ranks count from 1 without gaps."""
        if lane == "candidates":
            return self._of_candidate(self.trace.candidates[at.rank - 1])
        if lane == "blocks":
            return self._of_block(self.trace.evidence[at.rank - 1])
        return self._of_item(self.trace.projected[at.rank - 1])

    def _of_candidate(self, traced: TracedCandidate) -> Part:
        one = traced.candidate
        return Part(
            name_of(one.doc_id, one.source_path),
            folder_of(one.doc_id, one.source_path),
            place_of(one.page_first, one.page_last, one.chunk_index),
            one.source_path,
            one.doc_id,
            self._words.fate(traced),
            one.text or "",
        )

    def _of_block(self, block: Evidence) -> Part:
        first = block.citations[0] if block.citations else None
        place = place_of(block.page_first, block.page_last, first.chunk_index if first is not None else None)
        carrier = self.trace.candidates[block.carrier_rank - 1]
        reached = {
            "projected": "read by the agent",
            "projected_cut": "read by the agent, cut",
        }.get(carrier.fate.name)
        end = reached or self._words.fate(carrier)
        return Part(
            name_of(block.doc_id, block.source_path),
            folder_of(block.doc_id, block.source_path),
            place,
            block.source_path,
            block.doc_id,
            f"{cites_words(block)}; {end}",
            block.content,
        )

    def _of_item(self, item: ProjectedItem) -> Part:
        block = self._blocks.get(item.document_id)
        doc_id = block.doc_id if block is not None else None
        page = f"p. {item.page}" if item.page is not None else ""
        cut = ", cut" if item.cut else ""
        also = f"; also in {count(len(item.also_in), 'other file')}" if item.also_in else ""
        return Part(
            name_of(doc_id, item.source),
            folder_of(doc_id, item.source),
            page,
            item.source,
            doc_id,
            f"{count(item.chars, 'character')}{cut}{also}",
            item.content,
        )


@dataclass(frozen=True)
class Compared:
    """Two traces and what `pipeline.compare.compare` says of them; `before` stands on the left."""

    before: Trace
    after: Trace
    found: Comparison
    left: RunSide = field(init=False)
    right: RunSide = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", RunSide(self.before))
        object.__setattr__(self, "right", RunSide(self.after))

    def differences(self, lane: Lane) -> Sequence[Difference[CandidateAt] | Difference[BlockAt] | Difference[ItemAt]]:
        """What differs in a lane, in the comparison's own order."""
        if lane == "candidates":
            return self.found.candidates
        return self.found.blocks if lane == "blocks" else self.found.items

    def same(self, lane: Lane) -> int:
        """How many stay the same in a lane."""
        found = self.found
        return {"candidates": found.same_candidates, "blocks": found.same_blocks, "items": found.same_items}[lane]


# --- the policies --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Given:
    """One item that a policy gives the agent. `repeats` is the number of the earlier item whose text it repeats, None
    where it is the first of its text; `letter` is its twin group's."""

    number: int
    item: ProjectedItem
    letter: str | None
    repeats: int | None
    doc_id: str | None
    files: tuple[str, ...]

    @property
    def file(self) -> str:
        """The first file that it cites, safe to show."""
        return name_of(self.doc_id, self.item.source)

    @property
    def more(self) -> str:
        """How many files it cites beside that: "and 6 more", or nothing."""
        return f"and {number(len(self.files) - 1)} more" if len(self.files) > 1 else ""

    @property
    def head(self) -> str:
        """The beginning of what the agent reads, on one line."""
        return first_words(self.item.content, 400)


def given_by(answer: PolicyAnswer) -> tuple[Given, ...]:
    """What a policy gives the agent, in order, with what is there twice."""
    trace = answer.trace
    blocks = {block.evidence_key: block for block in reversed(trace.evidence)}
    first: dict[str, int] = {}
    given = []
    for place, item in enumerate(trace.projected, start=1):
        block = blocks[item.document_id]
        letter = trace.candidates[block.carrier_rank - 1].twin_group
        earlier = first.setdefault(block.fold_key, place)
        files = tuple(dict.fromkeys(block.source_paths))
        given.append(Given(place, item, letter, earlier if earlier != place else None, block.doc_id, files))
    return tuple(given)
