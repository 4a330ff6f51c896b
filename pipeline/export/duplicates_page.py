"""Duplicates as one HTML page that carries everything in itself: families, figures, decisions.

No script, nothing fetched, everything escaped: names of files are text, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files

from pipeline.duplicates.records import Decision, DuplicatesReport, Family, Member, Tier
from pipeline.words.families import (
    BOILERPLATE_WORDS,
    DECISION_WORDS,
    HEAD_RULE_WORDS,
    TIER_MEANINGS,
    TIER_WORDS,
    cost_words,
    held_words,
    mark_words,
    percent,
    questions_words,
    size_words,
    tie_words,
    totals_words,
    weighty_words,
)
from pipeline.words.phrases import count, listed, number
from pipeline.words.plain import first_words, one_line

MOST_FAMILIES = 1_000  # shown; the table and the JSON have them all
_MOST_MEMBERS = 100  # of one family
_MOST_LINES = 500  # of the other lists


def duplicates_page(report: DuplicatesReport, decisions: Sequence[Decision] = ()) -> str:
    """The page. It names documents and shows no text of theirs but the words that matter and differ, and the openings
    of what many documents hold."""
    styles = [
        files("pipeline.export").joinpath(name).read_text("utf-8") for name in ("page.css", "duplicates_page.css")
    ]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # Even where a mail program would run or fetch something, this page asks for nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>Twinspect: duplicates</title><style>{''.join(styles)}</style></head><body>",
        f"<header><h1>Duplicates</h1><p>{_one(report.library)}</p>",
        f"<p class=lead>{escape(totals_words(report))}</p></header><main>",
        *_figures(report),
        *_families(report),
        *_alike(report),
        *_boilerplate(report),
        *_folders(report),
        *_decisions(decisions),
        "</main>",
        *_foot(report),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _one(text: str) -> str:
    return escape(one_line(text))


def _tier(tier: Tier) -> str:
    return f'<span class="tier {tier}" title="{escape(TIER_MEANINGS[tier])}">{escape(TIER_WORDS[tier])}</span>'


def _figures(report: DuplicatesReport) -> Iterator[str]:
    yield "<ol class=strip>"
    for tier, words in TIER_WORDS.items():
        held = report.counts.get(tier, 0)
        if held:
            yield f'<li title="{escape(TIER_MEANINGS[tier])}">{number(held)} <small>{escape(words)}</small></li>'
    yield f"<li>{number(report.redundant_texts)} <small>passages held more than once</small></li>"
    if report.cost is not None:
        said = escape(f"of the first places taken by copies, {questions_words(report)}")
        yield f"<li>{escape(percent(report.cost))} <small>{said}</small></li>"
    if report.declined:
        yield f"<li>{number(report.declined)} <small>said not to be duplicates</small></li>"
    yield "</ol>"


def _families(report: DuplicatesReport) -> Iterator[str]:
    yield f"<section><h2>Families <small>{number(len(report.families))}, costliest first</small></h2>"
    for place, family in enumerate(report.families[:MOST_FAMILIES], start=1):
        yield from _family(place, family)
    yield from _more(len(report.families) - MOST_FAMILIES, "family", "families")
    yield "</section>"


def _family(place: int, family: Family) -> Iterator[str]:
    redundant = f"{count(family.redundant_texts, 'passage')} held more than once"
    yield f"<article><h3>{place}. {_one(family.head.doc_id)} {_tier(family.tier)} "
    yield f"<small>{count(len(family.members), 'document')} · {redundant} · {escape(cost_words(family))}</small></h3>"
    yield "<table><tr><th>document<th>relation to the head<th class=n>size<th>decided</tr>"
    for member in family.members[:_MOST_MEMBERS]:
        yield _member(member)
    yield "</table>"
    yield from _more(len(family.members) - _MOST_MEMBERS, "document")
    yield "</article>"


def _member(member: Member) -> str:
    badge = _tier(member.tier) if member.tier is not None else "head"
    said = f" {escape(_relation(member))}"
    differs = ""
    if member.weighty:
        words = "; ".join(weighty_words(word) for word in member.weighty)
        more = member.weighty_in_all - len(member.weighty)
        differs = f"<p class=differs>{escape(words)}{f', and {number(more)} more' if more > 0 else ''}</p>"
    why = f"<p class=fate>{_one(member.why)}</p>" if member.why and member.tier is not None else ""
    marks = [*mark_words(member), *(["proposed for removal"] if member.proposed else [])]
    note = f"<p class=text>{escape(first_words(member.note, 400))}</p>" if member.note else ""
    return (
        f"<tr class={'head' if member.tier is None else 'member'}><td>{_one(member.doc_id)}"
        f"<br><small>{_one(member.path)}</small></td><td>{badge}{said}{differs}{why}</td>"
        f"<td class=n>{escape(size_words(member.size))}</td><td>{escape(', '.join(marks))}{note}</td></tr>"
    )


def _relation(member: Member) -> str:
    """How the member is tied to the head, behind its tier's name; for equal ones `why` says the rest."""
    if member.hard_link and member.tier is not None:
        return tie_words(member)
    return held_words(member) if member.tier in ("near", "contained") else ""


