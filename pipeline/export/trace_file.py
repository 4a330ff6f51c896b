"""A trace in a file of its own: carried away, and opened again later and elsewhere, without the library."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline.errors import TraceFileError
from pipeline.export.stepwise import loads, text_of
from pipeline.records import Trace
from pipeline.trace import from_json, to_json
from pipeline.words.plain import json_text

LARGEST = 512 * 1024 * 1024  # bytes


def write_trace(file: Path, trace: Trace, *, with_texts: bool = True) -> None:
    """Write the file whole or not at all; without texts, hashes stand in their place. Raises `TraceFileError`."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        partial.write_text(json_text(to_json(trace, with_texts=with_texts)) + "\n", "ascii")
        os.replace(partial, file)
    except OSError as error:
        raise TraceFileError(f"{file} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def read_trace(file: Path) -> Trace:
    """Raises `TraceFileError` when the file cannot be read, is no trace, of another version, or damaged."""
    try:
        size = file.stat().st_size
        if size > LARGEST:
            raise TraceFileError(f"{file} is no trace: it has {size:,} bytes, and {LARGEST:,} are the most")
        data = loads(text_of(file))
    except OSError as error:
        raise TraceFileError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise TraceFileError(f"{file} is damaged or not a trace: {error}") from error
    try:
        return from_json(data)
    except TraceFileError as error:
        raise TraceFileError(f"{file}: {error}") from error
