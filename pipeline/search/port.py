"""What the pipeline asks of a search engine, and of the catalog behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pipeline.embed.port import Vectors
from pipeline.records import Copy, Freshness, Hit, IndexUse, LibraryFacts


@dataclass(frozen=True, slots=True)
class Question:
    """A query as a port sees it. `vector` has shape (dimension,), None for ports that embed on their own.
    `only_document` restricts the search to one document."""

    text: str
    vector: Vectors | None = None
    only_document: str | None = None


class KnowledgeSearchPort(Protocol):
    """One or more search channels behind one call."""

    def search(self, question: Question, limit: int) -> Sequence[Hit]:
        """The best `limit` hits, score descending, then doc_id, then chunk_index. Fewer than `limit` means that the
        port is exhausted. A larger limit gives the same hits and more behind them."""


@runtime_checkable
class TellsIndex(Protocol):
    """A port that says which index answers."""

    @property
    def index(self) -> IndexUse: ...


@runtime_checkable
class TellsReach(Protocol):
    """A port that knows, before it reads them, how many chunks hold a text."""

    def reach(self, question: Question, texts: int) -> int:
        """So many hits, at the least, it takes to find `texts` different texts."""


class CopyCatalog(Protocol):
    """What the catalog of the library knows beyond the hits. A port may come without one."""

    def copies(self, fold_keys: Collection[str]) -> Mapping[str, Sequence[Copy]]:
        """Every chunk of the library that holds a text of these fold keys."""

    def unserved(self) -> Mapping[str, str]:
        """doc_id -> why, of documents that the library keeps out of searches by default (stale ones)."""

    def freshness(self, doc_ids: Collection[str]) -> Mapping[str, Freshness]:
        """How each document's file compares with what was indexed, looked at now."""

    def contents(self, locations: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        """The verbatim text of chunks, by (doc_id, chunk_index)."""

    def facts(self) -> LibraryFacts: ...
