"""Why something is not in the answer, and what would bring it in, in sentences for people. Free of Qt."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.findings import Outcome, PassageFinding, SettingChange, Standing, Value, Ways, WhyNot
from pipeline.records import Remedy, Trace
from pipeline.words.fates import TraceWording
from pipeline.words.phrases import count, file_name, listed, number, ordinal
from pipeline.words.plain import one_line
from pipeline.words.sentences import policy_title, remedy_label, setting_title, setting_value, stage_title

_TITLES: dict[Outcome, str] = {
    "projected": "In the answer: the agent reads it",
    "cited": "In the evidence, but the agent does not read it",
    "fell": "Not in the answer",
    "not_recalled": "Not in the answer: it was not recalled",
    "left_out": "Left out of this search",
    "other_file": "Not searched",
    "no_text": "Holds no text to be found",
}
_SHORT: dict[Outcome, str] = {
    "projected": "read by the agent",
    "cited": "in the evidence, not read",
    "fell": "fell",
    "not_recalled": "not recalled",
    "left_out": "left out",
    "other_file": "not searched",
    "no_text": "no text",
}
_SEARCH_STAGES = ("search", "width")


def outcome_title(outcome: Outcome) -> str:
    """What is so, as a heading."""
    return _TITLES[outcome]


def outcome_words(outcome: Outcome) -> str:
    """What is so, in two or three words."""
    return _SHORT[outcome]


def there(outcome: Outcome) -> bool:
    """Whether the evidence holds it."""
    return outcome in ("projected", "cited")


def why_sentence(told: WhyNot, trace: Trace) -> str:
    """Why the whole of what was asked about is, or is not, in the answer `trace`: that of its best passage."""
    if not told.passages:
        return _sentence(told.sentence)
    best = min(told.passages, key=lambda finding: finding.outcome != told.outcome or finding.sentence != told.sentence)
    return passage_sentence(best, trace)


def passage_sentence(finding: PassageFinding, trace: Trace) -> str:
    """Why this passage is, or is not, in the answer `trace`."""
    match finding.outcome:
        case "not_recalled":
            return _not_recalled(finding.standing, trace)
        case "left_out" if finding.setting is None:
            return f"You left {file_name(finding.place.doc_id)} out of this search."
        case "left_out":
            return f"{file_name(finding.place.doc_id)} could not be re-indexed, and such files are not served."
        case "other_file":
            return f"Only {file_name(trace.only_file)} is searched."
    rank = finding.carrier_rank
    if rank is None or not 0 < rank <= len(trace.candidates):
        return _sentence(finding.sentence)
    carrier = trace.candidates[rank - 1]
    said = TraceWording(trace).fate(carrier)
    if carrier.candidate.evidence_key == finding.place.evidence_key:
        return _sentence(said)
    where = file_name(carrier.candidate.source_path or carrier.candidate.doc_id)
    return _sentence(f"its text is that of row {number(rank)} ({where}): {said}")


def _not_recalled(standing: Standing, trace: Trace) -> str:
    wanted = trace.settings["retrieve-k"].value
    place, what = standing.distinct_rank, "different text" if trace.policy == "evidence" else "row"
    if place is None or not isinstance(wanted, int):
        return "The search did not come to it."
    return (
        f"It is the {ordinal(place)} {what} of the search's list, and {count(wanted, 'text')} {_are(wanted)} recalled."
    )


def _are(value: int) -> str:
    return "is" if value == 1 else "are"


def standing_words(standing: Standing) -> str:
    """Where it stands in the search's own list."""
    if standing.rank is None:
        return "nowhere: the search does not look at it"
    said = f"{ordinal(standing.rank)} of all rows"
    if standing.distinct_rank is not None and standing.distinct_rank != standing.rank:
        said += f", {ordinal(standing.distinct_rank)} of the different texts"
    return said


def score_words(finding: PassageFinding) -> str:
    """Its score, and how much it is too low."""
    score = finding.standing.score
    if score is None:
        return ""
    if there(finding.outcome) or finding.lacking is None:
        return f"{score:.4f}"
    recalled = finding.outcome == "not_recalled"
    if not finding.lacking:
        return f"{score:.4f}, no less than {'the last text recalled' if recalled else 'the last block of the answer'}"
    return (
        f"{score:.4f}: {finding.lacking:.4f} too low to be {'recalled' if recalled else 'the last block of the answer'}"
    )


