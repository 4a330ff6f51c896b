"""Use case: a question -> the trace of its answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.embed.port import Encoder, Vectors
from pipeline.errors import ModelMismatch, QueryError
from pipeline.library import LibraryReader
from pipeline.records import (
    Budget,
    Candidate,
    Copy,
    Hit,
    LibraryFacts,
    ProjectedItem,
    Shortfall,
    Summary,
    Timings,
    Trace,
)
from pipeline.search.port import CopyCatalog, KnowledgeSearchPort, Question
from pipeline.select.cap import cap_documents
from pipeline.select.collapse import collapse
from pipeline.select.cut import first_blocks
from pipeline.select.identity import identify, known
from pipeline.select.leave_out import leave_out
from pipeline.select.merge import merge
from pipeline.select.near import fold_near, near_twins
from pipeline.select.outcome import Block, Outcome, single_block
from pipeline.select.pack import Budgets, Packed, pack
from pipeline.select.project import evidence_of, page_label, project
from pipeline.select.shortfall import cap_that_fills, explain, width_that_fills
from pipeline.select.source import one_per_source
from pipeline.select.width import distinct_texts, first_candidates, first_distinct
from pipeline.settings import BY_KEY, Settings
from pipeline.trace import TraceCollector

LONGEST_QUESTION = 20_000  # characters; the model reads far less, and the trace says how much
CHOSEN = "you left it out of this search"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search may use: documents left out (doc_id -> why), documents whose copy is cited first, and the one
    document that the search is confined to, if any."""

    left_out: Mapping[str, str]
    preferred: frozenset[str] = frozenset()
    only_document: str | None = None


def answer(
    question: Question,
    *,
    port: KnowledgeSearchPort,
    catalog: CopyCatalog | None,
    settings: Settings,
    scope: Scope,
    count_tokens: Callable[[Sequence[str]], Sequence[int]] | None = None,
    embed_ms: float = 0.0,
    query_tokens: tuple[int, int] | None = None,
    collector: TraceCollector | None = None,
) -> Trace:
    """Retrieve, select and project. The one function behind the window, the command line and the tests.

    `query_tokens` is (all, seen by the model). Without a catalog, copies are known among the hits only.
    """
    collector = collector or TraceCollector()
    began = time.perf_counter()
    hits, exhausted = _retrieve(question, port, settings, scope, collector)
    searched = time.perf_counter()

    candidates = identify(hits, collector.rounds)
    served = _served(candidates, scope, collector)
    blocks = _blocks(served, settings, catalog, scope, collector)
    evidence_blocks = _capped_and_cut(blocks, settings, collector)
    evidence = tuple(evidence_of(block, rank) for rank, block in enumerate(evidence_blocks, start=1))

    shaped = project(evidence)
    collector.stage("project", len(evidence), len(shaped.kept), shaped.fates)
    budgets = Budgets(settings.max_items, settings.max_chars_per_item, settings.max_total_chars)
    packed, final = pack(shaped.kept, budgets)
    collector.stage("pack", len(shaped.kept), len(packed.kept), packed.fates)
    collector.decided(final)
    projected = _projected(packed.kept, count_tokens)

    shortfall = None
    if len(evidence) < settings.return_n:
        shortfall = _shortfall(question, port, settings, scope, catalog, blocks, len(evidence), exhausted)
    doc_ids = {candidate.doc_id for candidate in candidates if candidate.doc_id is not None}
    traced = collector.traced(
        candidates,
        catalog.freshness(doc_ids) if catalog is not None else {},
        _twin_groups(candidates, catalog),
        near_twins(candidates, settings.near_threshold),
    )
    ended = time.perf_counter()
    return Trace(
        query=question.text,
        policy=settings.policy,
        settings=settings.in_force,
        library=catalog.facts() if catalog is not None else LibraryFacts("", 0, "", 0, 0, 0, 0),
        rounds=tuple(collector.rounds),
        candidates=traced,
        evidence=evidence,
        projected=projected,
        stages=tuple(collector.stages),
        summary=Summary(
            crowding=_crowding(candidates, settings.return_n),
            distinct=distinct_texts(served),
            cited_files=len({path for block in evidence for path in block.source_paths}),
            shortfall=shortfall,
            budget=_budget(projected, budgets),
        ),
        timings_ms=Timings(
            embed=embed_ms,
            search=(searched - began) * 1000,
            select=(ended - searched) * 1000,
            total=embed_ms + (ended - began) * 1000,
        ),
        only_file=scope.only_document,
        left_out=tuple(sorted(scope.left_out)),
        query_tokens=query_tokens[0] if query_tokens else None,
        query_tokens_seen=query_tokens[1] if query_tokens else None,
    )


