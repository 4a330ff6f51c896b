"""What the pipeline needs from an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pipeline.embed.cores import texts_for_all_cores

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into unit vectors. Implementations are safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name for people, such as `all-MiniLM-L6-v2`."""

    @property
    def source(self) -> str | None:
        """The folder or hub name that loads it again; None is the built-in model."""

    @property
    def fingerprint(self) -> str:
        """Identity of the model's weights and configuration; vectors of different fingerprints never mix."""

    @property
    def dimension(self) -> int: ...

    @property
    def token_limit(self) -> int:
        """How many tokens (special ones included) of a text the model reads; the rest it does not see."""

    @property
    def tokenizer_file(self) -> str | None:
        """Path of the model's `tokenizer.json`, None when it has none: readers count tokens with it."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), float32, rows of length 1. Raises `ModelError`."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones included, without truncation."""


def texts_at_once(encoder: Encoder) -> int:
    """How many texts an indexing run asks of this encoder at a time: what it says itself, where it runs on something
    that wants more than a processor does."""
    return int(getattr(encoder, "texts_at_once", 0)) or texts_for_all_cores()
