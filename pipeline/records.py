"""The frozen records that the pipeline's parts hand to each other.

Offsets are code points into a document's extracted text, half open: `text == extracted_text[start:end]`.
Pages count from 1; a document of a format without pages has none. Scores are cosine similarities (inner products
of normalised vectors).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def made_by_the_thousand(kind: type[Kind]) -> type[Kind]:
    """A frozen record of which one answer may have more than ten thousand. The type checker keeps it from being
    changed; the run does not, for a frozen one pays a call for every field: 17.8 ms for 10,000 candidates, against 2.7.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)


# --- the folder's side -------------------------------------------------------------------------------------------

DocumentState = Literal["indexed", "no_text", "failed", "stale"]
Freshness = Literal["fresh", "changed", "missing", "failed"]
# What the files below a root count as; those from `excluded` on are no states of documents.
STATES = ("indexed", "no_text", "failed", "unknown_kind", "stale", "excluded", "changed", "missing")
# Why a file failed, for programs; `reason` says it for people. `damaged` stands for everything else in the file.
WHYS = (
    "unknown_kind",
    "old_format",
    "not_text",
    "encrypted",
    "damaged",
    "too_large",
    "too_slow",
    "too_much_memory",
    "crashed",
    "unreadable",
    "unsteady",
)


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that the user added. `label` is unique in its library."""

    id: int
    label: str
    path: str
    exclude: tuple[str, ...] = ()  # gitignore patterns
    gitignore: bool = True  # whether `.gitignore` files below it count


@dataclass(frozen=True, slots=True)
class PassedOverRow:
    """Something below a root that is not indexed, and the rule or reason. `rel_path` ends with "/" for a folder, and
    stands for `entries` names in it where these are more than one; "" is the root. `what` is "excluded", "unreadable",
    or one of the kinds that are only counted: "link", "special", "hidden", "own"."""

    rel_path: str
    what: str
    rule: str = ""
    entries: int = 1
    root_label: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Page `number` (from 1) covers `extracted_text[start:end]`."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """One file under a root, as the catalog knows it."""

    doc_id: str
    path: str
    state: DocumentState
    reason: str = ""
    kind: str = ""  # text, markdown, html, pdf
    size: int = 0
    mtime_ns: int = 0
    pages: int = 0
    chunks: int = 0
    characters: int = 0
    root_label: str = ""
    indexed_at: str = ""
    link_count: int = 1
    why: str = ""  # one of `WHYS` where it failed


def indexed_as(document: Document) -> str:
    """A document's state, with files of unknown kind told apart from those that failed."""
    return document.why if document.state == "failed" and document.why == "unknown_kind" else document.state


# --- a question's side -------------------------------------------------------------------------------------------


@made_by_the_thousand
class Hit:
    """What a search port returns. `text` is None when the index knows the vector but the catalog does not."""

    vector_id: str | int | None
    score: float
    metadata: Mapping[str, Any]
    text: str | None
    reasons: tuple[str, ...] = ("dense",)


@made_by_the_thousand
class Location:
    """Where one copy of a text stands: what a citation needs."""

    evidence_key: str
    doc_id: str
    chunk_index: int
    path: str
    start: int
    end: int
    page_first: int | None = None
    page_last: int | None = None


_OF_PLACE = {
    "doc_id": "doc_id",
    "chunk_index": "chunk_index",
    "source_path": "path",
    "page_first": "page_first",
    "page_last": "page_last",
    "start": "start",
    "end": "end",
}
_OF_TEXT = ("fold_key", "text_sha256", "tokens", "tokens_seen")


class ChunkMetadata(Mapping[str, Any]):
    """A hit's metadata where it is a chunk of a library: nothing but its place and what all copies of its text share,
    for there may be thousands of them. `text` holds `fold_key`, `text_sha256`, `tokens`, `tokens_seen`."""

    __slots__ = ("place", "text")

    def __init__(self, place: Location, text: Mapping[str, Any]) -> None:
        self.place, self.text = place, text

    def __getitem__(self, name: str) -> Any:
        of_place = _OF_PLACE.get(name)
        return self.text[name] if of_place is None else getattr(self.place, of_place)

    def __iter__(self) -> Iterator[str]:
        yield from (*_OF_PLACE, *_OF_TEXT)

    def __len__(self) -> int:
        return len(_OF_PLACE) + len(_OF_TEXT)

    def __repr__(self) -> str:
        return repr(dict(self))


@made_by_the_thousand
class Copy:
    """One chunk of the catalog that holds a text of a given fold key."""

    location: Location
    text_sha256: str


@made_by_the_thousand
class Candidate:
    """A hit with identity. `rank` counts from 1 in the total order; `round` is the widening round that first
    brought it, from 1."""

    rank: int
    score: float
    evidence_key: str
    doc_id: str | None
    chunk_index: int | None
    vector_id: str | int | None
    source_path: str
    text: str | None
    fold_key: str
    text_sha256: str
    page_first: int | None = None
    page_last: int | None = None
    start: int | None = None
    end: int | None = None
    hit_reasons: tuple[str, ...] = ()
    round: int = 1
    tokens: int | None = None  # of the whole text, by the embedding model's tokenizer
    tokens_seen: int | None = None  # how many of them the vector was made from


@dataclass(frozen=True, slots=True)
class NearTwin:
    """Another candidate whose text is almost the same: share of 3-word shingles that both have (Jaccard)."""

    evidence_key: str
    similarity: float


