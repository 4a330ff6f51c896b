"""Use cases: deciding about documents by name, family, folder and rule; and the decisions as they fall on a library.

A decision about a document goes by its content and by its name: by content it is found again after a move, by name it
is told from byte-identical copies. When the file is edited, its content is another one and the decision does not
follow: nobody decided about the new content. `unbound_in` tells of such, and of content that is gone.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.duplicates.decided import NOTHING_DECIDED, Decided, lies_in
from pipeline.duplicates.records import Decision, DecisionKind, Family
from pipeline.errors import DecisionsError
from pipeline.library import LibraryReader
from pipeline.records import Root
from pipeline.store.decisions import ABOUT_DOCUMENTS, Batch, Change, Decisions, Kept, decisions_file
from pipeline.store.holdings import Holder
from pipeline.store.trash_journal import TRASHED, TrashJournal
from pipeline.words.phrases import count, listed

_UNDECODED = "bytes:"  # before the hex digits of a path that is no UTF-8; absolute paths do not begin so


@dataclass(frozen=True, slots=True)
class Unbound:
    """A decision that no document has now. `edited`: the document of its name holds another content, and the decision
    did not follow; else that content is not in the library."""

    decision: Decision
    edited: bool


# --- looking ---


def decided_in(library: Path) -> Decided:
    """The decisions of the library as they fall on its documents now. Raises `DecisionsError`, `LibraryError`."""
    if not decisions_file(library).exists():
        return NOTHING_DECIDED
    with closing(LibraryReader(library)) as reader, closing(Decisions(library)) as decisions:
        return decided_for(reader, decisions)


def decided_for(reader: LibraryReader, decisions: Decisions) -> Decided:
    """The same for a library and decisions that are open already."""
    kept = decisions.kept()
    with closing(TrashJournal(reader.folder)) as journal:
        went = {file.doc_id: file for _, file in journal.files(TRASHED)}
    if not kept and not went:
        return NOTHING_DECIDED
    with reader.catalog.snapshot():
        bound = _bound(kept, _holders(reader, kept))
        declined = _declined(reader, kept)
        known = reader.holdings.files(went)
        roots = reader.roots()
    found: dict[str, dict[str, Kept]] = {kind: {} for kind in ABOUT_DOCUMENTS}
    for each, doc_id in bound:
        if doc_id is not None:
            found[each.decision.kind][doc_id] = each
    folders = [path_of_subject(each.decision.subject) for each in kept if each.decision.kind == "protected"]
    return Decided(
        preferred=frozenset(found["preferred"]),
        left_out={doc_id: each.decision.made_at for doc_id, each in sorted(found["left_out"].items())},
        notes={doc_id: each.decision.value for doc_id, each in sorted(found["note"].items())},
        declined=declined,
        protected=tuple(sorted({name for folder in folders for name in _names_of(folder, roots)})),
        trashed={doc_id: file.path for doc_id, file in known.items() if file.content_key == went[doc_id].content_key},
    )


def unbound_in(library: Path) -> tuple[Unbound, ...]:
    """Decisions about documents that no document has now. Raises `DecisionsError`, `LibraryError`."""
    with closing(LibraryReader(library)) as reader, closing(Decisions(library)) as decisions:
        kept = decisions.kept()
        with reader.catalog.snapshot():
            loose = [each.decision for each, doc_id in _bound(kept, _holders(reader, kept)) if doc_id is None]
            there = reader.holdings.files([decision.name for decision in loose])
    return tuple(Unbound(decision, decision.name in there) for decision in loose)


# --- deciding ---


def decide_documents(
    library: Path,
    kind: DecisionKind,
    doc_ids: Collection[str],
    *,
    value: str | None = "",
    saying: str = "",
    seen: Mapping[str, str] | None = None,
) -> Batch:
    """preferred, left_out or note (`value` its words) for these documents; `value` None takes it back.

    A preferred document is not left out any more, nor a left-out one preferred, and of byte-identical copies one is
    preferred. `seen` holds the content keys that the user looked at. Raises `DecisionsError` when a document is not
    there, was never read or is another one than was looked at, and decides nothing then.
    """
    with _deciding(library) as (reader, decisions):
        desk = _Desk(reader, decisions, seen or {})
        desk.decide(kind, doc_ids, value)
        verb = f"take back {_KIND_WORDS[kind]}" if value is None else _KIND_WORDS[kind]
        return decisions.decide(desk.changes, saying or f"{verb}: {listed(sorted(doc_ids), 2)}")


def decide_folder(library: Path, kind: DecisionKind, folder: str, *, value: str | None = "", saying: str = "") -> Batch:
    """The same for every document below this folder (a path, or `<root label>/<path>`) that was ever read."""
    with _deciding(library) as (reader, decisions):
        inside = [each.doc_id for each in _below(reader, folder) if each.content_key is not None]
        if not inside:
            raise DecisionsError(f"the library has no document in {folder}")
        desk = _Desk(reader, decisions, {})
        desk.decide(kind, inside, value)
        verb = f"take back {_KIND_WORDS[kind]}" if value is None else _KIND_WORDS[kind]
        return decisions.decide(desk.changes, saying or f"{verb}: {count(len(inside), 'document')} in {folder}")


def leave_out_proposed(
    library: Path, families: Iterable[Family], *, prefer_heads: bool = True, folder: str | None = None
) -> Batch:
    """By rule: every proposed member of these families, or of them those below `folder`, is left out of searches and,
    if told so, their heads are preferred. Raises `DecisionsError` when one is not what the scan saw."""
    wanted = list(families)
    heads = {family.head.doc_id for family in wanted}
    seen = {member.doc_id: member.content_key for family in wanted for member in family.members}
    with _deciding(library) as (reader, decisions):
        inside = None if folder is None else {each.doc_id for each in _below(reader, folder)}
        chosen = {
            m.doc_id
            for family in wanted
            for m in family.members
            if m.proposed and m.doc_id not in heads and (inside is None or m.doc_id in inside)
        }
        touched = [family for family in wanted if any(m.doc_id in chosen for m in family.members)]
        desk = _Desk(reader, decisions, seen)
        if prefer_heads:
            desk.decide("preferred", [family.head.doc_id for family in touched], "")
        desk.decide("left_out", chosen, "")
        families_said = count(len(touched), "family", "families")
        return decisions.decide(desk.changes, f"leave out {count(len(chosen), 'copy', 'copies')} of {families_said}")


def decline(library: Path, families: Iterable[Family], *, take_back: bool = False) -> Batch:
    """These sets are not duplicates and not proposed again; or, taken back, they may be. A set with a new member is
    another one, be it of a content that was in it before."""
    with _deciding(library) as (reader, decisions):
        changes = [
            _not_duplicates(reader, family.key, {member.doc_id: member.content_key for member in family.members})
            for family in families
        ]
        if take_back:
            changes = [replace(change, value=None) for change in changes]
        verb = "may be duplicates again" if take_back else "not duplicates"
        return decisions.decide(changes, f"{verb}: {listed([change.name for change in changes], 1)}")


def decline_documents(library: Path, doc_ids: Collection[str]) -> Batch:
    """The same for these documents alone, whatever family they are in."""
    from pipeline.duplicates.ground import family_key

    with _deciding(library) as (reader, decisions):
        keys = _Desk(reader, decisions, {}).keys_of(doc_ids)
        if len(keys) < 2:
            raise DecisionsError("one document alone is no duplicate: name two or more")
        change = _not_duplicates(reader, family_key(keys.values()), keys)
        return decisions.decide([change], f"not duplicates: {change.name}")


def take_back_declined(library: Path, doc_ids: Collection[str]) -> Batch:
    """Every set that was said not to be duplicates and holds all these documents may be duplicates again."""
    with _deciding(library) as (reader, decisions):
        keys = set(_Desk(reader, decisions, {}).keys_of(doc_ids).values())
        changes = [
            Change("not_duplicates", each.subject, each.name, None)
            for each in decisions.all("not_duplicates")
            if keys <= set(each.value.split())
        ]
        return decisions.decide(changes, f"may be duplicates again: {listed([change.name for change in changes], 1)}")


def protect(library: Path, folders: Iterable[str], *, take_back: bool = False) -> Batch:
    """Nothing in these folders is ever proposed, nor moved to the trash; or, taken back, it may be. Folders by path, or
    as `<root label>/<path>`. Raises `DecisionsError` for one that is not there; taking back needs none."""
    with _deciding(library) as (reader, decisions):
        paths = [_folder_path(reader, folder, must_exist=not take_back) for folder in folders]
        value = None if take_back else ""
        changes = [Change("protected", subject_of_path(path), shown_path(path), value) for path in paths]
        verb = "protect no longer" if take_back else "protect"
        return decisions.decide(changes, f"{verb}: {listed([change.name for change in changes], 2)}")


def subject_of_path(path: str) -> str:
    """A folder's path as it is stored: exactly, although names of files need not be Unicode."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return _UNDECODED + os.fsencode(path).hex()
    return path


