"""The context menu of a lane's row: what can be done with its file, its text, its fate."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.focus import FocusTarget
from app.icons import icon
from app.models.rows import Role
from app.theme import Theme
from pipeline.records import Trace
from pipeline.words.sentences import remedy_label

_ASKED_ABOUT = ("candidate", "block", "file", "item", "over", "fallen")  # the kinds of rows that stand for a passage


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides how the entries read: the search's scope, and the copies that the user prefers."""

    trace: Trace
    preferred: Collection[str] = ()


class LaneMenu(QMenu):
    """Says what was picked; does nothing itself."""

    picked = Signal(str, object)  # what, and its argument

    def __init__(
        self, index: QModelIndex, circumstances: Circumstances, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        path, doc_id = index.data(Role.PATH), index.data(Role.DOC_ID)
        kind = index.data(Role.KIND)
        if path:
            self._add("Open", "open", "open", path).setShortcut(QKeySequence(Qt.Key.Key_Return))
            self._add("Show in its folder", "reveal", "reveal", path)
            if doc_id and index.data(Role.KEY):
                self._add("Show in its document", "document", "document", index.data(Role.TARGET))
            if index.data(Role.FRESHNESS):
                self._add("Re-index this file’s changes", "refresh", "reindex", path)
            self.addSeparator()
            self._add("Copy path", "copy", "copy", path)
        copied = "Copy as JSON" if kind == "item" else "Copy as text"
        if kind != "file":  # a file's text is its path
            self._add(copied, "copy", "copy", index.data(Role.COPY)).setShortcut(
                QKeySequence(QKeySequence.StandardKey.Copy)
            )
        if kind == "item":
            self._add(
                "Show less" if index.data(Role.LAST) else "Show all that the agent reads",
                "expand",
                "unfold",
                index.row(),
            )
        if doc_id:
            self._add_scope(doc_id, circumstances)
        remedy, target = index.data(Role.REMEDY), index.data(Role.TARGET)
        asks = isinstance(target, FocusTarget) and kind in _ASKED_ABOUT
        if asks or remedy is not None:
            self.addSeparator()
        if asks:
            kept = kind in ("block", "file", "item") or bool(index.data(Role.KEPT))
            self._add("How did it come in?" if kept else "Why is it not there?", "info", "why", target)
        if remedy is not None:
            self._add(remedy_label(remedy), "settings", "remedy", remedy)

    def _add_scope(self, doc_id: str, circumstances: Circumstances) -> None:
        """Which documents the search uses, and whose copy is cited first."""
        trace = circumstances.trace
        self.addSeparator()
        if doc_id in trace.left_out and doc_id not in trace.left_out_decided:
            self._add("Take back into searches", "check", "take-back", doc_id)
        elif doc_id not in trace.left_out:  # what a decision leaves out is taken back with its family
            self._add("Leave out of searches", "left-out", "leave-out", doc_id)
        if trace.only_file == doc_id:
            self._add("Search all files again", "search", "only-file", "")
        else:
            self._add("Search only this file", "only-this-file", "only-file", doc_id)
        if doc_id in circumstances.preferred:
            self._add("Do not prefer this copy any more", "pin", "unprefer", doc_id)
        else:
            self._add("Cite this copy first", "pin", "prefer", doc_id)
        self._add("Show its family in Duplicates", "duplicates", "family", doc_id)

    def _add(self, words: str, picture: str, what: str, argument: object) -> QAction:
        action = self.addAction(icon(picture, self._theme), words)
        action.setObjectName(what)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # shown here, handled by the list
        action.triggered.connect(lambda: self.picked.emit(what, argument))
        return action
