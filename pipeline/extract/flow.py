"""Blocks and inline text -> laid-out text, the same for every format.

Paragraphs have a blank line between them, list items and table rows are lines, table cells are separated by a tab, and
white space collapses as in a browser. So renderings of one text have the same paragraphs, whatever format they are in.
What a block is called is what HTML calls it: `p`, `li` in `ul`, `td` in `tr` in `table`, `br`, `pre`.
"""

from __future__ import annotations

import re

from pipeline.extract.plain import check_length


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PARAGRAPHS = _words(
    "html body address article aside blockquote caption center details dialog div dl fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend main nav p search section summary table"
)
_LINES = _words("dd dt li optgroup option tr")
_LISTS = _words("dir menu ol ul")
_CELLS = _words("td th")
_VERBATIM = _words("listing plaintext pre textarea xmp")

_BLANKS = re.compile("[ \t\n\r\f]+")  # what CSS collapses; a no-break space stays


class Flow:
    """Collects text; separators wait until the next text shows that they separate something."""

    def __init__(self, max_chars: int) -> None:
        """Raises `ExtractionFailed` as soon as there is more text than `max_chars`."""
        self._max_chars = max_chars
        self._chars = 0  # written so far
        self._parts: list[str] = []
        self._breaks = 0  # line ends due before the next text: 1 a line, 2 a paragraph
        self._tabs = 0  # table cells begun on this line since the last text
        self._blank = False  # a space is due before the next text on this line
        self._lists = 0  # how many lists we are in
        self._verbatim = 0  # how many <pre> we are in
        self._lines = 0  # line ends written, to know whether a cell took more than one line
        self._rows: list[tuple[int, int]] = []  # of each open row: cells begun, parts before its text
        self._cells: list[int] = []  # of each open cell: `_lines` where its text began, -1 while it has none
        self._cell_fresh = False  # at the start of a cell, whose first block must not break the row

    def result(self) -> str:
        return "".join(self._parts)

    def text(self, text: str) -> None:
        if self._verbatim:
            self._write_verbatim(text)
            return
        text = _BLANKS.sub(" ", text).replace("\u00ad", "")
        body = text.strip(" ")
        if not body:
            self._blank = self._blank or bool(text)
            return
        self._separate(spaced=self._blank or text[0] == " ")
        self._append(body)
        self._blank = text[-1] == " "

    def paragraph(self, tag: str, text: str) -> None:
        """A whole block of text, its line ends kept."""
        self.enter(tag)
        lines = iter(text.split("\n"))
        self.text(next(lines))
        for line in lines:
            self.enter("br")
            self.text(line)
        self.leave(tag)

    def insert(self, laid_out: str) -> None:
        """What another flow has laid out, as a block of its own."""
        self._break(2)
        self._write_verbatim(laid_out)
        self._break(2)

    def enter(self, tag: str) -> None:
        if tag == "br":
            if self._verbatim:
                self._write_verbatim("\n")
            else:
                self._break(min(2, self._breaks + 1))
        elif tag in _CELLS:
            self._enter_cell()
        elif tag in _LISTS:
            self._break(1 if self._lists else 2)
            self._lists += 1
        else:
            if tag == "tr":
                self._rows.append((0, len(self._parts)))
            self._block(tag)
            if tag in _VERBATIM:
                self._verbatim += 1

    def leave(self, tag: str) -> None:
        if tag == "br":
            return
        if tag in _CELLS:
            if self._cells.pop() == self._lines:
                self._breaks = 0  # one line of text, whatever blocks it stood in
            self._cell_fresh = False
        elif tag in _LISTS:
            self._lists -= 1
            self._break(1 if self._lists else 2)
        else:
            if tag in _VERBATIM:
                self._verbatim -= 1
                self._end_verbatim()
            if tag == "tr":
                self._rows.pop()
                self._tabs = 0
            self._block(tag)

    def _enter_cell(self) -> None:
        if self._rows:
            cells, parts = self._rows[-1]
            if cells and (not self._breaks or len(self._parts) == parts):  # no tab behind a cell of several paragraphs
                self._tabs += 1
            self._rows[-1] = (cells + 1, parts)
        self._blank = False
        self._cells.append(-1)
        self._cell_fresh = True

    def _block(self, tag: str) -> None:
        if tag in _PARAGRAPHS or (tag in _VERBATIM and tag != "textarea"):
            self._break(2)
        elif tag in _LINES or tag == "textarea":
            self._break(1)

    def _break(self, lines: int) -> None:
        self._blank = False
        if not self._cell_fresh:
            self._breaks = max(self._breaks, lines)

    def _separate(self, *, spaced: bool) -> None:
        if self._parts:
            if self._breaks or self._tabs:
                self._append("\n" * self._breaks + "\t" * self._tabs)
                self._lines += self._breaks
            elif spaced:
                self._append(" ")
        self._breaks = self._tabs = 0
        if self._cell_fresh:
            self._cell_fresh = False
            self._cells[-1] = self._lines

    def _write_verbatim(self, text: str) -> None:
        if text:
            self._separate(spaced=self._blank)
            self._blank = False
            self._append(text)
            self._lines += text.count("\n")

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._chars += len(text)
        if self._chars > self._max_chars:
            check_length(self._chars, self._max_chars)

    def _end_verbatim(self) -> None:
        while self._parts and not (kept := self._parts[-1].rstrip("\r\n")):
            self._parts.pop()
        if self._parts:
            self._parts[-1] = kept