def path_of_subject(subject: str) -> str:
    """The path that `subject_of_path` was given."""
    if subject.startswith(_UNDECODED):
        return os.fsdecode(bytes.fromhex(subject.removeprefix(_UNDECODED)))
    return subject


def shown_path(path: str) -> str:
    """The path as readable text that can be stored."""
    return os.fsencode(path).decode("utf-8", "backslashreplace") if os.sep == "/" else path


_KIND_WORDS: dict[DecisionKind, str] = {
    "preferred": "prefer",
    "left_out": "leave out",
    "note": "note",
    "not_duplicates": "not duplicates",
    "protected": "protect",
}


# --- documents and their decisions ---


@contextmanager
def _deciding(library: Path) -> Iterator[tuple[LibraryReader, Decisions]]:
    with closing(LibraryReader(library)) as reader, closing(Decisions(library)) as decisions, reader.catalog.snapshot():
        yield reader, decisions


class _Desk:
    """Changes in the making, on one state of the library."""

    def __init__(self, reader: LibraryReader, decisions: Decisions, seen: Mapping[str, str]) -> None:
        self._reader = reader
        self._kept = decisions.kept()
        self._seen = seen
        self.changes: list[Change] = []

    def decide(self, kind: DecisionKind, doc_ids: Collection[str], value: str | None) -> None:
        keys = self.keys_of(doc_ids)
        copies: dict[str, list[str]] = {}
        for holder in self._reader.holdings.holders(set(keys.values()) | _subjects(self._kept)):
            copies.setdefault(holder.content_key or "", []).append(holder.doc_id)
        now = {(each.decision.kind, doc_id): each for each, doc_id in _bound(self._kept, copies) if doc_id is not None}
        for doc_id, key in keys.items():
            held = now.get((kind, doc_id))
            if held is not None and (value is None or held.decision.name != doc_id):
                self._take_back(held)
            if value is None:
                continue
            others = tuple(other for other in copies[key] if other != doc_id)
            self.changes.append(Change(kind, key, doc_id, value, others))
            if kind == "preferred":
                self._take_back(now.get(("left_out", doc_id)))
                for other in others:
                    if other not in keys:
                        self._take_back(now.get(("preferred", other)))
            elif kind == "left_out":
                self._take_back(now.get(("preferred", doc_id)))

    def keys_of(self, doc_ids: Collection[str]) -> dict[str, str]:
        """The content key of each of these documents. Raises `DecisionsError` when one is not there, was never read,
        or is not what was looked at."""
        files = self._reader.holdings.files(doc_ids)
        keys = {}
        for doc_id in sorted(set(doc_ids)):
            if doc_id not in files:
                raise DecisionsError(f"the library has no document {doc_id}")
            key = files[doc_id].content_key
            if key is None:
                raise DecisionsError(f"{doc_id} was never read, and a decision goes by what a file holds")
            if self._seen.get(doc_id, key) != key:
                raise DecisionsError(f"{doc_id} has changed since it was looked at: look for duplicates again first")
            keys[doc_id] = key
        return keys

    def _take_back(self, held: Kept | None) -> None:
        if held is not None:
            self.changes.append(Change(held.decision.kind, held.decision.subject, held.decision.name, None))


