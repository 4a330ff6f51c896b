"""The ONNX graph that is made of a model once and kept in the user's cache: where it lies and whether it still fits.

In `<cache>/models/<fingerprint>`: `record.json` (which graph is in force and what it was made with, or why there is
none), `graph-<random>/` (one graph, never changed once the record names it), `making.lock`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from filelock import FileLock
from platformdirs import user_cache_path

CACHE_VARIABLE = "TWINSPECT_CACHE"
_FORM = 2  # of everything kept here; another one is made anew
# A new version of any of these may compute or tokenise differently: the graph is then made and checked anew.
_MADE_WITH = ("onnxruntime", "sentence-transformers", "tokenizers", "torch", "transformers")
_TRIES = 5
_LOCK_SECONDS = 600.0


class NoGraph(Exception):
    """This model cannot be used as a graph, for good: the message says why."""


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What has to be known to run a graph: how texts become its inputs, and what comes out."""

    dimension: int
    token_limit: int
    prompt: str
    pad_id: int
    pad_type_id: int
    pads_left: bool
    truncates_left: bool


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """A graph in the cache that was found to agree with the reference, and the digests its files had then."""

    folder: Path
    facts: GraphFacts
    digests: Mapping[str, str]

    def is_sound(self) -> bool:
        """Whether every file is byte for byte what was checked."""
        try:
            return bool(self.digests) and all(
                digest_of(self.folder / name) == digest for name, digest in self.digests.items()
            )
        except OSError:
            return False


def cache_folder() -> Path:
    """`$TWINSPECT_CACHE`, else the user's cache folder of this program."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named).expanduser() if named else user_cache_path("twinspect", appauthor=False)


def digest_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class GraphCache:
    """The place of one model's graph."""

    def __init__(self, fingerprint: str, cache: Path | None = None) -> None:
        self.folder = (cache or cache_folder()) / "models" / fingerprint
        self._record = self.folder / "record.json"

    def find(self) -> KeptGraph | NoGraph | None:
        """The graph in force, or why there is none and none is to be made, or None: it has yet to be made.

        Reads the record alone: the graph's files may still be damaged.
        """
        record = self._read()
        if record is None:
            return None
        if record.get("refused"):
            return NoGraph(str(record["refused"]))
        if record.get("tries", 0) >= _TRIES:
            return NoGraph(f"making its graph was cut off {_TRIES} times; remove {self.folder} to try again")
        try:
            facts = GraphFacts(**record["facts"])
            return KeptGraph(self.folder / record["graph"], facts, dict(record["digests"]))
        except (KeyError, TypeError, ValueError):
            return None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """While no other process makes a graph for this model; look with `find` again once inside. Raises `OSError`
        when the cache cannot be written or another process does not get done."""
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.folder / "making.lock", timeout=_LOCK_SECONDS):
                yield
        except NotImplementedError as error:
            raise OSError("its file system knows no locks") from error

    @contextmanager
    def new_folder(self) -> Iterator[Path]:
        """An empty folder for a new graph; it is removed again unless `keep` was called. Needs `locked`."""
        self._write({"tries": int((self._read() or {}).get("tries", 0)) + 1})
        for leftover in self.folder.glob("graph-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        new = Path(tempfile.mkdtemp(prefix="graph-", dir=self.folder))
        try:
            yield new
        finally:
            if (self._read() or {}).get("graph") != new.name:
                shutil.rmtree(new, ignore_errors=True)

    def keep(self, folder: Path, facts: GraphFacts, lowest_cosine: float) -> KeptGraph:
        """Put the graph in this folder, which `new_folder` gave, in force."""
        digests = {file.name: digest_of(file) for file in sorted(folder.iterdir())}
        self._write({"graph": folder.name, "digests": digests, "facts": asdict(facts), "lowest_cosine": lowest_cosine})
        return KeptGraph(folder, facts, digests)

    def refuse(self, reason: str) -> None:
        """Remember that this model cannot be used as a graph, so that it is not tried at every start."""
        self._write({"refused": reason})

    def _read(self) -> dict[str, Any] | None:
        """The record, None when there is none that was written by these very versions."""
        try:
            record = json.loads(self._record.read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(record, dict) or record.get("form") != _FORM or record.get("made_with") != _versions():
            return None
        return record

    def _write(self, content: Mapping[str, Any]) -> None:
        record = {"form": _FORM, "made_with": _versions(), **content}
        part = self._record.with_suffix(".part")
        part.write_text(json.dumps(record, indent=1), "utf-8")
        part.replace(self._record)


def _versions() -> dict[str, str]:
    return {name: _version(name) for name in _MADE_WITH}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
