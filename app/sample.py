"""The built-in sample: where its documents lie and the questions that go with it. Qt-free."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.records import Root

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "sample"
DOCUMENTS = FOLDER / "documents"


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question that shows one thing. `only_file` and `leave_out` are paths below the sample's documents."""

    id: str
    title: str
    text: str
    look_at: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    only_file: str | None = None
    leave_out: tuple[str, ...] = ()


def read_questions(file: Path = FOLDER / "questions.toml") -> tuple[SampleQuestion, ...]:
    """The sample's questions; none when the file is not there (a build without the sample)."""
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except OSError:
        return ()
    return tuple(
        SampleQuestion(
            entry["id"],
            entry["title"],
            entry["text"],
            entry["look_at"],
            entry.get("settings", {}),
            entry.get("only_file") or None,
            tuple(entry.get("leave_out", ())),
        )
        for entry in content.get("question", ())
    )


def sample_root(roots: tuple[Root, ...], documents: Path = DOCUMENTS) -> Root | None:
    """The root among these that is the sample's documents folder."""
    wanted = documents.resolve()
    return next((root for root in roots if Path(root.path).resolve() == wanted), None)


def doc_id_of(root: Root, path: str) -> str:
    """The doc_id of a sample document that a question names."""
    return f"{root.label}/{path}"
