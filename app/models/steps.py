"""The steps of one run as the strip shows them: what each let through, what it dropped, and a sentence. Qt-free."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.records import StageCount, Trace
from pipeline.words.sentences import count, index_sentence, number, stage_sentence, stage_title, stage_words

# Always on the strip: without them the picture has a hole. The others appear when they did something.
_ALWAYS = frozenset({"collapse", "cap", "return", "pack"})


@dataclass(frozen=True, slots=True)
class Step:
    """One chip. `figure` and `words` read on: "20", "distinct". `below` is the quiet second line."""

    stage: str
    figure: str
    words: str
    below: str
    sentence: str
    dropped: int = 0
    skipped: bool = False

    @property
    def spoken(self) -> str:
        """The chip for screen readers."""
        return " ".join(filter(None, (self.figure, self.words))) + (f", {self.below}" if self.below else "")


def steps_of(trace: Trace) -> list[Step]:
    """The strip from asking to projecting, then one chip for all the steps that were skipped out of sight."""
    steps = [_asked(trace), _fetched(trace)]
    hidden: list[StageCount] = []
    for stage in trace.stages:
        if stage.name in _ALWAYS or (stage.dropped and stage.status == "done"):
            steps.append(_stage(stage, trace))
        elif stage.status == "skipped":
            hidden.append(stage)
    if hidden:
        titles = " ".join(f"{stage_title(stage.name)}: {stage_words(stage.name).sentence}" for stage in hidden)
        steps.append(Step("", number(len(hidden)), "skipped", "", f"Skipped this time. {titles}", skipped=True))
    return steps


def _asked(trace: Trace) -> Step:
    first = trace.rounds[0].asked if trace.rounds else 0
    return Step(
        "asked",
        number(first),
        "asked",
        "",
        f"The search was asked for the {count(first, 'row')} that come nearest to the question (retrieve-k).",
    )


def _fetched(trace: Trace) -> Step:
    last = trace.rounds[-1] if trace.rounds else None
    received = last.received if last else 0
    rounds = len(trace.rounds)
    said = [
        f"Asked for {number(one.asked)}: {count(one.received, 'row')} came, {count(one.distinct, 'different text')}."
        for one in trace.rounds
    ]
    if last is not None and received < last.asked:
        said.append("The search has no more.")
    if rounds > 1:
        said.insert(0, "Copies took places, so the search was asked for more until there were enough different texts.")
    said += filter(None, [index_sentence(trace.index)])
    return Step(
        "fetched", number(received), "fetched", f"in {count(rounds, 'round')}" if rounds > 1 else "", " ".join(said)
    )


def _stage(stage: StageCount, trace: Trace) -> Step:
    words = stage_words(stage.name)
    sentence = stage_sentence(stage.name, stage)
    if stage.status == "skipped":
        return Step(stage.name, "", words.title.lower(), "skipped", sentence, skipped=True)
    below = [f"−{number(stage.dropped)} {words.dropped}"] if stage.dropped else []
    if stage.name == "pack":
        cut = sum(1 for item in trace.projected if item.cut)
        if cut:
            below.append(f"{number(cut)} cut")
            sentence += f" {count(cut, 'block')} {'was' if cut == 1 else 'were'} cut to fit."
    return Step(stage.name, number(stage.left), words.left, ", ".join(below), sentence, stage.dropped)
