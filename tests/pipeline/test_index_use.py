"""The trace says which index answered, and everybody who shows a trace says it in words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.query import answer
from pipeline.records import Hit, IndexUse
from pipeline.search.port import Question
from pipeline.selection import Scope
from pipeline.settings import resolve
from pipeline.trace import from_json, to_json
from pipeline.words.sentences import index_sentence


class Port:
    """Two passages, from no library."""

    def search(self, question: Question, limit: int) -> Sequence[Hit]:
        return [Hit(1, 0.9, {"doc_id": "a", "chunk_index": 0}, "one"), Hit(2, 0.8, {"doc_id": "b"}, "two")][:limit]


class TellingPort(Port):
    index = IndexUse("a sketch\x1b[0m", False, 1_234_567)


@pytest.mark.parametrize(("port", "use"), [(Port(), None), (TellingPort(), TellingPort.index)])
def test_a_trace_keeps_what_its_port_tells(port: Port, use: IndexUse | None) -> None:
    trace = answer(Question("which"), port=port, catalog=None, settings=resolve(), scope=Scope({}))
    assert trace.index == use
    assert from_json(to_json(trace)) == trace
    older = to_json(trace)
    del older["index"]
    assert from_json(older).index is None


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (None, ""),
        (IndexUse("flat", True, 1), "1 text searched, each compared with the question. The result is exact."),
        (
            IndexUse("8-bit scan", True, 1_000_000),
            "1,000,000 texts searched by a scan of 8-bit vectors, ranked by the exact ones. The result is exact.",
        ),
        (TellingPort.index, "1,234,567 texts searched by a sketch‹ESC›[0m. The result is approximate."),
    ],
)
def test_in_words(use: IndexUse | None, words: str) -> None:
    assert index_sentence(use) == words
