"""A model as an ONNX graph from token ids to unit vectors. The only module that imports onnxruntime, and itself to be
imported only where a model is loaded."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# Read once, when the library is loaded: it would gather what it calls telemetry and try to send it. Nothing is sent
# anywhere from here, so this stands before the import.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # ships no types
from tokenizers import Encoding, Tokenizer

from pipeline.embed.cores import usable_cores
from pipeline.embed.graph_cache import GraphFacts
from pipeline.embed.port import Vectors
from pipeline.errors import ModelError

GRAPH_FILE, WEIGHTS_FILE, TOKENIZER_FILE = "graph.onnx", "weights.bin", "tokenizer.json"
OUTPUT = "vector"
# Measured on two cores: below this many tokens a call reads the weights for too little work, above it nothing is
# gained, texts are padded to the longest of their batch, and the threads end further apart.
_BATCH_TOKENS = 256
_ERRORS_ONLY = 3
_PROVIDER = "CPUExecutionProvider"

onnxruntime.disable_telemetry_events()


class GraphEncoder:
    """The graph and the tokenizer in this folder. Safe to call from several threads.

    One session of one thread is called from as many threads as there are cores: faster than one call spread over the
    cores (which waits for the slowest at every layer), and nothing spins between calls.
    """

    runtime = "onnxruntime"

    def __init__(self, folder: Path, facts: GraphFacts) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._facts = facts
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        self._tokenizer.no_padding()
        self._tokenizing = threading.Lock()
        self._session = _session(folder / GRAPH_FILE)
        self._wanted = [wanted.name for wanted in self._session.get_inputs()]
        self._pool = ThreadPoolExecutor(usable_cores(), thread_name_prefix="model")

    @property
    def dimension(self) -> int:
        return self._facts.dimension

    @property
    def token_limit(self) -> int:
        return self._facts.token_limit

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), np.float32)
        try:
            encodings = self._prompted(texts)
            batches = list(_batches([len(encoding.ids) for encoding in encodings]))
            answers = self._run([[encodings[number] for number in batch] for batch in batches])
            for batch, rows in zip(batches, answers, strict=True):
                vectors[batch] = rows
        except Exception as error:
            raise ModelError(f"the model failed in onnxruntime: {error}") from error
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(encoding.ids) for encoding in self._tokenized(list(texts), truncated=False)]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model is given of each text."""
        return [encoding.ids for encoding in self._prompted(texts)]

    def _prompted(self, texts: Sequence[str]) -> list[Encoding]:
        return self._tokenized([self._facts.prompt + text for text in texts], truncated=True)

    def _tokenized(self, texts: list[str], *, truncated: bool) -> list[Encoding]:
        facts = self._facts
        with self._tokenizing:
            if truncated:
                self._tokenizer.enable_truncation(
                    facts.token_limit, direction="left" if facts.truncates_left else "right"
                )
            else:
                self._tokenizer.no_truncation()
            return self._tokenizer.encode_batch_fast(texts)

    def _run(self, batches: list[list[Encoding]]) -> Iterator[Vectors]:
        def run(batch: list[Encoding]) -> Vectors:
            return np.asarray(self._session.run([OUTPUT], self._inputs(batch))[0])

        # A question runs where it is asked: it does not queue behind the batches of a folder that is being indexed.
        return map(run, batches) if len(batches) == 1 else self._pool.map(run, batches)

    def _inputs(self, encodings: Sequence[Encoding]) -> dict[str, Any]:
        facts, longest = self._facts, max(len(encoding.ids) for encoding in encodings)
        shape = (len(encodings), max(1, longest))
        inputs = {
            "input_ids": np.full(shape, facts.pad_id, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.full(shape, facts.pad_type_id, np.int64),
        }
        for row, encoding in enumerate(encodings):
            count = len(encoding.ids)
            span = slice(shape[1] - count, None) if facts.pads_left else slice(count)
            inputs["input_ids"][row, span] = encoding.ids
            inputs["attention_mask"][row, span] = 1
            inputs["token_type_ids"][row, span] = encoding.type_ids
        return {name: inputs[name] for name in self._wanted}


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of the texts, longest first (so that the threads end together), of about `_BATCH_TOKENS` a batch."""
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    start = 0
    while start < len(order):
        end = start + max(1, _BATCH_TOKENS // max(1, lengths[order[start]]))
        yield order[start:end]
        start = end


def optimise(exported: Path, folder: Path) -> None:
    """Write the graph as onnxruntime would run it, its weights in a file of their own that is mapped and not read:
    it loads four times as fast, and processes share the memory."""
    options = _options()
    # Not the highest level, which fits the file to this very processor.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / GRAPH_FILE)
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", WEIGHTS_FILE)
    onnxruntime.InferenceSession(str(exported), options, providers=[_PROVIDER])


def _session(file: Path) -> Any:
    return onnxruntime.InferenceSession(str(file), _options(), providers=[_PROVIDER])


def _options() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    return options
