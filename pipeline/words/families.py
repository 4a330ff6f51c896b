"""Families of duplicates in words: tiers, shares, marks, totals. Free of Qt."""

from __future__ import annotations

from pipeline.duplicates.records import (
    BoilerplateKind,
    DecisionKind,
    DuplicatesReport,
    Family,
    HeadRule,
    JournalEntry,
    Member,
    Tier,
    Weighty,
    WeightyKind,
)
from pipeline.words.phrases import count, number
from pipeline.words.plain import one_line

TIER_WORDS: dict[Tier, str] = {
    "identical": "identical",
    "same_text": "same text",
    "near": "near",
    "contained": "contained",
    "alike": "alike in meaning",
}
TIER_MEANINGS: dict[Tier, str] = {
    "identical": "the same bytes",
    "same_text": "the same words throughout, whatever the format",
    "near": "a few words differ",
    "contained": "one stands in the other",
    "alike": "they speak of the same things in other words: no copies of each other",
}
HEAD_RULE_WORDS: dict[HeadRule, str] = {
    "preferred": "the preferred one",
    "most_complete": "the most complete one",
    "newest": "the newest one",
    "shortest_path": "the one with the shortest path",
}
WEIGHTY_WORDS: dict[WeightyKind, str] = {
    "number": "number",
    "date": "date",
    "name": "name",
    "negation": "negation",
    "word": "word",
}
BOILERPLATE_WORDS: dict[BoilerplateKind, str] = {
    "repeated": "repeated passage",
    "no_text": "no text",
    "encrypted": "encrypted",
}
BOILERPLATE_MEANINGS: dict[BoilerplateKind, str] = {
    "repeated": "Many documents hold this passage, such as a footer or a licence. It makes no two of them duplicates.",
    "no_text": "Nothing can be read in these: empty files, or pictures of text. Nothing says that they are the same.",
    "encrypted": "These are locked with a password, so nobody can say what stands in them.",
}
SAMPLE_STAYS = "The sample is as it is: its files belong to the program."
DECISION_WORDS: dict[DecisionKind, str] = {
    "preferred": "preferred copy",
    "left_out": "left out of searches",
    "not_duplicates": "not duplicates",
    "note": "note",
    "protected": "protected folder",
}


def percent(share: float) -> str:
    """A share as people say it: never "100 %" for what is not all, never "0 %" for what is something."""
    if share <= 0:
        return "0 %"
    if share < 0.001:
        return "under 0.1 %"
    if share < 0.0995:
        return f"{share * 100:.1f} %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{share:.0%}".replace("%", " %")


def size_words(size: int) -> str:
    """Bytes as people read them."""
    if size < 1_000:
        return count(size, "byte")
    value, units = size / 1_000, iter(("kB", "MB", "GB", "TB"))
    unit = next(units)
    while value >= 999.5 and unit != "TB":
        value, unit = value / 1_000, next(units)
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def tie_words(member: Member) -> str:
    """How a member is tied to its family's head, by name and figure."""
    match member.tier:
        case None:
            return "the head of this family: the one the others are compared with"
        case "identical" if member.hard_link:
            return "the same file under another name (hard link): no copy, it takes no space"
        case "identical":
            return "identical: the same bytes as the head"
        case "same_text":
            return "same text as the head, word for word"
    return f"{TIER_WORDS[member.tier]}: {held_words(member)}"


def held_words(member: Member) -> str:
    """Containment in both directions: "94 % of it stands in the head; all of the head stands in it"."""
    if member.in_head >= 1 and member.head_in >= 1:
        return "all of it stands in the head, and all of the head in it"
    mine = "all" if member.in_head >= 1 else percent(member.in_head)
    other = "all" if member.head_in >= 1 else percent(member.head_in)
    return f"{mine} of it stands in the head; {other} of the head stands in it"


def weighty_words(weighty: Weighty) -> str:
    """A word that matters and differs: "number: 1,200 here, 1,500 in the head"."""
    here, head = one_line(weighty.in_member, 60), one_line(weighty.in_head, 60)
    name = WEIGHTY_WORDS[weighty.kind]
    if here and head:
        return f"{name}: “{here}” here, “{head}” in the head"
    return f"{name}: “{here}” here alone" if here else f"{name}: “{head}” in the head alone"


def mark_words(member: Member) -> tuple[str, ...]:
    """What was decided about a member, and what became of its file since."""
    return tuple(filter(None, (*decided_words(member), on_disk_words(member))))


def decided_words(member: Member) -> tuple[str, ...]:
    """What was decided about a member."""
    marks = (("preferred", member.preferred), ("left out", member.left_out), ("protected", member.protected))
    return tuple(words for words, holds in marks if holds)


def on_disk_words(member: Member) -> str:
    """What became of a member's file since it was indexed; "" for nothing."""
    return {"missing": "its file is gone", "changed": "changed since it was indexed"}.get(member.on_disk, "")


