"""The same question under other settings: the smallest change of one setting that brings something into the answer.

Every trial runs the real selection, on hits that are fetched from the port once. Where a value can be worked out
from the blocks it is, and then run, together with the value one step nearer to the one in force.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from pipeline.findings import SettingChange, Standing, Value, Ways
from pipeline.lineup import Goal, Lineup, Wanted
from pipeline.query import ReadyQuestion
from pipeline.records import Copy, Freshness, Hit, LibraryFacts
from pipeline.search.port import CopyCatalog, KnowledgeSearchPort, Question
from pipeline.search.standing import standings
from pipeline.select.near import near_pairs
from pipeline.select.outcome import Block
from pipeline.selection import Chosen, Recalled, choose, recall, retrieve
from pipeline.settings import BY_KEY, POLICIES, Settings
from pipeline.store.catalog import ChunkRow
from pipeline.trace import TraceCollector

# The order in which changes are named; the setting that removed it comes before all of them.
_ORDER = (
    "return-n",
    "max-chunks-per-document",
    "retrieve-k",
    "max-items",
    "max-total-chars",
    "max-chars-per-item",
    "fold-near",
    "near-threshold",
    "serve-stale",
    "policy",
)
_WIDEST = int(BY_KEY["retrieve-k"].high or 0)
_LOWEST_THRESHOLD = BY_KEY["near-threshold"].low or 0.0
_FAR = 2_000  # places; beyond, it is not tried what several settings would do: all that stands before it comes in too
_MOST_NEAR_BLOCKS = 500  # beyond, folding them is not tried: comparing all with all takes too long


class WhatIf:
    """One question on one state of the library; to be used while its `ReadyQuestion` is."""

    def __init__(self, question: ReadyQuestion, wanted: Wanted, rows: Sequence[ChunkRow]) -> None:
        """`rows` are the wanted chunks."""
        self._question = question
        self._wanted = wanted
        self._rows = rows
        self._settings = question.settings
        self._port = _FetchedOnce(question.port)
        self._catalog = _ReadOnce(question.reader.catalog)
        self._recalled: dict[tuple[Value, ...], Recalled] = {}
        self._chosen: dict[tuple[Value, ...], Chosen] = {}
        self._standings: dict[tuple[frozenset[str], bool], dict[tuple[str, int], Standing]] = {}

    # --- one trial ---

    def chosen(self, settings: Settings) -> Chosen:
        """The evidence under these settings."""
        key = tuple(entry.value for entry in settings.in_force.values())
        if key not in self._chosen:
            self._chosen[key] = choose(self._blocks(settings), settings, TraceCollector())
        return self._chosen[key]

    def reaches(self, settings: Settings, goal: Goal) -> bool:
        """Whether the answer under these settings cites it (evidence), and the agent receives that (projection)."""
        chosen = self.chosen(settings)
        evidence = chosen.evidence if goal == "evidence" else [piece.evidence for piece in chosen.packed]
        return any(self._wanted.is_it(place) for block in evidence for place in block.citations)

    def standings(self, settings: Settings) -> Mapping[tuple[str, int], Standing]:
        """Where its passages stand in the port's list, the best hundred, best first."""
        scope = self._question.scope(settings)
        key = (frozenset(scope.left_out), settings.policy == "evidence")
        if key not in self._standings:
            self._standings[key] = standings(
                self._rows,
                self._question.question,
                self._question.port,
                self._question.reader.catalog,
                self._question.reader.passages,
                left_out=scope.left_out.keys(),
                by_text=key[1],
            )
        return self._standings[key]

    def _recall(self, settings: Settings) -> Recalled:
        key = (
            settings.policy,
            settings.retrieve_k,
            settings.serve_stale,
            settings.fold_near,
            settings.near_threshold if settings.fold_near else None,
        )
        if key not in self._recalled:
            scope = self._question.scope(settings)
            retrieved = retrieve(self._question.question, self._port, settings, scope)
            self._recalled[key] = recall(retrieved, self._catalog, settings, scope, TraceCollector())
        return self._recalled[key]

    def _blocks(self, settings: Settings) -> tuple[Block, ...]:
        return self._recall(settings).blocks

    # --- all settings ---

    def ways(self, goal: Goal, cause: str | None = None) -> Ways:
        """What brings it in. `cause` is the setting that removed it, whose change is named first."""
        if self.reaches(self._settings, goal):
            return Ways(already=True)
        found: dict[str, SettingChange] = {}
        for setting, value in self._candidates(goal):
            change = self._verified(setting, value, goal)
            if change is not None:
                found[setting] = change
        order = sorted(found, key=lambda setting: (setting != cause, _ORDER.index(setting)))
        untried = self._untried()
        if found:
            return Ways(False, tuple(found[setting] for setting in order), untried=untried)
        together = self._together(goal)
        return Ways(False, together=together, reason=self._no_single(together), untried=untried)

    def _candidates(self, goal: Goal) -> Iterator[tuple[str, Value]]:
        """The value of each setting that may do it."""
        settings = self._settings
        line = Lineup(self._blocks(settings), settings, self._wanted)
        if (cap := line.nearest_cap(goal)) is not None:
            yield "max-chunks-per-document", cap
        if line.place is None:
            if (width := self._width(goal)) is not None:
                yield "retrieve-k", width
        elif line.place > settings.return_n:
            yield "return-n", line.place
        elif goal == "projection":
            yield from line.budgets()
        if settings.policy == "evidence":
            if "fold-near" not in self._untried():
                yield "fold-near", not settings.fold_near
            if (threshold := self._threshold(goal)) is not None:
                yield "near-threshold", threshold
        if self._question.stale:
            yield "serve-stale", not settings.serve_stale
        others = [policy for policy in reversed(POLICIES) if policy != settings.policy]
        doing = (policy for policy in others if self.reaches(settings.with_flags({"policy": policy}), goal))
        if (policy := next(doing, None)) is not None:
            yield "policy", policy

    def _verified(self, setting: str, value: Value, goal: Goal) -> SettingChange | None:
        """The change if it does it, brought as near to the value in force as it can be."""
        before = self._settings.in_force[setting].value
        if not self._does(setting, value, goal):
            return None
        if type(value) is int:
            nearer = _nearer(setting, value, before)
            while nearer != before and self._does(setting, nearer, goal):
                value, nearer = nearer, _nearer(setting, nearer, before)
        return SettingChange(setting, before, value)

    def _does(self, setting: str, value: Value, goal: Goal) -> bool:
        high = BY_KEY[setting].high
        if high is not None and isinstance(value, (int, float)) and value > high:
            return False
        return self.reaches(self._settings.with_flags({setting: value}), goal)

    def _width(self, goal: Goal) -> int | None:
        """The `retrieve-k` that recalls it. More width adds blocks behind the others, so once the evidence is full
        without it, more of it does nothing."""
        settings = self._settings
        if len(self.chosen(settings).evidence) >= settings.return_n:
            return None
        places = [place for place in self._places(settings) if settings.retrieve_k < place <= _WIDEST]
        if not places:
            return None
        nearest = settings.with_flags({"retrieve-k": places[0]})
        if self.reaches(nearest, goal):
            return places[0]
        if len(self.chosen(nearest).evidence) >= settings.return_n:
            return None
        widest = settings.with_flags({"retrieve-k": places[-1]})
        line = Lineup(self._blocks(widest), widest, self._wanted)
        if line.index is None:
            return None
        carrier = line.blocks[line.index].carrier
        served = self._recall(widest).served
        if settings.policy != "evidence":
            return next(n for n, candidate in enumerate(served, start=1) if candidate.rank == carrier.rank)
        texts = dict.fromkeys(candidate.fold_key for candidate in served)
        return next(n for n, fold_key in enumerate(texts, start=1) if fold_key == carrier.fold_key)

    def _places(self, settings: Settings) -> list[int]:
        return sorted({each.distinct_rank for each in self.standings(settings).values() if each.distinct_rank})

    # --- near twins ---

    def _untried(self) -> tuple[str, ...]:
        """What of the near twins is too costly to try."""
        settings = self._settings
        if settings.policy != "evidence":
            return ()
        if len(self._blocks(settings.with_flags({"fold-near": False}))) <= _MOST_NEAR_BLOCKS:
            return ()
        return ("near-threshold",) if settings.fold_near else ("fold-near",)

    def _threshold(self, goal: Goal) -> float | None:
        """The nearest threshold, in hundredths, that does it."""
        settings = self._settings
        if not settings.fold_near or self._untried():
            return None
        blocks = self._blocks(settings.with_flags({"fold-near": False}))
        pairs = near_pairs([block.content for block in blocks], _LOWEST_THRESHOLD)
        hundredths = [step / 100 for step in range(round(_LOWEST_THRESHOLD * 100), 101)]
        for threshold in sorted(hundredths, key=lambda value: (abs(value - settings.near_threshold), value)):
            kept: list[int] = []
            for position in range(len(blocks)):
                if not any(pairs.get((head, position), 0.0) >= threshold for head in kept):
                    kept.append(position)
            line = Lineup([blocks[position] for position in kept], settings, self._wanted)
            if line.within(goal) and self._does("near-threshold", threshold, goal):
                return threshold
        return None

    # --- several settings ---

    def _together(self, goal: Goal) -> tuple[SettingChange, ...]:
        """Changes of several settings that do it together, each no larger than it must be for its own stage."""
        values: dict[str, Value] = {}
        if self._wanted.doc_id in self._question.stale and not self._settings.serve_stale:
            values["serve-stale"] = True
        for further in ({}, {"fold-near": False}, {"policy": "evidence"}):
            settings = self._settings.with_flags({**values, **further})
            places = self._places(settings)
            if not places or places[0] > max(_FAR, settings.retrieve_k):
                continue
            if places[0] > settings.retrieve_k:
                settings = settings.with_flags({"retrieve-k": places[0]})
            line = Lineup(self._blocks(settings), settings, self._wanted)
            needed = line.needed(goal)
            if needed is None:
                continue
            settings = settings.with_flags(needed)
            if self.reaches(settings, goal):
                return tuple(
                    SettingChange(key, self._settings.in_force[key].value, entry.value)
                    for key, entry in settings.in_force.items()
                    if entry.via is None and entry.value != self._settings.in_force[key].value
                )
        return ()

    def _no_single(self, together: Sequence[SettingChange]) -> str:
        if together:
            said = " and ".join(f"{change.setting} {_shown(change.value)}" for change in together)
            return f"no single setting brings it in: it takes {said} together"
        places = self._places(self._settings)
        if places and places[0] > max(_FAR, self._settings.retrieve_k):
            return f"no single setting brings it in: it stands at place {places[0]:,}, behind all that fills the answer"
        return "no setting brings it in"


