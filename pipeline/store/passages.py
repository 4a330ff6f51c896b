"""Looking things up in the library: documents by name, passages by words, and who holds which text how often."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import Any, cast

from sqlite_utils import Database

from pipeline.findings import Found, FoundPassage
from pipeline.records import DocumentState
from pipeline.store.catalog import Catalog, ChunkRow
from pipeline.textkeys import fold

_MOST_TEXTS = 2_000  # that hold the words; more are not read, and the answer says that there are more
_SNIPPET = 160  # characters


class Passages:
    """Answers from one database connection; use it from one thread at a time."""

    def __init__(self, db: Database, catalog: Catalog) -> None:
        self._db = db
        self._catalog = catalog

    def state_of(self, doc_id: str) -> tuple[DocumentState, str] | None:
        """The document's state and the reason for it; None when the library has no such document."""
        rows = self._rows("SELECT state, reason FROM documents WHERE doc_id = ?", [doc_id])
        return cast(tuple[DocumentState, str], rows[0]) if rows else None

    def of_document(self, doc_id: str) -> list[ChunkRow]:
        """The document's chunks, in order."""
        return self._catalog.chunk_rows(self._catalog.text_ids_of_document(doc_id), -1, doc_id)

    # --- by name and by words ---

    def find(self, words: str, limit: int = 50) -> Found:
        """Documents whose doc_id, and passages whose text hold all these words (parts of words count), whatever their
        case; at most `limit` of each. Documents by doc_id; passages that hold the words as a phrase first, then by
        doc_id and chunk_index."""
        wanted = _folded(words).split()
        if not wanted:
            return Found((), ())
        holds = _holder(wanted)
        documents = [document for document in self._catalog.documents() if holds(document.doc_id)]
        matching, more = self._texts_that(holds)
        rows = self._catalog.chunk_rows(matching, -1)
        texts = self._catalog.texts(matching)
        phrase = " ".join(wanted)
        together = {text_id: phrase in _folded(text) for text_id, text in texts.items()}
        rows.sort(key=lambda row: not together[row.text_id])  # stable: else by doc_id, chunk_index
        return Found(
            tuple(documents[:limit]),
            tuple(
                FoundPassage(row.location, snippet(texts[row.text_id], wanted), together[row.text_id])
                for row in rows[:limit]
            ),
            more_documents=len(documents) > limit,
            more_passages=more or len(rows) > limit,
        )

    def _texts_that(self, holds: Callable[[str], bool]) -> tuple[list[int], bool]:
        found: list[int] = []
        for text_id, text in self._db.conn.execute("SELECT id, text FROM texts"):
            if holds(text):
                if len(found) == _MOST_TEXTS:
                    return found, True
                found.append(text_id)
        return found, False

    # --- for standings ---

    def held_not_once(self) -> dict[int, int]:
        """How many chunks hold each text, of the texts that more than one holds, or none."""
        several = self._rows("SELECT text_id, COUNT(*) FROM chunks GROUP BY text_id HAVING COUNT(*) > 1")
        none = self._rows("SELECT id, 0 FROM texts WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE text_id = texts.id)")
        return dict(several + none)

    def held_by(self, doc_ids: Collection[str]) -> dict[int, int]:
        """How many chunks of these documents hold each text."""
        return dict(
            self._rows(
                "SELECT k.text_id, COUNT(*) FROM documents d JOIN chunks k ON k.document_id = d.id "
                "WHERE d.doc_id IN (SELECT value FROM json_each(?)) GROUP BY k.text_id",
                [json.dumps(list(doc_ids))],
            )
        )

    def texts_of(self, fold_keys: Collection[str]) -> list[int]:
        """The texts of these fold keys."""
        found = "SELECT id FROM texts WHERE fold_key IN (SELECT value FROM json_each(?))"
        return [row[0] for row in self._rows(found, [json.dumps(list(fold_keys))])]

    def texts_that_fold_alike(self) -> dict[int, str]:
        """The fold key of each text that shares it with another text."""
        return dict(
            self._rows(
                "SELECT id, fold_key FROM texts WHERE fold_key IN "
                "(SELECT fold_key FROM texts GROUP BY fold_key HAVING COUNT(*) > 1)"
            )
        )

    def _rows(self, sql: str, parameters: Collection[Any] = ()) -> list[Any]:
        return self._db.conn.execute(sql, list(parameters)).fetchall()


def _folded(text: str) -> str:
    """As texts are compared when they are searched: NFC, single spaces, without case."""
    return fold(text).casefold()


def _holder(words: list[str]) -> Callable[[str], bool]:
    """Whether a text holds all the words (folded). Words hold no white space, so the text's own does not matter."""

    def holds(text: str) -> bool:
        # Folding white space too would cost five times as much.
        found = text.casefold() if text.isascii() else _folded(text)
        return all(word in found for word in words)

    return holds


def snippet(text: str, words: list[str], size: int = _SNIPPET) -> str:
    """The part of the text around the first of the (folded) words, on one line."""
    line = fold(text)
    places = [match.start() for word in words if (match := re.search(re.escape(word), line, re.IGNORECASE))]
    start = max(0, min(places, default=0) - size // 4)
    piece = line[start : start + size]
    return ("…" if start else "") + piece + ("…" if start + size < len(line) else "")
