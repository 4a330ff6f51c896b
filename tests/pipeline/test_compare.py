"""Two traces beside each other, and a trace carried away and back."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.compare import ask_again, compare, rerun_difference
from pipeline.errors import QueryError, SettingError, TraceFileError
from pipeline.export.again import command_of, python_of
from pipeline.export.trace_file import read_trace, write_trace
from pipeline.policies import policies_on_same_hits
from pipeline.query import QueryEngine
from pipeline.records import STAGE_NAMES, Trace
from pipeline.settings import Settings, resolve
from pipeline.textkeys import text_sha256
from pipeline.trace import from_json, to_json, without_texts
from tests.pipeline.test_rules import asked, library
from tests.pipeline.test_why import engine_of, situation_of
from tests.support.folders import Folder, document, passage

few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 2**32)


def two_traces(seed: int, other: Settings, *, elsewhere: bool) -> tuple[Trace, Trace]:
    """One question under two settings, of one library or of two."""
    asked_of = situation_of(seed)
    with engine_of(asked_of) as engine:
        one = engine.ask(asked_of.question, asked_of.settings, **asked_of.scope)
        if not elsewhere:
            return one, engine.ask(asked_of.question, other)
    with library(situation_of(seed + 1).documents) as (folder, encoder):
        second = QueryEngine(folder, encoder)
        try:
            return one, second.ask(asked_of.question, other)
        finally:
            second.close()


# --- compare ---


@few
@given(seeds, asked(), st.booleans())
def test_a_comparison_is_the_mirror_of_the_other_way_round(seed: int, other: Settings, elsewhere: bool) -> None:
    one, two = two_traces(seed, other, elsewhere=elsewhere)
    found = compare(one, two)
    assert compare(two, one) == found.mirrored()
    assert found.mirrored().mirrored() == found
    check_rows(found, one, two)
    assert compare(without_texts(one), two) == found
    itself = compare(one, one)
    assert itself.parts_at is None
    assert itself == replace(
        itself, question=None, settings=(), scope=(), library=(), candidates=(), blocks=(), items=(), parts_at=None
    )


def check_rows(found: Any, one: Trace, two: Trace) -> None:
    """Everything of both traces is in the comparison once, and equal traces alone do not part."""
    for name, same, sides in (
        ("candidates", found.same_candidates, (one.candidates, two.candidates)),
        ("blocks", found.same_blocks, (one.evidence, two.evidence)),
        ("items", found.same_items, (one.projected, two.projected)),
    ):
        rows = getattr(found, name)
        assert all(row.change != "same" for row in rows)
        for side, held in zip(("before", "after"), sides, strict=True):
            ranks = [getattr(row, side).rank for row in rows if getattr(row, side) is not None]
            assert len(ranks) == len(set(ranks))
            assert len(ranks) + same == len(held)
    if found.blocks or found.items:
        assert found.parts_at is not None
    if found.parts_at in STAGE_NAMES:
        before, after = ({t.candidate.evidence_key for t in trace.candidates} for trace in (one, two))
        assert before == after


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    best = passage("glacier rescue rope", 1)
    made.write({f"copy{n}.md": document(best, passage("glacier hut", 2)) for n in range(4)})
    made.write({f"other{n}.md": document(passage(f"glacier tour{n}", n + 5)) for n in range(6)})
    made.index()
    return made


@pytest.mark.parametrize(
    ("before", "after", "stage"),
    [
        ({}, {}, None),
        ({"max_total_chars": 6000}, {"max_total_chars": 900}, "pack"),
        ({"return_n": 2}, {"return_n": 3}, "return"),
        ({"max_chunks_per_document": 1}, {"max_chunks_per_document": 2}, "cap"),
        ({"retrieve_k": 8}, {"retrieve_k": 1, "top_k": 8}, "search"),
        ({"policy": "plain", "retrieve_k": 20}, {"policy": "evidence", "retrieve_k": 20}, "collapse"),
        ({"policy": "plain", "retrieve_k": 20}, {"policy": "source", "retrieve_k": 20}, "source"),
    ],
)
def test_the_first_stage_at_which_they_part_is_named(
    folder: Folder, before: dict[str, object], after: dict[str, object], stage: str | None
) -> None:
    one, two = (folder.ask("glacier rescue rope", **values) for values in (before, after))
    assert compare(one, two).parts_at == stage


def test_another_copy_that_was_not_recalled_parts_at_collapse(folder: Folder) -> None:
    one, two = (
        folder.ask("glacier rescue rope", retrieve_k=1, return_n=1, preferred=preferred)
        for preferred in ([], ["copy3.md"])
    )
    assert len(one.candidates) == len(two.candidates) == 1
    assert compare(one, two).parts_at == "collapse"


def test_what_differs_is_told(folder: Folder) -> None:
    one = folder.ask("glacier rescue rope", return_n=3)
    two = folder.ask("glacier rescue rope", return_n=3, preferred=["copy2.md"], left_out=["other1.md"])
    found = compare(one, two)
    assert found.parts_at == "left_out"
    assert {unlike.name for unlike in found.scope} == {"left-out", "preferred"}
    assert not found.settings
    represented = next(
        d for d in found.blocks if d.before and d.after and d.before.evidence_key != d.after.evidence_key
    )
    assert represented.before.evidence_key.startswith("docs/copy0.md")
    assert represented.at.evidence_key.startswith("docs/copy2.md")
    other = compare(one, folder.ask("glacier hut", return_n=3))
    assert other.parts_at == "question"
    assert other.question is not None
    wider = compare(one, folder.ask("glacier rescue rope", return_n=4))
    assert [(each.name, each.before, each.after) for each in wider.settings] == [
        ("max-items", 3, 4),
        ("return-n", 3, 4),
    ]
    assert [difference.change for difference in wider.blocks] == ["only_after"]


@few
@given(seeds)
def test_the_policies_share_one_retrieval_and_each_is_what_it_would_have_been_alone(seed: int) -> None:
    asked_of = situation_of(seed)
    with engine_of(asked_of) as engine:
        answers = policies_on_same_hits(engine, asked_of.question, asked_of.settings, **asked_of.scope)
        assert [answer.policy for answer in answers] == ["plain", "source", "evidence"]
        hits = {tuple(t.candidate.evidence_key for t in answer.trace.candidates) for answer in answers}
        assert len(hits) == 1
        for answer in answers:
            alone = engine.ask(
                asked_of.question, asked_of.settings.with_flags({"policy": answer.policy}), **asked_of.scope
            )
            assert answer.trace.evidence == alone.evidence
            assert answer.trace.projected == alone.projected
            texts = [block.fold_key for block in alone.evidence[: len(alone.projected)]]
            assert (answer.items, answer.distinct) == (len(texts), len(set(texts)))
            assert answer.chars == sum(item.chars for item in alone.projected)
            assert answer.crowding == pytest.approx(1 - len(set(texts)) / len(texts) if texts else 0.0)


# --- carried away ---


@few
@given(seeds)
def test_a_trace_comes_back_from_json_as_it_was(seed: int) -> None:
    asked_of = situation_of(seed)
    with engine_of(asked_of) as engine:
        trace = engine.ask(asked_of.question, asked_of.settings, **asked_of.scope)
    plain = json.loads(json.dumps(to_json(trace)))
    assert from_json(plain) == trace
    bare = json.loads(json.dumps(to_json(trace, with_texts=False)))
    assert from_json(bare) == without_texts(trace)
    assert json.loads(json.dumps(to_json(from_json(bare)))) == bare
    texts = {t.candidate.text for t in trace.candidates} | {block.content for block in trace.evidence}
    assert not any(text and f'"{text}"' in json.dumps(bare).replace(f'"query": "{text}"', "") for text in texts)
    assert compare(from_json(bare), trace).parts_at is None


def test_a_real_trace_goes_through_a_file(folder: Folder, tmp_path: Path) -> None:
    trace = folder.ask("glacier rescue rope", retrieve_k=3, fold_near=True, left_out=["other0.md"])
    file = tmp_path / "trace with spaces.json"
    write_trace(file, trace)
    assert read_trace(file) == trace
    write_trace(file, trace, with_texts=False)
    bare = read_trace(file)
    assert not bare.with_texts
    assert "rescue rope and the" not in file.read_text("ascii")
    assert bare.evidence[0].content == f"sha256:{text_sha256(trace.evidence[0].content)}"
    file.write_text("\N{ZERO WIDTH NO-BREAK SPACE}" + json.dumps(to_json(trace)), "utf-8")
    assert read_trace(file) == trace


DAMAGES: dict[str, tuple[Any, str]] = {
    "a list": ([], "not a trace"),
    "another tool's": ({"query": "x"}, "not a trace"),
    "a newer version": ({"trace_version": 2}, "newer version"),
    "no version at all": ({"trace_version": "one"}, "not a trace"),
    "true is no version": ({"trace_version": True}, "not a trace"),
    "nothing but a version": ({"trace_version": 1}, "texts is missing"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_no_trace_is_refused_in_words(name: str) -> None:
    data, said = DAMAGES[name]
    with pytest.raises(TraceFileError, match=said):
        from_json(data)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("candidates", 0, "score"), "high", r"candidates\[0\].score"),
        (("candidates", 0, "rank"), 7, "ranks have gaps"),
        (("candidates", 0, "rank"), True, r"candidates\[0\].rank: int is expected, True"),
        (("candidates", 0, "fate", "name"), "vanished", "not one of projected"),
        (("candidates", 0, "freshness"), "stale bread", "not one of fresh"),
        (("candidates",), {}, "a list is missing"),
        (("evidence", 0, "carrier_rank"), 99, "candidate that is not there"),
        (("evidence", 0, "citations"), [], "cites nothing"),
        (("projected", 0, "document_id"), "docs/none#chunk-0", "block that is not there"),
        (("stages", 0, "in"), 99, "do not add up"),
        (("settings", "return-n"), 5, "a table is missing"),
        (("summary", "budget"), None, "a table is missing"),
        (("rounds",), [], "do not add up"),
        (("library", "chunks"), 1.5, "library.chunks"),
    ],
)
def test_damage_is_found_and_placed(folder: Folder, path: tuple[Any, ...], value: Any, said: str) -> None:
    data = json.loads(json.dumps(to_json(folder.ask("glacier rescue rope"))))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(TraceFileError, match=f"damaged: .*{said}"):
        from_json(data)


def test_changed_texts_cut_files_and_missing_ones_are_refused(folder: Folder, tmp_path: Path) -> None:
    data = to_json(folder.ask("glacier rescue rope"))
    key = next(iter(data["texts"]))
    with pytest.raises(TraceFileError, match="is another one"):
        from_json(data | {"texts": data["texts"] | {key: "forged"}})
    whole = json.dumps(data)
    file = tmp_path / "trace.json"
    for content in (whole[: len(whole) // 2].encode(), b"\xff\xfe\x00", b"", b"[" * 100_000, b"NaN"):
        file.write_bytes(content)
        with pytest.raises(TraceFileError, match=r"trace\.json"):
            read_trace(file)
    with pytest.raises(TraceFileError, match="cannot be read"):
        read_trace(tmp_path / "none.json")
    with pytest.raises(TraceFileError, match="cannot be written"):
        write_trace(tmp_path / "no" / "folder.json", folder.ask("glacier"))


@few
@given(seeds, st.data())
def test_a_table_with_anything_taken_out_is_refused_or_read(seed: int, data: st.DataObject) -> None:
    asked_of = situation_of(seed)
    with engine_of(asked_of) as engine:
        plain = json.loads(json.dumps(to_json(engine.ask(asked_of.question, asked_of.settings))))
    place: Any = plain
    for _ in range(data.draw(st.integers(0, 3))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place))) if isinstance(place, list) else []
        inner = [key for key in keys if isinstance(place[key], (dict, list)) and place[key]]
        if not inner:
            break
        place = place[data.draw(st.sampled_from(inner))]
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    key = data.draw(st.sampled_from(keys))
    if data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(st.sampled_from([None, "x", -1, 2.5, [], {}, True]))
    with suppress(TraceFileError):  # and nothing else
        assert isinstance(from_json(plain), Trace)


def test_a_saved_trace_is_asked_again(folder: Folder) -> None:
    saved = from_json(to_json(folder.ask("glacier rescue rope", return_n=4, preferred=["copy3.md"]), with_texts=False))
    engine = QueryEngine(folder.library, folder.encoder)
    assert rerun_difference(saved, engine).parts_at is None
    folder.write({"copy9.md": document(passage("glacier rescue rope", 1))})
    folder.index()
    found = rerun_difference(saved, engine)
    assert found.parts_at == "search"
    assert {unlike.name for unlike in found.library} == {"generation", "documents", "chunks"}
    assert ask_again(saved, engine).settings == saved.settings
    with pytest.raises(QueryError, match=r"no document docs/gone\.md"):
        rerun_difference(replace(saved, only_file="docs/gone.md"), engine)
    unknown = dict(saved.settings) | {"sparkle": saved.settings["return-n"]}
    with pytest.raises(SettingError, match="sparkle"):
        rerun_difference(replace(saved, settings=unknown), engine)
    engine.close()


HARD = '-- what\'s "it"; $(rm) `x`\n--policy=plain \N{RIGHT-TO-LEFT OVERRIDE} 返金'


def test_copied_as_a_command_it_asks_the_same(folder: Folder, tmp_path: Path) -> None:
    for question in (HARD, "a\x1b[201~; touch b\\nc", "-x", "--json", "glacier rope"):
        trace = folder.ask(
            question, retrieve_k=7, fold_near=True, left_out=["other0.md"], preferred=["copy1.md"], only="copy2.md"
        )
        command = command_of(trace, folder.library)
        assert command.isprintable()
        assert command.count("--retrieve-k 7") == 1
        assert "return-n" not in command
        said = f'"{sys.executable}" -c "import json, sys; print(json.dumps(sys.argv[1:]))" "$@"'
        shown = subprocess.run(
            ["sh", "-c", f"twinspect() {{ {said}; }}; {command}"],
            capture_output=True,
            text=True,
            check=True,
        )
        from pipeline.cli import _parser

        options = _parser().parse_args(json.loads(shown.stdout))
        assert (options.text, options.library) == (question, folder.library)
        assert (options.retrieve_k, options.fold_near, options.return_n) == ("7", "true", None)
        assert (options.leave_out, options.prefer) == (["docs/other0.md"], ["docs/copy1.md"])
        assert (options.only_file, options.json) == ("docs/copy2.md", False)


def test_copied_as_python_it_gives_the_same(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = folder.ask(HARD, top_k=3, left_out=["other0.md"])
    snippet = python_of(trace, folder.library)
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in snippet
    monkeypatch.setattr("pipeline.embed.local.LocalEncoder", lambda source: folder.encoder)
    names: dict[str, Any] = {}
    exec(compile(snippet, "snippet", "exec"), names)
    assert compare(trace, names["trace"]).parts_at is None
    assert {key: entry.value for key, entry in names["trace"].settings.items()} == {
        key: entry.value for key, entry in trace.settings.items()
    }


def test_defaults_and_stale_files_are_in_no_command(tmp_path: Path) -> None:
    with library({"a.txt": "lease", "b.txt": "lease deposit"}, ("b.txt",)) as (place, encoder):
        engine = QueryEngine(place, encoder)
        trace = engine.ask("lease", resolve())
        engine.close()
        assert trace.left_out == trace.left_out_stale == ("docs/b.txt",)
        assert command_of(trace, Path("lib")) == "twinspect query --library lib -- lease"
