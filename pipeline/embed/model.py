"""A sentence-transformers model run by torch in this process: the reference for every other way of running it.

The only module that imports torch and sentence-transformers, and only when the model is loaded.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.folder import KnownByFolder, ModelFolder, locate
from pipeline.embed.graph_cache import GraphFacts, NoGraph
from pipeline.embed.port import Vectors
from pipeline.errors import ModelError

# Batches are cut from texts sorted by length; small ones waste the least work on padding (1.2 to 1.4 times as fast on
# two cores as the library's 32).
_BATCH = 8
# An accelerator is idle with so few: it takes this many in the time of one.
_ACCELERATED_BATCH = 64

# What can become a graph. Anything else may look at more than the token ids.
_MODULES = ("Transformer", "Pooling", "Dense", "LayerNorm", "Dropout", "Normalize")
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OPSET = 17
_MOST_TOKENS = 2048  # beyond, attention as a plain graph takes gigabytes where torch's own takes megabytes
_MOST_BYTES = 2**31 - 2**26  # what one file of the format can hold


class SentenceTransformerEncoder(KnownByFolder):
    """`Encoder` over a local model folder or a hub name that is on this disk; None is the built-in model.

    The folder is found at once (raising `ModelError`), the model is loaded at first use. Nothing is downloaded.
    """

    def __init__(self, model: str | Path | ModelFolder | None = None) -> None:
        super().__init__(model if isinstance(model, ModelFolder) else locate(model))
        self._model: Any = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        return int(self._loaded().get_embedding_dimension())

    @property
    def token_limit(self) -> int:
        return int(self._loaded().max_seq_length or 512)

    @property
    def device(self) -> str:
        """Where it runs: `cpu`, or the accelerator that torch found: `cuda`, `mps`, ..."""
        return str(self._loaded().device.type)

    @property
    def runtime(self) -> str:
        return "torch" if self.device == "cpu" else f"torch on {self.device}"

    @property
    def texts_at_once(self) -> int:
        """See `port.texts_at_once`; 0 on a processor."""
        return 0 if self.device == "cpu" else _ACCELERATED_BATCH

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
                    batch_size=self.texts_at_once or _BATCH,
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

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model is given of each text: its prompt put first, cut at the token limit."""
        return [self._features([text])["input_ids"][0].tolist() for text in texts]

    @property
    def weight_bytes(self) -> int:
        """Size of the weights in memory."""
        return sum(weights.numel() * weights.element_size() for weights in self._loaded().parameters())

    def save_graph(self, file: Path, tokenizer_file: Path, examples: Sequence[str]) -> GraphFacts:
        """Write the model as an ONNX graph and the tokenizer as it is in use. The graph is traced with `examples`,
        which must differ in length. Raises `NoGraph` where that cannot be done.

        Another thread may encode meanwhile: what is traced is a copy of the model, whose attention is spelled out
        (the graph of torch's own attention is 6 % slower).
        """
        import torch

        self._refuse_what_fits_no_graph()
        model = self._load(device="cpu", model_kwargs={"attn_implementation": "eager"})
        features = self._features(examples)
        tensors = {name: value for name, value in features.items() if isinstance(value, torch.Tensor)}
        fixed = {name: value for name, value in features.items() if name not in tensors}
        if unknown := sorted(set(tensors) - set(_INPUTS)):
            raise NoGraph(f"it wants more than token ids: {', '.join(unknown)}")

        class Sentence(torch.nn.Module):  # type: ignore[misc]  # torch is not typed here
            """Tensors in, the vector that `encode` would return out."""

            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, *values: Any) -> Any:
                vector = self.model(fixed | dict(zip(tensors, values, strict=True)))["sentence_embedding"]
                if model.truncate_dim is not None:
                    vector = vector[:, : model.truncate_dim]
                return torch.nn.functional.normalize(vector.float(), p=2, dim=1)

        try:
            with warnings.catch_warnings(), torch.inference_mode():
                # That this exporter is the older one, and every shape that the trace takes as given: the graph is
                # compared with the model afterwards.
                warnings.simplefilter("ignore")
                torch.onnx.export(
                    Sentence().eval(),
                    tuple(tensors.values()),
                    str(file),
                    dynamo=False,
                    opset_version=_OPSET,
                    input_names=list(tensors),
                    output_names=["vector"],
                    dynamic_axes={name: {0: "texts", 1: "tokens"} for name in tensors} | {"vector": {0: "texts"}},
                )
        except (OSError, MemoryError):
            raise
        except Exception as error:
            raise NoGraph(f"it does not export: {type(error).__name__}: {_first_line(error)}") from error
        tokenizer = model.tokenizer
        tokenizer_file.write_text(tokenizer.backend_tokenizer.to_str(), "utf-8")
        return GraphFacts(
            dimension=self.dimension,
            token_limit=self.token_limit,
            prompt=self._prompt(),
            pad_id=int(tokenizer.pad_token_id or 0),
            pad_type_id=int(tokenizer.pad_token_type_id or 0),
            pads_left=tokenizer.padding_side == "left",
            truncates_left=tokenizer.truncation_side == "left",
        )

    def _refuse_what_fits_no_graph(self) -> None:
        model = self._loaded()
        for module in model:
            kind = type(module)
            if kind.__name__ not in _MODULES or not kind.__module__.startswith("sentence_transformers."):
                raise NoGraph(f"its module {kind.__name__} is not known")
        if not getattr(model.tokenizer, "is_fast", False):
            raise NoGraph("its tokenizer works in transformers alone")
        if self.token_limit > _MOST_TOKENS:
            raise NoGraph(f"it reads {self.token_limit:,} tokens, more than {_MOST_TOKENS:,}")
        if self.weight_bytes > _MOST_BYTES:
            raise NoGraph("its weights are larger than one file of the format can hold")

    def _features(self, texts: Sequence[str]) -> dict[str, Any]:
        return dict(self._loaded().preprocess(list(texts), prompt=self._prompt() or None))

    def _prompt(self) -> str:
        """What `encode` puts before every text."""
        model = self._loaded()
        return str(model.prompts.get(model.default_prompt_name) or "")

    def _loaded(self) -> Any:
        if self._model is not None:
            return self._model  # what it is like can be told while it encodes
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self, **options: Any) -> Any:
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # the library has no types here
            return SentenceTransformer(str(self._folder.path), local_files_only=True, **options)
        except Exception as error:
            raise ModelError(f"the model in {self._folder.path} cannot be loaded: {error}") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0][:200]
