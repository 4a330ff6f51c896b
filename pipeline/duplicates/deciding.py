"""Use cases: deciding about documents by name, family, folder and rule; and the decisions as they fall on a library.

A decision about a document goes by its content and its file: see `pipeline.duplicates.binding` for how it finds its
document after a move, among byte-identical copies. When the file is edited, its content is another one and the
decision does not follow: nobody decided about the new content. `unbound_in` tells of such, and of content that is gone.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.duplicates.binding import bound
from pipeline.duplicates.decided import NOTHING_DECIDED, Decided
from pipeline.duplicates.folders import below, folder_path, names_of
from pipeline.duplicates.records import Decision, DecisionKind, Family
from pipeline.errors import DecisionsError
from pipeline.library import LibraryReader
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
        falls = bound(kept, _holders(reader, _subjects(kept)))
        declined = _declined(reader, kept)
        known = reader.holdings.files(went)
        roots = reader.roots()
    found: dict[str, dict[str, Kept]] = {kind: {} for kind in ABOUT_DOCUMENTS}
    for each, doc_id in falls:
        if doc_id is not None:
            found[each.decision.kind][doc_id] = each
    folders = [path_of_subject(each.decision.subject) for each in kept if each.decision.kind == "protected"]
    return Decided(
        preferred=frozenset(found["preferred"]),
        left_out={doc_id: each.decision.made_at for doc_id, each in sorted(found["left_out"].items())},
        notes={doc_id: each.decision.value for doc_id, each in sorted(found["note"].items())},
        declined=declined,
        protected=tuple(sorted({name for folder in folders for name in names_of(folder, roots)})),
        trashed={doc_id: file.path for doc_id, file in known.items() if file.content_key == went[doc_id].content_key},
    )


def unbound_in(library: Path) -> tuple[Unbound, ...]:
    """Decisions about documents that no document has now. Raises `DecisionsError`, `LibraryError`."""
    with closing(LibraryReader(library)) as reader, closing(Decisions(library)) as decisions:
        kept = decisions.kept()
        with reader.catalog.snapshot():
            loose = [each.decision for each, doc_id in bound(kept, _holders(reader, _subjects(kept))) if doc_id is None]
            there = reader.holdings.files([decision.name for decision in loose])
    return tuple(Unbound(decision, decision.name in there) for decision in loose)


def see_files(library: Path) -> None:
    """Keep with every decision the identity that its file has now, so that it follows the next move as well. Called at
    the end of an indexing run. Raises `DecisionsError`, `LibraryError`."""
    if not decisions_file(library).exists():
        return
    with _deciding(library) as (reader, decisions):
        kept = decisions.kept()
        copies = _holders(reader, _subjects(kept))
        seen = []
        for each, doc_id in bound(kept, copies):
            if doc_id is None:
                continue
            there = copies[each.decision.subject]
            (own,) = (document.identity for document in there if document.doc_id == doc_id)
            others = {
                document.identity
                for document in there
                if (document.doc_id in each.others or document.identity in each.other_identities)
                and document.identity not in ("", own)
            }
            now = replace(each, identity=own, other_identities=tuple(sorted(others)))
            if now != each:
                seen.append(now)
        if seen:
            decisions.saw(seen)


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
        inside = [each.doc_id for each in below(reader, folder) if each.content_key is not None]
        if not inside:
            raise DecisionsError(f"the library has no document in {folder}")
        desk = _Desk(reader, decisions, {})
        desk.decide(kind, inside, value)
        verb = f"take back {_KIND_WORDS[kind]}" if value is None else _KIND_WORDS[kind]
        return decisions.decide(desk.changes, saying or f"{verb}: {count(len(inside), 'document')} in {folder}")


def proposed_in(library: Path, families: Iterable[Family], folder: str | None = None) -> tuple[str, ...]:
    """The documents that `leave_out_proposed` would leave out. Raises as it does."""
    with closing(LibraryReader(library)) as reader, reader.catalog.snapshot():
        return tuple(sorted(_proposed(reader, list(families), folder)))


def documents_in(library: Path, folder: str) -> tuple[str, ...]:
    """The documents that `decide_folder` would decide about. Raises `LibraryError`."""
    with closing(LibraryReader(library)) as reader, reader.catalog.snapshot():
        return tuple(each.doc_id for each in below(reader, folder) if each.content_key is not None)


def _proposed(reader: LibraryReader, families: Sequence[Family], folder: str | None) -> set[str]:
    inside = None if folder is None else {each.doc_id for each in below(reader, folder)}
    heads = {family.head.doc_id for family in families}
    return {
        m.doc_id
        for family in families
        for m in family.members
        if m.proposed and m.doc_id not in heads and (inside is None or m.doc_id in inside)
    }


def leave_out_proposed(
    library: Path, families: Iterable[Family], *, prefer_heads: bool = True, folder: str | None = None
) -> Batch:
    """By rule: every proposed member of these families, or of them those below `folder`, is left out of searches and,
    if told so, their heads are preferred. Raises `DecisionsError` when one is not what the scan saw."""
    wanted = list(families)
    seen = {member.doc_id: member.content_key for family in wanted for member in family.members}
    with _deciding(library) as (reader, decisions):
        chosen = _proposed(reader, wanted, folder)
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
        paths = [folder_path(reader, folder, must_exist=not take_back) for folder in folders]
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
        copies = _holders(self._reader, set(keys.values()) | _subjects(self._kept))
        falls = [(each, doc_id) for each, doc_id in bound(self._kept, copies) if doc_id is not None]
        now = {(each.decision.kind, doc_id): each for each, doc_id in falls}
        moved = {(each.decision.kind, each.decision.name): doc_id for each, doc_id in falls}
        for doc_id, key in keys.items():
            held = now.get((kind, doc_id))
            if held is not None and (value is None or held.decision.name != doc_id):
                self._take_back(held)
            if value is None:
                continue
            elsewhere = moved.get((kind, doc_id), doc_id)
            if elsewhere != doc_id and elsewhere not in keys:
                # What was decided about another file under this name stays with that file, under its name of now.
                self.changes.append(_change(kind, elsewhere, now[kind, elsewhere].decision.value, copies[key]))
            self.changes.append(_change(kind, doc_id, value, copies[key]))
            if kind == "preferred":
                self._take_back(now.get(("left_out", doc_id)))
                for other in copies[key]:
                    if other.doc_id not in keys:
                        self._take_back(now.get(("preferred", other.doc_id)))
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


def _change(kind: DecisionKind, doc_id: str, value: str, copies: Sequence[Holder]) -> Change:
    """`copies`: all documents of its content, itself among them."""
    (meant,) = (each for each in copies if each.doc_id == doc_id)
    others = [each for each in copies if each.doc_id != doc_id]
    return Change(
        kind,
        meant.content_key or "",
        doc_id,
        value,
        tuple(each.doc_id for each in others),
        meant.identity,
        tuple(each.identity for each in others if each.identity not in ("", meant.identity)),
    )


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


def _holders(reader: LibraryReader, content_keys: Collection[str]) -> dict[str, list[Holder]]:
    """Content key -> the documents that hold it, in order."""
    copies: dict[str, list[Holder]] = {}
    for holder in reader.holdings.holders(content_keys):
        copies.setdefault(holder.content_key or "", []).append(holder)
    return copies
