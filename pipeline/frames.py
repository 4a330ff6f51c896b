"""Messages between the program and its child processes: a JSON header and raw bytes. Nothing is ever unpickled."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

_LENGTHS = struct.Struct("<II")


def write_frame(stream: IO[bytes], header: dict[str, Any], body: bytes | memoryview = b"") -> None:
    """Send one message and flush it."""
    head = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(head), len(body)))
    stream.write(head)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message, None at the end of the stream. Raises ValueError on a message cut short."""
    lengths = stream.read(_LENGTHS.size)
    if not lengths:
        return None
    if len(lengths) < _LENGTHS.size:
        raise ValueError("a message was cut short")
    head_length, body_length = _LENGTHS.unpack(lengths)
    head, body = stream.read(head_length), stream.read(body_length)
    if len(head) < head_length or len(body) < body_length:
        raise ValueError("a message was cut short")
    header = json.loads(head)
    if not isinstance(header, dict):
        raise ValueError("a message has no header")
    return header, body


def start_child(module: str, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """`python -m module` with pipes on standard input and output; it finds this very package wherever it is started.

    On Windows no console window opens; on POSIX a Ctrl+C in the terminal is left to the parent.
    """
    source = str(Path(__file__).resolve().parent.parent)
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | (environment or {}),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        start_new_session=os.name == "posix",
    )
