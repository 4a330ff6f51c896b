"""Two whole documents side by side: what is common is found by anchors, what differs is told word by word. Qt-free.

Runs of words that stand once in each text anchor the comparison (patience), so that documents of a hundred thousand
words take half a second; white space and line breaks, which change with the format, are no difference. Meant for a
thread.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.words.phrases import count
from pipeline.words.plain import lines_of

MOST_WORDS = 300_000  # of each document; beyond these nothing is compared
_ANCHOR = 3  # words in a row that anchor
_SHORTEST_COMMON = 8  # equal words in a row that are worth a place of their own
_CONTEXT = 10  # equal words that stay in sight beside a difference
_GAP = 100_000_000  # pairs of words between two anchors that are looked at; more are another text altogether
_ROW_WORDS = 160  # words on one row of a run

Kind = Literal["same", "changed", "weighty"]
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Part:
    """A run of one side. `weighty` is a changed word that matters: a number, a date, a name, a negation."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """The next part of both documents. `same` has `words` equal words; its sides differ in white space at most."""

    same: bool
    left: tuple[Part, ...]
    right: tuple[Part, ...]
    words: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both documents from beginning to end, in stretches. `only_left` and `only_right` count words that the other
    does not have at that place; `differences` counts the places."""

    stretches: tuple[Stretch, ...]
    words_left: int
    words_right: int
    only_left: int
    only_right: int
    differences: int
    whole: bool = True

    @property
    def sentence(self) -> str:
        """The outcome for people."""
        if not self.words_left and not self.words_right:
            return "Neither of them holds text."
        if not self.differences:
            said = "The same words from beginning to end."
        else:
            parts = []
            if self.only_left:
                parts.append(f"{count(self.only_left, 'word')} only on the left")
            if self.only_right:
                parts.append(f"{count(self.only_right, 'word')} only on the right")
            said = f"{count(self.differences, 'difference')}: {', '.join(parts)}."
        if not self.whole:
            said += f" Only the first {count(MOST_WORDS, 'word')} of each were compared."
        return said


def compare_documents(left: str, right: str, weighty: Callable[[str], bool], check: Callable[[], None]) -> Comparison:
    """What differs between two documents. `weighty` says whether a changed word matters; `check` is called between
    small steps and may raise to end the work."""
    ours, theirs = _Side(left), _Side(right)
    known: dict[str, bool] = {}  # the same words come again and again

    def matters(word: str) -> bool:
        if word not in known:
            known[word] = weighty(word)
        return known[word]

    stretches: list[Stretch] = []
    only_left = only_right = differences = 0
    for run in _runs(_matches(ours.keys, theirs.keys, check), len(ours.keys), len(theirs.keys)):
        if isinstance(run, _Common):
            mine, other = ours.text(run.first, run.last), theirs.text(run.start, run.start + run.last - run.first)
            stretches.append(Stretch(True, (Part("same", mine),), (Part("same", other),), run.last - run.first))
            continue
        check()
        left_parts, right_parts = _Parts(ours, matters), _Parts(theirs, matters)
        at, there = run.first, run.start
        for first, start, length in (*run.inside, (run.last, run.end, 0)):
            only_left += first - at
            only_right += start - there
            left_parts.add(at, first, length)
            right_parts.add(there, start, length)
            at, there = first + length, start + length
        differences += 1
        words = max(run.last - run.first, run.end - run.start)
        stretches.append(Stretch(False, left_parts.made(), right_parts.made(), words))
    return Comparison(
        tuple(_with_context(stretches)),
        len(ours.keys),
        len(theirs.keys),
        only_left,
        only_right,
        differences,
        ours.whole and theirs.whole,
    )


@dataclass(frozen=True, slots=True)
class _Common:
    """Words `first` to `last` on the left are those from `start` on on the right."""

    first: int
    last: int
    start: int


@dataclass(frozen=True, slots=True)
class _Differing:
    """Words `first` to `last` on the left stand where `start` to `end` stand on the right; `inside` are the short runs
    of equal words among them."""

    first: int
    last: int
    start: int
    end: int
    inside: tuple[tuple[int, int, int], ...]


