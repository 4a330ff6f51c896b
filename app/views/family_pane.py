"""One family: its members, what was decided about them, and a member side by side with the head."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QSplitter, QVBoxLayout, QWidget

from app.models.families import FamilyRow
from app.models.family_difference import Comparison
from app.models.family_members import MemberList
from app.theme import Theme
from app.views.family_compare import FamilyCompare
from app.views.family_delegate import MemberDelegate
from app.views.family_list import RowList
from app.views.parts import Elided, Flow
from pipeline.duplicates.records import Family, Member
from pipeline.words.families import percent, unlike_words, weakest_words
from pipeline.words.phrases import count
from pipeline.words.plain import one_line

_ANY_HEIGHT = 16_777_215  # Qt's own "no limit"
MEMBER_COMMANDS = (
    ("prefer-copy", "Prefer"),
    ("leave-out-copies", "Leave out"),
    ("note-copy", "Note…"),
    ("protect-folder", "Protect folder"),
    ("trash-copies", "Move to trash…"),
)


class FamilyPane(QWidget):
    """Emits what is wanted of the chosen members."""

    stepChosen = Signal(str)  # the id of an action
    comparisonWanted = Signal(str, str)  # doc_ids: the head's, the member's
    openRequested = Signal(str)  # path
    menuRequested = Signal(object)  # global QPoint
    chosen = Signal()  # other members are selected
    leave = Signal()  # Left was pressed: back to the families

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.members = MemberList(self)
        self.list = RowList("Members of the family", self.members, MemberDelegate(theme))
        self.compare = FamilyCompare(theme)
        self.title = Elided(bold=True, scale=1.12)
        self.facts = Elided(Qt.TextElideMode.ElideRight, muted=True)
        self.buttons: dict[str, QPushButton] = {}
        self._compared = ("", "")
        self._sizes, self._folded = [9_000, 11_000], False
        flow = Flow(spacing=6)
        for action, words in MEMBER_COMMANDS:
            button = self.buttons[action] = QPushButton(words)
            button.clicked.connect(lambda checked=False, action=action: self.stepChosen.emit(action))
            flow.addWidget(button)
        upper = QWidget()
        column = QVBoxLayout(upper)
        column.setContentsMargins(12, 0, 0, 6)
        column.setSpacing(5)
        column.addWidget(self.title)
        column.addWidget(self.facts)
        column.addLayout(flow)
        column.addWidget(self.list, 1)
        self._lower = QWidget()
        beneath = QVBoxLayout(self._lower)
        beneath.setContentsMargins(12, 0, 0, 0)
        beneath.addWidget(self.compare)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(upper)
        self.splitter.addWidget(self._lower)
        self.splitter.setSizes(self._sizes)  # shares of what there is
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.splitter)
        self.list.currentMoved.connect(self._compare_current)
        self.list.picked.connect(self.chosen)
        self.list.activatedRow.connect(self._open)
        self.list.menuRequested.connect(self.menuRequested)
        self.list.onward.connect(lambda step: self.compare.list.setFocus() if step > 0 else self.leave.emit())
        self.compare.list.onward.connect(lambda step: self.list.setFocus() if step < 0 else None)

    def set_theme(self, theme: Theme) -> None:
        self.list.set_theme(theme)
        self.compare.set_theme(theme)

    def show_family(self, row: FamilyRow | None, doc_id: str = "") -> None:
        """Show this family; `doc_id` names the member to begin with, else the first beside the head."""
        family = row.family if row is not None else None
        if family is not None and family == self.members.family and not doc_id:
            return
        same = family is not None and self.members.family is not None and family.key == self.members.family.key
        before = self.current() if same else None
        self.members.set_family(family)
        if row is None or family is None:
            self.title.setText("")
            self.facts.setText("")
            self._compared = ("", "")
            self._say_nothing("")
            self.chosen.emit()
            return
        self.title.setText(one_line(family.head.doc_id))
        self.facts.setText(family_facts(family))
        wanted = doc_id or (before.doc_id if before is not None else "")
        at = self.members.row_of(wanted) if wanted else None
        self.list.choose(at if at is not None else min(1, len(family.members) - 1))

    def show_looked_at(self, family: Family) -> None:
        """This family, which is shown, with its files compared with what was indexed."""
        self.members.show_looked_at(family.members)
        self.facts.setText(family_facts(family))

    def current(self) -> Member | None:
        """The member that is compared with the head."""
        return self.members.member(self.list.currentIndex().row())

    def chosen_members(self) -> list[Member]:
        """The selected members."""
        return [member for row in self.list.chosen_rows() if (member := self.members.member(row)) is not None]

    def _compare_current(self, row: int) -> None:
        family, member = self.members.family, self.members.member(row)
        if family is None or member is None:
            return
        head = family.head
        other = member if member.tier is not None else (family.members[1] if len(family.members) > 1 else None)
        if other is None or (head.doc_id, other.doc_id) == self._compared:
            return
        self._compared = (head.doc_id, other.doc_id)
        if other.tier == "identical":
            self._say_nothing("Identical, byte by byte: there is nothing to compare.")
            return
        self.compare.show_nothing("Comparing…")
        self.comparisonWanted.emit(head.doc_id, other.doc_id)

    def show_comparison(self, head: str, member: str, comparison: Comparison) -> None:
        """A comparison has arrived; it is shown if it still is the one wanted."""
        if (head, member) == self._compared:
            self._unfold()
            self.compare.show_comparison(f"{one_line(head)} (head)", one_line(member), comparison)

    def show_failure(self, head: str, member: str, why: str) -> None:
        """A comparison could not be made."""
        if (head, member) == self._compared:
            self._say_nothing(why)

    def _say_nothing(self, why: str) -> None:
        """No comparison: the members take its room."""
        self.compare.show_nothing(why)
        height = self._lower.sizeHint().height()
        if not self._folded:
            self._sizes, self._folded = self.splitter.sizes(), True
        self._lower.setMaximumHeight(height)
        self.splitter.setSizes([10_000, height])

    def _unfold(self) -> None:
        """The comparison as high as it was."""
        self._lower.setMaximumHeight(_ANY_HEIGHT)
        if self._folded:
            self._folded = False
            self.splitter.setSizes(self._sizes)

    def _open(self, row: int) -> None:
        member = self.members.member(row)
        if member is not None:
            self.openRequested.emit(member.path)

    def popup(self, menu: QMenu, at: QPoint) -> None:
        """Show this menu here."""
        menu.setParent(self, menu.windowFlags())
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)


def family_facts(family: Family) -> str:
    """What is known of the whole family."""
    parts = [f"{count(len(family.members), 'document')}, {weakest_words(family)}"]
    if unlike := unlike_words(family):
        parts.append(unlike)
    if family.redundant_texts:
        repeated = count(family.redundant_texts, "passage")
        parts.append(f"{repeated} ({count(family.redundant_characters, 'character')}) repeated")
    if family.cost is not None:
        parts.append(f"copies take {percent(family.cost)} of first places")
    return " · ".join(parts)
