"""Decisions in one JSON file: carried to another computer, kept as a backup, taken in again."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pipeline.decoding import DecodingError, decoded, entries
from pipeline.duplicates.deciding import path_of_subject
from pipeline.duplicates.records import DecisionKind
from pipeline.errors import DecisionsError
from pipeline.export.saving import be_no_users_file
from pipeline.store.decisions import ABOUT_DOCUMENTS, LONGEST_NOTE, Batch, Change, Decisions

FILE_VERSION = 1
LARGEST = 256 * 1024 * 1024  # bytes
_KEY = re.compile(r"[0-9a-f]{64}")
_OPPOSITES: dict[DecisionKind, DecisionKind] = {"preferred": "left_out", "left_out": "preferred"}
_LONGEST_NAME = 100_000  # characters
OnConflict = Literal["refuse", "keep", "replace"]


@dataclass(frozen=True, slots=True)
class _Carried:
    kind: DecisionKind
    subject: str
    value: str
    name: str
    made_at: str
    others: tuple[str, ...] = ()


def write_decisions(library: Path, file: Path) -> int:
    """Write all decisions of the library into this file, whole or not at all; how many. Raises `DecisionsError`,
    `SavingError`."""
    be_no_users_file(library, file)
    with closing(Decisions(library)) as decisions:
        rows = decisions.rows_out()
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        content = {"twinspect_decisions": FILE_VERSION, "decisions": rows}
        partial.write_text(json.dumps(content, indent=2) + "\n", "ascii")
        os.replace(partial, file)
    except OSError as error:
        raise DecisionsError(f"{file} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return len(rows)


def read_into(library: Path, file: Path, *, on_conflict: OnConflict = "refuse") -> Batch:
    """Take in what `write_decisions` wrote, as one batch, all or nothing. Where a decision of the library says another
    thing about the same, nothing is taken in ("refuse", and the first of them are named), ours stays ("keep") or theirs
    takes its place ("replace"). Raises `DecisionsError`."""
    carried = _read(file)
    with closing(Decisions(library)) as decisions:
        ours = {_about(row["kind"], row["subject"], row["name"]): row["value"] for row in decisions.rows_out()}
        against = [each for each in carried if _opposite(each) in ours]
        other = against + [
            each for each in carried if ours.get(_about(each.kind, each.subject, each.name), each.value) != each.value
        ]
        if other and on_conflict == "refuse":
            names = "; ".join(f"{each.kind.replace('_', ' ')} {each.name}" for each in other[:3])
            more = f" and {len(other) - 3:,} more" if len(other) > 3 else ""
            raise DecisionsError(
                f"{file}: the library has decided otherwise about {names}{more}: keep its own, or replace them"
            )
        replace = on_conflict == "replace"
        rows = [asdict(each) | {"others": list(each.others)} for each in carried if replace or each not in against]
        without = [Change(_OPPOSITES[each.kind], each.subject, each.name, None) for each in against if replace]
        return decisions.take_in(rows, f"import {file.name}", replace=replace, without=without)


def _about(kind: str, subject: str, name: str) -> tuple[str, str, str]:
    return (kind, subject, name if kind in ABOUT_DOCUMENTS else "")


def _opposite(each: _Carried) -> tuple[str, str, str] | None:
    """What this says the contrary of: nothing is both cited first and left out."""
    other = _OPPOSITES.get(each.kind)
    return None if other is None else _about(other, each.subject, each.name)


def _read(file: Path) -> list[_Carried]:
    try:
        size = file.stat().st_size
        if size > LARGEST:
            raise DecisionsError(f"{file} has {size:,} bytes, and {LARGEST:,} are the most")
        data = json.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise DecisionsError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DecisionsError(f"{file} is damaged or holds no decisions: {error}") from error
    version = data.get("twinspect_decisions") if isinstance(data, dict) else None
    if type(version) is not int or version < 1:
        raise DecisionsError(f"{file} holds no decisions of Twinspect")
    if version > FILE_VERSION:
        raise DecisionsError(f"{file} was written by a newer version of Twinspect: update it to take this in")
    try:
        found = [
            _checked(decoded(_Carried, row, f"decisions[{number}]"), f"decisions[{number}]")
            for number, row in enumerate(entries(data, "decisions"))
        ]
        _be_once(found)
    except DecodingError as error:
        raise DecisionsError(f"{file}: {error}; nothing was taken in") from error
    return found


def _checked(each: _Carried, where: str) -> _Carried:
    """Raises `DecodingError` for what no decision of this program says."""
    if each.kind == "protected":
        if not _is_path(each.subject):
            raise DecodingError(f"{where}.subject: an absolute path is expected, {each.subject!r:.60} stands there")
    elif not _KEY.fullmatch(each.subject):
        raise DecodingError(f"{where}.subject: 64 hex digits are expected, {each.subject!r:.60} stands there")
    if each.kind == "not_duplicates":
        if not all(_KEY.fullmatch(key) for key in each.value.split()) or len(each.value.split()) < 2:
            raise DecodingError(f"{where}.value: the keys of two contents or more are expected")
    elif each.value and each.kind != "note":
        raise DecodingError(f"{where}.value: nothing is expected, {each.value!r:.60} stands there")
    if len(each.value) > LONGEST_NOTE and each.kind == "note":
        raise DecodingError(f"{where}.value: a note has at most {LONGEST_NOTE:,} characters")
    if not each.name or len(each.name) > _LONGEST_NAME:
        raise DecodingError(f"{where}.name: a name is missing")
    try:
        datetime.fromisoformat(each.made_at)
        "".join((each.subject, each.value, each.name, *each.others)).encode()
    except ValueError as error:
        raise DecodingError(f"{where}: {error}") from error
    return each


def _is_path(subject: str) -> bool:
    try:
        return os.path.isabs(path_of_subject(subject)) and "\0" not in path_of_subject(subject)
    except ValueError:
        return False


def _be_once(found: list[_Carried]) -> None:
    seen: dict[tuple[str, str, str], Any] = {}
    for number, each in enumerate(found):
        about = _about(each.kind, each.subject, each.name)
        if about in seen:
            raise DecodingError(f"decisions[{number}]: the same is decided twice, here and in decisions[{seen[about]}]")
        if (opposite := _opposite(each)) in seen:
            raise DecodingError(f"decisions[{number}]: the contrary is decided in decisions[{seen[opposite]}]")
        seen[about] = number
