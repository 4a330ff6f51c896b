"""What this machine can do at best: the bounds that stand beside the figures."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any

import numpy as np

from pipeline.embed.cores import usable_cores

_BYTES = 256 * 2**20  # more than any cache holds
_SIDE = 1536
_TRIES, _LEAST_SECONDS = 5, 1.0  # something else may run for a while: the best of as many as fit

# all-MiniLM-L6-v2: 6 layers of 4 matrices 384 x 384 and 2 of 384 x 1536, and the attention over the text's own tokens.
_LAYERS, _HIDDEN, _INNER = 6, 384, 1536


@lru_cache(maxsize=1)
def bytes_a_second() -> float:
    """How fast all processors together read memory: the best of some sums over more than the caches hold."""
    parts = np.array_split(np.ones(_BYTES // 8, np.uint64), usable_cores())
    with ThreadPoolExecutor(len(parts)) as pool:
        return _BYTES / _least(lambda: list(pool.map(np.sum, parts)))


@lru_cache(maxsize=1)
def flops_a_second() -> float:
    """Single-precision operations a second of all processors together: the fastest of numpy's matrix product (in its
    own threads) and onnxruntime's (one thread a processor, each with a product of its own), for a matrix as the model
    has them and for a larger one. By processor time, all processors at work: it is what they could do if they were
    ours alone."""
    rates = []
    for rows, inner, columns in ((2048, _HIDDEN, _INNER), (1024, _SIDE, _SIDE)):
        chance = np.random.default_rng(1)
        one, other = (chance.standard_normal(shape, np.float32) for shape in ((rows, inner), (inner, columns)))
        operations = 2 * rows * inner * columns * usable_cores()
        rates.append(operations / _least(partial(np.matmul, one, other), time.process_time))
        everyone = [one] * usable_cores()
        with ThreadPoolExecutor(len(everyone)) as pool:
            seconds = _least(partial(_together, pool, _product(other), everyone), time.process_time)
        rates.append(operations * len(everyone) / seconds)
    return max(rates)


def _together(pool: ThreadPoolExecutor, run: Callable[[Any], Any], everyone: list[Any]) -> None:
    list(pool.map(run, everyone))


def _product(matrix: Any) -> Callable[[Any], Any]:
    """The product of a matrix that is given with this one, made by onnxruntime in the calling thread."""
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    given = helper.make_tensor_value_info("given", TensorProto.FLOAT, (None, matrix.shape[0]))
    made = helper.make_tensor_value_info("made", TensorProto.FLOAT, (None, matrix.shape[1]))
    node = helper.make_node("MatMul", ["given", "matrix"], ["made"])
    graph = helper.make_graph([node], "product", [given], [made], [numpy_helper.from_array(matrix, "matrix")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda rows: session.run(None, {"given": rows})


def model_flops(tokens: int) -> float:
    """Operations that all-MiniLM-L6-v2 takes for a text of so many tokens."""
    a_token = 2 * (4 * _HIDDEN**2 + 2 * _HIDDEN * _INNER) + 4 * _HIDDEN * tokens
    return float(_LAYERS * tokens * a_token)


def _least(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    work()
    times: list[float] = []
    while len(times) < _TRIES or sum(times) < _LEAST_SECONDS:
        began = clock()
        work()
        times.append(clock() - began)
    return min(times)