def _retrieve(
    question: Question,
    port: KnowledgeSearchPort,
    settings: Settings,
    scope: Scope,
    collector: TraceCollector,
) -> tuple[Sequence[Hit], bool]:
    """Hits, and whether the port has no more. Asks for exactly `retrieve-k`, then for twice as many while copies and
    left-out documents leave fewer than `retrieve-k` that can be served."""
    asked = settings.retrieve_k
    while True:
        hits = list(port.search(question, asked))[:asked]
        served = [
            candidate
            for candidate in identify(hits, ())
            if candidate.text is not None and candidate.doc_id not in scope.left_out
        ]
        distinct = distinct_texts(served)
        collector.round(asked, len(hits), distinct)
        exhausted = len(hits) < asked
        enough = distinct if settings.policy == "evidence" else len(served)
        if exhausted or enough >= settings.retrieve_k:
            return hits, exhausted
        asked *= 2


def _served(candidates: Sequence[Candidate], scope: Scope, collector: TraceCollector) -> tuple[Candidate, ...]:
    known_ones = known(candidates)
    collector.stage("identity", len(candidates), len(known_ones.kept), known_ones.fates)
    if not scope.left_out:
        collector.skipped("left_out", len(known_ones.kept))
        return known_ones.kept
    rest = leave_out(known_ones.kept, scope.left_out)
    collector.stage("left_out", len(known_ones.kept), len(rest.kept), rest.fates)
    return rest.kept


def _blocks(
    served: Sequence[Candidate],
    settings: Settings,
    catalog: CopyCatalog | None,
    scope: Scope,
    collector: TraceCollector,
) -> tuple[Block, ...]:
    """One block a text (evidence), a file (source) or a hit (plain), of the first `retrieve-k`."""
    if settings.policy == "evidence":
        merged = merge(served)
        collector.stage("merge", len(served), len(merged.kept), merged.fates)
        wide = first_distinct(merged.kept, settings.retrieve_k)
        collector.stage("width", len(merged.kept), len(wide.kept), wide.fates)
        blocks = _collapsed(wide.kept, catalog, scope)
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


