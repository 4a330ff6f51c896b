"""The frozen records of what is found out about answers: why not, comparisons, history, sets of questions.

They import nothing heavy, so that a window may name them before its first paint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pipeline.records import Document, DocumentState, Fate, FateName, Location, Trace

Value = int | float | str | bool | None

# --- found in the library ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A chunk that holds the words asked for. `snippet` is the part around the first of them, on one line."""

    place: Location
    snippet: str
    phrase: bool  # the words stand there together, in this order


@dataclass(frozen=True, slots=True)
class Found:
    """Documents by name and passages by words. `more_*`: there are more than were asked for."""

    documents: tuple[Document, ...]
    passages: tuple[FoundPassage, ...]
    more_documents: bool = False
    more_passages: bool = False


# --- why not -----------------------------------------------------------------------------------------------------

Outcome = Literal[
    "projected",  # the agent reads it, whole or cut
    "cited",  # in the evidence, outside the budgets
    "fell",  # recalled, and dropped by a stage
    "not_recalled",  # beyond retrieve-k
    "left_out",  # its document is left out of this search
    "other_file",  # the search is confined to another file
    "no_text",  # its document holds no passage
]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one passage stands in the port's list, from 1. `rank` counts raw candidates as the trace numbers them,
    `distinct_rank` the different texts that may be served (the hits, under the policies for comparison): that is what
    `retrieve-k` counts. None for what is left out; all None outside the one file that is searched."""

    rank: int | None = None
    distinct_rank: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class PassageFinding:
    """Why one passage is, or is not, in the answer.

    `lacking` is the score that it lacks to the last one kept: to the last text recalled where it was not recalled, to
    the last block of the evidence where a later stage dropped it; 0.0 where it lacks none, None where nothing was
    kept. `carrier_rank` is the candidate that decides for its text, itself or a copy; `fate` is that candidate's.
    `block` is the evidence block that cites the passage, by key.
    """

    place: Location
    opening: str  # its first characters, on one line
    standing: Standing
    outcome: Outcome
    sentence: str
    stage: str | None = None  # a stage's name, or "search" for what was not recalled
    setting: str | None = None  # the setting that removed it, None where no setting did
    fate: Fate | None = None
    carrier_rank: int | None = None
    block: str | None = None
    lacking: float | None = None


@dataclass(frozen=True, slots=True)
class SettingChange:
    """Another value of one setting."""

    setting: str
    before: Value
    value: Value


@dataclass(frozen=True, slots=True)
class Ways:
    """What would bring it in.

    `changes` holds the smallest change of each single setting that does it, the one nearest to its cause first; each
    was run, and so was the value one step nearer to the one in force, which does not do it. Numbers change in whole
    steps, `near-threshold` in hundredths. Without any, `together` holds changes that do it only together (run, too),
    and `reason` says why no single one does. `untried` names settings that were too costly to try.
    """

    already: bool
    changes: tuple[SettingChange, ...] = ()
    together: tuple[SettingChange, ...] = ()
    reason: str = ""
    untried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a document, or one passage of it, is not in an answer. `outcome`, `sentence`, `stage` and `setting` are
    those of its best passage: the one that came furthest. `passages` holds the best by rank, `passages_in_all` their
    number."""

    query: str
    doc_id: str
    chunk_index: int | None
    state: DocumentState
    outcome: Outcome
    sentence: str
    stage: str | None
    setting: str | None
    passages: tuple[PassageFinding, ...]
    passages_in_all: int
    evidence: Ways
    projection: Ways


# --- comparison --------------------------------------------------------------------------------------------------

Change = Literal["same", "only_before", "only_after", "moved", "changed"]


@dataclass(frozen=True, slots=True)
class CandidateAt:
    """A raw candidate in one of two traces. The score alone makes no difference: it may be another's in its last
    digit on another computer."""

    evidence_key: str
    source_path: str
    rank: int
    score: float = field(compare=False)
    text_sha256: str
    fate: FateName
    stage: str


