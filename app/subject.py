"""What the detail pane is about: the part of an answer that is selected, as one record. Qt-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pipeline.records import Evidence, Location, Trace, TracedCandidate
from pipeline.words.sentences import TraceWording, cites_words, file_name, freshness_sentence, pages


class Target(Protocol):
    """`app.focus.FocusTarget`, as far as it is read here."""

    @property
    def kind(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def rank(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Partner:
    """A chunk to compare with. `text` is None where it has to be read from its document first."""

    label: str
    place: Location | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Subject:
    """A chunk, what became of it, and who else holds its text. `places` are the citations of its evidence, or, for
    a text that became none, the rows of the answer that hold it."""

    title: str
    letter: str | None
    said: tuple[str, ...]
    place: Location | None
    text: str
    places_title: str
    places: tuple[Location, ...]
    partners: tuple[Partner, ...]


_KEPT = 4
_last: list[tuple[Trace, Target, Subject | None]] = []  # several parts of a window ask for the same one


def subject_of(target: Target | None, trace: Trace | None) -> Subject | None:
    """The chunk that this part of the answer stands for; None when the answer has no such part."""
    if target is None or trace is None:
        return None
    for known, asked, subject in _last:
        if known is trace and asked == target:
            return subject
    subject = _subject_of(target, trace)
    _last[:] = [(trace, target, subject), *_last[: _KEPT - 1]]
    return subject


def _subject_of(target: Target, trace: Trace) -> Subject | None:
    if target.kind == "candidate":
        traced = next(
            (
                one
                for one in trace.candidates
                if one.candidate.evidence_key == target.key and target.rank in (None, one.candidate.rank)
            ),
            None,
        )
        return None if traced is None else _of_candidate(traced, trace)
    if target.kind in ("evidence", "item"):
        block = next((block for block in trace.evidence if block.evidence_key == target.key), None)
        return None if block is None else _of_block(block, block.citations[0] if block.citations else None, trace)
    for block in trace.evidence:
        if target.rank is not None and block.rank != target.rank:
            continue
        place = next((place for place in block.citations if place.path == target.key), None)
        if place is not None:
            return _of_block(block, place, trace)
    traced = next((one for one in trace.candidates if one.candidate.source_path == target.key), None)
    return None if traced is None else _of_candidate(traced, trace)


def place_words(place: Location) -> str:
    """Where a chunk stands in its document."""
    page = pages(place.page_first, place.page_last)
    parts = [page] if page else []
    parts.append(f"chunk #{place.chunk_index}")
    parts.append(f"characters {place.start:,} to {place.end:,}")
    return ", ".join(parts)


def base_name(path: str) -> str:
    """The last part of a path, on its own: nothing around it has to be kept apart from it, as in a sentence."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or path


def location_of(traced: TracedCandidate) -> Location | None:
    """Where the candidate stands; None for a hit without a document."""
    candidate = traced.candidate
    if candidate.doc_id is None or candidate.chunk_index is None or candidate.start is None or candidate.end is None:
        return None
    return Location(
        candidate.evidence_key,
        candidate.doc_id,
        candidate.chunk_index,
        candidate.source_path,
        candidate.start,
        candidate.end,
        candidate.page_first,
        candidate.page_last,
    )


def _of_candidate(traced: TracedCandidate, trace: Trace) -> Subject:
    candidate = traced.candidate
    place = location_of(traced)
    same = tuple(one for one in trace.candidates if one.candidate.fold_key == candidate.fold_key)
    block = next((block for block in trace.evidence if block.fold_key == candidate.fold_key), None)
    if block is not None:
        places, title = block.citations, f"Evidence {block.rank} {cites_words(block)}"
    else:
        places = tuple(where for one in same if (where := location_of(one)) is not None)
        title = "Rows with this text" if len(places) > 1 else "Its file"
    said = [f"Row {candidate.rank}, similarity {candidate.score:.3f}: {TraceWording(trace).fate(traced)}."]
    if candidate.tokens is not None and candidate.tokens_seen is not None and candidate.tokens_seen < candidate.tokens:
        said.append(f"The model read {candidate.tokens_seen:,} of its {candidate.tokens:,} tokens.")
    if traced.freshness not in (None, "fresh"):
        said.append(freshness_sentence(traced.freshness))
    return Subject(
        base_name(candidate.source_path or candidate.doc_id or ""),
        traced.twin_group,
        tuple(said),
        place,
        candidate.text or "",
        title,
        places,
        _partners(traced, place, places, trace),
    )


def _of_block(block: Evidence, place: Location | None, trace: Trace) -> Subject:
    carrier = next((one for one in trace.candidates if one.candidate.rank == block.carrier_rank), None)
    said = f"Evidence {block.rank}, similarity {block.score:.3f}: {cites_words(block)}"
    if block.places > 1:
        said += f"; {block.places} rows became this one block"
    fate = f" {TraceWording(trace).fate(carrier).capitalize()}." if carrier is not None else ""
    if carrier is not None and carrier.fate.name in ("projected", "projected_cut"):
        cut = " (cut)" if carrier.fate.name == "projected_cut" else ""
        fate = f" The agent reads it{cut}."
    shown = place or (block.citations[0] if block.citations else None)
    return Subject(
        base_name(shown.path if shown is not None else block.source_path),
        carrier.twin_group if carrier is not None else None,
        (f"{said}.{fate}",),
        shown,
        block.content,
        f"Evidence {block.rank} {cites_words(block)}",
        block.citations,
        _partners(carrier, shown, block.citations, trace) if carrier is not None else (),
    )


def _partners(
    traced: TracedCandidate, place: Location | None, places: tuple[Location, ...], trace: Trace
) -> tuple[Partner, ...]:
    """Near twins first: they are what a comparison is for. Then the twins, wherever they stand."""
    by_key = {one.candidate.evidence_key: one for one in trace.candidates}
    found: list[Partner] = []
    for near in traced.near_twins:
        other = by_key.get(near.evidence_key)
        if other is not None and other.candidate.text is not None:
            name = file_name(other.candidate.source_path or other.candidate.doc_id)
            label = f"Row {other.candidate.rank}, {name}: {near.similarity:.0%} the same wording"
            found.append(Partner(label, location_of(other), other.candidate.text))
    own = place.evidence_key if place is not None else traced.candidate.evidence_key
    for twin in places:
        if twin.evidence_key == own:
            continue
        other = by_key.get(twin.evidence_key)
        where = f"Row {other.candidate.rank}, " if other is not None else ""
        label = f"{where}{file_name(twin.path)}: twin"
        found.append(Partner(label, twin, other.candidate.text if other is not None else None))
    return tuple(found)
