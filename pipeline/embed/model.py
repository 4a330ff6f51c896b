"""A sentence-transformers model in this process. The only module that imports it, and only when the model is loaded."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.folder import locate
from pipeline.embed.port import Vectors
from pipeline.errors import ModelError

# Batches are cut from texts sorted by length; small ones waste the least work on padding (1.2 to 1.4 times as fast on
# two cores as the library's 32).
_BATCH = 8


class SentenceTransformerEncoder:
    """`Encoder` over a local model folder or a hub name that is on this disk; None is the built-in model.

    The folder is found at once (raising `ModelError`), the model is loaded at first use. Nothing is downloaded.
    """

    def __init__(self, model: str | Path | None = None) -> None:
        self._folder = locate(model)
        self._model: Any = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._folder.name

    @property
    def source(self) -> str | None:
        return self._folder.source

    @property
    def fingerprint(self) -> str:
        return self._folder.fingerprint

    @property
    def tokenizer_file(self) -> str | None:
        return self._folder.tokenizer_file

    @property
    def dimension(self) -> int:
        return int(self._loaded().get_embedding_dimension())

    @property
    def token_limit(self) -> int:
        return int(self._loaded().max_seq_length or 512)

    def load(self) -> None:
        """Load now instead of at first use. Raises `ModelError`."""
        self._loaded()

    def encode(self, texts: Sequence[str]) -> Vectors:
        model = self._loaded()
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        try:
            with self._lock:
                vectors = model.encode(
                    list(texts),
                    batch_size=_BATCH,
                    normalize_embeddings=True,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
        except Exception as error:
            raise ModelError(f"the model {self.name} failed: {error}") from error
        return np.asarray(vectors, dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        tokenizer = self._loaded().tokenizer
        with self._lock:
            found = tokenizer(list(texts), truncation=False, padding=False, verbose=False)
        return [len(ids) for ids in found["input_ids"]]

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> Any:
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # the library has no types here
            return SentenceTransformer(str(self._folder.path), local_files_only=True)
        except Exception as error:
            raise ModelError(f"the model in {self._folder.path} cannot be loaded: {error}") from error