class _Side:
    """One document in words."""

    def __init__(self, text: str) -> None:
        self._text = text
        spans = []
        for match in _WORD.finditer(text):
            if len(spans) > MOST_WORDS:
                break
            spans.append(match.span())
        self.whole = len(spans) <= MOST_WORDS
        self._spans = spans[:MOST_WORDS]
        plain = text.isascii()
        self.keys = [
            text[start:end] if plain else unicodedata.normalize("NFC", text[start:end]) for start, end in self._spans
        ]

    def text(self, first: int, last: int) -> str:
        """Words `first` to `last`, with the white space behind each but the last of the document."""
        if first >= last:
            return ""
        end = self._spans[last][0] if last < len(self._spans) else self._spans[last - 1][1]
        return self._text[self._spans[first][0] : end]


class _Parts:
    """One side of a difference in the making."""

    def __init__(self, side: _Side, weighty: Callable[[str], bool]) -> None:
        self._side, self._weighty = side, weighty
        self._parts: list[Part] = []
        self._kind: Kind = "same"
        self._texts: list[str] = []
        self._space = ""  # behind the last word: marked only where what follows is marked alike

    def add(self, first: int, last: int, same: int) -> None:
        """Words `first` to `last` differ, `same` words behind them do not."""
        for at in range(first, last):
            kind: Kind = "weighty" if self._weighty(self._side.keys[at]) else "changed"
            self._put(kind, self._side.text(at, at + 1))
        if same:
            self._put("same", self._side.text(last, last + same))

    def _put(self, kind: Kind, text: str) -> None:
        body = text.rstrip()
        if kind == self._kind and kind != "weighty":
            self._texts += (self._space, body)
        elif self._kind == "same":
            self._texts.append(self._space)
            self._begin(kind, body)
        elif kind == "same":
            self._begin(kind, self._space + body)
        else:
            self._begin("same", self._space)
            self._begin(kind, body)
        self._space = text[len(body) :]

    def _begin(self, kind: Kind, text: str) -> None:
        whole = "".join(self._texts)
        if whole:
            self._parts.append(Part(self._kind, whole))
        self._kind, self._texts = kind, [text]

    def made(self) -> tuple[Part, ...]:
        if self._kind == "same":
            self._texts.append(self._space)
            self._begin("same", "")
        else:
            self._begin("same", self._space)
            self._begin("same", "")
        return tuple(self._parts)


def _runs(matches: Sequence[tuple[int, int, int]], ours: int, theirs: int) -> Iterator[_Common | _Differing]:
    """What is common and what differs, from the beginning to the end of both. A few equal words between two
    differences belong to them: alone they say nothing."""
    first, start = 0, 0  # where the difference under way began
    inside: list[tuple[int, int, int]] = []
    for at, there, length in (*matches, (ours, theirs, 0)):
        differs = at > first or there > start
        if length and length < _SHORTEST_COMMON and differs and at + length < ours and there + length < theirs:
            inside.append((at, there, length))
            continue
        if differs:
            yield _Differing(first, at, start, there, tuple(inside))
        inside = []
        if length:
            yield _Common(at, at + length, there)
        first, start = at + length, there + length


def _matches(ours: list[str], theirs: list[str], check: Callable[[], None]) -> list[tuple[int, int, int]]:
    """(first, start, length) of runs of equal words, in order, neighbours joined."""
    found: list[list[int]] = []

    def add(first: int, start: int, length: int) -> None:
        if found and found[-1][0] + found[-1][2] == first and found[-1][1] + found[-1][2] == start:
            found[-1][2] += length
        elif length:
            found.append([first, start, length])

    head = 0
    shorter = min(len(ours), len(theirs))
    while head < shorter and ours[head] == theirs[head]:
        head += 1
    tail = 0
    while tail < shorter - head and ours[-1 - tail] == theirs[-1 - tail]:
        tail += 1
    add(0, 0, head)
    at, other = head, head
    last, end = len(ours) - tail, len(theirs) - tail
    for first, start in [*_anchors(ours, theirs, head, last, end), (last, end)]:
        if first < at or start < other:  # inside a run that an earlier anchor grew to
            continue
        check()
        while first > at and start > other and ours[first - 1] == theirs[start - 1]:
            first, start = first - 1, start - 1
        for mine, their, length in _between(ours, theirs, (at, first), (other, start)):
            add(mine, their, length)
        length = 0
        while first + length < last and start + length < end and ours[first + length] == theirs[start + length]:
            length += 1
        add(first, start, length)
        at, other = first + length, start + length
    add(last, end, tail)
    return [(first, start, length) for first, start, length in found]


