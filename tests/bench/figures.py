"""What a benchmark hands back: one row a figure, beside its baseline and its target; and the table of them all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure has to reach: its value, or its ratio to the baseline."""

    of: Literal["value", "ratio"]
    bound: Literal["at most", "at least"]
    limit: float

    def __str__(self) -> str:
        return f"{self.bound} {self.limit:g}{'x' if self.of == 'ratio' else ''}"

    def met_by(self, measured: float) -> bool:
        return measured <= self.limit if self.bound == "at most" else measured >= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `against` says what the baseline is; `bound` is what no program on this machine can beat, `bound_is`
    says of what; a row without a target is information."""

    bench: str
    name: str
    value: float
    unit: str
    baseline: float | None = None
    against: str = ""
    target: Target | None = None
    bound: float | None = None
    bound_is: str = ""

    @property
    def ratio(self) -> float | None:
        """The value as a multiple of the baseline."""
        return None if not self.baseline else self.value / self.baseline

    @property
    def met(self) -> bool | None:
        """None where there is no target."""
        if self.target is None:
            return None
        measured = self.value if self.target.of == "value" else self.ratio
        return measured is not None and self.target.met_by(measured)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "ratio": self.ratio,
            "target": None if self.target is None else str(self.target),
            "met": self.met,
        }


def alternating(runs: int, *sides: Callable[[int], float]) -> list[float]:
    """The median of each side's figures over `runs` rounds. In a round each side runs once, in turns the other way
    round, so that what else the machine does falls on all of them."""
    found: list[list[float]] = [[] for _ in sides]
    for number in range(runs):
        order = range(len(sides)) if number % 2 == 0 else reversed(range(len(sides)))
        for side in order:
            found[side].append(sides[side](number))
    return [statistics.median(figures) for figures in found]


_HEADS = ("figure", "twinspect", "baseline", "ratio", "bound", "target", "met", "baseline is", "bound is")


def table(rows: Sequence[Row]) -> str:
    """All rows as text, grouped by benchmark."""
    cells = [_cells(row) for row in rows]
    widths = [max(len(line[column]) for line in (_HEADS, *cells)) for column in range(len(_HEADS))]
    lines = [_line(_HEADS, widths), "  ".join("-" * width for width in widths)]
    bench = None
    for row, line in zip(rows, cells, strict=True):
        if row.bench != bench:
            bench = row.bench
            lines.append(f"[{bench}]")
        lines.append(_line(line, widths))
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        f"{_number(row.value)} {row.unit}".rstrip(),
        "" if row.baseline is None else f"{_number(row.baseline)} {row.unit}".rstrip(),
        "" if row.ratio is None else f"{row.ratio:.2f}x",
        "" if row.bound is None else f"{_number(row.bound)} {row.unit}".rstrip(),
        "" if row.target is None else str(row.target),
        {None: "", True: "yes", False: "NO"}[row.met],
        row.against,
        row.bound_is,
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    right = (1, 2, 3, 4)
    return "  ".join(
        cell.rjust(width) if column in right else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ).rstrip()


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
