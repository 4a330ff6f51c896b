"""One library asked by both of its indexes: every vector looked at, and the bytes scanned first. Whatever its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from pipeline.embed.port import Encoder
from pipeline.query import QueryEngine
from pipeline.records import Timings, Trace
from pipeline.settings import Settings, resolve
from pipeline.store import vectors, vectors_file
from pipeline.store.vectors import VectorIndex

KINDS = ("flat", "8-bit scan")


@contextmanager
def both(
    library: Path, encoder: Encoder, place: Path, *, small: bool = False
) -> Iterator[tuple[QueryEngine, QueryEngine]]:
    """An engine of each kind over the library as it is now. The scanned file lies in `place`, the library's own stays
    as it is. In a `small` library a scan proposes fewer than it would, or it would propose nearly everything."""
    engines = QueryEngine(library, encoder), QueryEngine(library, encoder)
    with ExitStack() as stack:
        if small:
            stack.enter_context(patch.multiple(vectors, _WIDER=2, _LEAST=0))
        for engine in engines:
            stack.callback(engine.close)
        for engine, kind in zip(engines, KINDS, strict=True):
            _use(engine, kind, place)
        yield engines


def _use(engine: QueryEngine, kind: str, place: Path) -> None:
    reader = engine._opened()
    with reader.snapshot() as state:
        index: VectorIndex | None = reader._index
        if index is None or index.kind == kind:
            return
        if kind == "flat":
            index = vectors.build(reader.catalog.vectors.after(), state.dimension)
        else:
            count = reader.catalog.facts().texts
            with patch.object(vectors_file, "SCANNED_FROM", 1):
                vectors.write(place, state.stamp, state.dimension, count, reader.catalog.vectors.after())
            index, reason = vectors.load(place, state.stamp, state.dimension, reader._true_vectors)
            assert index is not None, reason
        assert reader._index is not None
        reader._index.close()
        reader._index = index


def differences(
    engines: Sequence[QueryEngine], questions: Sequence[str], settings: Settings | None = None
) -> tuple[int, list[str]]:
    """How many traces were compared, and what was asked where they are not the same but for the index that answered.
    Each question is asked of everything, without the document that answers best, and of that document alone."""
    settings, compared, found = settings or resolve(), 0, []
    for question in questions:
        best = _best(engines[0].ask(question, settings))
        scopes: list[dict[str, object]] = [{}]
        scopes += [] if best is None else [{"left_out": [best]}, {"only_document": best}]
        for scope in scopes:
            traces = [engine.ask(question, settings, **scope) for engine in engines]  # type: ignore[arg-type]
            kinds = tuple(trace.index.kind for trace in traces if trace.index is not None)
            assert kinds == KINDS, kinds
            compared += 1
            if _plain(traces[0]) != _plain(traces[1]):
                found.append(f"{question} {scope}")
    return compared, found


def _best(trace: Trace) -> str | None:
    return trace.candidates[0].candidate.doc_id if trace.candidates else None


def _plain(trace: Trace) -> Trace:
    """Without what belongs to the index and to the run. Made-up ids of vectors depend on nothing else."""
    return replace(trace, index=None, timings_ms=Timings(0, 0, 0, 0))
