"""The model alone: texts of two lengths by the route that the program takes, against `SentenceTransformer.encode`.

A machine that does other things beside slows both routes down, one that waits for all its threads at every layer more
than one that does not: the processor time that both took is told beside the seconds.
"""

from __future__ import annotations

import random
import statistics
import time
from typing import Any

import numpy as np

from pipeline.embed.cores import usable_cores
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
        found: dict[str, Any] = {"our time": [], "plain time": []}

        def ours(_: int, asked: list[str] = asked, found: dict[str, Any] = found) -> float:
            began, busy = time.perf_counter(), time.process_time()
            found["ours"] = encoder.encode(asked)
            found["our time"].append(time.process_time() - busy)
            return time.perf_counter() - began

        def plain(_: int, asked: list[str] = asked, found: dict[str, Any] = found) -> float:
            began, busy = time.perf_counter(), time.process_time()
            found["plain"] = model.encode(asked)
            found["plain time"].append(time.process_time() - busy)
            return time.perf_counter() - began

        ours(0), plain(0)  # what is made at a first call
        found |= {"our time": [], "plain time": []}
        value, baseline = alternating(runs, ours, plain)
        theirs = found["plain"] / np.linalg.norm(found["plain"], axis=1, keepdims=True)
        lowest = float(np.einsum("ij,ij->i", found["ours"], theirs).min())
        bound = sum(map(model_flops, counts)) / flops_a_second()
        mean = sum(counts) / len(counts)
        name = f"embedding {texts} texts of {mean:.0f} tokens"
        against = f"SentenceTransformer.encode, median of {runs}"
        bound_is = (
            f"the model's operations at {flops_a_second() / 1e9:.0f} GFLOP/s, the most of any matrix product here"
        )
        rows += [
            Row("embedding", name, value, "s", baseline, against, _AT_LEAST, bound, bound_is),
            Row("embedding", "  a program without any other work", bound, "s", baseline, "the same", bound=bound),
            Row(
                "embedding",
                "  processor time",
                statistics.median(found["our time"]),
                "s",
                statistics.median(found["plain time"]),
                "the same",
                bound=bound * usable_cores(),
                bound_is="on all processors together",
            ),
            Row("embedding", "  lowest cosine between the two", lowest, "", target=_SAME),
        ]
    return rows
