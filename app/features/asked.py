"""What was asked: the history, lists of questions, and what is carried away of an answer."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.features.asked_carrying import Carrying
from app.features.asked_history import AskedHistory
from app.features.asked_jobs import HistoryJobs
from app.features.asked_sets import AskedSets
from app.features.ground import Ground


class AskedFeature(QObject):
    """What was asked: the history, lists of questions, and what is carried away of an answer."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground.window)
        jobs = HistoryJobs(ground.crew)
        self.carrying = Carrying(ground)
        self.history = AskedHistory(ground, jobs, self.carrying.save)
        self.sets = AskedSets(ground, jobs, self.carrying.save)
