"""Jupyter notebooks, as the Markdown that they export: Markdown cells as they are, code in fences, texts of outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pipeline.extract.decode import decode_text
from pipeline.extract.html import visible_text
from pipeline.extract.json_text import extract_json
from pipeline.extract.plain import check_length, clean
from pipeline.extract.records import Extracted, Source

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FENCE = re.compile("`{3,}")


def extract_notebook(source: Source) -> Extracted:
    """A file that is no notebook after all is read as JSON, or as the text that it is, with a warning."""
    decoded = decode_text(source.data)
    try:
        notebook = json.loads(decoded.text)
    except (ValueError, RecursionError):
        notebook = None
    cells = _cells(notebook)
    if cells is None:
        other = extract_json(source)
        return replace(other, warnings=(*other.warnings, "not a notebook: it has no cells"))
    language = _language(notebook)
    parts = [part for cell in cells for part in _parts(cell, language, source.max_chars)]
    text = clean("\n\n".join(filter(None, parts)))
    check_length(len(text), source.max_chars)
    return Extracted("notebook", text, warnings=decoded.warnings)


def _cells(notebook: Any) -> list[dict[str, Any]] | None:
    """Those of format 4, and of format 3 and older. None when it is no notebook."""
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if not isinstance(cells, list) and isinstance(sheets := notebook.get("worksheets"), list):
        cells = [cell for sheet in sheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]
    if not isinstance(cells, list):
        return None
    return [cell for cell in cells if isinstance(cell, dict)]


def _language(notebook: dict[str, Any]) -> str:
    metadata = _dict(notebook.get("metadata"))
    name = _dict(metadata.get("language_info")).get("name") or _dict(metadata.get("kernelspec")).get("language")
    return name if isinstance(name, str) and name.isidentifier() else ""


def _parts(cell: dict[str, Any], language: str, max_chars: int) -> Iterator[str]:
    text = _joined(cell.get("source", cell.get("input"))).strip("\n")
    if cell.get("cell_type") != "code":
        level = cell.get("level") if cell.get("cell_type") == "heading" else None
        yield f"{'#' * min(max(level, 1), 6)} {text}" if isinstance(level, int) else text
        return
    if text.strip():
        longest = max((len(run) for run in _FENCE.findall(text)), default=2)
        fence = "`" * (longest + 1)
        yield f"{fence}{language}\n{text}\n{fence}"
    for output in _list(cell.get("outputs")):
        if isinstance(output, dict) and (shown := _COLOURS.sub("", _shown(output, max_chars)).strip("\r\n")):
            yield "\n".join(f"    {line}" if line else line for line in shown.split("\n"))


def _shown(output: dict[str, Any], max_chars: int) -> str:
    """The text of one output; empty for pictures and the like."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
    data = _dict(output.get("data"))
    for found in (output.get("text"), data.get("text/plain"), data.get("text/markdown")):
        if text := _joined(found):
            return text
    return visible_text(_joined(data.get("text/html")), max_chars)


def _joined(value: Any) -> str:
    """Texts come whole or as lists of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
