"""A list of questions with their answers in numbers, as a table. Owns no truth: it shows what the run says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.history import ROOM_FOR_ARROW
from pipeline.findings import Figures, SetQuestion, SetRow
from pipeline.records import STAGE_NAMES
from pipeline.words.asked import dropped_words, scope_words, settings_words, time_words
from pipeline.words.phrases import number
from pipeline.words.plain import first_words, one_line, tool_tip
from pipeline.words.sentences import stage_sentence, stage_words

FAILED_ROLE = int(Qt.ItemDataRole.UserRole) + 2  # beside those of other tables: one delegate draws them all
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures: its head, what it means, its value and the value in words."""

    title: str
    tip: str
    value: Callable[[Figures], float]
    shown: Callable[[Figures], str]


def _whole(title: str, tip: str, value: Callable[[Figures], int]) -> Column:
    return Column(title, tip, value, lambda figures: number(value(figures)))


def _stage(name: str) -> Column:
    dropped = stage_words(name).dropped
    tip = f"{dropped[:1].upper()}{dropped[1:]}. {stage_sentence(name)}"
    return _whole(dropped[:1].upper() + dropped[1:], tip, lambda figures: figures.dropped.get(name, 0))


NUMBER, QUESTION = 0, 1
_FIGURES: tuple[Column, ...] = (
    Column(
        "Crowding",
        "Places among the first that copies took",
        lambda figures: figures.crowding,
        lambda figures: f"{figures.crowding:.0%}",
    ),
    _whole("Texts", "Different texts among the raw candidates", lambda figures: figures.distinct),
    _whole("Files", "Files that the evidence cites", lambda figures: figures.cited_files),
    *(_stage(name) for name in STAGE_NAMES),
    Column("Time", "From the question to its answer", lambda figures: figures.ms, lambda f: time_words(f.ms)),
)
STAGES: Mapping[str, int] = {name: 2 + 3 + place for place, name in enumerate(STAGE_NAMES)}  # stage -> its column
REASON = 2 + len(_FIGURES)
TITLES = ("#", "Question", *(column.title for column in _FIGURES), "Why it failed")


class SetTable(QAbstractTableModel):
    """One row a question, in their own order or that of one column; those without an answer come last."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._questions: Sequence[SetQuestion] = ()
        self._found: dict[int, SetRow] = {}  # by number
        self._order_of: list[int] = []  # row -> number
        self._row_of: dict[int, int] = {}
        self._column, self._order = NUMBER, Qt.SortOrder.AscendingOrder

    def set_questions(self, questions: Sequence[SetQuestion]) -> None:
        """Show these questions, none of them answered yet."""
        self._questions, self._found = questions, {}
        self.arrange()

    def add_rows(self, rows: Iterable[SetRow]) -> None:
        """More answers; they stay where their questions stand until `arrange`."""
        for row in rows:
            self._found[row.number] = row
            at = self._row_of[row.number]
            self.dataChanged.emit(self.index(at, 0), self.index(at, len(TITLES) - 1))

    def arrange(self) -> None:
        """Everything in the order in force."""
        self.beginResetModel()
        numbers = list(range(1, len(self._questions) + 1))
        if self._column != NUMBER:
            backwards = self._order == Qt.SortOrder.DescendingOrder
            known = [each for each in numbers if self._key(each) is not None]
            unknown = [each for each in numbers if self._key(each) is None]
            numbers = sorted(known, key=self._key, reverse=backwards) + unknown
        elif self._order == Qt.SortOrder.DescendingOrder:
            numbers.reverse()
        self._order_of = numbers
        self._row_of = {number: row for row, number in enumerate(numbers)}
        self.endResetModel()

    def _key(self, number: int) -> Any:
        """What the row is sorted by; None where it has nothing of that."""
        row = self._found.get(number)
        if self._column == QUESTION:
            return self._questions[number - 1].text.casefold()
        if self._column == REASON:
            return row.error if row is not None and row.error else None
        return None if row is None or row.figures is None else _FIGURES[self._column - 2].value(row.figures)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._order = column, order
        self.arrange()

    @property
    def rows(self) -> tuple[SetRow, ...]:
        """The answers so far, in the order of the questions."""
        return tuple(self._found[number] for number in sorted(self._found))

    @property
    def answered(self) -> int:
        """How many answers there are so far."""
        return len(self._found)

    def row_at(self, row: int) -> SetRow | None:
        """The answer in this row of the table, None where there is none yet."""
        return self._found.get(self._order_of[row])

    def used_columns(self) -> frozenset[int]:
        """The columns that say something: stages that dropped nothing anywhere, and reasons of nothing, do not."""
        dropped = {name for row in self._found.values() if row.figures is not None for name in row.figures.dropped}
        unused = {column for name, column in STAGES.items() if name not in dropped}
        if not any(row.error for row in self._found.values()):
            unused.add(REASON)
        return frozenset(range(len(TITLES))) - unused

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._order_of)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(TITLES)

    def row_text(self, row: int) -> str:
        """The row as text, a tab between its cells; what no column shows is left away."""
        used = self.used_columns()
        return "\t".join(self._shown(self._order_of[row], column) for column in range(len(TITLES)) if column in used)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            arrow = section == self._column and section not in (QUESTION, REASON)
            return TITLES[section] + (ROOM_FOR_ARROW if arrow else "")
        if role == Qt.ItemDataRole.ToolTipRole and 2 <= section < REASON:
            return _FIGURES[section - 2].tip
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section in (QUESTION, REASON) else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        number, column = self._order_of[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown(number, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(number)
        if role == Qt.ItemDataRole.TextAlignmentRole and column not in (QUESTION, REASON):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == FAILED_ROLE:
            row = self._found.get(number)
            return row is not None and bool(row.error)
        return None

    def _shown(self, number: int, column: int) -> str:
        row = self._found.get(number)
        if column == NUMBER:
            return f"{number:,}"
        if column == QUESTION:
            return first_words(self._questions[number - 1].text)
        if row is None:
            return ""
        if column == REASON:
            return one_line(row.error)
        return "" if row.figures is None else _FIGURES[column - 2].shown(row.figures)

    def _tip(self, number: int) -> str:
        question, row = self._questions[number - 1], self._found.get(number)
        own = "; ".join(
            filter(None, (settings_words(question.settings), scope_words(question.only_file, question.leave_out, ())))
        )
        result = ""
        if row is not None:
            result = row.error or (dropped_words(row.figures.dropped) if row.figures is not None else "")
        title = first_words(question.title, 200)
        return tool_tip(
            *filter(None, (title, first_words(question.text, 1_000), one_line(own), one_line(result, 1_000)))
        )
