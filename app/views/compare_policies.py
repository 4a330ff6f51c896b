"""The three policies on the same hits: what each would have given the agent, and what of it is there twice."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QSplitter, QVBoxLayout, QWidget

from app.models.compared import Given
from app.models.comparing import GivenModel
from app.models.rows import Role
from app.theme import Theme
from app.views.compare_delegates import GivenDelegate, places_badge
from app.views.ink import badge_width, write
from app.views.lane_list import LaneList
from app.views.parts import Flow, Text, clear
from app.views.raw_delegate import rank_digits
from pipeline.findings import PolicyAnswer
from pipeline.words.comparing import policies_sentence, policy_figures, policy_verdict
from pipeline.words.phrases import number
from pipeline.words.sentences import policy_sentence, policy_title

_GAP = 4


class PlacesStrip(QWidget):
    """Every place of an answer as a square in its text's colour; an outline is a place that a copy took."""

    def __init__(self, delegate: GivenDelegate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delegate = delegate
        self._given: Sequence[Given] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_given(self, given: Sequence[Given]) -> None:
        self._given = given
        repeats = sum(one.repeats is not None for one in given)
        self.setAccessibleName(f"{len(given):,} places, {repeats:,} of them taken by copies")
        self.setToolTip("One square for each place of the answer; an outline is a place that a copy took")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, round(self._delegate.type.tiny_strong.height + 8))

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        face, theme = self._delegate.type.tiny_strong, self._delegate.theme
        x, middle, room = 0.0, self.height() / 2, self.width() - face.width(" +9,999")
        for place, one in enumerate(self._given):
            words = str(one.number)
            if x + badge_width(face, one.letter or words) > room and place + 1 < len(self._given):
                rest = f"+{number(len(self._given) - place)}"
                write(painter, face, theme.text_quiet, x, middle - face.height / 2, rest)
                break
            x += places_badge(painter, self._delegate, one.letter, words, x, middle, dim=one.repeats is not None)
            x += _GAP
        painter.end()


