"""One indexing run: compare the folders with the catalog, read what is new, take out what is gone.

The scan is merged with the catalog by path, and what is to be done goes into temporary tables: nothing here grows with
a folder but the figures.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.embed.port import Encoder
from pipeline.errors import RootError
from pipeline.extract.pool import ReaderPool
from pipeline.index_intake import Intake
from pipeline.index_settings import IndexSettings
from pipeline.library import save_vectors
from pipeline.progress import CancelToken, ProgressTeller
from pipeline.records import PassedOverRow, Root
from pipeline.scan import FileEntry, PassedOver, Scan
from pipeline.store.catalog import Catalog
from pipeline.store.worklist import KnownRow, ToRead, Worklist
from pipeline.store.writer import CatalogWriter, KnownFile, path_bytes

_NOTE_ROWS = 500  # put into the worklist at a time
_LOOK_ENTRIES = 128  # between two looks at the clock while scanning


@dataclass(frozen=True, slots=True)
class How:
    """`full` reads every file again, `retry_failed` those that failed before. `within` narrows a root to some of its
    files and folders, as paths below it, by the root's id; roots that are not named are looked at as a whole."""

    full: bool = False
    retry_failed: bool = False
    within: Mapping[int, Sequence[str]] = field(default_factory=dict)


class Run:
    """One run over some roots. The caller holds the writer's lock."""

    def __init__(
        self,
        library: Path,
        catalog: Catalog,
        writer: CatalogWriter,
        worklist: Worklist,
        encoder: Encoder,
        teller: ProgressTeller,
        cancel: CancelToken,
        settings: IndexSettings,
        how: How,
    ) -> None:
        self._library, self._catalog, self._writer, self._worklist = library, catalog, writer, worklist
        self._encoder, self._teller, self._cancel = encoder, teller, cancel
        self._settings, self._how = settings, how
        self._intake = Intake(writer, worklist, encoder, teller, cancel)
        self.counts: Counter[str] = Counter()
        self.unreachable: list[str] = []
        self._unfinished = writer.unfinished()
        self._cut_off = self._unfinished  # the last run was, and has left what nobody holds any more
        self._changed_anything = False
        self._found = 0  # files that the scans have seen
        self._expected = 0  # documents that the library holds once the run has come to its end

    def all(self, roots: Sequence[Root]) -> None:
        """Bring these roots up to date. Raises `RootError` at the end when one was out of reach."""
        try:
            seen = [root for root in roots if self._compare(root)]
            to_read, quick = self._worklist.count_to_read(), self.counts.total()
            self._expected = self._catalog.facts().documents + self._worklist.growth()
            self._teller.tell(force=True, stage="reading", advance=quick, unread=quick, total=quick + to_read)
            for root in seen:
                if self._worklist.count_to_read(root.id):
                    self._read(root)
            self.counts.update(self._intake.counts)
            self._teller.tell(force=True, stage="finishing", current="")
            self._clear_away()
        finally:
            self._intake.close()
        self._save()
        if self.unreachable:
            raise RootError("; ".join(self.unreachable) + ": the library keeps what it had of it")

    @property
    def wrote(self) -> bool:
        """Whether anything in the library was changed."""
        return self._changed_anything

    # --- comparing ----------------------------------------------------------------------------------------------

    def _compare(self, root: Root) -> bool:
        """Note what of the root is to be read and what is gone; False when it cannot be reached."""
        counts: Counter[str] = Counter()
        places = self._how.within.get(root.id, ("",))
        passed_over: PassedOver | None = None
        try:
            for place in places:
                scan = Scan(
                    Path(root.path),
                    exclude=root.exclude,
                    gitignore=root.gitignore,
                    library=self._library,
                    within=place,
                    cancel=self._cancel,
                )
                self._merge(root, place, scan, counts)
                self._refuse_stand_in(root)
                passed_over = scan.passed_over if not place else None
        except RootError as error:
            self._worklist.drop_root(root.id)
            self.unreachable.append(str(error))
            return False
        self.counts.update(counts)
        if passed_over is not None:
            self._note_passed_over(root, passed_over)
        return True

    def _refuse_stand_in(self, root: Root) -> None:
        """Where a drive or a share is not there, its empty mount point stands in its place. An empty folder that is not
        the one that was indexed says nothing of the files. Raises `RootError`."""
        try:
            facts = os.stat(root.path)
            with os.scandir(root.path) as entries:
                empty = next(entries, None) is None
        except OSError as error:
            raise RootError(f"{root.path} cannot be read: {error.strerror or error}") from error
        before, now = self._writer.root_identity(root.id), f"{facts.st_dev}:{facts.st_ino}"
        if empty and before not in ("", now):
            raise RootError(
                f"{root.path} is empty and not the folder that was indexed "
                "(a drive or share that is not there looks so)"
            )
        if not empty and before != now:
            self._writer.set_root_identity(root.id, now)

    def _merge(self, root: Root, place: str, scan: Scan, counts: Counter[str]) -> None:
        """Both sides come in the order of their paths' bytes."""
        known = self._worklist.known(root.id, place)
        to_read: list[ToRead] = []
        gone: list[int] = []
        row = next(known, None)
        looked = 0
        for looked, (rel_path, facts) in enumerate(scan.files(), start=1):
            if not looked % _LOOK_ENTRIES:
                self._teller.tell(current=rel_path, found=self._found + looked)
            rel = path_bytes(rel_path)
            while row is not None and row[0] < rel:
                self._note_gone(row, scan, gone)
                row = next(known, None)
            document: int | None = None
            if row is not None and row[0] == rel:
                if self._unchanged(row, facts):
                    counts[_state_for_counts(row)] += 1
                    row = next(known, None)
                    continue
                document, row = row.id, next(known, None)
            to_read.append(
                ToRead(
                    rel,
                    facts.st_size,
                    facts.st_mtime_ns,
                    facts.st_ctime_ns,
                    str(facts.st_ino),
                    str(facts.st_dev),
                    facts.st_nlink,
                    document,
                )
            )
            if len(to_read) >= _NOTE_ROWS:
                self._worklist.note_to_read(root.id, to_read)
                to_read.clear()
        while row is not None:
            self._note_gone(row, scan, gone)
            row = next(known, None)
        self._found += looked
        self._worklist.note_to_read(root.id, to_read)
        self._worklist.note_gone(gone)

    def _note_gone(self, row: KnownRow, scan: Scan, gone: list[int]) -> None:
        if scan.has_unreadable and scan.is_unreadable(os.fsdecode(row.rel)):
            return  # what lies in a folder that cannot be read now is not gone
        gone.append(row.id)
        if len(gone) >= _NOTE_ROWS:
            self._worklist.note_gone(gone)
            gone.clear()

    def _unchanged(self, row: KnownRow, facts: os.stat_result) -> bool:
        """The quick check."""
        if self._how.full or (self._how.retry_failed and row.state in ("failed", "stale")):
            return False
        return (
            row[1] == facts.st_size
            and row[2] == facts.st_mtime_ns
            and row[3] == facts.st_ctime_ns
            and row[4] == str(facts.st_ino)
            and row[5] == str(facts.st_dev)
        )

    def _note_passed_over(self, root: Root, found: PassedOver) -> None:
        rows = _rows_of(found, root.label)
        if rows != self._catalog.passed_over(root.id):
            self._writer.put_passed_over(root.id, rows)

    # --- reading ------------------------------------------------------------------------------------------------

    def _read(self, root: Root) -> None:
        with self._change():
            self._begin()
        before: dict[str, KnownFile | None] = {}  # of the files under way

        def entries() -> Iterator[FileEntry]:
            for file, known in self._worklist.to_read(root.id):
                entry = _entry_of(root, file)
                before[entry.rel_path] = known
                yield entry

        limit = self._intake.token_limit()
        with ReaderPool(
            tokenizer_file=self._encoder.tokenizer_file,
            token_limit=limit,
            limits=self._settings.limits,
            cancel=self._cancel,
            # As far back as the model: who steps back further starves it.
            behind=getattr(self._encoder, "steps_back", False),
        ) as pool:
            for entry, result in pool.read(entries()):
                self._cancel.check()
                self._intake.take(root, entry, result, before.pop(entry.rel_path))
                self._teller.tell(current=entry.rel_path)
        self._intake.flush()

    # --- the end ------------------------------------------------------------------------------------------------

    def _clear_away(self) -> None:
        moved = self._worklist.moved()
        for ids in self._worklist.gone():
            self._cancel.check()
            with self._change():
                self._begin()
                self._writer.remove_documents(ids)
            self.counts["removed"] += len(ids)
        self.counts["moved"] = moved
        self.counts["added"] -= moved
        self.counts["removed"] -= moved
        if self._unfinished:
            with self._change():
                self._writer.remove_unheld_texts(
                    keep=self._settings.spare_vectors, keep_days=self._settings.spare_days, all_texts=self._cut_off
                )
                self._writer.set_unfinished(0)

    def _begin(self) -> None:
        """From the first change on until the last, the library says that a run is not at its end."""
        if not self._unfinished:
            self._unfinished = True
            self._writer.set_unfinished(max(1, self._expected))

    def _change(self) -> AbstractContextManager[None]:
        self._changed_anything = True
        return self._writer.change()

    def _save(self) -> None:
        """Write the vector file. It is derived: where that fails, or the run does not come this far, whoever opens the
        library goes on from the file that there is, or makes it again."""
        if self._changed_anything:
            with suppress(OSError):
                save_vectors(self._library, self._catalog, self._saving)

    def _saving(self, share: float) -> None:
        self._cancel.check()
        self._teller.tell(saved=share)


def _state_for_counts(row: KnownRow) -> str:
    if row.why == "unknown_kind":
        return "unknown_kind"
    return "failed" if row.state in ("failed", "stale") else "unchanged"


def _rows_of(found: PassedOver, label: str) -> list[PassedOverRow]:
    """What a scan passed over as rows, in the order in which the catalog gives them back."""
    counted = {"link": found.links, "special": found.special, "hidden": found.hidden, "own": found.own}
    rows = [PassedOverRow("", what, "", number, label) for what, number in counted.items() if number]
    rows += (PassedOverRow(place.rel_path, "unreadable", place.reason, 1, label) for place in found.unreadable)
    rows += (replace(row, root_label=label) for row in found.rules)
    rows.sort(key=lambda row: (path_bytes(row.rel_path), row.what, row.rule))
    return rows


def _entry_of(root: Root, file: ToRead) -> FileEntry:
    facts = file.facts
    rel = facts.rel_path if os.sep == "/" else facts.rel_path.replace("/", os.sep)
    return FileEntry(
        facts.rel_path,
        os.path.join(root.path, rel),
        facts.size,
        facts.mtime_ns,
        facts.ctime_ns,
        facts.inode,
        facts.device,
        facts.link_count,
    )
