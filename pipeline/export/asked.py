"""The history of a library as a table for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.export.table import Cell, csv_text
from pipeline.findings import HistoryEntry
from pipeline.records import STAGE_NAMES
from pipeline.words.asked import settings_words

_COLUMNS = (
    "asked_at", "question", "pinned", "times", "settings", "only_document", "left_out", "preferred", "generation",
    "crowding", "distinct", "cited_files", "returned", "items", "ms",
)  # fmt: skip


def history_csv(entries: Iterable[HistoryEntry]) -> str:
    """One line an entry, in the order given: what was asked, of what, and the figures, `dropped_<stage>` for every
    stage."""
    return csv_text([*_COLUMNS, *(f"dropped_{stage}" for stage in STAGE_NAMES)], map(_cells, entries))


def _cells(entry: HistoryEntry) -> list[Cell]:
    figures = entry.figures
    cells: list[Cell] = [
        entry.asked_at,
        entry.text,
        entry.pinned,
        entry.times,
        settings_words(entry.settings),
        entry.only_document,
        "\n".join(entry.left_out),
        "\n".join(entry.preferred),
        entry.generation,
        figures.crowding,
        figures.distinct,
        figures.cited_files,
        figures.returned,
        figures.items,
        figures.ms,
    ]
    return [*cells, *(figures.dropped.get(stage, 0) for stage in STAGE_NAMES)]