def _collapsed(candidates: Sequence[Candidate], catalog: CopyCatalog | None, scope: Scope) -> Outcome[Block]:
    copies: Mapping[str, Sequence[Copy]] | None = None
    if catalog is not None:
        copies = catalog.copies({candidate.fold_key for candidate in candidates})
    blocks = collapse(
        candidates,
        copies,
        left_out=scope.left_out.keys(),
        preferred=scope.preferred,
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


def _cap(settings: Settings) -> int:
    """The cap belongs to the evidence rules; the policies for comparison have none."""
    return settings.max_chunks_per_document if settings.policy == "evidence" else 0


def _capped_and_cut(blocks: Sequence[Block], settings: Settings, collector: TraceCollector) -> tuple[Block, ...]:
    cap = _cap(settings)
    within = cap_documents(blocks, cap)
    if cap:
        collector.stage("cap", len(blocks), len(within.kept), within.fates)
    else:
        collector.skipped("cap", len(blocks))
    first = first_blocks(within.kept, settings.return_n)
    collector.stage("return", len(within.kept), len(first.kept), first.fates)
    return first.kept


def _projected(
    packed: Sequence[Packed], count_tokens: Callable[[Sequence[str]], Sequence[int]] | None
) -> tuple[ProjectedItem, ...]:
    counted: Sequence[int | None] = [None] * len(packed)
    if count_tokens is not None and packed:
        counted = list(count_tokens([piece.content for piece in packed]))
    return tuple(
        ProjectedItem(
            document_id=piece.evidence.evidence_key,
            source=piece.evidence.source_path,
            also_in=piece.evidence.also_in,
            page=page_label(piece.evidence.page_first, piece.evidence.page_last),
            content=piece.content,
            score=piece.evidence.score,
            hit_reasons=piece.evidence.hit_reasons,
            chars=len(piece.content),
            tokens=tokens,
            cut=piece.cut,
        )
        for piece, tokens in zip(packed, counted, strict=True)
    )


def _budget(projected: Sequence[ProjectedItem], budgets: Budgets) -> Budget:
    tokens = [item.tokens for item in projected if item.tokens is not None]
    return Budget(
        items=len(projected),
        max_items=budgets.max_items,
        chars=sum(item.chars for item in projected),
        max_total_chars=budgets.max_total_chars,
        max_chars_per_item=budgets.max_chars_per_item,
        tokens=sum(tokens) if len(tokens) == len(projected) else None,
    )


def _crowding(candidates: Sequence[Candidate], return_n: int) -> float:
    """Share of the first `return-n` raw places that copies of an earlier one take."""
    first = candidates[:return_n]
    return (len(first) - distinct_texts(first)) / len(first) if first else 0.0


def _twin_groups(candidates: Sequence[Candidate], catalog: CopyCatalog | None) -> dict[str, str]:
    """A letter for each text that more than one chunk of the answer or of the library holds, in rank order."""
    held: dict[str, set[str]] = {}
    for candidate in candidates:
        if candidate.text is not None:
            held.setdefault(candidate.fold_key, set()).add(candidate.evidence_key)
    if catalog is not None:
        for fold_key, copies in catalog.copies(held.keys()).items():
            held[fold_key].update(copy.location.evidence_key for copy in copies)
    twins = [fold_key for fold_key, keys in held.items() if len(keys) > 1]
    return {fold_key: _letters(number) for number, fold_key in enumerate(twins)}


def _letters(number: int) -> str:
    """0 -> A, 25 -> Z, 26 -> AA, as spreadsheets name columns."""
    letters = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def _shortfall(
    question: Question,
    port: KnowledgeSearchPort,
    settings: Settings,
    scope: Scope,
    catalog: CopyCatalog | None,
    blocks: Sequence[Block],
    got: int,
    exhausted: bool,
) -> Shortfall:
    cap = _cap(settings)
    filling_cap = cap_that_fills(blocks, settings.return_n) if cap else None
    width = None
    if filling_cap is None and not exhausted:
        width = _filling_width(question, port, settings, scope, catalog)
    return explain(
        wanted=settings.return_n,
        got=got,
        found=len(blocks),
        retrieve_k=settings.retrieve_k,
        exhausted=exhausted,
        over_cap=len(blocks) - got if cap else 0,
        cap=filling_cap,
        width=width,
    )


def _filling_width(
    question: Question,
    port: KnowledgeSearchPort,
    settings: Settings,
    scope: Scope,
    catalog: CopyCatalog | None,
) -> int | None:
    """The smallest retrieve-k that would fill the answer, found by looking further down the port's list."""
    highest = int(BY_KEY["retrieve-k"].high or 0)
    width = settings.retrieve_k
    while width < highest:
        width = min(highest, max(width * 4, settings.return_n))
        aside = TraceCollector()  # this look is not part of the answer
        wider = settings.with_flags({"retrieve-k": width})
        hits, exhausted = _retrieve(question, port, wider, scope, aside)
        served = _served(identify(hits, aside.rounds), scope, aside)
        blocks = _blocks(served, wider, catalog, scope, aside)
        found = width_that_fills(blocks, _cap(settings), settings.return_n)
        if found is not None or exhausted:
            return found
    return None


class QueryEngine:
    """Answers questions on one library with one model. Use it from one thread.

    It remembers the vector of the last question, so that changed settings are answered without the model.
    """

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        self._folder = folder
        self._encoder = encoder
        self._reader: LibraryReader | None = None
        self._last: tuple[str, Vectors, int] | None = None

    def ask(
        self,
        text: str,
        settings: Settings,
        *,
        left_out: Collection[str] = (),
        preferred: Collection[str] = (),
        only_document: str | None = None,
    ) -> Trace:
        """`left_out`, `preferred`, `only_document` are doc_ids. Raises `QueryError`, `LibraryError`, `ModelError`."""
        question = text.strip()
        if not question:
            raise QueryError("the question is empty: type what you want to find")
        if len(question) > LONGEST_QUESTION:
            raise QueryError(f"the question has {len(question):,} characters; {LONGEST_QUESTION:,} are the most")
        if self._reader is None:
            self._reader = LibraryReader(self._folder)
        reader = self._reader
        state = reader.catalog.state()
        if state.fingerprint and state.fingerprint != self._encoder.fingerprint:
            raise ModelMismatch(
                f"this library was made with the model {state.model}, not with {self._encoder.name}: choose that "
                "model, or index the folders into a new library"
            )
        # Before the snapshot: the model may still be loading, and an open snapshot keeps the write-ahead log growing.
        vector, tokens, embed_ms = self._embedded(question)
        with reader.snapshot():
            excluded = dict.fromkeys(left_out, CHOSEN)
            if not settings.serve_stale:
                excluded = {doc_id: f"stale: {why}" for doc_id, why in reader.catalog.unserved().items()} | excluded
            limit = self._encoder.token_limit
            return answer(
                Question(question, vector, only_document),
                port=reader.port(limit),
                catalog=reader.catalog,
                settings=settings,
                scope=Scope(excluded, frozenset(preferred), only_document),
                count_tokens=self._encoder.count_tokens,
                embed_ms=embed_ms,
                query_tokens=(tokens, min(tokens, limit)),
            )

    def doc_id_of(self, path: str) -> str:
        """The document that is this file (absolute path, path from here, or doc_id). Raises `QueryError`."""
        if self._reader is None:
            self._reader = LibraryReader(self._folder)
        found = self._reader.catalog.doc_id_of_path(path)
        if found is None:
            raise QueryError(f"the library has no document {path}")
        return found

    def _embedded(self, question: str) -> tuple[Vectors, int, float]:
        """The question's vector, its tokens, and the milliseconds that it took (0.0 when it was already made)."""
        if self._last is not None and self._last[0] == question:
            return self._last[1], self._last[2], 0.0
        began = time.perf_counter()
        vector = self._encoder.encode([question])[0]
        tokens = self._encoder.count_tokens([question])[0]
        self._last = (question, vector, tokens)
        return vector, tokens, (time.perf_counter() - began) * 1000

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
