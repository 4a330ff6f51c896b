"""How much of a text stands in the same chunks after an edit, by splitter.

    python -m tests.bench.chunk_stability CORPORA [--json]

CORPORA holds versions of the same documentation as Docusaurus lays them out: sibling folders `version-<number>`, and
`docs` two levels above where what comes next is kept. Every page that differs between two neighbouring versions is
taken, and measured against (a) its next version, (b) itself with a paragraph put at the top, (c) itself with a
paragraph put in the middle, (d) itself with other white space (CRLF, NBSP, tabs, trailing blanks; the mean of the
four). All of it once more with the marks of the headings taken off, as plain text.

The figure is the share of the characters of both texts that stand in a chunk equal to one of the other text, after
folding white space. The paragraph splitter is the bound: it loses little but what was edited, at a tenth of the size.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from semantic_text_splitter import MarkdownSplitter, TextSplitter

from pipeline.chunk import Markup, split
from pipeline.textkeys import fold

ADDED = (
    "This paragraph was put into the copy afterwards. It says only that the page was reviewed on the fourth of May "
    "and is to be read together with the notice on the first floor."
)

Splitter = Callable[[str], Sequence[str]]


class Page(NamedTuple):
    series: str
    old: str
    new: str


def fixed_windows(text: str, size: int = 1000) -> list[str]:
    """Whole words up to `size` characters."""
    windows: list[list[str]] = [[]]
    used = 0
    for word in text.split():
        if used + len(word) > size and windows[-1]:
            windows.append([])
            used = 0
        windows[-1].append(word)
        used += len(word) + 1
    return [" ".join(words) for words in windows if words]


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def ours(markup: Markup) -> Splitter:
    return lambda text: [text[start:end] for start, end in split(text, markup=markup)]


MARKDOWN: dict[str, Splitter] = {
    "fixed windows, 1000": fixed_windows,
    "MarkdownSplitter(1000)": MarkdownSplitter(1000).chunks,
    "MarkdownSplitter(900)": MarkdownSplitter(900).chunks,
    "pipeline.chunk": ours("markdown"),
    "one chunk a paragraph": paragraphs,
}
PLAIN: dict[str, Splitter] = {
    "fixed windows, 1000": fixed_windows,
    "TextSplitter(1000)": TextSplitter(1000).chunks,
    "TextSplitter(750)": TextSplitter(750).chunks,
    "pipeline.chunk": ours("plain"),
    "one chunk a paragraph": paragraphs,
}


# --- pages ------------------------------------------------------------------------------------------------------


def version_chains(corpora: Path) -> Iterator[tuple[str, list[Path]]]:
    """Each series' name and its version folders, oldest first."""
    for parent in sorted({folder.parent for folder in corpora.rglob("version-*") if folder.is_dir()}):
        versions = sorted(parent.glob("version-*"), key=version_number)
        following = parent.parent.parent / "docs"
        if parent.name == "versioned_docs" and following.is_dir():
            versions.append(following)
        yield parent.relative_to(corpora).parts[0] if parent != corpora else parent.name, versions


