"""Use case: a question -> the trace of its answer."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.duplicates.decided import NOTHING_DECIDED, Decided
from pipeline.duplicates.in_force import DecisionsInForce
from pipeline.embed.port import Encoder, Vectors
from pipeline.errors import ModelMismatch, QueryError
from pipeline.last_search import LastSearch, found_of
from pipeline.library import LibraryReader
from pipeline.pausing import no_collecting
from pipeline.records import (
    Budget,
    Candidate,
    Copy,
    LibraryFacts,
    ProjectedItem,
    Shortfall,
    Summary,
    Timings,
    Trace,
)
from pipeline.search.dense import DenseSearch
from pipeline.search.port import CopyCatalog, KnowledgeSearchPort, Question, TellsIndex
from pipeline.select.outcome import Block
from pipeline.select.pack import Budgets, Packed
from pipeline.select.project import page_label
from pipeline.select.shortfall import cap_that_fills, explain, width_that_fills
from pipeline.select.width import distinct_texts
from pipeline.selection import (
    CHOSEN,
    DECIDED,
    TRASHED,
    Retrieved,
    Scope,
    budgets_in_force,
    cap_in_force,
    choose,
    recall_found,
)
from pipeline.settings import BY_KEY, Settings
from pipeline.trace import TraceCollector

_HALVES = re.compile("[\ud800-\udfff]")
STALE = "stale: "  # how the reason of a document begins that could not be read again
LONGEST_QUESTION = 20_000  # characters; the model reads far less, and the trace says how much


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
    retrieved: Retrieved | None = None,
    last: LastSearch | None = None,
) -> Trace:
    """Retrieve, select and project. The one function behind the window, the command line and the tests.

    `query_tokens` is (all, seen by the model). Without a catalog, copies are known among the hits only. `retrieved`
    holds the hits where they are there already: at least what the port gives to this question under these settings.
    `last` knows what was found last."""
    collector = collector or TraceCollector()
    began = time.perf_counter()
    last = last or LastSearch()
    found = last.look(question, port, catalog, settings, scope) if retrieved is None else found_of(retrieved, catalog)
    for done in found.retrieved.rounds:
        collector.round(done.asked, done.received, done.distinct)
    searched = time.perf_counter()

    recalled = recall_found(found.candidates, found.copies, catalog, settings, scope, collector)
    chosen = choose(recalled.blocks, settings, collector)
    candidates, evidence = recalled.candidates, chosen.evidence
    projected = _projected(chosen.packed, candidates, count_tokens)
    shortfall = None
    if len(evidence) < settings.return_n:
        shortfall = _shortfall(
            last, question, port, settings, scope, catalog, recalled.blocks, len(evidence), found.retrieved.exhausted
        )
    doc_ids = {candidate.doc_id for candidate in candidates if candidate.doc_id is not None}
    traced = collector.traced(
        candidates,
        catalog.freshness(doc_ids) if catalog is not None else {},
        _twin_groups(candidates, recalled.copies or {}),
        last.near_twins(candidates, settings.near_threshold),
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
            distinct=distinct_texts(recalled.served),
            cited_files=len({path for block in evidence for path in block.source_paths}),
            shortfall=shortfall,
            budget=_budget(projected, budgets_in_force(settings)),
        ),
        timings_ms=Timings(
            embed=round(embed_ms, 3),
            search=round((searched - began) * 1000, 3),
            select=round((ended - searched) * 1000, 3),
            total=round(embed_ms + (ended - began) * 1000, 3),
        ),
        index=port.index if isinstance(port, TellsIndex) else None,
        only_file=scope.only_document,
        left_out=tuple(sorted(scope.left_out)),
        left_out_stale=tuple(sorted(doc_id for doc_id, why in scope.left_out.items() if why.startswith(STALE))),
        left_out_decided=tuple(
            sorted(doc_id for doc_id, why in scope.left_out.items() if why != CHOSEN and not why.startswith(STALE))
        ),
        preferred=tuple(sorted(scope.preferred)),
        preferred_decided=tuple(sorted(scope.preferred_decided)),
        query_tokens=query_tokens[0] if query_tokens else None,
        query_tokens_seen=query_tokens[1] if query_tokens else None,
    )


def _projected(
    packed: Sequence[Packed],
    candidates: Sequence[Candidate],
    count_tokens: Callable[[Sequence[str]], Sequence[int]] | None,
) -> tuple[ProjectedItem, ...]:
    counted: Sequence[int | None] = [None] * len(packed)
    if count_tokens is not None:
        carriers = [candidates[piece.evidence.carrier_rank - 1] for piece in packed]
        # Counted already when the text was indexed, unless it was cut or is another copy's.
        counted = [
            carrier.tokens if carrier.text == piece.content else None
            for piece, carrier in zip(packed, carriers, strict=True)
        ]
        unknown = [piece.content for piece, tokens in zip(packed, counted, strict=True) if tokens is None]
        found = iter(count_tokens(unknown) if unknown else ())
        counted = [next(found) if tokens is None else tokens for tokens in counted]
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


def _twin_groups(candidates: Sequence[Candidate], copies: Mapping[str, Sequence[Copy]]) -> dict[str, str]:
    """A letter for each text that more than one chunk of the answer or of the library holds, in rank order."""
    first: dict[str, str] = {}
    several: set[str] = set()
    for candidate in candidates:
        if candidate.text is not None:
            fold_key = candidate.fold_key
            if first.setdefault(fold_key, candidate.evidence_key) != candidate.evidence_key:
                several.add(fold_key)
    for fold_key, held_in in copies.items():
        if fold_key not in several and any(copy.location.evidence_key != first[fold_key] for copy in held_in):
            several.add(fold_key)
    twins = [fold_key for fold_key in first if fold_key in several]
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
    last: LastSearch,
    question: Question,
    port: KnowledgeSearchPort,
    settings: Settings,
    scope: Scope,
    catalog: CopyCatalog | None,
    blocks: Sequence[Block],
    got: int,
    exhausted: bool,
) -> Shortfall:
    cap = cap_in_force(settings)
    filling_cap = cap_that_fills(blocks, settings.return_n) if cap else None
    width = None
    if filling_cap is None and not exhausted:
        width = _filling_width(last, question, port, settings, scope, catalog)
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
    last: LastSearch,
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
        wider = settings.with_flags({"retrieve-k": width})
        there = last.look(question, port, catalog, wider, scope)
        aside = TraceCollector()  # this look is not part of the answer
        recalled = recall_found(there.candidates, there.copies, catalog, wider, scope, aside)
        found = width_that_fills(recalled.blocks, cap_in_force(settings), settings.return_n)
        if found is not None and settings.policy != "evidence":
            # Such a width counts hits, not blocks: all hits up to the one that begins the last block.
            last_rank = recalled.blocks[found - 1].carrier.rank
            found = sum(candidate.rank <= last_rank for candidate in recalled.served)
        if found is not None or there.retrieved.exhausted:
            return found
    return None


@dataclass(frozen=True, slots=True)
class ReadyQuestion:
    """A question with its vector on one committed state of a library (see `QueryEngine.ready`). `left_out` are the
    documents that the user chose, `stale` (doc_id -> why) those that are only served where `serve-stale` says so.
    `decided` (doc_id -> why) are left out of every search, `preferred_decided` cited first in every search;
    `decisions_ignored` says that nobody looked for such."""

    question: Question
    reader: LibraryReader
    port: DenseSearch
    settings: Settings
    left_out: frozenset[str]
    preferred: frozenset[str]
    stale: Mapping[str, str]
    count_tokens: Callable[[Sequence[str]], Sequence[int]]
    query_tokens: tuple[int, int]  # all, and those that the model sees
    embed_ms: float
    decided: Mapping[str, str] = field(default_factory=dict)
    preferred_decided: frozenset[str] = frozenset()
    decisions_ignored: bool = False
    last: LastSearch | None = None

    def scope(self, settings: Settings | None = None) -> Scope:
        """What the search may use under these settings, the question's own by default."""
        chosen = dict.fromkeys(self.left_out, CHOSEN)
        stale = {} if (settings or self.settings).serve_stale else self.stale
        left_out = {**stale, **self.decided, **chosen}
        return Scope(left_out, self.preferred, self.question.only_document, self.preferred_decided)

    def answer(self, settings: Settings | None = None, retrieved: Retrieved | None = None) -> Trace:
        """The trace under these settings, the question's own by default; of these hits, where they are given."""
        settings = settings or self.settings
        trace = answer(
            self.question,
            port=self.port,
            catalog=self.reader.catalog,
            settings=settings,
            scope=self.scope(settings),
            count_tokens=self.count_tokens,
            embed_ms=self.embed_ms,
            query_tokens=self.query_tokens,
            retrieved=retrieved,
            last=self.last,
        )
        return replace(trace, decisions_ignored=True) if self.decisions_ignored else trace


