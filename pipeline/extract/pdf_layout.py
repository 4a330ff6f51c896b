"""Lines on a page -> paragraphs. Pure: knows positions and characters, not PDF.

What separates two lines that follow each other is one of: nothing or a space (the line was wrapped), a line end (it was
ended on purpose), an empty line (a paragraph ends), a tab (cells side by side). Distances are in points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_TERMINAL = re.compile("""[.!?:;…。！？：；][\\])}"'”’»」』]*$""")
_BULLET = re.compile(r"[•◦▪‣●○■□◆∙·⁃](?:\s|$)|(?:[-–—*]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])\s")
_CLEAR_BULLET = re.compile("[•◦▪‣●○■□◆∙⁃]")
_WORD_END = re.compile(r"[^\W\d_]+$")
_WORD_START = re.compile(r"[^\W\d_]+")
_BROKEN_WORD = re.compile(r"[^\W\d_]-$")
_HYPHENATED = re.compile(r"\w+(?:-\w+)*")
_USUAL_PITCH = 1.5  # font sizes from line to line, at most, in a document of a few lines
_ENOUGH_GAPS = 8
_LONGEST_WORD = 80  # characters, German and chemistry included


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Second halves that are words joined on by a hyphen, never what hyphenation leaves over.
_COMPOUNDS = _words(
    "aware based bound class controlled defined dependent driven free friendly facing given grade hand known level "
    "life like line made oriented party person proof quality ready related run scale service sized specific standing "
    "term time up wide word written year years"
)
_PREFIXES = _words("all anti co cross ex full half high long low multi near non quasi self semi short sub well")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it stands on the page. `baseline` grows upwards; `size` is the font's. `first_word` is the width of
    the first word. `hyphen` says that the last word went on in the next line, and `text` is without that hyphen."""

    text: str
    left: float
    right: float
    baseline: float
    size: float
    first_word: float
    hyphen: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a document, lower-case, to tell `hyphe-nation` from `well-known`."""

    words: frozenset[str]

    @staticmethod
    def of(texts: Sequence[str]) -> Vocabulary:
        return Vocabulary(frozenset(word for text in texts for word in _HYPHENATED.findall(text.lower())))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What the lines of a block have in common: the index of its first line, its right edge, its widest line, and
    whether most lines end at the right edge."""

    first: int
    right: float
    width: float
    justified: bool


class Blocks:
    """The lines of one page, with what can be known only from all of them."""

    def __init__(self, lines: Sequence[Line], usual_pitch: float | None = None) -> None:
        """`usual_pitch` is the document's, for a page of too few lines to tell."""
        self.lines = lines
        self._pitch = pitch_of([lines]) or usual_pitch or min(pitch_of([lines], 1) or _USUAL_PITCH, _USUAL_PITCH)
        self._starts = [i == 0 or self._new_block(lines[i - 1], lines[i]) for i in range(len(lines))]
        self._block = self._bounds()

    def separator(self, index: int, vocabulary: Callable[[], Vocabulary]) -> str:
        """What stands between line `index - 1` and line `index` (from 1)."""
        before, line = self.lines[index - 1], self.lines[index]
        if before.hyphen:
            return hyphen_or_nothing(before.text, line.text, vocabulary)
        level = abs(before.baseline - line.baseline) < 0.3 * max(before.size, line.size)
        if level:
            return "\t" if line.left > before.right else " "
        if line.baseline > before.baseline:  # up again: the next column
            return "\n" if runs_on(before.text, line.text) else "\n\n"
        if self._starts[index]:
            if _resized(before, line) and runs_on(before.text, line.text) and not self._far(before, line):
                return wrapped(before.text, line.text)  # another font in the same sentence
            return "\n\n"
        ended = self._ended_early(index - 1, line)
        if _CLEAR_BULLET.match(line.text) or (_BULLET.match(line.text) and (ended or _TERMINAL.search(before.text))):
            return "\n"
        indented = line.left - before.left > 0.8 * line.size
        if indented and not _BULLET.match(before.text) and (ended or _TERMINAL.search(before.text)):
            return "\n\n"
        if ended:
            return "\n\n" if _TERMINAL.search(before.text) and not line.text[:1].islower() else "\n"
        return wrapped(before.text, line.text)

    @property
    def last_is_full(self) -> bool:
        """Whether the last line looks like the middle of a paragraph: prose that reaches its block's right edge."""
        block, last = self._block[-1], self.lines[-1]
        if len(self.lines) - block.first < 3 or block.width < 20 * last.size:
            return False
        others = max(line.right for line in self.lines[block.first : -1])
        slack = 0.5 * last.size if block.justified else 0.03 * block.width
        return abs(others - last.right) < slack

    def _far(self, before: Line, line: Line) -> bool:
        gap = before.baseline - line.baseline
        return gap > 1.1 * self._pitch * min(before.size, line.size) + 0.5

    def _new_block(self, before: Line, line: Line) -> bool:
        return line.baseline > before.baseline + 0.3 * line.size or self._far(before, line) or _resized(before, line)

    def _bounds(self) -> list[_Bounds]:
        bounds: list[_Bounds] = []
        first = 0
        for end in range(1, len(self.lines) + 1):
            if end == len(self.lines) or self._starts[end]:
                block = self.lines[first:end]
                right, width = max(line.right for line in block), max(line.right - line.left for line in block)
                flush = sum(right - line.right < 1 for line in block)
                bounds += [_Bounds(first, right, width, len(block) >= 4 and flush >= 0.6 * len(block))] * len(block)
                first = end
        return bounds

    def _ended_early(self, index: int, following: Line) -> bool:
        """Whether the next line's first word would have fitted: then the line end was meant. So was any short line
        among justified ones."""
        line, block = self.lines[index], self._block[index]
        if block.justified and line.right < block.right - 0.5 * line.size:
            return True
        needed = 0.3 * line.size + following.first_word + 0.5 * line.size  # a space, the word, some tolerance
        return line.right + needed < block.right and line.right - line.left + needed < block.width