def version_number(folder: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", folder.name)]


def changed_pages(corpora: Path) -> list[Page]:
    pages = []
    for series, versions in version_chains(corpora):
        for before, after in itertools.pairwise(versions):
            for path in sorted(p for p in before.rglob("*") if p.suffix in (".md", ".mdx")):
                other = after / path.relative_to(before)
                if other.is_file():
                    old, new = path.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")
                    if fold(old) != fold(new):
                        pages.append(Page(series, old, new))
    return pages


def with_paragraph_at_the_top(text: str) -> str:
    return f"{ADDED}\n\n{text}"


def with_paragraph_in_the_middle(text: str) -> str:
    """At the first blank line after the middle that is not in a code fence, else at the end."""
    lines = text.split("\n")
    fenced = False
    for i, line in enumerate(lines):
        if re.match(r"\s*(```|~~~)", line):
            fenced = not fenced
        if i >= len(lines) // 2 and not fenced and not line.strip():
            return "\n".join([*lines[:i], "", ADDED, *lines[i:]])
    return f"{text}\n\n{ADDED}\n"


def without_heading_marks(text: str) -> str:
    return re.sub(r"(?m)^#{1,6}[ \t]+", "", text)


WHITE_SPACE: tuple[Callable[[str], str], ...] = (
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace(" ", "\u00a0"),
    lambda text: text.replace(" ", "\t"),
    lambda text: text.replace("\n", "  \n"),
)


# --- figures ----------------------------------------------------------------------------------------------------


def shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Characters of both texts in chunks that the other has too, and all their characters."""
    known, others = set(old), set(new)
    kept = sum(len(c) for c in old if c in others) + sum(len(c) for c in new if c in known)
    return kept, sum(map(len, old)) + sum(map(len, new))


def measure(splitter: Splitter, pages: Sequence[Page]) -> dict[str, float]:
    """`a` to `d`: shares of all characters; `a_pages`...: means of the pages' shares; sizes in characters."""

    def folded(text: str) -> list[str]:
        return [fold(chunk) for chunk in splitter(text)]

    found: dict[str, float] = {}
    versions = [folded(page.new) for page in pages]
    edits = {
        "a": [folded(page.old) for page in pages],
        "b": [folded(with_paragraph_at_the_top(page.new)) for page in pages],
        "c": [folded(with_paragraph_in_the_middle(page.new)) for page in pages],
        "d": [folded(change(page.new)) for change in WHITE_SPACE for page in pages],
    }
    for name, others in edits.items():
        counts = [shared(old, new) for old, new in zip(others, itertools.cycle(versions), strict=False)]
        found[name] = sum(kept for kept, _ in counts) / sum(total for _, total in counts)
        found[f"{name}_pages"] = statistics.mean(kept / total for kept, total in counts)
    began = time.perf_counter()
    raw = [len(chunk) for page in pages for chunk in splitter(page.new)]
    seconds = time.perf_counter() - began
    found["mean"], found["largest"] = statistics.mean(raw), max(raw)
    found["mean_folded"] = statistics.mean(len(chunk) for version in versions for chunk in version)
    found["mb_per_second"] = sum(len(page.new.encode()) for page in pages) / 1e6 / seconds
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", type=Path, help="a folder that holds folders named version-<number>")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    pages = changed_pages(arguments.corpora)
    if not pages:
        print(f"{arguments.corpora}: no page that changed between two versions", file=sys.stderr)
        return 1
    series = sorted({page.series for page in pages})
    groups = {name: [page for page in pages if page.series == name] for name in series}
    groups["all"] = pages
    groups["all as plain text"] = [
        Page(page.series, without_heading_marks(page.old), without_heading_marks(page.new)) for page in pages
    ]
    figures = {
        group: {
            name: measure(splitter, chosen)
            for name, splitter in (PLAIN if group == "all as plain text" else MARKDOWN).items()
        }
        for group, chosen in groups.items()
    }
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return 0
    for group, rows in figures.items():
        print(f"{group}: {len(groups[group])} changed pages. Share of all characters (mean of the pages' shares)")
        head = ("next version", "top", "middle", "white space", "mean", "folded", "largest", "MB/s")
        print(f"  {'':24}" + "".join(f"{title:>16}" for title in head[:4]) + "".join(f"{t:>9}" for t in head[4:]))
        for name, row in rows.items():
            cells = "".join(f"{row[key]:>8.3f} ({row[f'{key}_pages']:.3f})" for key in "abcd")
            sizes = "".join(f"{row[key]:>9.0f}" for key in ("mean", "mean_folded", "largest"))
            print(f"  {name:24}{cells}{sizes}{row['mb_per_second']:>9.1f}")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
