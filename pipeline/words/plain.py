"""Text of documents made safe to show: plain, one line where one line is wanted, nothing invisible, nothing endless.

Qt lays out whatever it is handed, so everything is sliced before it gets there.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

# What turns text around, or cannot be seen at all, is shown by its name: it is how one file poses as another. Names,
# not Unicode's control pictures: few fonts have those.
_C0 = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI",
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US",
)
_NAMED = dict(enumerate(" ".join(_C0).split())) | {
    0x7F: "DEL",
    0x2028: "LS",
    0x2029: "PS",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0x200B: "ZWSP",
    0x2060: "WJ",
    0xFEFF: "BOM",
}
_CONTROLS: dict[int, str] = dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}")
_CONTROLS |= {
    code: f"\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}{name}\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
    for code, name in _NAMED.items()
}
_KEEPING_LINES = {code: sign for code, sign in _CONTROLS.items() if code not in (0x09, 0x0A)}
_KEEPING_LINES |= {0x0D: "", 0x2028: "\n", 0x2029: "\n"}

_SUSPECT = re.compile(r"[^\t\n -~\u00a0-\u1fff\u2010-\u2027\u2030-\u205f\u2070-\ud7ff\ue000-\ufefe\uff00-\uffff]")
_LONE = re.compile("[\ud800-\udfff]")  # half a pair: no character at all
_TAG = re.compile("[\U000e0000-\U000e007f]")  # invisible copies of ASCII
_UNSEEN = re.compile("[\x7f-\x9f\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]")
# What `os.fsdecode` makes of a byte that is no UTF-8, as JSON escapes it, and not the second half of a pair.
_LONE_BYTE = re.compile(r"\\\\|(?<!\\ud[89ab][0-9a-f]{2})\\udc([89a-f][0-9a-f])")
LONGEST_LINE = 400


def _clean(text: str, table: dict[int, str]) -> str:
    if not _SUSPECT.search(text) and "\t" not in text and "\n" not in text:
        return text
    return _TAG.sub("", _LONE.sub("\N{REPLACEMENT CHARACTER}", text)).translate(table)


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """A name or a path as one line: control characters visible, the middle of an endless one gone."""
    if len(text) > longest:
        half = longest // 2
        text = f"{text[:half]}\N{HORIZONTAL ELLIPSIS}{text[-half:]}"
    return _clean(text, _CONTROLS)


def first_words(text: str, longest: int = 240) -> str:
    """The beginning of a text as one line: white space folded, controls visible."""
    # Looking at a multiple of what is shown leaves room for white space to fold; the rest is never touched.
    head = " ".join(text[: longest * 8].split()) or " ".join(text[:200_000].lstrip()[: longest * 8].split())
    return _clean(head[:longest], _CONTROLS)


def lines_of(text: str, longest: int = 20_000) -> str:
    """A text with its line breaks and tabs, controls visible, at most `longest` characters of it."""
    return _clean(text[:longest], _KEEPING_LINES)


def visible_json(text: str) -> str:
    """JSON that says the same, with what cannot be seen, or turns text around, written in digits."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def json_text(content: Any) -> str:
    """Content as JSON, indented. ASCII only, so that a document's control characters reach no terminal. A byte of a
    file's name that is no UTF-8 is told as \\xNN: half a surrogate pair is no JSON text."""
    return _LONE_BYTE.sub(lambda found: rf"\\x{found[1]}" if found[1] else found[0], json.dumps(content, indent=2))


def tool_tip(*paragraphs: str) -> str:
    """A tool tip of plain paragraphs, controls visible. Qt guesses whether a tip is rich text, so it gets rich text
    whose content is escaped: a file named <b>.txt stays a file named <b>.txt."""
    shown = [html.escape(lines_of(part, 1_200)).replace("\n", "<br>") for part in paragraphs if part]
    return "".join(f"<p style='margin:0 0 4px 0'>{part}</p>" for part in shown)
