"""Sentences for people: right in number, robust when the pipeline says less, and free of Qt."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.records import (
    FATE_NAMES,
    STAGE_NAMES,
    Budget,
    Fate,
    Remedy,
    Shortfall,
    StageCount,
    TracedCandidate,
)
from pipeline.settings import SPECS
from pipeline.words import sentences as wording
from pipeline.words.plain import first_words, lines_of, one_line, tool_tip
from tests.support import traces

TRACE = traces.policy_trace()
ROW = TRACE.candidates[0]


def with_fate(name: str, into: str | None = None, reason: str = "", **numbers: object) -> TracedCandidate:
    return replace(ROW, fate=Fate(name, "cap", reason, into, numbers))  # type: ignore[arg-type]


def test_the_sentences_of_a_real_answer() -> None:
    words = wording.TraceWording(TRACE)
    said = {traced.candidate.rank: words.fate(traced) for traced in TRACE.candidates}
    assert said[1] == "evidence 1, read by the agent"
    assert said[2] == "identical to 1, which cites it"
    assert said[7] == "over the cap of policy.txt: 1 and 5 took its places; a cap of 3 would keep it"
    assert said[19] == "6th block, 5 are returned; returning 6 would return it as well"


@pytest.mark.parametrize(
    ("traced", "sentence"),
    [
        (with_fate("over_document_cap", doc_id="a/b.txt", siblings=[4], cap_needed=2),
         "over the cap of b.txt: 4 took its place; a cap of 2 would keep it"),
        (with_fate("over_document_cap", doc_id="a/b.txt", siblings=[1, 2, 3, 4, 5, 6]),
         "over the cap of b.txt: 1, 2, 3 and 3 more took its places"),
        (with_fate("over_budget", chars=812, left=140, setting="max-total-chars"), "812 characters, 140 left"),
        (with_fate("over_budget", chars=1, left=0, setting="max-total-chars"), "1 character, 0 left"),
        (with_fate("over_budget", chars=9, left=9, setting="max-items", limit=1), "the agent takes at most 1 block"),
        (with_fate("projected_cut", chars=1812, kept=310, setting="max-total-chars"),
         "cut to 310 of 1,812 characters, to fit the budget"),
        (with_fate("beyond_return_n", position=2, return_n=1),
         "2nd block, 1 is returned; returning 2 would return it as well"),
        (with_fate("beyond_retrieve_k", distinct_rank=1024, retrieve_k=20),
         "came with the widening, not needed: different text 1,024, 20 were asked for"),
        (with_fate("left_out", doc_id="r/x/old.md", why="its last indexing failed"),
         "old.md is left out: its last indexing failed"),
        (with_fate("left_out", doc_id="r/x/old.md"), "old.md is left out of this search"),
        (with_fate("merged", "k", rank=3), "the same chunk as 3, which it was merged into"),
        (with_fate("near_collapsed", "k", rank=3, similarity=0.84),
         "a near twin of 3 (84% of their three-word runs are the same), which stands for it"),
        (with_fate("same_source", "k", rank=1), "1 is from policy.txt too; this policy keeps one block a file"),
        (with_fate("orphaned"), "the index knows it, the catalog does not; indexing again clears it up"),
    ],
)  # fmt: skip
def test_each_fate_in_words(traced: TracedCandidate, sentence: str) -> None:
    assert wording.fate_sentence(traced) == sentence


@pytest.mark.parametrize("name", FATE_NAMES)
def test_missing_numbers_fall_back_to_the_pipelines_reason(name: str) -> None:
    said = wording.fate_sentence(with_fate(name, reason="the pipeline said so\n<b>"))
    assert said
    assert "None" not in said
    assert "\n" not in said
    assert wording.fate_title(name) != name


def test_a_copys_sentence_does_not_promise_what_its_original_lost() -> None:
    trace = traces.policy_trace(return_n=2)
    words = wording.TraceWording(trace)
    assert words.fate(trace.candidates[5]) == "identical to 5, which is beyond the 2 returned"
    cut_off = traces.policy_trace(cap=1)
    six = wording.TraceWording(cut_off).fate(cut_off.candidates[5])
    assert six == "identical to 5, which is over the cap of policy.txt"


def test_remedies_name_the_value_that_helps() -> None:
    trace = traces.policy_trace(in_all=700)
    words = wording.TraceWording(trace)
    over = next(t for t in trace.candidates if t.fate.name == "over_budget")
    remedy = words.remedy(over)
    assert remedy is not None
    assert remedy.setting == "max-total-chars"
    again = traces.policy_trace(in_all=remedy.value)
    assert again.candidates[over.candidate.rank - 1].fate.name == "projected"
    assert words.remedy(trace.candidates[6]) == Remedy("max-chunks-per-document", 3)
    assert words.remedy(trace.candidates[0]) is None
    few = traces.policy_trace(max_items=2)
    third = next(t for t in few.candidates if t.fate.name == "over_budget")
    assert wording.TraceWording(few).remedy(third) == Remedy("max-items", 3)


def test_names_inside_sentences_keep_their_direction_and_hide_nothing() -> None:
    said = wording.fate_sentence(with_fate("over_document_cap", doc_id="r/חוזה.txt", siblings=[2, 5], cap_needed=3))
    assert "\u2068חוזה.txt\u2069: 2 and 5" in said
    turned = wording.fate_sentence(with_fate("over_document_cap", doc_id="r/evil\u202etxt.exe", siblings=[2]))
    assert "evil‹RLO›txt.exe" in turned
    assert "\u202e" not in turned


def test_numbers_lists_and_ordinals() -> None:
    assert wording.count(1, "file") == "1 file"
    assert wording.count(1234, "copy", "copies") == "1,234 copies"
    assert [wording.ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd",
    ]  # fmt: skip
    assert wording.listed([]) == ""
    assert wording.listed([2]) == "2"
    assert wording.listed([2, 5, 9, 11]) == "2, 5, 9 and 11"
    assert wording.listed(range(1, 9)) == "1, 2, 3 and 5 more"
    assert wording.pages(None, None) == ""
    assert wording.pages(2, 2) == "p. 2"
    assert wording.pages(2, 3) == "p. 2–3"


@pytest.mark.parametrize("name", STAGE_NAMES)
def test_every_stage_has_words(name: str) -> None:
    assert wording.stage_title(name)
    done = wording.stage_sentence(name, StageCount(name, "done", 1200, 1, 1199))  # type: ignore[arg-type]
    assert "1,200 came in, 1 went on, 1,199 stayed behind" in done
    skipped = wording.stage_sentence(name, StageCount(name, "skipped", 7, 7, 0))  # type: ignore[arg-type]
    assert "Skipped this time" in skipped
    assert wording.stage_sentence("collapse") == "Copies of the same text become one block that cites every file."


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.key)
def test_every_setting_has_a_title_and_values_with_units(spec) -> None:
    assert wording.setting_title(spec.key) != spec.key
    assert wording.setting_value(spec.key, spec.default)
    assert wording.remedy_label(Remedy(spec.key, 3))


def test_values_read_as_a_person_would_say_them() -> None:
    assert wording.setting_value("max-chunks-per-document", 0) == "no cap"
    assert wording.setting_value("max-chunks-per-document", 1) == "1 block a file"
    assert wording.setting_value("retrieve-k", 1000) == "1,000 texts"
    assert wording.setting_value("fold-near", True) == "on"
    assert wording.remedy_label(Remedy("max-chunks-per-document", 3)) == "Raise the cap to 3 a file"
    assert wording.remedy_label(Remedy("max-chunks-per-document", 0)) == "Lift the cap"
    assert wording.remedy_label(Remedy("retrieve-k", 40)) == "Recall 40 texts"


def test_the_answer_as_a_whole() -> None:
    short = Shortfall(5, 4, "Only 4 different texts were recalled")
    assert wording.shortfall_sentence(short) == "4 of 5 blocks: only 4 different texts were recalled"
    assert wording.shortfall_sentence(Shortfall(1, 0, "")) == "0 of 1 block"
    assert wording.budget_sentence(Budget(4, 5, 1180, 6000, 1500, 301)) == "1,180 of 6,000 characters · 301 tokens"
    assert wording.cites_words(TRACE.evidence[0]) == "cites 3 files"
    assert wording.saves_words(TRACE.evidence[0]) == "saves 2 places"
    assert wording.saves_words(TRACE.evidence[1]) == ""
    assert wording.freshness_mark("fresh") == ""
    assert wording.freshness_mark(None) == ""
    assert wording.freshness_mark("missing") == "missing"
    assert wording.round_sentence(8, 0) == "fetched because copies took 8 places"
    assert wording.round_sentence(1, 2) == "fetched because copies took 1 place and files left out took 2 places"
    assert wording.moved_words(2, 5) == "up from 5 in the run before"
    assert wording.moved_words(2, None) == "new: not there in the run before"


def test_one_file_cited_twice_says_so() -> None:
    rows = [traces.Row("r/a.txt", "the same page", 0.9, 0), traces.Row("r/a.txt", "the same page", 0.9, 1)]
    assert wording.cites_words(traces.make_trace(rows).evidence[0]) == "cites 1 file in 2 places"


def test_text_is_shown_plain() -> None:
    assert one_line("a\nb\x00c\x1b[0m") == "a‹LF›b‹NUL›c‹ESC›[0m"
    assert one_line("half \ud83d pair\U000e0041") == "half \N{REPLACEMENT CHARACTER} pair"
    assert one_line("x" * 9_000).count("x") == 400
    assert first_words(" \n\t  first \n words " * 3) == "first words first words first words"
    assert first_words("\n" * 5_000 + "late") == "late"
    assert len(first_words("word " * 50_000)) <= 240
    assert lines_of("a\r\nb\u2028c\x07") == "a\nb\nc‹BEL›"
    assert one_line("plain ASCII, ümläut, 契約書, חוזה") == "plain ASCII, ümläut, 契約書, חוזה"
    tip = tool_tip("<b>x</b>", "<img src='file:///x'>")
    assert "<b>" not in tip
    assert "<img" not in tip
    assert "&lt;b&gt;" in tip


def test_words_need_no_qt() -> None:
    """The sentences are there for the command line and its HTML page as well."""
    code = (
        "import sys; sys.modules['PySide6'] = None; import pipeline.words.sentences, pipeline.words.plain; print('ok')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    assert done.stdout.strip() == "ok", done.stderr
