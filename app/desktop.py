"""Opening and revealing files with the desktop's own programs, only ever because the user asked."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices


def open_file(path: str) -> str:
    """Open a file or folder with its own program. "" when that was done, else why it was not."""
    file = Path(path)
    if not file.exists():
        return _gone(file)
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(file))):
        return f"No program could be found to open “{file.name}”."
    return ""


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