def unlike_words(family: Family) -> str:
    """How many files of a family are not as they were indexed; "" for none."""
    changed = sum(member.on_disk == "changed" for member in family.members)
    gone = sum(member.on_disk == "missing" for member in family.members)
    said = [
        f"{count(changed, 'file')} changed since indexing" if changed else "",
        f"{count(gone, 'file')} gone" if gone else "",
    ]
    return ", ".join(filter(None, said))


def cost_words(family: Family) -> str:
    """What a family costs, in a few words."""
    if family.cost is not None:
        return f"{percent(family.cost)} of places"
    return count(family.redundant_characters, "character")


def weakest_words(family: Family) -> str:
    """What a family is, by the least sure of its members: "identical copies", "versions: near"."""
    return {
        "identical": "identical copies",
        "same_text": "copies with the same text",
        "near": "versions: near",
        "contained": "versions: contained",
        "alike": "alike in meaning",
    }[family.tier]


def family_words(family: Family) -> str:
    """A family in one sentence, for screen readers and the clipboard."""
    cost = f", takes {percent(family.cost)} of the first places" if family.cost is not None else ""
    return (
        f"{one_line(family.head.doc_id)}: {count(len(family.members), 'document')}, "
        f"{weakest_words(family)}, {count(family.redundant_texts, 'passage')} held more than once "
        f"({count(family.redundant_characters, 'character')}){cost}"
    )


def declined_words(declined: int) -> str:
    """That some sets are not listed because somebody said what they are."""
    verb = "is" if declined == 1 else "are"
    return f"{count(declined, 'set')} said to be no duplicates {verb} not listed."


def questions_words(report: DuplicatesReport) -> str:
    """What was asked to measure what copies cost: "in 8 questions", or headings in their place."""
    own = report.questions - report.headings
    if not report.headings:
        return f"in {count(own, 'question')}"
    headings = f"{number(report.headings)} of the documents' own headings as questions"
    return f"over {count(own, 'question')} of yours and {headings}" if own else f"over {headings}"


def totals_words(report: DuplicatesReport) -> str:
    """The library's duplicates in a sentence or two."""
    copies = report.duplicates
    links = sum(member.hard_link for family in report.families for member in family.members)
    families = sum(any(not member.hard_link for member in family.members[1:]) for family in report.families)
    if not copies:
        said = f"None of {count(report.documents, 'document')} is a copy or a version of another"
    else:
        verb = "is a copy or a version" if copies == 1 else "are copies or versions"
        said = (
            f"{number(copies)} of {count(report.documents, 'document')} {verb} of others, "
            f"in {count(families, 'family', 'families')}"
        )
    if links:
        said += (
            f"; {count(links, 'more is a hard link', 'more are hard links')}, no {'copy' if links == 1 else 'copies'}"
        )
    if report.cost is not None and report.questions:
        said += f"; copies take {percent(report.cost)} of the first places {questions_words(report)}"
    said += "."
    if report.redundant_texts:
        said += f" {number(report.redundant_texts)} of {count(report.chunks, 'passage')} are repeated."
    if report.declined:
        said += f" {declined_words(report.declined)}"
    if stale := report.not_as_indexed:
        verb = "is" if stale == 1 else "are"
        said += f" {number(stale)} of the documents shown {verb} no longer as indexed: index again."
    return said


def lost_words(passages: int, documents: int) -> str:
    """What leaving documents out would take from searches."""
    return (
        f"{count(passages, 'passage')} of {count(documents, 'document')} would stand in no other document that "
        "searches find"
    )


def share_over_words(share: float, limit: float, documents: int) -> str:
    """A share above a limit, with as many decimals as it takes to tell them apart."""
    for places in range(1, 7):
        one, other = (f"{each * 100:.{places}f} %" for each in (share, limit))
        if one != other:
            break
    return f"{one} of {count(documents, 'document')} are duplicates, more than {other}"


def journal_words(entry: JournalEntry) -> str:
    """What a line of the journal says was done."""
    known = {
        "preferred": ("preferred", "not preferred any more"),
        "left_out": ("left out of searches", "taken back into searches"),
        "not_duplicates": ("said to be no duplicates", "may be duplicates again"),
        "note": (f"note: {one_line(entry.after or '', 120)}", "note taken away"),
        "protected": ("folder protected", "folder not protected any more"),
        "trashed": (f"moved to the trash{': ' + one_line(entry.after, 4_000) if entry.after else ''}", ""),
        "not_trashed": (f"not moved to the trash: {one_line(entry.after or '', 200)}", ""),
        "trashing": ("about to be moved to the trash", ""),
        "gone": (f"not found any more: {one_line(entry.after or '', 200)}", ""),
        "undo": ("taken back", "taken back"),
        "redo": ("done again", "done again"),
    }
    words = known.get(entry.what)
    if words is None:
        return one_line(entry.what.replace("_", " "))
    return words[1] if entry.after is None and words[1] else words[0]
