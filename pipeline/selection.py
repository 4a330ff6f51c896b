"""From hits to evidence: the search that widens, and the stages in the order in which they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.records import Candidate, Copy, Evidence, Hit, SearchRound
from pipeline.search.port import CopyCatalog, KnowledgeSearchPort, Question, TellsReach
from pipeline.select.cap import cap_documents
from pipeline.select.collapse import collapse
from pipeline.select.cut import first_blocks
from pipeline.select.identity import identify, known, served_texts
from pipeline.select.leave_out import leave_out
from pipeline.select.merge import merge
from pipeline.select.near import fold_near
from pipeline.select.outcome import Block, Outcome, single_block
from pipeline.select.pack import Budgets, Packed, pack
from pipeline.select.project import evidence_of, project
from pipeline.select.source import one_per_source
from pipeline.select.width import first_candidates, first_distinct
from pipeline.settings import Settings
from pipeline.trace import TraceCollector

CHOSEN = "you left it out of this search"
DECIDED = "by your decision of {date}, for every search"
TRASHED = "its file was moved to the trash"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may use: documents left out (doc_id -> why), documents whose copy is cited first, the one document
    that the search is confined to, if any, and documents whose copy comes next because a decision says so."""

    left_out: Mapping[str, str]
    preferred: frozenset[str] = frozenset()
    only_document: str | None = None
    preferred_decided: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the port gave: `rounds` tells how it was asked, `exhausted` that it has no more."""

    hits: Sequence[Hit]
    rounds: tuple[SearchRound, ...]
    exhausted: bool


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was made of the hits before the cap. `served` are the candidates that may be used, `copies` every copy of
    their texts by fold key (None without a catalog)."""

    candidates: tuple[Candidate, ...]
    served: tuple[Candidate, ...]
    copies: Mapping[str, Sequence[Copy]] | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The evidence, and as much of it as the agent receives: always its head."""

    evidence: tuple[Evidence, ...]
    packed: tuple[Packed, ...]


def retrieve(question: Question, port: KnowledgeSearchPort, settings: Settings, scope: Scope) -> Retrieved:
    """Asks for exactly `retrieve-k`, then for twice as many while copies and left-out documents leave fewer than
    `retrieve-k` that can be served."""
    asked = settings.retrieve_k
    if settings.policy == "evidence" and isinstance(port, TellsReach):
        # The rounds below are not changed by it, but what the last of them needs is read in one go.
        port.search(question, _width_of(port.reach(question, asked), asked))
    rounds: list[SearchRound] = []
    served, texts, looked_at = 0, set[str](), 0
    while True:
        hits = list(port.search(question, asked))[:asked]
        more = served_texts(hits[looked_at:], scope.left_out.keys())  # the port gives the same and more behind it
        served, looked_at = served + len(more), len(hits)
        texts.update(more)
        distinct = len(texts)
        rounds.append(SearchRound(asked, len(hits), distinct))
        exhausted = len(hits) < asked
        enough = distinct if settings.policy == "evidence" else served
        if exhausted or enough >= settings.retrieve_k:
            return Retrieved(hits, tuple(rounds), exhausted)
        asked *= 2


def _width_of(reach: int, asked: int) -> int:
    """What the round asks for that gets so far, if the first asks for `asked`."""
    while asked < reach:
        asked *= 2
    return asked


def recall(
    retrieved: Retrieved,
    catalog: CopyCatalog | None,
    settings: Settings,
    scope: Scope,
    collector: TraceCollector,
) -> Recalled:
    """Hits -> candidates -> blocks, each stage told to the collector."""
    candidates = identify(retrieved.hits, retrieved.rounds)
    return recall_found(candidates, copies_of(candidates, catalog), catalog, settings, scope, collector)


def recall_found(
    candidates: tuple[Candidate, ...],
    copies: Mapping[str, Sequence[Copy]] | None,
    catalog: CopyCatalog | None,
    settings: Settings,
    scope: Scope,
    collector: TraceCollector,
) -> Recalled:
    """Candidates whose copies are known -> blocks, each stage told to the collector."""
    served = _served(candidates, scope, collector)
    return Recalled(candidates, served, copies, _blocks(served, settings, catalog, copies, scope, collector))


def choose(blocks: Sequence[Block], settings: Settings, collector: TraceCollector) -> Chosen:
    """Blocks -> evidence -> what the agent receives, each stage and every last fate told to the collector."""
    first = _capped_and_cut(blocks, settings, collector)
    evidence = tuple(evidence_of(block, rank) for rank, block in enumerate(first, start=1))
    shaped = project(evidence)
    collector.stage("project", len(evidence), len(shaped.kept), shaped.fates)
    packed, final = pack(shaped.kept, budgets_in_force(settings))
    collector.stage("pack", len(shaped.kept), len(packed.kept), packed.fates)
    collector.decided(final)
    return Chosen(evidence, packed.kept)


def budgets_in_force(settings: Settings) -> Budgets:
    return Budgets(settings.max_items, settings.max_chars_per_item, settings.max_total_chars)


def _served(candidates: Sequence[Candidate], scope: Scope, collector: TraceCollector) -> tuple[Candidate, ...]:
    known_ones = known(candidates)
    collector.stage("identity", len(candidates), len(known_ones.kept), known_ones.fates)
    if not scope.left_out:
        collector.skipped("left_out", len(known_ones.kept))
        return known_ones.kept
    rest = leave_out(known_ones.kept, scope.left_out)
    collector.stage("left_out", len(known_ones.kept), len(rest.kept), rest.fates)
    return rest.kept


def copies_of(candidates: Sequence[Candidate], catalog: CopyCatalog | None) -> Mapping[str, Sequence[Copy]] | None:
    """Every copy that the library holds of the candidates' texts, by fold key; None without a catalog."""
    if catalog is None:
        return None
    return catalog.copies({candidate.fold_key for candidate in candidates if candidate.text is not None})


