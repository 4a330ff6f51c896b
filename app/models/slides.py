"""One answer as slides for people who have never heard of retrieval: what happens, one step at a time. Qt-free.

Every number on a slide is a count of the trace, as in the stage strip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.models.answer import folder_of, name_of
from pipeline.records import Evidence, StageCount, Trace, TracedCandidate
from pipeline.words.phrases import count, file_name, number, pages
from pipeline.words.plain import first_words, one_line
from pipeline.words.sentences import TraceWording, cites_words, nothing_found_words, policy_title, stage_words

MOST_LINES = 40  # more than fit on any slide
MOST_FOLDS = 6
MOST_TILES = 4_000


@dataclass(frozen=True, slots=True)
class Line:
    """A row or a block. `fallen` stands back, with `note` saying why."""

    rank: int
    letter: str | None
    title: str
    quiet: str = ""
    right: str = ""
    note: str = ""
    fallen: bool = False
    where: str = ""  # the folder: it tells copies from each other


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines in as many columns as asked for; `total` is how many there are, shown or not. What stayed stands left of
    what fell where `split` says how many stayed."""

    lines: tuple[Line, ...]
    total: int
    columns: int = 1
    split: int | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """The question in large type, and what it is asked of."""

    text: str
    below: str


@dataclass(frozen=True, slots=True)
class Band:
    """The rows of one round as tiles: the letter of each, "" for a text without copies, None for one not needed."""

    title: str
    tiles: tuple[str | None, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Bands:
    bands: tuple[Band, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows of one text, and the block that they became."""

    rows: tuple[Line, ...]
    total: int
    block: Line


@dataclass(frozen=True, slots=True)
class Folds:
    folds: tuple[Fold, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Cards:
    """What the agent reads, and how full its budget is."""

    cards: tuple[Line, ...]
    contents: tuple[str, ...]
    share: float
    budget: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of two answers: its lines, and its figures as (figure, words, whether that is good)."""

    title: str
    lines: tuple[Line, ...]
    figures: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class Sides:
    left: Side
    right: Side


Picture = Quote | Lines | Bands | Folds | Cards | Sides


@dataclass(frozen=True, slots=True)
class Slide:
    """One step. `figure` with `words` reads on: "20", "rows found"."""

    name: str
    title: str
    sentence: str
    picture: Picture
    figure: str = ""
    words: str = ""

    @property
    def spoken(self) -> str:
        """The slide for screen readers."""
        return " ".join(filter(None, (f"{self.title}.", self.sentence, self.figure, self.words)))


def slides_of(trace: Trace) -> tuple[Slide, ...]:
    """The story of this answer. Stages that did nothing are left out, but for those that a listener waits for."""
    return tuple(_Story(trace).tell())


@dataclass(slots=True)
class _Story:
    trace: Trace
    words: TraceWording = field(init=False)
    letters: dict[str, str | None] = field(init=False)

    def __post_init__(self) -> None:
        self.words = TraceWording(self.trace)
        self.letters = {one.candidate.fold_key: one.twin_group for one in self.trace.candidates}

    def tell(self) -> list[Slide]:
        trace = self.trace
        slides = [self._question()]
        if not trace.candidates:
            title, why = nothing_found_words(trace)[0]
            return [*slides, Slide("nothing", title, why, Quote("0 rows", why), "0", "rows found")]
        slides.append(self._raw())
        if len(trace.rounds) > 1:
            slides.append(self._widening())
        told: dict[str, Callable[[StageCount], Slide]] = {
            "collapse": self._collapse,
            "cap": self._cap,
            "return": self._returned,
        }
        for stage in trace.stages:
            if stage.status == "skipped" or stage.name in ("project", "pack"):
                continue
            if stage.name in told:
                slides.append(told[stage.name](stage))
            elif stage.dropped and not (stage.name == "width" and len(trace.rounds) > 1):
                slides.append(self._other(stage))
        if trace.evidence:
            slides.append(self._projected())
        slides.append(self._beside())
        return slides

    # --- the slides -----------------------------------------------------------------------------------------------

    def _question(self) -> Slide:
        library = self.trace.library
        held = (
            f"{count(library.documents, 'file')} \N{MIDDLE DOT} {count(library.chunks, 'passage')} "
            f"\N{MIDDLE DOT} {count(library.texts, 'different text')}"
        )
        if self.trace.only_file is not None:
            held = f"only in {file_name(self.trace.only_file)}"
        return Slide(
            "question",
            "Somebody asks a question",
            "An agent can only answer from what is put in front of it: passages found in the files.",
            Quote(one_line(" ".join(self.trace.query.split()), 600), held),
        )

    def _raw(self) -> Slide:
        trace = self.trace
        first = trace.candidates[: trace.rounds[0].received] if trace.rounds else trace.candidates
        copies = len(first) - len({one.candidate.fold_key for one in first})
        said = "The search hands over the passages that come nearest to the question, the nearest first."
        said += (
            f" {count(copies, 'of them says', 'of them say')} the same as a row above: one letter, one text."
            if copies
            else " Each of them says something else."
        )
        lines = tuple(self._row(one) for one in first[:MOST_LINES])
        picture = Lines(lines, len(first), 2 if len(lines) > 8 else 1)
        return Slide("raw", "What the search finds", said, picture, number(len(first)), "rows found")

    def _widening(self) -> Slide:
        trace = self.trace
        bands, before = [], 0
        for at, one in enumerate(trace.rounds):
            rows = trace.candidates[before : one.received]
            tiles = tuple(
                None if row.fate.name in ("beyond_retrieve_k", "left_out", "orphaned") else row.twin_group or ""
                for row in rows[:MOST_TILES]
            )
            new = "Asked for" if at == 0 else "Asked again, for"
            title = f"{new} {count(one.asked, 'row')}: {count(one.distinct, 'different text')}"
            bands.append(Band(title, tiles, len(rows)))
            before = max(before, one.received)
        first, last = trace.rounds[0], trace.rounds[-1]
        taken = "Copies" if trace.policy == "evidence" and not trace.left_out else "Copies and files left out"
        said = (
            f"{taken} took the places of other texts, so the search is asked for more: {count(first.distinct, 'text')} "
            f"in the first {count(first.received, 'row')}, {number(last.distinct)} in {number(last.received)}."
        )
        dropped = next((s.dropped for s in trace.stages if s.name == "width" and s.status == "done"), 0)
        if dropped:
            said += f" {number(dropped)} came along and are not needed."
        return Slide("widening", "Looking further", said, Bands(tuple(bands)), number(last.received), "rows in all")

    def _collapse(self, stage: StageCount) -> Slide:
        groups: dict[str, list[TracedCandidate]] = {}
        blocks = {block.fold_key: block for block in self.trace.evidence}
        for one in self.trace.candidates:
            if one.fate.name not in ("beyond_retrieve_k", "left_out", "orphaned", "merged"):
                groups.setdefault(one.candidate.fold_key, []).append(one)
        # The largest of those in sight first would tell another story than the order of the answer does.
        several = [members for members in groups.values() if len(members) > 1]
        shown = several or list(groups.values())
        folds = tuple(self._fold(members, blocks.get(members[0].candidate.fold_key)) for members in shown[:MOST_FOLDS])
        said = (
            "Copies of one text become one block. It takes one place and still cites every file that holds the text."
            if stage.dropped
            else "Copies of one text would become one block here. This time there are none."
        )
        picture: Picture = Folds(folds, len(shown))
        if not several:
            lines = tuple(self._row(members[0]) for members in shown[:MOST_LINES])
            picture = Lines(lines, len(shown), 2 if len(lines) > 8 else 1)
        words = "different texts" + (f", {count(stage.dropped, 'copy', 'copies')} folded in" if stage.dropped else "")
        return Slide("collapse", "Copies fold into one", said, picture, number(stage.left), words)

    def _cap(self, stage: StageCount) -> Slide:
        cap = self.trace.settings.get("max-chunks-per-document")
        most = cap.value if cap is not None and isinstance(cap.value, int) else 0
        over = [one for one in self.trace.candidates if one.fate.name == "over_document_cap"]
        said = f"No file may fill the answer alone: at most {count(most, 'block')} of each file."
        said += "" if over else " This time no file had more."
        lines = self._standing(fell_at="cap")
        words = "within the cap" + (f", {number(stage.dropped)} over it" if stage.dropped else "")
        picture = Lines(lines[:MOST_LINES], len(lines), 2 if len(lines) > 8 else 1)
        return Slide("cap", "Room for other files", said, picture, number(stage.left), words)

    def _returned(self, stage: StageCount) -> Slide:
        lines = self._standing(fell_at="return")
        said = "The best of what is left is the answer. The rest stays behind."
        if not stage.dropped:
            said = "All that is left is the answer."
        words = f"{'block' if stage.left == 1 else 'blocks'} returned"
        words += f", {number(stage.dropped)} not" if stage.dropped else ""
        picture = Lines(lines[:MOST_LINES], len(lines))
        if stage.dropped:
            kept = [line for line in lines if not line.fallen][:MOST_LINES]
            fallen = [line for line in lines if line.fallen][:MOST_LINES]
            picture = Lines((*kept, *fallen), len(lines), 2, len(kept))
        return Slide("return", "The answer", said, picture, number(stage.left), words)

    def _other(self, stage: StageCount) -> Slide:
        """A stage of which only what it took away is told."""
        words = stage_words(stage.name)
        fallen = [one for one in self.trace.candidates if one.fate.stage == stage.name and not _kept(one)]
        lines = tuple(self._row(one, fallen=True) for one in fallen[:MOST_LINES])
        picture = Lines(lines, len(fallen), 2 if len(lines) > 8 else 1)
        said = f"{number(stage.dropped)} {words.dropped}"
        return Slide(stage.name, words.title, words.sentence, picture, number(stage.left), f"{words.left}, {said}")

    def _projected(self) -> Slide:
        trace, budget = self.trace, self.trace.summary.budget
        blocks = {block.evidence_key: block for block in trace.evidence}
        cards, contents = [], []
        for rank, item in enumerate(trace.projected, 1):
            block = blocks.get(item.document_id)
            where = f"{pages(block.page_first, block.page_last)} " if block is not None else ""
            quiet = f"{where}also in {count(len(item.also_in), 'file')}" if item.also_in else where.strip()
            letter = self.letters.get(block.fold_key) if block is not None else None
            right = f"{count(item.chars, 'character')}{', cut' if item.cut else ''}"
            cards.append(Line(rank, letter, name_of(None, item.source), quiet, right))
            contents.append(first_words(item.content, 400))
        left = sum(1 for one in trace.candidates if one.fate.name == "over_budget")
        said = "This is all that the agent reads: the texts in this order, each with every file that it can cite."
        if left:
            said += f" {count(left, 'block')} found no room."
        share = budget.chars / budget.max_total_chars if budget.max_total_chars else 0.0
        full = f"{number(budget.chars)} of {count(budget.max_total_chars, 'character')}"
        words = f"{'text' if len(cards) == 1 else 'texts'} handed over"
        picture = Cards(tuple(cards), tuple(contents), share, full)
        return Slide("projected", "What the agent reads", said, picture, number(len(cards)), words)

    def _beside(self) -> Slide:
        trace = self.trace
        wanted = trace.settings.get("return-n")
        size = wanted.value if wanted is not None and isinstance(wanted.value, int) else len(trace.evidence)
        plain = trace.candidates[:size]
        seen: set[str] = set()
        lines = []
        for one in plain:
            again = one.candidate.fold_key in seen
            seen.add(one.candidate.fold_key)
            lines.append(self._row(one, fallen=again, note="the same text again" if again else ""))
        files = {one.candidate.source_path or one.candidate.doc_id for one in plain}
        repeated = len(plain) - len(seen)
        left = Side(
            f"A plain search: the first {number(len(plain))} rows",
            tuple(lines),
            _figures(repeated, len(seen), len(files)),
        )
        distinct = len({block.fold_key for block in trace.evidence})
        right = Side(
            policy_title(trace.policy)
            if trace.policy != "evidence"
            else f"Evidence: {count(len(trace.evidence), 'block')}",
            tuple(self._block(block) for block in trace.evidence),
            _figures(len(trace.evidence) - distinct, distinct, trace.summary.cited_files),
        )
        if trace.policy == "plain":
            said = "This answer is the plain one: the first rows as they come, copies and all."
        elif repeated:
            said = (
                f"Out of the same rows, a plain search would have given {number(repeated)} of its "
                f"{count(len(plain), 'place')} to copies: {count(len(seen), 'different text')}. "
                f"Here: {number(distinct)}."
            )
        else:
            said = "This time a plain search would have handed over no text twice."
        figure = f"{number(len(seen))} \N{RIGHTWARDS ARROW} {number(distinct)}"
        return Slide("beside", "And without all this?", said, Sides(left, right), figure, "different texts")

    # --- their parts ----------------------------------------------------------------------------------------------

    def _row(self, one: TracedCandidate, *, fallen: bool = False, note: str = "") -> Line:
        candidate = one.candidate
        text = first_words(candidate.text, 160) if candidate.text is not None else ""
        name = name_of(candidate.doc_id, candidate.source_path)
        where = _folder(candidate.doc_id, candidate.source_path)
        return Line(candidate.rank, one.twin_group, name, text, f"{candidate.score:.2f}", note, fallen, where)

    def _block(self, block: Evidence) -> Line:
        name = name_of(block.doc_id, block.source_path)
        where = _folder(block.doc_id, block.source_path)
        return Line(block.rank, self.letters.get(block.fold_key), name, "", cites_words(block), where=where)

    def _fold(self, members: Sequence[TracedCandidate], block: Evidence | None) -> Fold:
        head = members[0]
        if block is not None:
            line = self._block(block)
            line = Line(head.candidate.rank, line.letter, line.title, first_words(block.content, 160), line.right)
        else:
            line = self._row(head)
            line = Line(line.rank, line.letter, line.title, line.quiet, count(len(members), "row"))
        return Fold(tuple(self._row(one) for one in members[:MOST_LINES]), len(members), line)

    def _standing(self, *, fell_at: str) -> tuple[Line, ...]:
        """What came into a stage in its order, with what fell there."""
        later = {"cap": ("cap", "return", "project", "pack"), "return": ("return", "project", "pack")}[fell_at]
        lines = []
        for one in self.trace.candidates:
            if one.fate.stage not in later and not _kept(one):
                continue
            fallen = one.fate.stage == fell_at and not _kept(one)
            note = ""
            if fallen and fell_at == "cap":
                note = f"over the cap of {file_name(one.candidate.source_path or one.candidate.doc_id)}"
            lines.append(self._row(one, fallen=fallen, note=note))
        return tuple(lines)


def _folder(doc_id: str | None, path: str) -> str:
    """The innermost folder: more of a path is not read from afar."""
    return folder_of(doc_id, path).rpartition("/")[2]


def _kept(one: TracedCandidate) -> bool:
    return one.fate.name in ("projected", "projected_cut")


def _figures(repeated: int, distinct: int, files: int) -> tuple[tuple[str, str, bool], ...]:
    return (
        (number(repeated), "place taken by copies" if repeated == 1 else "places taken by copies", repeated == 0),
        (number(distinct), "different text" if distinct == 1 else "different texts", True),
        (number(files), "file cited" if files == 1 else "files cited", True),
    )
