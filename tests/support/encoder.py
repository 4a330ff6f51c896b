"""A small encoder for tests: deterministic, no model, similar words give similar vectors."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from pipeline.embed.port import Vectors


class WordEncoder:
    """Each lower-cased word points somewhere fixed; a text points where its words do. Counts what it encodes."""

    def __init__(self, dimension: int = 64, name: str = "words", token_limit: int = 256) -> None:
        self.name = name
        self.source: str | None = None
        self.fingerprint = f"{name}-{dimension}"
        self.dimension = dimension
        self.token_limit = token_limit
        self.tokenizer_file: str | None = None
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row += self._direction(word)
            row /= np.linalg.norm(row) or 1.0
            if not row.any():
                row[0] = 1.0
        return rows

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(re.findall(r"\w+", text)) + 2 for text in texts]

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
        return np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)


class FlatEncoder(WordEncoder):
    """One vector for all texts, made in no time: where the words alone matter."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        rows = np.zeros((len(texts), self.dimension), np.float32)
        rows[:, 0] = 1.0
        return rows
