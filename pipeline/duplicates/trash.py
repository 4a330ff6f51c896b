"""Files into the system's trash, each checked again at that moment and journalled. Nothing is ever deleted.

The one place that takes a user's file away from where it lies.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.duplicates.on_disk import NotAsIndexed, still_there, verified
from pipeline.duplicates.trash_places import SYSTEM_NAME, found_in_trash
from pipeline.duplicates.trash_plan import Going, RefusalKind, TrashItem, TrashPlan, TrashRefusal, plan_trash, planned
from pipeline.errors import DecisionsError, TrashError
from pipeline.progress import CancelToken
from pipeline.store.lock import trash_lock
from pipeline.store.trash_journal import GONE, MOVING, STAYED, TRASHED, MovedFile, TrashJournal
from pipeline.words.phrases import count

__all__ = [
    "RefusalKind",
    "TrashItem",
    "TrashOutcome",
    "TrashPlan",
    "TrashRefusal",
    "TrashResult",
    "carry_out",
    "plan_trash",
    "settle",
]

_CANCELLED = "you stopped before it was its turn"
_NO_JOURNAL = "the journal cannot be written, and nothing is moved without it"
Send = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrashResult:
    """What became of one file: "skipped" was not tried, "failed" was and is still where it lay (or, where `why` says
    so, is nowhere to be found). `where` is its path in the trash, "" where the system does not tell."""

    doc_id: str
    path: str
    state: Literal["trashed", "skipped", "failed"]
    why: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class TrashOutcome:
    """File by file what happened, in the order of the plan. `batch` names it in the journal; `cancelled` says that the
    user stopped it, the rest being skipped. The library knows of it with the next indexing; until then searches leave
    out what went."""

    batch: str
    results: tuple[TrashResult, ...]
    cancelled: bool = False

    def of(self, state: Literal["trashed", "skipped", "failed"]) -> tuple[TrashResult, ...]:
        return tuple(result for result in self.results if result.state == state)


def carry_out(
    library: Path,
    plan: TrashPlan,
    *,
    confirmed_last_copies: bool = False,
    token: CancelToken | None = None,
    listen: Callable[[int, int, str], None] | None = None,
) -> TrashOutcome:
    """Move the plan's files into the system's trash, one by one, each checked again just before.

    What the plan calls a last copy goes only with `confirmed_last_copies`; what has become one since the plan was made
    does not go at all. `listen` is told how many are done, of how many, and the next one's path. One file that cannot
    be moved costs itself alone. Raises `TrashError`, `LibraryError`, `DecisionsError` before anything is touched.
    """
    if plan.library != str(library):
        raise TrashError("the list was made for another library")
    send = _system_trash()
    with trash_lock(library), closing(TrashJournal(library)) as journal:
        _settle(journal)
        now, going = planned(library, [item.doc_id for item in plan.items], token)
        batch = journal.begin(f"move {count(len(plan.items), 'file')} to the trash")
        mover = _Mover(journal, batch, send, confirmed_last_copies)
        found = {each.item.doc_id: each for each in going}
        refused = {each.doc_id: each.why for each in now.refused}
        for number, item in enumerate(plan.items):
            if listen is not None:
                listen(number, len(plan.items), item.path)
            mover.stopped = mover.stopped or (_CANCELLED if token is not None and token.cancelled else "")
            mover.take(item, found.get(item.doc_id), refused.get(item.doc_id, ""))
        if listen is not None:
            listen(len(plan.items), len(plan.items), "")
        return TrashOutcome(batch, tuple(mover.results), mover.stopped == _CANCELLED)


def settle(library: Path) -> int:
    """Complete the journal's lines of files whose moving was cut off (a kill, a power cut); how many there were.
    Nothing is moved. Lines that another window is at are left to it. Raises `DecisionsError`."""
    with closing(TrashJournal(library)) as journal:
        if not journal.files(MOVING):
            return 0
        try:
            with trash_lock(library):
                return _settle(journal)
        except TrashError:
            return 0


def _system_trash() -> Send:
    try:
        from send2trash import send2trash
    except Exception as error:  # missing, or made for another system: whatever it says, nothing was touched
        raise TrashError(f"this system's trash cannot be used: {error}") from error
    return send2trash  # type: ignore[no-any-return]


class _Mover:
    """Moves one file after the other, and keeps what became of each. `stopped` says why no more are moved."""

    def __init__(self, journal: TrashJournal, batch: str, send: Send, confirmed: bool) -> None:
        self._journal = journal
        self._batch = batch
        self._send = send
        self._confirmed = confirmed
        self.results: list[TrashResult] = []
        self.stopped = ""

    def take(self, said: TrashItem, going: Going | None, refused: str) -> None:
        """`said` is what the user was told of the file, `going` what is so now, `refused` why it does not go."""
        why = self.stopped or refused or self._why_not(said, going)
        if why or going is None:
            self._skip(said, why or "the library has no such document any more")
        else:
            self._move(going)

    def _why_not(self, said: TrashItem, going: Going | None) -> str:
        """Why this file stays, looked at in this moment; "" when it may go."""
        if going is None:
            return ""
        item = going.item
        if item.content_key != said.content_key or item.path != said.path:
            return "it is not what was listed: it was indexed anew since"
        if (item.last_copy and not said.last_copy) or item.lost > said.lost:
            return f"{item.why_last}, which was not so when the list was made"
        if item.last_copy and not self._confirmed:
            return f"{item.why_last}, and that was not confirmed"
        try:
            seen = verified(going.file)
        except NotAsIndexed as error:
            return str(error)
        if seen.inode != going.seen.inode or seen.device != going.seen.device:
            return "another file has taken its place since it was indexed"
        if seen.links < going.seen.links:
            return "another name of the same file has gone in this moment"
        gone = next((kept.doc_id for kept, then in going.keepers if not still_there(kept, then)), None)
        return f"{gone}, which keeps its text, has changed or gone in this moment" if gone else ""

    def _move(self, going: Going) -> None:
        file, seen = going.file, going.seen
        moved = MovedFile(file.doc_id, file.path, file.content_key or "", seen.size, seen.inode, seen.device)
        try:
            line = self._journal.moving(self._batch, moved, file.path)
        except DecisionsError:
            self.stopped = _NO_JOURNAL
            self._skip(going.item, _NO_JOURNAL)
            return
        why = ""
        try:
            self._send(file.path)
        except Exception as error:  # whatever the system's trash raises: where the file is now decides what is said
            why = _words_of(error)
        what, where = _whereabouts(moved, why)
        state: Literal["trashed", "failed"] = "trashed" if what == TRASHED else "failed"
        said = "" if what == TRASHED else where
        try:
            self._journal.settle(line, what, where or f"in {SYSTEM_NAME}")
        except DecisionsError as error:
            self.stopped = _NO_JOURNAL
            said = f"{said}; the journal could not be completed: {error}".lstrip("; ")
        self.results.append(TrashResult(file.doc_id, file.path, state, said, where if what == TRASHED else ""))

    def _skip(self, item: TrashItem, why: str) -> None:
        self.results.append(TrashResult(item.doc_id, item.path, "skipped", why))
        if self.stopped != _NO_JOURNAL:
            try:
                self._journal.skipped(self._batch, item.doc_id, item.content_key, item.path, why)
            except DecisionsError:
                self.stopped = _NO_JOURNAL


def _whereabouts(file: MovedFile, why: str = "") -> tuple[str, str]:
    """Where the file is now: what the journal calls it, and its place in the trash or why it stayed."""
    try:
        facts = os.lstat(file.path)
    except OSError:
        pass
    else:
        if (facts.st_ino, facts.st_dev) == (file.inode, file.device):
            return STAYED, why or "it is still where it lay"
    where = found_in_trash(file.path, file.inode, file.device)
    if where or not why:
        return TRASHED, where
    return GONE, f"{why}; it is no longer where it lay: look for it in {SYSTEM_NAME}"


def _settle(journal: TrashJournal) -> int:
    cut_off = journal.files(MOVING)
    for line, file in cut_off:
        what, where = _whereabouts(file, "moving it was cut off")
        journal.settle(line, what, where)
    return len(cut_off)


def _words_of(error: Exception) -> str:
    if isinstance(error, PermissionError):
        return f"{SYSTEM_NAME} cannot take it: no permission"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
    return f"{SYSTEM_NAME} did not take it: {said}"