def stopped_words(finding: PassageFinding, trace: Trace) -> str:
    """The step and the setting that removed it, with the value in force; "" where none did."""
    if finding.stage is None or (finding.outcome == "projected" and finding.setting is None):
        return ""
    stage = "Search" if finding.stage in _SEARCH_STAGES else stage_title(finding.stage)
    if finding.setting is None or finding.setting not in trace.settings:
        return f"the step “{stage}”"
    value = setting_value(finding.setting, trace.settings[finding.setting].value)
    return f"the step “{stage}”, by the setting “{setting_title(finding.setting)}”: {value}"


def change_label(change: SettingChange) -> str:
    """What applying this change does, as on a button."""
    value = change.value
    if isinstance(value, bool):
        if change.setting == "fold-near":
            return "Fold near twins too" if value else "Keep near twins apart"
        if change.setting == "serve-stale":
            return "Serve files whose re-indexing failed" if value else "Serve no stale files"
    if change.setting == "policy":
        return f"Use the policy “{policy_title(str(value))}”"
    if change.setting == "near-threshold" and isinstance(value, float):
        more = isinstance(change.before, float) and value < change.before
        return f"Call texts near twins {'already' if more else 'only'} from {value:.0%}"
    if type(value) is int:
        if change.setting == "max-chunks-per-document" and value and change.before != 0 and value < _int(change.before):
            return f"Lower the cap to {number(value)} a file"
        if change.setting == "max-chunks-per-document" and change.before == 0 and value:
            return f"Cap every file at {count(value, 'block')}"
        return remedy_label(Remedy(change.setting, value))
    return f"Set {setting_title(change.setting).lower()} to {setting_value(change.setting, value)}"


def _int(value: Value) -> int:
    return value if isinstance(value, int) else 0


def change_tip(change: SettingChange) -> str:
    """What the change is, with the value in force and the setting's own name."""
    before = setting_value(change.setting, change.before)
    after = setting_value(change.setting, change.value)
    return f"{setting_title(change.setting)} ({change.setting}): {before} now, {after} then. Can be undone."


def together_words(changes: Sequence[SettingChange]) -> str:
    """Several changes at once: "recall 43 texts and return 28 blocks"."""
    words = [change_label(change) for change in changes]
    return listed([f"{said[:1].lower()}{said[1:]}" for said in words], len(words))


def together_label(changes: Sequence[SettingChange]) -> str:
    """Several changes at once, as on a button."""
    words = together_words(changes)
    return f"{words[:1].upper()}{words[1:]}" if len(changes) == 2 else f"Do all {number(len(changes))}"


def ways_sentence(ways: Ways) -> str:
    """What there is to say beside the buttons: why there is none, or that only several do it."""
    if ways.already or ways.changes:
        return ""
    if ways.together:
        if len(ways.together) == 2:
            return "No single setting does it; it takes both of these."
        return f"No single setting does it. Together these do: {together_words(ways.together)}."
    return _sentence(ways.reason)


def untried_sentence(ways: Ways) -> str:
    """What was not tried, and why."""
    if not ways.untried:
        return ""
    named = " and ".join(f"“{setting_title(key)}”" for key in ways.untried)
    return f"Not tried: {named}. So many texts would have to be compared with each other that it takes too long."


def passages_words(told: WhyNot) -> str:
    """How many passages are listed."""
    shown, whole = len(told.passages), told.passages_in_all
    if whole > shown:
        return f"Best {number(shown)} of {count(whole, 'passage')}"
    return f"{count(shown, 'passage')}, best first" if shown > 1 else "Its only passage"


def _sentence(said: str) -> str:
    """Upper-cased and with its full stop."""
    line = one_line(said.strip(), 1_000)
    return f"{line[:1].upper()}{line[1:]}" + ("" if line.endswith((".", "?", "!", "…")) else ".") if line else ""
