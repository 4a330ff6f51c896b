"""RTF: body, then footnotes, then each header and footer once, as DOCX; hidden and deleted text left out.

One pass over the tokens, with a stack of states for the groups. Characters come in the encoding of their font.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.flow import Flow
from pipeline.extract.plain import check_length, clean, says_something
from pipeline.extract.records import Extracted, Source

MAGIC = b"{\\rtf"
_TOKEN = re.compile(
    r"\\(?:(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|'(?P<hex>[0-9a-fA-F]{2})|(?P<symbol>[^a-zA-Z]))"
    r"|(?P<open>\{)|(?P<close>\})|[\r\n]+|(?P<text>[^\\{}\r\n]+)|\\",
    re.S,
)
_MAX_DEPTH = 10_000
_MAX_TOKENS = 6_000_000  # beyond any document of readable length


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Groups that hold no text of the document.
_UNSEEN = _words(
    "aftnsep aftnsepc annotation atnauthor atndate atnicn atnid atnparent atnref bkmkend bkmkstart colorschememapping "
    "colortbl datafield datastore docvar filetbl fldinst ftnsep ftnsepc generator info latentstyles listoverridetable "
    "listtable listtext mmathPr nonesttables nonshppict objdata panose pict pn pnseclvl pntext private revtbl rsidtbl "
    "rxe shprslt sp stylesheet tc template themedata upr userprops xe xmlnstbl"
)
_SEEN_STARRED = _words("shpinst nesttableprops ud")  # groups that old readers are to pass over, and we are not
_MARGINS = _words("header headerl headerr headerf footer footerl footerr footerf")
_CHARACTERS = {
    "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005", "zwj": "\u200d", "zwnj": "\u200c",
    "tab": "\t", "line": "\n", "lbr": "\n", "nestcell": "\t", "nestrow": "\n", "column": "\n",
}  # fmt: skip
_SYMBOLS = {"~": "\u00a0", "_": "\u2011", "\\": "\\", "{": "{", "}": "}"}
_ENDS_PARAGRAPH = _words("par sect page")
_BY_CHARSET = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_OF_TWO_BYTES = ("cp932", "cp949", "johab", "gb18030", "big5", "cp936", "cp950", "utf_8")
_BY_WORD = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}


def extract_rtf(source: Source) -> Extracted:
    """Raises `ExtractionFailed` when it is no RTF. One that was cut off keeps what there is, with a warning."""
    start = source.data[:1024].find(MAGIC)
    if start < 0:
        raise ExtractionFailed("not RTF: the file is damaged")
    reader = _Reader(source.max_chars)
    complete = reader.read(source.data[start:].decode("latin-1"))
    text = clean(reader.result())
    check_length(len(text), source.max_chars)
    return Extracted("rtf", text, warnings=() if complete else ("its end is missing",))


@dataclass(slots=True)
class _State:
    """What a group inherits and its end takes back."""

    unseen: bool = False
    fonts: bool = False  # in the table of fonts
    fallback: int = 1  # characters behind a Unicode one, for old readers
    font: int = -1
    hidden: bool = False
    deleted: bool = False
    starts_place: bool = False


@dataclass(slots=True)
class _Place:
    """Where paragraphs go: the body, a note, a header, a text box."""

    flow: Flow
    goes_to: str
    pieces: list[str] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)  # paragraphs of the open cell
    row: list[list[str]] = field(default_factory=list)  # cells of the open row
    in_table: bool = False  # of the open paragraph
    is_item: bool = False
    listing: bool = False  # whether the last paragraph was a list item
    tabling: bool = False  # whether the last thing was a row


class _Reader:
    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._state = _State()
        self._states: list[_State] = []
        self._places = [_Place(Flow(max_chars), "body")]
        self._notes: list[str] = []
        self._margins: dict[str, None] = {}
        self._default = "cp1252"
        self._codecs: dict[int, str] = {}  # by font
        self._described = -1  # the font whose entry in the table is open
        self._bytes = bytearray()  # characters that are still in the font's encoding
        self._starred = False
        self._passing = 0  # characters to pass over: they stand for the Unicode one before

    def result(self) -> str:
        while len(self._places) > 1:
            self._end_place()
        self._finish(self._places[0])
        return "\n\n".join(filter(None, [self._places[0].flow.result(), *self._notes, *self._margins]))

    def read(self, data: str) -> bool:
        """False when the data end before the document does."""
        position, end = 0, len(data)
        count = 0
        while position < end:
            token = _TOKEN.match(data, position)
            if token is None:  # cannot be: the last branch takes a lone backslash
                position += 1
                continue
            position = token.end()
            kind = token.lastgroup
            count += 1
            if count > _MAX_TOKENS:
                raise ExtractionFailed(f"too many control words: more than {_MAX_TOKENS:,}", "too_large")
            if kind == "text":
                self._text(token[0])
            elif kind in ("word", "number"):
                word, number = token["word"], token["number"]
                if word == "bin" and number:
                    position += max(0, int(number))
                else:
                    self._word(word, None if number is None else int(number))
            elif kind == "hex":
                self._hex(int(token["hex"], 16))
            elif kind == "symbol":
                self._symbol(token["symbol"])
            elif kind == "open":
                self._open()
            elif kind == "close":
                self._close()
                if not self._states:
                    return True
        self._flush()
        return False

    # --- groups ---

    def _open(self) -> None:
        self._flush()
        self._passing = 0
        if len(self._states) >= _MAX_DEPTH:
            raise ExtractionFailed(f"nested too deeply: more than {_MAX_DEPTH:,} groups", "too_large")
        self._states.append(self._state)
        self._state = replace(self._state, starts_place=False)
        self._starred = False

    def _close(self) -> None:
        self._flush()
        self._passing = 0
        self._starred = False
        if self._state.starts_place:
            self._end_place()
        self._state = self._states.pop() if self._states else _State()

    def _begin_place(self, goes_to: str) -> None:
        self._state.starts_place = True
        self._places.append(_Place(Flow(self._max_chars), goes_to))

    def _end_place(self) -> None:
        place = self._places.pop()
        self._finish(place)
        text = place.flow.result()
        if place.goes_to == "notes" and text:
            self._notes.append(text)
        elif place.goes_to == "margins" and says_something(text):
            self._margins[clean(text)] = None
        elif place.goes_to == "box" and text:
            host = self._places[-1]
            self._end_paragraph(host)
            host.flow.insert(text)

    # --- control words ---

    def _word(self, word: str, number: int | None) -> None:
        if self._passing and word not in ("u", "par"):
            self._passing -= 1
            return
        self._flush()
        starred, self._starred = self._starred, False
        state = self._state
        if word in _UNSEEN or (starred and word not in _SEEN_STARRED):
            state.unseen = True
        elif word == "ud":
            state.unseen = False
        elif word == "fonttbl":
            state.unseen = state.fonts = True
        elif state.unseen:
            if state.fonts:
                self._describe_font(word, number)
        elif word == "u" and number is not None:
            self._write(chr(number & 0xFFFF))
            self._passing = state.fallback
        elif word in _CHARACTERS:
            self._write(_CHARACTERS[word])
        else:
            self._format(word, number)

    def _format(self, word: str, number: int | None) -> None:
        state, place = self._state, self._places[-1]
        if word in _ENDS_PARAGRAPH:
            if not (state.hidden or state.deleted):
                self._end_paragraph(place)
        elif word == "pard":
            place.in_table = place.is_item = False
        elif word == "intbl":
            place.in_table = True
        elif word == "ls":
            place.is_item = bool(number)
        elif word == "outlinelevel":
            place.is_item = False
        elif word == "cell":
            place.cell.append("".join(place.pieces))
            place.row.append(place.cell)
            place.pieces, place.cell = [], []
        elif word == "row":
            self._end_row(place)
        elif word == "f":
            state.font = number if number is not None else -1
        elif word == "plain":
            state.hidden = state.deleted = False
            state.font = -1
        elif word == "v":
            state.hidden = number != 0
        elif word == "deleted":
            state.deleted = number != 0
        elif word == "uc":
            state.fallback = max(0, min(number if number is not None else 1, 16))
        elif word == "footnote":
            self._begin_place("notes")
        elif word in _MARGINS:
            self._begin_place("margins")
        elif word in ("shptxt", "dptxbxtext"):
            self._begin_place("box")
        elif word == "ansicpg" and number is not None:
            self._default = _codec(f"cp{number}") or self._default
        elif word in _BY_WORD:
            self._default = _BY_WORD[word]

    def _describe_font(self, word: str, number: int | None) -> None:
        if word == "f" and number is not None:
            self._described = number
        elif word == "fcharset" and number in _BY_CHARSET:
            self._codecs[self._described] = _BY_CHARSET[number]
        elif word == "cpg" and number is not None and (codec := _codec(f"cp{number}")):
            self._codecs[self._described] = codec

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._starred = True
        elif self._passing:
            self._passing -= 1
        elif symbol in "\r\n":
            self._word("par", None)
        elif symbol in "\\{}" and self._bytes and self._codec in _OF_TWO_BYTES:
            self._text(symbol)  # the second half of a character
        elif symbol in _SYMBOLS:
            self._flush()
            self._write(_SYMBOLS[symbol])

    # --- characters ---

    def _text(self, text: str) -> None:
        if self._passing:
            passed = min(self._passing, len(text))
            self._passing -= passed
            text = text[passed:]
        if self._state.unseen or not text:
            return
        if text.isascii() and not (self._bytes and self._codec in _OF_TWO_BYTES):
            self._flush()
            self._write(text)
        else:
            self._bytes += text.encode("latin-1")

    def _hex(self, byte: int) -> None:
        if self._passing:
            self._passing -= 1
        elif not self._state.unseen:
            self._bytes.append(byte)

    @property
    def _codec(self) -> str:
        return self._codecs.get(self._state.font, self._default)

    def _flush(self) -> None:
        if self._bytes:
            self._write(self._bytes.decode(self._codec, "replace"))
            self._bytes.clear()

    def _write(self, text: str) -> None:
        state = self._state
        if not (state.unseen or state.hidden or state.deleted):
            self._places[-1].pieces.append(text)

    # --- paragraphs and tables ---

    def _end_paragraph(self, place: _Place) -> None:
        text = "".join(place.pieces)
        place.pieces = []
        if place.in_table:
            place.cell.append(text)
        elif text.strip():
            self._close_table(place)
            if place.is_item != place.listing:
                place.listing = place.is_item
                (place.flow.enter if place.is_item else place.flow.leave)("ul")
            place.flow.paragraph("li" if place.is_item else "p", whole(text))

    def _end_row(self, place: _Place) -> None:
        if place.listing:
            place.flow.leave("ul")
            place.listing = False
        if not place.tabling:
            place.flow.enter("table")
            place.tabling = True
        place.flow.enter("tr")
        for cell in place.row:
            place.flow.enter("td")
            for paragraph in cell:
                place.flow.paragraph("p", whole(paragraph))
            place.flow.leave("td")
        place.flow.leave("tr")
        place.row, place.cell = [], []

    def _close_table(self, place: _Place) -> None:
        if place.row:  # cells whose row never ended
            self._end_row(place)
        if place.tabling:
            place.flow.leave("table")
            place.tabling = False

    def _finish(self, place: _Place) -> None:
        place.in_table = False
        for paragraph in place.cell:
            place.pieces += [paragraph, "\n"]
        place.cell = []
        self._end_paragraph(place)
        self._close_table(place)
        if place.listing:
            place.flow.leave("ul")
            place.listing = False


def whole(text: str) -> str:
    """Characters beyond the first 65,536 come in two halves."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _codec(name: str) -> str:
    """Python's name for it; empty when there is none that makes text of bytes."""
    name = "utf_8" if name == "cp65001" else name
    try:
        codecs.lookup(name)
    except LookupError:
        return ""
    return name