class QueryEngine:
    """Answers questions on one library with one model. Use it from one thread.

    It remembers the vector of the last question and what was found for it, so that changed settings are answered
    without the model, and mostly without another search. What was
    decided about duplicates is looked up anew for every question.
    """

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        self._folder = folder
        self._encoder = encoder
        self._reader: LibraryReader | None = None
        self._last: tuple[str, Vectors, int] | None = None
        self._last_search = LastSearch()
        self._decisions = DecisionsInForce(folder)

    def ask(
        self,
        text: str,
        settings: Settings,
        *,
        left_out: Collection[str] = (),
        preferred: Collection[str] = (),
        only_document: str | None = None,
        decisions: bool = True,
    ) -> Trace:
        """`left_out`, `preferred`, `only_document` are doc_ids; they outrank what was decided for every search, which
        `decisions` False ignores. Raises `QueryError`, `LibraryError`, `DecisionsError`, `ModelError`."""
        with self.ready(
            text,
            settings,
            left_out=left_out,
            preferred=preferred,
            only_document=only_document,
            decisions=decisions,
        ) as asked:
            return asked.answer()

    @contextmanager
    def ready(
        self,
        text: str,
        settings: Settings,
        *,
        left_out: Collection[str] = (),
        preferred: Collection[str] = (),
        only_document: str | None = None,
        decisions: bool = True,
    ) -> Iterator[ReadyQuestion]:
        """The question on one committed state of the library, for whoever looks at more than its answer; to be used
        inside the `with` alone. Raises as `ask` does."""
        # Half of a surrogate pair is no character: a terminal that speaks another encoding gives such.
        question = _HALVES.sub("\N{REPLACEMENT CHARACTER}", text).strip()
        if not question:
            raise QueryError("the question is empty: type what you want to find")
        if len(question) > LONGEST_QUESTION:
            raise QueryError(f"the question has {len(question):,} characters; {LONGEST_QUESTION:,} are the most")
        reader = self._opened()
        state = reader.catalog.state()
        if state.fingerprint and state.fingerprint != self._encoder.fingerprint:
            raise ModelMismatch(
                f"this library was made with the model {state.model}, not with {self._encoder.name}: choose that "
                "model, or index the folders into a new library"
            )
        # Before the snapshot: the model may still be loading, and an open snapshot keeps the write-ahead log growing.
        vector, tokens, embed_ms = self._embedded(question)
        with reader.snapshot() as state, no_collecting():
            limit = self._encoder.token_limit
            port = self._last_search.keep_in_step((state.token, limit), lambda: reader.port(limit))
            decided = self._decisions.at(reader, state) if decisions else NOTHING_DECIDED
            asked_for = {*preferred, only_document}  # named by the question: served, whatever was decided
            out = {doc_id: why for doc_id, why in _decided_out(decided).items() if doc_id not in asked_for}
            yield ReadyQuestion(
                Question(question, vector, only_document),
                reader,
                port,
                settings,
                frozenset(left_out),
                frozenset(preferred),
                {doc_id: f"{STALE}{why}" for doc_id, why in reader.catalog.unserved().items()},
                self._encoder.count_tokens,
                (tokens, min(tokens, limit)),
                embed_ms,
                out,
                decided.preferred - {*preferred, *left_out, *out},
                not decisions,
                self._last_search,
            )

    def doc_id_of(self, path: str) -> str:
        """The document that is this file: an absolute path, a path from here, a doc_id, or a path below one of the
        library's folders. Raises `QueryError`."""
        return self._opened().doc_id_of(path)

    def _opened(self) -> LibraryReader:
        if self._reader is None:
            self._reader = LibraryReader(self._folder)
        return self._reader

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
        self._decisions.close()


def _decided_out(decided: Decided) -> dict[str, str]:
    """What no search uses, and why: what was left out for good, and what lies in the trash. A file that was taken out
    of the trash again is served again."""
    out = {doc_id: TRASHED for doc_id, path in decided.trashed.items() if not os.path.lexists(path)}
    return out | {doc_id: DECIDED.format(date=made_at[:10]) for doc_id, made_at in decided.left_out.items()}
