"""What copies cost: the share of the first return-n places that they take over real questions."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.duplicates.decided import NOTHING_DECIDED
from pipeline.duplicates.ground import Ground
from pipeline.duplicates.making import in_order
from pipeline.duplicates.records import DuplicatesReport
from pipeline.duplicates.repeats import Apart
from pipeline.errors import HistoryError, QueryError
from pipeline.progress import CancelToken, Progress, ProgressListener
from pipeline.records import TracedCandidate
from pipeline.settings import Settings, resolve
from pipeline.store.catalog import Catalog
from pipeline.store.duplicates import DuplicateCatalog
from pipeline.store.history import History
from pipeline.store.schema import open_for_reading
from pipeline.textkeys import fold
from pipeline.words.plain import first_words

if TYPE_CHECKING:
    from pipeline.query import QueryEngine

MOST_QUESTIONS = 200
FEW_QUESTIONS = 10  # of the user's own: from so many on, no others are needed
_TITLE = re.compile(r"^title:[ \t]*['\"]?(\S.{2,118}?)['\"]?[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|={1,6}[ \t]+)?(\S.{2,118}?)[ \t#=]*$", re.MULTILINE)


def questions_for(library: Path, most: int = MOST_QUESTIONS) -> tuple[str, ...]:
    """What to measure with: the user's own questions, newest first; where there are fewer than ten, a sample of the
    documents' own headings after them. The same library and history give the same questions. Raises `LibraryError`.
    """
    return questions_and_own(library, most)[0]


def questions_and_own(library: Path, most: int = MOST_QUESTIONS) -> tuple[tuple[str, ...], int]:
    """The questions of `questions_for`, and how many of them, the first ones, are the user's own."""
    own: dict[str, str] = {}
    try:
        with closing(History(library)) as history:
            for entry in history.entries(limit=most * 5):
                own.setdefault(fold(entry.text).casefold(), entry.text)
    except HistoryError:
        own = {}  # what is wrong with it costs the history alone
    questions = dict(list(own.items())[:most])
    first = len(questions)
    if len(questions) < FEW_QUESTIONS:
        for heading in _headings(library, most):
            if len(questions) == most:
                break
            questions.setdefault(fold(heading).casefold(), heading)
    return tuple(questions.values()), first


def measured(
    report: DuplicatesReport,
    engine: QueryEngine,
    questions: Sequence[str],
    *,
    own: int | None = None,
    settings: Settings | None = None,
    progress: ProgressListener | None = None,
    cancel: CancelToken | None = None,
) -> DuplicatesReport:
    """The report with `cost` and `questions` filled in, for the library and each family, the costliest first. The
    first `own` questions are the user's own, the others headings; None: all are the user's.

    A place among the first `return-n` raw candidates is a copy's when an equal text stands before it, or a near twin
    out of another document of its family. It costs the family of its document. What is left out of searches takes no
    place. The report stays as it is where no question could be asked. Raises `Cancelled` and what the engine raises.
    """
    settings = settings or resolve()
    family_of = {member.doc_id: family.key for family in report.families for member in family.members}
    left_out = [member.doc_id for family in report.families for member in family.members if member.left_out]
    began = time.perf_counter()
    places = copies = asked = headings = 0
    apart = _apart(report)
    costs: Counter[str] = Counter()
    for number, question in enumerate(questions):
        if cancel is not None:
            cancel.check()
        if progress is not None:
            progress(Progress("asking", number, len(questions), question, seconds=time.perf_counter() - began))
        try:
            trace = engine.ask(question, settings, left_out=left_out)
        except QueryError:
            continue  # an empty or endless question says nothing of copies
        asked += 1
        headings += own is not None and number >= own
        first = [traced for traced in trace.candidates if traced.fate.name != "left_out"][: settings.return_n]
        places += len(first)
        for traced in _copies(first, family_of, apart):
            copies += 1
            costs[family_of.get(traced.candidate.doc_id or "", "")] += 1
    if not asked:
        return report
    share = 1 / max(places, 1)
    families = in_order(replace(family, cost=costs[family.key] * share) for family in report.families)
    return replace(report, families=families, cost=copies * share, questions=asked, headings=headings)


def _apart(report: DuplicatesReport) -> Callable[[str, str], bool]:
    """Whether it was said of two documents, by doc_id, that they are no duplicates."""
    ground = report.ground
    apart = Apart(ground.decided) if isinstance(ground, Ground) else Apart(NOTHING_DECIDED)
    if not apart or not isinstance(ground, Ground):
        return lambda one, other: False
    contents = {row.doc_id: row.content_sha256 for row in ground.documents}
    return lambda one, other: apart(contents.get(one, ""), contents.get(other, ""))


def _copies(
    first: Sequence[TracedCandidate], family_of: Mapping[str, str], apart: Callable[[str, str], bool]
) -> Iterator[TracedCandidate]:
    """Those of the first places that copies take."""
    texts: dict[str, list[str]] = {}  # fold key -> the documents that held it so far
    before: dict[str, str | None] = {}  # evidence key -> doc_id
    for traced in first:
        candidate = traced.candidate
        family = family_of.get(candidate.doc_id or "")
        twins = [before[twin.evidence_key] for twin in traced.near_twins if twin.evidence_key in before]
        near = any(
            twin != candidate.doc_id and family is not None and family_of.get(twin or "") == family for twin in twins
        )
        doc_id = candidate.doc_id or ""
        again = any(not apart(doc_id, other) for other in texts.get(candidate.fold_key, ()))
        if candidate.text is not None and (again or near):
            yield traced
        texts.setdefault(candidate.fold_key, []).append(doc_id)
        before[candidate.evidence_key] = candidate.doc_id


def _headings(library: Path, most: int) -> Iterator[str]:
    """A heading of each of a sample of documents: the same ones every time, from the whole of the library."""
    with closing(open_for_reading(library)) as db:
        catalog = Catalog(db, library)
        with catalog.snapshot():
            rows = DuplicateCatalog(db, catalog)
            documents = [row.id for row in rows.documents() if row.chunks]
            for _, text in rows.texts(_spread(documents, most)):
                if (heading := heading_of(text)) is not None:
                    yield heading


def heading_of(text: str) -> str | None:
    """The first line that reads like a heading: marked as one, or the first that is short enough."""
    titled = _TITLE.search(text[:2_000])
    if titled is not None:
        return first_words(titled.group(1))
    found: str | None = None
    for match in _HEADING.finditer(text[:20_000]):
        line = match.group(1)
        if not any(sign.isalpha() for sign in line):
            continue
        if match.group().lstrip().startswith("#"):
            return first_words(line)
        found = found or first_words(line)
    return found


def _spread(ids: Sequence[int], most: int) -> Collection[int]:
    """At most so many of them, from all parts of the list."""
    if len(ids) <= most:
        return ids
    return [ids[number * len(ids) // most] for number in range(most)]
