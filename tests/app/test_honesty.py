"""What a person must not be left to believe: that all was read, that files are as indexed, that a question was read."""

from __future__ import annotations

from collections.abc import Callable

from app.compose import Shell
from app.models.rows import Role
from pipeline.store.schema import open_for_writing
from pipeline.store.writer import CatalogWriter
from tests.app.shell import ShellMaker

Wait = Callable[[Callable[[], object]], None]


def opened(shells: ShellMaker, wait: Wait, *, unfinished: int = 0) -> Shell:
    folder = shells.library()
    if unfinished:
        db = open_for_writing(folder)
        writer = CatalogWriter(db)
        with writer.change():
            writer.set_unfinished(unfinished)
        db.close()
    shell = shells.shell()
    shell.session.open_library(folder)
    shell.session.start_model()
    wait(lambda: shell.session.shelf.library.phase == "open" and shell.session.model.phase == "ready")
    return shell


def ask(shell: Shell, question: str, wait: Wait) -> None:
    shell.session.inquiry.ask(question)
    wait(lambda: shell.session.inquiry.answer.phase == "answered")


def test_a_library_whose_indexing_did_not_end_says_so_and_offers_to_go_on(shells: ShellMaker, wait: Wait) -> None:
    shell = opened(shells, wait, unfinished=4_000)
    wait(lambda: shell.session.shelf.library.notice is not None)
    notice = shell.session.shelf.library.notice
    assert notice is not None
    assert "files were not read" in notice.text
    assert [step.action for step in notice.steps] == ["reindex"]
    assert not shell.window.notice.isHidden()


def test_a_library_that_is_complete_has_no_notice(shells: ShellMaker, wait: Wait) -> None:
    assert opened(shells, wait).session.shelf.library.notice is None


def test_cited_files_that_are_gone_say_so_in_the_evidence(shells: ShellMaker, wait: Wait) -> None:
    shell = opened(shells, wait)
    ask(shell, "late items damaged", wait)
    trace = shell.session.inquiry.answer.trace
    assert trace is not None
    assert {traced.freshness for traced in trace.candidates} == {"missing"}  # the library was made without its files
    model = shell.window.inspector.lanes._evidence
    rows = [model.index(row, 0) for row in range(model.rowCount())]
    places = [index.data(Role.PLACE) for index in rows if index.data(Role.KIND) == "file"]
    assert places
    assert all(place.startswith("missing") for place in places)


def test_a_question_that_the_model_did_not_read_to_its_end_says_so(shells: ShellMaker, wait: Wait) -> None:
    shell = opened(shells, wait)
    ask(shell, "damaged " * 900, wait)
    assert "read only 256 of the question's 902 tokens" in shell.window.status._timing.text()
    shell.session.inquiry.ask("damaged")
    wait(lambda: "read only" not in shell.window.status._timing.text())
