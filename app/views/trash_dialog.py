"""What would happen, listed before it does: files that go, passages that would be lost, files that stay and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPalette, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.models.families import split_id
from app.views.parts import Text
from pipeline.duplicates.records import LostPassage
from pipeline.duplicates.trash import TrashOutcome, TrashPlan, TrashResult
from pipeline.words.families import size_words
from pipeline.words.phrases import count, listed
from pipeline.words.plain import first_words, one_line, tool_tip

MOST_LINES = 2_000  # of one group; a dialog is no place for more
COLUMNS = ("File or passage", "Where", "Why")
_PAD = 4
Words = Callable[[bool], tuple[str, str, bool]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a group: what, where, and what is said of it."""

    what: str
    where: str
    said: str
    whole: str = ""  # for the tool tip


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that belong together. `open` says whether they are seen at once."""

    title: str
    lines: tuple[Line, ...]
    open: bool = True


class WholeCells(QStyledItemDelegate):
    """Draws every cell in full, on as many lines as it takes: nobody decides by words that are cut, and two files
    with long paths never look the same."""

    def __init__(self, tree: QTreeWidget) -> None:
        super().__init__(tree)
        self._tree = tree

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        if not index.parent().isValid():  # a group's title takes the whole row
            width = self._tree.viewport().width() - self._tree.indentation()
        else:
            width = self._tree.columnWidth(index.column())
            width -= 0 if index.column() else 2 * self._tree.indentation()
        return QSize(width, round(_laid_out(cell.text, cell.font, width - 2 * _PAD)[1]) + 2 * _PAD)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        text, cell.text = cell.text, ""
        style = self._tree.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, cell, painter, self._tree)
        chosen = bool(cell.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setPen(cell.palette.color(QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text))
        layout, _ = _laid_out(text, cell.font, cell.rect.width() - 2 * _PAD)
        layout.draw(painter, QPointF(cell.rect.left() + _PAD, cell.rect.top() + _PAD))
        painter.restore()


def _laid_out(text: str, font: QFont, width: float) -> tuple[QTextLayout, float]:
    """The text in lines of this width, and their height together."""
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    height = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(20.0, width))
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()
    return layout, height


class ListingDialog(QDialog):
    """A title, a sentence, groups of lines, perhaps a sentence to tick, and two buttons, of which the safe one is
    the default."""

    def __init__(
        self,
        title: str,
        text: str,
        groups: Sequence[Group],
        *,
        accept: str | None,
        tick: str = "",
        words: Words | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`accept` names the button that does it; None leaves only "Close". `words` gives, by whether the sentence is
        ticked, the title, the button's words and whether it can be pressed."""
        super().__init__(parent)
        self.setWindowTitle("Twinspect")
        self._words = words
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(title)
        self.tree.setHeaderLabels(list(COLUMNS))
        self.tree.setRootIsDecorated(True)
        self.tree.setUniformRowHeights(False)
        self.tree.setVerticalScrollMode(QTreeWidget.ScrollMode.ScrollPerPixel)
        self.tree.setItemDelegate(WholeCells(self.tree))
        for group in groups:
            self._add(group)
        header = self.tree.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.sectionResized.connect(lambda *sizes: self.tree.scheduleDelayedItemsLayout())
        self.tick = QCheckBox(tick)
        self.tick.setVisible(bool(tick))
        self.tick.toggled.connect(self._fit)
        self._buttons = QDialogButtonBox()
        self.accept_button: QPushButton | None = None
        if accept is not None:
            self.accept_button = self._buttons.addButton(accept, QDialogButtonBox.ButtonRole.AcceptRole)
            self.accept_button.setAutoDefault(False)
        close = QDialogButtonBox.StandardButton.Cancel if accept else QDialogButtonBox.StandardButton.Close
        self._buttons.addButton(close).setDefault(True)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        self.title = Text(title, scale=1.25, bold=True, wrap=True)
        column.addWidget(self.title)
        if text:
            column.addWidget(Text(text, wrap=True))
        column.addWidget(self.tree, 1)
        column.addWidget(self.tick)
        column.addWidget(self._buttons)
        self._buttons.button(close).setFocus()
        self.resize(self.sizeHint())  # left to itself, Qt would take two thirds of a small screen at most
        self._fit()

    def _add(self, group: Group) -> None:
        if not group.lines:
            return
        top = QTreeWidgetItem([group.title, "", ""])
        font = top.font(0)
        font.setBold(True)
        top.setFont(0, font)
        top.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
        self.tree.addTopLevelItem(top)
        top.setFirstColumnSpanned(True)
        for line in group.lines[:MOST_LINES]:
            item = QTreeWidgetItem([line.what, line.where, line.said])
            for column, words in enumerate((line.whole or line.what, line.where, line.said)):
                item.setToolTip(column, tool_tip(words))
            top.addChild(item)
        if len(group.lines) > MOST_LINES:
            top.addChild(QTreeWidgetItem([f"and {len(group.lines) - MOST_LINES:,} more", "", ""]))
        top.setExpanded(group.open)

    def _fit(self) -> None:
        if self._words is not None and self.accept_button is not None:
            title, words, possible = self._words(self.tick.isChecked())
            self.title.setText(title)
            self.accept_button.setText(words)
            self.accept_button.setEnabled(possible)

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]  # only passed on
        self._share_out()

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]  # only passed on
        self._share_out()

    def _share_out(self) -> None:
        room = self.tree.viewport().width()
        for column, share in ((0, 0.33), (1, 0.3)):
            self.tree.header().resizeSection(column, int(room * share))

    def sizeHint(self) -> QSize:
        letter = self.fontMetrics().averageCharWidth()
        return QSize(max(860, letter * 120), 560)

    def lines(self, title_begins: str) -> list[str]:
        """What the lines of a group say first."""
        for at in range(self.tree.topLevelItemCount()):
            top = self.tree.topLevelItem(at)
            if top.text(0).startswith(title_begins):
                return [top.child(row).text(0) for row in range(top.childCount())]
        return []


