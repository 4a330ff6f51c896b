"""Whether the files that a report shows are still as they were indexed: by a look at size and time, nothing is read."""

from __future__ import annotations

import os
import stat
from dataclasses import replace

from pipeline.duplicates.records import DuplicatesReport, Family, Member
from pipeline.progress import CancelToken
from pipeline.records import Freshness
from pipeline.words import proposing


def with_freshness(report: DuplicatesReport) -> DuplicatesReport:
    """The report with every member's `on_disk`. What is missing or changed is not proposed, and neither is what would
    be let go for its sake."""
    return replace(report, families=tuple(family_with_freshness(family) for family in report.families))


def family_with_freshness(family: Family, cancel: CancelToken | None = None) -> Family:
    """The same of one family. Raises `Cancelled`."""
    states: list[Freshness] = []
    for member in family.members:
        if cancel is not None:
            cancel.check()
        states.append(_on_disk(member))
    if all(state == "fresh" for state in states):
        return family
    # A member is proposed for the head's sake, or for that of another member of its own text, which stays.
    doubtful = {
        m.text_key for m, state in zip(family.members, states, strict=True) if state != "fresh" and not m.proposed
    }
    headless = states[0] != "fresh"
    members = []
    for member, state in zip(family.members, states, strict=True):
        if state != "fresh":
            why = proposing.MISSING if state == "missing" else proposing.CHANGED
            member = replace(member, on_disk=state, proposed=False, why=why)
        elif member.proposed and (headless or (member.text_key in doubtful and member.text_key != _head_text(family))):
            member = replace(member, proposed=False, why=proposing.COPY_NOT_AS_INDEXED)
        members.append(member)
    return replace(family, members=tuple(members))


def _head_text(family: Family) -> str:
    return family.head.text_key


def _on_disk(member: Member) -> Freshness:
    try:
        facts = os.stat(member.path, follow_symlinks=False)
    except (OSError, ValueError):
        return "missing"
    as_indexed = stat.S_ISREG(facts.st_mode) and (facts.st_size, facts.st_mtime_ns) == (member.size, member.mtime_ns)
    return "fresh" if as_indexed else "changed"
