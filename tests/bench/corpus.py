"""Folders of invented documents with a known share of copies; the same for the same arguments, on every machine."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path


def _parts(text: str, between: str = " ") -> list[str]:
    return text.split(between)


_SUBJECTS = _parts(
    "customer engineer manager supplier auditor depot invoice contract shipment sensor server backup policy budget "
    "warehouse forecast meeting release incident schedule training license vehicle document archive department "
    "committee laboratory contractor network password account delivery inspection printer procedure report"
)
_VERBS = _parts(
    "reviews approves replaces records cancels returns measures forwards prepares compares checks stores signs "
    "announces delays updates repairs requests confirms collects publishes transfers counts explains"
)
_DETAILS = _parts(
    "before the end of the quarter|after a second inspection|without a written notice|within fourteen days|"
    "at the northern depot|together with the safety committee|for every new customer|in the shared folder|"
    "when the budget allows it|under the conditions of the contract|on the first Monday of the month|"
    "according to the revised procedure|because the previous figures were wrong|as soon as the shipment arrives|"
    "unless the auditor disagrees|for at least seven years|with a copy to the department|during the night shift",
    "|",
)
_ADJECTIVES = _parts(
    "annual local external internal damaged missing urgent final temporary confidential revised monthly technical "
    "regional second digital printed open"
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder and what was put into it: paragraphs of one chunk each."""

    folder: Path
    files: int
    paragraphs: int
    copies: int  # paragraphs that stand in an earlier file already


def paragraph(chance: random.Random, size: int = 740) -> str:
    """A paragraph of at least `size` characters: one chunk of its own, for two of them are more than a chunk holds."""
    sentences: list[str] = []
    while sum(map(len, sentences)) + len(sentences) < size:
        pick = chance.choice
        sentence = (
            f"The {pick(_ADJECTIVES)} {pick(_SUBJECTS)} {pick(_VERBS)} the {pick(_SUBJECTS)} {pick(_DETAILS)}, and "
            f"{pick(_SUBJECTS)} {chance.randint(2, 9_999)} {pick(_VERBS)} the {pick(_ADJECTIVES)} {pick(_SUBJECTS)}."
        )
        sentences.append(sentence)
    return " ".join(sentences)


def make_corpus(
    folder: Path, paragraphs: int, *, copies: float = 0.6, per_file: int = 4, size: int = 740, seed: int = 5
) -> Corpus:
    """Markdown files of `per_file` paragraphs, `paragraphs` in all, of which about the share `copies` are copies.

    As people make them: most copied files are whole ones under another name, each third one is an edited version,
    with one new paragraph among the old ones.
    """
    chance = random.Random(seed)
    files = max(2, round(paragraphs / per_file))
    originals: list[list[str]] = []
    copied = written = 0
    for number in range(files):
        if originals and copied < copies * (written + per_file):
            body = list(chance.choice(originals))
            if number % 3 == 0 and per_file > 1:
                body[chance.randrange(per_file)] = paragraph(chance, size)
                copied -= 1
            copied += per_file
            name = f"backup {number % 7}/document {number:05}.md"
        else:
            body = [paragraph(chance, size) for _ in range(per_file)]
            originals.append(body)
            name = f"documents/document {number:05}.md"
        written += per_file
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n\n".join(body) + "\n", "utf-8")
    return Corpus(folder, files, written, copied)
