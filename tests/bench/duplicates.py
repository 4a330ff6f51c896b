"""Finding duplicates: recall and precision on planted edits, time and memory beside MinHash LSH and semhash.

python -m tests.bench.duplicates planted [FOLDER]...      what is found of 2,000 passages and 300 documents
python -m tests.bench.duplicates side NAME FILE OUT       one side of the comparison, for a process of its own
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.duplicates.ground import LEAST_SHARED
from pipeline.duplicates.join import pairs_sharing
from pipeline.duplicates.sets import sets_of_texts
from pipeline.textkeys import fold_key
from tests.bench.figures import Row, Target
from tests.bench.memory import peak
from tests.bench.planted import (
    PASSAGE_EDITS,
    Planted,
    default_folders,
    edited,
    passages_of,
    planted_documents,
    planted_passages,
    real_texts,
)

LIMITS = {"datasketch": 100_000, "semhash": 100_000}  # passages, up to which the others are asked
_AIMS = {"exact": 1.0, "a fifth": 0.95}
Found = set[tuple[int, int]]


def found_pairs(texts: Iterator[str] | Sequence[str]) -> Found:
    """Pairs of passages that a scan of a library finds, from its lowest similarity on. Of equal texts, as there, the
    first stands for all."""
    first: dict[str, int] = {}
    numbers: list[int] = []
    same: Found = set()

    def different() -> Iterator[str]:
        for number, text in enumerate(texts):
            before = first.setdefault(fold_key(text), number)
            if before == number:
                numbers.append(number)
                yield text
            else:
                same.add((before, number))

    sets = sets_of_texts(different())
    pairs = pairs_sharing(sets, LEAST_SHARED)
    named = np.array(numbers, np.int64)
    both = np.sort(np.stack([named[pairs.small], named[pairs.large]], axis=1), axis=1)
    return same | set(map(tuple, both.tolist()))


def planted(passages: Planted, documents: Planted) -> list[Row]:
    """Recall by kind of edit and precision, for passages by the join, for documents by a scan of a library."""
    rows = []
    found = found_pairs(passages.texts)
    rows += _recalls("passages", passages.pairs, lambda pair: pair in found)
    wrong = len(found - set(passages.pairs))
    rows.append(_row("passages: precision", 1 - wrong / max(1, len(found)), 0.99))
    families = _families(documents.texts)
    rows += _recalls("documents", documents.pairs, lambda pair: families[pair[0]] == families[pair[1]] is not None)
    tied = sum(families[one] == families[other] is not None for one, other in documents.topics)
    rows.append(Row("duplicates", f"documents: pairs of one topic tied, of {len(documents.topics)}", tied, "",
                    target=Target("value", "at most", 0)))  # fmt: skip
    return rows


def planted_here() -> list[Row]:
    """`planted` with what is installed on this machine."""
    return planted(planted_passages(default_folders()), planted_documents(default_folders()))


def scale(place: Path, sizes: Sequence[int]) -> list[Row]:
    """Processor seconds and peak memory at these numbers of passages, and what is found of the edits among them."""
    rows: list[Row] = []
    for size in sizes:
        file = place / f"{size}.jsonl"
        pairs = _write(file, size)
        ours = _side("twinspect", file, place, pairs)
        what = f"{size:,} passages"
        rows.append(Row("duplicates", f"{what}: peak memory", ours["megabytes"], "MB",
                        target=Target("value", "at most", 4_000)))  # fmt: skip
        rows.append(Row("duplicates", f"{what}: share of planted edits found", ours["recall"], ""))
        if ours["seconds"]:
            rows.append(Row("duplicates", f"{what}: processor seconds", ours["seconds"], "s"))
        for name, limit in LIMITS.items():
            if size > limit:
                continue
            if importlib.util.find_spec(name) is None:
                print(f"not compared with {name}: it is not installed (pip install -e '.[bench]')", file=sys.stderr)
                continue
            other = _side(name, file, place, pairs)
            against = f"{name}, which found {other['recall']:.3f} of what was planted"
            rows.append(Row("duplicates", f"{what}: processor seconds", ours["seconds"], "s", other["seconds"], against,
                            Target("ratio", "at most", 1)))  # fmt: skip
            rows.append(Row("duplicates", f"{what}: peak memory", ours["megabytes"], "MB", other["megabytes"], name,
                            Target("ratio", "at most", 1)))  # fmt: skip
            rows.append(Row("duplicates", f"{what}: planted edits found", ours["recall"], "", other["recall"], name,
                            Target("ratio", "at least", 1)))  # fmt: skip
        file.unlink()
    return rows


# --- one side, in a process of its own -----------------------------------------------------------------------------


def _texts(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _by_twinspect(file: Path) -> Found:
    return found_pairs(_texts(file))


def _by_datasketch(file: Path) -> Found:
    """Sets of word triples, 128 permutations, banded for a Jaccard index of 0.30, every pair that it brings up."""
    from datasketch import MinHash, MinHashLSH

    from pipeline.duplicates.shingles import words

    index = MinHashLSH(threshold=0.3, num_perm=128)
    found: Found = set()
    for number, text in enumerate(_texts(file)):
        own = words(text)
        sketch = MinHash(num_perm=128)
        sketch.update_batch([" ".join(run).encode() for run in zip(own, own[1:], own[2:], strict=False)])
        found.update((other, number) for other in index.query(sketch))
        index.insert(number, sketch)
    return found


def _by_semhash(file: Path) -> Found:
    """At its own threshold of 0.90, on a static model made of the built-in model's token vectors: the one that it
    would load by itself comes from elsewhere."""
    from semhash import SemHash

    texts = list(_texts(file))
    numbers: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        numbers.setdefault(text, []).append(number)
    result = SemHash.from_records(texts, model=_static_model()).self_deduplicate(threshold=0.9)
    found: Found = set()
    for duplicate in result.filtered:
        own, others = numbers[str(duplicate.record)], numbers[str(duplicate.duplicate_of)]
        found.update((min(a, b), max(a, b)) for a in own for b in others if a != b)
    for same in numbers.values():
        found.update((same[0], other) for other in same[1:])
    return found


def _static_model() -> Any:
    from model2vec import StaticModel
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    from pipeline.embed.folder import default_model_folder

    folder = default_model_folder()
    vectors = load_file(str(folder / "model.safetensors"))["embeddings.word_embeddings.weight"]
    return StaticModel(vectors, Tokenizer.from_file(str(folder / "tokenizer.json")), normalize=True)


_SIDES: dict[str, Callable[[Path], Found]] = {
    "twinspect": _by_twinspect,
    "datasketch": _by_datasketch,
    "semhash": _by_semhash,
}


def _side(name: str, file: Path, place: Path, pairs: dict[tuple[int, int], str]) -> dict[str, float]:
    out = place / "found.json"
    command = [sys.executable, "-m", "tests.bench.duplicates", "side", name, str(file), str(out)]
    megabytes, _ = peak(command)
    told = json.loads(out.read_text("utf-8"))
    found = set(map(tuple, told["found"]))
    return {
        "megabytes": megabytes,
        "seconds": told["seconds"],
        "recall": sum(pair in found for pair in pairs) / len(pairs),
    }


def _write(file: Path, size: int, seed: int = 3) -> dict[tuple[int, int], str]:
    """Real passages as far as they reach, then passages made of small runs of their words, and edited copies of some:
    2,000, a tenth of all at most. One JSON string a line. Returns what was planted."""
    import random

    rng = random.Random(seed)
    plants = min(2_000, size // 10)
    base = size - plants
    chosen: list[str] = []
    places: list[int] = []
    seen: set[str] = set()
    running: list[str] = []
    told = 0
    with file.open("w", encoding="utf-8") as out:
        for passage in passages_of(real_texts(default_folders(), seed), base):
            out.write(json.dumps(passage) + "\n")
            if len(running) < 3_000_000:
                running += passage.split()
            key = fold_key(passage)
            if key not in seen and len(chosen) < 2 * plants:
                chosen.append(passage)
                places.append(told)
            seen.add(key)
            told += 1
        while told < base:  # there is not that much real text here: put small runs of it together
            made: list[str] = []
            while len(made) < 85:
                start = rng.randrange(len(running))
                made += running[start : start + rng.randrange(1, 5)]
            out.write(json.dumps(" ".join(made)) + "\n")
            told += 1
        pairs: dict[tuple[int, int], str] = {}
        for number, original in enumerate(rng.sample(range(len(chosen)), min(plants, len(chosen)))):
            edit = PASSAGE_EDITS[number % len(PASSAGE_EDITS)]
            pairs[(places[original], told)] = edit
            out.write(json.dumps(edited(chosen[original], edit, rng, rng.choice(chosen))) + "\n")
            told += 1
    return pairs


# --- documents -----------------------------------------------------------------------------------------------------


def _families(texts: Sequence[str]) -> dict[int, int | None]:
    """The family of each text, by a scan of a library that holds each as a document, under the default thresholds."""
    import tempfile

    from pipeline.duplicates.scan import scan_library
    from tests.support.encoder import WordEncoder
    from tests.support.libraries import make_library

    class Nothing(WordEncoder):
        """Vectors are of no interest here."""

        def encode(self, texts: Sequence[str]) -> Any:
            return np.ones((len(texts), self.dimension), np.float32)

    with tempfile.TemporaryDirectory() as folder:
        names = {f"docs/{number:06}.txt": number for number in range(len(texts))}
        make_library(Path(folder), {name[5:]: texts[number] for name, number in names.items()}, Nothing())
        report = scan_library(Path(folder))
    family: dict[int, int | None] = dict.fromkeys(range(len(texts)))
    for place, found in enumerate(report.families):
        for member in found.members:
            family[names[member.doc_id]] = place
    return family


def _recalls(what: str, pairs: dict[tuple[int, int], str], holds: Callable[[tuple[int, int]], bool]) -> list[Row]:
    planted, found = Counter(pairs.values()), Counter(edit for pair, edit in pairs.items() if holds(pair))
    lowest = 0.98 if what == "documents" else 0.99
    return [
        _row(f"{what}: {edit}, of {count}", found[edit] / count, _AIMS.get(edit, lowest))
        for edit, count in planted.items()
    ]


def _row(name: str, value: float, aim: float) -> Row:
    return Row("duplicates", name, value, "", target=Target("value", "at least", aim))


def main(argv: Sequence[str]) -> int:
    if argv[0] == "planted":
        from tests.bench.figures import table

        folders = [Path(name) for name in argv[1:]] or default_folders()
        began = time.perf_counter()
        print(table(planted(planted_passages(folders), planted_documents(folders))))
        print(f"{time.perf_counter() - began:.0f} s.")
        return 0
    _, name, file, out = argv
    began = time.process_time()  # of all its threads: what else the machine does counts for nobody
    found = _SIDES[name](Path(file))
    seconds = time.process_time() - began
    Path(out).write_text(json.dumps({"seconds": seconds, "found": sorted(found)}), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
