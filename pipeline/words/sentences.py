"""What the records mean, in sentences for people: fates, stages, settings, files, the shortfall. Free of Qt."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.records import Budget, Evidence, Freshness, IndexUse, Remedy, Shortfall, StageCount, Trace
from pipeline.words.fates import (
    TraceWording,
    cut_words,
    fallen_sentence,
    fate_remedy,
    fate_sentence,
    fate_title,
)
from pipeline.words.phrases import count, file_name, isolated, listed, number, ordinal, pages
from pipeline.words.plain import one_line

__all__ = [
    "StageWords",
    "TraceWording",
    "budget_sentence",
    "cites_words",
    "count",
    "cut_words",
    "fallen_sentence",
    "fate_remedy",
    "fate_sentence",
    "fate_title",
    "file_name",
    "freshness_mark",
    "freshness_sentence",
    "index_sentence",
    "isolated",
    "listed",
    "moved_words",
    "nothing_found_words",
    "number",
    "ordinal",
    "pages",
    "policy_sentence",
    "policy_title",
    "remedy_label",
    "round_sentence",
    "saves_words",
    "setting_title",
    "setting_unit",
    "setting_value",
    "shortfall_sentence",
    "stage_lit_words",
    "stage_sentence",
    "stage_title",
    "stage_words",
]

# --- stages ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StageWords:
    """A stage's name, what its survivors and its dropped rows are called after their number, and what it is for."""

    title: str
    left: str
    dropped: str
    sentence: str


_STAGES: dict[str, StageWords] = {
    "identity": StageWords(
        "Identify",
        "known",
        "unknown",
        "Every row found is matched with the file and the place that it comes from.",
    ),
    "left_out": StageWords("Serve", "served", "left out", "Rows of files that are left out of the search go."),
    "merge": StageWords("Merge", "after merging", "came twice", "The same chunk found twice becomes one row."),
    "width": StageWords(
        "Width",
        "needed",
        "not needed",
        "Only as many different texts as were asked for go on; the rest came with the widening.",
    ),
    "collapse": StageWords(
        "Fold copies", "distinct", "copies", "Copies of the same text become one block that cites every file."
    ),
    "near": StageWords(
        "Fold near copies",
        "after near copies",
        "near copies",
        "Texts that are almost the same become one block. Off unless asked for.",
    ),
    "source": StageWords(
        "One a file", "one a file", "same file", "The legacy rule: one block a file, whatever else the file says."
    ),
    "cap": StageWords(
        "Cap",
        "within cap",
        "over the cap",
        "No file may take more than its share of blocks, so that one file cannot fill the answer.",
    ),
    "return": StageWords("Return", "returned", "not returned", "The best blocks are the answer; the rest stay behind."),
    "project": StageWords(
        "Shape", "shaped", "came twice", "Every block takes the shape in which the agent receives it, each one once."
    ),
    "pack": StageWords(
        "Pack",
        "projected",
        "over budget",
        "What fits the agent's budget of blocks and characters is handed over, in order.",
    ),
}


def index_sentence(use: IndexUse | None) -> str:
    """Which index answered, and whether it missed nothing; "" where that is not known."""
    if use is None:
        return ""
    how = {
        "flat": f"{count(use.vectors, 'text')} searched, each compared with the question.",
        "8-bit scan": f"{count(use.vectors, 'text')} searched by a scan of 8-bit vectors, ranked by the exact ones.",
    }.get(use.kind, f"{count(use.vectors, 'text')} searched by {one_line(use.kind, 40)}.")
    return f"{how} " + ("The result is exact." if use.exact else "The result is approximate.")


def stage_words(name: str) -> StageWords:
    """All the words for a stage."""
    plain = name.replace("_", " ")
    return _STAGES.get(name) or StageWords(plain.capitalize(), plain, "dropped", "")


def stage_title(name: str) -> str:
    """A stage's name for people."""
    return stage_words(name).title


