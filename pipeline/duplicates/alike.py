"""Documents that are alike in meaning and share too few words to be copies: shown apart, never proposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.duplicates.ground import Ground
from pipeline.duplicates.records import Alike
from pipeline.progress import CancelToken
from pipeline.store.duplicates import DocumentRow, DuplicateCatalog

MOST_ALIKE = 2_000  # pairs, the most alike
_BLOCK = 512

Rows = NDArray[np.float32]


def alike_documents(
    rows: DuplicateCatalog,
    documents: Sequence[DocumentRow],
    least: float,
    families: Mapping[int, int],
    ground: Ground,
    cancel: CancelToken | None = None,
) -> tuple[Alike, ...]:
    """Pairs of documents whose mean vectors have a cosine of at least `least`, the most alike first, then by doc_id.
    Of each text one document stands for all; pairs of one family, or that share many words, are no such pairs."""
    first = {documents[held[0]].id: text for text, held in enumerate(ground.texts) if ground.readable[text]}
    ids, means = _means(rows, first)
    if len(ids) < 2:
        return ()
    sharing = set(zip(ground.pairs.small.tolist(), ground.pairs.large.tolist(), strict=True))
    names = {document.id: document.doc_id for document in documents}
    found: list[tuple[float, str, str]] = []
    for start in range(0, len(ids), _BLOCK):
        if cancel is not None:
            cancel.check()
        cosines = means[start : start + _BLOCK] @ means[start:].T
        for one, other in np.argwhere(np.triu(cosines >= least, 1)).tolist():
            a, b = ids[start + one], ids[start + other]
            texts = first[a], first[b]
            same_family = a in families and families[a] == families.get(b)
            if same_family or texts in sharing or texts[::-1] in sharing:
                continue
            lesser, greater = sorted((names[a], names[b]))
            found.append((round(float(cosines[one, other]), 4), lesser, greater))
    found.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    return tuple(Alike(one, other, cosine) for cosine, one, other in found[:MOST_ALIKE])


def _means(rows: DuplicateCatalog, wanted: Mapping[int, int]) -> tuple[list[int], Rows]:
    """(row ids, their mean vectors, each of length 1)."""
    ids: list[int] = []
    sums: list[Rows] = []
    for row_id, blob in rows.vectors_of_chunks():
        if row_id not in wanted:
            continue
        vector = np.frombuffer(blob, "<f4")
        if ids and ids[-1] == row_id:
            sums[-1] += vector
        else:
            ids.append(row_id)
            sums.append(vector.astype(np.float32))
    if not ids:
        return [], np.zeros((0, 1), np.float32)
    means = np.stack(sums)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    means /= np.where(lengths > 0, lengths, 1)
    return ids, means
