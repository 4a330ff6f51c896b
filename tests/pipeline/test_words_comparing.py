"""Comparisons in words: complete, plain, the same from both sides."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.compare import compare
from pipeline.findings import BlockAt, CandidateAt, Comparison, Difference, ItemAt, PolicyAnswer, Unlike
from pipeline.records import STAGE_NAMES, SettingInForce
from pipeline.words.comparing import (
    all_settings_words,
    change_mark,
    change_sentence,
    counts_words,
    parting_words,
    policies_sentence,
    policy_figures,
    policy_verdict,
    run_words,
    saved_words,
    settings_words,
    unlike_lines,
)
from pipeline.words.sentences import stage_title
from tests.support.traces import Row, make_trace

EMPTY = Comparison(None, (), (), (), (), (), (), 0, 0, 0, None)
ROWS = [Row("a/one.txt", "one", 0.9), Row("a/two.txt", "two", 0.8), Row("b/one.txt", "one", 0.7)]


@pytest.mark.parametrize("stage", STAGE_NAMES)
def test_every_stage_is_named(stage: str) -> None:
    words = parting_words(dataclasses.replace(EMPTY, parts_at=stage))
    assert stage_title(stage) in words.title
    assert not words.same


def test_the_search_names_what_differs_before_it() -> None:
    found = dataclasses.replace(
        EMPTY,
        parts_at="search",
        settings=(Unlike("retrieve-k", 20, 5), Unlike("max-items", 1, 2)),
        library=(Unlike("documents", 5, 6),),
    )
    said = parting_words(found).sentence
    assert "Texts to recall" in said
    assert "Documents" in said
    assert "Blocks for the agent" not in said, "that has no part in the search"
    bare = parting_words(dataclasses.replace(EMPTY, parts_at="search")).sentence
    assert "Neither settings nor scope nor library" in bare


def test_each_change_in_words() -> None:
    one = CandidateAt("k", "/docs/one.txt", 3, 0.5, "h", "collapsed", "collapse")
    assert change_mark(Difference(one, None)) == "only left"
    assert change_mark(Difference(None, one)) == "only right"
    up = dataclasses.replace(one, rank=1)
    assert change_mark(Difference(one, up)) == "▲ 3 → 1"
    assert change_mark(Difference(up, one)) == "▼ 1 → 3"
    assert change_sentence(Difference(one, up)) == "Up from 3 on the left to 1 on the right."
    read = dataclasses.replace(one, fate="projected", stage="pack")
    assert change_mark(Difference(one, read)) == "changed"
    assert "identical copy on the left, read by the agent on the right" in change_sentence(Difference(one, read))
    block = BlockAt("k", "/docs/one.txt", 1, 0.5, "h", ("k",))
    more = dataclasses.replace(block, cites=("k", "l"))
    assert "it cites 1 place on the left and 2 places on the right" in change_sentence(Difference(block, more))
    other = dataclasses.replace(block, evidence_key="m", source_path="/docs/copy.txt")
    assert "copy.txt stands for it instead of one.txt" in change_sentence(Difference(block, other))
    item = ItemAt("k", "/docs/one.txt", 1, 812, False, "h")
    cut = dataclasses.replace(item, chars=400, cut=True, content_sha256="i")
    assert "812 characters became 400" in change_sentence(Difference(item, cut))


def test_counts_above_a_list() -> None:
    one = Difference(None, ItemAt("k", "/a", 1, 1, False, "h"))
    assert counts_words((one,), 4) == "1 differs, 4 the same"
    assert counts_words((one, one), 0) == "2 differ, 0 the same"
    assert counts_words((), 4) == "all 4 the same"
    assert counts_words((), 0) == "none on either side"


@given(st.text(max_size=40), st.text(max_size=40), st.text(min_size=1, max_size=20))
def test_whatever_stands_in_a_trace_is_said_in_plain_lines(query: str, other: str, key: str) -> None:
    odd = {key: SettingInForce(other, "flag")}
    before = make_trace(ROWS, query=query, only_file=other or None)
    after = dataclasses.replace(make_trace(ROWS, query=other, return_n=1), settings=odd, left_out=(query,))
    found = compare(before, after)
    said = [cell for line in unlike_lines(found) for cell in line]
    said += [parting_words(found).title, parting_words(found).sentence, run_words(before), run_words(after)]
    said += [settings_words(odd), all_settings_words(odd)]
    said += saved_words(after, query, "3 May 2026, 14:07", from_file=True)
    assert len(unlike_lines(found)) == (found.question is not None) + sum(
        map(len, (found.settings, found.scope, found.library))
    )
    for text in said:
        assert not any(sign in text for sign in "\x00\x1b\n\r\t\u202e\u202d\u2066\u200b")


def answer(policy: str, items: int, distinct: int) -> PolicyAnswer:
    crowding = (items - distinct) / items if items else 0.0
    return PolicyAnswer(policy, make_trace(ROWS), items, distinct, crowding, 3, 1_234, None)


def test_policies_in_words() -> None:
    plain, evidence = answer("plain", 5, 1), answer("evidence", 4, 4)
    said = policies_sentence((plain, evidence))
    assert said.startswith("Plain top-k gives the agent 5 items, but only 1 different text: copies took 4 places.")
    assert "Evidence gives 4 different texts, citing 3 files." in said
    assert "without a copy" in policies_sentence((answer("plain", 3, 3), evidence))
    assert policy_verdict(plain) == "4 of 5 places repeat a text that stands above already."
    assert policy_verdict(answer("plain", 2, 1)) == "1 of 2 places repeats a text that stands above already."
    assert policy_verdict(evidence) == "4 places, each with a text of its own."
    assert policy_verdict(answer("plain", 0, 0)) == "Gives the agent nothing."
    figures = {what: figure for figure, what in policy_figures(plain)}
    assert figures == {
        "items": "5",
        "different text": "1",
        "crowding": "80%",
        "files cited": "3",
        "characters": "1,234",
        "tokens": "–",
    }
