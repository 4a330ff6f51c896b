"""Damaged files of every kind through real reading processes: `python -m tests.bench.fuzz_extract [--count N]`.

Files are the samples of `tests.support.renderings`, mutated: bits flipped, ends cut off, blocks repeated, taken out or
spliced in from other files, parts of zip archives exchanged or mutated inside (and packed again, so that it is the
markup that is wrong and not the checksum), some under the suffix of another kind. All from one seed.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.extract.pool import ReaderPool
from pipeline.extract.records import ReadDocument, ReadFailure, ReadLimits
from pipeline.records import WHYS
from pipeline.scan import scan
from pipeline.textkeys import fold_key, text_sha256
from tests.support.office import zipped
from tests.support.renderings import samples

LIMITS = ReadLimits(seconds=10)
# What no mutated file may come to: an error that nobody foresaw, or the end of its process.
FAULTS = ("the reader failed", "the reader crashed", "took longer", "needed more than", "the system ended")


@dataclass(slots=True)
class Outcome:
    """What became of the files. `faults` are those that broke a rule, each with the rule."""

    files: int = 0
    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


def mutants(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Files by name, the same for the same seed."""
    rng = random.Random(seed)
    originals = samples()
    names = sorted(originals)
    for number in range(count):
        name = names[number % len(names)]
        data = originals[name]
        for _ in range(rng.choice((1, 1, 2, 4))):
            data = _mutated(data, originals[rng.choice(names)], rng)
        suffix = name.partition(".")[2] if rng.random() < 0.9 else rng.choice(names).partition(".")[2]
        yield f"{number:05d}.{suffix}", data


def run(folder: Path, count: int, seed: int, *, workers: int = 2, limits: ReadLimits = LIMITS) -> Outcome:
    """Write the files, read them all, and judge each result."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in mutants(count, seed):
        (folder / name).write_bytes(data)
    outcome = Outcome()
    began = time.perf_counter()
    with ReaderPool(workers, limits=limits) as pool:
        for entry, result in pool.read(scan(folder)):
            outcome.files += 1
            problem = _judge(result, outcome)
            if problem:
                outcome.faults.append(f"{entry.rel_path}: {problem}")
    outcome.seconds = time.perf_counter() - began
    if outcome.files != count:
        outcome.faults.append(f"{count} files went in, {outcome.files} results came out")
    return outcome


def _judge(result: ReadDocument | ReadFailure, outcome: Outcome) -> str:
    """Count the result; which rule it breaks, empty when it breaks none."""
    if isinstance(result, ReadFailure):
        outcome.states["failed"] += 1
        outcome.reasons[result.reason] += 1
        if result.why not in WHYS:
            return f"no such kind of reason: {result.why}"
        return result.reason if result.reason.startswith(FAULTS) or not result.reason else ""
    outcome.states["indexed" if result.chunks else "no text"] += 1
    outcome.kinds[result.kind] += 1
    if not result.chunks and not result.no_text_reason:
        return "no chunks and no reason"
    return _broken_rule(result)


def _broken_rule(document: ReadDocument) -> str:
    text = document.text
    text.encode("utf-8")
    end = 0
    for chunk in document.chunks:
        part = text[chunk.start : chunk.end]
        if not end <= chunk.start < chunk.end <= len(text):
            return f"a chunk at {chunk.start} to {chunk.end} is out of order or overlaps"
        if text[end : chunk.start].strip():
            return f"text before {chunk.start} is in no chunk"
        if (text_sha256(part), fold_key(part)) != (chunk.text_sha256, chunk.fold_key):
            return f"the chunk at {chunk.start} is not the text that stands there"
        end = chunk.end
    if text[end:].strip():
        return f"text behind {end} is in no chunk"
    numbers = [page.number for page in document.pages]
    if numbers != list(range(1, len(numbers) + 1)):
        return "pages are not numbered in order"
    bounds = [bound for page in document.pages for bound in (page.start, page.end)]
    return "" if bounds == sorted(bounds) and max(bounds, default=0) <= len(text) else "pages overlap"


# --- mutations ---

_MARKS = (
    b"<", b">", b"</", b"&#0;", b"&x;", b"\0", b"{", b"}}}}", b"\\", b"\\bin99999 ", b"\\u-1 ", b'"', b"[" * 99, b"-1",
    b"99999999999999999999", b"\xff\xfe", b"]]>", b"<!DOCTYPE x [", b"=?utf-8?b?", b"--", b"PK\3\4",
)  # fmt: skip


def _mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    ways: list[Callable[[bytes, bytes, random.Random], bytes]] = [_flip, _cut, _repeat, _drop, _splice, _garble]
    if data.startswith(b"PK"):
        ways += [_exchange_parts, _mutate_part, _mutate_part, _mutate_part, _drop_part]
    return rng.choice(ways)(data, other, rng)


def _flip(data: bytes, other: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 3, 30))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, other: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _block(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 8, 64, 512, 4096)))


def _repeat(data: bytes, other: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]


def _drop(data: bytes, other: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:start] + data[end:]


def _splice(data: bytes, other: bytes, rng: random.Random) -> bytes:
    start, end = _block(other, rng)
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at if rng.random() < 0.5 else min(len(data), at + end - start) :]


def _garble(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """What formats give a meaning to, put where it does not belong."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_MARKS) + data[at:]


def _parts(data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # it is damaged already
        return {}


def _exchange_parts(data: bytes, other: bytes, rng: random.Random) -> bytes:
    parts = _parts(data)
    if len(parts) < 2:
        return data
    one, two = rng.sample(sorted(parts), 2)
    theirs = _parts(other)
    parts[one], parts[two] = (theirs[rng.choice(sorted(theirs))] if theirs else parts[two]), parts[one]
    return zipped(parts)


def _mutate_part(data: bytes, other: bytes, rng: random.Random) -> bytes:
    parts = _parts(data)
    if not parts:
        return data
    name = rng.choice(sorted(parts))
    way = rng.choice((_flip, _cut, _repeat, _drop, _splice, _garble))
    theirs = _parts(other)
    parts[name] = way(parts[name], rng.choice([*theirs.values(), other]), rng)
    return zipped(parts)


def _drop_part(data: bytes, other: bytes, rng: random.Random) -> bytes:
    parts = _parts(data)
    if parts:
        del parts[rng.choice(sorted(parts))]
    return zipped(parts)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--count", type=int, default=2500)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--keep", type=Path, help="keep the files in this folder")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        outcome = run(asked.keep or Path(place), asked.count, asked.seed)
    print(f"{outcome.files} files in {outcome.seconds:.1f} s: {dict(outcome.states)}")
    print(f"read as: {dict(outcome.kinds.most_common())}")
    for reason, count in outcome.reasons.most_common(40):
        print(f"{count:6d}  {reason}")
    for fault in outcome.faults:
        print(f"FAULT {fault}", file=sys.stderr)
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
