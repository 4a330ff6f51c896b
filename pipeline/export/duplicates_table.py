"""Duplicates as tables and plain data: for spreadsheets, for scripts, and for those who must mend links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pipeline.duplicates.records import Decision, DuplicatesReport, Family, Member
from pipeline.export.table import Cell, csv_text

_HEADER = (
    "family",
    "head",
    "document",
    "path",
    "tier",
    "in_head",
    "head_in",
    "similarity",
    "differs",
    "size",
    "modified",
    "characters",
    "proposed",
    "why",
    "hard_link",
    "preferred",
    "left_out",
    "protected",
    "note",
    "family_cost",
    "family_redundant_texts",
    "family_redundant_characters",
    "content_key",
    "on_disk",
)


def families_csv(report: DuplicatesReport) -> str:
    """A row for every member of every family, heads with tier "head"; families numbered as they are sorted."""
    return csv_text(_HEADER, _rows(report))


def pairs_csv(report: DuplicatesReport) -> str:
    """`duplicate,head` for every duplicate that says nothing else than its head: links to the one may lead to the
    other. Documents by doc_id. Members that differ in a word that matters are no such duplicates."""
    pairs = ((m.doc_id, family.head.doc_id) for family in report.families for m in family.members[1:] if same_facts(m))
    return csv_text(("duplicate", "head"), pairs)


def same_facts(member: Member) -> bool:
    """Whether the member differs from its head in no word that matters."""
    return member.weighty_in_all == 0 and not member.weighty


def duplicates_json(report: DuplicatesReport, decisions: Sequence[Decision] = ()) -> dict[str, Any]:
    """The report as plain data. `in_head` is the share of the member that stands in the head, `head_in` the share of
    the head that stands in the member; `differs` are the words that matter and differ."""
    return {
        "families": [_family(family) for family in report.families],
        "counts": dict(report.counts)
        | {
            "documents": report.documents,
            "families": len(report.families),
            "duplicates": report.duplicates,
            "not_as_indexed": report.not_as_indexed,
            "texts": report.texts,
            "chunks": report.chunks,
            "redundant_texts": report.redundant_texts,
            "declined": report.declined,
        },
        "settings": asdict(report.settings),
        "share": share_of(report),
        "cost": report.cost,
        "questions": report.questions,
        "alike": [asdict(pair) for pair in report.alike],
        "boilerplate": [asdict(found) for found in report.boilerplate],
        "folders": [asdict(folder) | {"share": folder.share} for folder in report.folders],
        "decisions": [asdict(decision) for decision in decisions],
        "library": {"path": report.library, "generation": report.generation},
        "seconds": report.seconds,
    }


def share_of(report: DuplicatesReport) -> float:
    """The share of the library's documents that are in a family and not its head, 0 to 1. Hard links are none."""
    return report.duplicates / report.documents if report.documents else 0.0


def _family(family: Family) -> dict[str, Any]:
    return {
        "key": family.key,
        "head": family.head.doc_id,
        "tier": family.tier,
        "cost": family.cost,
        "redundant_texts": family.redundant_texts,
        "redundant_characters": family.redundant_characters,
        "members": [_member(member) for member in family.members],
    }


def _member(member: Member) -> dict[str, Any]:
    plain = asdict(member)
    differs = plain.pop("weighty")
    in_all = plain.pop("weighty_in_all")
    first = {name: plain.pop(name) for name in ("doc_id", "path", "tier", "in_head", "head_in", "similarity")}
    return first | {"differs": list(differs), "differs_in_all": in_all} | plain


def _rows(report: DuplicatesReport) -> Iterator[Sequence[Cell]]:
    for number, family in enumerate(report.families, start=1):
        for member in family.members:
            yield (
                number,
                family.head.doc_id,
                member.doc_id,
                member.path,
                member.tier or "head",
                round(member.in_head, 4),
                round(member.head_in, 4),
                round(member.similarity, 4),
                _differs(member),
                member.size,
                _time(member.mtime_ns),
                member.characters,
                _yes(member.proposed),
                member.why,
                _yes(member.hard_link),
                _yes(member.preferred),
                _yes(member.left_out),
                _yes(member.protected),
                member.note,
                family.cost,
                family.redundant_texts,
                family.redundant_characters,
                member.content_key,
                member.on_disk,
            )


def _differs(member: Member) -> str:
    said = "; ".join(f"{word.kind}: {word.in_head or '-'} / {word.in_member or '-'}" for word in member.weighty)
    more = member.weighty_in_all - len(member.weighty)
    return f"{said}; and {more:,} more" if more > 0 else said


def _yes(holds: bool) -> str:
    return "yes" if holds else ""


def _time(mtime_ns: int) -> str:
    """UTC; "" for a time that no calendar has."""
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return ""