def stage_sentence(name: str, stage: StageCount | None = None) -> str:
    """What a stage is for, and with its counts what it did this time."""
    words = stage_words(name)
    if stage is None:
        return words.sentence
    if stage.status == "skipped":
        return f"{words.sentence} Skipped this time: all {number(stage.entered)} went on."
    if not stage.dropped:
        return f"{words.sentence} All {number(stage.entered)} went on."
    return (
        f"{words.sentence} {number(stage.entered)} came in, {number(stage.left)} went on, "
        f"{number(stage.dropped)} stayed behind ({words.dropped})."
    )


# --- settings ----------------------------------------------------------------------------------------------------

_SETTINGS: dict[str, tuple[str, str, str]] = {  # key -> title, unit for one, unit for many
    "retrieve-k": ("Texts to recall", "text", "texts"),
    "return-n": ("Blocks to return", "block", "blocks"),
    "top-k": ("Both at once (legacy top-k)", "text", "texts"),
    "max-chunks-per-document": ("Cap per file", "block a file", "blocks a file"),
    "policy": ("Policy", "", ""),
    "max-items": ("Blocks for the agent", "block", "blocks"),
    "max-chars-per-item": ("Characters in one block", "character", "characters"),
    "max-total-chars": ("Characters in all", "character", "characters"),
    "serve-stale": ("Serve files whose re-indexing failed", "", ""),
    "near-threshold": ("Near twins from", "of the wording", "of the wording"),
    "fold-near": ("Fold near twins too", "", ""),
}
_POLICIES: dict[str, tuple[str, str]] = {
    "plain": ("Plain top-k", "The best raw rows as they come, copies and all."),
    "source": ("One block a file (legacy)", "The best row of every file; whatever else a file says is lost."),
    "evidence": ("Evidence", "Copies become one block that cites every file; no file fills the answer alone."),
}


def setting_title(key: str) -> str:
    """A setting's name for people."""
    return _SETTINGS[key][0] if key in _SETTINGS else key.replace("-", " ").capitalize()


def setting_unit(key: str, value: object = 2) -> str:
    """What a setting counts: "blocks", "characters"; empty for words and switches."""
    _, one, many = _SETTINGS.get(key, ("", "", ""))
    return one if value == 1 else many


def setting_value(key: str, value: object) -> str:
    """A value with its unit: "20 texts", "no cap", "on"."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "not set"
    if key == "max-chunks-per-document" and value == 0:
        return "no cap"
    if key == "policy":
        return policy_title(str(value))
    if key == "near-threshold" and isinstance(value, float):
        return f"{value:.0%} {setting_unit(key)}"
    if isinstance(value, (int, float)):
        return f"{number(value)} {setting_unit(key, value)}".strip()
    return str(value)


def policy_title(policy: str) -> str:
    return _POLICIES[policy][0] if policy in _POLICIES else policy


def policy_sentence(policy: str) -> str:
    return _POLICIES[policy][1] if policy in _POLICIES else ""


def remedy_label(remedy: Remedy) -> str:
    """What a click on a remedy does, as on a button."""
    value = number(remedy.value)
    match remedy.setting:
        case "max-chunks-per-document":
            return "Lift the cap" if remedy.value == 0 else f"Raise the cap to {value} a file"
        case "retrieve-k":
            return f"Recall {value} texts"
        case "return-n":
            return f"Return {count(remedy.value, 'block')}"
        case "max-items":
            return f"Give the agent {count(remedy.value, 'block')}"
        case "max-chars-per-item":
            return f"Allow {value} characters a block"
        case "max-total-chars":
            return f"Allow {value} characters in all"
    return f"Set {setting_title(remedy.setting).lower()} to {value}"


# --- files and the answer as a whole -------------------------------------------------------------------------------

_FRESHNESS: dict[str, tuple[str, str]] = {
    "fresh": ("", "The file is as it was when it was indexed."),
    "changed": ("changed", "The file has changed since it was indexed; the text shown is the indexed one."),
    "missing": ("missing", "The file is no longer where it was indexed."),
    "failed": ("not readable", "The file's last indexing failed; the text shown is from the one before."),
}


def freshness_mark(freshness: Freshness | None) -> str:
    """A word for a file that is not as it was indexed; nothing for a fresh one."""
    return _FRESHNESS.get(freshness or "fresh", ("", ""))[0]


def freshness_sentence(freshness: Freshness | None) -> str:
    return _FRESHNESS.get(freshness or "", ("", ""))[1]


def shortfall_sentence(shortfall: Shortfall) -> str:
    """Why there are fewer blocks than asked for."""
    lead = f"{number(shortfall.got)} of {count(shortfall.wanted, 'block')}"
    reason = one_line(shortfall.reason.strip())
    return f"{lead}: {reason[0].lower() + reason[1:] if reason[:2].istitle() else reason}" if reason else lead


def budget_sentence(budget: Budget) -> str:
    """How full the agent's budget is."""
    tokens = f" · {count(budget.tokens, 'token')}" if budget.tokens is not None else ""
    return f"{number(budget.chars)} of {count(budget.max_total_chars, 'character')}{tokens}"


