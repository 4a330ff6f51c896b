"""What many documents hold, and what therefore makes no two of them duplicates: footers, licences, nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pipeline.duplicates.join import Flags, Pairs, shared_of
from pipeline.duplicates.records import Boilerplate, BoilerplateKind
from pipeline.duplicates.sets import Numbers, Sets
from pipeline.duplicates.shingles import shingles_in_order
from pipeline.store.duplicates import ChunkColumns, DocumentRow
from pipeline.words.plain import first_words

COMMON = 20  # different texts that hold a shingle, from which on it tells nothing about any two of them
LITTLE = 0.10  # of a text: so little besides what is common says nothing either way
AGREE = 0.50  # of what is not common that has to be shared all the same
EXAMPLES = 5
MOST_REPEATED = 50
_STEP = 16_000_000  # hashes that are counted together


def common(sets: Sets, least: int = COMMON) -> Flags:
    """A flag for each hash: whether at least `least` sets hold it."""
    hashes = sets.hashes
    shift = np.uint64(64 - min(max(len(hashes).bit_length() + 1, 8), 24))
    buckets = np.zeros(1 << int(64 - shift), np.int64)
    for start in range(0, len(hashes), _STEP):
        buckets += np.bincount((hashes[start : start + _STEP] >> shift).astype(np.int64), minlength=len(buckets))
    often = np.zeros(len(hashes), np.bool_)
    for start in range(0, len(hashes), _STEP):
        often[start : start + _STEP] = buckets[(hashes[start : start + _STEP] >> shift).astype(np.int64)] >= least
    # Several hashes may share a bucket: count those alone that can be many.
    places = np.flatnonzero(often)
    _, number, times = np.unique(hashes[places], return_inverse=True, return_counts=True)
    often[places] = times[number] >= least
    return often


def tells_enough(pairs: Pairs, sets: Sets, often: Flags, text_of: Callable[[int], str]) -> Flags:
    """A flag for each pair: whether it shares more than boilerplate.

    Where most of what a pair shares is common, the rest decides: half of what is not common has to be shared as well.
    Two texts that hold next to nothing else are compared as they are where that is spread all over them: they are
    versions of one text. Where one holds a single passage that is common, before, behind or around what is its own, the
    rest decides as well. Of a text that holds more, nothing that holds next to nothing else is said to be a part.
    `text_of` gives the text of a number.
    """
    sizes = sets.sizes
    before = np.zeros(len(often) + 1, np.int64)
    np.cumsum(often, out=before[1:])
    commons = before[sets.offsets[1:]] - before[sets.offsets[:-1]]
    enough = np.ones(len(pairs), np.bool_)
    doubtful = np.flatnonzero(2 * commons[pairs.small] > pairs.shared)
    if not len(doubtful):
        return enough
    small, large, shared = pairs.small[doubtful], pairs.large[doubtful], pairs.shared[doubtful]
    shared_commons = _shared_commons(sets, often, small, large)
    rest_small, rest_large = sizes[small] - commons[small], sizes[large] - commons[large]
    rest_shared = shared - shared_commons
    little_small = rest_small <= LITTLE * sizes[small]
    little_large = rest_large <= LITTLE * sizes[large]
    agree = (rest_small > 0) & (rest_shared >= AGREE * rest_small)
    both_little = little_small & little_large
    framed = _framed(np.unique(np.concatenate([small[both_little], large[both_little]])), sets, often, text_of)
    in_frames = framed[small] | framed[large]
    rest_agrees = (rest_shared > 0) & (rest_shared >= AGREE * np.maximum(rest_small, rest_large))
    alike = both_little & (~in_frames | rest_agrees)
    enough[doubtful] = (2 * shared_commons <= shared) | alike | (agree & ~little_small)
    return enough


def _framed(numbers: Numbers, sets: Sets, often: Flags, text_of: Callable[[int], str]) -> Flags:
    """A flag for each text: whether it is one of those asked about, in which what is common stands in one piece with
    words of its own outside it, such as a licence with a line of code below."""
    framed = np.zeros(len(sets), np.bool_)
    for number in numbers.tolist():
        own = slice(int(sets.offsets[number]), int(sets.offsets[number + 1]))
        commons = set(sets.hashes[own][often[own]].tolist())
        flags = [shingle in commons for shingle in shingles_in_order(text_of(number))]
        if True in flags and not all(flags):
            first, last = flags.index(True), len(flags) - flags[::-1].index(True)
            framed[number] = all(flags[first:last])
    return framed


def boilerplate(
    documents: Sequence[DocumentRow], chunks: ChunkColumns, texts: Mapping[int, str], families: Mapping[int, int]
) -> tuple[Boilerplate, ...]:
    """What is reported as boilerplate: repeated passages, the most widespread first, and documents without text.
    `texts` holds openings by number of the folded text; `families` the number of the family of a row id."""
    names = {document.id: document.doc_id for document in documents}
    found: list[Boilerplate] = []
    for group, holders in repeated(chunks, families).items():
        if group in texts:
            doc_ids = sorted(names[row_id] for row_id in holders)
            opening = first_words(texts[group])
            found.append(Boilerplate("repeated", opening, len(doc_ids), tuple(doc_ids[:EXAMPLES])))
    found += _without_text(documents)
    return tuple(found)


def repeated(chunks: ChunkColumns, families: Mapping[int, int]) -> dict[int, list[int]]:
    """Folded texts that stand in at least `COMMON` documents which are not of one family: (number -> row ids), the
    most widespread first."""
    held = np.unique(np.stack([chunks.groups, chunks.documents], axis=1), axis=0)
    firsts = np.flatnonzero(np.concatenate([[True], held[1:, 0] != held[:-1, 0]])) if len(held) else np.zeros(0, int)
    counts = np.diff(np.append(firsts, len(held)))
    wide = np.flatnonzero(counts >= COMMON)
    found: dict[int, list[int]] = {}
    for place in wide[np.argsort(-counts[wide], kind="stable")].tolist():
        holders = held[firsts[place] : firsts[place] + counts[place], 1].tolist()
        if len({families.get(row_id, -row_id) for row_id in holders}) >= COMMON:
            found[int(held[firsts[place], 0])] = holders
            if len(found) == MOST_REPEATED:
                break
    return found


def _without_text(documents: Sequence[DocumentRow]) -> list[Boilerplate]:
    kinds: dict[BoilerplateKind, list[str]] = {"no_text": [], "encrypted": []}
    for document in documents:
        if is_encrypted(document):
            kinds["encrypted"].append(document.doc_id)
        elif document.state == "no_text":
            kinds["no_text"].append(document.doc_id)
    return [
        Boilerplate(kind, "", len(doc_ids), tuple(doc_ids[:EXAMPLES])) for kind, doc_ids in kinds.items() if doc_ids
    ]


def is_encrypted(document: DocumentRow) -> bool:
    """Whether its text is locked away."""
    return document.why == "encrypted" or (document.state == "failed" and "encrypted" in document.reason.lower())


def _shared_commons(sets: Sets, often: Flags, small: Numbers, large: Numbers) -> Numbers:
    commons = sets.only(often)
    _, number = np.unique(commons.hashes, return_inverse=True)
    codes = np.repeat(np.arange(len(commons), dtype=np.int64) << 32, commons.sizes) | number
    # A set's hashes are sorted, and so are their numbers: the codes are sorted as they stand.
    return shared_of(codes, commons.offsets, small, large)
