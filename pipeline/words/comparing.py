"""Two answers beside each other, in sentences for people. The older side stands on the left. Free of Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.findings import At, Comparison, Difference, ItemAt, PolicyAnswer, Unlike
from pipeline.records import SettingInForce, Trace
from pipeline.settings import BY_KEY
from pipeline.words.fates import fate_title
from pipeline.words.phrases import count, file_name, listed, number
from pipeline.words.plain import one_line
from pipeline.words.sentences import policy_title, setting_title, setting_value, stage_words

LEFT, RIGHT = "left", "right"
_MOST = 4  # of the settings, scopes and library facts that are named before the rest is counted

_MAIN = ("policy", "retrieve-k", "return-n", "max-chunks-per-document", "max-total-chars")

_LIBRARY: dict[str, str] = {
    "path": "Library",
    "generation": "State of the index",
    "model": "Model",
    "dimension": "Size of the vectors",
    "documents": "Documents",
    "chunks": "Chunks",
    "texts": "Different texts",
}
_SCOPE: dict[str, str] = {"only-file": "Only in", "left-out": "Left out", "preferred": "Cited first"}


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two answers first differ: a few words, and what that means here."""

    title: str
    sentence: str
    same: bool = False


def parting_words(found: Comparison) -> Parting:
    """The first stage at which they differ, and what it did."""
    moved = moved_counts(found)
    match found.parts_at:
        case None:
            others = "" if not found.library else " Only facts about the library differ."
            return Parting(
                "The runs do not differ: both give the agent the same",
                f"The same candidates with the same outcome, the same evidence, the same projection.{others}",
                True,
            )
        case "question":
            return Parting(
                "The runs ask different questions",
                f"Everything after that follows from it. {moved}",
            )
        case "search":
            return Parting(
                "The runs first differ at the search: it found other candidates",
                f"{_why_search(found)} {moved}",
            )
        case stage:
            words = stage_words(stage)
            return Parting(
                f"The runs first differ at “{words.title}”",
                f"Up to there both are the same. {words.sentence} {moved}",
            )


def _why_search(found: Comparison) -> str:
    """What may have made the search find others, as far as the traces say so."""
    causes = [setting_title(each.name) for each in found.settings if each.name in ("retrieve-k", "top-k", "policy")]
    causes += [_SCOPE[each.name] for each in found.scope if each.name in ("only-file", "left-out")]
    causes += [_LIBRARY[each.name] for each in found.library if each.name != "path" and each.name in _LIBRARY]
    if not causes:
        return "Neither settings nor scope nor library explain it: the files on disk or the computer may differ."
    return f"What differs before it: {listed([f'“{cause}”' for cause in causes], _MOST)}."


def moved_counts(found: Comparison) -> str:
    """How much of it is the same for the agent, in a sentence."""
    items = change_counts(found.items)
    if not found.items:
        return "The agent reads the same in the end."
    parts = [
        f"{number(items['only_before'])} only on the {LEFT}" if items["only_before"] else "",
        f"{number(items['only_after'])} only on the {RIGHT}" if items["only_after"] else "",
        f"{number(items['moved'])} moved" if items["moved"] else "",
        f"{number(items['changed'])} changed" if items["changed"] else "",
        f"{number(found.same_items)} the same",
    ]
    return f"Of what the agent reads, {listed([part for part in parts if part], len(parts))}."


def change_counts(differences: Sequence[Difference[At]]) -> dict[str, int]:
    """How many of each kind of change."""
    counts = dict.fromkeys(("only_before", "only_after", "moved", "changed"), 0)
    for each in differences:
        counts[each.change] += 1
    return counts


def counts_words(differences: Sequence[Difference[At]], same: int) -> str:
    """The line above a list: "3 differ, 17 the same"."""
    if not differences:
        return f"all {number(same)} the same" if same else "none on either side"
    return f"{number(len(differences))} differ{'s' if len(differences) == 1 else ''}, {number(same)} the same"


def change_mark(difference: Difference[At]) -> str:
    """A change in two words: "only left", "▲ 3 → 1", "changed"."""
    before, after = difference.before, difference.after
    match difference.change:
        case "only_before":
            return f"only {LEFT}"
        case "only_after":
            return f"only {RIGHT}"
        case "moved" if before is not None and after is not None:
            arrow = "▲" if after.rank < before.rank else "▼"
            return f"{arrow} {number(before.rank)} → {number(after.rank)}"
    return difference.change


