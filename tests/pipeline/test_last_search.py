"""A changed setting is answered from what was found last, and exactly as if nothing were remembered."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as st

from pipeline import last_search
from pipeline.query import QueryEngine
from pipeline.records import Timings, Trace
from pipeline.settings import Layer, resolve
from tests.support.encoder import WordEncoder
from tests.support.libraries import make_library

SAME = "The lease ends in May and the deposit comes back within ten days."
DOCUMENTS = {
    **{f"copy {number}.md": SAME for number in range(12)},
    "near.md": "The lease ends in May and the deposit comes back within twelve days.",
    "late.md": "Late items cost two pounds a day.\n\nThe deposit is one month of rent.",
    "stale.md": "The lease may end in June.",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    make_library(folder, DOCUMENTS, WordEncoder(), stale=["stale.md"])
    return folder


def timeless(trace: Trace) -> Trace:
    return replace(trace, timings_ms=Timings(0.0, 0.0, 0.0, 0.0))


asked = st.fixed_dictionaries(
    {
        "text": st.sampled_from(["lease deposit", "late items"]),
        "left_out": st.sets(st.sampled_from(["docs/copy 1.md", "docs/near.md"])),
        "preferred": st.sets(st.sampled_from(["docs/copy 3.md", "docs/copy 5.md"])),
        "only_document": st.sampled_from([None, None, "docs/late.md"]),
    }
)
given_settings = st.fixed_dictionaries(
    {},
    optional={
        "retrieve-k": st.sampled_from([1, 3, 20]),
        "return-n": st.integers(1, 6),
        "max-chunks-per-document": st.integers(0, 2),
        "policy": st.sampled_from(["plain", "source", "evidence"]),
        "near-threshold": st.sampled_from([0.3, 0.9]),
        "fold-near": st.booleans(),
        "serve-stale": st.booleans(),
    },
)


@trying(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(asked, given_settings), min_size=2, max_size=6))
def test_every_step_is_answered_as_by_an_engine_that_remembers_nothing(
    library: Path, steps: list[tuple[dict[str, object], dict[str, object]]]
) -> None:
    with closing(QueryEngine(library, WordEncoder())) as remembering:
        for question, values in steps:
            settings = resolve([Layer(values, "flag")])
            with closing(QueryEngine(library, WordEncoder())) as fresh:
                expected = fresh.ask(settings=settings, **question)  # type: ignore[arg-type]
            assert timeless(remembering.ask(settings=settings, **question)) == timeless(expected)  # type: ignore[arg-type]


def test_a_changed_setting_searches_no_more_and_a_changed_library_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_library(tmp_path, DOCUMENTS, WordEncoder())
    searched = []
    real = last_search.retrieve
    monkeypatch.setattr(last_search, "retrieve", lambda *given: searched.append(given) or real(*given))
    with closing(QueryEngine(tmp_path, WordEncoder())) as engine:
        for number in (5, 4, 3):
            engine.ask("lease deposit", resolve([Layer({"return-n": number}, "flag")]))
        assert len(searched) == 1
        engine.ask("lease deposit", resolve([Layer({"retrieve-k": 3}, "flag")]))
        assert len(searched) == 2
        forget_a_document(tmp_path)
        trace = engine.ask("lease deposit", resolve([Layer({"retrieve-k": 3}, "flag")]))
        assert len(searched) == 3
        assert "docs/copy 0.md" not in {traced.candidate.doc_id for traced in trace.candidates}


def forget_a_document(library: Path) -> None:
    from pipeline.library import save_vectors
    from pipeline.store.catalog import Catalog
    from pipeline.store.schema import open_for_writing
    from pipeline.store.writer import CatalogWriter

    db = open_for_writing(library)
    try:
        writer = CatalogWriter(db)
        with writer.change():
            ((row_id,),) = db.execute("SELECT id FROM documents WHERE doc_id = 'docs/copy 0.md'").fetchall()
            writer.remove_documents([row_id])
        save_vectors(library, Catalog(db, library))
    finally:
        db.close()
