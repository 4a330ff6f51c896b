"""What is left out of a folder, and what other rules would change, in words. Free of Qt."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.leaving_out import Ahead
from pipeline.records import PassedOverRow
from pipeline.scan import doc_name
from pipeline.words.phrases import count, isolated, listed
from pipeline.words.plain import one_line
from pipeline.words.states import rules_words

HOW_PATTERNS_READ = (
    "One pattern a line, read as in a .gitignore file: *.log means such files anywhere, build/ every folder of that "
    "name, /drafts only the one at the top, and ! in front takes back in (!.* also what is hidden)."
)
_LONGEST = 60  # of a pattern inside a sentence


def unreadable_words(lines: Mapping[int, str]) -> str:
    """Which line is no pattern, and why, by its place among the lines; "" where all are."""
    if not lines:
        return ""
    at, line = min(lines.items())
    more = f" Nor can {count(len(lines) - 1, 'more line')}." if len(lines) > 1 else ""
    return f"Line {at + 1:,} cannot be read: {_why(line)}.{more}"


def _why(line: str) -> str:
    shown = f"\N{LEFT DOUBLE QUOTATION MARK}{isolated(one_line(line, _LONGEST))}\N{RIGHT DOUBLE QUOTATION MARK}"
    if line.strip() == "!":
        return f"nothing stands behind the {shown}"
    if (len(line) - len(line.rstrip("\\"))) % 2:
        return f"nothing stands behind the backslash at the end of {shown}"
    if "[" in line:
        return f"the square brackets of {shown} hold no range of letters"
    return f"{shown} is no pattern"


def ahead_words(ahead: Ahead) -> str:
    """What would be left out now, by which rules."""
    if not ahead.left_out:
        said = "These rules leave out nothing now."
    else:
        names, rules = count(ahead.left_out, "name"), one_line(rules_words(ahead.rows))
        said = f"These rules leave out {names} now, a folder counting once: {rules}."
    if ahead.unreadable:
        said += f" {count(ahead.unreadable, 'name')} could not be read."
    return said


def change_words(ahead: Ahead) -> str:
    """What would be another than by the rules in force."""
    parts = [f"{count(ahead.files, 'file remains', 'files remain')}"]
    if ahead.going:
        parts.append(f"{count(ahead.going, 'file')} would be indexed no more: {_named(ahead.going_names, ahead.going)}")
    if ahead.coming:
        parts.append(f"{count(ahead.coming, 'file')} would come in: {_named(ahead.coming_names, ahead.coming)}")
    return f"{'. '.join(parts)}."


def _named(names: tuple[str, ...], in_all: int) -> str:
    shown = [isolated(one_line(name, _LONGEST)) for name in names]
    return listed(shown) if in_all <= len(shown) else f"{', '.join(shown)} and {in_all - len(shown):,} more"


def row_words(row: PassedOverRow) -> str:
    """One row of what is left out: its name, how much of it, and by which rule."""
    name = one_line(doc_name(row.rel_path), 200) or "(the folder itself)"
    many = f": {count(row.entries, 'name')} in it" if row.entries > 1 else ""
    return f"{name}{many}, by {one_line(row.rule, _LONGEST)}" if row.rule else f"{name}{many}, by other rules"
