"""JSON and JSON lines: `key: value` lines in the order of the file, nested ones indented, blank lines between records.

Numbers stay as they are written, keys that occur twice are there twice. What is not valid JSON (comments, trailing
commas) is read as the plain text that it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from pipeline.extract.decode import Decoded, decode_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.plain import check_length, clean
from pipeline.extract.records import Extracted, Source

_MAX_DEPTH = 200
_ONE_LINE = 120  # characters of a list of words or numbers that stays in one line
_BLANKS = re.compile(r"\s+")


class _Object(tuple[tuple[str, Any], ...]):
    """An object with all its pairs, also those whose keys are equal."""

    __slots__ = ()


def extract_json(source: Source) -> Extracted:
    """Raises `ExtractionFailed` when it is no text, or nested too deeply."""
    decoded = decode_text(source.data)
    try:
        return _extracted([loads(decoded.text)], decoded, source.max_chars)
    except ValueError as error:
        lines = decoded.text.split("\n", 2)
        if len(lines) > 1 and _is_record(lines[0]):
            return extract_json_lines(source)
        line = getattr(error, "lineno", 1)
        return _as_text(decoded, f"not valid JSON in line {line:,}: read as plain text", source.max_chars)


def extract_json_lines(source: Source) -> Extracted:
    """Lines that are not JSON stay as they are, and a warning counts them. Raises `ExtractionFailed` as above."""
    decoded = decode_text(source.data)
    values: list[Any] = []
    good = bad = 0
    for line in decoded.text.split("\n"):
        if line.strip():
            try:
                values.append(loads(line))
                good += 1
            except ValueError:
                values.append(line.rstrip())
                bad += 1
    if bad and not good:
        return _as_text(decoded, "no line is valid JSON: read as plain text", source.max_chars)
    extracted = _extracted(values, decoded, source.max_chars)
    if not bad:
        return extracted
    told = "1 line is not valid JSON" if bad == 1 else f"{bad:,} lines are not valid JSON"
    return replace(extracted, warnings=(*extracted.warnings, told))


def loads(text: str) -> Any:
    """Its values: strings for numbers, `_Object` for objects. Raises ValueError, `ExtractionFailed` when too deep."""
    try:
        return json.loads(text, object_pairs_hook=_Object, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError as error:
        raise ExtractionFailed(f"nested too deeply: more than {_MAX_DEPTH} levels", "too_large") from error


def _is_record(line: str) -> bool:
    try:
        return isinstance(loads(line), (_Object, list))
    except ValueError:
        return False


def _extracted(values: list[Any], decoded: Decoded, max_chars: int) -> Extracted:
    text = clean(_records(values, max_chars))
    check_length(len(text), max_chars)
    return Extracted("json", text, warnings=decoded.warnings)


def _as_text(decoded: Decoded, warning: str, max_chars: int) -> Extracted:
    check_length(len(decoded.text), max_chars)
    return Extracted("text", decoded.text, warnings=(*decoded.warnings, warning))


def _records(values: list[Any], max_chars: int) -> str:
    """Each a paragraph of lines. A file that is one list is the list of its records."""
    if len(values) == 1 and isinstance(values[0], list):
        short = _in_one_line(values[0])
        if short is not None:
            return short
        values = values[0]
    paragraphs = []
    chars = 0
    for value in values:
        lines: list[str] = []
        _write(lines, "", value, 0)
        paragraphs.append("\n".join(lines))
        chars += len(paragraphs[-1])
        check_length(chars, max_chars)
    return "\n\n".join(filter(None, paragraphs))


def _write(lines: list[str], label: str, value: Any, depth: int) -> None:
    """`label` is `key:` or `-`, or empty at the top."""
    if depth > _MAX_DEPTH:
        raise ExtractionFailed(f"nested too deeply: more than {_MAX_DEPTH} levels", "too_large")
    pad = "  " * (depth - 1 if label else depth)
    if isinstance(value, (_Object, list)) and (value or label):
        short = _in_one_line(value)
        if short is not None:
            lines.append(f"{pad}{label} {short}".rstrip() if label else short)
            return
        first = len(lines)
        if label.endswith(":"):
            lines.append(pad + label)
        for child_label, child in _children(value):
            _write(lines, child_label, child, depth + 1)
        if label == "-" and len(lines) > first:  # its first line stands beside the mark
            lines[first] = f"{pad}- {lines[first].lstrip(' ')}"
        return
    if isinstance(value, (_Object, list)):
        return
    text = _scalar(value)
    if "\n" in text:
        lines += [pad + label, text] if label else [text]
    else:
        lines.append(f"{pad}{label} {text}" if label else text)


def _children(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, _Object):
        return [(f"{_BLANKS.sub(' ', key).strip()}:", child) for key, child in value]
    return [("-", child) for child in value]


def _in_one_line(value: Any) -> str | None:
    """A list of a few words or numbers, and what is empty; None for anything else."""
    if not value:
        return "{}" if isinstance(value, _Object) else "[]"
    if isinstance(value, _Object) or len(value) > _ONE_LINE or any(isinstance(one, (_Object, list)) for one in value):
        return None
    text = ", ".join(map(_scalar, value))
    return text if len(text) <= _ONE_LINE and "\n" not in text else None


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return {True: "true", False: "false"}.get(value, "null")
