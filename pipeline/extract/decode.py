"""Bytes -> text: which encoding a file is in, decided so that the same bytes always give the same text.

In order: a byte order mark, UTF-16/32 without one (NUL bytes give them away), strict UTF-8, UTF-8 with a few damaged
bytes, then charset-normalizer's guess among the encodings that files on people's disks really have. Line ends are kept.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

from pipeline.extract.errors import ExtractionFailed

# UTF-32 first: its little-endian mark begins with UTF-16's.
_MARKS: tuple[tuple[bytes, str, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)

# What a guess may be, the likelier first: among readings that are equally good the first one wins. Without this
# charset-normalizer reads western European text as Central European, because both look alike to it. iso8859_2 stands
# before cp1250 because the letters that tell them apart are C1 controls in the former, which rules it out.
_GUESSES = (
    "cp1252", "iso8859_2", "cp1250", "cp1251", "koi8_r", "koi8_u", "cp932", "euc_jp", "gb18030", "big5", "cp949",
    "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_6", "iso8859_5", "iso8859_7", "cp1257", "cp1258", "cp874",
    "mac_roman", "mac_cyrillic", "cp850", "cp852", "cp866", "cp437",
)  # fmt: skip
_SAMPLE = 65_536  # bytes that a guess looks at
_NAMED_BY_PAGES = {  # the encodings that a web page may name, as the WHATWG standard reads those names
    "iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252", "windows-1252": "cp1252",
    "iso-8859-9": "cp1254", "windows-1254": "cp1254", "gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030",
    "shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932", "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp", "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs", "koi8-r": "koi8_r", "koi8-u": "koi8_u", "macintosh": "mac_roman", "ibm866": "cp866",
    "tis-620": "cp874", "windows-874": "cp874",
    **{f"windows-{n}": f"cp{n}" for n in (1250, 1251, 1253, 1255, 1256, 1257, 1258)},
    **{f"iso-8859-{n}": f"iso8859_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}  # fmt: skip

# Controls that no text in an 8-bit or 16-bit encoding holds. Tab, line ends, vertical tab and form feed are text.
_FOREIGN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_CONTROLS = bytes(set(range(32)) - {9, 10, 11, 12, 13, 27})
_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")
_DECLARED = re.compile(
    rb"""(?:<meta\b[^>]{0,300}?\bcharset|<\?xml\b[^>]{0,100}?\bencoding)\s*=\s*["']?\s*([\w.:-]+)""", re.I
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`encoding` is Python's name for it; `warnings` says what was lost."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode_text(data: bytes) -> Decoded:
    """The text of a plain file, its byte order mark taken off. Raises `ExtractionFailed` when it is no text."""
    return _marked(data) or _wide(data) or _iso_2022_jp(data) or _utf8(data) or _guessed(data)


def decode_page(data: bytes) -> Decoded:
    """The text of a web page: as `decode_text`, but believing the page's own declaration before any guess."""
    return _marked(data) or _wide(data) or _declared(data) or _iso_2022_jp(data) or _utf8(data) or _guessed(data)


def decode_as(data: bytes, name: str) -> Decoded:
    """As `decode_text`, but believing an encoding that something outside of the text names, a mail's header say."""
    return _marked(data) or _wide(data) or _named(data, name) or _iso_2022_jp(data) or _utf8(data) or _guessed(data)


def _marked(data: bytes) -> Decoded | None:
    for mark, encoding, name in _MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                if encoding == "utf-32-le":
                    continue  # UTF-16 whose first character is NUL begins alike
                if encoding == "utf-8" and b"\0" not in data:
                    return _damaged_utf8(data[len(mark) :])
                raise ExtractionFailed(f"not text: it begins as {name} but is damaged", "not_text") from None
            if "\0" in text:
                raise ExtractionFailed("not text: it holds NUL characters", "not_text")
            return Decoded(text, encoding)
    return None


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 or UTF-32 without a mark. Any text of more than a few words has a blank or a line end in it, and so a NUL
    byte. None when there is no NUL byte; UTF-8 with a few of them stays what it is."""
    nuls = data.count(0)
    if not nuls:
        return None
    if nuls * 20 <= len(data):  # far too few for UTF-16, whose blanks and line ends hold one each
        try:
            return Decoded(data.decode(), "utf-8", ("it holds NUL characters",))
        except UnicodeDecodeError:
            pass
    # In UTF-16 the zeros of ASCII characters all stand at odd places (little endian) or even ones (big endian).
    little, big = data[1::2].count(0), data[0::2].count(0)
    sixteen = ("utf-16-le", "utf-16-be") if little >= big else ("utf-16-be", "utf-16-le")
    for encoding in ("utf-32-le", "utf-32-be", *sixteen):
        if len(data) % (4 if encoding.startswith("utf-32") else 2):
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _FOREIGN.search(text) and _assigned(text[:4096]) and not _is_ascii_in_pairs(data[:8192]):
            return Decoded(text, encoding)
    raise ExtractionFailed("not text: it holds NUL bytes", "not_text")


def _assigned(text: str) -> bool:
    """Whether nearly all characters exist. Bytes read in the wrong order soon name one that does not."""
    strange = sum(unicodedata.category(char) in ("Cn", "Co") for char in text)
    return strange * 100 <= len(text)


def _is_ascii_in_pairs(data: bytes) -> bool:
    """Whether it is words with NUL bytes among them, whose bytes in pairs make Chinese characters of a kind. In real
    Chinese a third of the characters has two bytes that would be ASCII, in other scripts none has."""
    pairs = sum(32 <= one < 127 and 32 <= other < 127 for one, other in zip(data[::2], data[1::2], strict=False))
    return pairs * 20 > len(data) * 6


def _iso_2022_jp(data: bytes) -> Decoded | None:
    """Japanese mail: seven-bit, so it passes for UTF-8, but for its escapes."""
    if _ISO_2022_JP.search(data[:_SAMPLE]) and data.isascii():
        try:
            return Decoded(data.decode("iso2022_jp"), "iso2022_jp")
        except UnicodeDecodeError:
            pass
    return None


def _utf8(data: bytes) -> Decoded | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _nearly_utf8(data)
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls * 10 > len(data):
        raise ExtractionFailed("not text: it is mostly control characters", "not_text")
    return Decoded(text, "utf-8")


def _nearly_utf8(data: bytes) -> Decoded | None:
    """Whether a file that is not UTF-8 throughout was meant to be: one bad byte in a log must not turn every accent in
    it to rubbish. Other encodings hardly ever form valid sequences, and never ten for each invalid one."""
    damaged = _damaged_utf8(data)
    bad = damaged.text.count("\ufffd")
    return damaged if len(_MULTIBYTE.findall(data)) >= 10 * bad else None


def _damaged_utf8(data: bytes) -> Decoded:
    text = data.decode("utf-8", "replace")
    places = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    words = "1 place is" if places == 1 else f"{places:,} places are"
    return Decoded(text, "utf-8", (f"{words} not valid UTF-8; shown as \ufffd",))


def _declared(data: bytes) -> Decoded | None:
    found = _DECLARED.search(data[:4096])
    return _named(data, found[1].decode("ascii", "replace")) if found else None


def _named(data: bytes, name: str) -> Decoded | None:
    name = name.lower()
    encoding = _NAMED_BY_PAGES.get(name)
    if encoding is None:
        return None
    if encoding != "iso2022_jp":
        try:  # pages that were converted to UTF-8 and still name the old encoding are common, the reverse is not
            return Decoded(data.decode("utf-8"), "utf-8")
        except UnicodeDecodeError:
            pass
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        if (damaged := _nearly_utf8(data)) is not None:
            return damaged
        text = data.decode(encoding, "replace")
        if text.count("\ufffd") * 100 > len(text):
            return None  # the declaration is wrong
        return Decoded(text, encoding, (f"not valid {name} throughout (first at byte {error.start:,})",))


def _guessed(data: bytes) -> Decoded:
    from charset_normalizer import from_bytes  # costs 20 ms to import, and most files are UTF-8

    sample = _telling_lines(data)
    matches = [m for m in from_bytes(sample, cp_isolation=list(_GUESSES)) if m.encoding in _GUESSES]
    if matches:
        best = matches[0]
        close = [m for m in matches if m.chaos <= best.chaos + 0.01 and m.coherence >= best.coherence - 0.03]
        names = {name: m for m in reversed(matches) for name in (m.encoding, *m.could_be_from_charset)}
        ranked = [name for name in _GUESSES if name in names and names[name] in close]
        for encoding in [*ranked, *(m.encoding for m in matches)]:
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            if not _FOREIGN.search(text.rstrip("\x1a")):  # an end-of-file mark of old DOS editors
                return Decoded(text, encoding)
    raise ExtractionFailed("not text: no known encoding fits", "not_text")


def _telling_lines(data: bytes) -> bytes:
    """The first lines that hold bytes beyond ASCII, up to the sample size: the others say nothing of the encoding."""
    if len(data) <= _SAMPLE:
        return data
    lines, total = [], 0
    for line in data.split(b"\n"):
        if not line.isascii():
            lines.append(line[:_SAMPLE])
            total += len(line) + 1
            if total >= _SAMPLE:
                break
    return b"\n".join(lines)