def _nearer(setting: str, value: int, before: Value) -> int:
    """One step towards the value in force. No cap (0) is more than any cap."""
    assert isinstance(before, int)
    if setting == "max-chunks-per-document" and before == 0:
        return value + 1
    return value - 1 if value > before else value + 1


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:,}" if isinstance(value, int) else str(value)


class _FetchedOnce:
    """The port's list, fetched once as deep as anybody looked: a larger limit gives the same hits and more behind."""

    def __init__(self, port: KnowledgeSearchPort) -> None:
        self._port = port
        self._hits: Sequence[Hit] = ()
        self._limit = 0

    def search(self, question: Question, limit: int) -> Sequence[Hit]:
        if limit > self._limit and len(self._hits) == self._limit:
            self._hits, self._limit = self._port.search(question, limit), limit
        return self._hits[:limit]


class _ReadOnce:
    """The catalog, each text's copies read once."""

    def __init__(self, catalog: CopyCatalog) -> None:
        self._catalog = catalog
        self._copies: dict[str, Sequence[Copy]] = {}

    def copies(self, fold_keys: Collection[str]) -> Mapping[str, Sequence[Copy]]:
        unknown = {fold_key for fold_key in fold_keys if fold_key not in self._copies}
        if unknown:
            self._copies.update(self._catalog.copies(unknown))
        return {fold_key: self._copies[fold_key] for fold_key in fold_keys if fold_key in self._copies}

    def unserved(self) -> Mapping[str, str]:
        return self._catalog.unserved()

    def freshness(self, doc_ids: Collection[str]) -> Mapping[str, Freshness]:
        return self._catalog.freshness(doc_ids)

    def contents(self, locations: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        return self._catalog.contents(locations)

    def facts(self) -> LibraryFacts:
        return self._catalog.facts()