def change_sentence(difference: Difference[At]) -> str:
    """A change as a sentence: where it stands, and what else differs."""
    before, after = difference.before, difference.after
    if before is None or after is None:
        side = RIGHT if before is None else LEFT
        return f"Only on the {side}, in place {number(difference.at.rank)}."
    also = _what_else(before, after)
    if difference.change == "moved":
        way = "Up" if after.rank < before.rank else "Down"
        said = f"{way} from {number(before.rank)} on the {LEFT} to {number(after.rank)} on the {RIGHT}"
        return f"{said}; {listed(also, _MOST)}." if also else f"{said}."
    return f"In place {number(after.rank)} on both sides; {listed(also, _MOST)}."


def _what_else(before: At, after: At) -> list[str]:
    said = []
    if before.evidence_key != after.evidence_key:
        said.append(f"{file_name(after.source_path)} stands for it instead of {file_name(before.source_path)}")
    elif before.source_path != after.source_path:
        said.append("its file lies elsewhere")
    for name, words in (("text_sha256", "its text differs"), ("content_sha256", "its text differs")):
        if getattr(before, name, None) != getattr(after, name, None):
            said.append(words)
    if getattr(before, "fate", None) != getattr(after, "fate", None):
        one, other = (fate_title(getattr(side, "fate")) for side in (before, after))  # noqa: B009
        said.append(f"{one} on the {LEFT}, {other} on the {RIGHT}")
    elif getattr(before, "stage", None) != getattr(after, "stage", None):
        said.append("another step decided")
    if getattr(before, "cites", None) != getattr(after, "cites", None):
        said.append(f"it cites {_places(before)} on the {LEFT} and {_places(after)} on the {RIGHT}")
    if isinstance(before, ItemAt) and isinstance(after, ItemAt) and before.chars != after.chars:
        said.append(f"{count(before.chars, 'character')} became {number(after.chars)}")
    return said


def _places(side: object) -> str:
    return count(len(getattr(side, "cites", ())), "place")


# --- what differs before the answer ----------------------------------------------------------------------------------


def unlike_lines(found: Comparison) -> tuple[tuple[str, str, str], ...]:
    """(what, left, right) of everything that differs before the answer: question, settings, scope, library."""
    lines = []
    if found.question is not None:
        lines.append(("Question", _said(found.question.before), _said(found.question.after)))
    lines += [_setting_line(each) for each in found.settings]
    lines += [
        (_SCOPE.get(each.name, each.name), _scope_words(each.before), _scope_words(each.after)) for each in found.scope
    ]
    lines += [
        (_LIBRARY.get(each.name, one_line(each.name)), _said(each.before), _said(each.after)) for each in found.library
    ]
    return tuple(lines)


def _setting_line(each: Unlike) -> tuple[str, str, str]:
    title = setting_title(each.name) if each.name in BY_KEY else one_line(each.name, 60)
    return (title, _value(each.name, each.before), _value(each.name, each.after))


def _value(key: str, value: object) -> str:
    return one_line(setting_value(key, value), 60)


def _scope_words(value: object) -> str:
    if not value:
        return "none"
    if isinstance(value, (tuple, list)):
        return listed([file_name(str(each)) for each in value], 2)
    return file_name(str(value))


