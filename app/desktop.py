"""Opening and revealing files with the desktop's own programs, only ever because the user asked."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QStandardPaths, QUrl
from PySide6.QtGui import QDesktopServices


def open_file(path: str) -> str:
    """Open a file or folder with its own program. "" when that was done, else why it was not."""
    file = Path(path)
    if not file.exists():
        return _gone(file)
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(file))):
        return f"No program could be found to open “{file.name}”."
    return ""


@dataclass(frozen=True, slots=True)
class Opened:
    """What was done: `problem` is "" when the file was opened; `there` says that it was opened at its page."""

    problem: str = ""
    there: bool = False


# Programs that are known to open a PDF at a page, by the name of their command: what they are to be told.
_AT_PAGE: Mapping[str, tuple[str, ...]] = {
    "evince": ("--page-index={page}", "{file}"),
    "atril": ("--page-index={page}", "{file}"),
    "xreader": ("--page-index={page}", "{file}"),
    "okular": ("--page", "{page}", "{file}"),
    "zathura": ("--page={page}", "{file}"),
    "mupdf": ("{file}", "{page}"),
    "qpdfview": ("{file}#{page}",),
    "firefox": ("{url}#page={page}",),
    "firefox-esr": ("{url}#page={page}",),
    "chromium": ("{url}#page={page}",),
    "chromium-browser": ("{url}#page={page}",),
    "google-chrome": ("{url}#page={page}",),
    "google-chrome-stable": ("{url}#page={page}",),
    "brave-browser": ("{url}#page={page}",),
    "microsoft-edge": ("{url}#page={page}",),
}


def open_at(path: str, page: int | None) -> Opened:
    """Open a file with its own program, a PDF at this page where that program is known to be able to."""
    file = Path(path)
    if page is not None and file.suffix.lower() == ".pdf" and file.exists():
        command = _command_at(file, page)
        if command is not None and _started(command):
            return Opened(there=True)
    return Opened(open_file(path))


def _command_at(file: Path, page: int) -> list[str] | None:
    """The command line that opens it at the page; None where the user's own program for PDF is not known to do that."""
    program = _pdf_program()
    arguments = _AT_PAGE.get(Path(program).name) if program else None
    if not program or arguments is None:
        return None
    url = QUrl.fromLocalFile(str(file)).toString(QUrl.ComponentFormattingOption.FullyEncoded)
    return [program, *(word.format(file=file, page=page, url=url) for word in arguments)]


def _pdf_program() -> str | None:
    """The command of the program that opens PDFs, as the desktop's settings (freedesktop.org) name it."""
    ask = shutil.which("xdg-mime")
    if ask is None:
        return None
    try:
        answer = subprocess.run(
            [ask, "query", "default", "application/pdf"], capture_output=True, text=True, timeout=3, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    entry = answer.stdout.strip()
    folders = QStandardPaths.standardLocations(QStandardPaths.StandardLocation.ApplicationsLocation)
    for folder in folders if entry.endswith(".desktop") and "/" not in entry else ():
        program = _program_of(Path(folder) / entry)
        if program:
            return program
    return None


def _program_of(entry: Path) -> str | None:
    """The command of a desktop entry, where it can be found and is no wrapper of its own (env, flatpak)."""
    try:
        lines = entry.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    command = next((line[5:] for line in lines if line.startswith("Exec=")), "")
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return shutil.which(words[0]) if words else None


def reveal(path: str) -> str:
    """Show a file in its folder. "" when that was done, else why it was not."""
    file = Path(path)
    if not file.exists():
        return _gone(file)
    if sys.platform == "win32":
        done = _started(["explorer", f"/select,{file}"])
    elif sys.platform == "darwin":
        done = _started(["open", "-R", str(file)])
    else:
        done = _shown_by_file_manager(file)
    if done or QDesktopServices.openUrl(QUrl.fromLocalFile(str(file if file.is_dir() else file.parent))):
        return ""
    return f"No file manager could be found to show “{file.name}”."


def _gone(file: Path) -> str:
    return f"“{file.name}” is no longer there: {file.parent}"


def _started(command: list[str]) -> bool:
    try:
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    return True


def _shown_by_file_manager(file: Path) -> bool:
    """Ask the desktop's file manager over D-Bus, as freedesktop.org has agreed."""
    sender = shutil.which("dbus-send")
    if sender is None:
        return False
    uri = QUrl.fromLocalFile(str(file)).toString(QUrl.ComponentFormattingOption.FullyEncoded)
    try:
        answer = subprocess.run(
            [
                sender,
                "--session",
                "--print-reply",
                "--reply-timeout=1500",
                "--dest=org.freedesktop.FileManager1",
                "/org/freedesktop/FileManager1",
                "org.freedesktop.FileManager1.ShowItems",
                f"array:string:{uri.replace(',', '%2C')}",
                "string:",
            ],
            capture_output=True,
            timeout=2,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0
