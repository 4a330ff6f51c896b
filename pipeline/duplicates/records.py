"""The frozen records of duplicates: families, what differs, what it costs, what was decided.

They import nothing heavy, so that a window may name them before its first paint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pipeline.records import Freshness

Tier = Literal[
    "identical",  # the same bytes
    "same_text",  # equal fold keys throughout, whatever the format
    "near",  # a few words differ
    "contained",  # one stands in the other
    "alike",  # alike in meaning only: shown apart, never proposed
]
TIERS: tuple[Tier, ...] = ("identical", "same_text", "near", "contained", "alike")  # the surest first

HeadRule = Literal["preferred", "most_complete", "newest", "shortest_path"]

WeightyKind = Literal["number", "date", "name", "negation", "word"]


@dataclass(frozen=True, slots=True)
class Weighty:
    """A word that matters and differs between two documents. One side is "" where it stands in the other alone."""

    kind: WeightyKind
    in_head: str
    in_member: str


@dataclass(frozen=True, slots=True)
class Member:
    """A document in a family, tied to the family's head by a stated relation. `tier` is None for the head itself.

    `in_head` is the share of the member's 3-word shingles that stand in the head, `head_in` the reverse, `similarity`
    their Jaccard index; 1.0 for the head and for equal texts. `content_key` is the SHA-256 of the file's bytes,
    `text_key` the fold key of its whole text: decisions go by them. `weighty` holds the first of `weighty_in_all`
    words that matter and differ from the head. `hard_link`: the same file under another name, no copy at all.
    `why` says in words why it is, or is not, proposed for removal. `on_disk` is looked up where it matters
    (`pipeline.duplicates.freshness`), and "fresh" before that.
    """

    doc_id: str
    path: str
    kind: str
    size: int  # bytes
    mtime_ns: int
    characters: int
    content_key: str
    text_key: str
    tier: Tier | None
    in_head: float = 1.0
    head_in: float = 1.0
    similarity: float = 1.0
    weighty: tuple[Weighty, ...] = ()
    weighty_in_all: int = 0
    hard_link: bool = False
    protected: bool = False
    preferred: bool = False
    left_out: bool = False
    note: str = ""
    proposed: bool = False
    why: str = ""
    on_disk: Freshness = "fresh"


@dataclass(frozen=True, slots=True)
class Family:
    """Documents that are copies or versions of one. The head comes first, the others by tier, then by doc_id.

    `key` names the set of its contents, whatever their paths: "not duplicates" goes by it. `tier` is the least sure
    of its members'. `redundant_texts` counts passages of members that stand in an earlier member too,
    `redundant_characters` their length, `near_texts` passages that nearly stand in an earlier member. `cost` is the
    share of the first return-n places of all questions that were asked for it which copies of this family took; None
    before that was measured.
    """

    key: str
    members: tuple[Member, ...]
    tier: Tier
    redundant_texts: int = 0
    redundant_characters: int = 0
    cost: float | None = None
    near_texts: int = 0

    @property
    def head(self) -> Member:
        return self.members[0]


@dataclass(frozen=True, slots=True)
class Alike:
    """Two documents whose passages are alike in meaning (mean cosine) and share too few words to be copies."""

    doc_id: str
    other_doc_id: str
    cosine: float


BoilerplateKind = Literal["repeated", "no_text", "encrypted"]


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """What many documents hold and what therefore makes no two of them duplicates: a passage that is repeated
    everywhere, or that there is no text at all. `documents` counts them, `examples` names the first by doc_id."""

    kind: BoilerplateKind
    opening: str
    documents: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FolderShare:
    """How much of a folder (`<root label>/<path>`, everything below it) is duplicates: members that are no heads."""

    folder: str
    documents: int
    duplicates: int

    @property
    def share(self) -> float:
        return self.duplicates / self.documents if self.documents else 0.0


@dataclass(frozen=True, slots=True)
class DuplicateSettings:
    """What counts as a duplicate. `near` is the least Jaccard similarity of near documents, `contained` the least
    share of one that stands in the other; `head` names the rule by which a family's head is chosen (after the
    preferred mark, which always decides)."""

    near: float = 0.50
    contained: float = 0.90
    head: HeadRule = "most_complete"
    alike: float = 0.90
    with_alike: bool = False


@dataclass(frozen=True, slots=True)
class DuplicatesReport:
    """Everything that a scan found, costliest family first. `cost` is the library's own: the share of the first
    return-n places that copies took over `questions` questions, of which the last `headings` were documents' own
    headings; None before that was measured. `declined` counts
    sets that were said not to be duplicates, and are not among the families."""

    library: str
    generation: int
    settings: DuplicateSettings
    families: tuple[Family, ...]
    alike: tuple[Alike, ...] = ()
    boilerplate: tuple[Boilerplate, ...] = ()
    folders: tuple[FolderShare, ...] = ()
    documents: int = 0
    texts: int = 0  # different texts
    chunks: int = 0
    redundant_texts: int = 0
    declined: int = 0
    cost: float | None = None
    questions: int = 0
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)  # members by tier
    # What the families were made from (`pipeline.duplicates.scan`): they can be made again under other thresholds.
    ground: object | None = field(default=None, compare=False, repr=False)
    near_texts: int = 0  # different texts of passages that are near another one
    headings: int = 0

    @property
    def duplicates(self) -> int:
        """How many documents are in a family and not its head. A hard link is no copy, and not counted."""
        return len({m.doc_id for family in self.families for m in family.members[1:] if not m.hard_link})

    @property
    def not_as_indexed(self) -> int:
        """How many of the members' files are missing or changed since they were indexed, once that was looked up."""
        return len({m.doc_id for family in self.families for m in family.members if m.on_disk != "fresh"})


@dataclass(frozen=True, slots=True)
class LostPassage:
    """A passage that would stand in no other served document. Offsets are into the document's text."""

    doc_id: str
    chunk_index: int
    start: int
    end: int
    text: str


# --- decisions ---------------------------------------------------------------------------------------------------

DecisionKind = Literal["preferred", "left_out", "not_duplicates", "note", "protected"]


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that was decided. `subject` is what it goes by: a content key for `preferred`, `left_out` and `note`,
    a family's key for `not_duplicates`, a folder's path for `protected`. `value` holds a note's words. `name` is the
    path that the user saw, for people. `made_at` is UTC, ISO 8601."""

    kind: DecisionKind
    subject: str
    value: str
    name: str
    made_at: str


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One line of the journal: what was done to what, and when. `batch` ties together what was done in one go;
    `before` and `after` are the decision's values, None where there was none. `undone` says that it was taken back.
    Files that went to the trash stand here as well (`what` = "trashed"), with `after` saying where they can be found.
    """

    id: int
    at: str
    batch: str
    what: str
    subject: str
    name: str
    before: str | None
    after: str | None
    undone: bool = False
