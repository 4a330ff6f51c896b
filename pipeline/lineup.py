"""Blocks in a line, and what of the settings lets one of them in: worked out from the blocks, without trying."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.findings import Value
from pipeline.records import Location
from pipeline.select.outcome import Block, counted_document
from pipeline.select.pack import LEAST_WORTH_CUTTING
from pipeline.selection import cap_in_force
from pipeline.settings import Settings

Goal = Literal["evidence", "projection"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document, or one passage of it."""

    doc_id: str
    chunk_index: int | None = None

    def is_it(self, place: Location) -> bool:
        return place.doc_id == self.doc_id and self.chunk_index in (None, place.chunk_index)


class Lineup:
    """Blocks in their order under some settings, and where the wanted one stands: `index` among the blocks, `place`
    (from 1) among those that the cap keeps. Only the first that the cap keeps counts: the others stand behind it."""

    def __init__(self, blocks: Sequence[Block], settings: Settings, wanted: Wanted) -> None:
        self.blocks = blocks
        self._settings = settings
        self._documents = [counted_document(block) for block in blocks]
        counts: Counter[str] = Counter()
        self._positions: list[int] = []  # of each block, from 1, among those that count against its document
        for document in self._documents:
            counts[document] += 1
            self._positions.append(counts[document])
        self._targets = [
            index for index, block in enumerate(blocks) if any(wanted.is_it(location) for location in block.citations)
        ]
        self.index: int | None = None
        self.place: int | None = None
        cap = cap_in_force(settings)
        for index in self._targets:
            if not cap or self._positions[index] <= cap:
                self.index, self.place = index, len(self._kept_before(index, cap)) + 1
                break

    def _kept_before(self, index: int, cap: int) -> list[int]:
        """Which of the blocks before it the cap keeps."""
        return [other for other in range(index) if not cap or self._positions[other] <= cap]

    def _chars(self, index: int, most: int) -> int:
        return min(len(self.blocks[index].content), most)

    def _room(self, before: Sequence[int], index: int, most: int) -> int:
        """The characters in all with which it is packed behind these blocks, each of at most `most` characters."""
        own = min(self._chars(index, most), LEAST_WORTH_CUTTING)
        return sum(self._chars(other, most) for other in before) + own

    def _fits(self, index: int, cap: int, goal: Goal) -> bool:
        """Whether it comes in under this cap, given that the cap keeps it."""
        before = self._kept_before(index, cap)
        if goal == "evidence" or len(before) >= self._settings.return_n:
            return len(before) < self._settings.return_n
        room = self._room(before, index, self._settings.max_chars_per_item)
        return len(before) < self._settings.max_items and room <= self._settings.max_total_chars

    def within(self, goal: Goal) -> bool:
        """Whether it comes in under the settings as they are."""
        return self.index is not None and self._fits(self.index, cap_in_force(self._settings), goal)

    def nearest_cap(self, goal: Goal) -> int | None:
        """The cap nearest to the one in force under which it comes in, up or down.

        A block comes in from the cap that keeps it up to the one that keeps too many before it. Of the wanted blocks
        that count against one document, the first comes in wherever another does.
        """
        if self._settings.policy != "evidence":
            return None
        current = cap_in_force(self._settings) or max(len(self.blocks), 1) + 1
        first_of: dict[str, int] = {}
        for index in self._targets:
            first_of.setdefault(self._documents[index], index)
        found: list[int] = []
        for index in first_of.values():
            least = self._positions[index]
            if least > current:
                found += [least] if self._fits(index, least, goal) else []
                continue
            low, high = least - 1, min(current - 1, len(self.blocks))  # low comes in, or is the one below the least
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (middle, high) if self._fits(index, middle, goal) else (low, middle - 1)
            found += [low] if low >= least else []
        return min(found, key=lambda cap: abs(cap - current), default=None)

    def budgets(self) -> Iterator[tuple[str, Value]]:
        """Each budget that lets the agent receive it, given that it is in the evidence."""
        assert self.index is not None
        assert self.place is not None
        settings = self._settings
        before = self._kept_before(self.index, cap_in_force(settings))
        if self.place > settings.max_items:
            yield "max-items", self.place
            return
        yield "max-total-chars", self._room(before, self.index, settings.max_chars_per_item)
        low, high = 0, settings.max_chars_per_item - 1  # of fewer characters each, more blocks fit
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._room(before, self.index, middle) <= settings.max_total_chars
            low, high = (middle, high) if fits else (low, middle - 1)
        if low:
            yield "max-chars-per-item", low

    def needed(self, goal: Goal) -> dict[str, Value] | None:
        """Every setting behind the recall that has to give way for the first wanted block; None without one."""
        if not self._targets:
            return None
        index = self._targets[0]
        cap = cap_in_force(self._settings)
        values: dict[str, Value] = {}
        if cap and self._positions[index] > cap:
            cap = self._positions[index]
            values["max-chunks-per-document"] = cap
        before = self._kept_before(index, cap)
        place = len(before) + 1
        if place > self._settings.return_n:
            values["return-n"] = place
        if goal == "projection":
            if place > self._settings.with_flags(values).max_items:
                values["max-items"] = place
            room = self._room(before, index, self._settings.max_chars_per_item)
            if room > self._settings.max_total_chars:
                values["max-total-chars"] = room
        return values
