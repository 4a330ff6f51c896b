"""The only place where the window's objects are built and connected."""

from __future__ import annotations

import gc
import logging
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.commands import COLOUR_SCHEMES, is_high_contrast
from app.dialogs import Dialogs
from app.features.asked import AskedFeature
from app.features.comparing import ComparingFeature
from app.features.duplicates import DuplicatesFeature
from app.features.ground import Ground
from app.features.leaving_out import LeavingOutFeature
from app.features.twins import TwinsFeature
from app.features.upkeep import UpkeepFeature
from app.features.why_not import WhyNotFeature
from app.focus import Focus
from app.jobs.backend import Backend, real_backend
from app.jobs.crew import Crew
from app.jobs.sharing import SharedEncoders
from app.main_window import MainWindow
from app.preferences import Preferences, default_file
from app.problems import problem_of
from app.sample import SampleQuestion, read_questions
from app.session import Session
from app.state import NextStep
from app.theme import ThemeWatch
from app.windows import Windows
from app.wiring import Wiring
from pipeline.cli import OpenRequest
from pipeline.places import default_library, sample_library


@dataclass(frozen=True, slots=True)
class Shell:
    """A window with everything behind it."""

    window: MainWindow
    session: Session
    focus: Focus
    preferences: Preferences
    wiring: Wiring
    why_not: WhyNotFeature
    comparing: ComparingFeature
    asked: AskedFeature
    duplicates: DuplicatesFeature


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are kept."""

    sample_library: Path
    first_library: Path

    @staticmethod
    def usual() -> Places:
        return Places(sample_library(), default_library())


def compose(
    watch: ThemeWatch,
    preferences: Preferences,
    *,
    backend: Backend,
    places: Places,
    questions: tuple[SampleQuestion, ...] | None = None,
    dialogs: Callable[[MainWindow], Dialogs] = Dialogs,
) -> Shell:
    """Build a window and connect it. Nothing is opened and no thread is started yet."""
    questions = read_questions() if questions is None else questions
    focus = Focus()
    crew = Crew(backend)
    session = Session(crew, preferences, sample_library=places.sample_library, first_library=places.first_library)
    window = MainWindow(focus, watch.theme, preferences, questions)
    watch.dress()
    session.setParent(window)
    focus.setParent(window)
    asks = dialogs(window)
    wiring = Wiring(window, session, focus, preferences, watch, questions, asks)
    ground = Ground(window, session, crew, focus, preferences, asks, wiring.commands)
    TwinsFeature(ground)  # lives as long as its window
    UpkeepFeature(ground)
    LeavingOutFeature(ground)
    return Shell(
        window,
        session,
        focus,
        preferences,
        wiring,
        WhyNotFeature(ground),
        ComparingFeature(ground),
        AskedFeature(ground),
        DuplicatesFeature(ground),
    )


def start(shell: Shell, request: OpenRequest) -> None:
    """Open what is asked for, and begin the slow parts once the window is there."""
    session = shell.session

    def begin() -> None:
        if request.sample:
            session.open_sample()
        else:
            folder = request.library or _last_library(shell.preferences)
            if folder is not None:
                session.open_library(folder)
        session.start_model()  # last: which model it is may depend on the library

    shell.window.firstPainted.connect(begin)


def _last_library(preferences: Preferences) -> Path | None:
    """The library that was open last, if it is still there; else the usual one, if there is one."""
    last = preferences.choices.last_library
    for folder in (Path(last) if last else None, default_library()):
        if folder is not None and (folder / "library.sqlite3").is_file():
            return folder
    return None


def make_application() -> QApplication:
    """The one application object of this process."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    app = QApplication(sys.argv[:1])
    app.setApplicationName("Twinspect")
    app.setDesktopFileName("twinspect")
    return app


def watch_for(app: QApplication, preferences: Preferences) -> ThemeWatch:
    """The theme that the user chose."""
    choices = preferences.choices
    scheme = choices.scheme
    return ThemeWatch(app, COLOUR_SCHEMES[scheme], choices.zoom / 100, is_high_contrast(scheme), sheet=False)


def give_way_to_the_window() -> None:
    """Let work in other threads hand Python over within a fifth of a millisecond: drawing a window takes thousands of
    calls of Qt, and after each of them its thread may have to wait for its turn. Nor is a search for garbage to stop
    all threads while it goes through what was imported, which is never garbage."""
    sys.setswitchinterval(0.0002)
    gc.freeze()


def open_window(request: OpenRequest) -> int:
    """Show the window until it is closed."""
    give_way_to_the_window()
    logging.basicConfig(stream=sys.stderr, format="twinspect: %(message)s")
    app = make_application()
    preferences = Preferences(default_file())
    watch = watch_for(app, preferences)
    windows = make_windows(watch, preferences, backend=real_backend(), places=Places.usual())
    _say_unexpected(windows)
    _close_on_interrupt(app, windows)
    windows.open(request)
    return app.exec()


def make_windows(watch: ThemeWatch, preferences: Preferences, *, backend: Backend, places: Places) -> Windows:
    """The windows of this process, none of them open yet. They all use one process of each model."""
    shared = replace(backend, make_encoder=SharedEncoders(backend.make_encoder).lease)
    return Windows(lambda: compose(watch, preferences, backend=shared, places=places), start)


def _say_unexpected(windows: Windows) -> None:
    """A failure in the window's own thread is logged and said, and the window lives on."""

    def hook(kind: type[BaseException], error: BaseException, trace: object) -> None:
        details = "".join(traceback.format_exception(error))
        sys.stderr.write(details)
        shell = windows.active
        if shell is not None:
            problem = problem_of(error, details)
            closes = NextStep("Close", "dismiss-notice")
            shell.wiring.commands.say_trouble(replace(problem, steps=(*problem.steps, closes)))

    sys.excepthook = hook


def _close_on_interrupt(app: QApplication, windows: Windows) -> None:
    """Ctrl+C in the terminal closes the windows as their own buttons do."""
    signal.signal(signal.SIGINT, lambda number, frame: windows.close_all())
    # Python looks at signals only when it runs: give it a turn now and then.
    turn = QTimer(app)
    turn.timeout.connect(lambda: None)
    turn.start(500)
