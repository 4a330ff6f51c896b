"""Edited copies planted in real text, by a seed: what a search for duplicates has to find, and what it has to leave.

Passages and documents are taken from folders that are named, by default what is installed on this machine; nothing of
them is kept. What resembles an earlier one from the start is left out, counted here on sets of word triples by plain
Python, so that what is planted is all that there is to find.
"""

from __future__ import annotations

import random
import re
import site
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.chunk import split

_KINDS_OF_FILES = (".md", ".rst", ".txt", ".html", ".py")
_LARGEST_FILE = 400_000
_FEWEST_WORDS, _MOST_WORDS = 40, 220
PASSAGE_EDITS = ("exact", "white space and case", "2 words", "5 words", "a tenth", "a fifth", "half contained")
DOCUMENT_EDITS = ("exact copy", "light revision", "heavy revision", "inside a bigger file")
_NEW_WORDS = tuple(
    f"{start}{end}" for start in ("bra", "kel", "mor", "tis", "vun", "zor") for end in ("dol", "fen", "gam", "lix")
)


@dataclass(frozen=True, slots=True)
class Planted:
    """Texts, some of which are edited copies of others: (number of the original, of the copy) -> how it was edited.
    `topics` are pairs of documents of one topic that are no copies of each other."""

    texts: list[str]
    pairs: dict[tuple[int, int], str]
    topics: list[tuple[int, int]]


def default_folders() -> list[Path]:
    """Where a machine that runs this has real text."""
    return [Path("/usr/share/doc"), *map(Path, site.getsitepackages())]


def real_texts(folders: Sequence[Path], seed: int, suffixes: Sequence[str] = _KINDS_OF_FILES) -> Iterator[str]:
    """The texts of the files below these folders, in an order that the seed gives."""
    files = sorted(
        file
        for folder in folders
        for file in folder.rglob("*")
        if file.suffix in suffixes and file.is_file() and file.stat().st_size <= _LARGEST_FILE
    )
    random.Random(seed).shuffle(files)
    for file in files:
        text = file.read_bytes().decode("utf-8", "ignore")
        if file.suffix == ".py":  # what is written for people in it
            text = "\n\n".join(re.findall(r'"""(.+?)"""', text, re.DOTALL))
        yield text


def passages_of(texts: Iterator[str], most: int) -> Iterator[str]:
    """At most so many passages, as an index would cut them."""
    told = 0
    for text in texts:
        for start, end in split(text):
            passage = text[start:end].strip()
            if _FEWEST_WORDS <= len(passage.split()) <= _MOST_WORDS:
                yield passage
                told += 1
                if told == most:
                    return


def planted_passages(folders: Sequence[Path], *, base: int = 18_000, plants: int = 2_000, seed: int = 1) -> Planted:
    """`base` real passages that do not resemble each other, and `plants` edited copies of as many of them."""
    rng = random.Random(seed)
    reserve = plants // 5 + 1
    texts = _unlike(passages_of(real_texts(folders, seed), base * 4), base + reserve)
    texts, frames = texts[:-reserve], texts[-reserve:]
    originals = rng.sample(range(len(texts)), min(plants, len(texts)))
    pairs: dict[tuple[int, int], str] = {}
    for number, original in enumerate(originals):
        edit = PASSAGE_EDITS[number % len(PASSAGE_EDITS)]
        pairs[(original, len(texts))] = edit
        texts.append(edited(texts[original], edit, rng, frames[number % len(frames)]))
    return Planted(texts, pairs, [])