class PolicyColumn(QFrame):
    """One policy: its rule, its verdict, its figures, its items."""

    openRequested = Signal(str)
    revealRequested = Signal(str)
    copyRequested = Signal(str, str)
    previewRequested = Signal(object)  # FocusTarget
    resized = Signal()

    def __init__(self, policy: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.policy = policy
        self._theme = theme
        self.answer: PolicyAnswer | None = None
        self.model = GivenModel(self)
        self._delegate = GivenDelegate(theme)
        self.list = LaneList(f"What {policy_title(policy)} gives the agent", self.model, self._delegate)
        self.list.openRequested.connect(self.openRequested)
        self.list.revealRequested.connect(self.revealRequested)
        self.list.previewRequested.connect(self.previewRequested)
        self.list.menuRequested.connect(self._show_menu)
        title = Text(policy_title(policy), bold=True, scale=1.12)
        rule = Text(policy_sentence(policy), muted=True, wrap=True, scale=0.92)
        rule.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.verdict = Text(bold=True, wrap=True)
        self.verdict.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.strip = PlacesStrip(self._delegate)
        figures = QWidget()
        self._figures = Flow(figures, spacing=6)
        wraps = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        wraps.setHeightForWidth(True)
        figures.setSizePolicy(wraps)
        self.above = QWidget()
        above = QVBoxLayout(self.above)
        above.setContentsMargins(10, 8, 10, 8)
        above.setSpacing(5)
        for part in (title, rule, self.strip, self.verdict, figures):
            above.addWidget(part)
        above.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.above)
        column.addWidget(self.list, 1)
        self.setMinimumWidth(220)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.list.set_theme(theme)
        self.strip.updateGeometry()
        self.strip.update()

    def show_answer(self, answer: PolicyAnswer) -> None:
        """Show what this policy gives."""
        self.answer = answer
        self.list.forget_hover()
        self._delegate.rank_digits = rank_digits(answer.items)
        self.model.set_answer(answer)
        self.strip.show_given(self.model.given)
        self.verdict.setText(policy_verdict(answer))
        self.verdict.setProperty("warn", answer.distinct < answer.items)
        self.verdict.style().unpolish(self.verdict)
        self.verdict.style().polish(self.verdict)
        self.list.set_empty("Nothing", "This policy gives the agent nothing.")
        self.list.scrollToTop()
        clear(self._figures)
        for figure, what in policy_figures(answer):
            cell = QWidget()
            cell.setAccessibleName(f"{figure} {what}")
            row = QHBoxLayout(cell)
            row.setContentsMargins(0, 0, 4, 0)
            row.setSpacing(4)
            row.addWidget(Text(figure, bold=True))
            row.addWidget(Text(what, muted=True, scale=0.92))
            self._figures.addWidget(cell)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def figures(self) -> list[str]:
        """The figures as they are shown: "5 items"."""
        items = [self._figures.itemAt(at) for at in range(self._figures.count())]
        return [cell.accessibleName() for item in items if item is not None and (cell := item.widget()) is not None]

    def _show_menu(self, index: QModelIndex, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        target, path, text = index.data(Role.TARGET), str(index.data(Role.PATH) or ""), str(index.data(Role.COPY))
        menu.addAction("Show this run in the inspector").triggered.connect(lambda: self.previewRequested.emit(target))
        menu.addSeparator()
        menu.addAction("Open").triggered.connect(lambda: self.openRequested.emit(path))
        menu.addAction("Show in its folder").triggered.connect(lambda: self.revealRequested.emit(path))
        menu.addAction("Copy path").triggered.connect(lambda: self.copyRequested.emit(path, "the path"))
        menu.addAction("Copy as text").triggered.connect(lambda: self.copyRequested.emit(text, "the row"))
        menu.popup(place)


class PoliciesView(QWidget):
    """Three columns, one retrieval."""

    openRequested = Signal(str)
    revealRequested = Signal(str)
    copyRequested = Signal(str, str)
    showRequested = Signal(str, object)  # policy, FocusTarget

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.answers: tuple[PolicyAnswer, ...] = ()
        self._levelling = QTimer(self)  # three columns change their width in one go
        self._levelling.setSingleShot(True)
        self._levelling.setInterval(0)
        self._levelling.timeout.connect(self._level)
        self._say = QFrame()
        self._say.setObjectName("lookAt")
        self._title = Text(bold=True, scale=1.15, wrap=True)
        self._sentence = Text(wrap=True, muted=True)
        column = QVBoxLayout(self._say)
        column.setContentsMargins(10, 6, 10, 6)
        column.setSpacing(2)
        column.addWidget(self._title)
        column.addWidget(self._sentence)
        self.across = QSplitter(Qt.Orientation.Horizontal, self)
        self.across.setChildrenCollapsible(False)
        self.columns: dict[str, PolicyColumn] = {}
        for policy in ("plain", "source", "evidence"):
            made = PolicyColumn(policy, theme, self.across)
            made.openRequested.connect(self.openRequested)
            made.revealRequested.connect(self.revealRequested)
            made.copyRequested.connect(self.copyRequested)
            made.resized.connect(self._levelling.start)
            made.previewRequested.connect(lambda target, policy=policy: self.showRequested.emit(policy, target))
            made.list.crossRequested.connect(lambda step, policy=policy: self._cross(policy, step))
            self.across.addWidget(made)
            self.columns[policy] = made
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._say)
        column.addWidget(self.across, 1)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for made in self.columns.values():
            made.set_theme(theme)
        self._levelling.start()

    @property
    def sentence(self) -> str:
        """The three in a sentence, as it is said."""
        return self._title.text()

    def show_answers(self, answers: Sequence[PolicyAnswer], question: str) -> None:
        """Show the three answers to this question."""
        self.answers = tuple(answers)
        self._title.setText(policies_sentence(answers))
        self._sentence.setText(f"“{question}”: the same hits, under three rules. An outline repeats what stands above.")
        self._say.setAccessibleName(f"{self._title.text()} {self._sentence.text()}")
        for answer in answers:
            if answer.policy in self.columns:
                self.columns[answer.policy].show_answer(answer)
        self._levelling.start()

    def _level(self) -> None:
        """The three lists begin at one height, however the words above them wrap."""
        parts = [made.above for made in self.columns.values()]
        tallest = max(part.layout().totalHeightForWidth(max(part.width(), 1)) for part in parts)
        for part in parts:
            part.setFixedHeight(tallest)

    def _cross(self, policy: str, step: int) -> None:
        names = list(self.columns)
        at = names.index(policy) + step
        if 0 <= at < len(names):
            self.columns[names[at]].list.setFocus(Qt.FocusReason.TabFocusReason)
