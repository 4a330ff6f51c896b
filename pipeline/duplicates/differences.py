"""What differs between two texts, and whether it matters.

A changed amount or an inserted "not" leaves two texts almost equal by every measure, and is the one thing that
matters. So the words of both are lined up, with the signs that mean something, and whatever stands on one side alone
matters: as a number, a date, a name, a negation, or as any other word. What does not: white space, case, punctuation
between words, articles, "and", and spellings of one word known to be the same. In doubt a word matters: a wrong one
costs a look, a missed one a document.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise, zip_longest

from pipeline.duplicates.records import Weighty, WeightyKind
from pipeline.duplicates.shingles import INVISIBLE
from pipeline.duplicates.weights import HARMLESS, KINDS, fold, kind_of, opposite, spelt

_RUN = 8  # words: a run of that length that both have is the same passage in another place, or a passage of its own
_SMALL = 2_500  # pairs of words that are lined up one by one
_MIDDLING = 1_000_000  # that are, where the texts have no run of words in common to go by

_SPACELESS = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
_LETTER = rf"(?:(?!{_SPACELESS})[\w\u0300-\u036f])"
# Between words these mean nothing that one could go by; marks and what is invisible are no signs.
_PLAIN_SIGNS = (
    r""".,;:!'"*`\#|\\\-\u0300-\u036f\u00ad\u200b-\u200f\u2010-\u201f\u2022\u2026\u2060\ufe0f\ufeff\u00ab\u00b7\u00bb"""
    r"\u3001\u3002\uff0c\u2212"
)
_TOKEN = re.compile(
    rf"""
    (?P<rule>^[ \t]*(?P<stroke>[-=~^*_+\#])(?:[ \t]?(?P=stroke)){{2,}}[ \t]*$)  # a line across
    | (?P<box>\[[ xX\u2713]\])  # ticked or not
    | (?<![\w.,])[-+\u2212]?[$\u00a3\u00a5\u20ac]?\d+(?:[.,:/'\u2019\u2212-]\d+)*(?![\w@])[%\u20ac]?  # a number, a date
    | (?=[\w:-]*[@._/\\:]+[\w]){_LETTER}+(?:[-@._/\\:?&=%~+\#]+{_LETTER}+)+  # an address, a path, a name in code
    | {_SPACELESS}  # written without spaces: each is a word
    | {_LETTER}+(?:['\u2019]{_LETTER}+)*  # a word, with what is clipped
    | [-\u2212\u2013](?=\s?[$\u00a3\u00a5\u20ac]?\d)  # a sign before a number
    | (?<![\w-])--?[A-Za-z][\w-]*  # an option of a command
    | !(?=[\w(=])=*  # what denies in code
    | [<>=]=+ | ~~ | &&? | \|\|
    | (?![{_PLAIN_SIGNS}])[^\w\s]  # another sign
    """,
    re.VERBOSE | re.MULTILINE,
)
_SENTENCE_ENDS = re.compile(r"[.!?:;\u2026\u3002]['\")\]\u201d\u2019*_]*\s|\n|[|>#*\u2022]\s*$")
_PASSAGE_ENDS = re.compile(r"[.!?\u2026\u3002]['\")\]\u201d\u2019*_]*\s|\n[ \t]*\n")


