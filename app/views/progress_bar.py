"""The bar of long work: how far it is, how fast, how long still, which file, and Cancel."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QProgressBar, QPushButton, QWidget

from app.state import WorkState
from app.views.parts import Elided, Text, clear
from pipeline.progress import Progress
from pipeline.words.sentences import count, number

APPEAR_AFTER_MS = 350  # work that is over before that shows nothing but its outcome


class WorkBar(QFrame):
    """Shows the work under way. A good end is `told` and the bar goes; a failure stays until it is dismissed."""

    told = Signal(str)  # how the work ended, for the line at the bottom
    cancelRequested = Signal()
    dismissed = Signal()
    stepChosen = Signal(str)  # the id of an action

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("workBar")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._numbers = Text()
        self._file = Elided(muted=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(8)
        self._bar.setAccessibleName("Progress of the indexing")
        self._cancel = QPushButton("Cancel")
        self._cancel.setAccessibleName("Cancel the indexing")
        self._cancel.setToolTip("Stop; what is indexed so far stays (Ctrl+.)")
        self._cancel.clicked.connect(self.cancelRequested)
        self._close = QPushButton("Close")
        self._close.clicked.connect(self._dismiss)
        self._steps = QHBoxLayout()
        grid = self._grid = QGridLayout(self)
        grid.setContentsMargins(12, 6, 8, 6)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.addWidget(self._numbers, 0, 0)
        grid.addWidget(self._file, 0, 1)
        grid.addWidget(self._bar, 1, 0, 1, 2)
        grid.addLayout(self._steps, 0, 2, 2, 1)
        grid.addWidget(self._cancel, 0, 3, 2, 1)
        grid.addWidget(self._close, 0, 4, 2, 1)
        self._appear = QTimer(self)
        self._appear.setSingleShot(True)
        self._appear.setInterval(APPEAR_AFTER_MS)
        self._appear.timeout.connect(self.show)
        self._ended = True
        self.hide()

    def show_work(self, work: WorkState) -> None:
        """Show where the work is, or how it ended."""
        ended, self._ended = self._ended, not work.active
        if not work.active:
            self._appear.stop()
        if work.phase in ("idle", "done", "cancelled"):
            seen = not self.isHidden()
            self.hide()
            if work.phase != "idle" and not ended and (seen or work.phase == "cancelled" or _changed_anything(work)):
                self.told.emit(sentence(work))
            return
        if work.active and self.isHidden() and not self._appear.isActive():
            self._appear.start()
        failed = work.phase == "failed"
        self._numbers.setWordWrap(failed)
        self._numbers.setText(sentence(work))
        self._file.setText(work.progress.current if work.active else "")
        for widget in (self._bar, self._file, self._cancel):
            widget.setVisible(work.active)
        self._cancel.setEnabled(work.phase in ("waiting", "running"))
        self._close.setVisible(failed)
        self._grid.setColumnStretch(0, 1 if failed else 0)
        self._grid.setColumnStretch(1, 0 if failed else 1)
        progress = work.progress
        busy = not progress.total or work.phase != "running" or progress.stage == "finishing"
        self._bar.setRange(0, 0 if busy else progress.total)
        if not busy:
            self._bar.setValue(progress.done)
        clear(self._steps)
        for step in work.problem.steps if work.problem is not None else ():
            button = QPushButton(step.label)
            button.clicked.connect(lambda checked=False, action=step.action: self.stepChosen.emit(action))
            self._steps.addWidget(button)
        if failed:
            self.show()

    def _dismiss(self) -> None:
        self.hide()
        self.dismissed.emit()


def _changed_anything(work: WorkState) -> bool:
    report = work.report
    return report is None or bool(report.added or report.changed or report.moved or report.removed or report.failed)


def sentence(work: WorkState) -> str:
    """Where the work is, for people."""
    match work.phase:
        case "waiting":
            return f"{work.doing}: waiting for the model to load"
        case "running":
            return _running(work.doing, work.progress)
        case "cancelling":
            return "Stopping; what is done stays"
        case "cancelled":
            return (
                f"Cancelled after {number(work.progress.done)} of {number(work.progress.total)} files; "
                "what was indexed stays, and the next run goes on from there"
                if work.progress.total
                else "Cancelled; nothing was changed"
            )
        case "failed":
            return f"{work.problem.title}. {work.problem.text}" if work.problem is not None else "Failed"
        case "done":
            return _done(work)
    return ""


def _running(doing: str, progress: Progress) -> str:
    if not progress.total:
        found = f", {number(progress.found)} so far" if progress.found else ""
        return f"{doing}: looking for files{found}"
    if progress.stage == "finishing":
        return f"{doing}: finishing" + (f", {progress.saved:.0%} of the search index saved" if progress.saved else "")
    parts = [f"{number(progress.done)} of {number(progress.total)} files"]
    if progress.done and progress.rate:
        parts.append(f"{progress.rate:,.0f} per second" if progress.rate >= 2 else f"{progress.rate:.1f} per second")
    left = progress.seconds_left
    if left is not None and progress.seconds > 2:
        parts.append(f"{_duration(left)} left")
    if progress.embedded:  # goes on while one large file keeps the model busy
        parts.append(f"{number(progress.embedded)} texts encoded")
    if progress.failed:
        parts.append(f"{number(progress.failed)} could not be read")
    return f"{doing}: " + ", ".join(parts)


def _done(work: WorkState) -> str:
    report = work.report
    if work.said:
        return work.said
    if report is None:
        return "The folder is no longer in the library; its files were not touched"
    figures = (
        (report.added, "added"),
        (report.changed, "changed"),
        (report.moved, "moved"),
        (report.removed, "removed"),
        (report.failed, "could not be read"),
    )
    changes = [f"{number(count)} {what}" for count, what in figures if count]
    if not changes:
        return f"Everything is up to date: {count(report.documents, 'document')}"
    if report.unknown_kind:
        changes.append(f"{number(report.unknown_kind)} of unknown kind")
    return f"{count(report.documents, 'document')} in {_duration(report.seconds)}: {', '.join(changes)}"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 90:
        whole = round(seconds)
        return count(whole, "second")
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours"
