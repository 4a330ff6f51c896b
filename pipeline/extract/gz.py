"""Files packed with gzip: what is in them, within bounds. What kind it is, its inner name says."""

from __future__ import annotations

import zlib

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import MEGABYTE, in_units

MAGIC = b"\x1f\x8b\x08"
MAX_UNPACKED = 200 * MEGABYTE
_BLOCK = 1 << 20
_INNER_SUFFIX = {".tgz": ".tar", ".svgz": ".svg"}
_WITH_HEADER = 16 + zlib.MAX_WBITS


def unpack(data: bytes) -> bytes:
    """Raises `ExtractionFailed` when it is damaged or unpacks to too much."""
    out = bytearray()
    rest = data
    while rest.startswith(MAGIC):  # there may be several, one behind the other
        unpacker = zlib.decompressobj(_WITH_HEADER)
        try:
            while not unpacker.eof:
                block = unpacker.decompress(rest, _BLOCK)
                rest = unpacker.unconsumed_tail
                out += block
                if len(out) > MAX_UNPACKED:
                    raise ExtractionFailed(f"too large: it unpacks to more than {in_units(MAX_UNPACKED)}", "too_large")
                if not block and not rest and not unpacker.eof:
                    raise ExtractionFailed("a damaged GZ: its end is missing")
        except zlib.error as error:
            raise ExtractionFailed("a damaged GZ: it cannot be unpacked") from error
        rest = unpacker.unused_data
    return bytes(out)


def unpack_head(head: bytes, size: int) -> bytes:
    """The first bytes of what is in a file that begins with `head`; none when it is damaged."""
    try:
        return zlib.decompressobj(_WITH_HEADER).decompress(head, size)
    except zlib.error:
        return b""


def inner_name(name: str) -> str:
    """`a.txt` for `a.txt.gz`. A file that is packed and not called so keeps its name."""
    if name.lower().endswith(".gz"):
        return name[:-3]
    for suffix, inner in _INNER_SUFFIX.items():
        if name.lower().endswith(suffix):
            return name[: -len(suffix)] + inner
    return name
