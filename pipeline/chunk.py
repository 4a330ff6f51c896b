"""Document -> chunks: spans whose boundaries survive editing.

Method: content-defined chunking (Muthitacharoen et al., "A Low-bandwidth Network File System", 2001; before it
rsync), over structure instead of bytes. The text is cut into its smallest pieces: headings, paragraphs, list items,
tables and code fences, and lines, sentences and words of what is too long to stay whole. Then neighbours grow
together, the weakest boundary of the whole text first, as long as the result fits. How strongly a boundary holds
depends on its kind and, among equals, on a hash of the words behind it, never on its place. So an edit costs the
chunk that it stands in and now and then a neighbour; packing from the top would shift all that follows.

All sizes are characters of the folded text (`pipeline.textkeys.fold`): line ends, tabs, NBSP and indentation weigh
nothing. A span may be longer than its size where the source holds more white space.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from pipeline.textkeys import fold

Markup = Literal["plain", "markdown"]
TokenCounter = Callable[[Sequence[str]], Sequence[int]]  # tokens per text, special tokens included


class Span(NamedTuple):
    """Half open, in code points of the extracted text."""

    start: int
    end: int


class Limits(NamedTuple):
    """Sizes in characters of the folded text."""

    chunk: int  # neighbours grow together up to here; a paragraph, item, table or fence up to here stays whole
    section: int  # a section that has grown to this takes in nothing that stands before its heading
    tiny: int  # what is smaller when all has grown joins a neighbour; a heading of this size joins its text ...
    maximum: int  # ... up to here. No chunk is larger


LIMITS = Limits(chunk=900, section=200, tiny=100, maximum=1200)

# How strongly a boundary holds, by what stands there. Only the order counts.
GLUED, INSIDE_WORD, WORD, LINE, SENTENCE, LINE_END, ITEM, PARAGRAPH, HEADING = range(9)
ABOVE_HEADINGS = HEADING + 7  # a heading of level n holds with ABOVE_HEADINGS - n

HASHED_CHARS = 32  # of what follows a boundary: enough to differ, few enough to outlive edits further on
PLAIN_HEADING_CHARS = 80
SMALLEST_CHARS = 24  # lines and sentences below this share a piece
GAP_CHARS = 1200  # white space of this width is never inside a chunk
CLUSTER_CHARS = 64  # a grapheme cluster longer than this is cut all the same; no writing system has one
TOKEN_BATCH = 512  # texts that are counted at a time

_HEADING = re.compile(r"(#{1,6})(?:\s|$)")
_UNDERLINE = re.compile(r"(?:=+|-{2,})$")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_LIST_ITEM = re.compile(r"(?:[-*+•‣▪–]|\d{1,3}[.)]|[a-zA-Z][.)])\s")
_OPENS = re.compile(r":::+\s*\w|<[A-Za-z][^<>]*(?<!/)>$")  # an admonition or an element, alone in its line
_CLOSES = re.compile(r"(?::::+|</[\w.-]+>)$")
_STOPS, _CLOSERS = tuple(".!?…؟۔।॥።։。！？｡．"), "\"'”’»)]*_`」』）"
_STOP, _CLOSER = r"[.!?…؟۔।॥።։]", r"[\"'”’»)\]*_`]"
_SENTENCE_END = re.compile(
    rf"\s(?:(?<={_STOP}\s)|(?<={_STOP}{_CLOSER}\s)|(?<={_STOP}{_CLOSER}{_CLOSER}\s))\s*(?=[^\sa-zß-öø-ÿ])"
    r"|[。！？｡．][。！？｡．」』”’）\s]*"
)
_WORD = re.compile(r"[^\s、，；：]*[、，；：]+|[^\s、，；：]+")
_WIDE_GAP = re.compile(rf"\S\s{{{GAP_CHARS}}}")


class _Piece(NamedTuple):
    """A part of the text, and the boundary before it."""

    start: int
    end: int
    strength: int
    hash: int  # of the first folded characters
    size: int
    verbatim: bool  # code or table: its lines count, not its sentences


def split(
    text: str,
    *,
    markup: Markup = "plain",
    token_counter: TokenCounter | None = None,
    token_limit: int | None = None,
) -> list[Span]:
    """Spans in order, without overlap, that hold every character but white space exactly once.

    A span neither starts nor ends with white space. Folded it has at most `LIMITS.maximum` characters; a run
    without any break is cut between grapheme clusters. White-space variants with the same lines (CRLF, tabs,
    NBSP, trailing blanks) are cut at the same words.

    Where a counter and a limit are given, a chunk of more than `token_limit` tokens is split again, that one alone.
    What may stay over the limit is a single grapheme cluster. ValueError where the limit leaves no room beside
    the special tokens.
    """
    pieces = [part for block in _blocks(text, markup) for part in _refined(text, block, LIMITS.chunk)]
    groups = _grouped(pieces, LIMITS)
    if token_counter is not None and token_limit is not None:
        groups = _within_tokens(text, groups, token_counter, token_limit)
    return [Span(group[0].start, group[-1].end) for group in groups]


# --- structure ----------------------------------------------------------------------------------------------


def _piece(text: str, start: int, end: int, strength: int, verbatim: bool) -> _Piece:
    body = text[start:end].rstrip()
    folded = fold(body)
    return _Piece(start, start + len(body), strength, _hash(folded[:HASHED_CHARS]), len(folded), verbatim)


def _hash(text: str) -> int:
    """32 bits, the same in every process."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _lines(text: str, offset: int = 0) -> Iterator[tuple[str, int]]:
    """Each line without the white space around it, and where it begins. The text begins at `offset`."""
    for raw in text.splitlines(keepends=True):
        line = raw.strip()
        yield line, offset + (len(raw) - len(raw.lstrip()) if line else 0)
        offset += len(raw)


