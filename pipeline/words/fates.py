"""What became of a candidate, in sentences for people. Free of Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.records import Evidence, Fate, Remedy, Trace, TracedCandidate
from pipeline.words.phrases import count, file_name, listed, number, ordinal
from pipeline.words.plain import one_line

_FATE_TITLES: dict[str, str] = {
    "projected": "read by the agent",
    "projected_cut": "read by the agent, cut",
    "merged": "came twice",
    "collapsed": "identical copy",
    "near_collapsed": "folded near twin",
    "same_source": "same file",
    "left_out": "left out",
    "beyond_retrieve_k": "not needed",
    "over_document_cap": "over the cap",
    "beyond_return_n": "beyond the answer's length",
    "over_budget": "over the budget",
    "orphaned": "unknown to the catalog",
}


def fate_title(name: str) -> str:
    """A fate in two or three words."""
    return _FATE_TITLES.get(name, name.replace("_", " "))


def _reason(fate: Fate) -> str:
    """The pipeline's own sentence, where the numbers for ours are missing."""
    return one_line(fate.reason)


def _limiting(numbers: Mapping[str, object]) -> str:
    """The setting that a budget's fate names."""
    return str(numbers.get("setting") or numbers.get("limit") or "")


def _int(numbers: Mapping[str, object], key: str) -> int | None:
    value = numbers.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class _Into:
    """The raw row that a candidate went into, and that row's own fate."""

    rank: int | None
    fate: Fate | None


class TraceWording:
    """Sentences about one trace. Keys inside fates become the ranks that a person sees."""

    def __init__(self, trace: Trace) -> None:
        self._traced: dict[str, TracedCandidate] = {}
        for traced in trace.candidates:
            self._traced.setdefault(traced.candidate.evidence_key, traced)
        by_rank = {traced.candidate.rank: traced for traced in trace.candidates}
        self._blocks: dict[str, Evidence] = {block.evidence_key: block for block in trace.evidence}
        for block in trace.evidence:
            carrier = by_rank.get(block.carrier_rank)
            if carrier is not None:
                self._traced.setdefault(block.evidence_key, carrier)

        self._limit = trace.summary.budget.max_chars_per_item
        self._evidence = trace.evidence

    def remedy(self, traced: TracedCandidate) -> Remedy | None:
        """The one setting that would have kept this candidate whole, where a single one does."""
        by_own = fate_remedy(traced)
        if by_own is not None or traced.fate.name not in ("over_budget", "projected_cut"):
            return by_own
        rank = next((b.rank for b in self._evidence if b.carrier_rank == traced.candidate.rank), None)
        if rank is None:
            return None
        if _limiting(traced.fate.numbers) == "max-items":
            return Remedy("max-items", rank)
        total = sum(min(len(block.content), self._limit) for block in self._evidence[:rank])
        return Remedy("max-total-chars", total)

    def _into(self, fate: Fate) -> _Into:
        target = self._traced.get(fate.into or "")
        return _Into(target.candidate.rank, target.fate) if target else _Into(_int(fate.numbers, "rank"), None)

    def fate(self, traced: TracedCandidate) -> str:
        """What became of this candidate, as a sentence without a full stop."""
        return _fate_sentence(traced, self._into(traced.fate), self._blocks.get(traced.candidate.evidence_key))


def fate_sentence(traced: TracedCandidate, trace: Trace | None = None) -> str:
    """One candidate's fate in words. For many rows of one trace keep a `TraceWording` instead."""
    if trace is not None:
        return TraceWording(trace).fate(traced)
    return _fate_sentence(traced, _Into(_int(traced.fate.numbers, "rank"), None), None)


def _fate_sentence(traced: TracedCandidate, into: _Into, block: Evidence | None) -> str:
    fate, numbers = traced.fate, traced.fate.numbers
    where = number(into.rank) if into.rank is not None else None
    match fate.name:
        case "projected":
            return f"evidence {number(block.rank)}, read by the agent" if block else "read by the agent"
        case "projected_cut":
            return _cut_sentence(fate, block)
        case "merged":
            return f"the same chunk as {where}, which it was merged into" if where else _reason(fate)
        case "collapsed":
            return f"identical to {where}, {_target_words(into.fate)}" if where else _reason(fate)
        case "near_collapsed":
            similarity = numbers.get("similarity")
            share = (
                f" ({similarity:.0%} of their three-word runs are the same)" if isinstance(similarity, float) else ""
            )
            return f"a near twin of {where}{share}, {_near_words(into.fate)}" if where else _reason(fate)
        case "same_source":
            name = file_name(traced.candidate.source_path or traced.candidate.doc_id)
            return f"{where} is from {name} too; this policy keeps one block a file" if where else _reason(fate)
        case "left_out":
            return _left_out_sentence(traced)
        case "beyond_retrieve_k":
            rank, k = _int(numbers, "distinct_rank"), _int(numbers, "retrieve_k")
            if rank is None or k is None:
                return _reason(fate)
            return f"came with the widening, not needed: different text {number(rank)}, {number(k)} were asked for"
        case "over_document_cap":
            return _cap_sentence(fate)
        case "beyond_return_n":
            place, n = _int(numbers, "position"), _int(numbers, "return_n")
            if place is None or n is None:
                return _reason(fate)
            returned = f"{number(n)} {'is' if n == 1 else 'are'} returned"
            return f"{ordinal(place)} block, {returned}; returning {number(place)} would return it as well"
        case "over_budget":
            return _budget_sentence(fate)
        case "orphaned":
            return "the index knows it, the catalog does not; indexing again clears it up"
    return _reason(fate)


