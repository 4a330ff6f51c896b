"""Invented prose by a seed: sentences of invented words, in which nothing repeats by itself."""

from __future__ import annotations

import random

_STARTS = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru".split()  # noqa: SIM905
_ENDS = "lan mer nit pol rus sel tam vin wor zed ban ced fil gom hut".split()  # noqa: SIM905
WORDS = tuple(first + middle + last for first in _STARTS for middle in ("", "ra", "li") for last in _ENDS)


def prose(seed: int | str, words: int = 120) -> str:
    """Sentences of about a dozen small words, `words` in all, a paragraph every five sentences."""
    rng = random.Random(f"prose {seed}")
    sentences = []
    while words > 0:
        length = min(words, rng.randrange(9, 15))
        sentences.append(" ".join(rng.choices(WORDS, k=length)) + ".")
        words -= length
    return "\n\n".join(" ".join(sentences[start : start + 5]) for start in range(0, len(sentences), 5))


def changed(text: str, share: float, seed: int | str = 0) -> str:
    """The text with that share of its words, at least one, put in place of others."""
    rng = random.Random(f"changed {seed}")
    words = text.split(" ")
    for place in rng.sample(range(len(words)), max(1, round(len(words) * share))):
        words[place] = rng.choice(WORDS)
    return " ".join(words)