def _blocks(text: str, markup: Markup) -> list[_Piece]:
    """Lines that belong together, with the boundary before each block."""
    reader = _BlockReader(text, markup)
    for line, start in _lines(text):
        if line:
            reader.take(line, start)
        else:
            reader.blank()
    reader.finish()
    return reader.blocks


class _BlockReader:
    """Takes the lines of a text one by one. At most one block is open, from `start` to `end`."""

    def __init__(self, text: str, markup: Markup) -> None:
        self.text, self.markdown = text, markup == "markdown"
        self.blocks: list[_Piece] = []
        self.start = self.end = self.count = 0  # count: lines of the open block
        self.strength = PARAGRAPH  # of the boundary before the open block, or before the next one
        self.verbatim = self.glued = False
        self.fence = ""  # what closes the open code fence
        self.last = ""  # the last line that was taken

    def take(self, line: str, start: int) -> None:
        """A line that is not blank, stripped, and where it begins."""
        if self.fence:
            self.extend(line, start)
            if line.startswith(self.fence) and not line.strip(self.fence[0]):
                self.close()
        elif self.markdown and (fence := _FENCE.match(line)):
            self.open(start, LINE_END, verbatim=True)
            self.fence = fence[0]
            self.extend(line, start)
        elif self.markdown and (heading := _HEADING.match(line)):
            self.open(start, LINE_END)
            self.strength = ABOVE_HEADINGS - len(heading[1])
            self.extend(line, start)
            self.close(heading=True)
        elif self.count == 1 and _UNDERLINE.match(line) and not (self.verbatim or _LIST_ITEM.match(self.last)):
            self.strength = ABOVE_HEADINGS - (1 if line[0] == "=" else 2)
            self.extend(line, start)
            self.close(heading=True)
        else:
            is_item, is_row = _LIST_ITEM.match(line) is not None, line[0] == "|"
            if is_item or is_row != self.verbatim or not self.count:
                self.open(start, ITEM if is_item else LINE_END, verbatim=is_row)
            self.extend(line, start)

    def blank(self) -> None:
        """A blank line."""
        if not self.fence:
            self.finish()
            self.strength = PARAGRAPH

    def finish(self) -> None:
        """What stands alone between blank lines may be a heading of plain text."""
        if self.count == 1 and not self.markdown and _looks_like_heading(self.last):
            self.strength = HEADING
            self.close(heading=True)
        else:
            self.close()

    def open(self, start: int, strength: int, verbatim: bool = False) -> None:
        if self.count:
            self.close()
            self.strength = strength
        self.start, self.verbatim = start, verbatim

    def extend(self, line: str, start: int) -> None:
        self.end, self.last = start + len(line), line
        self.count += 1

    def close(self, heading: bool = False) -> None:
        if not self.count:
            return
        glued = self.glued or (self.count == 1 and _CLOSES.match(self.last) is not None)
        strength = GLUED if glued else self.strength
        self.blocks.append(_piece(self.text, self.start, self.end, strength, self.verbatim))
        self.glued = heading or self.last.endswith((":", "：")) or _OPENS.match(self.last) is not None
        self.strength, self.count, self.fence, self.verbatim = LINE_END, 0, "", False


