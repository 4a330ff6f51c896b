"""Finding a command from a few of its letters. Qt-free."""

from __future__ import annotations


def score(pattern: str, text: str) -> int | None:
    """How well the letters of `pattern` match `text`, in order; None when they do not. Higher is better.

    Letters at the beginning of words and runs of neighbouring letters count most.
    """
    wanted = pattern.casefold().replace(" ", "")
    found = text.casefold()
    if not wanted:
        return 0
    best: int | None = None
    # A greedy match from the first letter can miss a better one further on: try each place where it can begin.
    for begin in (index for index, letter in enumerate(found) if letter == wanted[0]):
        reached = _match(wanted, found, begin)
        if reached is not None and (best is None or reached > best):
            best = reached
    return best


def _match(wanted: str, text: str, begin: int) -> int | None:
    total = 0
    last = begin - 1
    for letter in wanted:
        at = text.find(letter, last + 1)
        if at < 0:
            return None
        if at == 0 or not text[at - 1].isalnum():
            total += 8
        if at == last + 1:
            total += 5
        total -= min(at - last - 1, 6)
        last = at
    return total - len(text) // 16
