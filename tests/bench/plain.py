"""The plain pipeline that the figures are compared with: what one writes in 40 lines.

One vector per chunk, `SentenceTransformer.encode` with its defaults, `IndexFlatIP`, top-k, no collapse. It reads the
same files and uses the same chunker as the product, so that only the pipelines differ.

    python -m tests.bench.plain FOLDER      index the folder and say how many chunks were embedded
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from pipeline.chunk import split

Chunk = tuple[str, str]  # path, text


class PlainPipeline:
    """Chunks in a list, their vectors in a flat index."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.chunks: list[Chunk] = []
        self.index: Any = None

    def add_folder(self, folder: Path) -> None:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            text = path.read_text("utf-8")
            counter, limit = self.token_counter, self.model.max_seq_length
            spans = split(text, markup="markdown", token_counter=counter, token_limit=limit)
            self.chunks += [(str(path), text[start:end]) for start, end in spans]
        self.set_vectors(self.model.encode([text for _, text in self.chunks]))

    def set_vectors(self, vectors: Any) -> None:
        self.index = faiss.IndexFlatIP(vectors.shape[1])
        self.index.add(np.asarray(vectors, np.float32))

    def ask(self, question: str, k: int = 5) -> list[tuple[float, Chunk]]:
        scores, numbers = self.index.search(self.model.encode([question]), k)
        return [(float(score), self.chunks[n]) for score, n in zip(scores[0], numbers[0], strict=True)]

    @property
    def token_counter(self) -> Callable[[Sequence[str]], list[int]]:
        def count(texts: Sequence[str]) -> list[int]:
            return [len(ids) for ids in self.model.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]

        return count


def load_model() -> Any:
    """The built-in model, loaded as its documentation says."""
    from sentence_transformers import SentenceTransformer

    from pipeline.embed.folder import default_model_folder

    return SentenceTransformer(str(default_model_folder()), local_files_only=True)


if __name__ == "__main__":
    plain = PlainPipeline(load_model())
    plain.add_folder(Path(sys.argv[1]))
    print(len(plain.chunks))