def _alike(report: DuplicatesReport) -> Iterator[str]:
    rows = (
        f"<td>{_one(pair.doc_id)}<td>{_one(pair.other_doc_id)}<td class=n>{pair.cosine:.2f}"
        for pair in report.alike[:_MOST_LINES]
    )
    yield from _section(
        "Alike in meaning", len(report.alike), "no copies, never proposed", "<th>one<th>other<th class=n>cosine", rows
    )


def _boilerplate(report: DuplicatesReport) -> Iterator[str]:
    rows = (
        f"<td>{escape(BOILERPLATE_WORDS[found.kind])}<td>{escape(first_words(found.opening))}"
        f"<td class=n>{number(found.documents)}<td>{escape(listed([one_line(name) for name in found.examples]))}"
        for found in report.boilerplate[:_MOST_LINES]
    )
    header = "<th>what<th>it begins<th class=n>documents<th>such as"
    yield from _section("Boilerplate", len(report.boilerplate), "makes no two documents duplicates", header, rows)


def _folders(report: DuplicatesReport) -> Iterator[str]:
    rows = (
        f"<td>{_one(folder.folder)}<td class=n>{number(folder.documents)}<td class=n>{number(folder.duplicates)}"
        f"<td class=n>{escape(percent(folder.share))}"
        for folder in report.folders[:_MOST_LINES]
    )
    header = "<th>folder<th class=n>documents<th class=n>duplicates<th class=n>share"
    yield from _section("Folders", len(report.folders), "", header, rows)


def _decisions(decisions: Sequence[Decision]) -> Iterator[str]:
    rows = (
        f"<td>{escape(DECISION_WORDS[decision.kind])}<td>{_one(decision.name)}"
        f"<td>{escape(first_words(decision.value, 400)) if decision.kind == 'note' else ''}"
        f"<td>{_one(decision.made_at)}"
        for decision in decisions[:_MOST_LINES]
    )
    yield from _section("Decisions", len(decisions), "", "<th>what<th>about<th>note<th>when", rows)


def _section(title: str, held: int, aside: str, header: str, rows: Iterable[str]) -> Iterator[str]:
    if not held:
        return
    said = f"{number(held)}, {aside}" if aside else number(held)
    yield f"<section><h2>{escape(title)} <small>{escape(said)}</small></h2><article><table><tr>{header}</tr>"
    for row in rows:
        yield f"<tr>{row}</tr>"
    yield "</table>"
    yield from _more(held - _MOST_LINES, "line")
    yield "</article></section>"


def _more(left: int, one: str, many: str | None = None) -> Iterator[str]:
    if left > 0:
        yield f"<p>and {count(left, one, many)} more; the table and the JSON have them all</p>"


def _foot(report: DuplicatesReport) -> Iterator[str]:
    settings = report.settings
    facts = {
        "near from": percent(settings.near),
        "contained from": percent(settings.contained),
        "head": f"the preferred one, else {HEAD_RULE_WORDS[settings.head]}",
        "alike in meaning": f"cosine from {settings.alike:.2f}" if settings.with_alike else "not looked for",
        "library": f"generation {number(report.generation)}, {count(report.documents, 'document')}",
    }
    yield "<footer><h2>Settings</h2><dl>"
    for name, value in facts.items():
        yield f"<dt>{escape(name)}</dt><dd>{_one(value)}</dd>"
    yield "</dl></footer>"
