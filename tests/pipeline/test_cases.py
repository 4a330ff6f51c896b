"""Cases from practice, each a small folder and a question on which document search tools have gone wrong.

Real files, the real store, the real port; a small deterministic encoder, since the ranking is not the point.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.errors import RootError
from pipeline.library import LibraryReader
from pipeline.query import Scope, answer
from pipeline.records import Hit, Trace
from pipeline.search.port import Question
from pipeline.settings import Layer, resolve
from tests.support.folders import Folder, answer_bytes, document, passage
from tests.support.pdfs import drawn


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def raw_texts(trace: Trace) -> list[str | None]:
    return [traced.candidate.text for traced in trace.candidates]


def fates(trace: Trace) -> list[str]:
    return [traced.fate.name for traced in trace.candidates]


def cited(folder: Folder, trace: Trace, block: int = 0) -> list[str]:
    return folder.names(trace.evidence[block].source_paths)


def test_case_1_a_shared_clause_is_one_block_with_the_place_in_each_contract(folder: Folder) -> None:
    shared = passage("liability damages insurance")
    north = document(passage("north delivery pallets", 1), shared, passage("north payment invoice", 2))
    south = document(passage("south crane rental", 3), shared, passage("south notice termination", 4))
    folder.write({"north.txt": north, "south.txt": south})
    folder.index()
    trace = folder.ask("liability damages insurance")
    assert raw_texts(trace).count(shared) == 2
    block = trace.evidence[0]
    assert block.content == shared
    assert cited(folder, trace) == ["north.txt", "south.txt"]
    assert [(place.start, place.end) for place in block.citations] == [
        (text.index(shared), text.index(shared) + len(shared)) for text in (north, south)
    ]
    folder.remove("north.txt")
    folder.index()
    after = folder.ask("liability damages insurance")
    assert after.evidence[0].content == shared
    assert cited(folder, after) == ["south.txt"]
    assert len(after.evidence[0].citations) == 1


def test_case_2_a_backed_up_handbook_does_not_crowd_out_the_other_answer(folder: Folder) -> None:
    handbook = document(passage("holiday allowance request"), passage("expenses travel train", 1))
    copies = ["handbook.md", *(f"backup{n}/handbook.md" for n in range(1, 6))]
    folder.write(dict.fromkeys(copies, handbook) | {"other.md": document(passage("holiday rota calendar kitchen", 5))})
    folder.index()
    trace = folder.ask("holiday allowance request", return_n=3)
    assert sorted(cited(folder, trace)) == sorted(copies)
    assert "other.md" in [name for block in trace.evidence for name in folder.names(block.source_paths)]
    plain = folder.ask("holiday allowance request", return_n=6, policy="plain")
    assert len({block.content for block in plain.evidence}) == 1
    assert len(plain.evidence) == 6
    assert plain.summary.crowding == pytest.approx(5 / 6)


@pytest.mark.parametrize("gone", ["LICENSE", "vendor/LICENSE"])
def test_case_3_either_copy_can_go(folder: Folder, gone: str) -> None:
    text = document(passage("permission granted copies software"))
    folder.write({"LICENSE": text, "vendor/LICENSE": text, "other.txt": document(passage("kitchen rota", 3))})
    folder.index()
    folder.remove(gone)
    folder.index()
    trace = folder.ask("permission granted copies software")
    (left,) = {"LICENSE", "vendor/LICENSE"} - {gone}
    assert cited(folder, trace) == [left]
    assert folder.no_orphans()


def test_case_4_what_only_the_deleted_file_held_is_gone(folder: Folder) -> None:
    first, shared, second = passage("turbine blades"), passage("safety helmets", 1), passage("office plants", 2)
    folder.write({"a.txt": document(first, shared), "b.txt": document(shared, second)})
    folder.index()
    folder.remove("a.txt")
    report = folder.index()
    assert (report.removed, report.embedded, report.texts) == (1, 0, 2)
    assert cited(folder, folder.ask("safety helmets")) == ["b.txt"]
    assert first not in raw_texts(folder.ask("turbine blades"))
    assert folder.no_orphans()


def test_case_5_near_equal_profiles_both_stay_and_every_row_has_a_reason(folder: Folder) -> None:
    profile = passage("works depot reports weekly plan", 7)
    nurse = f"Anna Berg is the ward nurse here. {profile}"
    cook = f"Olga Lind is the ward cook here. {profile}"
    folder.write({"anna.md": document(nurse), "olga.md": document(cook)})
    folder.write({f"note{n}.md": document(passage(f"subject{n} matter{n}", n)) for n in range(6)})
    folder.index()
    trace = folder.ask("who is the ward cook", retrieve_k=24, max_chunks_per_document=4, return_n=8)
    assert {nurse, cook} <= set(raw_texts(trace))
    assert {nurse, cook} <= {block.content for block in trace.evidence}
    assert not {"collapsed", "near_collapsed"} & set(fates(trace))
    by_text = {traced.candidate.text: traced for traced in trace.candidates}
    assert [twin.evidence_key for twin in by_text[cook].near_twins] == ["docs/anna.md#chunk-0"]
    assert all(traced.fate.reason for traced in trace.candidates)
    folded = folder.ask("who is the ward cook", fold_near=True)
    assert "near_collapsed" in fates(folded)


def test_case_6_white_space_makes_no_difference_and_a_capital_letter_does(folder: Folder) -> None:
    lines = [passage("mooring ropes buoys", n, 200) for n in range(3)]
    plain = "\n".join(lines) + "\n"
    variants: dict[str, str] = {
        "lf.txt": plain,
        "crlf.txt": plain.replace("\n", "\r\n"),
        "tabs.txt": plain.replace(" ", "\t"),
        "nbsp.txt": plain.replace(" ", "\N{NO-BREAK SPACE}"),
        "trailing.txt": plain.replace("\n", "  \n"),
        "capital.txt": plain.replace("mooring", "Mooring", 1),
    }
    folder.write(variants)
    folder.index()
    trace = folder.ask("mooring ropes buoys")
    twins = next(block for block in trace.evidence if len(block.citations) == 5)
    assert sorted(folder.names(twins.source_paths)) == ["crlf.txt", "lf.txt", "nbsp.txt", "tabs.txt", "trailing.txt"]
    assert any(cited(folder, trace, n) == ["capital.txt"] for n in range(len(trace.evidence)))
    reader = LibraryReader(folder.library)
    for place in twins.citations:
        name = place.doc_id.removeprefix("docs/")
        held = reader.document_text(place.doc_id).text
        assert held == variants[name]
        assert held[place.start : place.end].split() == twins.content.split()
        assert held[: place.start].count("\n") == 0
    reader.close()


def test_case_7_twelve_copies_do_not_shorten_the_answer(folder: Folder) -> None:
    strong = [passage("glacier rescue rope", n, 640) for n in range(5)]
    folder.write({f"copy{n:02}.md": document(*strong) for n in range(12)})
    folder.write({f"weak{n}.md": document(passage(f"glacier museum tour{n} ticket{n}", n + 9)) for n in range(10)})
    folder.index()
    seven = folder.ask("glacier rescue rope", return_n=7, max_chunks_per_document=0)
    assert len({block.content for block in seven.evidence}) == 7
    assert {block.content for block in seven.evidence[:5]} == set(strong)
    assert all(len(block.source_paths) == 12 for block in seven.evidence[:5])
    assert seven.rounds[0].asked == 20
    assert len(seven.rounds) > 1
    fifty = folder.ask("glacier rescue rope", return_n=50, retrieve_k=50, max_chunks_per_document=0)
    assert len({block.content for block in fifty.evidence}) == len(fifty.evidence) == 15
    assert fifty.summary.shortfall is not None
    assert (fifty.summary.shortfall.got, fifty.summary.shortfall.wanted) == (15, 50)
    assert "only 15 different texts" in fifty.summary.shortfall.reason


def test_case_8_both_halves_of_the_answer_come_from_one_file(folder: Folder) -> None:
    halves = passage("deposit amount tenant"), passage("deposit refund deadline", 1)
    folder.write({"lease.md": document(*halves), "zoo.md": document(passage("giraffe feeding", 2))})
    folder.index()
    trace = folder.ask("deposit amount tenant refund deadline", return_n=3, max_chunks_per_document=0)
    assert {block.content for block in trace.evidence[:2]} == set(halves)
    assert cited(folder, trace, 2) == ["zoo.md"]
    capped = folder.ask("deposit amount tenant refund deadline", return_n=3, max_chunks_per_document=1)
    assert fates(capped)[1] == "over_document_cap"
    assert capped.candidates[1].fate.numbers["cap_needed"] == 2
    assert len(capped.evidence) == 2


def test_case_9_the_cap_leaves_room_and_the_shortfall_is_explained(folder: Folder) -> None:
    folder.write({"big.md": document(*(passage("solar panel roof", n, 640) for n in range(8)))})
    folder.write(
        {"one.md": document(passage("solar panel garden", 11)), "two.md": document(passage("solar kitchen", 12))}
    )
    folder.index()
    trace = folder.ask("solar panel roof", return_n=5)
    documents = [block.doc_id for block in trace.evidence]
    assert sorted(documents) == ["docs/big.md", "docs/big.md", "docs/one.md", "docs/two.md"]
    scores = [block.score for block in trace.evidence]
    assert scores == sorted(scores, reverse=True)
    shortfall = trace.summary.shortfall
    assert shortfall is not None
    assert (shortfall.wanted, shortfall.got) == (5, 4)
    assert [(remedy.setting, remedy.value) for remedy in shortfall.remedies] == [("max-chunks-per-document", 3)]
    assert len(folder.ask("solar panel roof", return_n=5, max_chunks_per_document=3).evidence) == 5


def test_case_10_the_same_answer_to_the_byte_whatever_the_order_of_indexing(tmp_path: Path) -> None:
    text = document(passage("passport renewal"))
    names = [f"copy{n:02}.txt" for n in range(30)]
    seen: dict[int, set[str]] = {1: set(), 5: set()}
    for order in range(4):
        place = tmp_path / str(order)
        folder = Folder(place)
        folder.write({"other.txt": document(passage("visa fees", 1))})
        shuffled = random.Random(order).sample(names, len(names))
        for start in range(0, 30, 10):  # in three runs, each in an order of its own
            folder.write(dict.fromkeys(shuffled[start : start + 10], text))
            folder.index()
        for return_n, answers in seen.items():
            for _ in range(5):  # a new engine each time: a restart
                trace = folder.ask("passport renewal", return_n=return_n)
                assert trace.evidence[0].doc_id == "docs/copy00.txt"
                for traced in trace.candidates:
                    assert traced.freshness == "fresh"
                answers.add(answer_bytes(trace, place))
    assert {return_n: len(answers) for return_n, answers in seen.items()} == {1: 1, 5: 1}


def test_case_11_equal_spans_in_one_file_are_one_block_and_different_ones_are_two(folder: Folder) -> None:
    page = passage("checklist gate fence")
    folder.write({"twice.txt": document(page, passage("ferry timetable", 1), page)})
    clauses = passage("warranty screen battery", 2), passage("warranty hinge cable", 3)
    folder.write({"clauses.md": "# Warranty\n\n" + document(*clauses)})
    folder.index()
    trace = folder.ask("checklist gate fence")
    assert cited(folder, trace) == ["twice.txt"]
    assert len(trace.evidence[0].citations) == 2
    warranty = folder.ask("warranty screen battery hinge cable")
    assert [cited(folder, warranty, n) for n in (0, 1)] == [["clauses.md"], ["clauses.md"]]


def test_case_12_a_sentence_at_the_top_of_a_page_is_cited_with_its_page(folder: Folder) -> None:
    def lines(page: int) -> list[str]:
        return [f"Page {page} line {n} of the handbook on lanterns and gravel." for n in range(30)]

    five = [lines(page) for page in range(1, 6)]
    # Page 2 ends in the middle of a sentence that goes on at the top of page 3.
    five[1] = [*five[1], "The emergency generator of the northern"]
    five[2] = ["quarry needs diesel every Thursday.", *five[2]]
    nine = [lines(page) for page in range(11, 20)]
    folder.write(
        {"a five.pdf": drawn(five), "b nine.pdf": drawn(nine), "c notes.txt": document(passage("violin strings"))}
    )
    folder.index()
    trace = folder.ask("quarry needs diesel every Thursday", max_chunks_per_document=0, retrieve_k=50, return_n=50)
    block = next(block for block in trace.evidence if "quarry needs diesel" in block.content)
    (place,) = block.citations
    assert (place.page_first, place.page_last) in {(2, 3), (3, 3)}
    with closing(LibraryReader(folder.library)) as reader:
        held = reader.document_text("docs/a five.pdf")
    at = held.text.index("quarry needs diesel")
    assert [page.number for page in held.pages if page.start <= at < page.end] == [3]
    text = folder.ask("violin strings").evidence[0]
    assert cited(folder, folder.ask("violin strings")) == ["c notes.txt"]
    assert (text.page_first, text.citations[0].page_last) == (None, None)


def test_case_13_indexing_again_changes_nothing(folder: Folder) -> None:
    folder.write({f"{n}.md": document(passage(f"topic{n}", n)) for n in range(10)})
    reports, answers = [], set()
    for _ in range(3):
        reports.append(folder.index())
        answers.add(answer_bytes(folder.ask("topic4"), folder.root.parent))
    assert [report.embedded for report in reports] == [10, 0, 0]
    assert {(report.documents, report.chunks, report.texts) for report in reports} == {(10, 10, 10)}
    assert [report.unchanged for report in reports] == [0, 10, 10]
    assert len(answers) == 1


def test_case_14_deleted_sections_and_emptied_files_are_not_found(folder: Folder) -> None:
    sections = [passage(f"section{n} subject{n}", n) for n in range(1, 6)]
    folder.write({"book.md": document(*sections), "other.md": document(passage("harbour crane", 9))})
    folder.index()
    assert sections[3] in raw_texts(folder.ask("section4 subject4"))
    folder.write({"book.md": document(*sections[:2])})
    folder.index()
    assert sections[3] not in raw_texts(folder.ask("section4 subject4"))
    folder.write({"book.md": ""})
    folder.index()
    assert not any("section" in (text or "") for text in raw_texts(folder.ask("section4 subject4")))
    reader = LibraryReader(folder.library)
    states = {item.doc_id: (item.state, item.reason) for item in reader.documents()}
    reader.close()
    assert states["docs/book.md"] == ("no_text", "empty file")
    assert folder.no_orphans()


def test_case_15_deleted_files_and_folders_go_and_an_unreachable_root_changes_nothing(folder: Folder) -> None:
    folder.write(
        {f"sub/{n}.md": document(passage(f"topic{n}", n)) for n in range(2)} | {"top.md": document(passage("top"))}
    )
    folder.index()
    folder.remove("sub/0.md")
    assert folder.index().removed == 1
    assert folder.no_orphans()
    shutil.rmtree(folder.root / "sub")
    assert folder.index().removed == 1
    assert folder.no_orphans()
    folder.root.rename(folder.root.with_name("elsewhere"))
    before = answer_bytes(folder.ask("top"), folder.root.parent)
    with pytest.raises(RootError):
        folder.index()
    from pipeline.index import index_library

    with pytest.raises(RootError, match="keeps what it had"):
        index_library(folder.library, encoder=folder.encoder)
    assert answer_bytes(folder.ask("top"), folder.root.parent) == before


def test_case_16_a_moved_file_keeps_its_vectors(folder: Folder) -> None:
    folder.write({"in/report.md": document(passage("quarterly revenue")), "a.md": document(passage("old matter", 1))})
    folder.index()
    (folder.root / "archive/2024").mkdir(parents=True)
    (folder.root / "in/report.md").rename(folder.root / "archive/2024/report.md")
    report = folder.index()
    assert (report.moved, report.added, report.removed, report.embedded) == (1, 0, 0, 0)
    assert cited(folder, folder.ask("quarterly revenue")) == ["archive/2024/report.md"]
    (folder.root / "a.md").rename(folder.root / "b.md")
    folder.write({"a.md": document(passage("new matter", 2))})
    report = folder.index()
    assert report.embedded == 1
    assert cited(folder, folder.ask("old matter")) == ["b.md"]
    assert cited(folder, folder.ask("new matter")) == ["a.md"]


def test_case_17_touching_costs_nothing_and_disguised_edits_are_found(folder: Folder) -> None:
    folder.write({"a.md": document(passage("alpha")), "b.md": document(passage("beta", 1))})
    folder.index()
    for name in ("a.md", "b.md"):
        os.utime(folder.root / name, (10**9, 10**9))
    report = folder.index()
    assert (report.embedded, report.unchanged) == (0, 2)
    file = folder.root / "a.md"
    facts = file.stat()
    file.write_text(file.read_text().replace("alpha", "gamma"))
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    folder.index(full=True)
    assert "gamma" in folder.ask("gamma").evidence[0].content
    older = document(passage("delta", 2))
    file.write_text(older)
    os.utime(file, (10**8, 10**8))
    folder.index()
    assert "delta" in folder.ask("delta").evidence[0].content


@pytest.mark.parametrize("out", ["a-policy.md", "z-policy.md"])
def test_case_18_leaving_out_one_copy_keeps_the_text(folder: Folder, out: str) -> None:
    text = document(passage("refund within days"))
    folder.write({"a-policy.md": text, "z-policy.md": text, "other.md": document(passage("kitchen rota", 3))})
    folder.index()
    (served,) = {"a-policy.md", "z-policy.md"} - {out}
    trace = folder.ask("refund within days", left_out=[out])
    assert cited(folder, trace) == [served]
    assert trace.evidence[0].content == text.strip()
    assert fates(trace).count("left_out") == 1
    # The same with a file that changed and cannot be read any more: stale, and left out by itself.
    (folder.root / out).write_bytes(bytes(range(256)) * 40)
    folder.index()
    stale = folder.ask("refund within days")
    assert cited(folder, stale) == [served]
    left = next(traced for traced in stale.candidates if traced.fate.name == "left_out")
    assert left.candidate.doc_id == folder.doc_id(out)
    assert left.freshness == "failed"
    assert sorted(cited(folder, folder.ask("refund within days", serve_stale=True))) == ["a-policy.md", "z-policy.md"]


def test_case_19_identity_of_foreign_hits(folder: Folder) -> None:
    hits = [
        Hit("v0", 0.9, {"doc_id": "kb/a.md", "chunk_index": 3}, "one"),
        Hit("v1", 0.8, {"docId": "kb/b.md", "chunkIndex": 1}, "two"),
        Hit("v2", 0.7, {"docId": "kb/b.md", "chunkIndex": 0}, "three"),
        Hit("v3", 0.6, {"chunkIndex": 4}, "four"),
        Hit("v4", 0.5, {}, "five"),
    ]
    trace = answer(
        Question("any"),
        port=Recording(hits),
        catalog=None,
        settings=resolve(),
        scope=Scope({}),
    )
    assert [traced.candidate.evidence_key for traced in trace.candidates] == [
        "kb/a.md#chunk-3", "kb/b.md#chunk-1", "kb/b.md#chunk-0", "vector:v3", "vector:v4"
    ]  # fmt: skip
    assert [item.document_id for item in trace.projected] == [t.candidate.evidence_key for t in trace.candidates]


class Recording:
    """A port that notes what it was asked for."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self.hits = hits
        self.asked: list[int] = []

    def search(self, question: Question, limit: int) -> Sequence[Hit]:
        self.asked.append(limit)
        return self.hits[:limit]


