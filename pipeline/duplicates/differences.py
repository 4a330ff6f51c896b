"""What differs between two texts, and whether it matters: numbers, dates, names in capitals, negations.

A changed amount or an inserted "not" leaves two texts almost equal by every measure, and is the one thing that
matters. So the words of both are lined up, and what stands on one side alone is looked at for such words. In doubt a
word matters: a wrong one costs a look, a missed one a document.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from pipeline.duplicates.records import Weighty, WeightyKind

_RUN = 8  # words: a run of that length that both have is the same passage in another place, or a passage of its own
_SMALL = 2_500  # pairs of words that are lined up one by one
_MIDDLING = 1_000_000  # that are, where the texts have no run of words in common to go by

_TOKEN = re.compile(
    r"""
    (?<![\w.,])[-+\u2212]?[$\u00a3\u00a5\u20ac]?\d+(?:[.,:/'\u2019\u2212-]\d+)*(?![\w])[%\u20ac]?  # a number or a date
    | [\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]  # written without spaces: each is a word
    | (?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])[\w\u0300-\u036f])+  # a word, with what is clipped
      (?:['\u2019](?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])\w)+)*
    """,
    re.VERBOSE,
)
_SENTENCE_ENDS = re.compile(r"[.!?:;\u2026\u3002]['\")\]\u201d\u2019*_]*\s|\n|[|>#*\u2022]\s*$")


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})")
_CALENDAR = _all(
    "january february march april june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday januar februar märz mai juni juli oktober dezember montag dienstag mittwoch "
    "donnerstag freitag samstag sonntag janvier février mars avril juin juillet août septembre octobre novembre "
    "décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_NUMBERS = _all(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half double twice "
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert tausend deux trois quatre cinq sept "
    "huit neuf dix vingt cent mille dos tres cuatro cinco seis siete ocho nueve diez "
    "一 二 三 四 五 六 七 八 九 十 百 千 万 億"
)
_NEGATIONS = _all(
    "not no never none nor neither nobody nothing nowhere without cannot unless except excluding "
    "nicht kein keine keinen keiner keinem keines nie niemals ohne außer "
    "ne pas jamais aucun aucune sans sauf nunca jamás ningún ninguna ni sin mai senza niet geen nooit "
    "不 没 沒 無 无 非 未 勿"
)
# At the head of a sentence these have a capital and are no names.
_PLAIN = _all(
    "a about after again all also although an and any are as at be because before both but by can could did do does "
    "during each either every first finally for from further had has have he hence her here his how however i if in "
    "instead into is it its last later let like many may maybe more moreover most must my new next now of often on "
    "once only or other our out over please see several she should since so some such than that the their them then "
    "there therefore these they this those though through thus to under until up use used using was we were what when "
    "where whether which while who why will with within would yes yet you your der die das ein eine und oder wenn le "
    "la les un une et si el los las una y"
)


@dataclass(frozen=True, slots=True)
class Words:
    """A text as words: `as_written`, and `folded` for comparing. `starts` says which begin a sentence or a line."""

    as_written: tuple[str, ...]
    folded: tuple[str, ...]
    starts: frozenset[int]


def weighty_between(head: str, member: str, *, part: bool = False) -> tuple[Weighty, ...]:
    """The words that matter and differ, in the order of the head. With `part`, the member is a part of the head: what
    the head has more, in runs of its own, is no difference; what was changed within the common text is."""
    return weighty_among(words_of(head), words_of(member), part=part)


def weighty_among(one: Words, other: Words, *, part: bool = False) -> tuple[Weighty, ...]:
    """As `weighty_between`, of texts that were taken apart before."""
    if one.folded == other.folded:
        return ()
    gaps = list(_gaps(one.folded, other.folded))
    moved_one = _elsewhere(one.folded, [gap[:2] for gap in gaps], other.folded, [gap[2:] for gap in gaps])
    moved_other = _elsewhere(other.folded, [gap[2:] for gap in gaps], one.folded, [gap[:2] for gap in gaps])
    known = frozenset(one.as_written) | frozenset(other.as_written)
    found: list[Weighty] = []
    for start, end, other_start, other_end in gaps:
        of_one = [] if part and end - start >= _RUN else _weighty(one, start, end, moved_one, known)
        of_other = _weighty(other, other_start, other_end, moved_other, known)
        found += _beside(of_one, of_other)
    return tuple(found)


def words_of(text: str) -> Words:
    """The text's words as they are compared here: numbers with their signs and points, words with what is clipped."""
    written: list[str] = []
    starts: list[int] = []
    last = 0
    for match in _TOKEN.finditer(text):
        if not written or _SENTENCE_ENDS.search(text[max(last, match.start() - 20) - 1 : match.start()]):
            starts.append(len(written))
        written.append(match.group())
        last = match.end()
    return Words(tuple(written), tuple(word.casefold().replace("\u2019", "'") for word in written), frozenset(starts))


def kind_of(word: str, *, begins: bool = False, known: frozenset[str] = frozenset()) -> WeightyKind | None:
    """Whether a word matters, and as what. `begins`: it begins a sentence, where a capital says little; `known` are
    the words around, in which a name would not stand in small letters."""
    folded = word.casefold().replace("\u2019", "'")
    if folded in _NEGATIONS or folded.endswith("n't"):
        return "negation"
    in_calendar = folded in _CALENDAR or (folded == "may" and not begins)
    if _DATE.search(word) or (in_calendar and word[0].isupper()):
        return "date"
    if folded in _NUMBERS or any(sign.isdigit() for sign in word):
        return "number"
    if not word[0].isupper():
        return None
    if word.isupper() and len(word) > 1:
        return "name"
    if begins and (folded in _PLAIN or folded in known):
        return None
    return "name" if len(word) > 1 else None


def _weighty(
    words: Words, start: int, end: int, moved: frozenset[int], known: frozenset[str]
) -> list[tuple[WeightyKind, str]]:
    found: list[tuple[WeightyKind, str]] = []
    for place in range(start, end):
        if place not in moved:
            word = words.as_written[place]
            kind = kind_of(word, begins=place in words.starts, known=known)
            if kind is not None:
                found.append((kind, word))
    return found


def _beside(one: Sequence[tuple[WeightyKind, str]], other: Sequence[tuple[WeightyKind, str]]) -> Iterator[Weighty]:
    """The words of one gap in pairs, kind by kind, in the order in which the kinds come up."""
    for kind in dict.fromkeys(kind for kind, _ in (*one, *other)):
        mine = [word for of, word in one if of == kind]
        theirs = [word for of, word in other if of == kind]
        if [word.casefold() for word in mine] != [word.casefold() for word in theirs]:
            for in_head, in_member in zip_longest(mine, theirs, fillvalue=""):
                if in_head.casefold() != in_member.casefold():
                    yield Weighty(kind, in_head, in_member)


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
    words: Sequence[str],
    gaps: Sequence[tuple[int, int]],
    others: Sequence[str],
    other_gaps: Sequence[tuple[int, int]],
) -> frozenset[int]:
    """The places in the gaps of `words` whose passage stands in a gap of the other side: it was moved, not changed."""
    there = {tuple(others[place : place + _RUN]) for start, end in other_gaps for place in range(start, end - _RUN + 1)}
    moved: set[int] = set()
    if there:
        for start, end in gaps:
            for place in range(start, end - _RUN + 1):
                if tuple(words[place : place + _RUN]) in there:
                    moved.update(range(place, place + _RUN))
    return frozenset(moved)
