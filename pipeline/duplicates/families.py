"""Which texts belong together, and which of them is the head: stars, never chains.

Everything here goes by the number of a text (documents with equal fold keys are one text). A family is a head and the
texts that are tied to it, each by its own relation; two texts that are tied to a third one only are not tied.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.duplicates.join import MOST_HOLDERS, Pairs
from pipeline.duplicates.sets import Numbers


@dataclass(frozen=True, slots=True)
class Tie:
    """How a text is tied to another one: the shares of shingles (0..1) that stand in the other, each way, and their
    Jaccard index."""

    in_other: float
    other_in: float
    similarity: float

    def turned(self) -> Tie:
        return Tie(self.other_in, self.in_other, self.similarity)


@dataclass(frozen=True, slots=True)
class Ties:
    """All ties that count under two thresholds. `near[a][b]` and `within[a][b]` hold the tie of a to b; `near` is
    there both ways, `within` from the smaller one to the larger one alone, where they are not near."""

    near: Mapping[int, Mapping[int, Tie]]
    within: Mapping[int, Mapping[int, Tie]]

    def between(self, text: int, head: int) -> Tie | None:
        """The tie of a text to a head; None where there is none."""
        tie = self.near.get(text, {}).get(head) or self.within.get(text, {}).get(head)
        if tie is None and (turned := self.within.get(head, {}).get(text)) is not None:
            tie = turned.turned()
        return tie


@dataclass(frozen=True, slots=True)
class Star:
    """A head and what is tied to it, in the order in which it was found."""

    head: int
    tied: tuple[int, ...]


def ties_of(pairs: Pairs, sizes: Numbers, near: float, contained: float, allowed: Callable[[int, int], bool]) -> Ties:
    """The ties among these pairs: near from a similarity of `near` on, contained from that share of the smaller one on.
    `allowed` says of a pair whether it may be tied at all."""
    smalls, larges = sizes[pairs.small], sizes[pairs.large]
    similarity = pairs.shared / np.maximum(smalls + larges - pairs.shared, 1)
    in_large = pairs.shared / np.maximum(smalls, 1)
    is_near = similarity >= near - 1e-9
    chosen = np.flatnonzero(is_near | (in_large >= contained - 1e-9))
    found_near: dict[int, dict[int, Tie]] = {}
    found_within: dict[int, dict[int, Tie]] = {}
    for number in chosen.tolist():
        small, large = int(pairs.small[number]), int(pairs.large[number])
        if not allowed(small, large):
            continue
        tie = Tie(
            round(float(in_large[number]), 4),
            round(float(pairs.shared[number] / larges[number]), 4),
            round(float(similarity[number]), 4),
        )
        if is_near[number]:
            found_near.setdefault(small, {})[large] = tie
            found_near.setdefault(large, {})[small] = tie.turned()
        else:
            found_within.setdefault(small, {})[large] = tie
    return Ties(found_near, found_within)


def stars(
    ties: Ties, order: Sequence[int], sizes: Numbers, preferred: frozenset[int], largest_first: bool
) -> list[Star]:
    """The families of texts. `order` holds all texts, the best head first, preferred ones before all others.

    Near ones first: the best head takes all that are near to it, and those that stand in it and are near to what it
    took (earlier versions that were much shorter); the next best of the rest does the same. What is left joins what it
    stands in, the largest first. A text that holds a family's head and nothing else joins that family; with
    `largest_first` it becomes its head where every member is tied to it.
    """
    holding = _holding(ties)
    tied: dict[int, list[int]] = {}
    taken: set[int] = set()
    for head in order:
        if head in taken or head not in ties.near:
            continue
        head = _most_tied(ties, head, preferred, taken)
        free = {text for text in ties.near[head] if text not in taken}
        if free:
            parts = [text for text in holding.get(head, ()) if text not in taken]
            while more := {text for text in parts if text not in free and not free.isdisjoint(ties.near.get(text, ()))}:
                free |= more
            tied[head] = sorted(free)
            taken.update(free, [head])
    _join_containers(holding, order, sizes, preferred, tied, taken)
    _add_containers(ties, order, preferred, largest_first, tied, taken)
    return [Star(head, tuple(texts)) for head, texts in tied.items()]


def _most_tied(ties: Ties, head: int, preferred: frozenset[int], taken: Collection[int]) -> int:
    """The head, but for families of more texts than are all looked up with each other: there another text of it, to
    which many more are tied."""
    near = [text for text in ties.near[head] if text not in taken and len(ties.near[text]) >= MOST_HOLDERS]
    if not near or head in preferred:
        return head
    most = max(near, key=lambda text: (len(ties.near[text]), -text))
    return most if len(ties.near[most]) > 2 * len(ties.near[head]) else head


def _holding(ties: Ties) -> dict[int, list[int]]:
    """Each text that others stand in, with those, by number."""
    holding: dict[int, list[int]] = {}
    for text in sorted(ties.within):
        for container in ties.within[text]:
            holding.setdefault(container, []).append(text)
    return holding


def _join_containers(
    holding: Mapping[int, Sequence[int]],
    order: Sequence[int],
    sizes: Numbers,
    preferred: frozenset[int],
    tied: dict[int, list[int]],
    taken: set[int],
) -> None:
    """Texts in no family join what they stand in: a head, or a text in no family that so becomes one."""
    place = {text: number for number, text in enumerate(order)}
    for container in sorted(holding, key=lambda text: (-int(sizes[text]), place[text])):
        if container in taken and container not in tied:
            continue
        free = [text for text in holding[container] if text not in taken]
        if not free:
            continue
        if container not in taken and len(free) == 1 and free[0] in preferred and container not in preferred:
            tied[free[0]] = [container]
        else:
            tied.setdefault(container, []).extend(free)
        taken.update(free, [container])


def _add_containers(
    ties: Ties,
    order: Sequence[int],
    preferred: frozenset[int],
    largest_first: bool,
    tied: dict[int, list[int]],
    taken: set[int],
) -> None:
    """Texts in no family that hold a head join its family."""
    for head in [text for text in order if text in tied]:
        for container in sorted(ties.within.get(head, {})):
            if container in taken or ties.between(container, head) is None:
                continue
            taken.add(container)
            texts = tied[head]
            replaces = (largest_first and head not in preferred) or container in preferred
            if replaces and all(ties.between(text, container) for text in texts):
                del tied[head]
                tied[container] = [*texts, head]
                head = container
            else:
                texts.append(container)
