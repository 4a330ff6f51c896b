"""What a feature stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.commands import Commands
    from app.dialogs import Dialogs
    from app.focus import Focus
    from app.jobs.crew import Crew
    from app.main_window import MainWindow
    from app.preferences import Preferences
    from app.session import Session


@dataclass(frozen=True, slots=True)
class Ground:
    """One window and what is behind it."""

    window: MainWindow
    session: Session
    crew: Crew
    focus: Focus
    preferences: Preferences
    dialogs: Dialogs
    commands: Commands
