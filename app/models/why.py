"""The panel that says why something is not in the answer: its states, and the lists that it picks from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.answer import folder_of, name_of
from app.state import Problem
from pipeline.findings import Found, PassageFinding, WhyNot
from pipeline.records import Document, Trace
from pipeline.words.phrases import count, number
from pipeline.words.plain import first_words, one_line, tool_tip
from pipeline.words.why import outcome_words, passage_sentence

Index = QModelIndex | QPersistentModelIndex
MOST_DOCUMENTS = 500  # that are listed before anything is typed


@dataclass(frozen=True, slots=True)
class WhyTarget:
    """What is asked about: a document, or one passage of it."""

    doc_id: str
    chunk_index: int | None = None


WhyPhase = Literal["nothing_chosen", "no_question", "waiting", "looking", "told", "failed"]


@dataclass(frozen=True, slots=True)
class WhyState:
    """What the panel shows. While a newer finding is `looking`, `told` with its `trace` still is the last one, of
    the same target and of the question before. `done` is what was just applied, in words."""

    phase: WhyPhase = "nothing_chosen"
    question: str = ""
    target: WhyTarget | None = None
    told: WhyNot | None = None
    trace: Trace | None = None
    problem: Problem | None = None
    done: str = ""


class LineRole(IntEnum):
    """What a line can be asked for."""

    KIND = Qt.ItemDataRole.UserRole + 1  # "heading", "document", "passage", "note"
    TITLE = Qt.ItemDataRole.UserRole + 2
    RIGHT = Qt.ItemDataRole.UserRole + 3  # a few words at the right end
    SNIPPET = Qt.ItemDataRole.UserRole + 4  # the second line; "" for none
    FOLDER = Qt.ItemDataRole.UserRole + 6  # behind the title, where there is room
    GOOD = Qt.ItemDataRole.UserRole + 5  # whether RIGHT says that it is in the answer


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a list. Everything is safe to show."""

    kind: str
    title: str
    right: str = ""
    snippet: str = ""
    folder: str = ""
    tip: str = ""
    target: WhyTarget | None = None
    passage: PassageFinding | None = None
    good: bool = False


class LinesModel(QAbstractListModel):
    """Lines of which some can be chosen."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        """Put these lines in place of all."""
        self.beginResetModel()
        self._lines = lines
        self.endResetModel()

    def line(self, row: int) -> Line | None:
        return self._lines[row] if 0 <= row < len(self._lines) else None

    def first(self) -> int | None:
        """The first row that can be chosen."""
        return next((row for row, line in enumerate(self._lines) if line.target is not None), None)

    def row_of(self, target: WhyTarget | None) -> int | None:
        """The row that stands for this."""
        return next((row for row, line in enumerate(self._lines) if target is not None and line.target == target), None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line = self.line(index.row())
        if line is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(filter(None, (line.title, line.folder, line.right, line.snippet)))
            case Qt.ItemDataRole.ToolTipRole:
                return tool_tip(line.tip) if line.tip else None
            case LineRole.KIND:
                return line.kind
            case LineRole.TITLE:
                return line.title
            case LineRole.RIGHT:
                return line.right
            case LineRole.FOLDER:
                return line.folder
            case LineRole.SNIPPET:
                return line.snippet
            case LineRole.GOOD:
                return line.good
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        line = self.line(index.row())
        if line is None or line.target is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


def document_lines(documents: Sequence[Document]) -> list[Line]:
    """All documents, before anything is typed."""
    lines = [_document(document) for document in documents[:MOST_DOCUMENTS]]
    more = len(documents) - len(lines)
    if more:
        lines.append(Line("note", f"and {count(more, 'other document')}: type to find them"))
    return lines


def found_lines(found: Found) -> list[Line]:
    """What the search found: documents by name, then passages by words."""
    lines: list[Line] = []
    if found.documents:
        lines.append(Line("heading", "Documents with this name"))
        lines += [_document(document) for document in found.documents]
        if found.more_documents:
            lines.append(Line("note", "and more: type further words"))
    if found.passages:
        lines.append(Line("heading", "Passages with these words"))
        lines += [
            Line(
                "passage",
                name_of(passage.place.doc_id, passage.place.path),
                f"passage #{passage.place.chunk_index}",
                first_words(passage.snippet, 200),
                folder_of(passage.place.doc_id, passage.place.path),
                one_line(passage.place.path, 400),
                WhyTarget(passage.place.doc_id, passage.place.chunk_index),
            )
            for passage in found.passages
        ]
        if found.more_passages:
            lines.append(Line("note", "and more: type further words"))
    return lines


def passage_lines(told: WhyNot, trace: Trace) -> list[Line]:
    """The passages of what was asked about, the best first."""
    lines = []
    for finding in told.passages:
        rank = finding.standing.rank
        stands = f"{number(rank)}." if rank is not None else "–"
        lines.append(
            Line(
                "passage",
                f"{stands}  passage #{finding.place.chunk_index}",
                outcome_words(finding.outcome),
                first_words(finding.opening, 200),
                "",
                passage_sentence(finding, trace),
                WhyTarget(finding.place.doc_id, finding.place.chunk_index),
                finding,
                finding.outcome == "projected",
            )
        )
    return lines


def _document(document: Document) -> Line:
    passages = count(document.chunks, "passage") if document.chunks else "no text"
    folder = folder_of(document.doc_id, document.path)
    return Line(
        "document",
        name_of(document.doc_id, document.path),
        snippet=" · ".join(filter(None, (passages, folder))),
        tip=one_line(document.path, 400),
        target=WhyTarget(document.doc_id),
    )
