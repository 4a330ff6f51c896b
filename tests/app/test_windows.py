"""Several windows: one model for all of them, and each closes by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.compose import Places, Shell, make_windows
from app.jobs.backend import real_backend
from app.jobs.sharing import SharedEncoders
from app.preferences import Preferences
from app.theme import ThemeWatch
from app.windows import Windows
from pipeline.cli import OpenRequest
from pipeline.errors import ModelError
from tests.app.shell import FakeModel, ShellMaker

Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def made() -> list[FakeModel]:
    return []


@pytest.fixture
def windows(watch: ThemeWatch, preferences: Preferences, tmp_path: Path, made: list[FakeModel]) -> Iterator[Windows]:
    def make(source: str | None) -> FakeModel:
        made.append(FakeModel())
        return made[-1]

    backend = dataclasses.replace(real_backend(), make_encoder=make)
    windows = make_windows(watch, preferences, backend=backend, places=Places(tmp_path / "sample", tmp_path / "first"))
    yield windows
    windows.close_all()


def ask(shell: Shell, text: str, wait: Wait) -> None:
    shell.session.inquiry.ask(text)
    wait(lambda: shell.session.inquiry.answer.phase == "answered" and shell.session.inquiry.answer.question == text)


def test_two_windows_share_one_model_and_close_by_themselves(
    windows: Windows, shells: ShellMaker, made: list[FakeModel], wait: Wait
) -> None:
    library = shells.library()
    first = windows.open(OpenRequest(library))
    wait(lambda: first.session.model.phase == "ready")
    ask(first, "late items", wait)

    first.window.actions_.trigger("new-window")
    second = windows.shells[1]
    wait(lambda: second.session.model.phase == "ready")
    assert second.session.shelf.library.folder == library
    ask(second, "rolled up wet", wait)
    assert len(made) == 1

    first.window.close()
    assert windows.shells == [second]
    assert not made[0].closed
    ask(second, "damaged item", wait)
    assert second.session.inquiry.answer.trace is not None

    second.window.close()
    assert windows.shells == []
    assert made[0].closed


def test_starting_the_model_again_starts_it_for_every_window(
    windows: Windows, shells: ShellMaker, made: list[FakeModel], wait: Wait
) -> None:
    library = shells.library()
    first, second = windows.open(OpenRequest(library)), windows.open(OpenRequest(library))
    wait(lambda: first.session.model.phase == second.session.model.phase == "ready")
    first.session.start_model(anew=True)
    wait(lambda: len(made) == 2 and first.session.model.phase == "ready")

    assert made[0].closed
    ask(second, "late items", wait)
    assert not made[1].closed


def test_each_window_has_its_own_question_and_settings(windows: Windows, shells: ShellMaker, wait: Wait) -> None:
    library = shells.library()
    first, second = windows.open(OpenRequest(library)), windows.open(OpenRequest(library))
    wait(lambda: first.session.model.phase == second.session.model.phase == "ready")
    first.session.inquiry.change_setting("return-n", 2)
    assert second.session.inquiry.settings.in_force["return-n"].value == 5


def test_a_closed_lease_is_of_no_more_use() -> None:
    model = FakeModel()
    shared = SharedEncoders(lambda source: model)
    one, other = shared.lease(None), shared.lease(None)
    one.close()
    one.close()  # harmless
    with pytest.raises(ModelError):
        one.encode(["x"])
    assert len(other.encode(["x"])) == 1
    other.close()
    assert model.closed
