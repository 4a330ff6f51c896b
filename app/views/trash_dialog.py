"""What would happen, listed before it does: files that go, passages that would be lost, files that stay and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QPushButton,
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
        words: Callable[[bool], tuple[str, bool]] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`accept` names the button that does it; None leaves only "Close". `words` gives, by whether the sentence is
        ticked, the button's words and whether it can be pressed."""
        super().__init__(parent)
        self.setWindowTitle("Twinspect")
        self._words = words
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(title)
        self.tree.setHeaderLabels(["What", "Where", ""])
        self.tree.setRootIsDecorated(True)
        self.tree.setUniformRowHeights(True)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        for group in groups:
            self._add(group)
        header = self.tree.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
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
        column.addWidget(Text(title, scale=1.25, bold=True, wrap=True))
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
            words, possible = self._words(self.tick.isChecked())
            self.accept_button.setText(words)
            self.accept_button.setEnabled(possible)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        room = self.tree.viewport().width()
        for column, share in ((0, 0.37), (1, 0.26)):
            self.tree.header().resizeSection(column, int(room * share))

    def sizeHint(self) -> QSize:
        letter = self.fontMetrics().averageCharWidth()
        return QSize(max(760, letter * 110), 520)

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

    def words(ticked: bool) -> tuple[str, bool]:
        going = len(items) if ticked else safe
        return (f"Move {count(going, 'file')} to the trash" if going else "Move to the trash", going > 0)

    return ListingDialog(
        f"Move {count(len(items), 'file')} ({size_words(plan.size)}) to the trash?" if items else "No file can go",
        text,
        (
            Group(
                f"Goes: {count(safe, 'file')}",
                tuple(
                    Line(*split_id(item.doc_id), _item_words(item.kept_in, item.hard_link), one_line(item.path))
                    for item in items
                    if not item.last_copy
                ),
            ),
            Group(
                f"Goes only if you tick the sentence below: {count(len(last), 'last copy', 'last copies')}",
                tuple(Line(*split_id(item.doc_id), one_line(item.why_last), one_line(item.path)) for item in last),
            ),
            lost_group(plan.lost),
            Group(
                f"Stays: {count(len(plan.refused), 'file')}",
                tuple(Line(*split_id(one.doc_id), one_line(one.why), one_line(one.path)) for one in plan.refused),
            ),
        ),
        accept="Move to the trash" if items else None,
        tick=(
            f"I know that {count(len(last), 'file holds', 'files hold')} text that stands nowhere else in this "
            "library, and I want it to go, too."
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
            Group(f"Failed: {count(len(failed), 'file')}", _result_lines(failed)),
            Group(f"Skipped: {count(len(skipped), 'file')}", _result_lines(skipped)),
            Group(f"Moved: {count(len(gone), 'file')}", _result_lines(gone)),
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
            lost_group(lost, "No search would find any more"),
            Group(
                f"Left out: {count(len(doc_ids), 'document')}",
                tuple(Line(*split_id(doc_id), "", one_line(doc_id)) for doc_id in doc_ids),
                open=not lost or len(doc_ids) < 12,
            ),
        ),
        accept="Leave out",
        parent=parent,
    )


def lost_group(lost: Sequence[LostPassage], title: str = "Would stand in no other served document") -> Group:
    """The passages that would be lost."""
    return Group(
        f"{title}: {count(len(lost), 'passage')}",
        tuple(
            Line(
                first_words(one.text, 160),
                _named(one.doc_id),
                f"passage {one.chunk_index + 1}",
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
