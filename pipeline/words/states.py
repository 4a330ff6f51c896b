"""States of documents and what was passed over, in words for the window and the command line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pipeline.records import Document, PassedOverRow, Root
from pipeline.words.sentences import count, number

# In the order in which they are told: what there is, what is wrong, what was left out, what differs on disk.
STATE_WORDS: Mapping[str, str] = {
    "indexed": "indexed",
    "no_text": "no text",
    "failed": "failed",
    "unknown_kind": "of unknown kind",
    "stale": "stale",
    "excluded": "excluded",
    "changed": "changed on disk",
    "missing": "missing on disk",
}
_COUNTED = {
    "link": ("link, not followed", "links, not followed"),
    "hidden": ("hidden name", "hidden names"),
    "special": ("device, socket or FIFO", "devices, sockets or FIFOs"),
    "own": ("name of the library's own", "names of the library's own"),
    "unreadable": ("name that cannot be read", "names that cannot be read"),
}


def counts_words(counts: Mapping[str, int]) -> str:
    """ "12 indexed, 3 failed, 120 of unknown kind"; "" where there is nothing."""
    return ", ".join(f"{number(counts[state])} {words}" for state, words in STATE_WORDS.items() if counts.get(state))


def left_out_words(left_out: Mapping[str, int]) -> str:
    """What was seen and is no document, but for what rules exclude: "3 links, not followed; 12 hidden names"."""
    return "; ".join(count(left_out[what], *words) for what, words in _COUNTED.items() if left_out.get(what))


def kinds_words(documents: Iterable[Document], most: int = 5) -> str:
    """Suffixes with how many files have them, the most frequent first: "100 .pyc, 20 .png, 3 others"."""
    return _tally((os.path.splitext(document.path)[1].lower() or "without a suffix" for document in documents), most)


def rules_words(rows: Iterable[PassedOverRow], most: int = 3) -> str:
    """Rules with how many names each leaves out: "10 by *.log, 4 by .gitignore: build/"."""
    held: Counter[str] = Counter()
    for row in rows:
        held[row.rule] += row.entries
    return _told([(f"by {rule}" if rule else "by other rules", n) for rule, n in held.most_common()], most)


def rules_of_root(root: Root) -> str:
    """The rules of a folder behind its path: " (without *.log; .gitignore files do not count)"; "" for none."""
    patterns = [line for line in root.exclude if line.strip() and not line.startswith("#")]
    rules = [f"without {' '.join(patterns)}"] if patterns else []
    rules += [] if root.gitignore else [".gitignore files do not count"]
    return f" ({'; '.join(rules)})" if rules else ""


def _tally(names: Iterable[str], most: int) -> str:
    return _told(Counter(names).most_common(), most)


def _told(ranked: Sequence[tuple[str, int]], most: int) -> str:
    parts = [f"{number(n)} {name}" for name, n in ranked[:most]]
    rest = sum(n for _, n in ranked[most:])
    return ", ".join([*parts, count(rest, "other")] if rest else parts)
