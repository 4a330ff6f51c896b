"""Reports of duplicates made by hand: families as a scan finds them, few or very many."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from random import Random

from pipeline.duplicates.records import (
    Alike,
    Boilerplate,
    DuplicateSettings,
    DuplicatesReport,
    Family,
    FolderShare,
    Member,
    Tier,
    Weighty,
)

TIER_ORDER: tuple[Tier, ...] = ("identical", "same_text", "near", "contained")
_MONDAY = 1_790_000_000 * 10**9  # nanoseconds


def key_of(text: str) -> str:
    """A key as contents have them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def member(doc_id: str, tier: Tier | None = None, **facts: object) -> Member:
    """A member; what is not said is that of a small text file."""
    usual: dict[str, object] = {
        "path": f"/srv/{doc_id}",
        "kind": "pdf" if doc_id.endswith(".pdf") else "text",
        "size": 4_321,
        "mtime_ns": _MONDAY,
        "characters": 4_000,
        "content_key": key_of(doc_id),
        "text_key": key_of(f"text of {doc_id}"),
    }
    return Member(doc_id=doc_id, tier=tier, **(usual | facts))  # type: ignore[arg-type]


def family(*members: Member, **facts: object) -> Family:
    """A family of these, the head first."""
    tiers = [one.tier for one in members if one.tier is not None]
    usual: dict[str, object] = {
        "key": key_of(" ".join(sorted(one.content_key for one in members))),
        "tier": max(tiers, key=TIER_ORDER.index, default="identical"),
        "redundant_texts": 3 * (len(members) - 1),
        "redundant_characters": 1_500 * (len(members) - 1),
    }
    return Family(members=members, **(usual | facts))  # type: ignore[arg-type]


def report(families: Iterable[Family], **facts: object) -> DuplicatesReport:
    """A report of these families."""
    held = tuple(families)
    counts = {tier: sum(one.tier == tier for each in held for one in each.members) for tier in TIER_ORDER}
    usual: dict[str, object] = {
        "library": "/srv/library",
        "generation": 1,
        "settings": DuplicateSettings(),
        "documents": sum(len(each.members) for each in held) + 10,
        "chunks": 5_812,
        "texts": 4_000,
        "redundant_texts": sum(each.redundant_texts for each in held),
        "counts": counts,
        "folders": (FolderShare("docs", 10, 4), FolderShare("docs/old", 4, 3)),
    }
    return DuplicatesReport(families=held, **(usual | facts))  # type: ignore[arg-type]


def small_report() -> DuplicatesReport:
    """One family of each kind, with everything that a page can show."""
    amounts = (Weighty("number", "1,200", "1,500"), Weighty("negation", "", "not"), Weighty("name", "ACME", "GLOBEX"))
    return report(
        (
            family(
                member("docs/policy.docx", preferred=True, protected=True),
                member("docs/copy of policy.docx", "identical", proposed=True, why="the same bytes as the head"),
                member("docs/old/policy.pdf", "same_text", note="sent to the auditors"),
                member(
                    "docs/old/policy 2019.docx",
                    "near",
                    in_head=0.94,
                    head_in=0.92,
                    similarity=0.88,
                    weighty=amounts,
                    weighty_in_all=9,
                    why="it differs in 9 words that matter",
                ),
                cost=0.38,
            ),
            family(
                member("docs/handbook.md"),
                member(
                    "docs/old/chapter 3.md", "contained", in_head=0.995, head_in=0.11, similarity=0.109, left_out=True
                ),
                cost=0.02,
            ),
        ),
        cost=0.4,
        questions=120,
        alike=(Alike("docs/policy.docx", "docs/rules.md", 0.934),),
        boilerplate=(Boilerplate("repeated", "Confidential. Do not forward.", 500, ("docs/a.txt", "docs/b.txt")),),
    )


def many_families(families: int = 20_000, documents: int = 100_000, seed: int = 7) -> DuplicatesReport:
    """So many families, of so many documents in all."""
    random = Random(seed)
    each = documents // families
    made = []
    for number in range(families):
        folder = f"archive/{number % 97:02}/{number % 13}"
        members = [member(f"{folder}/minutes {number} of the board.docx")]
        for copy in range(1, each):
            tier = TIER_ORDER[(number + copy) % 4]
            sure = tier in ("identical", "same_text")
            share = 1.0 if sure else 0.7 + random.random() * 0.29
            differs = (Weighty("number", str(number), str(number + copy)),) if tier == "near" else ()
            members.append(
                member(
                    f"{folder}/{2000 + copy}/minutes {number} ({copy}).docx",
                    tier,
                    in_head=1.0 if tier == "contained" else share,
                    head_in=share,
                    similarity=share,
                    weighty=differs,
                    weighty_in_all=len(differs),
                    proposed=sure,
                    why="the same words as the head" if sure else "it differs in a word that matters",
                )
            )
        made.append(family(*members, cost=random.random() / families))
    made.sort(key=lambda one: -(one.cost or 0))
    return report(made, cost=0.3, questions=200)
