"""Word by word: what differs between two texts. Qt-free.

Texts are compared by words, the white space before each word on its own, so that a new line break is named as such
and never drowns a changed word. Marks of two code points that are the same character after NFC count as the same
word in another spelling, as they do for the fold key.

The longest common sequence of words is found by rapidfuzz, fifty times as fast as difflib at 18,000 words. Its time
and memory grow with the product of the two lengths, so very long texts are first taken apart where they surely agree.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

# Scripts without spaces are compared character by character.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_AT_ONCE = 400_000_000  # pairs of words that are aligned in one go: 45 ms and 50 MB
_ANCHOR = 12  # words: a run of them that each text holds once stands at the same place in both

Span = tuple[int, int]  # first and behind the last
PieceKind = Literal["same", "changed", "space", "spelling"]
Verdict = Literal["identical", "white_space", "different"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of one side. `changed` is not on the other side; `space` is white space that differs there;
    `spelling` is the same word there in other code points."""

    kind: PieceKind
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Both sides in pieces that join to the texts. `words_changed` counts the words of the two sides that the
    other does not have; `shared` is the share of words that both have."""

    verdict: Verdict
    left: tuple[Piece, ...]
    right: tuple[Piece, ...]
    removed: int
    added: int
    spaces: int
    spellings: int
    shared: float

    @property
    def sentence(self) -> str:
        """The outcome for people."""
        if self.verdict == "identical":
            return "Identical, character by character."
        if self.verdict == "white_space":
            parts = []
            if self.spaces:
                parts.append(f"white space differs in {_count(self.spaces, 'place', 'places')}")
            if self.spellings:
                parts.append(f"{_count(self.spellings, 'word is', 'words are')} written in other code points")
            return f"The same words; only {' and '.join(parts)}."
        parts = []
        if self.removed:
            parts.append(f"{_count(self.removed, 'word', 'words')} only on the left")
        if self.added:
            parts.append(f"{_count(self.added, 'word', 'words')} only on the right")
        if self.shared > 0.994:
            return f"{', '.join(parts)}; all other words are the same."
        return f"{', '.join(parts)}; {self.shared:.0%} of the words are the same."


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


@dataclass(frozen=True, slots=True)
class _Word:
    space: str  # the white space before it
    text: str
    key: str


@cache
def _word_pattern() -> re.Pattern[str]:
    """A word is a run of letters and digits with the marks that combine with them, which `\\w` does not know."""
    marks = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    return re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w[{marks}]*)+|[^\w\s]")


def _words(text: str) -> tuple[list[_Word], str]:
    """The words of the text, and the white space behind the last."""
    words: list[_Word] = []
    end = 0
    for match in _word_pattern().finditer(text):
        words.append(_Word(text[end : match.start()], match.group(), unicodedata.normalize("NFC", match.group())))
        end = match.end()
    return words, text[end:]


def compare(left: str, right: str) -> Difference:
    """What differs between the two texts."""
    if left == right:
        piece = (Piece("same", left),) if left else ()
        return Difference("identical", piece, piece, 0, 0, 0, 0, 1.0)
    ours, our_tail = _words(left)
    theirs, their_tail = _words(right)
    left_pieces: list[Piece] = []
    right_pieces: list[Piece] = []
    same = removed = added = spaces = spellings = 0
    for tag, first, last, start, end in _blocks(ours, theirs):
        if tag == "equal":
            for mine, other in zip(ours[first:last], theirs[start:end], strict=True):
                differs = mine.space != other.space
                spaces += differs
                kind: PieceKind = "same" if mine.text == other.text else "spelling"
                spellings += kind == "spelling"
                left_pieces += (Piece("space" if differs else "same", mine.space), Piece(kind, mine.text))
                right_pieces += (Piece("space" if differs else "same", other.space), Piece(kind, other.text))
                same += 1
            continue
        left_pieces += _changed(ours[first:last])
        right_pieces += _changed(theirs[start:end])
        removed += last - first
        added += end - start
    differs = our_tail != their_tail
    spaces += differs
    left_pieces.append(Piece("space" if differs else "same", our_tail))
    right_pieces.append(Piece("space" if differs else "same", their_tail))
    total = len(ours) + len(theirs)
    verdict: Verdict = "different" if removed or added else "white_space"
    return Difference(
        verdict,
        tuple(_joined(left_pieces)),
        tuple(_joined(right_pieces)),
        removed,
        added,
        spaces,
        spellings,
        2 * same / total if total else 1.0,
    )


def _blocks(ours: list[_Word], theirs: list[_Word]) -> Iterator[tuple[str, int, int, int, int]]:
    """What is equal and what is not, in order: (tag, first and last on the left, first and last on the right)."""
    numbers: dict[str, int] = {}
    mine = [numbers.setdefault(word.key, len(numbers)) for word in ours]
    other = [numbers.setdefault(word.key, len(numbers)) for word in theirs]
    # The common head and tail are taken off first: most twins differ in the middle.
    shorter = min(len(mine), len(other))
    head = 0
    while head < shorter and mine[head] == other[head]:
        head += 1
    tail = 0
    while tail < shorter - head and mine[-1 - tail] == other[-1 - tail]:
        tail += 1
    if head:
        yield "equal", 0, head, 0, head
    yield from _aligned(mine, other, (head, len(mine) - tail), (head, len(other) - tail))
    if tail:
        yield "equal", len(mine) - tail, len(mine), len(other) - tail, len(other)


def _aligned(mine: list[int], other: list[int], left: Span, right: Span) -> Iterator[tuple[str, int, int, int, int]]:
    """The same of one span of either side, in parts that are small enough."""
    from rapidfuzz.distance import Indel  # once, when it is asked for

    for (first, last), (start, end) in _parts(mine, other, left, right):
        for found in Indel.opcodes(mine[first:last], other[start:end]):
            yield (
                found.tag,
                found.src_start + first,
                found.src_end + first,
                found.dest_start + start,
                found.dest_end + start,
            )


def _parts(mine: list[int], other: list[int], left: Span, right: Span) -> Iterator[tuple[Span, Span]]:
    """The two spans in parts that lie beside each other, none larger than is aligned in one go."""
    if (left[1] - left[0]) * (right[1] - right[0]) <= _AT_ONCE:
        yield left, right
        return
    first, start = left[0], right[0]
    for at, there in [*_anchors(mine, other, left, right), (left[1], right[1])]:
        yield from _cut((first, at), (start, there))
        first, start = at, there


def _cut(left: Span, right: Span) -> Iterator[tuple[Span, Span]]:
    """Texts that agree nowhere for certain are cut into equal shares."""
    pairs = (left[1] - left[0]) * (right[1] - right[0])
    shares = math.ceil(math.sqrt(pairs / _AT_ONCE)) or 1

    def border(span: Span, share: int) -> int:
        return span[0] + (span[1] - span[0]) * share // shares

    for share in range(shares):
        yield (
            (border(left, share), border(left, share + 1)),
            (border(right, share), border(right, share + 1)),
        )


def _anchors(mine: list[int], other: list[int], left: Span, right: Span) -> list[tuple[int, int]]:
    """Places that surely stand for each other, in the order of both: runs of words that each side holds once."""
    ours, theirs = _runs_held_once(mine, left), _runs_held_once(other, right)
    pairs = sorted((at, theirs[run]) for run, at in ours.items() if run in theirs)
    # Of places that cross each other the longest row that does not is kept.
    ends: list[int] = []  # the last place on the right of the best row of each length
    rows: list[int] = []  # which pair that is
    before: list[int] = []  # which pair stands before each in its row
    for number, (_, there) in enumerate(pairs):
        length = bisect_left(ends, there)
        before.append(rows[length - 1] if length else -1)
        if length == len(ends):
            ends.append(there)
            rows.append(number)
        else:
            ends[length], rows[length] = there, number
    kept: list[tuple[int, int]] = []
    number = rows[-1] if rows else -1
    while number >= 0:
        kept.append(pairs[number])
        number = before[number]
    kept.reverse()
    return _apart(kept, left, right)


def _runs_held_once(words: list[int], span: Span) -> dict[tuple[int, ...], int]:
    """Where each run of words begins, of the runs that the span holds once."""
    found: dict[tuple[int, ...], int] = {}
    for at in range(span[0], span[1] - _ANCHOR + 1):
        run = tuple(words[at : at + _ANCHOR])
        found[run] = at if run not in found else -1
    return {run: at for run, at in found.items() if at >= 0}


def _apart(places: list[tuple[int, int]], left: Span, right: Span) -> list[tuple[int, int]]:
    """As few of the places as make the parts between them small enough, where they do."""
    kept: list[tuple[int, int]] = []
    first, start = left[0], right[0]
    last: tuple[int, int] | None = None
    for at, there in places:
        if last is not None and (at - first) * (there - start) > _AT_ONCE // 16:
            kept.append(last)
            first, start = last
        last = (at, there)
    if last is not None and (left[1] - first) * (right[1] - start) > _AT_ONCE:
        kept.append(last)
    return kept


def _changed(words: list[_Word]) -> Iterator[Piece]:
    """Changed words with the space between them marked too, but not the space before the first."""
    for position, word in enumerate(words):
        yield Piece("changed" if position else "same", word.space)
        yield Piece("changed", word.text)


def _joined(pieces: list[Piece]) -> Iterator[Piece]:
    """Neighbours of one kind as one piece, empty ones gone."""
    kind: PieceKind | None = None
    texts: list[str] = []
    for piece in pieces:
        if not piece.text:
            continue
        if piece.kind != kind and kind is not None:
            yield Piece(kind, "".join(texts))
            texts = []
        kind = piece.kind
        texts.append(piece.text)
    if kind is not None:
        yield Piece(kind, "".join(texts))