def _looks_like_heading(line: str) -> bool:
    """Short, no list item, and it does not end like a sentence."""
    return (
        len(fold(line)) <= PLAIN_HEADING_CHARS
        and line[-1] not in ".,;:!?…。，；：！？、"
        and not line[0].islower()
        and any(map(str.isalpha, line))
        and not _LIST_ITEM.match(line)
    )


# --- what is too long to stay whole -------------------------------------------------------------------------


def _refined(text: str, piece: _Piece, limit: int, cutter: int = 0) -> Iterator[_Piece]:
    """The piece itself where it fits, else its sentences, its lines, its words, parts of its words."""
    cutters = (_line_cuts, _word_cuts) if piece.verbatim else (_sentence_cuts, _line_cuts, _word_cuts)
    if _fits(text, piece, limit) or cutter == len(cutters):
        yield piece
    else:
        for part in _cut(text, piece, cutters[cutter](text, piece, limit), min(SMALLEST_CHARS, limit // 20)):
            yield from _refined(text, part, limit, cutter + 1)


def _fits(text: str, piece: _Piece, limit: int) -> bool:
    slack = piece.end - piece.start - piece.size
    return piece.size <= limit and (slack < GAP_CHARS or not _WIDE_GAP.search(text, piece.start, piece.end))


def _cut(text: str, piece: _Piece, cuts: Iterable[tuple[int, int]], smallest: int) -> Iterator[_Piece]:
    """Cuts are offsets in order, each with its strength as a boundary.

    After fewer than `smallest` characters only a cut that a hash chooses (one in 8) counts, or a wide gap: a
    million tiny lines would cost memory and add nothing.
    """
    start, strength = piece.start, piece.strength
    for cut, next_strength in cuts:
        if start < cut < piece.end:
            part = _piece(text, start, cut, strength, piece.verbatim)
            if (
                part.size >= smallest
                or cut - part.end >= GAP_CHARS
                or _hash(text[cut : cut + 8].split(None, 1)[0]) % 8 == 0
            ):
                yield part
                start, strength = cut, next_strength
    yield _piece(text, start, piece.end, strength, piece.verbatim)


def _sentence_cuts(text: str, piece: _Piece, limit: int) -> Iterator[tuple[int, int]]:
    """Before each sentence. One that ends with its line may end a paragraph: that holds better."""
    cuts = {match.end(): SENTENCE for match in _SENTENCE_END.finditer(text, piece.start, piece.end)}
    before = ""
    for line, start in _lines(text[piece.start : piece.end], piece.start):
        if before.rstrip(_CLOSERS).endswith(_STOPS):
            cuts[start] = LINE_END
        before = line
    return iter(sorted(cuts.items()))


def _line_cuts(text: str, piece: _Piece, limit: int) -> Iterator[tuple[int, int]]:
    """Before each line; behind a blank line it holds better."""
    strength = LINE
    for line, start in _lines(text[piece.start : piece.end], piece.start):
        if line:
            yield start, strength
        strength = LINE if line else LINE_END


def _word_cuts(text: str, piece: _Piece, limit: int) -> Iterator[tuple[int, int]]:
    """Before words that a hash chooses (one in 16), a fifth of the limit after the last, and behind a wide gap."""
    step = max(1, limit // 5)
    size = end = 0
    for match in _WORD.finditer(text, piece.start, piece.end):
        word, start = match[0], match.start()
        if len(word) > step:
            yield start, WORD
            for cut in _cluster_cuts(word, step):
                yield start + cut, INSIDE_WORD
            size = step
        elif size + len(word) >= step or start - end >= GAP_CHARS or _hash(word) % 16 == 0:
            yield start, WORD
            size = len(word) + 1
        else:
            size += len(word) + 1
        end = match.end()


def _cluster_cuts(run: str, step: int) -> Iterator[int]:
    """Cuts in a run without a break, between half a step and a step after the last one.

    Each is where the next four characters are the greatest of that window: the content decides again.
    """
    start, end = 0, len(run)
    while end - start > step:
        places = _cluster_starts(run, start, start + step)
        late = [place for place in places if place > start + step // 2]
        if late:
            start = max(late, key=lambda place: run[place : place + 4])
        elif places:
            start = places[-1]
        else:
            beyond = min(end, start + step + CLUSTER_CHARS)
            start = next(iter(_cluster_starts(run, start, beyond - 1)), beyond)
        if start < end:
            yield start


def _cluster_starts(run: str, start: int, last: int) -> Sequence[int]:
    """Where grapheme clusters begin after `start`, where one does, up to and with `last`.

    Unicode Annex 29 by general category: what needs tables (Indic conjuncts, prepended marks) may be cut.
    """
    if run[start : last + 1].isascii():
        return range(start + 1, last + 1)
    places = []
    halves = 0  # regional indicators up to here: two are one flag
    for place in range(start + 1, last + 1):
        before, char = run[place - 1], run[place]
        halves = halves + 1 if "\U0001f1e6" <= before <= "\U0001f1ff" else 0
        joined = halves % 2 == 1 if "\U0001f1e6" <= char <= "\U0001f1ff" else _joins(before, char)
        if not joined:
            places.append(place)
    return places


def _joins(before: str, char: str) -> bool:
    """Do two neighbours that are no flag belong to one grapheme cluster?"""
    return (
        unicodedata.category(char) in ("Mn", "Mc", "Me")
        or before == "\u200d"
        or char in "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f"
        or "\u1160" <= char <= "\u11ff"  # Hangul vowels and finals
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= char <= "\U000e007f"  # tags
        or ("\udc00" <= char <= "\udfff" and "\ud800" <= before <= "\udbff")
    )


# --- growing together ---------------------------------------------------------------------------------------


def _grouped(pieces: Sequence[_Piece], limits: Limits) -> list[Sequence[_Piece]]:
    """Neighbours grown together, the weakest boundary first; then what stayed tiny joins a neighbour."""
    sizes = [piece.size for piece in pieces]  # of a group, at its first piece
    firsts = list(range(len(pieces)))  # of a group, at its last piece
    lasts = list(range(len(pieces)))  # of a group, at its first piece
    mixed = [False] * len(pieces)  # does a group hold more than one section? At its first piece

    def join(left: int, right: int) -> None:
        sizes[left] += sizes[right] + 1
        firsts[lasts[right]] = left
        lasts[left] = lasts[right]
        mixed[left] |= mixed[right] or pieces[right].strength >= HEADING

    kept = []
    for right in sorted(range(1, len(pieces)), key=lambda i: (pieces[i].strength, pieces[i].hash)):
        piece, left = pieces[right], firsts[right - 1]
        if piece.start - pieces[right - 1].end >= GAP_CHARS:
            continue
        total = sizes[left] + sizes[right] + 1
        own_section = piece.strength >= HEADING and sizes[right] >= limits.section and not mixed[right]
        leads_in = piece.strength == GLUED and min(sizes[left], sizes[right]) < limits.tiny
        if total <= (limits.maximum if leads_in else limits.chunk) and not own_section:
            join(left, right)
        else:
            kept.append(right)
    for right in kept:
        left = firsts[right - 1]
        total = sizes[left] + sizes[right] + 1
        if min(sizes[left], sizes[right]) < limits.tiny and total <= limits.maximum:
            join(left, right)

    groups: list[Sequence[_Piece]] = []
    start = 0
    while start < len(pieces):
        groups.append(pieces[start : lasts[start] + 1])
        start = lasts[start] + 1
    return groups


# --- what the model reads -----------------------------------------------------------------------------------


def _within_tokens(
    text: str, groups: list[Sequence[_Piece]], token_counter: TokenCounter, token_limit: int
) -> list[Sequence[_Piece]]:
    """The groups, those with too many tokens split again until each fits or is one grapheme cluster."""
    special = token_counter([""])[0]
    room = token_limit - special
    if room < 1:
        raise ValueError(f"a limit of {token_limit} tokens leaves no room beside {special} special tokens")
    fitting: list[Sequence[_Piece]] = []
    while groups:
        smaller: list[Sequence[_Piece]] = []
        for batch in (groups[i : i + TOKEN_BATCH] for i in range(0, len(groups), TOKEN_BATCH)):
            counts = token_counter([text[group[0].start : group[-1].end] for group in batch])
            for group, count in zip(batch, counts, strict=True):
                parts = [group] if count <= token_limit else _divided(text, group, room / (count - special))
                (smaller if len(parts) > 1 else fitting).extend(parts)
        groups = smaller
    return sorted(fitting, key=lambda group: group[0].start)


def _divided(text: str, group: Sequence[_Piece], share: float) -> list[Sequence[_Piece]]:
    """The group as smaller ones of about this share of its size, or itself where it is one grapheme cluster."""
    size = sum(piece.size for piece in group) + len(group) - 1
    target = max(1, int(size * min(0.95 * share, 2 / 3)))
    limits = Limits(chunk=target, section=target, tiny=0, maximum=target)
    return _grouped([part for piece in group for part in _refined(text, piece, target)], limits)
