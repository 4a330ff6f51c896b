"""What the lanes' models have in common: the named roles, and rows that answer them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, ClassVar

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.focus import FocusTarget
from app.models.dragging import URI_LIST, files_mime
from app.models.links import Lit

Index = QModelIndex | QPersistentModelIndex

Getters = Mapping[int, Callable[[Any], object]]  # role -> how a row answers it


class Role(IntEnum):
    """What a row can be asked for. A role that a kind of row does not know gives None."""

    KIND = Qt.ItemDataRole.UserRole + 1  # str: which kind of row this is
    TARGET = Qt.ItemDataRole.UserRole + 2  # FocusTarget: what the focus is on when this row is
    RANK = Qt.ItemDataRole.UserRole + 3  # int, from 1
    SCORE = Qt.ItemDataRole.UserRole + 4  # float
    TWIN = Qt.ItemDataRole.UserRole + 5  # str: the twin group's letter
    FILE = Qt.ItemDataRole.UserRole + 6  # str: file name, safe to show
    FOLDER = Qt.ItemDataRole.UserRole + 7  # str: the folder below the root, safe to show
    PLACE = Qt.ItemDataRole.UserRole + 8  # str: page, chunk
    NEAR = Qt.ItemDataRole.UserRole + 9  # str: "≈ 4"
    FRESHNESS = Qt.ItemDataRole.UserRole + 10  # str: a word for a file that is not as it was indexed
    MOVED = Qt.ItemDataRole.UserRole + 11  # str: "▲2", "▼3", "new", or nothing
    FATE = Qt.ItemDataRole.UserRole + 12  # str: a sentence
    FATE_NAME = Qt.ItemDataRole.UserRole + 13  # str
    KEPT = Qt.ItemDataRole.UserRole + 14  # bool: this row goes on into the next lane by itself
    SNIPPET = Qt.ItemDataRole.UserRole + 15  # str: the first words, one line
    CONTENT = Qt.ItemDataRole.UserRole + 16  # str: text with its line breaks
    FACTS = Qt.ItemDataRole.UserRole + 17  # str: "cites 3 files · saves 2 places"; "812 characters"
    TEXT = Qt.ItemDataRole.UserRole + 18  # str: the sentence of a row that is one
    FIELDS = (
        Qt.ItemDataRole.UserRole + 19
    )  # tuple[(key, value), ...] of a card; without a key: a further line of the value above
    TAIL = Qt.ItemDataRole.UserRole + 29  # str: what stands on a card behind its content
    CUT = Qt.ItemDataRole.UserRole + 20  # str: the words on the line where an item was cut
    PATH = Qt.ItemDataRole.UserRole + 21  # str: the file's own path, verbatim
    DOC_ID = Qt.ItemDataRole.UserRole + 22  # str, verbatim
    KEY = Qt.ItemDataRole.UserRole + 23  # str: evidence key
    REMEDY = Qt.ItemDataRole.UserRole + 24  # pipeline.records.Remedy
    COPY = Qt.ItemDataRole.UserRole + 25  # str: the row as text
    LAST = Qt.ItemDataRole.UserRole + 26  # bool: the last of the lines that hang on a block
    LINE = Qt.ItemDataRole.UserRole + 27  # int: which line of its kind this is, from 0
    SHARE = Qt.ItemDataRole.UserRole + 28  # float, 0..1: how full a bar is


class Row:
    """One row. `getters` answers the roles; `raw`, `block` and `path` say when the row is lit."""

    __slots__ = ()
    getters: ClassVar[Getters] = {}
    selectable: ClassVar[bool] = True

    def value(self, role: int) -> object:
        getter = self.getters.get(role)
        return getter(self) if getter is not None else None

    def lit(self, lit: Lit) -> bool:
        """Whether this row belongs to what is lit."""
        return False


class LaneModel(QAbstractListModel):
    """Rows of one lane. Owns no truth: every value is read from the trace when it is asked for."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []

    def show(self, rows: Sequence[Row]) -> None:
        """Put these rows in place of all."""
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def replace(self, at: int, rows: Sequence[Row]) -> None:
        """Put these rows in place of the one at `at`."""
        self.beginRemoveRows(QModelIndex(), at, at)
        del self._rows[at]
        self.endRemoveRows()
        if rows:
            self.beginInsertRows(QModelIndex(), at, at + len(rows) - 1)
            self._rows[at:at] = rows
            self.endInsertRows()

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own signature
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        at = index.row()
        if not 0 <= at < len(self._rows):
            return None
        return self._rows[at].value(role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        at = index.row()
        if 0 <= at < len(self._rows) and self._rows[at].selectable:
            return _DRAGGABLE if self._rows[at].value(Role.PATH) else _SELECTABLE
        return Qt.ItemFlag.NoItemFlags

    # --- dragging a row's file out --------------------------------------------------------------------------------

    def mimeTypes(self) -> list[str]:
        return [URI_LIST]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        return files_mime([path for index in indexes if (path := index.data(Role.PATH))])

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction

    def is_lit(self, at: int, lit: Lit) -> bool:
        """Whether the row at `at` belongs to what is lit."""
        return self._rows[at].lit(lit)

    def row_of(self, target: FocusTarget) -> int | None:
        """The row that stands for this very target, if the lane has it."""
        for at, row in enumerate(self._rows):
            if row.value(Role.TARGET) == target:
                return at
        return None


_SELECTABLE = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_DRAGGABLE = _SELECTABLE | Qt.ItemFlag.ItemIsDragEnabled
