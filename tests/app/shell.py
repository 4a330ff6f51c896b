"""A whole window for tests: the real pipeline, a small encoder, answers instead of dialogs."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.compose import Places, Shell, compose
from app.jobs.backend import Backend, real_backend
from app.preferences import Preferences
from app.sample import SampleQuestion
from app.theme import ThemeWatch
from pipeline.errors import ModelError
from tests.support.encoder import WordEncoder
from tests.support.libraries import make_library

POLICY = (
    "A damaged item goes back to the desk with its red tag.\n\n"
    "Late items cost two pounds a day, and the desk takes cards."
)
GUIDE = "Dry the raft before you roll it up.\n\nA raft that is rolled up wet smells for a year."
DOCUMENTS = {
    "policy.txt": POLICY,
    "copy of policy.txt": POLICY,
    "old/policy.txt": POLICY,
    "guide.txt": GUIDE,
    "near.txt": "Late items cost three pounds a day, and the desk takes cards.",
}


class FakeModel(WordEncoder):
    """The small encoder with the remote one's way of living: it starts, it may fail, it can be held up, it ends."""

    def __init__(self, name: str = "words") -> None:
        super().__init__(name=name)
        self.loaded = threading.Event()
        self.loaded.set()
        self.fails = ""
        self.asked = threading.Event()  # something was encoded or is about to be
        self.let_encode = threading.Event()
        self.let_encode.set()
        self.closed = False
        self._limit = self.token_limit

    @property
    def token_limit(self) -> int:
        """Waits for the loading, as the remote encoder's facts do."""
        if not self.loaded.wait(20) or self.fails or self.closed:
            raise ModelError(self.fails or "the model was shut down")
        return self._limit

    @token_limit.setter
    def token_limit(self, value: int) -> None:
        self._limit = value

    def __setattr__(self, name: str, value: Any) -> None:
        # WordEncoder's constructor sets the limit before there is anything to wait for.
        object.__setattr__(self, "_limit" if name == "token_limit" else name, value)

    def start(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True
        self.loaded.set()
        self.let_encode.set()

    def encode(self, texts: Any) -> Any:
        self.asked.set()
        if not self.let_encode.wait(20) or self.closed:
            raise ModelError("the model was shut down")
        return super().encode(texts)


class Answers:
    """Stands in for the dialogs: what the user would choose."""

    def __init__(self) -> None:
        self.chosen_folder: Path | None = None
        self.chosen_file: Path | None = None
        self.confirms = True
        self.asked: list[str] = []
        self.named = ""  # the name that was offered last for a file

    def folder(self, title: str, start: Path | None = None) -> Path | None:
        self.asked.append(title)
        return self.chosen_folder

    def open_file(self, title: str, kinds: str) -> Path | None:
        self.asked.append(title)
        return self.chosen_file

    def save_to(self, title: str, name: str, kinds: str) -> Path | None:
        self.asked.append(title)
        self.named = name
        return self.chosen_file

    def confirm(self, title: str, text: str, yes: str) -> bool:
        self.asked.append(title)
        return self.confirms

    def about(self, model: str, library: str) -> None:
        self.asked.append(f"about {model} {library}")

    def shortcuts(self, actions: object) -> None:
        self.asked.append("shortcuts")


class ShellMaker:
    """Makes windows over one set of preferences."""

    def __init__(self, watch: ThemeWatch, preferences: Preferences, folder: Path) -> None:
        self.watch, self.preferences, self.folder = watch, preferences, folder
        self.model = FakeModel()
        self.answers = Answers()
        self.made: list[Shell] = []

    def library(self, documents: Mapping[str, str] = DOCUMENTS, name: str = "library") -> Path:
        """A real library of these documents, made without reading files."""
        folder = self.folder / name
        make_library(folder, documents, WordEncoder(), label="docs")
        return folder

    def documents(self, documents: Mapping[str, str] = DOCUMENTS, name: str = "docs") -> Path:
        """A folder with these files."""
        folder = self.folder / name
        for path, text in documents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        return folder

    def shell(self, questions: tuple[SampleQuestion, ...] = (), **backend: Any) -> Shell:
        """A window, shown; `backend` replaces functions of the pipeline."""
        functions: Backend = dataclasses.replace(
            real_backend(), **({"make_encoder": lambda source: self.model} | backend)
        )
        made = compose(
            self.watch,
            self.preferences,
            backend=functions,
            places=Places(self.folder / "sample", self.folder / "first"),
            questions=questions,
            dialogs=lambda window: self.answers,  # type: ignore[arg-type,return-value]
        )
        self.made.append(made)
        made.window.resize(1024, 700)
        made.window.show()
        return made

    def close(self) -> None:
        for shell in self.made:
            shell.window.close()
            shell.window.deleteLater()