def trash_dialog(plan: TrashPlan, parent: QWidget | None = None) -> ListingDialog:
    """Asks whether these files go to the trash. Ticked: their last copies too."""
    items, last = plan.items, plan.last_copies
    safe = len(items) - len(last)
    text = (
        "They are moved to the system's trash, from which they can be put back. Each is checked again at that moment; "
        "what has changed since it was indexed stays. Nothing is deleted."
        if items
        else "Nothing of what was chosen can go; below is why."
    )

    def words(ticked: bool) -> tuple[str, str, bool]:
        going = [item for item in items if ticked or not item.last_copy]
        if not going:
            return "No file goes unless you tick the sentence below", "Move to the trash", False
        files = count(len(going), "file")
        size = size_words(sum(item.size for item in going))
        return f"Move {files} ({size}) to the trash?", f"Move {files} to the trash", True

    return ListingDialog(
        f"Move {count(len(items), 'file')} ({size_words(plan.size)}) to the trash?" if items else "No file can go",
        text,
        (
            Group(
                f"{count(safe, 'file')} will be moved",
                tuple(
                    Line(*split_id(item.doc_id), _item_words(item.kept_in, item.hard_link), one_line(item.path))
                    for item in items
                    if not item.last_copy
                ),
            ),
            Group(
                f"{count(len(last), 'last copy', 'last copies')} will be moved only if you tick the sentence below",
                tuple(Line(*split_id(item.doc_id), one_line(item.why_last), one_line(item.path)) for item in last),
            ),
            lost_group(plan.lost),
            Group(
                f"{count(len(plan.refused), 'file stays where it is', 'files stay where they are')}",
                tuple(Line(*split_id(one.doc_id), one_line(one.why), one_line(one.path)) for one in plan.refused),
            ),
        ),
        accept="Move to the trash" if items else None,
        tick=(
            f"I know that {count(len(last), 'file holds', 'files hold')} text that stands nowhere else in this "
            f"library, and I want {'it' if len(last) == 1 else 'them'} to go, too."
            if last
            else ""
        ),
        words=words,
        parent=parent,
    )


def outcome_dialog(outcome: TrashOutcome, parent: QWidget | None = None) -> ListingDialog:
    """What became of each file."""
    gone, skipped, failed = (outcome.of(state) for state in ("trashed", "skipped", "failed"))
    title = f"{count(len(gone), 'file')} moved to the trash" if gone else "No file was moved"
    if outcome.cancelled:
        title += "; then it was cancelled"
    return ListingDialog(
        title,
        "The journal says where each can be found again." if gone else "",
        (
            Group(f"{count(len(failed), 'file')} could not be moved", _result_lines(failed)),
            Group(
                f"{count(len(skipped), 'file was left where it is', 'files were left where they are')}",
                _result_lines(skipped),
            ),
            Group(f"{count(len(gone), 'file was', 'files were')} moved", _result_lines(gone)),
        ),
        accept=None,
        parent=parent,
    )


def leaving_out_dialog(
    doc_ids: Sequence[str], lost: Sequence[LostPassage], parent: QWidget | None = None
) -> ListingDialog:
    """Asks whether these documents are left out of searches, with what searches would lose."""
    return ListingDialog(
        f"Leave {count(len(doc_ids), 'document')} out of searches?",
        "The files stay as they are, and so does the library; this can be undone at any time."
        + ("" if lost else " No search loses a passage by it: each stands in another document, too."),
        (
            lost_group(lost, "no search would find any more"),
            Group(
                f"{count(len(doc_ids), 'document')} will be left out",
                tuple(Line(*split_id(doc_id), "you chose it", one_line(doc_id)) for doc_id in doc_ids),
                open=not lost or len(doc_ids) < 12,
            ),
        ),
        accept="Leave out",
        parent=parent,
    )


def lost_group(
    lost: Sequence[LostPassage], title: str = "would stand in no other document that searches find"
) -> Group:
    """The passages that would be lost."""
    return Group(
        f"{count(len(lost), 'passage')} {title}",
        tuple(
            Line(
                first_words(one.text, 160),
                _named(one.doc_id),
                f"passage {one.chunk_index + 1} of it stands nowhere else",
                first_words(one.text, 900),
            )
            for one in lost
        ),
    )


def _named(doc_id: str) -> str:
    """A document by its name first: a long path may be cut at its end."""
    name, folder = split_id(doc_id)
    return f"{name}, in {folder}" if folder else name


def _item_words(kept_in: Sequence[str], hard_link: bool) -> str:
    said = f"its text stays in {listed([one_line(name, 80) for name in kept_in], 2)}" if kept_in else ""
    if hard_link:
        said = "; ".join(filter(None, (said, "the same file has another name: no room is freed")))
    return said


def _result_lines(results: Sequence[TrashResult]) -> tuple[Line, ...]:
    return tuple(
        Line(*split_id(one.doc_id), one_line(one.why or (f"now {one.where}" if one.where else "")), one_line(one.path))
        for one in results
    )
