"""A text's words in threes, as hashes: what two texts share is counted on these sets.

Resemblance of two texts is the Jaccard index of their sets of 3-word shingles (Broder, "On the resemblance and
containment of documents", 1997). Here a word is a run of letters and digits with its case folded, so neither white
space, case nor punctuation makes a difference; in scripts that put no space between words, each character is one.
The hashes are kept in libraries: another way to make them needs another `METHOD`.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from hashlib import blake2b

METHOD = 1
SHINGLE_WORDS = 3
WORD_MASK = (1 << 64) - 1
# A shingle's hash is the sum of its words', each multiplied by the number of its place, modulo 2**64.
PLACES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)

# Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han: written without spaces.
_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks that Python counts to no word, and that stand within words: accents, Hebrew and Arabic points, Indic vowels.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0dff\u200c\u200d"
_WORDS = re.compile(rf"[{_SPACELESS}]|(?:(?![{_SPACELESS}])[\w{_MARKS}])+")
_ASCII_WORDS = re.compile(r"\w+", re.ASCII)
INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")  # soft hyphens and the like, which cut words for layout alone


class _WordHashes(dict[str, int]):
    """64-bit hash of each word, the same in every process; remembered, since a few words make up most of any text."""

    def __missing__(self, word: str) -> int:
        if len(self) >= 1_000_000:
            self.clear()
        hashed = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
        self[word] = hashed
        return hashed


hash_of = _WordHashes().__getitem__


class _Placed(dict[str, tuple[int, int, int]]):
    """A word's share in the hash of a shingle, by its place there."""

    def __missing__(self, word: str) -> tuple[int, int, int]:
        if len(self) >= 500_000:
            self.clear()
        hashed = hash_of(word)
        one, two, three = (hashed * place & WORD_MASK for place in PLACES)
        self[word] = one, two, three
        return one, two, three


_placed_of = _Placed().__getitem__


def words(text: str) -> list[str]:
    """The text's words, case folded. A text of signs alone gives what white space separates."""
    if text.isascii():
        found = _ASCII_WORDS.findall(text.lower())
    else:
        if INVISIBLE.search(text):
            text = INVISIBLE.sub("", text)
        found = _WORDS.findall(unicodedata.normalize("NFC", text).casefold())
    return found or text.split()


def shingles(text: str) -> set[int]:
    """The set of the text's shingles, as 64-bit hashes; a text of fewer than three words is one, none is none."""
    return set(shingles_in_order(text))


def shingles_in_order(text: str) -> list[int]:
    """The shingles as they stand in the text, one for every word that two others follow."""
    found = words(text)
    if 0 < len(found) < SHINGLE_WORDS:
        return [sum(hash_of(word) * place for word, place in zip(found, PLACES, strict=False)) & WORD_MASK]
    placed = list(map(_placed_of, found))
    return [
        (one[0] + two[1] + three[2]) & WORD_MASK
        for one, two, three in zip(placed, placed[1:], placed[2:], strict=False)
    ]


def packed(text: str) -> bytes:
    """`shingles` as they are kept: sorted, little-endian 64-bit words."""
    kept = array("Q", sorted(shingles(text)))
    if sys.byteorder != "little":
        kept.byteswap()
    return kept.tobytes()
