"""A trace as one HTML page that carries everything in itself: for a mail, a ticket, a colleague without the program.

No script, nothing fetched, everything escaped: document text is text, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from pipeline.records import Evidence, ProjectedItem, Trace, TracedCandidate
from pipeline.words.fates import TraceWording
from pipeline.words.phrases import count, number, pages
from pipeline.words.plain import lines_of, one_line
from pipeline.words.sentences import (
    budget_sentence,
    freshness_mark,
    policy_title,
    setting_title,
    setting_value,
    shortfall_sentence,
    stage_sentence,
    stage_words,
)

_LONGEST_TEXT = 4_000  # characters shown of one text; a page must stay light enough for a mail
_MOST_ROWS = 1_000  # raw rows shown; the JSON trace has them all


def trace_page(trace: Trace, *, with_texts: bool = True) -> str:
    """The page. Without texts, documents are named by their hashes and places only, for those who may not share
    content."""
    style = files("pipeline.export").joinpath("page.css").read_text("utf-8")
    title = f"Twinspect: {_one(trace.query)}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # Even where a mail program would run or fetch something, this page asks for nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{title}</title><style>{style}</style></head><body>",
        *_heading(trace),
        *_strip(trace),
        "<main>",
        *_raw(trace, with_texts),
        *_evidence(trace, with_texts),
        *_projected(trace, with_texts),
        "</main>",
        *_foot(trace),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _one(text: str) -> str:
    return escape(one_line(text))


def _heading(trace: Trace) -> Iterator[str]:
    library = trace.library
    yield f"<header><h1>{_one(trace.query)}</h1><p>{_one(policy_title(trace.policy))} · "
    yield f"{count(library.documents, 'document')}, {count(library.texts, 'different text')} · "
    yield f"model {_one(library.model)}"
    if trace.only_file:
        yield f" · only in {_one(trace.only_file)}"
    if trace.left_out:
        yield f" · {count(len(trace.left_out), 'file')} left out"
    crowding = trace.summary.crowding
    yield f"</p><p class=lead>Copies took {crowding:.0%} of the first places; the answer has "
    yield f"{count(len(trace.evidence), 'block')} that cite {count(trace.summary.cited_files, 'file')}.</p></header>"


def _strip(trace: Trace) -> Iterator[str]:
    first, last = trace.rounds[0], trace.rounds[-1]
    yield "<ol class=strip>"
    yield f"<li>{number(first.asked)} <small>asked for</small></li>"
    rounds = f"in {count(len(trace.rounds), 'round')}"
    yield f"<li>{number(last.received)} <small>fetched {rounds}</small></li>"
    for stage in trace.stages:
        if stage.status == "done" and (stage.dropped or stage.name == "pack"):
            words = stage_words(stage.name)
            dropped = f", {number(stage.dropped)} {escape(words.dropped)}" if stage.dropped else ""
            yield f'<li title="{escape(stage_sentence(stage.name, stage))}">{number(stage.left)} '
            yield f"<small>{escape(words.left)}{dropped}</small></li>"
    yield f"</ol><p class=budget>{escape(budget_sentence(trace.summary.budget))}</p>"


def _badge(group: str | None) -> str:
    return f'<b class="twin t{sum(map(ord, group)) % 6}">{escape(group)}</b> ' if group else ""


def _raw(trace: Trace, with_texts: bool) -> Iterator[str]:
    wording = TraceWording(trace)
    yield f"<section><h2>Raw candidates <small>{count(len(trace.candidates), 'row')}</small></h2><table>"
    for traced in trace.candidates[:_MOST_ROWS]:
        yield _raw_row(traced, wording, with_texts)
    yield "</table>"
    if len(trace.candidates) > _MOST_ROWS:
        yield f"<p>and {number(len(trace.candidates) - _MOST_ROWS)} more</p>"
    yield "</section>"


def _raw_row(traced: TracedCandidate, wording: TraceWording, with_texts: bool) -> str:
    candidate = traced.candidate
    kept = traced.fate.name in ("projected", "projected_cut")
    stale = freshness_mark(traced.freshness)
    name = f"{_badge(traced.twin_group)}{_one(candidate.doc_id or candidate.source_path or candidate.evidence_key)}"
    where = " ".join(filter(None, [pages(candidate.page_first, candidate.page_last), stale]))
    text = "" if not with_texts else f"<p class=text>{escape(lines_of(candidate.text or '', 200))}</p>"
    return (
        f"<tr class={'kept' if kept else 'fell'}><td class=n>{candidate.rank}</td>"
        f"<td class=n>{candidate.score:.3f}</td>"
        f"<td>{name} <small>{escape(where)}</small><p class=fate>{escape(wording.fate(traced))}</p>{text}</td></tr>"
    )


def _evidence(trace: Trace, with_texts: bool) -> Iterator[str]:
    groups = {t.candidate.fold_key: t.twin_group for t in trace.candidates}
    yield f"<section><h2>Evidence <small>{count(len(trace.evidence), 'block')}</small></h2>"
    for block in trace.evidence:
        yield f"<article><h3>{block.rank}. {_badge(groups.get(block.fold_key))}{_one(block.source_file)} "
        yield f"<small>{block.score:.3f}</small></h3><ul>"
        for place in block.citations:
            page = pages(place.page_first, place.page_last)
            spot = f"characters {number(place.start)} to {number(place.end)}"
            yield f"<li>{_one(place.path)} <small>{escape(page)} {spot}</small></li>"
        yield f"</ul>{_text(block, with_texts)}</article>"
    if trace.summary.shortfall is not None:
        yield f"<p class=short>{escape(shortfall_sentence(trace.summary.shortfall))}</p>"
    yield "</section>"


def _projected(trace: Trace, with_texts: bool) -> Iterator[str]:
    yield "<section><h2>Projected <small>what the agent reads</small></h2>"
    for item in trace.projected:
        page = "" if item.page is None else f" · page {item.page}"
        tokens = "" if item.tokens is None else f", {count(item.tokens, 'token')}"
        cut = " · cut" if item.cut else ""
        yield f"<article><h3>{_one(item.document_id)}</h3><p><small>{_one(item.source)}{page} · "
        yield f"{count(item.chars, 'character')}{tokens}{cut}</small></p>{_text(item, with_texts)}</article>"
    yield "</section>"


def _text(item: Evidence | ProjectedItem, with_texts: bool) -> str:
    if not with_texts:
        return ""
    more = "…" if len(item.content) > _LONGEST_TEXT else ""
    return f"<p class=text>{escape(lines_of(item.content, _LONGEST_TEXT))}{more}</p>"


def _foot(trace: Trace) -> Iterator[str]:
    yield "<footer><h2>Settings</h2><dl>"
    for key, entry in trace.settings.items():
        origin = entry.origin if entry.file is None else entry.file
        value = f"{_one(setting_value(key, entry.value))} <small>{_one(origin)}</small>"
        yield f"<dt>{escape(setting_title(key))}</dt><dd>{value}</dd>"
    yield "</dl></footer>"
