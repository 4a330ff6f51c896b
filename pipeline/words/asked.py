"""Words for questions that were asked: with which settings, of which documents, what fell where, and sums of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pipeline.findings import Figures, HistoryEntry, SetRow, Value
from pipeline.records import STAGE_NAMES
from pipeline.words.phrases import count, file_name, number
from pipeline.words.sentences import setting_title, setting_value, stage_words


def when_words(asked_at: str) -> str:
    """A moment in the time of this computer, to the minute: "2026-11-30 20:13"."""
    try:
        return f"{datetime.fromisoformat(asked_at).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return asked_at


def settings_words(settings: Mapping[str, Value]) -> str:
    """The settings that were given: "Texts to recall: 40 texts; Policy: Plain top-k"; nothing for defaults alone."""
    return "; ".join(f"{setting_title(key)}: {setting_value(key, value)}" for key, value in settings.items())


def scope_words(only_document: str | None, left_out: Sequence[str], preferred: Sequence[str]) -> str:
    """The documents that were asked: "only in a.md", "2 files left out"; nothing for all of them."""
    parts = []
    if only_document is not None:
        parts.append(f"only in {file_name(only_document)}")
    if left_out:
        named = file_name(left_out[0]) if len(left_out) == 1 else count(len(left_out), "file")
        parts.append(f"{named} left out")
    if preferred:
        named = file_name(preferred[0]) if len(preferred) == 1 else count(len(preferred), "file")
        parts.append(f"{named} preferred")
    return "; ".join(parts)


def asked_words(entry: HistoryEntry) -> str:
    """Settings and scope of an entry in one line."""
    scope = scope_words(entry.only_document, entry.left_out, entry.preferred)
    return "; ".join(filter(None, (settings_words(entry.settings), scope)))


def dropped_words(dropped: Mapping[str, int]) -> str:
    """What stayed behind, stage by stage in their order: "8 collapsed, 3 over the cap"."""
    return ", ".join(
        f"{number(dropped[stage])} {stage_words(stage).dropped}" for stage in STAGE_NAMES if stage in dropped
    )


def time_words(ms: float) -> str:
    """Milliseconds, and seconds where there are many."""
    return f"{ms:,.0f} ms" if ms < 10_000 else f"{ms / 1000:,.1f} s"


def set_sum_words(rows: Sequence[SetRow]) -> str:
    """The foot of a table of answers: totals and means of those that were answered."""
    found = [row.figures for row in rows if row.figures is not None]
    failed = len(rows) - len(found)
    parts = [f"{count(len(found), 'question')} answered"]
    if failed:
        parts.append(f"{number(failed)} failed")
    if found:
        parts.append(f"crowding {_mean(found, 'crowding'):.0%} on average")
        parts.append(
            f"{_mean(found, 'distinct'):,.1f} different texts and {_mean(found, 'cited_files'):,.1f} files each"
        )
        dropped: dict[str, int] = {}
        for figures in found:
            for stage, many in figures.dropped.items():
                dropped[stage] = dropped.get(stage, 0) + many
        if dropped:
            parts.append(f"in all {dropped_words(dropped)}")
        total = sum(figures.ms for figures in found)
        parts.append(f"{time_words(total)} in all, {time_words(total / len(found))} each")
    return " \N{MIDDLE DOT} ".join(parts)


def _mean(found: Sequence[Figures], name: str) -> float:
    return sum(float(getattr(figures, name)) for figures in found) / len(found)