def cites_words(block: Evidence) -> str:
    """ "cites 3 files", "cites 1 file in 2 places"."""
    files = len(set(block.source_paths)) or len({place.path for place in block.citations}) or 1
    places = len(block.citations)
    return f"cites {count(files, 'file')}" + (f" in {number(places)} places" if places > files else "")


def saves_words(block: Evidence) -> str:
    """ "saves 5 places": raw rows that would have said the same; nothing where it saves none."""
    return f"saves {count(block.places - 1, 'place')}" if block.places > 1 else ""


def round_sentence(copies: int, left_out: int) -> str:
    """Why the search was widened, above the rows that the widening brought."""
    parts = []
    if copies:
        parts.append(f"copies took {count(copies, 'place')}")
    if left_out:
        parts.append(f"files left out took {count(left_out, 'place')}")
    return f"fetched because {' and '.join(parts)}" if parts else "fetched by widening the search"


def decisions_sentence(left_out: int, preferred: int) -> str:
    """What decisions about duplicates did to a search, without a full stop."""
    parts = [f"{count(left_out, 'file')} left out"] if left_out else []
    if preferred:
        parts.append(f"{count(preferred, 'file')} cited before {'its' if preferred == 1 else 'their'} copies")
    return f"by decision: {' and '.join(parts)}"


def nothing_found_words(trace: Trace) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str]]:
    """What stands in each lane when the search found no row at all: a title and a sentence."""
    if trace.only_file is not None:
        why = f"Only {file_name(trace.only_file)} was searched. Search all files again to find more."
    elif trace.left_out and set(trace.left_out) == set(trace.left_out_decided):
        why = f"{count(len(trace.left_out), 'file')} left out of every search by decision. Take one back in Duplicates."
    elif trace.left_out:
        why = f"{count(len(trace.left_out), 'file')} left out of this search. Take one back in, or add a folder."
    elif not trace.library.chunks:
        why = "The library holds no text yet. Add a folder that holds some."
    else:
        why = "The library has no text that comes near this question."
    return (
        ("Nothing found", why),
        ("No evidence", "There are no rows to make it of."),
        ("The agent reads nothing", "It would have to answer without your documents."),
    )


def stage_lit_words(stage: str, rows: int) -> str:
    """What is lit while a stage of the strip is chosen."""
    if stage == "fetched":
        return f"lit: {count(rows, 'row')} that only widening brought" if rows else "no row came with widening"
    words = stage_words(stage)
    return f"lit: {count(rows, 'row')} {words.dropped}" if rows else f"no row {words.dropped}"


def moved_words(now: int, before: int | None) -> str:
    """How a rank compares with the run before, in words."""
    if before is None:
        return "new: not there in the run before"
    if before == now:
        return "same place as in the run before"
    return f"{'up' if before > now else 'down'} from {number(before)} in the run before"
