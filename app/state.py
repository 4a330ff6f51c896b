"""What the session says about itself: frozen records that views read and never change. Qt-free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipeline.progress import Progress
from pipeline.records import Document, Freshness, LibraryFacts, PassedOverRow, Root, Trace

if TYPE_CHECKING:
    from pipeline.index import IndexReport


@dataclass(frozen=True, slots=True)
class NextStep:
    """A button: its words, and the id of the action (see `app.actions`) that it triggers."""

    label: str
    action: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong, for people: what is so, what to do, and the buttons that do it. `details` is what a
    developer wants to have copied; only unexpected failures have it."""

    title: str
    text: str
    steps: tuple[NextStep, ...] = ()
    details: str = ""


@dataclass(frozen=True, slots=True)
class ModelState:
    """The embedding model, which lives in a process of its own."""

    phase: Literal["waiting", "loading", "ready", "failed"] = "waiting"
    name: str = ""
    fingerprint: str = ""
    dimension: int = 0
    token_limit: int = 0
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class LibraryState:
    """The open library. `missing` means that the folder holds none yet: the first indexing run makes it."""

    phase: Literal["none", "opening", "missing", "open", "failed"] = "none"
    folder: Path | None = None
    sample: bool = False
    facts: LibraryFacts | None = None
    model_fingerprint: str = ""
    roots: tuple[Root, ...] = ()
    documents: tuple[Document, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    freshness: Mapping[str, Freshness] = field(default_factory=dict)
    passed_over: tuple[PassedOverRow, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)  # how much was passed over without a rule, by kind
    unfinished: str = ""  # that the last indexing did not come to its end, in words
    problem: Problem | None = None  # why the library cannot be used at all
    notice: Problem | None = None  # what is wrong beside that

    @property
    def name(self) -> str:
        """The library's name for people."""
        if self.sample:
            return "Sample"
        return self.folder.name if self.folder is not None else ""


@dataclass(frozen=True, slots=True)
class WorkState:
    """Long work that writes to the library. `waiting` means that it waits for the model."""

    phase: Literal["idle", "waiting", "running", "cancelling", "done", "failed", "cancelled"] = "idle"
    doing: str = ""
    progress: Progress = field(default_factory=Progress)
    report: IndexReport | None = None
    problem: Problem | None = None
    said: str = ""  # what there is to say at its end, where that is no report

    @property
    def active(self) -> bool:
        return self.phase in ("waiting", "running", "cancelling")


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a question is asked of, by doc_id."""

    only_file: str | None = None
    left_out: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()

    @property
    def narrowed(self) -> bool:
        return self.only_file is not None or bool(self.left_out)


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run that is shown as it was, without its library. `name` is what it is called (its file's name), `when` says
    when it was written, in words, `file` where it lies, None for one that was never in a file."""

    name: str
    when: str = ""
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class AnswerState:
    """The question and its answer. While a newer question is `asking`, `trace` still is the last answer; `before` is
    the run before it on the same question, to compare with. `saved` tells that `trace` is no answer of the library
    that is open: nothing about it can be changed, and its documents cannot be read."""

    phase: Literal["no_question", "waiting_for_library", "waiting_for_model", "asking", "answered", "failed"] = (
        "no_question"
    )
    question: str = ""
    trace: Trace | None = None
    before: Trace | None = None
    problem: Problem | None = None
    saved: SavedRun | None = None