def _blocks(
    served: Sequence[Candidate],
    settings: Settings,
    catalog: CopyCatalog | None,
    copies: Mapping[str, Sequence[Copy]] | None,
    scope: Scope,
    collector: TraceCollector,
) -> tuple[Block, ...]:
    """One block a text (evidence), a file (source) or a hit (plain), of the first `retrieve-k`."""
    if settings.policy == "evidence":
        merged = merge(served)
        collector.stage("merge", len(served), len(merged.kept), merged.fates)
        wide = first_distinct(merged.kept, settings.retrieve_k)
        collector.stage("width", len(merged.kept), len(wide.kept), wide.fates)
        blocks = _collapsed(wide.kept, catalog, copies, scope)
        collector.stage("collapse", len(wide.kept), len(blocks.kept), blocks.fates)
        if settings.fold_near:
            near = fold_near(blocks.kept, settings.near_threshold)
            collector.stage("near", len(blocks.kept), len(near.kept), near.fates)
            blocks = near
        else:
            collector.skipped("near", len(blocks.kept))
        collector.skipped("source", len(blocks.kept))
        return blocks.kept
    collector.skipped("merge", len(served))
    wide = first_candidates(served, settings.retrieve_k)
    collector.stage("width", len(served), len(wide.kept), wide.fates)
    collector.skipped("collapse", len(wide.kept))
    collector.skipped("near", len(wide.kept))
    if settings.policy == "source":
        one_each = one_per_source(wide.kept)
        collector.stage("source", len(wide.kept), len(one_each.kept), one_each.fates)
        return one_each.kept
    collector.skipped("source", len(wide.kept))
    return tuple(single_block(candidate) for candidate in wide.kept)


def _collapsed(
    candidates: Sequence[Candidate],
    catalog: CopyCatalog | None,
    copies: Mapping[str, Sequence[Copy]] | None,
    scope: Scope,
) -> Outcome[Block]:
    blocks = collapse(
        candidates,
        copies,
        left_out=scope.left_out.keys(),
        preferred=scope.preferred,
        decided=scope.preferred_decided,
        only_document=scope.only_document,
    )
    if catalog is None:
        return blocks
    return Outcome(tuple(_with_own_content(block, catalog) for block in blocks.kept), blocks.fates)


def _with_own_content(block: Block, catalog: CopyCatalog) -> Block:
    """A preferred copy that was not recalled still shows its own text, white space and all."""
    place = block.representative
    if place.evidence_key == block.carrier.evidence_key:
        return block
    own = catalog.contents([(place.doc_id, place.chunk_index)])
    return replace(block, content=own.get((place.doc_id, place.chunk_index), block.content))


def cap_in_force(settings: Settings) -> int:
    """The cap belongs to the evidence rules; the policies for comparison have none."""
    return settings.max_chunks_per_document if settings.policy == "evidence" else 0


def _capped_and_cut(blocks: Sequence[Block], settings: Settings, collector: TraceCollector) -> tuple[Block, ...]:
    cap = cap_in_force(settings)
    within = cap_documents(blocks, cap, settings.return_n)
    if cap:
        collector.stage("cap", len(blocks), len(within.kept), within.fates)
    else:
        collector.skipped("cap", len(blocks))
    first = first_blocks(within.kept, settings.return_n)
    collector.stage("return", len(within.kept), len(first.kept), first.fates)
    return first.kept