def page_separator(before: Blocks, after: Blocks, vocabulary: Callable[[], Vocabulary]) -> str | None:
    """What stands between the last line of one page and the first of the next: a line end where a sentence or a
    paragraph clearly goes on, nothing within a word, otherwise an empty line. None where a hyphenated word goes on,
    so that the hyphen at the end of the page before is to be taken away."""
    last, first = before.lines[-1], after.lines[0]
    if _BROKEN_WORD.search(last.text) and first.text[:1].islower():
        return "" if hyphen_or_nothing(last.text[:-1], first.text, vocabulary) else None
    if _BULLET.match(first.text) or _resized(last, first):
        return "\n\n"
    if runs_on(last.text, first.text):
        return "\n"
    return "\n" if before.last_is_full and not first.text[:1].isdigit() else "\n\n"


def runs_on(before: str, after: str) -> bool:
    """Whether a sentence goes on: it has not ended, and what follows begins in lower case."""
    return not _TERMINAL.search(before) and after[:1].islower()


def wrapped(before: str, after: str) -> str:
    """What a wrapped line lost: mostly a space, but nothing after a dash and between Chinese or Japanese characters."""
    if _unspaced(before[-1:]) and _unspaced(after[:1]):
        return ""
    if len(before) > 1 and before[-1] in "-‐—–" and not before[-2].isspace() and after[:1].isalnum():
        return ""
    return " "


def hyphen_or_nothing(before: str, after: str, vocabulary: Callable[[], Vocabulary]) -> str:
    """`-` where a word with a hyphen of its own was broken (`well-` `known`), nothing where a word was hyphenated."""
    left = before[-_LONGEST_WORD:].rpartition(" ")[2]
    left_word, right_word = _WORD_END.search(left), _WORD_START.match(after[:_LONGEST_WORD])
    if left_word is None or right_word is None or not right_word[0][0].islower():
        return "-"
    if "-" in left or "/" in left or len(left_word[0]) < 2:
        return "-"
    one, two = left_word[0].lower(), right_word[0].lower()
    words = vocabulary().words
    if one + two in words:
        return ""
    if f"{one}-{two}" in words:
        return "-"
    return "-" if one in _PREFIXES or two in _COMPOUNDS else ""


def _unspaced(char: str) -> bool:
    """Whether a script without spaces uses it: kana, Han, and their punctuation (not Hangul)."""
    return bool(char) and ("\u2e80" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or "\uff00" <= char <= "\uffef"
                           or "\U00020000" <= char <= "\U0003ffff")  # fmt: skip


def _resized(before: Line, line: Line) -> bool:
    return abs(before.size - line.size) > 0.12 * min(before.size, line.size)


def pitch_of(pages: Iterable[Sequence[Line]], at_least: int = _ENOUGH_GAPS) -> float | None:
    """The distance of lines within a paragraph, in font sizes: the smaller ones of those that occur, as the ends of
    paragraphs only add to it. None where fewer than `at_least` distances tell."""
    ratios = sorted(
        ratio
        for lines in pages
        for before, line in pairwise(lines)
        if not _resized(before, line) and 0.5 < (ratio := (before.baseline - line.baseline) / line.size) < 3
    )
    return ratios[len(ratios) // 4] if len(ratios) >= at_least else None