def planted_documents(folders: Sequence[Path], *, base: int = 1_500, plants: int = 300, seed: int = 2) -> Planted:
    """`base` real documents that do not resemble each other, and `plants` that were made from as many of them. A pair
    of one topic is the first and the second half of a document."""
    rng = random.Random(seed)
    documents = (text for text in real_texts(folders, seed) if 300 <= len(text.split()) <= 6_000)
    texts = _unlike(documents, base + plants)
    texts, others = texts[:-plants], texts[-plants:]
    chosen = rng.sample(range(len(texts)), min(2 * plants, len(texts)))
    pairs: dict[tuple[int, int], str] = {}
    for number, original in enumerate(chosen[:plants]):
        edit = DOCUMENT_EDITS[number % len(DOCUMENT_EDITS)]
        pairs[(original, len(texts))] = edit
        texts.append(_revised(texts[original], edit, rng, (others[number], others[number - 1])))
    topics: list[tuple[int, int]] = []
    for original in chosen[plants : plants + plants // 3]:
        words = texts[original].split(" ")
        texts[original] = " ".join(words[: len(words) // 2])
        topics.append((original, len(texts)))
        texts.append(" ".join(words[len(words) // 2 :]))
    return Planted(texts, pairs, topics)


def edited(text: str, edit: str, rng: random.Random, other: str = "") -> str:
    """A passage edited in one of `PASSAGE_EDITS`; `other` is what half of it is put into."""
    words = text.split()
    if edit == "exact":
        return text
    if edit == "white space and case":
        return "  ".join(word.upper() if rng.random() < 0.3 else word for word in words).replace("  ", "\n ", 3)
    if edit == "half contained":
        half = len(words) // 2 + 2  # the triples that the cut breaks are no longer in it
        start = rng.randrange(len(words) - half + 1)
        frame = other.split()
        cut = len(frame) // 2
        return " ".join([*frame[:cut], *words[start : start + half], *frame[cut:]])
    count = {"2 words": 2, "5 words": 5, "a tenth": len(words) // 10, "a fifth": len(words) // 5}[edit]
    return " ".join(_changed(words, count, rng))


def _changed(words: Sequence[str], count: int, rng: random.Random) -> list[str]:
    changed = list(words)
    for place in rng.sample(range(len(changed)), min(count, len(changed))):
        changed[place] = rng.choice(_NEW_WORDS)
    return changed


def _revised(text: str, edit: str, rng: random.Random, others: Sequence[str]) -> str:
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    if edit == "exact copy":
        return text
    if edit == "inside a bigger file":
        return "\n\n".join([others[0], text, others[1]])
    if edit == "light revision":
        share, moved, gone = 0.02, 0, 0
    else:
        share, moved, gone = 0.06, max(1, len(paragraphs) // 10), max(1, len(paragraphs) // 20)
    revised = [" ".join(_changed(part.split(), round(len(part.split()) * share), rng)) for part in paragraphs]
    for _ in range(moved):
        revised.insert(rng.randrange(len(revised)), revised.pop(rng.randrange(len(revised))))
    length = len(text.split())
    for _ in range(gone):
        short = [place for place, part in enumerate(revised) if len(part.split()) <= length // 20]
        if short:
            revised.pop(rng.choice(short))
    revised.insert(rng.randrange(len(revised) + 1), "A paragraph " + " ".join(rng.choices(_NEW_WORDS, k=25)) + ".")
    return "\n\n".join(revised)


def triples(text: str) -> set[tuple[str, ...]]:
    """The word triples of a text, counted here in a way of its own."""
    words = re.findall(r"\w+", text.lower())
    return set(zip(words, words[1:], words[2:], strict=False))


def _unlike(candidates: Iterator[str], wanted: int) -> list[str]:
    """The first so many that share less than a quarter of their triples with any before, and are no part of one."""
    kept: list[str] = []
    sizes: list[int] = []
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for text in candidates:
        own = triples(text)
        if len(own) < 20:
            continue
        shared: dict[int, int] = defaultdict(int)
        for triple in own:
            for holder in holders.get(triple, ()):
                shared[holder] += 1
        if any(
            4 * count >= len(own) + sizes[holder] - count or 3 * count >= min(len(own), sizes[holder])
            for holder, count in shared.items()
        ):
            continue
        for triple in own:
            holders[triple].append(len(kept))
        kept.append(text)
        sizes.append(len(own))
        if len(kept) == wanted:
            break
    return kept