def _anchors(ours: list[str], theirs: list[str], head: int, last: int, end: int) -> list[tuple[int, int]]:
    """Pairs of places where words stand that stand once in each, in the longest order common to both."""
    mine, other = _unique(ours, head, last), _unique(theirs, head, end)
    pairs = sorted((place, other[words]) for words, place in mine.items() if words in other)
    # The longest rising row of the second places (patience sorting).
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(place)
            piles.append(number)
        else:
            tops[pile], piles[pile] = place, number
    chain: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _unique(words: list[str], first: int, last: int) -> dict[tuple[str, ...], int]:
    places: dict[tuple[str, ...], int] = {}
    for at in range(first, last - _ANCHOR + 1):
        run = tuple(words[at : at + _ANCHOR])
        places[run] = -1 if run in places else at
    return {run: at for run, at in places.items() if at >= 0}


def _between(
    ours: list[str], theirs: list[str], mine: tuple[int, int], other: tuple[int, int]
) -> Iterator[tuple[int, int, int]]:
    """Runs of equal words between two anchors."""
    from rapidfuzz.distance import Indel  # once, when it is asked for

    (first, last), (start, end) = mine, other
    if first == last or start == end or (last - first) * (end - start) > _GAP:
        return
    for found in Indel.opcodes(ours[first:last], theirs[start:end]):
        if found.tag == "equal":
            yield first + found.src_start, start + found.dest_start, found.src_end - found.src_start


def _with_context(stretches: list[Stretch]) -> Iterator[Stretch]:
    """A few of the common words move over to the differences beside them, so that each stands in its sentence."""
    kept: list[Stretch] = list(stretches)
    for at, stretch in enumerate(kept):
        if not stretch.same:
            continue
        before = kept[at - 1] if at else None
        behind = kept[at + 1] if at + 1 < len(kept) else None
        lead = _CONTEXT if before is not None and not before.same else 0
        trail = _CONTEXT if behind is not None and not behind.same else 0
        if stretch.words <= lead + trail + _SHORTEST_COMMON:
            lead, trail = (stretch.words, 0) if lead else (0, stretch.words if trail else 0)
        left, right = _cut(stretch.left[0].text, lead, trail), _cut(stretch.right[0].text, lead, trail)
        if before is not None and lead:
            kept[at - 1] = _joined(before, (left[0], right[0]), behind=True)
        if behind is not None and trail:
            kept[at + 1] = _joined(behind, (left[2], right[2]), behind=False)
        words = stretch.words - lead - trail
        kept[at] = Stretch(True, (Part("same", left[1]),), (Part("same", right[1]),), words)
    yield from (stretch for stretch in kept if not stretch.same or stretch.words > 0)


def _cut(text: str, lead: int, trail: int) -> tuple[str, str, str]:
    """The first `lead` words, what lies between, the last `trail` words."""
    spans = [match.span() for match in _WORD.finditer(text)]
    first = spans[lead][0] if lead < len(spans) else len(text)
    last = spans[len(spans) - trail][0] if trail else len(text)
    return text[:first], text[first : max(first, last)], text[max(first, last) :]


def _joined(stretch: Stretch, texts: tuple[str, str], *, behind: bool) -> Stretch:
    sides = []
    for parts, text in zip((stretch.left, stretch.right), texts, strict=True):
        more = (Part("same", text),) if text else ()
        sides.append((*parts, *more) if behind else (*more, *parts))
    return Stretch(False, sides[0], sides[1], stretch.words)


def in_rows(parts: Sequence[Part], words: int = _ROW_WORDS) -> Iterator[tuple[Part, ...]]:
    """One side in rows of at most so many words, safe to show, so that no row is endless. Made as they are asked for:
    a difference may be as long as a document."""
    row: list[Part] = []
    room = words
    for part in parts:
        at = 0
        while at < len(part.text):
            end = _end_of(part.text, at, room)
            text = part.text[at:end]
            row.append(Part(part.kind, lines_of(text, len(text))))
            room -= len(text.split())
            at = end
            if room <= 0:
                yield tuple(row)
                row, room = [], words
    if row:
        yield tuple(row)


def _end_of(text: str, at: int, words: int) -> int:
    """Where the first `words` words from `at` on end, with the white space behind them; at most 4,000 characters on."""
    last = min(len(text), at + 4_000)
    for number, match in enumerate(_WORD.finditer(text, at, last)):
        if number >= words:
            return match.start()
    return last
