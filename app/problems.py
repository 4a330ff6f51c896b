"""Failures as people read them: what is so, what to do next, and the button that does it. Qt-free."""

from __future__ import annotations

from app.state import NextStep, Problem
from pipeline import errors

_OTHER_LIBRARY = NextStep("Open another library…", "open-library")
_TRY_AGAIN = NextStep("Try again", "retry")
_ADD_FOLDER = NextStep("Add a folder…", "add-folder")
_SAMPLE = NextStep("See it on the sample", "open-sample")


def problem_of(error: BaseException | None, details: str = "") -> Problem:
    """The problem that this failure is for the user."""
    said = str(error) if error is not None else ""
    match error:
        case errors.LibraryLocked():
            return Problem(
                "This library is being written to",
                f"{said[:1].upper()}{said[1:]}. You can read and ask meanwhile.",
                (_TRY_AGAIN,),
            )
        case errors.LibraryTooNew():
            return Problem("This library was made by a newer Twinspect", said, (_OTHER_LIBRARY, _SAMPLE))
        case errors.LibraryDamaged():
            return Problem(
                "This library cannot be read",
                f"{said[:1].upper()}{said[1:]}. Your documents are untouched.",
                (
                    NextStep("Keep it aside and rebuild…", "rebuild-library"),
                    _OTHER_LIBRARY,
                    NextStep("Show its folder", "reveal-library"),
                ),
            )
        case errors.ModelMismatch():
            return Problem(
                "This library was made with another model",
                said,
                (_OTHER_LIBRARY, NextStep("Settings", "page-settings")),
            )
        case errors.LibraryError():
            return Problem("The library cannot be opened", said, (_TRY_AGAIN, _OTHER_LIBRARY))
        case errors.ModelError():
            return Problem("The model does not answer", said, (NextStep("Start the model again", "restart-model"),))
        case errors.RootError():
            return Problem("This folder cannot be used", said, (_ADD_FOLDER,))
        case errors.QueryError():
            return Problem("This question cannot be asked", said, (NextStep("Change the question", "focus-query"),))
        case errors.SettingError():
            return Problem("This setting is not possible", said, (NextStep("Settings", "page-settings"),))
        case errors.TwinspectError():
            return Problem("This did not work", said, (_TRY_AGAIN,))
    name = type(error).__name__ if error is not None else "failure"
    return Problem(
        "Something unexpected went wrong",
        f"{name}: {said}" if said else name,
        (NextStep("Copy the details", "copy-details"), _TRY_AGAIN),
        details or f"{name}: {said}",
    )
