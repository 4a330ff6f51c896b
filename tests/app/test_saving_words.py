"""The end of a run that has to write a large library's search index says how far it is."""

from __future__ import annotations

from app.state import WorkState
from app.views.progress_bar import sentence
from pipeline.progress import Progress


def test_saving_says_how_far_it_is() -> None:
    work = WorkState("running", "Indexing", Progress("finishing", 7, 7, saved=0.42))
    assert sentence(work) == "Indexing: finishing, 42% of the search index saved"
    work = WorkState("running", "Indexing", Progress("finishing", 7, 7))
    assert sentence(work) == "Indexing: finishing"
