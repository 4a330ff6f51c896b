"""Whether memory grows with a folder: the peak of an indexing run over 2,000 and over 20,000 documents.

The encoder is a cheap one with vectors as long as the model's, so that a run takes seconds and holds nothing but what
the library itself needs. `python -m tests.bench.growth LIBRARY FOLDER` is one such run.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.embed.port import Vectors
from pipeline.index import index_library
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


if __name__ == "__main__":
    library, folder = sys.argv[1:]
    index_library(Path(library), [Path(folder)], encoder=CheapEncoder())
