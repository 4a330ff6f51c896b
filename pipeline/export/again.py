"""The same question, asked elsewhere: as a command, and as Python."""

from __future__ import annotations

import shlex
from pathlib import Path

from pipeline.records import Trace
from pipeline.trace import left_out_by_choice, settings_given


def command_of(trace: Trace, library: Path) -> str:
    """The `twinspect query` command that asks this, quoted for a POSIX shell."""
    words = ["twinspect", "query", "--library", str(library)]
    for key, value in settings_given(trace).items():
        words += [f"--{key}", str(value).lower() if isinstance(value, bool) else str(value)]
    for doc_id in left_out_by_choice(trace):
        words.append(f"--leave-out={doc_id}")
    for doc_id in trace.preferred:
        words.append(f"--prefer={doc_id}")
    if trace.only_file is not None:
        words.append(f"--only-file={trace.only_file}")
    if trace.decisions_ignored:
        words.append("--ignore-decisions")
    words += ["--", trace.query]  # a question may begin with a dash
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """The word for a shell. What cannot be seen is written in digits: a terminal that the command is pasted into would
    obey control characters of a question or of a file's name, and nobody would see what they turn around."""
    if word.isprintable():
        return shlex.quote(word)
    shown = "".join(
        sign
        if sign.isprintable() and sign != "\\"
        else "".join(f"\\0{byte:03o}" for byte in sign.encode("utf-8", "surrogateescape"))
        for sign in word
    )
    return f'"$(printf %b {shlex.quote(shown)})"'


_SNIPPET = """\
from pathlib import Path

from pipeline.embed.local import LocalEncoder
from pipeline.library import model_source
from pipeline.query import QueryEngine
from pipeline.settings import Layer, resolve

library = Path({library!r})
settings = resolve([Layer({settings!r}, "flag")])
engine = QueryEngine(library, LocalEncoder(model_source(library)))
try:
    trace = engine.ask(
        {query!r},
        settings,
        left_out={left_out!r},
        preferred={preferred!r},
        only_document={only_document!r},
        decisions={decisions!r},
    )
finally:
    engine.close()

for item in trace.projected:
    print(f"{{item.score:.4f}}  {{item.source}}")
    print(item.content, end="\\n\\n")
"""


def python_of(trace: Trace, library: Path) -> str:
    """A runnable snippet that asks this with the public functions. What is not printable is written as escapes."""
    return _SNIPPET.format(
        library=str(library),
        settings=settings_given(trace),
        query=trace.query,
        left_out=list(left_out_by_choice(trace)),
        preferred=list(trace.preferred),
        only_document=trace.only_file,
        decisions=not trace.decisions_ignored,
    )
