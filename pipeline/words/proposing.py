"""Why a document is, or is not, proposed for removal, in words. Free of Qt."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.duplicates.records import Weighty, WeightyKind
from pipeline.words.phrases import count, file_name, listed
from pipeline.words.plain import one_line

HEAD = "the head of the family: the one the others are compared with"
HARD_LINK = "the same file under another name, no copy: letting it go would free nothing"
PROTECTED = "in a protected folder: nothing in it is ever proposed"
PREFERRED = "marked as preferred"
LEFT_OUT = "left out of searches already"
UNREAD = "only its bytes are known to be the same: its text could not be read"
INDENTED = "lines are indented otherwise, which matters in this kind of file"
PARTLY_READ = "not all of it could be read, so nobody knows what would go with it"
STALE = "its file changed and could not be read again: what is known of it is old"
MISSING = "its file is no longer there: index again"
CHANGED = "its file has changed since it was indexed: index again"
COPY_NOT_AS_INDEXED = "the file that would stay in its place is no longer as indexed: index again"
TOO_LITTLE = "too much of it does not stand in the head"
HOLDS_MORE = "it holds more than the head does"
IDENTICAL = "the same bytes as the head"
SAME_TEXT = "the same words as the head throughout"
NEAR = "differs from the head in case, punctuation, articles or spelling alone"
PART = "stands in the head word for word, but for case, punctuation and articles"

_MANY: dict[WeightyKind, str] = {
    "number": "numbers",
    "date": "dates",
    "name": "names",
    "negation": "negations",
    "word": "words",
}


def copy_of(path: str, same_bytes: bool) -> str:
    """Proposed as a copy of another member, whatever the head is like."""
    same = "the same bytes" if same_bytes else "the same words throughout"
    return f"{same} as \u201c{one_line(file_name(path), 60)}\u201d of this family, which stays"


def differs(words: Sequence[Weighty], in_all: int) -> str:
    """Not proposed, since words that matter differ from the head's."""
    shown = [_one(word) for word in words[:2]]
    kinds = listed([_MANY[kind] for kind in dict.fromkeys(word.kind for word in words)])
    more = f", {count(in_all, 'word')} in all" if in_all > len(shown) else ""
    return f"differs from the head in {kinds}: {'; '.join(shown)}{more}"


def _one(word: Weighty) -> str:
    here, there = one_line(word.in_head, 40), one_line(word.in_member, 40)
    if not word.in_head:
        return f"\u201c{there}\u201d here, not in the head"
    if not word.in_member:
        return f"\u201c{here}\u201d in the head, not here"
    return f"\u201c{here}\u201d in the head, \u201c{there}\u201d here"
