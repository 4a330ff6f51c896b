"""The model alone: texts of two lengths by the route that the program takes, against `SentenceTransformer.encode`."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np

from pipeline.embed.port import Encoder
from tests.bench.bounds import flops_a_second, model_flops
from tests.bench.corpus import paragraph
from tests.bench.figures import Row, Target, alternating

_AT_LEAST = Target("ratio", "at most", 1 / 1.6)
_SAME = Target("value", "at least", 0.9999)


def embed(encoder: Encoder, model: Any, *, texts: int, runs: int) -> list[Row]:
    """Seconds for `texts` different texts of about 120 and of about 200 tokens, and how far the vectors agree."""
    rows: list[Row] = []
    for tokens, size in ((120, 560), (200, 960)):
        chance = random.Random(tokens)
        asked = [paragraph(chance, round(size * chance.uniform(0.6, 1.2))) for _ in range(texts)]
        counts = [min(count, encoder.token_limit) for count in encoder.count_tokens(asked)]
        found: dict[str, Any] = {}

        def ours(_: int, asked: list[str] = asked, found: dict[str, Any] = found) -> float:
            began = time.perf_counter()
            found["ours"] = encoder.encode(asked)
            return time.perf_counter() - began

        def plain(_: int, asked: list[str] = asked, found: dict[str, Any] = found) -> float:
            began = time.perf_counter()
            found["plain"] = model.encode(asked)
            return time.perf_counter() - began

        value, baseline = alternating(runs, ours, plain)
        theirs = found["plain"] / np.linalg.norm(found["plain"], axis=1, keepdims=True)
        lowest = float(np.einsum("ij,ij->i", found["ours"], theirs).min())
        bound = sum(map(model_flops, counts)) / flops_a_second()
        mean = sum(counts) / len(counts)
        name = f"embedding {texts} texts of {mean:.0f} tokens"
        against = f"SentenceTransformer.encode, median of {runs}"
        bound_is = f"the model's operations at {flops_a_second() / 1e9:.0f} GFLOP/s"
        rows += [
            Row("embedding", name, value, "s", baseline, against, _AT_LEAST, bound, bound_is),
            Row("embedding", "  lowest cosine between the two", lowest, "", target=_SAME),
        ]
    return rows
