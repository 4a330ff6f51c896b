"""Opening a file at its page: with programs known to be able to, and said in words with others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app import desktop
from app.compose import Shell
from app.focus import FocusTarget
from app.subject import location_of
from pipeline.records import Location
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]


class Desk:
    """Stands in for the desktop: which program opens PDFs, and what was started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.program: str | None = None
        self.started: list[list[str]] = []
        self.opened: list[str] = []
        monkeypatch.setattr(desktop, "_pdf_program", lambda: self.program)
        monkeypatch.setattr(desktop, "_started", lambda command: self.started.append(command) or True)
        monkeypatch.setattr(desktop.QDesktopServices, "openUrl", lambda url: self.opened.append(url.toString()) or True)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "A guide #1 {page}.pdf"
    made.write_bytes(b"%PDF-1.4")
    return made


def test_a_viewer_that_knows_pages_is_told_the_page(desk: Desk, file: Path) -> None:
    desk.program = "/usr/bin/evince"
    assert desktop.open_at(str(file), 7) == desktop.Opened(there=True)
    assert desk.started == [["/usr/bin/evince", "--page-index=7", str(file)]]
    assert desk.opened == []


def test_a_browser_gets_an_address_whose_name_cannot_be_mistaken(desk: Desk, file: Path) -> None:
    desk.program = "/usr/bin/firefox"
    desktop.open_at(str(file), 7)
    ((_, address),) = desk.started
    assert address.startswith("file:///")
    assert address.endswith("A%20guide%20%231%20%7Bpage%7D.pdf#page=7")


@pytest.mark.parametrize("program", [None, "/usr/bin/some-viewer", "/usr/bin/flatpak"])
def test_other_programs_open_the_file_as_it_is(desk: Desk, file: Path, program: str | None) -> None:
    desk.program = program
    assert desktop.open_at(str(file), 7) == desktop.Opened()
    assert desk.started == []
    assert len(desk.opened) == 1


def test_a_file_that_is_gone_is_said(desk: Desk, tmp_path: Path) -> None:
    desk.program = "/usr/bin/evince"
    assert "no longer there" in desktop.open_at(str(tmp_path / "gone.pdf"), 2).problem
    assert desk.started == desk.opened == []


def test_the_command_of_a_desktop_entry_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = tmp_path / "viewer.desktop"
    entry.write_text("[Desktop Entry]\nName=Viewer\nExec=evince %U\n", "utf-8")
    monkeypatch.setattr(desktop.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert desktop._program_of(entry) == "/usr/bin/evince"
    assert desktop._program_of(tmp_path / "none.desktop") is None


@pytest.fixture
def asked(shells: ShellMaker, wait: Wait) -> Shell:
    shell = shells.shell()
    shell.session.open_library(shells.library())
    shell.session.start_model()
    shell.session.inquiry.ask("late items damaged")
    wait(lambda: shell.session.inquiry.answer.phase == "answered")
    return shell


def test_the_status_says_the_page_where_the_program_cannot_be_told(asked: Shell, desk: Desk, file: Path) -> None:
    place = Location("k", "docs/a.pdf", 0, str(file), 0, 9, 3, 4)
    asked.wiring.commands.open_at(place)
    assert "the passage is on page 3" in asked.window.status.said
    desk.program = "/usr/bin/okular"
    asked.wiring.commands.open_at(place)
    assert asked.window.status.said == f"Opened {file.name} at page 3"


def test_the_command_opens_the_place_that_is_shown(asked: Shell, desk: Desk, wait: Wait) -> None:
    trace = asked.session.inquiry.answer.trace
    assert trace is not None
    first = trace.candidates[0]
    place = location_of(first)
    assert place is not None
    file = Path(place.path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("here", "utf-8")
    asked.focus.selected = FocusTarget("candidate", first.candidate.evidence_key, 1)
    wait(lambda: not asked.window.inspector.detail.waiting)
    asked.window.actions_.trigger("open-place")
    assert len(desk.opened) == 1
    assert "the passage begins “" in asked.window.status.said