def _not_duplicates(reader: LibraryReader, key: str, members: Mapping[str, str]) -> Change:
    """`members`: doc_id -> content key. Documents of the same contents that are there already are no new members."""
    others = [each.doc_id for each in reader.holdings.holders(set(members.values())) if each.doc_id not in members]
    return Change("not_duplicates", key, listed(list(members), 2), " ".join(sorted(members.values())), tuple(others))


def _declined(reader: LibraryReader, kept: Iterable[Kept]) -> dict[str, frozenset[str]]:
    """The sets that are not proposed: those that no document has joined since."""
    sets = [each for each in kept if each.decision.kind == "not_duplicates"]
    held = Counter(
        each.content_key
        for each in reader.holdings.holders({key for each in sets for key in each.decision.value.split()})
    )
    found = {}
    for each in sets:
        keys = each.decision.value.split()
        if sum(held[key] for key in set(keys)) <= len(keys) + len(each.others):
            found[each.decision.subject] = frozenset(keys)
    return found


def _subjects(kept: Iterable[Kept]) -> set[str]:
    return {each.decision.subject for each in kept if each.decision.kind in ABOUT_DOCUMENTS}


def _holders(reader: LibraryReader, kept: Sequence[Kept]) -> dict[str, list[str]]:
    """Content key -> doc_ids that hold it, in order."""
    copies: dict[str, list[str]] = {}
    for holder in reader.holdings.holders(_subjects(kept)):
        copies.setdefault(holder.content_key or "", []).append(holder.doc_id)
    return copies


