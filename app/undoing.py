"""Undo and redo of what the user changed about the question: settings, and which documents it is asked of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QUndoCommand, QUndoStack

from app.inquiry import Inquiry, Stand
from app.state import Scope
from pipeline.words.phrases import count, file_name
from pipeline.words.sentences import setting_title, setting_value

MOST = 100


class Undoing(QObject):
    """Listens to the inquiry: whatever way a change came (strip, page, menu, remedy), it can be taken back."""

    changed = Signal()  # what can be taken back or done again

    def __init__(self, inquiry: Inquiry, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._inquiry = inquiry
        self.stack = QUndoStack(self)
        self.stack.setUndoLimit(MOST)
        # Through a slot of our own: a stack that is being deleted clears itself, and tells.
        self.stack.undoTextChanged.connect(self._tell)
        self.stack.redoTextChanged.connect(self._tell)
        inquiry.user_changed.connect(self._note)
        inquiry.started_anew.connect(self.stack.clear)

    @Slot()
    def _tell(self) -> None:
        self.changed.emit()

    def _note(self, before: Stand, after: Stand) -> None:
        self.stack.push(_Change(self._inquiry, before, after))


class _Change(QUndoCommand):
    """One change. Steps of one setting that follow each other (a spin box held down) are one change."""

    def __init__(self, inquiry: Inquiry, before: Stand, after: Stand) -> None:
        super().__init__()
        self._inquiry, self.before, self.after = inquiry, before, after
        self._made = False  # pushing it redoes it, and the change is made already
        self.setText(change_words(before, after))

    def id(self) -> int:
        keys = changed_keys(self.before.changes, self.after.changes)
        return hash(keys[0]) % 2_000_000_000 if len(keys) == 1 and self.before.scope == self.after.scope else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Change) or other.before != self.after:
            return False
        self.after = other.after
        self.setText(change_words(self.before, self.after))
        self.setObsolete(self.before == self.after)
        return True

    def redo(self) -> None:
        if self._made:
            self._inquiry.restore(self.after)
        self._made = True

    def undo(self) -> None:
        self._inquiry.restore(self.before)


@dataclass(frozen=True, slots=True)
class _Marks:
    """One kind of mark on documents, in words."""

    on: str
    off: str


_LEFT_OUT = _Marks("leave out {}", "take {} back in")
_PREFERRED = _Marks("cite {} first", "do not prefer {} any more")


def changed_keys(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """The settings in which two sets of changes differ."""
    return sorted(key for key in {*before, *after} if before.get(key) != after.get(key))


def change_words(before: Stand, after: Stand) -> str:
    """What was done, as it follows "Undo": "cap per file: 3 blocks a file"."""
    said: list[str] = []
    keys = changed_keys(before.changes, after.changes)
    if len(keys) > 2:
        said.append(f"{count(len(keys), 'setting')}")
    else:
        said += [_setting_words(key, after.changes.get(key)) for key in keys]
    said += _scope_words(before.scope, after.scope)
    return ", ".join(said)


def _setting_words(key: str, value: object) -> str:
    title = setting_title(key)
    title = title[0].lower() + title[1:]
    return f"{title}: {setting_value(key, value)}" if value is not None else f"{title} as before"


def _scope_words(before: Scope, after: Scope) -> list[str]:
    said = []
    if before.only_file != after.only_file:
        said.append(f"search only {file_name(after.only_file)}" if after.only_file else "search all files")
    for held, now, words in (
        (before.left_out, after.left_out, _LEFT_OUT),
        (before.preferred, after.preferred, _PREFERRED),
    ):
        said += _mark_words(words.on, [doc_id for doc_id in now if doc_id not in held])
        said += _mark_words(words.off, [doc_id for doc_id in held if doc_id not in now])
    return said


def _mark_words(words: str, doc_ids: list[str]) -> list[str]:
    if not doc_ids:
        return []
    return [words.format(file_name(doc_ids[0]) if len(doc_ids) == 1 else count(len(doc_ids), "file"))]
