"""What is carried away of an answer: files of it with and without texts, pictures, and the question as a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QImage, QPixmap

from app.features.ground import Ground
from app.state import AnswerState
from pipeline.errors import TwinspectError
from pipeline.records import Trace

_NEEDS_AN_ANSWER = (
    "export-trace", "export-trace-bare", "export-page", "export-page-bare", "save-lanes", "copy-command", "copy-python",
)  # fmt: skip


class Carrying(QObject):
    """Exports and copies of the answer on the screen."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground.window)
        self._ground = ground
        actions = ground.window.actions_
        for with_texts, ending in ((True, ""), (False, "-bare")):
            actions.on(f"export-trace{ending}", partial(self._export_trace, with_texts))
            actions.on(f"export-page{ending}", partial(self._export_page, with_texts))
        actions.on("save-picture", self._save_window)
        actions.on("save-lanes", self._save_lanes)
        actions.on("copy-command", self._copy_command)
        actions.on("copy-python", self._copy_python)
        ground.session.inquiry.answer_changed.connect(self._fit)
        self._fit(ground.session.inquiry.answer)

    def _fit(self, answer: AnswerState) -> None:
        for name in _NEEDS_AN_ANSWER:
            self._ground.window.actions_[name].setEnabled(answer.trace is not None)

    @property
    def _trace(self) -> Trace | None:
        return self._ground.session.inquiry.answer.trace

    # --- files --------------------------------------------------------------------------------------------------

    def _export_trace(self, with_texts: bool) -> None:
        trace, title = self._trace, "Export the trace" if with_texts else "Export the trace without texts"
        file = (
            self._ground.dialogs.save_to(title, _named("trace", with_texts, "json"), "JSON (*.json)") if trace else None
        )
        if trace is None or file is None:
            return
        from pipeline.export.trace_file import write_trace  # once, when it is asked for

        named = file if file.suffix else file.with_suffix(".json")
        self.save(named, lambda: write_trace(named, trace, with_texts=with_texts))

    def _export_page(self, with_texts: bool) -> None:
        trace = self._trace
        title = "Export the answer as a page" if with_texts else "Export the answer as a page without texts"
        file = (
            self._ground.dialogs.save_to(title, _named("answer", with_texts, "html"), "HTML (*.html)")
            if trace
            else None
        )
        if trace is None or file is None:
            return
        from pipeline.export.page import trace_page  # once, when it is asked for

        named = file if file.suffix else file.with_suffix(".html")
        self.save(named, lambda: named.write_text(trace_page(trace, with_texts=with_texts), "utf-8"))

    def _save_window(self) -> None:
        picture = self._ground.window.grab()  # before a dialog stands in front of it
        self._save_picture(picture, "Save a picture of this window", "twinspect.png")

    def _save_lanes(self) -> None:
        trace = self._trace
        if trace is None:
            return
        from app.views.lanes_picture import lanes_picture  # once, when it is asked for

        inspector = self._ground.window.inspector
        picture = lanes_picture(trace, inspector.lanes.theme, inspector.lanes.width())
        self._save_picture(picture, "Save the lanes as a picture", "lanes.png")

    def _save_picture(self, picture: QPixmap | QImage, title: str, name: str) -> None:
        file = self._ground.dialogs.save_to(title, name, "PNG (*.png)")
        if file is not None:
            named = file if file.suffix else file.with_suffix(".png")
            self.save(named, lambda: _saved(picture.save(str(named), "PNG")))

    def save(self, file: Path, write: Callable[[], object]) -> None:
        """Write the file, and say that it is there or why it is not. No document of the library is written over."""
        from pipeline.export.saving import lie_in_none  # once, when it is asked for

        say = self._ground.window.status.say
        try:
            lie_in_none((root.path for root in self._ground.session.shelf.library.roots), file)
            write()
        except OSError as error:
            say(f"“{file.name}” could not be written: {error.strerror or error}")
        except TwinspectError as error:
            say(str(error))
        else:
            say(f"Saved {file}")

    # --- the clipboard ------------------------------------------------------------------------------------------

    def _copy_command(self) -> None:
        trace, library = self._trace, self._ground.session.shelf.library.folder
        if trace is not None and library is not None:
            from pipeline.export.again import command_of  # once, when it is asked for

            self._ground.commands.to_clipboard(command_of(trace, library), "the command that asks this")

    def _copy_python(self) -> None:
        trace, library = self._trace, self._ground.session.shelf.library.folder
        if trace is not None and library is not None:
            from pipeline.export.again import python_of  # once, when it is asked for

            self._ground.commands.to_clipboard(python_of(trace, library), "Python that asks this")


def _saved(done: bool) -> None:
    if not done:
        raise OSError("the picture could not be written there")


def _named(name: str, with_texts: bool, suffix: str) -> str:
    """The name that is offered: an export without texts must not be taken for a full one, nor written over it."""
    return f"{name}.{suffix}" if with_texts else f"{name} without texts.{suffix}"
