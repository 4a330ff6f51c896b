"""Traces for tests, made without a pipeline: a small model of the selection rules, so that every count, fate and
link in them is consistent as in a real one."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.records import (
    Budget,
    Candidate,
    Evidence,
    Fate,
    Freshness,
    LibraryFacts,
    Location,
    NearTwin,
    ProjectedItem,
    Remedy,
    SearchRound,
    SettingInForce,
    Shortfall,
    StageCount,
    Summary,
    Timings,
    Trace,
    TracedCandidate,
)

ROOT = "/home/ada/Documents"


@dataclass(frozen=True)
class Row:
    """One raw row to be: the file (a doc_id), which chunk of it, its text and score."""

    doc_id: str
    text: str | None
    score: float
    chunk: int = 0
    page: int | None = None
    freshness: Freshness = "fresh"
    near: tuple[str, ...] = ()  # evidence keys of near twins

    @property
    def key(self) -> str:
        return f"{self.doc_id}#chunk-{self.chunk}"

    @property
    def path(self) -> str:
        return f"{ROOT}/{self.doc_id}"


def folded(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()


def letters(position: int) -> str:
    word = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        word = chr(65 + rest) + word
    return word


def make_trace(
    rows: Sequence[Row],
    *,
    query: str = "how do I return a damaged item",
    retrieve_k: int = 20,
    return_n: int = 5,
    cap: int = 2,
    max_items: int | None = None,
    per_item: int = 1_500,
    in_all: int = 6_000,
    left_out: Sequence[str] = (),
    rounds: Sequence[SearchRound] = (),
    only_file: str | None = None,
) -> Trace:
    """The trace of an evidence run over these rows, which are taken in order of score."""
    ranked = sorted(rows, key=lambda row: (-row.score, row.doc_id, row.chunk))
    widened = [at for at, one in enumerate(rounds[:-1], start=1) for _ in range(one.received)]
    candidates = [_candidate(row, rank, rounds, widened) for rank, row in enumerate(ranked, start=1)]
    fates: dict[int, Fate] = {}
    stages: list[StageCount] = []

    def stage(name: str, entered: int, left: int, *, skipped: bool = False) -> None:
        stages.append(StageCount(name, "skipped" if skipped else "done", entered, left, entered - left))  # type: ignore[arg-type]

    known = [c for c in candidates if c.text is not None]
    for c in candidates:
        if c.text is None:
            fates[c.rank] = Fate("orphaned", "identity", "the index knows it, the catalog does not")
    stage("identity", len(candidates), len(known))
    served = [c for c in known if c.doc_id not in left_out]
    for c in known:
        if c.doc_id in left_out:
            why = "you left it out of this search"
            fates[c.rank] = Fate("left_out", "left_out", "", numbers={"doc_id": c.doc_id, "why": why})
    stage("left_out", len(known), len(served), skipped=not left_out)

    first: dict[str, Candidate] = {}
    merged: list[Candidate] = []
    for c in served:
        if c.evidence_key in first:
            rank = first[c.evidence_key].rank
            fates[c.rank] = Fate("merged", "merge", "found again", c.evidence_key, {"rank": rank})
        else:
            first[c.evidence_key] = c
            merged.append(c)
    stage("merge", len(served), len(merged))

    places: dict[str, int] = {}
    wide: list[Candidate] = []
    for c in merged:
        place = places.setdefault(c.fold_key, len(places) + 1)
        if place <= retrieve_k:
            wide.append(c)
        else:
            numbers = {"distinct_rank": place, "retrieve_k": retrieve_k}
            fates[c.rank] = Fate("beyond_retrieve_k", "width", "not needed", numbers=numbers)
    stage("width", len(merged), len(wide))

    groups: dict[str, list[Candidate]] = {}
    for c in wide:
        groups.setdefault(c.fold_key, []).append(c)
    for members in groups.values():
        for c in members[1:]:
            numbers = {"rank": members[0].rank, "places": len(members)}
            fates[c.rank] = Fate("collapsed", "collapse", "identical", members[0].evidence_key, numbers)
    stage("collapse", len(wide), len(groups))
    stage("near", len(groups), len(groups), skipped=True)
    stage("source", len(groups), len(groups), skipped=True)

    siblings: dict[str, list[Candidate]] = {}
    within: list[list[Candidate]] = []
    for members in groups.values():
        head = members[0]
        held = siblings.setdefault(head.doc_id or "", [])
        held.append(head)
        if cap == 0 or len(held) <= cap:
            within.append(members)
            continue
        numbers = {
            "doc_id": head.doc_id,
            "siblings": [s.rank for s in held[:cap]],
            "position": len(held),
            "cap": cap,
            "cap_needed": len(held),
        }
        fates[head.rank] = Fate("over_document_cap", "cap", "over the cap", numbers=numbers)
    stage("cap", len(groups), len(within), skipped=cap == 0)
    for place, members in enumerate(within[return_n:], start=return_n + 1):
        numbers = {"position": place, "return_n": return_n}
        fates[members[0].rank] = Fate("beyond_return_n", "return", "beyond", numbers=numbers)
    evidence = [_evidence(rank, members) for rank, members in enumerate(within[:return_n], start=1)]
    stage("return", len(within), len(evidence))
    stage("project", len(evidence), len(evidence))
    most = max_items if max_items is not None else return_n
    projected = _pack(evidence, fates, most, per_item, in_all)
    stage("pack", len(evidence), len(projected))

    counts = Counter(c.fold_key for c in candidates if c.text is not None)
    lettered = {key: letters(at) for at, key in enumerate(key for key in counts if counts[key] > 1)}
    by_rank = dict(enumerate(ranked, start=1))
    traced = tuple(
        TracedCandidate(
            c,
            fates[c.rank],
            by_rank[c.rank].freshness,
            lettered.get(c.fold_key) if c.text is not None else None,
            tuple(NearTwin(key, 0.84) for key in by_rank[c.rank].near),
        )
        for c in candidates
    )
    shortfall = None
    if len(evidence) < return_n:
        needed = [f.numbers["cap_needed"] for f in fates.values() if f.name == "over_document_cap"]
        remedies = (Remedy("max-chunks-per-document", max(needed)),) if needed else ()
        dropped = f", but {len(needed)} of them fell to the cap per document" if needed else " to serve"
        reason = f"{'' if needed else 'there are only '}{len(groups)} different texts{' were found' if needed else ''}"
        shortfall = Shortfall(return_n, len(evidence), reason + dropped, remedies)
    copies = sum(count - 1 for count in Counter(c.fold_key for c in candidates[:return_n]).values())
    return Trace(
        query=query,
        policy="evidence",
        settings={
            "retrieve-k": SettingInForce(retrieve_k, "default"),
            "return-n": SettingInForce(return_n, "default"),
            "max-chunks-per-document": SettingInForce(cap, "default"),
            "max-total-chars": SettingInForce(in_all, "default"),
        },
        library=LibraryFacts("/tmp/library", 3, "all-MiniLM-L6-v2", 384, 42, 310, 260),
        rounds=tuple(rounds) or (SearchRound(retrieve_k, len(rows), len(groups)),),
        candidates=traced,
        evidence=tuple(evidence),
        projected=tuple(projected),
        stages=tuple(stages),
        summary=Summary(
            crowding=copies / return_n,
            distinct=len({c.fold_key for c in served}),
            cited_files=len({path for block in evidence for path in block.source_paths}),
            shortfall=shortfall,
            budget=Budget(
                len(projected),
                most,
                sum(i.chars for i in projected),
                in_all,
                per_item,
                sum(i.tokens or 0 for i in projected),
            ),
        ),
        timings_ms=Timings(7.9, 0.6, 0.4, 8.9),
        only_file=only_file,
        left_out=tuple(left_out),
    )


def _candidate(row: Row, rank: int, rounds: Sequence[SearchRound], widened: Sequence[int]) -> Candidate:
    text = row.text or ""
    return Candidate(
        rank=rank,
        score=row.score,
        evidence_key=row.key,
        doc_id=row.doc_id,
        chunk_index=row.chunk,
        vector_id=rank,
        source_path=row.path,
        text=row.text,
        fold_key=folded(text),
        text_sha256=folded(text),
        page_first=row.page,
        page_last=row.page,
        start=0,
        end=len(text),
        hit_reasons=("dense",),
        round=next((at for at in range(1, len(rounds) + 1) if rank <= rounds[at - 1].received), 1),
    )


def _evidence(rank: int, members: Sequence[Candidate]) -> Evidence:
    head = members[0]
    places = tuple(
        Location(
            c.evidence_key,
            c.doc_id or "",
            c.chunk_index or 0,
            c.source_path,
            0,
            len(c.text or ""),
            c.page_first,
            c.page_last,
        )
        for c in members
    )
    paths = tuple(dict.fromkeys(place.path for place in places))
    names = tuple(os.path.basename(path) for path in paths)
    return Evidence(
        rank=rank,
        evidence_key=head.evidence_key,
        doc_id=head.doc_id,
        source_file=names[0],
        source_path=paths[0],
        also_in=paths[1:],
        source_files=names,
        source_paths=paths,
        content=head.text or "",
        score=head.score,
        hit_reasons=("dense",),
        citations=places,
        fold_key=head.fold_key,
        carrier_rank=head.rank,
        places=len(members),
        page_first=head.page_first,
        page_last=head.page_last,
    )


def _pack(
    evidence: Sequence[Evidence], fates: dict[int, Fate], most: int, per_item: int, in_all: int
) -> list[ProjectedItem]:
    left, full, packed = in_all, False, []
    for block in evidence:
        wanted = min(len(block.content), per_item)
        by_items = len(packed) == most
        if by_items or full or (wanted > left and left < 200):
            full = True
            limit = ("max-items", most) if by_items else ("max-total-chars", in_all)
            numbers = {"chars": wanted, "left": left, "setting": limit[0], "limit": limit[1]}
            fates[block.carrier_rank] = Fate("over_budget", "pack", f"{wanted} characters, {left} left", None, numbers)
            continue
        kept = min(wanted, left)
        full = kept < wanted
        left -= kept
        cut = kept < len(block.content)
        numbers = {
            "chars": len(block.content),
            "kept": kept,
            "setting": "max-total-chars" if full else "max-chars-per-item",
            "limit": in_all if full else per_item,
        }
        name = "projected_cut" if cut else "projected"
        fates[block.carrier_rank] = Fate(name, "pack", "the agent reads it", block.evidence_key, numbers)  # type: ignore[arg-type]
        packed.append(
            ProjectedItem(
                block.evidence_key,
                block.source_path,
                block.also_in,
                block.page_first,
                block.content[:kept],
                block.score,
                block.hit_reasons,
                kept,
                kept // 4 + 1,
                cut,
            )
        )
    return packed


RETURNS = (
    "Items that arrive damaged may be returned within thirty days of delivery. Send a photograph of the damage and "
    "the order number to the returns desk; a prepaid label follows within one working day. Please keep the original "
    "packaging until the return has been confirmed, as the carrier may want to inspect it. Refunds are paid to the "
    "original means of payment within five working days after the item has come back to the warehouse."
)
FAQ = (
    "How do I send something back? Open your order, choose “Return an item” and pick a reason. Damaged goods "
    "travel free of charge. You will get an e-mail with the label, and another one as soon as the money is on its way."
)
WARRANTY = (
    "The warranty covers faults of material and workmanship for two years from the day of purchase. It does not cover "
    "damage in transit, for which the returns policy holds, nor wear."
)
STORES = (
    "Returns in a shop: bring the item and the receipt. Shops exchange damaged goods at once where they are in stock."
)


def policy_trace(**settings: object) -> Trace:
    """A handbook with copies: twins A and B, a file over its cap, near twins, a widening round, a changed file."""
    rows = [
        Row("handbook/policy.txt", RETURNS, 0.831, 0, page=2),
        Row("handbook/policy (copy).txt", RETURNS, 0.8309, 0, page=2),
        Row("archive/2023/old/policy.txt", RETURNS, 0.829, 1, freshness="changed"),
        Row("site/faq.md", FAQ, 0.712, 0),
        Row("handbook/policy.txt", WARRANTY, 0.704, 1, page=3),
        Row("handbook/policy (copy).txt", WARRANTY, 0.7039, 1, page=3),
        Row(
            "handbook/policy.txt", "Damage found after thirty days is a matter for the warranty. " * 4, 0.664, 2, page=4
        ),
        Row(
            "handbook/policy.txt", "Gift cards cannot be returned. Neither can opened software. " * 3, 0.641, 3, page=5
        ),
        Row("site/faq (english).md", FAQ.replace("something", "an item"), 0.630, 0, near=("site/faq.md#chunk-0",)),
        Row(
            "shops/Returns in our shops, a very long file name that somebody thought was helpful (final) v7.pdf",
            STORES,
            0.622,
            4,
            page=11,
        ),
        *(Row(f"backup/{year}/stores.pdf", STORES, 0.60, 4, page=11) for year in range(2015, 2023)),
        Row("legal/terms.html", "Terms of sale. " + WARRANTY[:90] + " and so on. " * 9, 0.571, 7, freshness="missing"),
        Row("mail/2021-03-02.txt", "Dear customer, thank you for telling us about the broken lamp. " * 5, 0.544, 0),
        Row("mail/2022-11-17.txt", "Dear customer, we are sorry that the parcel arrived wet. " * 5, 0.533, 0),
        Row("drafts/ideas.md", "Idea: a page that explains returns with pictures. " * 4, 0.470, 0),
        Row("drafts/ideas.md", "Idea: shorter labels. " * 6, 0.431, 1),
    ]
    known: dict[str, object] = {"in_all": 1_300, "rounds": (SearchRound(12, 12, 6), SearchRound(24, len(rows), 12))}
    return make_trace(rows, **(known | settings))  # type: ignore[arg-type]


def long_trace(rows: int, *, return_n: int = 50) -> Trace:
    """Many rows of many files, every third a copy of an earlier one."""
    made = []
    for at in range(rows):
        text = f"Paragraph {at // 3 if at % 3 else at} tells of a return that took {at % 17} days. " * 6
        made.append(Row(f"folder {at % 40}/report {at % 211}.txt", text, 0.9 - 0.8 * at / rows, at))
    return make_trace(made, retrieve_k=rows, return_n=return_n)


def empty_trace() -> Trace:
    """An answer without a single hit."""
    return make_trace([], rounds=(SearchRound(20, 0, 0),))


HOSTILE_NAMES = (
    "r/<b>bold</b><img src=x onerror=alert(1)>.txt",
    "r/evil\u202etxt.exe",
    "r/line\nbreak\ttab\x1b[31m\x00nul.md",
    "r/חוזה שכירות 2021 (עותק).pdf",
    "r/契約書の最終版・改訂三・とても長い名前のファイルでございます・確認済み・保管用・二〇二四年度.docx",
    "r/zero\u200bwidth\ufeff.txt",
    "r/" + "x" * 250 + ".txt",
    "r/half \ud83d pair.txt",
)


def hostile_trace() -> Trace:
    """Names and texts that try to be markup, to turn around, to hide, or to be endless."""
    texts = (
        "<script>alert(1)</script> & <a href='file:///etc/passwd'>link</a> " * 4,
        "x" * 100_000,
        "\u202eright to left override\u202c then \x00 and \x1b[31m red \x07 bell",
        "הסכם זה נערך בין המשכיר לבין השוכר, ותקף לשנה אחת מיום החתימה. " * 6,
        "本契約は、甲と乙との間において締結され、契約の日から一年間有効とする。" * 12,
        "\n\n\n   \t" * 400 + "late words",
        "word " * 20_000,
        "half \ud83d pair and \U000e0041\U000e0042 tags",
    )
    rows = [Row(name, text, 0.9 - at / 20) for at, (name, text) in enumerate(zip(HOSTILE_NAMES, texts, strict=True))]
    rows += [
        Row(name.replace("r/", "copies/"), text, 0.89 - at / 20, 1)
        for at, (name, text) in enumerate(zip(HOSTILE_NAMES[:4], texts[:4], strict=True))
    ]
    return make_trace(rows, return_n=8, in_all=9_000, cap=1)
