"""Pictures of the window for each of the sample's questions, in light and dark: `make screenshots`.

Reads a copy of the sample with the real model into a library that is thrown away, and draws the real window without a
display. The copy is for the paths that the pictures show: they are nobody's own.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path

SCHEMES = ("light", "dark")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from app.sample import DOCUMENTS, doc_id_of, read_questions
    from app.screenshot import save_screenshot
    from pipeline.embed.model import SentenceTransformerEncoder
    from pipeline.index import index_library
    from pipeline.library import LibraryReader
    from pipeline.query import QueryEngine
    from pipeline.settings import Layer, resolve

    encoder = SentenceTransformerEncoder()
    with tempfile.TemporaryDirectory(prefix="twinspect-") as aside:
        place = Path(aside)
        library = place / "library"
        documents = Path(shutil.copytree(DOCUMENTS, place / DOCUMENTS.name))
        index_library(library, [documents], encoder=encoder)
        with closing(LibraryReader(library)) as reader:
            (root,) = reader.roots()
        with closing(QueryEngine(library, encoder)) as engine:
            for number, question in enumerate(read_questions(), start=1):
                trace = engine.ask(
                    question.text,
                    resolve([Layer(question.settings, "flag")]),
                    left_out=[doc_id_of(root, path) for path in question.leave_out],
                    only_document=doc_id_of(root, question.only_file) if question.only_file else None,
                )
                for scheme in SCHEMES:
                    file = folder / f"{number}-{question.id}-{scheme}.png"
                    save_screenshot(library, trace, file, scheme=scheme)
                    print(file)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "shots"))