def test_case_20_the_port_is_asked_for_the_retrieval_width_first() -> None:
    hits = [Hit(f"v{n}", 1 - n / 100, {"doc_id": f"{n}.md", "chunk_index": 0}, f"text {n}") for n in range(60)]
    port = Recording(hits)
    trace = answer(Question("any"), port=port, catalog=None, settings=resolve(), scope=Scope({}))
    assert port.asked == [20]
    assert len(trace.evidence) == 5
    legacy = Recording(hits)
    both = answer(
        Question("any"),
        port=legacy,
        catalog=None,
        settings=resolve([Layer({"top-k": 7}, "flag")]),
        scope=Scope({}),
    )
    assert legacy.asked == [7]
    assert len(both.evidence) == 7


def test_one_file_only_cites_that_file_and_takes_its_places(folder: Folder) -> None:
    text = passage("packraft valve repair")
    folder.write({"a.txt": document(text), "b.txt": document(passage("preface", 1), text)})
    folder.index()
    trace = folder.ask("packraft valve repair", only="b.txt")
    assert {traced.candidate.doc_id for traced in trace.candidates} == {"docs/b.txt"}
    assert cited(folder, trace) == ["b.txt"]
    assert trace.evidence[0].citations[0].start > 0


def test_a_preferred_copy_is_cited_first(folder: Folder) -> None:
    text = document(passage("refund within days"))
    folder.write(dict.fromkeys(["a.md", "b.md"], text))
    folder.index()
    trace = folder.ask("refund within days", preferred=["b.md"])
    assert cited(folder, trace) == ["b.md", "a.md"]
    assert trace.projected[0].document_id == "docs/b.md#chunk-0"


def test_a_run_that_did_not_come_to_its_end_is_told_until_one_does(folder: Folder) -> None:
    from pipeline.errors import Cancelled
    from pipeline.index import index_library
    from pipeline.progress import CancelToken, Progress

    folder.write({f"{n}.md": document(passage(f"topic{n}", n), passage(f"more{n}", n + 1)) for n in range(150)})
    token = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.done or progress.embedded:
            token.cancel()

    with pytest.raises(Cancelled):
        index_library(folder.library, [folder.root], encoder=folder.encoder, progress=stop, cancel=token)
    reader = LibraryReader(folder.library)
    status = reader.status()
    reader.close()
    assert status.not_read == 150 - len(status.documents) > 0
    assert "index again" in status.unfinished
    folder.index()
    reader = LibraryReader(folder.library)
    assert reader.status().unfinished == ""
    reader.close()
    assert folder.no_orphans()
