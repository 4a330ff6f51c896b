"""Which families are listed, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from app.models.families import ORDER_WORDS, FamilyFilter, FamilyRow, kinds_in, tiers_in
from app.views.parts import Flow, QuietSpinBox
from pipeline.duplicates.records import FolderShare
from pipeline.words.families import TIER_WORDS
from pipeline.words.plain import one_line

TYPING_MS = 120
NARROWING_MS = 250
MOST_FOLDERS = 300  # in the list to choose from; any other one comes from the folders' table


class FamilyFilters(QWidget):
    """Emits what is wanted; lists nothing itself."""

    filterChanged = Signal(object)  # FamilyFilter
    orderChanged = Signal(str)
    similarityChanged = Signal(int)  # per cent

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QLineEdit()
        self.text.setPlaceholderText("Filter by name or folder")
        self.text.setAccessibleName("Filter the families by name or folder")
        self.text.setClearButtonEnabled(True)
        self.text.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.folder = self._combo("Families in this folder")
        self.folder.setMaximumWidth(128)  # so that all stand in one row of a small window
        self.tier = self._combo("How sure it is: families with members of this kind of sameness")
        self.kind = self._combo("Families with files of this kind")
        self.order = self._combo("The order of the families")
        for order, words in ORDER_WORDS.items():
            self.order.addItem(words, order)
        self.similarity = QuietSpinBox()
        self.similarity.setRange(30, 100)
        self.similarity.setPrefix("Shared from ")
        self.similarity.setSuffix(" %")
        self.similarity.setAccessibleName("The least share of words in common, in per cent")
        self.similarity.setToolTip(
            "Only documents that share at least so much with their head, without looking anew. To lower it below "
            "what was looked for, change what counts as a duplicate."
        )
        self.proposed = QCheckBox("With proposals")
        self.proposed.setToolTip("Only families of which something is proposed for removal")
        flow = Flow(spacing=6)  # the order stands with the list, where the page puts it
        for part in (self.text, self.folder, self.tier, self.kind, self.similarity, self.proposed):
            flow.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(flow)
        self._fit_text()
        self._typing = self._timer(TYPING_MS, self._tell)
        self._narrowing = self._timer(NARROWING_MS, lambda: self.similarityChanged.emit(self.similarity.value()))
        self.text.textChanged.connect(lambda: self._typing.start())
        for combo in (self.folder, self.tier, self.kind):
            combo.currentIndexChanged.connect(self._tell)
        self.proposed.toggled.connect(self._tell)
        self.order.currentIndexChanged.connect(lambda: self.orderChanged.emit(self.order.currentData()))
        self.similarity.valueChanged.connect(self._narrow_soon)

    def _fit_text(self) -> None:
        """Wide enough for what it asks for, with the button that empties it: a width that no letter changes."""
        letters = self.text.fontMetrics().horizontalAdvance(self.text.placeholderText())
        self.text.setFixedWidth(letters + round(1.6 * self.text.sizeHint().height()))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_text()

    def _combo(self, name: str) -> QComboBox:
        combo = QComboBox()
        combo.setAccessibleName(name)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        combo.setMaximumWidth(180)
        return combo

    def _timer(self, pause: int, do: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(pause)
        timer.timeout.connect(do)
        return timer

    def wanted(self) -> FamilyFilter:
        """What is chosen now."""
        return FamilyFilter(
            tuple(self.text.text().casefold().split()),
            self.folder.currentData() or "",
            self.tier.currentData() or "",
            self.kind.currentData() or "",
            self.proposed.isChecked(),
        )

    def offer(self, rows: Sequence[FamilyRow], folders: Sequence[FolderShare]) -> None:
        """The folders, tiers and kinds that there are."""
        held = [share.folder for share in folders if share.duplicates][:MOST_FOLDERS]
        self._fill(self.folder, "All folders", [(one_line(folder, 60), folder) for folder in sorted(held)])
        self._fill(self.tier, "However sure", [(TIER_WORDS[tier], tier) for tier in tiers_in(rows)])
        self._fill(self.kind, "All kinds", [(one_line(kind), kind) for kind in kinds_in(rows)])

    def show_similarity(self, least: int, shown: int) -> None:
        """`least` per cent were looked for, `shown` are in force."""
        if self._narrowing.isActive():
            return  # the user is at it
        with QSignalBlocker(self.similarity):
            self.similarity.setMinimum(least)
            self.similarity.setValue(shown)

    def choose_folder(self, folder: str) -> None:
        """Only families in this folder."""
        if self.folder.findData(folder) < 0:
            self.folder.addItem(one_line(folder, 60), folder)
        self.folder.setCurrentIndex(self.folder.findData(folder))

    def clear(self) -> None:
        """Take every filter back; the order stays."""
        # Not the text: its own button that empties it goes by its signals. What it tells later is told at once below.
        for part in (self.folder, self.tier, self.kind, self.proposed):
            part.blockSignals(True)
        self.text.clear()
        for combo in (self.folder, self.tier, self.kind):
            combo.setCurrentIndex(0)
        self.proposed.setChecked(False)
        for part in (self.folder, self.tier, self.kind, self.proposed):
            part.blockSignals(False)
        self._tell()

    def _fill(self, combo: QComboBox, every: str, entries: list[tuple[str, str]]) -> None:
        chosen = combo.currentData() or ""
        wanted = [(every, ""), *entries]
        if chosen and chosen not in {data for _, data in entries}:
            wanted.append((one_line(chosen, 60), chosen))
        if [(combo.itemText(at), combo.itemData(at)) for at in range(combo.count())] == wanted:
            return
        with QSignalBlocker(combo):
            combo.clear()
            for words, data in wanted:
                combo.addItem(words, data)
            combo.setCurrentIndex(max(0, combo.findData(chosen)))

    def _narrow_soon(self) -> None:
        self._narrowing.start()

    def _tell(self) -> None:
        self._typing.stop()
        self.filterChanged.emit(self.wanted())
