"""Folders of invented files, and a library over them, indexed for real."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pipeline.index import IndexReport, index_library
from pipeline.library import LibraryReader
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.settings import Layer, resolve
from pipeline.trace import to_json
from tests.support.encoder import WordEncoder

_FILLER = [
    "morning",
    "harbour",
    "lantern",
    "gravel",
    "copper",
    "meadow",
    "ribbon",
    "thunder",
    "walnut",
    "velvet",
    "compass",
    "orchard",
    "saddle",
    "pepper",
    "anchor",
    "mirror",
    "basket",
    "candle",
    "feather",
    "quarry",
    "violin",
    "marble",
    "pocket",
    "island",
    "tunnel",
    "garden",
    "letter",
    "window",
    "bridge",
    "summer",
]


def passage(subject: str, number: int = 0, size: int = 620) -> str:
    """A paragraph about `subject` (some words), at least `size` characters long: longer than half a chunk, so that it
    becomes one of its own. Different numbers give different paragraphs on the same subject."""
    words = subject.split()
    filler = itertools.cycle(_FILLER[number % len(_FILLER) :] + _FILLER[: number % len(_FILLER)])
    sentences = [f"Passage {number} is about {subject}."]
    turn = itertools.cycle(words)
    while sum(map(len, sentences)) + len(sentences) < size:
        sentences.append(f"The {next(turn)} and the {next(filler)} meet the {next(turn)} near the {next(filler)}.")
    return " ".join(sentences)


def document(*passages: str) -> str:
    return "\n\n".join(passages) + "\n"


class Folder:
    """A root with its library beside it, indexed and asked through the real pipeline."""

    def __init__(self, place: Path, encoder: WordEncoder | None = None, name: str = "docs") -> None:
        self.root = place / name
        self.library = place / "library"
        self.encoder = encoder or WordEncoder(256)
        self.root.mkdir(parents=True)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def remove(self, *names: str) -> None:
        for name in names:
            (self.root / name).unlink()

    def index(self, **options: Any) -> IndexReport:
        return index_library(self.library, [self.root], encoder=self.encoder, **options)

    def ask(
        self,
        question: str,
        *,
        left_out: Collection[str] = (),
        preferred: Collection[str] = (),
        only: str | None = None,
        **settings: object,
    ) -> Trace:
        """Settings by name with underscores; documents by their path below the root."""
        values = {key.replace("_", "-"): value for key, value in settings.items()}
        engine = QueryEngine(self.library, self.encoder)
        try:
            return engine.ask(
                question,
                resolve([Layer(values, "flag")]),
                left_out=[self.doc_id(name) for name in left_out],
                preferred=[self.doc_id(name) for name in preferred],
                only_document=None if only is None else self.doc_id(only),
            )
        finally:
            engine.close()

    def doc_id(self, name: str) -> str:
        return f"{self.root.name}/{name}"

    def names(self, paths: Collection[str]) -> list[str]:
        """Paths as names below the root."""
        return [Path(path).relative_to(self.root).as_posix() for path in paths]

    def no_orphans(self) -> bool:
        """No text without a chunk, no vector without a text, no text without a vector."""
        reader = LibraryReader(self.library)
        try:
            with reader.snapshot():
                assert reader._index is not None
                vectors = set(reader._index.ids().tolist())
                texts = set(reader.catalog.vectors.ids().tolist())
                held = reader.catalog.copy_counts(texts)
                return vectors == texts and all(held.values()) and reader.rebuilt_because == ""
        finally:
            reader.close()


def answer_bytes(trace: Trace, place: Path) -> str:
    """The answer without what belongs to the run: where the library lies, its generation, and the time it took."""
    plain = to_json(trace)
    for key in ("library", "timings_ms"):
        del plain[key]
    return json.dumps(plain, sort_keys=True).replace(json.dumps(str(place))[1:-1], "PLACE")
