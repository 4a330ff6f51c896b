"""Files on their way to another program: addresses of files, to be copied or opened there, never moved."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, QUrl

URI_LIST = "text/uri-list"


def files_mime(paths: Sequence[str]) -> QMimeData:
    """What another program is handed: the files, and their paths for programs that take text."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    data.setText("\n".join(paths))
    return data
