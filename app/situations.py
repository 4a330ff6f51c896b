"""What stands in the lanes' place when there is no answer to show, and what to do about it. Qt-free."""

from __future__ import annotations

from dataclasses import replace

from app.state import AnswerState, LibraryState, ModelState, NextStep, Problem, WorkState

_ADD = NextStep("Add a folder…", "add-folder")
_SAMPLE = NextStep("See it on the sample", "open-sample")
_PAGE_LIBRARY = NextStep("Look at the documents", "page-library")
_EVERYTHING = NextStep("Search all documents again", "search-everything")
_MEANWHILE = ("page-library",)  # steps that lead nowhere from a page that shows the library itself
NO_LIBRARY = Problem(
    "No library is open",
    "Add a folder of documents, and a library is made of it; or open the sample, or a library that you have.",
    (_ADD, NextStep("Open the sample", "open-sample"), NextStep("Open library…", "open-library")),
)
SAVED_DOCUMENT = Problem(
    "The document is not here", "this is a saved run, and the documents around its passages are not saved with it."
)

SAVED_WHY = Problem(
    "This is a saved run",
    "Why something is in an answer, or is not, is found out in its library. Go back to the library, or re-run the "
    "saved trace there.",
    (NextStep("Back to the library", "close-trace"),),
)


def situation(answer: AnswerState, library: LibraryState, model: ModelState, work: WorkState) -> Problem | None:
    """What to say in the lanes' place; None when the lanes have an answer to show."""
    if answer.saved is not None and answer.trace is not None:
        return None if answer.trace.candidates else _nothing_saved()
    if library.problem is not None:
        return library.problem
    if not library.documents:
        return _no_documents(library, model, work)
    if answer.phase == "failed":
        return answer.problem
    if answer.phase == "no_question":
        return _no_question(library)
    if answer.phase in ("waiting_for_model", "waiting_for_library"):
        return _waiting(model)
    if answer.trace is None:
        return Problem("Searching…", "")
    if not answer.trace.candidates:
        return _nothing_found(answer)
    return None


def library_standing(library: LibraryState, model: ModelState, work: WorkState) -> Problem | None:
    """What every page that shows something of a library says in its place: that there is none, that it cannot be used,
    that it holds no document yet. None when there is something to show."""
    if library.phase == "none":
        return NO_LIBRARY
    if library.problem is not None:
        return library.problem
    if library.documents:
        return None
    standing = _no_documents(library, model, work)
    return replace(standing, steps=tuple(step for step in standing.steps if step.action not in _MEANWHILE))


def _no_documents(library: LibraryState, model: ModelState, work: WorkState) -> Problem:
    if work.phase == "waiting":
        if model.phase == "failed" and model.problem is not None:
            return model.problem
        return Problem(
            "The model is loading",
            "Indexing starts as soon as it is there. Type your question already: it is answered as soon as the first "
            "documents are in.",
        )
    if work.active:
        return Problem(
            "The first documents are being read",
            "Type your question already: it is answered as soon as they are in.",
        )
    if library.phase == "opening":
        return Problem("Opening the library…", "")
    if work.phase == "failed" and work.problem is not None:
        return work.problem
    if library.phase == "missing":
        return Problem(
            "A new library",
            "Add a folder of documents. It is read where it lies and never changed; the index is kept in "
            f"{library.folder}.",
            (_ADD, _SAMPLE),
        )
    if library.roots:
        return Problem(
            "No documents",
            "The folders of this library hold no file that can be read, such as text, PDF, Office files or mail.",
            (_ADD, _PAGE_LIBRARY),
        )
    return Problem("This library is empty", "Add a folder of documents to ask questions of.", (_ADD, _SAMPLE))


def _no_question(library: LibraryState) -> Problem:
    if not any(document.chunks for document in library.documents):
        return Problem(
            "None of the documents holds text",
            "Nothing can be found in them. The library page says why, file by file.",
            (_PAGE_LIBRARY, _ADD),
        )
    if library.sample:
        return Problem(
            "Choose a question, or type one of your own",
            "Each of these shows one thing about retrieval. The documents are those of an invented hire company.",
        )
    return Problem(
        "Ask something",
        "Type a question as you would put it to a colleague. You will see what a plain search recalls, which of it is "
        "the same text twice, and what an agent would read in the end.",
    )


def _waiting(model: ModelState) -> Problem:
    if model.phase == "failed" and model.problem is not None:
        return model.problem
    if model.phase == "ready":
        return Problem("Opening the library…", "")
    return Problem(
        "The model is loading", "Your question is answered as soon as it is there. This takes a few seconds."
    )


def _nothing_saved() -> Problem:
    return Problem(
        "This saved run found nothing",
        "Its search came back without a single candidate.",
        (NextStep("Back to the library", "close-trace"),),
    )


def _nothing_found(answer: AnswerState) -> Problem:
    trace = answer.trace
    assert trace is not None
    if trace.only_file is not None:
        return Problem(
            "Nothing found in this file",
            f"The search is limited to {trace.only_file}, and no text of it is indexed.",
            (_EVERYTHING, _PAGE_LIBRARY),
        )
    return Problem("Nothing found", "The library holds no text yet.", (_ADD, _PAGE_LIBRARY))