def _said(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return number(value)
    return one_line(str(value), 200)


def settings_words(settings: Mapping[str, SettingInForce], most: int = _MOST) -> str:
    """The settings that somebody gave, in a line; "default settings" where nobody gave one."""
    given = [
        f"{setting_title(key)}: {_value(key, entry.value)}"
        if key in BY_KEY
        else f"{one_line(key, 40)} {_said(entry.value)}"
        for key, entry in settings.items()
        if entry.origin != "default" and entry.via is None
    ]
    if not given:
        return "default settings"
    more = f", {number(len(given) - most)} more" if len(given) > most else ""
    return ", ".join(given[:most]) + more


def all_settings_words(settings: Mapping[str, Any]) -> str:
    """The settings that shape a run in a line: the main ones, those that were given, those that nobody here knows."""
    return " · ".join(
        f"{setting_title(key) if key in BY_KEY else one_line(key, 40)}: {_value(key, entry.value)}"
        for key, entry in settings.items()
        if entry.value is not None
        and (key in _MAIN or key not in BY_KEY or (entry.origin != "default" and entry.via is None))
    )


def short_run_words(trace: Trace) -> str:
    """A run in a few words, what tells runs of one question apart first."""
    return f"{settings_words(trace.settings, 2)} · “{one_line(' '.join(trace.query.split()), 48)}”"


def run_words(trace: Trace) -> str:
    """A run in a line: its question, its settings, what it searched."""
    parts = [f"“{one_line(' '.join(trace.query.split()), 80)}”", settings_words(trace.settings)]
    if trace.only_file is not None:
        parts.append(f"only in {file_name(trace.only_file)}")
    if trace.left_out:
        parts.append(f"{count(len(trace.left_out), 'file')} left out")
    return " · ".join(parts)


# --- the policies on the same hits -----------------------------------------------------------------------------------


def policy_figures(answer: PolicyAnswer) -> tuple[tuple[str, str], ...]:
    """(figure, what it counts) of what one policy gives the agent."""
    return (
        (number(answer.items), "item" if answer.items == 1 else "items"),
        (number(answer.distinct), "different text" if answer.distinct == 1 else "different texts"),
        (f"{answer.crowding:.0%}", "crowding"),
        (number(answer.cited_files), "file cited" if answer.cited_files == 1 else "files cited"),
        (number(answer.chars), "character" if answer.chars == 1 else "characters"),
        ("–" if answer.tokens is None else number(answer.tokens), "token" if answer.tokens == 1 else "tokens"),
    )


def policy_verdict(answer: PolicyAnswer) -> str:
    """What a policy's places hold, in a sentence that needs no explanation."""
    if not answer.items:
        return "Gives the agent nothing."
    places, repeats = count(answer.items, "place"), answer.items - answer.distinct
    if repeats:
        are = "repeats a text" if repeats == 1 else "repeat a text"
        return f"{number(repeats)} of {places} {are} that stands above already."
    if answer.items == 1:
        return "1 place, 1 text."
    return f"{places}, each with a text of its own."


def policies_sentence(answers: Sequence[PolicyAnswer]) -> str:
    """The three side by side in a sentence: who fills places with copies, and who does not."""
    by_name = {answer.policy: answer for answer in answers}
    plain, evidence = by_name.get("plain"), by_name.get("evidence")
    if plain is None or evidence is None or not plain.items:
        return ""
    repeats = plain.items - plain.distinct
    lead = (
        f"{policy_title('plain')} gives the agent {count(plain.items, 'item')}, but only "
        f"{count(plain.distinct, 'different text')}: copies took {count(repeats, 'place')}."
        if repeats
        else f"{policy_title('plain')} gives the agent {count(plain.items, 'item')} without a copy among them."
    )
    return (
        f"{lead} {policy_title('evidence')} gives {count(evidence.distinct, 'different text')}, "
        f"citing {count(evidence.cited_files, 'file')}."
    )


def repeat_words(first: int) -> str:
    """What stands on an item whose text stands above it already."""
    return f"the same text as {number(first)}"


# --- a run that was saved --------------------------------------------------------------------------------------------


def saved_words(trace: Trace, name: str, when: str, *, from_file: bool) -> tuple[str, str]:
    """(title, sentence) above a run that is shown as it was."""
    title = f"A saved run: “{one_line(name, 80)}”" if from_file else f"Another run: {one_line(name, 120)}"
    facts = trace.library
    library = file_name(facts.path) if facts.path else "a library without a name"
    held = f"{count(facts.documents, 'document')}, {one_line(facts.model, 60) or 'model unknown'}"
    dated = f"{', of ' if not from_file else ', written '}{when}" if when else ""
    texts = (
        ""
        if trace.with_texts
        else " It was saved without texts: in the place of each stands its hash, so what is the same still shows."
    )
    return title, (
        f"From the library “{library}” ({held}){dated}. Shown as it was: nothing about it can be changed, and of its "
        f"documents only the passages in it can be read.{texts}"
    )


def saved_settings_words(trace: Trace) -> str:
    """What a saved run was asked with, in the place where the controls are otherwise."""
    said = [all_settings_words(trace.settings)]
    if trace.only_file is not None:
        said.append(f"Only in: {file_name(trace.only_file)}")
    if trace.left_out:
        said.append(f"Left out: {listed([file_name(each) for each in trace.left_out])}")
    if trace.preferred:
        said.append(f"Cited first: {listed([file_name(each) for each in trace.preferred])}")
    return "Asked with  " + " · ".join(part for part in said if part)
