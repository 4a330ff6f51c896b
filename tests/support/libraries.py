"""Real libraries (SQLite and FAISS) made in a moment, without reading files: one paragraph is one chunk."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.library import save_vectors
from pipeline.store import vectors
from pipeline.store.catalog import Catalog
from pipeline.store.schema import open_for_writing
from pipeline.store.writer import CatalogWriter, FileFacts, NewChunk, NewDocument, NewText
from pipeline.textkeys import fold_key, text_sha256
from tests.support.encoder import WordEncoder

_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\s*\n))*")


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Spans of what blank lines separate, without white space at the ends."""
    spans = []
    for found in _PARAGRAPH.finditer(text):
        end = found.start() + len(found.group().rstrip())
        spans.append((found.start(), end))
    return spans


def make_library(
    folder: Path,
    documents: Mapping[str, str],
    encoder: WordEncoder,
    *,
    stale: Sequence[str] = (),
    label: str = "docs",
) -> None:
    """Write `documents` (path below the root -> text), in the order given, as a library of one root."""
    root_path = folder / label
    root_path.mkdir(parents=True, exist_ok=True)
    db = open_for_writing(folder)
    try:
        writer = CatalogWriter(db)
        with writer.change():
            root = writer.add_root(label, str(root_path))
            writer.bind_model(encoder.fingerprint, encoder.name, encoder.source, encoder.dimension)
            for name, text in documents.items():
                _put(writer, encoder, root, label, name, text, "stale" if name in stale else "indexed")
        save_vectors(folder, Catalog(db, folder))
    finally:
        db.close()


def _put(writer: CatalogWriter, encoder: WordEncoder, root: int, label: str, name: str, text: str, state: str) -> None:
    chunks = []
    for start, end in paragraphs(text):
        piece = text[start:end]
        key = text_sha256(piece)
        if not writer.texts_held([key]):
            row = encoder.encode([piece])[0]
            tokens = encoder.count_tokens([piece])[0]
            writer.add_texts([NewText(key, fold_key(piece), piece, tokens, vectors.blob_of(row))])
        chunks.append(NewChunk(start, end, None, None, key))
    facts = FileFacts(name, len(text), 1, 1, 1, 1, 1)
    writer.put_document(
        NewDocument(
            root,
            f"{label}/{name}",
            facts,
            state if chunks else "no_text",  # type: ignore[arg-type]
            "could not be read again" if state == "stale" else "",
            "text",
            text_sha256(text),
            text,
            (),
            tuple(chunks),
        )
    )