@dataclass(frozen=True, slots=True)
class BlockAt:
    """An evidence block in one of two traces. `cites` are evidence keys, the representative's first."""

    evidence_key: str
    source_path: str
    rank: int
    score: float = field(compare=False)
    content_sha256: str
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemAt:
    """A projected item in one of two traces; `chars` of it reach the agent."""

    evidence_key: str
    source_path: str
    rank: int
    chars: int
    cut: bool
    content_sha256: str


At = TypeVar("At", CandidateAt, BlockAt, ItemAt)


@dataclass(frozen=True, slots=True)
class Difference(Generic[At]):
    """The same thing in two traces; one side is None where it stands only in the other."""

    before: At | None
    after: At | None

    @property
    def at(self) -> At:
        """The newer side, the older where there is no newer."""
        side = self.after if self.after is not None else self.before
        assert side is not None
        return side

    @property
    def change(self) -> Change:
        """`moved` when the rank differs, `changed` when only something else does."""
        if self.before is None:
            return "only_after"
        if self.after is None:
            return "only_before"
        if self.before == self.after:
            return "same"
        return "moved" if self.before.rank != self.after.rank else "changed"

    def mirrored(self) -> Difference[At]:
        return Difference(self.after, self.before)


@dataclass(frozen=True, slots=True)
class Unlike:
    """One named value that differs: of the settings, of the scope or of the library."""

    name: str
    before: Any
    after: Any

    def mirrored(self) -> Unlike:
        return Unlike(self.name, self.after, self.before)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two traces beside each other. Only what differs is listed; `same_*` count what does not.

    `parts_at` is the first stage at which they part: "question", "search" (the raw candidates differ already) or a
    stage's name; None when the agent receives the same from the same evidence.
    """

    question: Unlike | None
    settings: tuple[Unlike, ...]
    scope: tuple[Unlike, ...]
    library: tuple[Unlike, ...]
    candidates: tuple[Difference[CandidateAt], ...]
    blocks: tuple[Difference[BlockAt], ...]
    items: tuple[Difference[ItemAt], ...]
    same_candidates: int
    same_blocks: int
    same_items: int
    parts_at: str | None

    def mirrored(self) -> Comparison:
        """The comparison the other way round."""
        return Comparison(
            self.question.mirrored() if self.question is not None else None,
            tuple(each.mirrored() for each in self.settings),
            tuple(each.mirrored() for each in self.scope),
            tuple(each.mirrored() for each in self.library),
            tuple(each.mirrored() for each in self.candidates),
            tuple(each.mirrored() for each in self.blocks),
            tuple(each.mirrored() for each in self.items),
            self.same_candidates,
            self.same_blocks,
            self.same_items,
            self.parts_at,
        )


@dataclass(frozen=True, slots=True)
class PolicyAnswer:
    """What one policy makes of the hits, and what the agent would receive: `items` and their `distinct` texts,
    `crowding` (share of the items that repeat an earlier one's text), files cited by the items, characters, tokens."""

    policy: str
    trace: Trace
    items: int
    distinct: int
    crowding: float
    cited_files: int
    chars: int
    tokens: int | None


# --- history and sets --------------------------------------------------------------------------------------------

MOST_QUESTIONS = 10_000  # of one list


@dataclass(frozen=True, slots=True)
class Figures:
    """An answer in numbers. `dropped` by stage, stages that dropped nothing left away; `ms` is the time in all."""

    crowding: float
    distinct: int
    cited_files: int
    returned: int
    items: int
    dropped: Mapping[str, int]
    ms: float


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A question as it was asked. `settings` holds what was given (no defaults); `asked_at` is UTC, ISO 8601;
    `times` counts how often it was asked in this way without another one between."""

    id: int
    asked_at: str
    text: str
    settings: Mapping[str, Value]
    left_out: tuple[str, ...]
    preferred: tuple[str, ...]
    only_document: str | None
    generation: int
    figures: Figures
    pinned: bool
    times: int


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """One question of a set. Documents are named by path or doc_id; settings that are not given keep their values."""

    text: str
    id: str = ""
    title: str = ""
    settings: Mapping[str, Value] = field(default_factory=dict)
    only_file: str | None = None
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetRow:
    """One question of a set with its answer in numbers, or with why it has none. `number` counts from 1."""

    number: int
    question: SetQuestion
    figures: Figures | None
    error: str = ""