_INDENTED = (
    ".py", ".pyi", ".pyx", ".yml", ".yaml", ".mk", ".mak", ".nim", ".coffee", ".sass", ".styl", ".haml", ".pug",
    ".slim", ".hs", ".fs", ".fsx", ".f", ".for", ".cob", ".cbl", ".rst",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Words:
    """A text as words: `as_written`, and `folded` for comparing. `starts` says which begin a sentence or a line,
    `breaks` which begin a sentence or a paragraph."""

    as_written: tuple[str, ...]
    folded: tuple[str, ...]
    starts: frozenset[int]
    breaks: frozenset[int]


def weighty_between(head: str, member: str, *, part: bool = False) -> tuple[Weighty, ...]:
    """What matters and differs, in the order of the head: numbers, dates, names and negations, then other words. With
    `part`, the member is a part of the head: what the head has more, in passages of its own, is no difference; what was
    changed within the common text is."""
    return weighty_among(words_of(head), words_of(member), part=part)


def weighty_among(one: Words, other: Words, *, part: bool = False) -> tuple[Weighty, ...]:
    """As `weighty_between`, of texts that were taken apart before."""
    if one.folded == other.folded:
        return ()
    gaps = list(_gaps(one.folded, other.folded))
    moved_one = _elsewhere(one, [gap[:2] for gap in gaps], other.folded, [gap[2:] for gap in gaps])
    moved_other = _elsewhere(other, [gap[2:] for gap in gaps], one.folded, [gap[:2] for gap in gaps])
    known = frozenset(one.as_written) | frozenset(other.as_written)
    found: list[Weighty] = []
    for number, (start, end, other_start, other_end) in enumerate(gaps):
        before = other_start - (gaps[number - 1][3] if number else 0)
        after = (gaps[number + 1][2] if number + 1 < len(gaps) else len(other.folded)) - other_end
        own = part and other_start == other_end and _stands_apart(one, other, start, end, other_start, before, after)
        of_one = [] if own else _weighty(one, start, end, moved_one, known)
        if part and end - start >= _RUN:  # the beginning of a passage says enough
            of_one = of_one[:_RUN]
        of_other = _weighty(other, other_start, other_end, moved_other, known)
        found += _beside(of_one, of_other)
    return (*(word for word in found if word.kind != "word"), *(word for word in found if word.kind == "word"))


def words_of(text: str) -> Words:
    """The text's words as they are compared here: numbers with their signs and points, words with what is clipped,
    addresses and names in code whole, and signs that mean something."""
    written: list[str] = []
    starts: list[int] = []
    breaks: list[int] = []
    last = 0
    if not text.isascii():
        text = INVISIBLE.sub("", text)
    for match in _TOKEN.finditer(text):
        if match["rule"] is not None:
            continue
        between = text[max(last, match.start() - 20) - 1 : match.start()]
        if not written or _SENTENCE_ENDS.search(between):
            starts.append(len(written))
        if not written or _PASSAGE_ENDS.search(between):
            breaks.append(len(written))
        written.append(match.group().replace(" ", "") if match["box"] else match.group())
        last = match.end()
    return Words(tuple(written), tuple(map(fold, written)), frozenset(starts), frozenset(breaks))


def indentation_differs(one: str, other: str, kind: str, name: str = "") -> bool:
    """Whether white space differs that means something: in source code and what is nested by indentation, lines and
    what they begin with. `kind` is the document's, `name` its file name or path."""
    return minds_indentation(kind, name) and _indentation(one) != _indentation(other)


def minds_indentation(kind: str, name: str) -> bool:
    """Whether white space at the beginning of a line means something in this kind of file."""
    name = name.replace("\\", "/").rpartition("/")[2].lower()
    return kind == "code" or name.endswith(_INDENTED) or name.startswith("makefile")


def _indentation(text: str) -> list[str]:
    return [line[: len(line) - len(line.lstrip())] for line in text.splitlines() if line.strip()]


def _stands_apart(one: Words, other: Words, start: int, end: int, place: int, before: int, after: int) -> bool:
    """Whether the words `start` to `end` of `one` are passages of their own, before, between or behind passages of
    `other`, of which `before` and `after` words are lined up on either side. Lining up is free to shift such a gap
    where the same words stand at both of its ends."""
    left = 0
    while left < before and one.folded[start - left - 1] == one.folded[end - left - 1]:
        left += 1
    right = 0
    while right < after and one.folded[start + right] == one.folded[end + right]:
        right += 1
    return any(
        _apart(one, other, start + by, end + by, place + by, before + by, after - by) for by in range(-left, right + 1)
    )


def _apart(one: Words, other: Words, start: int, end: int, place: int, before: int, after: int) -> bool:
    if place == 0:
        return end in one.starts
    if place == len(other.folded):
        return start in one.starts
    boundaries = start in one.breaks and end in one.breaks and place in other.breaks
    return boundaries and end - start >= _RUN and min(before, after) >= _RUN


_Found = tuple[WeightyKind, str]


def _weighty(words: Words, start: int, end: int, moved: frozenset[int], known: frozenset[str]) -> list[_Found]:
    found: list[_Found] = []
    for place in range(start, end):
        if place not in moved and not _harmless(words, place):
            word = words.as_written[place]
            found.append((kind_of(word, begins=place in words.starts, known=known), word))
    return found


def _harmless(words: Words, place: int) -> bool:
    """An article or "and", followed by what it belongs to: no letter that names a thing, such as "plan A"."""
    word = words.as_written[place]
    if words.folded[place] not in HARMLESS or not (word.islower() or place in words.starts):
        return False
    behind = place + 1
    return behind < len(words.folded) and behind not in words.starts and words.folded[behind].isalpha()


def _beside(one: Sequence[_Found], other: Sequence[_Found]) -> Iterator[Weighty]:
    """The words of one gap in pairs: one by one where there are as many, else kind by kind in the order in which the
    kinds come up."""
    if [spelt(word) for _, word in one] == [spelt(word) for _, word in other]:
        return
    if len(one) == len(other):
        pairs = [
            (min(kind, other_kind, key=KINDS.index), mine, theirs)
            for (kind, mine), (other_kind, theirs) in zip(one, other, strict=True)
        ]
    else:
        pairs = [
            (kind, mine, theirs)
            for kind in dict.fromkeys(kind for kind, _ in (*one, *other))
            for mine, theirs in zip_longest(
                [word for of, word in one if of == kind], [word for of, word in other if of == kind], fillvalue=""
            )
        ]
    for kind, mine, theirs in pairs:
        if spelt(mine) != spelt(theirs):
            denied = kind == "word" and opposite(fold(mine), fold(theirs))
            yield Weighty("negation" if denied else kind, mine, theirs)


# --- lining up ---------------------------------------------------------------------------------------------------


def _gaps(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """(start, end, start, end) of what is between the words that both have, in order. Anchors are runs of three words
    that stand once in each (patience diff); between them, what is small is lined up word by word."""
    waiting = [(0, len(one), 0, len(other))]
    while waiting:
        start, end, other_start, other_end = waiting.pop()
        while start < end and other_start < other_end and one[start] == other[other_start]:
            start, other_start = start + 1, other_start + 1
        while start < end and other_start < other_end and one[end - 1] == other[other_end - 1]:
            end, other_end = end - 1, other_end - 1
        if start == end or other_start == other_end:
            if (start, other_start) != (end, other_end):
                yield start, end, other_start, other_end
            continue
        work = (end - start) * (other_end - other_start)
        anchors = _anchors(one, other, start, end, other_start, other_end) if work > _SMALL else []
        if not anchors:
            if work <= _MIDDLING:
                yield from _word_by_word(one, other, start, end, other_start, other_end)
            else:
                yield start, end, other_start, other_end
            continue
        parts = []
        for place, other_place in anchors:
            parts.append((start, place, other_start, other_place))
            start, other_start = place, other_place
        parts.append((start, end, other_start, other_end))
        waiting += reversed(parts)


def _word_by_word(
    one: Sequence[str], other: Sequence[str], start: int, end: int, other_start: int, other_end: int
) -> Iterator[tuple[int, int, int, int]]:
    matcher = SequenceMatcher(None, one[start:end], other[other_start:other_end], autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        if what != "equal":
            yield start + a, start + b, other_start + c, other_start + d


def _anchors(
    one: Sequence[str], other: Sequence[str], start: int, end: int, other_start: int, other_end: int
) -> list[tuple[int, int]]:
    """Places of runs of three words that stand once in each, as many as keep their order."""
    mine = _once(one, start, end)
    theirs = _once(other, other_start, other_end)
    both = [(place, theirs[run]) for run, place in mine.items() if run in theirs]
    # The longest run of pairs that rises on both sides (patience sorting); `mine` is in order already.
    tails: list[int] = []
    chosen: list[int] = []
    before: list[int] = []
    for number, (_, other_place) in enumerate(both):
        pile = bisect_left(tails, other_place)
        before.append(chosen[pile - 1] if pile else -1)
        if pile == len(tails):
            tails.append(other_place)
            chosen.append(number)
        else:
            tails[pile], chosen[pile] = other_place, number
    anchors: list[tuple[int, int]] = []
    number = chosen[-1] if chosen else -1
    while number >= 0:
        anchors.append(both[number])
        number = before[number]
    return anchors[::-1]


def _once(words: Sequence[str], start: int, end: int) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    again: set[tuple[str, ...]] = set()
    part = words[start:end]
    run: tuple[str, ...]
    for place, run in enumerate(zip(part, part[1:], part[2:], strict=False), start):
        if run in found:
            again.add(run)
        else:
            found[run] = place
    for run in again:
        del found[run]
    return found


def _elsewhere(
    words: Words,
    gaps: Sequence[tuple[int, int]],
    others: Sequence[str],
    other_gaps: Sequence[tuple[int, int]],
) -> frozenset[int]:
    """The places in the gaps of `words` whose sentences stand in a gap of the other side: they were moved, not
    changed. Less than whole sentences that moved says something else."""
    there = {tuple(others[place : place + _RUN]) for start, end in other_gaps for place in range(start, end - _RUN + 1)}
    moved: set[int] = set()
    if there:
        for start, end in gaps:
            for place in range(start, end - _RUN + 1):
                if words.folded[place : place + _RUN] in there:
                    moved.update(range(place, place + _RUN))
    return _whole_sentences(words, moved)


def _whole_sentences(words: Words, places: set[int]) -> frozenset[int]:
    """Those of the places that make up sentences from end to end."""
    bounds = sorted({*words.starts, 0, len(words.folded)})
    found: set[int] = set()
    for start, end in pairwise(bounds):
        if start in places and all(place in places for place in range(start, end)):
            found.update(range(start, end))
    return frozenset(found)
