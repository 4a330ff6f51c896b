"""Makes a model's graph, and trusts it only when it agrees with the reference on a sample of texts."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import psutil

from pipeline.embed.graph import TOKENIZER_FILE, GraphEncoder, optimise
from pipeline.embed.graph_cache import GraphCache, KeptGraph, NoGraph
from pipeline.embed.model import SentenceTransformerEncoder

LOWEST_COSINE = 0.9999
_EXPORTED = "exported.onnx"
_FEW = 4  # texts that the reference is asked at a time: a question that comes meanwhile waits for no more
_COPIES = 6  # of the weights in memory at the worst moment

# Lengths from nothing to more than any model here reads, and what tokenizers take apart differently.
_SENTENCE = "The boiler in the cellar is checked every year before the first frost, and the report goes to the owner. "
SAMPLE = (
    "",
    " ",
    "a",
    "What is the notice period?",
    "  Spaces before,\tTABS between,\r\n\r\nnew lines, and spaces after   ",
    "UPPER CASE, lower case, CamelCase, snake_case, kebab-case; 3.14159, 1,000,000 and 0x7fff",
    "Größe, façade, naïve, Ærø, İstanbul, ﬁne ligatures, e\u0301 and \u00e9",
    "Договор расторгается с уведомлением за три месяца. العقد ينتهي بعد ثلاثة أشهر. החוזה",
    "契約は三か月前の通知により終了する。合同可提前三个月通知终止。계약은 석 달 전에 통지하면 끝난다.",
    "☂ 👩‍👩‍👧‍👦 🇩🇰 ½ ™ — “quoted” … \u00a0\u200b\u202e\ufeff",
    "NUL \x00, bell \x07, escape \x1b[0m, replacement \ufffd, private \ue000, last \U0010ffff",
    "[CLS] a text that names [SEP] special tokens <s> </s> <pad> [MASK] <|endoftext|> [UNK]",
    "def select(rows):\n    return [row for row in rows if row.score >= 0.5]  # not a sentence\n",
    "https://example.org/a/very/long/path?with=parameters&and=" + "x" * 300,
    _SENTENCE,
    _SENTENCE * 3,
    "A table row | 12.50 | 13.75 | yes |\n" * 8,
    _SENTENCE * 8,
    " ".join(f"Paragraph {number} says something else about item {number * 7}." for number in range(40)),
    " ".join(f"word{number}" for number in range(4000)),
)
_TRACED = SAMPLE[3:6]


def make_graph(reference: SentenceTransformerEncoder, cache: GraphCache) -> GraphEncoder:
    """The graph of this model, which another process may have made in the meantime.

    Raises `NoGraph` when there can be none (the cache remembers it), `OSError` when the cache cannot be written,
    `MemoryError`.
    """
    _check_memory(reference)
    with cache.locked():
        found = cache.find()
        if isinstance(found, NoGraph):
            raise found
        if isinstance(found, KeptGraph) and found.is_sound():
            return GraphEncoder(found.folder, found.facts)
        with cache.new_folder() as folder:
            try:
                return _made(reference, cache, folder)
            except NoGraph as reason:
                if threading.main_thread().is_alive():  # what fails while the process ends proves nothing
                    cache.refuse(str(reason))
                raise


def _check_memory(reference: SentenceTransformerEncoder) -> None:
    needed, free = _COPIES * reference.weight_bytes, psutil.virtual_memory().available
    if needed > free:
        raise MemoryError(f"it takes {needed / 1e9:.1f} GB of memory, of which {free / 1e9:.1f} GB are free")


def _made(reference: SentenceTransformerEncoder, cache: GraphCache, folder: Path) -> GraphEncoder:
    exported = folder / _EXPORTED
    facts = reference.save_graph(exported, folder / TOKENIZER_FILE, _TRACED)
    try:
        optimise(exported, folder)
        graph = GraphEncoder(folder, facts)
        lowest = _agreement(reference, graph)
    except (NoGraph, OSError, MemoryError):
        raise
    except Exception as error:
        raise NoGraph(f"onnxruntime does not run it: {str(error).strip()[:200]}") from error
    finally:
        exported.unlink(missing_ok=True)
    cache.keep(folder, facts, lowest)
    return graph


def _agreement(reference: SentenceTransformerEncoder, graph: GraphEncoder) -> float:
    """The lowest cosine between the two over the sample. Raises `NoGraph` when it is too low."""
    if graph.token_ids(SAMPLE) != reference.token_ids(SAMPLE) or graph.count_tokens(SAMPLE) != reference.count_tokens(
        SAMPLE
    ):
        raise NoGraph("its tokens come out differently without transformers")
    few = [SAMPLE[start : start + _FEW] for start in range(0, len(SAMPLE), _FEW)]
    expected = np.vstack([reference.encode(texts) for texts in few])
    cosines = np.einsum("ij,ij->i", expected, graph.encode(SAMPLE))
    lowest = float(cosines.min())
    if not lowest >= LOWEST_COSINE:  # not a number is no agreement either
        raise NoGraph(f"its vectors come out differently in onnxruntime (cosine {lowest:.6f})")
    return lowest