def _target_words(fate: Fate | None) -> str:
    """How a copy's sentence ends: what the row that it is a copy of has come to."""
    if fate is None or fate.name in ("projected", "projected_cut", "merged"):
        return "which cites it"
    if fate.name == "over_budget":
        return "which cites it, but is over the budget"
    if fate.name == "collapsed":
        return "a copy as well"
    if fate.name == "near_collapsed":
        return "which was folded into another as its near twin"
    if fate.name == "over_document_cap":
        return f"which is over the cap of {file_name(str(fate.numbers.get('doc_id') or ''))}"
    if fate.name == "beyond_return_n":
        n = _int(fate.numbers, "return_n")
        return f"which is beyond the {number(n)} returned" if n else "which is beyond the answer's length"
    return f"which is {fate_title(fate.name)}"


def _near_words(fate: Fate | None) -> str:
    """How a near twin's sentence ends. The block that stands for it cites the files of its own text alone."""
    words = _target_words(fate)
    return words.replace("which cites it", "which stands for it", 1)


def _cut_sentence(fate: Fate, block: Evidence | None) -> str:
    chars, kept = _int(fate.numbers, "chars"), _int(fate.numbers, "kept")
    if chars is None or kept is None:
        return _reason(fate)
    which = f"evidence {number(block.rank)}, " if block else ""
    why = "the most for one block" if _limiting(fate.numbers) == "max-chars-per-item" else "to fit the budget"
    return f"{which}cut to {number(kept)} of {count(chars, 'character')}, {why}"


def _left_out_sentence(traced: TracedCandidate) -> str:
    doc_id = str(traced.fate.numbers.get("doc_id") or traced.candidate.doc_id or traced.candidate.source_path)
    why = one_line(str(traced.fate.numbers.get("why") or ""))
    return f"{file_name(doc_id)} is left out" + (f": {why}" if why else " of this search")


def _cap_sentence(fate: Fate) -> str:
    numbers = fate.numbers
    name = file_name(str(numbers.get("doc_id") or ""))
    siblings = numbers.get("siblings")
    ranks = [rank for rank in siblings if isinstance(rank, int)] if isinstance(siblings, (tuple, list)) else []
    needed = _int(numbers, "cap_needed")
    if not ranks and needed is None:
        return _reason(fate) or f"over the cap of {name}"
    took = f": {listed(ranks)} took its place{'s' if len(ranks) > 1 else ''}" if ranks else ""
    keep = f"{'; ' if ranks else ': '}{_cap_needed(fate, needed)} would keep it" if needed is not None else ""
    return f"over the cap of {name}{took}{keep}"


def _cap_needed(fate: Fate, needed: int) -> str:
    """The cap that lets the block pass, and the length of the answer where that has to grow as well."""
    place = _place_beyond(fate)
    return f"a cap of {number(needed)}" + (f" and returning {number(place)}" if place is not None else "")


def _place_beyond(fate: Fate) -> int | None:
    """The place that a block would have under the cap that lets it pass, where that is beyond the answer's length."""
    place, return_n = _int(fate.numbers, "place"), _int(fate.numbers, "return_n")
    return place if place is not None and return_n is not None and place > return_n else None


def _budget_sentence(fate: Fate) -> str:
    chars, left = _int(fate.numbers, "chars"), _int(fate.numbers, "left")
    if _limiting(fate.numbers) == "max-items":
        most = _int(fate.numbers, "limit")
        return f"the agent takes at most {count(most, 'block')}" if most else _reason(fate) or "the agent takes no more"
    if chars is None or left is None:
        return _reason(fate)
    return f"{count(chars, 'character')}, {number(left)} left"


def fate_remedy(traced: TracedCandidate) -> Remedy | None:
    """The one setting that would have kept this candidate, where a single one does and its value is known."""
    numbers = traced.fate.numbers
    match traced.fate.name:
        case "over_document_cap":
            needed = _int(numbers, "cap_needed")
            if needed is None or _place_beyond(traced.fate) is not None:
                return None
            return Remedy("max-chunks-per-document", needed)
        case "beyond_return_n":
            place = _int(numbers, "position")
            return Remedy("return-n", place) if place is not None else None
        case "projected_cut":
            chars = _int(numbers, "chars")
            limited = _limiting(numbers) == "max-chars-per-item"
            return Remedy("max-chars-per-item", chars) if limited and chars is not None else None
    return None


def fallen_sentence(first: TracedCandidate, heads: Sequence[int], rows: int) -> str:
    """Several rows that fell for one reason, for the foot of the evidence. `heads` are the ranks that it hit,
    `rows` counts them with the copies that fell along with them."""
    fate, numbers = first.fate, first.fate.numbers
    many = number(len(heads))
    copies = rows - len(heads)
    which = f": {listed(heads)}" + (f", with {count(copies, 'copy', 'copies')}" if copies else "")
    match fate.name:
        case "over_document_cap":
            cap = _int(numbers, "cap")
            limit = f" ({number(cap)} a file)" if cap is not None else ""
            return f"{many} over the cap of {file_name(str(numbers.get('doc_id') or ''))}{limit}{which}"
        case "beyond_return_n":
            n = _int(numbers, "return_n")
            return f"{many} beyond the {number(n)} returned{which}" if n is not None else f"{many} not returned{which}"
        case "beyond_retrieve_k":
            return f"{many} came with the widening, not needed{which}"
        case "left_out":
            name = file_name(str(numbers.get("doc_id") or first.candidate.source_path))
            return f"{many} from {name}, which is left out{which}"
        case "same_source":
            return f"{many} from files that already have a block{which}"
    return f"{many} {fate_title(fate.name)}{which}"


def cut_words(kept: int, whole: int | None) -> str:
    """The words on the line where an item was cut."""
    if whole is None or whole <= kept:
        return f"cut here, after {count(kept, 'character')}"
    return f"cut here: {number(kept)} of {count(whole, 'character')}"