def _bound(kept: Iterable[Kept], copies: Mapping[str, Sequence[str]]) -> list[tuple[Kept, str | None]]:
    """Each decision about a document with the document that it falls on now.

    The one of its name, if that still holds the content. Else its file has moved: among the other documents of that
    content, without those that were there already and not meant, the one whose path ends most like its name; the
    smaller doc_id where two do. None is better than a wrong one.
    """
    groups: dict[tuple[str, str], list[Kept]] = {}
    for each in kept:
        if each.decision.kind in ABOUT_DOCUMENTS:
            groups.setdefault((each.decision.kind, each.decision.subject), []).append(each)
    bound: list[tuple[Kept, str | None]] = []
    for (_, subject), group in groups.items():
        there = copies.get(subject, ())
        taken = {each.decision.name for each in group}
        for each in group:
            name = each.decision.name
            found: str | None = name if name in there else None
            if found is None:
                free = [doc_id for doc_id in there if doc_id not in taken and doc_id not in each.others]
                found = min(free, key=lambda doc_id: (-_same_tail(doc_id, name), doc_id), default=None)
                taken |= {found} if found else set()
            bound.append((each, found))
    return bound


def _same_tail(one: str, other: str) -> int:
    """How many parts of their paths are the same, counted from the end."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return next((number for number, (left, right) in enumerate(pairs) if left != right), min(map(_parts, (one, other))))


def _parts(doc_id: str) -> int:
    return doc_id.count("/") + 1


# --- folders ---


def _below(reader: LibraryReader, folder: str) -> list[Holder]:
    path = _folder_path(reader, folder, must_exist=False)
    names = _names_of(path, reader.roots())
    return [each for each in reader.holdings.every_document() if any(lies_in(each.path, name) for name in names)]


def _folder_path(reader: LibraryReader, folder: str, *, must_exist: bool) -> str:
    """The absolute path that is meant by a path or by `<root label>/<path>`."""
    label, _, rest = folder.rstrip("/").partition("/")
    root = next((root for root in reader.roots() if root.label == label), None)
    path = os.path.abspath(os.path.expanduser(folder))
    if root is not None and not os.path.isabs(folder) and not os.path.isdir(path):
        path = os.path.normpath(os.path.join(root.path, rest))
    if must_exist and not os.path.isdir(path):
        raise DecisionsError(f"there is no folder {folder}")
    return path


def _names_of(folder: str, roots: Sequence[Root]) -> set[str]:
    """The folder under every name by which a document's path may begin: links above a root are resolved, and below one
    there are none."""
    real = os.path.realpath(folder)
    names = {folder, real}
    for root in roots:
        real_root = os.path.realpath(root.path)
        if real == real_root or lies_in(real_root, real):
            names.add(root.path)
        elif lies_in(real, real_root):
            names.add(os.path.join(root.path, os.path.relpath(real, real_root)))
    return names
