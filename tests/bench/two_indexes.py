"""Whether a scan of bytes gives the same traces as a look at every vector, for any folder and whatever its size.

    python -m tests.bench.two_indexes FOLDER... [--questions N] [--model] [--place FOLDER]

The questions are words of the documents themselves. Each is asked of everything, without the document that answers best
and of that document alone; then a tenth of the documents goes, the scanned file stays behind, and all are asked again.
Says the first differences and exits with 1 where there are any.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pipeline.embed.port import Encoder
from pipeline.index import index_library
from pipeline.library import LibraryReader
from pipeline.store.schema import open_for_writing
from pipeline.store.vectors_file import SCANNED_FROM
from pipeline.store.writer import CatalogWriter
from tests.bench.models import Models, settle
from tests.support.encoder import WordEncoder
from tests.support.two_indexes import both, differences

_WORDS = 9  # of a question


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many texts the library held, how many pairs of traces were compared, and what was asked where they differ."""

    texts: int
    compared: int
    different: tuple[str, ...]


def compare(folders: Sequence[Path], encoder: Encoder, place: Path, *, questions: int, seed: int = 1) -> Comparison:
    """Works in `place`, which holds no library yet."""
    library = place / "library"
    report = index_library(library, folders, encoder=encoder)
    asked = own_words(library, questions, seed)
    with both(library, encoder, place, small=report.texts < SCANNED_FROM) as engines:
        compared, different = differences(engines, asked)
        _remove_some(library)  # the engines stay open and follow
        again, more = differences(engines, asked)
    return Comparison(report.texts, compared + again, (*different, *more))


def own_words(library: Path, count: int, seed: int) -> list[str]:
    """Questions of words that follow each other somewhere in the documents."""
    chance, found = random.Random(seed), []
    with closing(LibraryReader(library)) as reader:
        names = [document.doc_id for document in reader.documents() if document.chunks]
        while len(found) < count:
            words = reader.document_text(chance.choice(names)).text.split()
            start = chance.randrange(max(1, len(words) - _WORDS))
            found.append(" ".join(words[start : start + _WORDS]))
    return found


def _remove_some(library: Path) -> None:
    with closing(open_for_writing(library)) as db:
        writer = CatalogWriter(db)
        with writer.change():
            writer.remove_documents([row[0] for row in db.execute("SELECT id FROM documents WHERE id % 10 = 0")])
            writer.remove_unheld_texts()


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.two_indexes", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--model", action="store_true", help="the real model (default: a small encoder of words)")
    parser.add_argument("--place", type=Path, help="an empty folder to work in (default: a temporary one)")
    options = parser.parse_args(argv)
    settle()
    encoder = Models().encoder if options.model else WordEncoder(256)
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        done = compare(options.folders, encoder, Path(place), questions=options.questions)
    print(f"{done.texts:,} texts, {done.compared:,} traces by each index, {len(done.different)} of them differ")
    for line in done.different[:10]:
        print(f"  {line}")
    return 1 if done.different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
