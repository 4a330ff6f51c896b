"""The stages one by one, as pure functions."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.records import Candidate, Copy, Evidence, Hit, Location, SearchRound
from pipeline.select.cap import cap_documents
from pipeline.select.collapse import collapse
from pipeline.select.cut import first_blocks
from pipeline.select.identity import candidate_of, identify, known
from pipeline.select.leave_out import leave_out
from pipeline.select.merge import merge
from pipeline.select.near import fold_near, near_pairs, near_twins
from pipeline.select.outcome import single_block
from pipeline.select.pack import Budgets, pack
from pipeline.select.project import evidence_of, page_label, project
from pipeline.select.source import one_per_source
from pipeline.select.width import first_candidates, first_distinct
from pipeline.textkeys import fold_key


def hit(doc: str, index: int = 0, score: float = 0.5, text: str | None = "text", **meta: Any) -> Hit:
    path = f"/r/{doc}"
    return Hit(f"v-{doc}-{index}", score, {"doc_id": doc, "chunk_index": index, "source_path": path} | meta, text)


def candidates(*hits: Hit) -> tuple[Candidate, ...]:
    return identify(hits, [SearchRound(len(hits), len(hits), 0)])


# --- identity ---


@pytest.mark.parametrize(
    ("metadata", "vector_id", "key"),
    [
        ({"doc_id": "a.md", "chunk_index": 3}, "v1", "a.md#chunk-3"),
        ({"docId": "a.md", "chunkIndex": 3}, "v1", "a.md#chunk-3"),
        ({"doc_id": "a.md", "chunk_index": "3"}, "v1", "a.md#chunk-3"),
        ({"doc_id": "a.md", "chunk_index": 0}, "v1", "a.md#chunk-0"),
        ({"docId": "a.md", "chunk_index": "0"}, None, "a.md#chunk-0"),
        ({"doc_id": "a.md"}, "v1", "vector:v1"),
        ({"chunk_index": 3}, "v1", "vector:v1"),
        ({"chunk_index": 3}, 0, "vector:0"),
        ({"doc_id": "a.md", "chunk_index": "third"}, 7, "vector:7"),
        ({}, "v1", "vector:v1"),
        ({}, None, f"text:{fold_key('some text')[:16]}"),
        ({"doc_id": "a.md"}, None, f"text:{fold_key('some text')[:16]}"),
    ],
)
def test_identity_follows_the_metadata(metadata: dict[str, Any], vector_id: str | int | None, key: str) -> None:
    assert candidate_of(Hit(vector_id, 0.5, metadata, "some text")).evidence_key == key


def test_candidates_stand_in_the_total_order_and_know_their_round() -> None:
    hits = [hit("b", 1, 0.9), hit("b", 0, 0.9), hit("a", 5, 0.9), hit("z", 0, 0.95)]
    found = identify(hits, [SearchRound(2, 2, 1), SearchRound(4, 4, 3)])
    assert [(c.rank, c.doc_id, c.chunk_index, c.round) for c in found] == [
        (1, "z", 0, 2), (2, "a", 5, 2), (3, "b", 0, 1), (4, "b", 1, 1)
    ]  # fmt: skip


def test_a_score_that_is_no_number_comes_last_and_white_space_is_no_chunk() -> None:
    found = candidates(hit("a", score=float("nan")), hit("b", score=-1.0), hit("c", text=" \N{NO-BREAK SPACE}\n"))
    assert [c.doc_id for c in found] == ["b", "a"]


def test_vectors_without_a_text_are_orphaned() -> None:
    found = candidates(Hit(7, 0.9, {}, None), Hit(8, 0.9, {}, None), hit("a"))
    outcome = known(found)
    assert [c.evidence_key for c in outcome.kept] == ["a#chunk-0"]
    assert {fate.name for fate in outcome.fates.values()} == {"orphaned"}


# --- left out, merge, width ---


def test_left_out_documents_go_with_the_reason() -> None:
    outcome = leave_out(candidates(hit("a"), hit("b")), {"a": "you left it out"})
    assert [c.doc_id for c in outcome.kept] == ["b"]
    (fate,) = outcome.fates.values()
    assert (fate.name, fate.numbers) == ("left_out", {"doc_id": "a", "why": "you left it out"})


def test_the_same_key_from_two_channels_becomes_one_with_the_reasons_of_both() -> None:
    dense = Hit("v", 0.9, {"doc_id": "a", "chunk_index": 1}, "better", ("dense",))
    words = Hit("v", 0.4, {"docId": "a", "chunkIndex": "1"}, "worse", ("words", "dense"))
    outcome = merge(candidates(words, dense))
    (kept,) = outcome.kept
    assert (kept.text, kept.score, kept.hit_reasons) == ("better", 0.9, ("dense", "words"))
    assert [(rank, fate.name, fate.into) for rank, fate in outcome.fates.items()] == [(2, "merged", "a#chunk-1")]


def test_the_width_counts_texts_not_places() -> None:
    found = candidates(
        hit("a", score=0.9, text="one"), hit("b", score=0.8, text="one"), hit("c", score=0.7, text="two"),
        hit("d", score=0.6, text="three"), hit("e", score=0.5, text="two"),
    )  # fmt: skip
    outcome = first_distinct(found, 2)
    assert [c.doc_id for c in outcome.kept] == ["a", "b", "c", "e"]
    assert {rank: fate.name for rank, fate in outcome.fates.items()} == {4: "beyond_retrieve_k"}
    assert [c.doc_id for c in first_candidates(found, 2).kept] == ["a", "b"]


# --- collapse ---


def copy_at(doc: str, index: int, text: str = "text", path: str | None = None) -> Copy:
    from pipeline.textkeys import text_sha256

    return Copy(Location(f"{doc}#chunk-{index}", doc, index, path or f"/r/{doc}", 0, len(text)), text_sha256(text))


def test_copies_become_one_block_that_cites_all_of_them() -> None:
    found = candidates(hit("b", 2), hit("a", 7), hit("c", text="other", score=0.4))
    block, other = collapse(found).kept
    assert block.key == "a#chunk-7"
    assert [place.evidence_key for place in block.citations] == ["a#chunk-7", "b#chunk-2"]
    assert other.key == "c#chunk-0"
    assert block.places == 2


def test_copies_that_were_not_recalled_are_cited_from_the_catalog() -> None:
    found = candidates(hit("b"))
    (block,) = collapse(found, {found[0].fold_key: [copy_at("b", 0), copy_at("z", 1), copy_at("z", 4)]}).kept
    assert [place.evidence_key for place in block.citations] == ["b#chunk-0", "z#chunk-1", "z#chunk-4"]


def test_the_representative_is_the_better_score_then_the_smaller_place() -> None:
    found = candidates(hit("a", score=0.5, text="x  y"), hit("b", score=0.6, text="x y"), hit("b", 3, 0.6, text="x y"))
    (block,) = collapse(found).kept
    assert (block.key, block.content, block.score) == ("b#chunk-0", "x y", 0.6)


def test_code_points_decide_between_names() -> None:
    (block,) = collapse(candidates(hit("Z.md"), hit("a.md"), hit("ä.md"))).kept
    assert [place.doc_id for place in block.citations] == ["Z.md", "a.md", "ä.md"]


def test_a_preferred_copy_is_cited_first_even_when_it_was_not_recalled() -> None:
    found = candidates(hit("a"), hit("b"))
    copies = {found[0].fold_key: [copy_at("a", 0), copy_at("b", 0), copy_at("z", 9)]}
    outcome = collapse(found, copies, preferred={"z"})
    (block,) = outcome.kept
    assert (block.key, block.carrier.doc_id) == ("z#chunk-9", "a")
    assert {rank: fate.into for rank, fate in outcome.fates.items()} == {2: "z#chunk-9"}


def test_left_out_and_other_documents_supply_no_citation() -> None:
    found = candidates(hit("b"))
    copies = {found[0].fold_key: [copy_at("a", 0), copy_at("b", 0), copy_at("b", 5), copy_at("c", 0)]}
    (block,) = collapse(found, copies, left_out={"a"}).kept
    assert [place.doc_id for place in block.citations] == ["b", "b", "c"]
    (alone,) = collapse(found, copies, only_document="b").kept
    assert [place.evidence_key for place in alone.citations] == ["b#chunk-0", "b#chunk-5"]


# --- near ---


def test_resemblance_is_the_shared_part_of_word_triples() -> None:
    one, two = "a b c d e", "a b c d x"  # abc bcd cde / abc bcd cdx
    assert near_pairs([one, two, "q r s"], 0.1) == {(0, 1): pytest.approx(2 / 4)}


def test_near_twins_are_named_but_equal_ones_are_not_near() -> None:
    found = candidates(
        hit("a", score=0.9, text="one two three four"), hit("b", score=0.8, text="one two three four"),
        hit("c", score=0.7, text="one two three five"),
    )  # fmt: skip
    near = near_twins(found, 0.3)
    assert [twin.evidence_key for twin in near[3]] == ["a#chunk-0"]
    assert [twin.evidence_key for twin in near[1]] == ["c#chunk-0"] == [twin.evidence_key for twin in near[2]]


def test_folding_near_twins_makes_no_chains() -> None:
    texts = ["a b c d e f", "a b c d e x", "a b c d y x"]
    blocks = [
        single_block(c) for c in candidates(*(hit(str(n), score=1 - n / 10, text=t) for n, t in enumerate(texts)))
    ]
    outcome = fold_near(blocks, 0.5)  # 0~1 and 1~2, but not 0~2
    assert [block.key for block in outcome.kept] == ["0#chunk-0", "2#chunk-0"]
    assert {rank: fate.into for rank, fate in outcome.fates.items()} == {2: "0#chunk-0"}


# --- source, cap, return ---


def test_the_legacy_rule_keeps_one_passage_a_file() -> None:
    found = candidates(hit("a", 0, 0.9, "one"), hit("a", 1, 0.8, "two"), hit("b", 0, 0.7, "three"))
    outcome = one_per_source(found)
    assert [block.key for block in outcome.kept] == ["a#chunk-0", "b#chunk-0"]
    assert {rank: (fate.name, fate.into) for rank, fate in outcome.fates.items()} == {2: ("same_source", "a#chunk-0")}


def test_the_cap_names_the_siblings_and_the_cap_that_would_keep_it() -> None:
    blocks = [
        single_block(c)
        for c in candidates(*(hit("a", n, 0.9 - n / 100, f"t{n}") for n in range(4)), hit("b", 0, 0.1, "u"))
    ]
    outcome = cap_documents(blocks, 2, 3)
    assert [block.key for block in outcome.kept] == ["a#chunk-0", "a#chunk-1", "b#chunk-0"]
    fate = outcome.fates[4]
    assert fate.name == "over_document_cap"
    assert (fate.numbers["doc_id"], fate.numbers["siblings"]) == ("a", [1, 2])
    assert (fate.numbers["cap_needed"], fate.numbers["place"]) == (4, 4)
    assert "a cap of 4 and a return-n of 4 would keep it" in fate.reason
    assert "a cap of 3 would keep it" in outcome.fates[3].reason
    assert len(cap_documents(blocks, 4, 5).kept) == 5
    assert len(cap_documents(blocks, 0, 5).kept) == 5


def test_a_collapsed_block_counts_against_its_representative_alone() -> None:
    found = candidates(
        hit("a", 0, 0.9, "same"), hit("b", 0, 0.9, "same"), hit("b", 1, 0.8, "more"), hit("b", 2, 0.7, "most")
    )
    outcome = cap_documents(collapse(found).kept, 2, 5)
    assert [block.key for block in outcome.kept] == ["a#chunk-0", "b#chunk-1", "b#chunk-2"]


def test_the_return_width_cuts_in_rank_order() -> None:
    blocks = [single_block(c) for c in candidates(*(hit(str(n), score=-n, text=str(n)) for n in range(3)))]
    outcome = first_blocks(blocks, 2)
    assert [block.key for block in outcome.kept] == ["0#chunk-0", "1#chunk-0"]
    assert outcome.fates[3].numbers == {"position": 3, "return_n": 2}


# --- project and pack ---


def evidence(*lengths: int) -> list[Evidence]:
    found = candidates(*(hit(str(n), score=-n, text=chr(97 + n) * length) for n, length in enumerate(lengths)))
    return [evidence_of(single_block(c), rank) for rank, c in enumerate(found, start=1)]


def test_the_projection_deduplicates_by_key_never_by_source() -> None:
    same_file = candidates(hit("a", 0, 0.9, "one"), hit("a", 1, 0.8, "two"), hit("a", 0, 0.7, "one again"))
    blocks = [evidence_of(single_block(c), n) for n, c in enumerate(same_file, start=1)]
    outcome = project(blocks)
    assert [block.evidence_key for block in outcome.kept] == ["a#chunk-0", "a#chunk-1"]
    assert {rank: fate.name for rank, fate in outcome.fates.items()} == {3: "merged"}


@pytest.mark.parametrize(
    ("lengths", "budgets", "kept", "fates"),
    [
        ([100, 100], Budgets(5, 1500, 6000), [100, 100], ["projected", "projected"]),
        ([2000, 100], Budgets(5, 1500, 6000), [1500, 100], ["projected_cut", "projected"]),
        # 200 characters left: cut to fit, and all behind it are out, even one that would fit
        ([800, 900, 50], Budgets(5, 1500, 1000), [800, 200], ["projected", "projected_cut", "over_budget"]),
        # 199 left: not worth cutting
        ([801, 900, 50], Budgets(5, 1500, 1000), [801], ["projected", "over_budget", "over_budget"]),
        ([100, 100, 100], Budgets(2, 1500, 6000), [100, 100], ["projected", "projected", "over_budget"]),
        ([300], Budgets(5, 1500, 150), [], ["over_budget"]),
        ([150], Budgets(5, 1500, 150), [150], ["projected"]),
        ([1600], Budgets(5, 1500, 1500), [1500], ["projected_cut"]),
    ],
)
def test_budgets(lengths: list[int], budgets: Budgets, kept: list[int], fates: list[str]) -> None:
    outcome, final = pack(evidence(*lengths), budgets)
    assert [len(piece.content) for piece in outcome.kept] == kept
    told = dict(outcome.fates) | final
    assert [told[rank].name for rank in sorted(told)] == fates


def test_pages_are_named_only_where_there_are_any() -> None:
    assert page_label(None, None) is None
    assert page_label(3, 3) == 3
    assert page_label(3, None) == 3
    assert page_label(2, 3) == "2-3"
