"""What would happen if files went to the trash: exactly which, what would be lost, what is refused and why.

A file goes only while everything that it holds stands in another served document, decided over all files that go
together, with the files of those others checked byte by byte; or after the user has confirmed what exactly is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.duplicates.deciding import decided_for
from pipeline.duplicates.on_disk import NotAsIndexed, OnDisk, movable, verified
from pipeline.duplicates.own_files import is_programs_own
from pipeline.duplicates.records import LostPassage
from pipeline.duplicates.trash_places import lies_in_trash
from pipeline.library import LibraryReader
from pipeline.progress import CancelToken
from pipeline.store.decisions import Decisions
from pipeline.store.holdings import IndexedFile
from pipeline.words.phrases import count

RefusalKind = Literal[
    "unknown",  # the library has no such document
    "protected",  # it lies in a protected folder
    "program",  # it belongs to the program, such as the sample's documents
    "missing",  # there is no such file any more
    "link",  # it, or a folder on the way to it, is a link
    "changed",  # it is not what was indexed
    "unreadable",  # it cannot be opened to be checked
    "never_read",  # what it holds was never known
    "read_only",  # it cannot be moved from where it lies
]
_MOST_NAMED = 5  # documents that keep the texts of one that goes


@dataclass(frozen=True, slots=True)
class TrashItem:
    """A file that would go.

    `last_copy`: something is lost with it, `why_last` says what in words, and `lost` counts its passages that stand in
    no other served document. `kept_in` names documents that keep its texts. `hard_link`: the disk knows the same file
    by another name, which stays, so no room is freed; `doubles` are those of its names that the library knows.
    """

    doc_id: str
    path: str
    size: int
    mtime_ns: int
    content_key: str
    last_copy: bool = False
    why_last: str = ""
    lost: int = 0
    kept_in: tuple[str, ...] = ()
    hard_link: bool = False
    doubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrashRefusal:
    """A file that does not go, and why."""

    doc_id: str
    path: str
    kind: RefusalKind
    why: str


@dataclass(frozen=True, slots=True)
class TrashPlan:
    """Exactly what would go, what would be lost by it, and what is refused."""

    library: str
    generation: int
    items: tuple[TrashItem, ...]
    refused: tuple[TrashRefusal, ...] = ()
    lost: tuple[LostPassage, ...] = ()

    @property
    def last_copies(self) -> tuple[TrashItem, ...]:
        return tuple(item for item in self.items if item.last_copy)

    @property
    def size(self) -> int:
        """Bytes of all files that would go."""
        return sum(item.size for item in self.items)


@dataclass(frozen=True, slots=True)
class Going:
    """A file of a plan with what was seen on the disk, and the files that keep what it holds, as they were seen."""

    item: TrashItem
    file: IndexedFile
    seen: OnDisk
    keepers: tuple[tuple[IndexedFile, OnDisk], ...]


def plan_trash(library: Path, doc_ids: Collection[str], *, token: CancelToken | None = None) -> TrashPlan:
    """What would happen if the files of these documents went to the trash together. Touches nothing; reads those files
    and the ones that would keep their texts. Raises `LibraryError`, `DecisionsError`, `Cancelled`."""
    return planned(library, doc_ids, token)[0]


def planned(
    library: Path, doc_ids: Collection[str], token: CancelToken | None = None
) -> tuple[TrashPlan, tuple[Going, ...]]:
    """The plan, and its items with what was seen of their files."""
    with (
        closing(LibraryReader(library)) as reader,
        closing(Decisions(library)) as decisions,
        reader.catalog.snapshot() as state,
    ):
        decided = decided_for(reader, decisions)
        files = reader.holdings.files(doc_ids)
        refused: list[TrashRefusal] = []
        seen: dict[str, OnDisk] = {}
        for doc_id in sorted(set(doc_ids)):
            file = files.get(doc_id)
            if file is None:
                refused.append(TrashRefusal(doc_id, "", "unknown", "the library has no such document"))
            elif is_programs_own(file.path):
                refused.append(_refusal(file, "program", "it belongs to the program, which needs it where it is"))
            elif decided.protects(file.path):
                refused.append(_refusal(file, "protected", "it lies in a protected folder"))
            else:
                try:
                    seen[doc_id] = verified(file, token)
                except NotAsIndexed as error:
                    refused.append(_refusal(file, error.trouble, str(error)))
                    continue
                if why := movable(file):
                    refused.append(_refusal(file, "read_only", why))
                    del seen[doc_id]
        keeping = _Keeping(reader, {doc_id: files[doc_id] for doc_id in seen}, seen, decided.left_out, token)
        going = tuple(keeping.going(doc_id) for doc_id in seen)
        items = tuple(each.item for each in going)
        return TrashPlan(str(library), state.generation, items, tuple(refused), keeping.lost()), going


def _refusal(file: IndexedFile, kind: RefusalKind, why: str) -> TrashRefusal:
    return TrashRefusal(file.doc_id, file.path, kind, why)


class _Keeping:
    """What stays of the texts of all files that go together, and where."""

    def __init__(
        self,
        reader: LibraryReader,
        files: Mapping[str, IndexedFile],
        seen: Mapping[str, OnDisk],
        left_out: Collection[str],
        token: CancelToken | None,
    ) -> None:
        self._reader = reader
        self._files = files
        self._seen = seen
        self._left_out = left_out
        self._token = token
        self._checked: dict[str, tuple[IndexedFile, OnDisk] | None] = {}
        # Names of one file that go: the file itself stays only while the disk knows it by more names than these.
        self._names_going = Counter((found.inode, found.device) for found in seen.values())
        self._passages: dict[str, list[tuple[int, str]]] = {doc_id: [] for doc_id in files}
        for doc_id, index, fold_key in reader.holdings.passages(files):
            self._passages[doc_id].append((index, fold_key))
        self._kept_by = self._keepers_of_texts()
        silent = [file.content_key or "" for file in files.values() if self._is_silent(file)]
        self._copies: dict[str, list[IndexedFile]] = {}
        for other in reader.holdings.files_of_content(silent).values() if silent else ():
            self._copies.setdefault(other.content_key or "", []).append(other)

    def going(self, doc_id: str) -> Going:
        """The file with what is lost by it and what keeps the rest."""
        file, passages = self._files[doc_id], self._passages[doc_id]
        lost = sum(fold_key not in self._kept_by for _, fold_key in passages)
        keepers = {self._kept_by[fold_key] for _, fold_key in passages if fold_key in self._kept_by}
        why = ""
        if lost:
            part = "its whole text" if lost == len(passages) else f"{lost:,} of its {count(len(passages), 'passage')}"
            why = f"{part} would stand in no other document that searches find"
        elif self._is_silent(file):
            copy = self._copy_of(file)
            keepers |= {copy} if copy else set()
            unread = f"not all of it could be read ({file.unread})" if passages else "no text of it is known"
            why = "" if copy else f"{unread}, and no other document has the same content"
        found = self._seen[doc_id]
        item = TrashItem(
            doc_id,
            file.path,
            file.size,
            file.mtime_ns,
            file.content_key or "",
            last_copy=bool(why),
            why_last=why,
            lost=lost,
            kept_in=tuple(sorted(keepers)[:_MOST_NAMED]),
            hard_link=found.links > 1,
            doubles=tuple(self._reader.holdings.same_inode(file)) if found.links > 1 else (),
        )
        return Going(item, file, found, tuple(kept for name in sorted(keepers) if (kept := self._checked[name])))

    def lost(self) -> tuple[LostPassage, ...]:
        """The passages that stand nowhere else, each once, by doc_id and place."""
        found: list[LostPassage] = []
        told: set[str] = set()
        for doc_id, passages in self._passages.items():
            gone = {index: key for index, key in passages if key not in self._kept_by}
            if not gone:
                continue
            whole = self._reader.document_text(doc_id)
            for chunk in whole.chunks:
                key = gone.get(chunk.chunk_index)
                if key is not None and key not in told:
                    told.add(key)
                    text = whole.text[chunk.start : chunk.end]
                    found.append(LostPassage(doc_id, chunk.chunk_index, chunk.start, chunk.end, text))
        return tuple(found)

    def _keepers_of_texts(self) -> dict[str, str]:
        """Fold key -> a served document that stays and holds it, its file checked. As few files as will do."""
        wanted = {fold_key for passages in self._passages.values() for _, fold_key in passages}
        holders = {
            fold_key: [name for name in names if name not in self._files and name not in self._left_out]
            for fold_key, names in self._reader.holdings.served_holders(wanted).items()
        }
        often = Counter(name for names in holders.values() for name in names)
        others = self._reader.holdings.files(often)
        kept: dict[str, str] = {}
        for fold_key, names in sorted(holders.items()):
            for name in sorted(names, key=lambda name: (-often[name], name)):
                if self._stays(others[name]):
                    kept[fold_key] = name
                    break
        return kept

    def _copy_of(self, file: IndexedFile) -> str:
        """A document that stays and holds the very same bytes; "" when none does."""
        for other in self._copies.get(file.content_key or "", ()):
            if other.doc_id not in self._files and other.doc_id not in self._left_out and self._stays(other):
                return other.doc_id
        return ""

    def _is_silent(self, file: IndexedFile) -> bool:
        """Whether nothing is known of the file that its bytes would not have to tell."""
        return not self._passages[file.doc_id] or file.state != "indexed" or bool(file.unread)

    def _stays(self, file: IndexedFile) -> bool:
        if file.doc_id not in self._checked:
            try:
                found = verified(file, self._token)
            except NotAsIndexed:
                self._checked[file.doc_id] = None
            else:
                alone = found.links <= self._names_going[(found.inode, found.device)]
                self._checked[file.doc_id] = None if alone or lies_in_trash(file.path) else (file, found)
        return self._checked[file.doc_id] is not None
