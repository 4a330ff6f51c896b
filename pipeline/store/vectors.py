"""The vector index: FAISS, inner product of normalised vectors, one vector per equal text.

The only module that imports faiss. The file is derived from the catalog and can always be made again from it: it
carries the generation that it was made from and a checksum, so that an older, truncated or damaged file is noticed.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from pipeline.embed.port import Vectors

VECTORS_NAME = "vectors.faiss"
_MAGIC = b"TWINSPECT-VECTORS-1\n"

# Two runs of the model over one text differ by up to 1e-7 a score, depending on what else is in the batch. Scores are
# given and compared at 4 decimals, so that such dust decides no order: equal scores fall back to the document order.
SCORE_DECIMALS = 4

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a vectors file was made from."""

    library_id: str
    generation: int
    token: str
    fingerprint: str


class VectorIndex:
    """Exact nearest neighbours over (id, vector) pairs. Not safe for use by two threads at once."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._index: Any = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def ids(self) -> Ids:
        """All ids, shape (len,), in no promised order."""
        return np.array(faiss.vector_to_array(self._index.id_map), dtype=np.int64)

    def add(self, ids: Ids, vectors: Vectors) -> None:
        """`ids` of shape (n,), `vectors` of shape (n, dimension), rows of length 1. Ids must be new."""
        if len(ids):
            self._index.add_with_ids(np.ascontiguousarray(vectors, dtype=np.float32), ids)

    def remove(self, ids: Ids) -> None:
        if len(ids):
            self._index.remove_ids(faiss.IDSelectorBatch(ids))

    def search(self, vector: Vectors, limit: int, only: Ids | None = None) -> tuple[Ids, Scores]:
        """The best `limit` ids and their scores, best first, and behind them every further id whose score equals the
        last one's, so that a cut never depends on the order of insertion. `only` restricts the search to those ids.
        `vector` has shape (dimension,)."""
        reachable = len(self) if only is None else min(len(self), len(only))
        if reachable == 0 or limit <= 0:
            return np.empty(0, np.int64), np.empty(0, np.float64)
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(1, -1)
        width = min(reachable, limit + 8)
        while True:
            raw, found = self._index.search(query, width, params=_restricted_to(only))
            known = found[0] >= 0
            ids = found[0][known].astype(np.int64)
            scores = np.round(raw[0][known].astype(np.float64), SCORE_DECIMALS)
            if len(scores) <= limit or width >= reachable or scores[-1] < scores[limit - 1]:
                keep = len(scores) if len(scores) <= limit else int(np.sum(scores >= scores[limit - 1]))
                return ids[:keep], scores[:keep]
            width = min(reachable, width * 2)

    def save(self, folder: Path, stamp: Stamp) -> None:
        """Write `vectors.faiss` whole or not at all."""
        payload = faiss.serialize_index(self._index).tobytes()
        header = {
            "library_id": stamp.library_id,
            "generation": stamp.generation,
            "token": stamp.token,
            "fingerprint": stamp.fingerprint,
            "dimension": self.dimension,
            "count": len(self),
            "bytes": len(payload),
            "crc32": zlib.crc32(payload),
        }
        target = folder / VECTORS_NAME
        partial = folder / f"{VECTORS_NAME}.{os.getpid()}.partial"
        try:
            with partial.open("wb") as stream:
                stream.write(_MAGIC + json.dumps(header).encode() + b"\n")
                stream.write(payload)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)


def _restricted_to(ids: Ids | None) -> Any:
    # Any: the library's stubs do not know the keywords that its constructors take.
    parameters: Any = faiss.SearchParameters
    return None if ids is None else parameters(sel=faiss.IDSelectorBatch(ids))


def load(folder: Path, stamp: Stamp, dimension: int) -> tuple[VectorIndex | None, str]:
    """The stored index if it is exactly of `stamp`, else None and the reason why it has to be made again."""
    try:
        with (folder / VECTORS_NAME).open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                return None, "it is not a vectors file"
            header = json.loads(stream.readline(4096))
            wanted = (stamp.library_id, stamp.generation, stamp.token, stamp.fingerprint, dimension)
            if wanted != tuple(
                header[key] for key in ("library_id", "generation", "token", "fingerprint", "dimension")
            ):
                return None, "it was made from another state of the library"
            payload = np.fromfile(stream, dtype=np.uint8)
    except FileNotFoundError:
        return None, "it is missing"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, f"it cannot be read ({error})"
    # Checked before faiss sees a byte: its reader trusts the sizes that a file states.
    if payload.nbytes != header["bytes"] or zlib.crc32(payload.data) != header["crc32"]:
        return None, "it is truncated or damaged"
    index = VectorIndex(dimension)
    index._index = faiss.deserialize_index(payload)
    return index, ""


def build(rows: Iterable[tuple[int, bytes]], dimension: int, batch: int = 4096) -> VectorIndex:
    """An index of (id, vector as little-endian float32 bytes) rows."""
    index = VectorIndex(dimension)
    ids: list[int] = []
    blobs: list[bytes] = []
    for row_id, blob in rows:
        ids.append(row_id)
        blobs.append(blob)
        if len(ids) == batch:
            index.add(np.array(ids, np.int64), vectors_of(blobs, dimension))
            ids, blobs = [], []
    index.add(np.array(ids, np.int64), vectors_of(blobs, dimension))
    return index


def vectors_of(blobs: list[bytes], dimension: int) -> Vectors:
    """Shape (len(blobs), dimension)."""
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), dimension).astype(np.float32)


def blob_of(vector: Vectors) -> bytes:
    """A vector of shape (dimension,) as little-endian float32 bytes."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
