"""Whether memory grows with a folder: the peak of an indexing run over 2,000 and over 20,000 documents, and over
100,000 chunks, with the log of the database while somebody reads it.

The encoder is a cheap one with vectors as long as the model's, so that a run takes seconds and holds nothing but what
the library itself needs. `python -m tests.bench.growth LIBRARY FOLDER` is one such run.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from pipeline.embed.port import Vectors
from pipeline.errors import LibraryError
from pipeline.index import index_library
from pipeline.records import LibraryFacts
from pipeline.store.catalog import Catalog
from pipeline.store.schema import database_file, errors_in_words, open_for_reading
from tests.bench.corpus import make_corpus
from tests.bench.figures import Row, Target
from tests.bench.memory import peak
from tests.support.encoder import WordEncoder

_DIMENSION = 384


class CheapEncoder(WordEncoder):
    """A vector a text, as long as the model's, in no time; keeps nothing of what it encodes."""

    def __init__(self) -> None:
        super().__init__(_DIMENSION, "cheap")

    def encode(self, texts: Sequence[str]) -> Vectors:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") for text in texts]
        rows = np.stack([np.random.default_rng(seed).standard_normal(_DIMENSION, np.float32) for seed in seeds])
        lengths: Vectors = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / lengths


def growth(place: Path, *, files: int) -> list[Row]:
    """`files` documents of one chunk each, against a tenth of them; then both once more, unchanged."""
    peaks: dict[tuple[int, int], float] = {}
    for many in (files // 10, files):
        corpus = make_corpus(place / f"{many}", many, copies=0.0, per_file=1, size=300)
        for turn in (0, 1):
            command = [sys.executable, "-m", "tests.bench.growth", str(place / f"library {many}"), str(corpus.folder)]
            peaks[many, turn] = peak(command)[0]
    against = f"{files // 10:,} documents, child processes included"
    aim = Target("ratio", "at most", 1.3)
    return [
        Row(
            "growth",
            f"peak memory, indexing {files:,} documents{' again, unchanged' * turn}",
            peaks[files, turn],
            "MB",
            peaks[files // 10, turn],
            against,
            aim,
        )
        for turn in (0, 1)
    ]


def many_chunks(place: Path, *, chunks: int) -> list[Row]:
    """An indexing run of `chunks` chunks in files of ten, against one of a tenth of them, while a reader takes one
    short look at the library after the other."""
    peaks, looks = [], [_Looks(place / "library of a tenth"), _Looks(place / "library")]
    for many, look in zip((chunks // 10, chunks), looks, strict=True):
        corpus = make_corpus(place / f"chunks {many}", many, copies=0.0, per_file=10)
        command = [sys.executable, "-m", "tests.bench.growth", str(look.library), str(corpus.folder)]
        peaks.append(peak(command, look)[0])
        if look.facts().chunks != many:
            raise AssertionError(f"{look.facts().chunks} chunks came of {many}")
    file = database_file(looks[1].library).stat().st_size / 1e6
    return [
        Row(
            "growth",
            f"peak memory of an index run of {chunks:,} chunks",
            peaks[1],
            "MB",
            peaks[0],
            f"{chunks // 10:,} chunks, child processes included",
        ),
        Row("growth", "  of it per 100,000 chunks", (peaks[1] - peaks[0]) / (0.9 * chunks) * 100_000, "MB"),
        Row(
            "growth",
            f"  largest log of its database of {file:,.0f} MB, while {looks[1].taken:,} short looks were taken at it",
            looks[1].largest,
            "MB",
            target=Target("value", "at most", 100),
        ),
    ]


class _Looks:
    """Looks at a library while it is written, as somebody who asks; and how large its log becomes."""

    def __init__(self, library: Path) -> None:
        self.library, self.largest, self.taken = library, 0.0, 0

    def __call__(self) -> None:
        with suppress(OSError, LibraryError):
            self.largest = max(self.largest, Path(f"{database_file(self.library)}-wal").stat().st_size / 1e6)
            self.facts()
            self.taken += 1

    def facts(self) -> LibraryFacts:
        db = open_for_reading(self.library)
        try:
            with errors_in_words(self.library):
                return Catalog(db, self.library).facts()
        finally:
            db.close()


if __name__ == "__main__":
    library, folder = sys.argv[1:]
    index_library(Path(library), [Path(folder)], encoder=CheapEncoder())
