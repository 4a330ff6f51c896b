"""Word by word: what differs between two texts. Qt-free.

Texts are compared by words, the white space before each word on its own, so that a new line break is named as such
and never drowns a changed word. Marks of two code points that are the same character after NFC count as the same
word in another spelling, as they do for the fold key.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Literal

# Scripts without spaces are compared character by character.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
MOST_WORDS = 6_000  # the matcher is quadratic at worst; beyond this only the head is compared

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
    other does not have; `shared` is the share of words that both have; `whole` is False when the texts were too
    long and only their heads were compared."""

    verdict: Verdict
    left: tuple[Piece, ...]
    right: tuple[Piece, ...]
    removed: int
    added: int
    spaces: int
    spellings: int
    shared: float
    whole: bool = True

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
        said = f"{', '.join(parts)}; {self.shared:.0%} of the words are the same."
        if self.shared > 0.994:
            said = f"{', '.join(parts)}; all other words are the same."
        if not self.whole:
            said += f" Only the first {MOST_WORDS:,} words were compared."
        return said


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
    whole = len(ours) <= MOST_WORDS and len(theirs) <= MOST_WORDS
    if not whole:
        ours, our_tail = ours[:MOST_WORDS], our_tail if len(ours) <= MOST_WORDS else ""
        theirs, their_tail = theirs[:MOST_WORDS], their_tail if len(theirs) <= MOST_WORDS else ""

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
    verdict: Verdict = "different" if removed or added or not whole else "white_space"
    return Difference(
        verdict,
        tuple(_joined(left_pieces)),
        tuple(_joined(right_pieces)),
        removed,
        added,
        spaces,
        spellings,
        2 * same / total if total else 1.0,
        whole,
    )


def _blocks(ours: list[_Word], theirs: list[_Word]) -> Iterator[tuple[str, int, int, int, int]]:
    """The matcher's operations, with the common head and tail taken off first: most twins differ in the middle."""
    mine = [word.key for word in ours]
    other = [word.key for word in theirs]
    shorter = min(len(mine), len(other))
    head = 0
    while head < shorter and mine[head] == other[head]:
        head += 1
    tail = 0
    while tail < shorter - head and mine[-1 - tail] == other[-1 - tail]:
        tail += 1
    if head:
        yield "equal", 0, head, 0, head
    matcher = SequenceMatcher(None, mine[head : len(mine) - tail], other[head : len(other) - tail], autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        yield tag, first + head, last + head, start + head, end + head
    if tail:
        yield "equal", len(mine) - tail, len(mine), len(other) - tail, len(other)


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
