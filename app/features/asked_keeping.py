"""Which answered questions become entries of the history, and which take the place of the one before. Qt-free."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pipeline.records import Trace

STOOD_SECONDS = 3.0  # an answer that was on the screen this long was meant
TURNING_SECONDS = 1.5  # between two steps of one setting


@dataclass(eq=False, slots=True)
class Kept:
    """A question that was handed to the history. `entry_id` is set when it is written, in the history's thread."""

    library: Path
    text: str
    asked: dict[str, object]  # settings in force and scope
    at: float
    firm: bool
    turned: str = ""  # the one setting in which it differs from the one before
    entry_id: int | None = field(default=None)


def asked_of(trace: Trace) -> dict[str, object]:
    """What makes two askings of one text the same: the settings in force, without those that follow others, and the
    scope."""
    found: dict[str, object] = {key: entry.value for key, entry in trace.settings.items() if entry.via is None}
    return found | {"only file": trace.only_file, "left out": trace.left_out, "preferred": trace.preferred}


class Keeping:
    """Typing is live, so a question is answered many times on the way to the one that is meant. The history gets each
    as it is answered, so that nothing is lost with the window; the next one takes the place of a half-typed one.

    A question was meant when Enter was pressed, when it was chosen from a list, or when its answer stood a while
    before something else than its continuation was typed. A setting that is turned step by step is one change.
    """

    def __init__(self) -> None:
        self._last: Kept | None = None
        self._meant = ""
        self._opening: tuple[str, int] | None = None  # the entry that is being opened: its question and its id

    def anew(self) -> None:
        """What comes next goes on from nothing before."""
        self._last = None
        self._opening = None

    def meant(self, text: str) -> None:
        """This question was asked with Enter."""
        self._meant = text
        if self._last is not None and self._last.text == text:
            self._last.firm = True

    def opened(self, text: str, entry_id: int) -> None:
        """The run that comes next was opened from the history: looking at it again is no new question."""
        self._opening = (text, entry_id)

    def kept_of(self, library: Path, trace: Trace) -> Kept | None:
        """What this run is kept as, if it was the last."""
        last = self._last
        same = last is not None and (last.library, last.text, last.asked) == (library, trace.query, asked_of(trace))
        return last if same else None

    def keep(self, library: Path, trace: Trace, *, typing: bool, now: float) -> tuple[Kept, Kept | None] | None:
        """The new entry and the one that it replaces; None when the run is kept already. `now` in seconds."""
        asked, last, opening = asked_of(trace), self._last, self._opening
        self._opening = None
        if opening is not None and opening[0] == trace.query:
            self._last = Kept(library, trace.query, asked, now, firm=True, entry_id=opening[1])
            return None
        if self.kept_of(library, trace) is not None:
            return None  # it was asked again by itself, because the library has changed
        if last is not None and last.library != library:
            last = None
        firm = not typing or trace.query == self._meant
        kept = Kept(library, trace.query, asked, now, firm)
        replaced = None
        if last is not None:
            if last.text == kept.text:
                changed = [key for key in asked if key not in last.asked or asked[key] != last.asked[key]]
                kept.turned = changed[0] if len(changed) == 1 and isinstance(asked[changed[0]], (int, float)) else ""
                kept.firm = firm or last.firm
                if kept.turned and kept.turned == last.turned and now - last.at < TURNING_SECONDS:
                    replaced = last
            elif not last.firm and (kept.text.startswith(last.text) or now - last.at < STOOD_SECONDS):
                replaced = last
        self._last = kept
        return kept, replaced
