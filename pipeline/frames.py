"""Messages between the program and its child processes: a JSON header and raw bytes. Nothing is ever unpickled."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from pipeline.stepping_back import step_back

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


def module_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs a module of this package in a process of its own."""
    return [sys.executable, "-P", "-m", module, *arguments]


def start_child(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    stderr: int | None = None,
    behind: bool = False,
) -> subprocess.Popen[bytes]:
    """A child process with pipes on standard input and output that finds this very package wherever it is started.

    On Windows no console window opens; on POSIX a Ctrl+C in the terminal is left to the parent. With `behind` the
    child steps back where processors are short.
    """
    source = str(Path(__file__).resolve().parent.parent)
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    if behind:
        flags |= getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | dict(environment or {}),
        creationflags=flags,
        # Not a session of its own: Linux weighs sessions against each other, whatever their processes' priorities.
        process_group=0 if os.name == "posix" else None,
    )
    if behind:
        step_back(child.pid)
    return child
