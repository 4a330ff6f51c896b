"""Which files change while a program runs: folders watched, changes gathered and told when they come to rest.

The system tells of changes on local disks. On network shares it does not, so these are told as a whole every half
minute, for whoever listens to compare; the same where the system has no watches left. A folder that vanishes is waited
for, and told as a whole when it is back.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from watchfiles import watch as raw_watch

from pipeline.errors import LibraryLocked
from pipeline.ignoring import IGNORE_FILE

_QUIET_SECONDS = 1.0  # without a change, after which what changed is told
_LONGEST_SECONDS = 10.0  # a folder that never comes to rest is told of all the same
_LOOK_SECONDS = 2.0  # between two looks at whether the folders are still there
_AGAIN_SECONDS = 5.0  # until what could not be taken is told again
_POLL_SECONDS = 30.0  # between two looks, where the system does not tell
_NETWORK = ("nfs", "cifs", "smb", "afs", "9p", "fuse.sshfs", "fuse.rclone", "fuse.davfs", "fuse.gvfsd", "ncpfs", "ceph")

_WHOLE = ""  # in the place of a changed path: the root as a whole

OnChange = Callable[[Sequence[Path]], None]
_Paths = tuple["_Root", frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Root:
    """A folder that is there now. `polled`: the system does not tell of its changes."""

    path: str
    identity: tuple[int, int]
    polled: bool


def watch(
    roots: Sequence[Path],
    on_change: OnChange,
    stop: threading.Event | None = None,
    *,
    ignore: Sequence[Path] = (),
    poll: bool = False,
    poll_seconds: float = _POLL_SECONDS,
    quiet: float = _QUIET_SECONDS,
) -> None:
    """Call `on_change` with files and folders below `roots` that changed, until `stop` is set; then return.

    What is told may be gone, or be a folder with everything in it; a root itself stands for all of it, and is told once
    it is watched: nothing before that was seen. Hidden names are not told of, nor anything in `ignore`. Where
    `on_change` raises `LibraryLocked`, the same is told again later. `poll` tells every root as a whole again and
    again, `poll_seconds` apart, instead of waiting to be told by the system.
    """
    stop = stop or threading.Event()
    watching = _Watching([os.path.abspath(root) for root in roots], ignore, poll, poll_seconds)
    pending: set[str] = set()
    try:
        first = last = time.monotonic()
        looked = 0.0
        not_before = 0.0
        while not stop.is_set():
            now = time.monotonic()
            if now - looked >= _LOOK_SECONDS:
                looked = now
                watching.look()
            found = watching.gathered(timeout=0.1)
            now = time.monotonic()
            if found:
                first = first if pending else now
                last = now
                pending |= found
            rested = now - last >= quiet or now - first >= _LONGEST_SECONDS
            if pending and rested and now >= not_before:
                places = [Path(place) for place in _outermost(pending)]
                try:
                    on_change(places)
                    pending.clear()
                except LibraryLocked:
                    not_before = now + _AGAIN_SECONDS
    except KeyboardInterrupt:
        if stop.is_set():
            return
        raise
    finally:
        watching.close()


class _Watching:
    """Threads that wait for changes, one for each root that is there."""

    def __init__(self, roots: Sequence[str], ignore: Sequence[Path], poll: bool, poll_seconds: float) -> None:
        self._paths = list(roots)
        self._ignore = tuple(os.path.join(os.path.realpath(place), "") for place in ignore)
        self._poll, self._poll_seconds = poll, poll_seconds
        self._changes: queue.SimpleQueue[_Paths] = queue.SimpleQueue()
        self._running: dict[str, tuple[_Root, threading.Event, threading.Thread]] = {}

    def look(self) -> None:
        """Watch the roots that are there now."""
        for path in self._paths:
            identity = _identity_of(path)
            held = self._running.get(path)
            alive = held is not None and held[2].is_alive()
            if alive and held is not None and held[0].identity == identity:
                continue
            polled = self._poll or _on_network(path)
            if held is not None:
                held[1].set()
                polled = polled or (held[0].identity == identity)  # its watch gave up: the system has none left
                del self._running[path]
            if identity is None:
                continue
            root, stop = _Root(path, identity, polled), threading.Event()
            thread = threading.Thread(target=self._wait, args=(root, stop), name="watching a folder", daemon=True)
            thread.start()
            self._running[path] = (root, stop, thread)

    def gathered(self, timeout: float) -> set[str]:
        """What changed since the last call, waiting for the first of it."""
        found: set[str] = set()
        with suppress(queue.Empty):
            root, paths = self._changes.get(timeout=timeout)
            while True:
                found |= self._told_of(root, paths)
                root, paths = self._changes.get_nowait()
        return found

    def close(self) -> None:
        for _, stop, _ in self._running.values():
            stop.set()
        for _, _, thread in self._running.values():
            thread.join(2.0)

    def _wait(self, root: _Root, stop: threading.Event) -> None:
        while root.polled and not stop.is_set():
            self._changes.put((root, frozenset([_WHOLE])))
            stop.wait(self._poll_seconds)
        begun = False
        with suppress(OSError, RuntimeError):  # gone, or no watches left: the next look begins anew
            for changes in raw_watch(
                root.path,
                watch_filter=None,
                stop_event=stop,
                rust_timeout=500,
                yield_on_timeout=True,  # the first time tells that it has begun
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                if stop.is_set():
                    return
                if not begun:
                    self._changes.put((root, frozenset([_WHOLE])))
                    begun = True
                if changes:
                    self._changes.put((root, frozenset(path for _, path in changes)))

    def _told_of(self, root: _Root, paths: frozenset[str]) -> set[str]:
        found: set[str] = set()
        prefix = os.path.join(root.path, "")
        real = os.path.join(os.path.realpath(root.path), "")
        for path in paths:
            if path == _WHOLE:
                found.add(root.path)
                continue
            if path == root.path or path + os.sep == real:
                continue  # the folder's own times; what changed in it comes by name
            inner = path[len(prefix) :] if path.startswith(prefix) else path.removeprefix(real)
            if any(os.path.join(path, "").startswith(place) for place in self._ignore):
                continue
            *above, name = inner.split(os.sep)
            if any(part.startswith(".") for part in above):
                continue
            if name == IGNORE_FILE:
                found.add(os.path.join(root.path, *above))  # its rules are for the whole folder
            elif not name.startswith("."):
                found.add(prefix + inner)
        return found


def _outermost(paths: set[str]) -> list[str]:
    """Without what lies in another of them."""
    kept: list[str] = []
    for path in sorted(paths, key=lambda path: os.path.join(path, "")):
        if not kept or not path.startswith(os.path.join(kept[-1], "")):
            kept.append(path)
    return kept


def _identity_of(path: str) -> tuple[int, int] | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _on_network(path: str) -> bool:
    """Whether another machine may change it unseen."""
    if path.startswith(("\\\\", "//")):
        return True
    best, kind = "", ""
    real = os.path.join(os.path.realpath(path), "")
    with suppress(OSError), open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
        for line in mounts:
            fields = line.split(" ")
            if len(fields) > 2:
                place = os.path.join(fields[1].replace("\\040", " "), "")
                if real.startswith(place) and len(place) > len(best):
                    best, kind = place, fields[2]
    return kind.startswith(_NETWORK)