FateName = Literal[
    "projected",
    "projected_cut",
    "merged",
    "collapsed",
    "near_collapsed",
    "same_source",
    "left_out",
    "beyond_retrieve_k",
    "over_document_cap",
    "beyond_return_n",
    "over_budget",
    "orphaned",
]
FATE_NAMES: tuple[str, ...] = FateName.__args__  # type: ignore[attr-defined]  # Literal's members, kept in one place

StageName = Literal[
    "identity",
    "left_out",
    "merge",
    "width",
    "collapse",
    "near",
    "source",
    "cap",
    "return",
    "project",
    "pack",
]
STAGE_NAMES: tuple[str, ...] = StageName.__args__  # type: ignore[attr-defined]  # as above


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a candidate.

    `reason` is a sentence for people; `numbers` holds the figures behind it, by name:
    collapsed: places; left_out: doc_id, why; over_document_cap: doc_id, siblings (ranks), position, cap, cap_needed,
    place (among the returned under that cap), return_n;
    beyond_retrieve_k: distinct_rank, retrieve_k; beyond_return_n: position, return_n;
    over_budget: chars, left, limit (max-items or max-total-chars); projected_cut: chars, kept, limit.
    """

    name: FateName
    stage: StageName
    reason: str
    into: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A candidate that was kept, citing every served file that holds its text. `carrier_rank` is the rank of the
    raw candidate whose fate this block decides (the representative's own, unless the user's preferred copy was not
    among the candidates). `places` counts the raw candidates that became this block."""

    rank: int
    evidence_key: str
    doc_id: str | None
    source_file: str
    source_path: str
    also_in: tuple[str, ...]
    source_files: tuple[str, ...]
    source_paths: tuple[str, ...]
    content: str
    score: float
    hit_reasons: tuple[str, ...]
    citations: tuple[Location, ...]
    fold_key: str
    carrier_rank: int
    places: int = 1
    page_first: int | None = None
    page_last: int | None = None


@dataclass(frozen=True, slots=True)
class ProjectedItem:
    """One block as the agent receives it. `page` is None where the format has no pages."""

    document_id: str
    source: str
    also_in: tuple[str, ...]
    page: int | str | None
    content: str
    score: float
    hit_reasons: tuple[str, ...]
    chars: int
    tokens: int | None
    cut: bool


# --- the trace ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting's value and where it came from; `via` names the legacy key that supplied it, `file` the file."""

    value: int | float | str | bool | None
    origin: Literal["default", "file", "flag"]
    file: str | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class SearchRound:
    asked: int
    received: int
    distinct: int


@made_by_the_thousand
class TracedCandidate:
    """A candidate with what became of it. `twin_group` is a letter (A, B, ... Z, AA ...) shared by the candidates
    of one fold key, None for a text that no other copy in the answer or the library holds."""

    candidate: Candidate
    fate: Fate
    freshness: Freshness | None
    twin_group: str | None
    near_twins: tuple[NearTwin, ...] = ()


@dataclass(frozen=True, slots=True)
class StageCount:
    """`entered == left + dropped`; a stage that did not run has status "skipped" and passes everything on."""

    name: StageName
    status: Literal["done", "skipped"]
    entered: int
    left: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Remedy:
    """The smallest value of one setting that would fill the answer."""

    setting: str
    value: int


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why fewer than `return-n` blocks were returned. `remedies` is empty when no setting could help."""

    wanted: int
    got: int
    reason: str
    remedies: tuple[Remedy, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """Where the projection's line fell. Characters are code points of content."""

    items: int
    max_items: int
    chars: int
    max_total_chars: int
    max_chars_per_item: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """`crowding`: share (0..1) of the first return-n raw places taken by copies of an earlier one. `distinct`:
    different texts among the served candidates. `cited_files`: different files cited by the evidence."""

    crowding: float
    distinct: int
    cited_files: int
    shortfall: Shortfall | None
    budget: Budget


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    path: str
    generation: int
    model: str
    dimension: int
    documents: int
    chunks: int
    texts: int


@dataclass(frozen=True, slots=True)
class IndexUse:
    """Which index answered. `kind`: "flat" (every vector was compared), "8-bit scan" (every vector was scanned at a
    byte a number, and the best ranked by their exact vectors). `exact`: nothing better was missed, and the order is
    that of the exact scores. `vectors` counts those that were searched."""

    kind: str
    exact: bool
    vectors: int


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds. `embed` is 0.0 when the query's vector was already made."""

    embed: float
    search: float
    select: float
    total: float


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happened for one query, captured by the run that made the result."""

    query: str
    policy: str
    settings: Mapping[str, SettingInForce]
    library: LibraryFacts
    rounds: tuple[SearchRound, ...]
    candidates: tuple[TracedCandidate, ...]
    evidence: tuple[Evidence, ...]
    projected: tuple[ProjectedItem, ...]
    stages: tuple[StageCount, ...]
    summary: Summary
    timings_ms: Timings
    only_file: str | None = None
    left_out: tuple[str, ...] = ()  # doc_ids that this search left out
    left_out_stale: tuple[str, ...] = ()  # those of them that nobody chose: `serve-stale` would serve them
    left_out_decided: tuple[str, ...] = ()  # those that a decision leaves out of every search, or that were trashed
    preferred: tuple[str, ...] = ()  # doc_ids whose copy was cited first, as this question asked
    preferred_decided: tuple[str, ...] = ()  # doc_ids whose copy a decision cites first in every search
    decisions_ignored: bool = False  # whether this question was asked as if nothing had been decided
    query_tokens: int | None = None
    query_tokens_seen: int | None = None
    index: IndexUse | None = None  # None for a port that does not tell
    with_texts: bool = True  # False: every text is `sha256:` and its hash (see `pipeline.trace.without_texts`)
