"""The runs that can stand beside each other: what they are called, and how those that are not there yet are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app.jobs.backend import Engine
from app.models.compared import Choice
from app.state import Problem, Scope
from pipeline.records import Trace
from pipeline.settings import POLICIES, Settings
from pipeline.words.comparing import run_words, short_run_words
from pipeline.words.sentences import policy_sentence, policy_title

NOW, BEFORE, OWN = "now", "before", "own"
POLICY, PIN, FILE, AGAIN, SHOWN = "policy:", "pin:", "file:", "again:", "shown:"


@dataclass(frozen=True, slots=True)
class Kept:
    """A run that is kept: pinned, opened from a file, or handed over by another part of the window."""

    title: str
    trace: Trace
    file: Path | None = None
    when: str = ""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a run is asked from. Two are the same only where the very same answer stands behind them."""

    trace: Trace
    library: Path
    settings: Settings
    scope: Scope
    generation: int = 0

    def same_as(self, other: Basis | None) -> bool:
        return (
            other is not None
            and self.trace is other.trace
            and self.library == other.library
            and self.settings == other.settings
            and self.scope == other.scope
            and self.generation == other.generation
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that was asked for the comparison's sake; `value` is None while it is under way, or failed."""

    basis: Basis
    value: Any = None
    problem: Problem | None = None

    @property
    def under_way(self) -> bool:
        return self.value is None and self.problem is None


def choices(now: Trace | None, before: Trace | None, kept: Mapping[str, Kept]) -> Iterator[Choice]:
    """Every run that may stand on a side, in the order of the lists."""
    asked = "Ask a question first."
    yield Choice(NOW, "This run", run_words(now) if now is not None else asked, "runs")
    yield Choice(
        BEFORE,
        "The run before",
        run_words(before) if before is not None else "There is none yet: change a setting, and it stands here.",
        "runs",
    )
    for policy in POLICIES:
        said = f"{policy_sentence(policy)} On the same hits." if now is not None else asked
        yield Choice(POLICY + policy, f"This question under: {policy_title(policy)}", said, "policies")
    said = "The same question and vector, asked again with what is set below." if now is not None else asked
    yield Choice(OWN, "This question with other settings", said, "own")
    for name, run in kept.items():
        if name.startswith(PIN):
            yield Choice(name, f"{run.title}: {short_run_words(run.trace)}", run_words(run.trace), "pins", unpins=True)
    for name, run in kept.items():
        if name.startswith(FILE):
            dated = f"written {run.when} · " if run.when else ""
            yield Choice(name, f"Saved: {run.title}", dated + run_words(run.trace), "files", unpins=True)
            yield Choice(
                AGAIN + name, f"{run.title}, asked again in this library", "Its question, settings and scope.", "files"
            )
    for name, run in kept.items():
        if name.startswith(SHOWN):
            yield Choice(name, run.title, run_words(run.trace), "shown", unpins=True)


def ask_policies(basis: Basis) -> Callable[[Engine], Any]:
    """The three policies on the same hits; runs in a thread."""

    def work(engine: Engine) -> Any:
        from pipeline.policies import policies_on_same_hits

        scope = basis.scope
        return policies_on_same_hits(
            engine,  # type: ignore[arg-type]  # the window knows only a part of it
            basis.trace.query,
            basis.settings,
            left_out=scope.left_out,
            preferred=scope.preferred,
            only_document=scope.only_file,
        )

    return work


def ask_with(basis: Basis) -> Callable[[Engine], Trace]:
    """The question with these settings; runs in a thread."""

    def work(engine: Engine) -> Trace:
        scope = basis.scope
        return engine.ask(
            basis.trace.query,
            basis.settings,
            left_out=scope.left_out,
            preferred=scope.preferred,
            only_document=scope.only_file,
        )

    return work


def ask_saved(basis: Basis) -> Callable[[Engine], Trace]:
    """A saved run's question, settings and scope in this library; runs in a thread."""

    def work(engine: Engine) -> Trace:
        from pipeline.compare import ask_again

        return ask_again(basis.trace, engine)  # type: ignore[arg-type]  # the window knows only a part of it

    return work


def time_words(seconds: float) -> str:
    """A moment of the file system for people: "3 May 2026, 14:07"."""
    moment = datetime.fromtimestamp(seconds)
    return f"{moment.day} {moment:%B %Y, %H:%M}"


def clock_words() -> str:
    """Now, as a pinned run is named by it."""
    return f"{datetime.now():%H:%M}"
