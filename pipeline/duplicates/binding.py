"""Which document a decision falls on now: its own file by what the disk knows of it, else by name, else by path.

All that is decided about one file is one origin, and origins are matched to documents one to one: first the file
itself, whatever it is called now (device, inode and time of its last change); then the document of its name; then,
for a file that was copied and deleted, the document whose path ends most like its name. None is better than a wrong
one, and no document is both cited first and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.duplicates.records import DecisionKind
from pipeline.store.decisions import ABOUT_DOCUMENTS, Kept
from pipeline.store.holdings import Holder

Bound = tuple[Kept, str | None]
_OPPOSITES: dict[DecisionKind, DecisionKind] = {"preferred": "left_out", "left_out": "preferred"}


@dataclass(slots=True)
class _Origin:
    """What was decided about one file of one content."""

    name: str
    identity: str
    kept: list[Kept] = field(default_factory=list)
    document: Holder | None = None

    @property
    def kinds(self) -> set[DecisionKind]:
        return {each.decision.kind for each in self.kept}

    @property
    def made_at(self) -> str:
        return max(each.decision.made_at for each in self.kept)

    def meant(self, document: Holder) -> bool:
        """Whether this may be its file under another name: it is none that was there already."""
        return not any(
            document.doc_id in each.others or (document.identity and document.identity in each.other_identities)
            for each in self.kept
        )


def bound(kept: Iterable[Kept], copies: Mapping[str, Sequence[Holder]]) -> list[Bound]:
    """Each decision about a document with the doc_id that it falls on, None where there is none. `copies`: content key
    -> the documents that hold it, by doc_id."""
    by_content: dict[str, dict[tuple[str, str], _Origin]] = {}
    for each in kept:
        decision = each.decision
        if decision.kind in ABOUT_DOCUMENTS:
            origins = by_content.setdefault(decision.subject, {})
            origin = origins.setdefault((decision.name, each.identity), _Origin(decision.name, each.identity))
            origin.kept.append(each)
    found: list[Bound] = []
    for subject, named in by_content.items():
        # What was decided last comes first, where two would have the same document.
        origins_in_order = sorted(named.values(), key=lambda each: each.name)
        origins_in_order.sort(key=lambda each: each.made_at, reverse=True)
        _match(origins_in_order, copies.get(subject, ()))
        found += _without_contradictions(origins_in_order)
    return found


def _match(origins: Sequence[_Origin], documents: Sequence[Holder]) -> None:
    taken: set[str] = set()

    def take(origin: _Origin, document: Holder) -> None:
        origin.document = document
        taken.add(document.doc_id)

    by_name = {document.doc_id: document for document in documents}
    by_identity: dict[str, list[Holder]] = {}
    for document in documents:
        if document.identity:
            by_identity.setdefault(document.identity, []).append(document)
    # Hard links are one file under several names: the name that it was decided under goes before the others.
    for by_its_name in (True, False):
        for origin in origins:
            same = by_identity.get(origin.identity, ()) if origin.document is None else ()
            free = [
                each for each in same if each.doc_id not in taken and (each.doc_id == origin.name or not by_its_name)
            ]
            if free:
                take(origin, max(free, key=lambda each: _same_tail(each.doc_id, origin.name)))
    for origin in origins:
        if origin.document is None and (same := by_identity.get(origin.identity, [])):
            origin.document = same[0]  # decided under a former name, and again under the one of now
    for origin in origins:
        named = by_name.get(origin.name) if origin.document is None else None
        if named is not None and named.doc_id not in taken:
            take(origin, named)
    loose = [origin for origin in origins if origin.document is None]
    for origin, document in _by_path(loose, [each for each in documents if each.doc_id not in taken]):
        take(origin, document)
    for origin in origins:
        if origin.document is None:
            origin.document = by_name.get(origin.name)


def _by_path(origins: Sequence[_Origin], documents: Sequence[Holder]) -> list[tuple[_Origin, Holder]]:
    """One to one, those first whose paths have most of their ends in common; then those of the same inode, which were
    moved and touched; then the smaller doc_id."""
    left = list(origins)
    free = {document.doc_id: document for document in documents}
    found: list[tuple[_Origin, Holder]] = []
    for length in range(max((_parts(origin.name) for origin in left), default=0), -1, -1):
        ends: dict[str, list[Holder]] = {}
        for document in free.values():
            ends.setdefault(_tail(document.doc_id, length), []).append(document)
        for touched in (True, False):
            still: list[_Origin] = []
            for origin in left:
                inode = _inode(origin.identity)
                fits = (
                    each
                    for each in ends.get(_tail(origin.name, length), ())
                    if each.doc_id in free
                    and (not touched or (inode and inode == _inode(each.identity)))
                    and origin.meant(each)
                )
                document_found = next(fits, None)
                if document_found is None:
                    still.append(origin)
                else:
                    del free[document_found.doc_id]
                    found.append((origin, document_found))
            left = still
    return found


def _tail(doc_id: str, length: int) -> str:
    """The last parts of a path; of one that has fewer, something that no path ends with."""
    parts = doc_id.split("/")
    return "/".join(parts[len(parts) - length :]) if length <= len(parts) else f"//{doc_id}"


def _parts(doc_id: str) -> int:
    return doc_id.count("/") + 1


def _inode(identity: str) -> str:
    """Device and inode without the time of the last change."""
    return identity.rpartition(":")[0]


def _same_tail(one: str, other: str) -> int:
    """How many parts of their paths are the same, counted from the end."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return next((number for number, (left, right) in enumerate(pairs) if left != right), min(map(_parts, (one, other))))


def _without_contradictions(origins: Sequence[_Origin]) -> list[Bound]:
    found: list[Bound] = []
    said: set[tuple[str, DecisionKind]] = set()
    for origin in origins:
        for each in sorted(origin.kept, key=lambda kept: kept.decision.made_at, reverse=True):
            kind = each.decision.kind
            doc_id = None if origin.document is None else origin.document.doc_id
            if doc_id is not None:
                opposite = _OPPOSITES.get(kind)
                if (doc_id, kind) in said or (opposite is not None and (doc_id, opposite) in said):
                    doc_id = None
                else:
                    said.add((doc_id, kind))
            found.append((each, doc_id))
    return found
