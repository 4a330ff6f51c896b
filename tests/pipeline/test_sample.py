"""End to end with the real model: the built-in sample is indexed, and each of its questions shows what it says."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.embed.model import SentenceTransformerEncoder
from pipeline.index import index_library
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.settings import Layer, resolve
from pipeline.textkeys import fold

SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample"
QUESTIONS: dict[str, dict[str, Any]] = {
    question["id"]: question for question in tomllib.loads((SAMPLE / "questions.toml").read_text("utf-8"))["question"]
}

pytestmark = pytest.mark.real_model


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueryEngine]:
    library = tmp_path_factory.mktemp("sample")
    encoder = SentenceTransformerEncoder()
    report = index_library(library, [SAMPLE / "documents"], encoder=encoder)
    assert report.failed == 0
    assert report.documents >= 40
    assert report.embedded == report.texts < report.chunks
    again = index_library(library, encoder=encoder)
    assert (again.embedded, again.unchanged) == (0, report.documents)
    opened = QueryEngine(library, encoder)
    yield opened
    opened.close()


def ask(engine: QueryEngine, name: str, **settings: object) -> Trace:
    question = QUESTIONS[name]
    chosen = question.get("settings", {}) | {key.replace("_", "-"): value for key, value in settings.items()}
    only = question.get("only_file")
    return engine.ask(
        question["text"],
        resolve([Layer(chosen, "flag")]),
        left_out=[f"documents/{path}" for path in question.get("leave_out", ())],
        only_document=None if only is None else f"documents/{only}",
    )


def test_there_are_eight_questions_that_say_what_to_look_at() -> None:
    assert len(QUESTIONS) == 8
    for question in QUESTIONS.values():
        assert question["look_at"].endswith(".")
        for path in [*question.get("leave_out", ()), *filter(None, [question.get("only_file")])]:
            assert (SAMPLE / "documents" / path).is_file()


def test_copies_crowd_out_the_answer(engine: QueryEngine) -> None:
    plain = ask(engine, "crowding", policy="plain")
    assert len({block.content for block in plain.evidence}) == 1
    trace = ask(engine, "crowding")
    assert trace.summary.crowding == pytest.approx(0.8)
    assert len(trace.evidence[0].source_paths) == 7
    assert trace.evidence[1].source_file == "Damage waiver and repair charges.md"
    assert all("Damage waiver" not in block.source_file for block in plain.evidence)


def test_the_search_widens_until_there_is_enough(engine: QueryEngine) -> None:
    trace = ask(engine, "widening")
    assert trace.rounds[0].asked == 10
    assert len(trace.rounds) >= 3
    assert trace.rounds[0].distinct < 10 <= trace.rounds[-1].distinct
    assert {traced.candidate.round for traced in trace.candidates} == set(range(1, len(trace.rounds) + 1))


def test_a_text_in_a_pdf_and_in_text_files_is_one_block_with_a_page(engine: QueryEngine) -> None:
    block = ask(engine, "citations").evidence[0]
    pages = {Path(place.path).suffix: place.page_first for place in block.citations}
    assert len(block.source_paths) == 3
    assert pages == {".pdf": 3, ".txt": None}


def test_the_cap_gives_other_documents_room(engine: QueryEngine) -> None:
    trace = ask(engine, "cap")
    names = [block.source_file for block in trace.evidence]
    assert names.count("Cinder stove care.md") == 2
    over = [traced for traced in trace.candidates if traced.fate.name == "over_document_cap"]
    assert sum("Cinder stove care.md" in t.candidate.source_path for t in over) >= 2
    more = ask(engine, "cap", max_chunks_per_document=4)
    assert [block.source_file for block in more.evidence].count("Cinder stove care.md") == 4


def test_near_twins_are_shown_and_not_folded(engine: QueryEngine) -> None:
    trace = ask(engine, "near-twins")
    names = [block.source_file for block in trace.evidence]
    assert names[0] == "Otis Ferrar.md"
    assert "Nell Ashdown.md" in names
    ferrar = next(t for t in trace.candidates if t.candidate.source_path.endswith("Otis Ferrar.md"))
    assert any("Nell Ashdown" in twin.evidence_key for twin in ferrar.near_twins)


def test_one_file_alone_supplies_page_and_citation(engine: QueryEngine) -> None:
    trace = ask(engine, "one-file-only")
    block = trace.evidence[0]
    assert (block.source_file, block.page_first) == ("Packraft field guide.pdf", 5)
    assert {path for b in trace.evidence for path in b.source_paths} == {block.source_path}


def test_a_left_out_handbook_leaves_its_shared_texts_to_the_other(engine: QueryEngine) -> None:
    trace = ask(engine, "left-out")
    cited = {Path(path).name for block in trace.evidence for path in block.source_paths}
    assert "Employee handbook 2025.md" in cited
    assert "Employee handbook 2024.md" not in cited
    assert "left_out" in {traced.fate.name for traced in trace.candidates}


def test_budgets_cut_and_the_rest_is_out(engine: QueryEngine) -> None:
    trace = ask(engine, "budgets")
    names = {traced.fate.name for traced in trace.candidates}
    assert {"projected_cut", "over_budget"} <= names
    assert trace.summary.budget.chars <= trace.summary.budget.max_total_chars
    assert all(item.tokens for item in trace.projected)


def test_every_citation_opens_at_the_words(engine: QueryEngine) -> None:
    assert engine._reader is not None
    for name in QUESTIONS:
        for block in ask(engine, name).evidence:
            for place in block.citations:
                held = engine._reader.document_text(place.doc_id)
                assert fold(held.text[place.start : place.end]) == fold(block.content)
                if place.page_first is not None:
                    page = held.pages[place.page_first - 1]
                    assert page.number == place.page_first
                    assert page.start <= place.start < page.end
