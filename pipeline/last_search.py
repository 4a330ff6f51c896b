"""What the last search found, kept so that a changed setting costs no more than what it changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pipeline.records import Candidate, Copy, NearTwin
from pipeline.search.port import CopyCatalog, KnowledgeSearchPort, Question
from pipeline.select.identity import identify
from pipeline.select.near import near_twins
from pipeline.selection import Retrieved, Scope, copies_of, retrieve
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, the candidates that they are, and every copy of their texts by fold key (None without a catalog)."""

    retrieved: Retrieved
    candidates: tuple[Candidate, ...]
    copies: Mapping[str, Sequence[Copy]] | None


def found_of(retrieved: Retrieved, catalog: CopyCatalog | None) -> Found:
    candidates = identify(retrieved.hits, retrieved.rounds)
    return Found(retrieved, candidates, copies_of(candidates, catalog))


Port = TypeVar("Port", bound=KnowledgeSearchPort)
_Twins = Mapping[int, tuple[NearTwin, ...]]
_MOST_KEPT = 4  # of one question: with widths that are gone back and forth between, or looked at for a remedy


class LastSearch:
    """For one engine. All of it follows from the state of the library, the question, and what `look` takes of settings
    and scope; so long as these are the same, it is not worked out again."""

    def __init__(self) -> None:
        self._state: Hashable = None
        self._port: Any = None
        self._basis: Hashable = None
        self._found: dict[Hashable, Found] = {}  # the latest used last
        self._twins: list[tuple[float, tuple[str, ...], _Twins]] = []  # threshold, evidence keys; the latest used first

    def keep_in_step(self, state: Hashable, make_port: Callable[[], Port]) -> Port:
        """The port on this state of the library; what was found on another state holds no longer."""
        if self._port is None or state != self._state:
            self._state, self._port, self._basis = state, make_port(), None
        port: Port = self._port
        return port

    def look(
        self,
        question: Question,
        port: KnowledgeSearchPort,
        catalog: CopyCatalog | None,
        settings: Settings,
        scope: Scope,
    ) -> Found:
        """What the port gives to this question."""
        basis = (question.text, question.only_document)
        if basis != self._basis:
            self._basis = basis
            self._found.clear()
            self._twins.clear()
        # All that `retrieve` asks of settings and scope.
        key = (settings.retrieve_k, settings.policy == "evidence", frozenset(scope.left_out))
        found = self._found.pop(key, None) or found_of(retrieve(question, port, settings, scope), catalog)
        self._found[key] = found
        if len(self._found) > _MOST_KEPT:
            del self._found[next(iter(self._found))]
        return found

    def near_twins(self, candidates: tuple[Candidate, ...], threshold: float) -> _Twins:
        """As `near_twins`. Those of a list are known from those of a longer one that begins with it."""
        if not any(found.candidates is candidates for found in self._found.values()):
            return near_twins(candidates, threshold)
        keys = tuple(candidate.evidence_key for candidate in candidates)
        for at, (known_threshold, known_keys, twins) in enumerate(self._twins):
            if known_threshold == threshold and known_keys[: len(keys)] == keys:
                self._twins.insert(0, self._twins.pop(at))
                return twins if len(known_keys) == len(keys) else _of_the_first(twins, frozenset(keys), len(keys))
        twins = near_twins(candidates, threshold)
        self._twins = [(threshold, keys, twins), *self._twins[: _MOST_KEPT - 1]]
        return twins


def _of_the_first(twins: _Twins, keys: frozenset[str], count: int) -> _Twins:
    """The near twins of the first `count` candidates among each other."""
    kept = {
        rank: tuple(twin for twin in near if twin.evidence_key in keys) for rank, near in twins.items() if rank <= count
    }
    return {rank: near for rank, near in kept.items() if near}
