"""JSON read in steps. `json.loads` is one call of C that lets no other thread run until it has read everything: a file
of 100 MB would hold up the window for as long as that takes."""

from __future__ import annotations

import codecs
import re
from json import JSONDecodeError, JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from pathlib import Path
from typing import Any

_STEPWISE = 2  # levels whose entries are read one by one
_PIECE = 1 << 20  # bytes decoded in one go
_SPACE = re.compile(r"[ \t\n\r]*")
_decode = JSONDecoder().raw_decode


def text_of(file: Path) -> str:
    """The file as UTF-8, with or without the mark at its beginning. Raises `OSError` and `UnicodeDecodeError`."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    pieces = []
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            pieces.append(decoder.decode(piece))
    pieces.append(decoder.decode(b"", final=True))
    return "".join(pieces)


def loads(text: str) -> Any:
    """What `json.loads` makes of the text. Raises `ValueError` and `RecursionError` where that does."""
    value, end = _value(text, _skip(text, 0), 0)
    if _skip(text, end) != len(text):
        raise JSONDecodeError("Extra data", text, end)
    return value


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # it matches nothing as well
    return found.end()


def _value(text: str, at: int, level: int) -> tuple[Any, int]:
    opening = text[at : at + 1]
    if level < _STEPWISE and opening == "{":
        return _table(text, at, level)
    if level < _STEPWISE and opening == "[":
        return _list(text, at, level)
    return _decode(text, at)


def _table(text: str, at: int, level: int) -> tuple[dict[str, Any], int]:
    table: dict[str, Any] = {}
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return table, at + 1
    while True:
        if text[at : at + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        name, at = scanstring(text, at + 1, True)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", text, at)
        table[name], at = _value(text, _skip(text, at + 1), level + 1)
        at = _skip(text, at)
        following = text[at : at + 1]
        if following == "}":
            return table, at + 1
        if following != ",":
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _skip(text, at + 1)


def _list(text: str, at: int, level: int) -> tuple[list[Any], int]:
    entries: list[Any] = []
    at = _skip(text, at + 1)
    if text[at : at + 1] == "]":
        return entries, at + 1
    while True:
        entry, at = _value(text, at, level + 1)
        entries.append(entry)
        at = _skip(text, at)
        following = text[at : at + 1]
        if following == "]":
            return entries, at + 1
        if following != ",":
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _skip(text, at + 1)
