"""Use case: a library whose database is damaged is kept aside, and made anew from its folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline import roots
from pipeline.embed.port import Encoder
from pipeline.errors import LibraryError
from pipeline.index import IndexReport, index_library
from pipeline.progress import CancelToken, ProgressListener
from pipeline.records import Root
from pipeline.store import recovery
from pipeline.store.lock import writer_lock
from pipeline.store.schema import errors_in_words, open_for_writing
from pipeline.store.writer import CatalogWriter


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """Where the old database lies now, which of its folders are indexed again, and what that did."""

    aside: Path
    folders: tuple[str, ...]
    report: IndexReport


@dataclass(frozen=True, slots=True)
class Anew:
    """A library that was made anew, still without documents: where the old database lies now, and its folders."""

    aside: Path
    folders: tuple[str, ...]
    model_source: str | None


def folders_of(library: Path) -> tuple[str, ...]:
    """The library's folders as far as its database still tells them, damaged or not."""
    return tuple(root.path for root in recovery.saved_of(library).roots)


def begin_anew(library: Path, folders: Sequence[Path] = ()) -> Anew:
    """Keep the library's database aside, and put an empty one with the same folders, labels and rules in its place.

    The folders are read from the damaged file; `folders` adds to them, or stands for them where nothing can be read.
    Raises `RootError` for a folder that cannot be used and `LibraryError` when none is known (then nothing has
    changed), `LibraryLocked` while somebody writes.
    """
    given = [roots.checked_folder(folder) for folder in folders]
    with writer_lock(library):
        saved = recovery.saved_of(library)
        wanted = list(saved.roots)
        for folder in given:
            known = [Root(0, root.label, root.path) for root in wanted]
            if roots.match(folder, known) is None:
                roots.refuse_overlap(folder, known)
                label = roots.unique_label(folder, {root.label for root in wanted})
                wanted.append(recovery.SavedRoot(label, str(folder)))
        if not wanted:
            raise LibraryError(
                f"the damaged library in {library} does not tell its folders any more: name them, and nothing else is "
                "needed"
            )
        aside = recovery.set_aside(library)
        db = open_for_writing(library)
        try:
            with errors_in_words(library):
                writer = CatalogWriter(db)
                with writer.change():
                    writer.name_model(saved.model_source)
                    for root in wanted:
                        root_id = writer.add_root(root.label, root.path)
                        writer.set_exclude(root_id, root.exclude)
                        writer.set_gitignore(root_id, root.gitignore)
        finally:
            db.close()
    return Anew(aside, tuple(root.path for root in wanted), saved.model_source)


def rebuild_library(
    library: Path,
    folders: Sequence[Path] = (),
    *,
    make_encoder: Callable[[str | None], Encoder],
    progress: ProgressListener | None = None,
    cancel: CancelToken | None = None,
) -> RebuildReport:
    """`begin_anew`, and index the folders into the new database.

    `make_encoder` gets the name of the model that the library was made with, None for the built-in one or when that
    cannot be read. Raises what `begin_anew` and `index_library` raise.
    """
    anew = begin_anew(library, folders)
    report = index_library(library, encoder=make_encoder(anew.model_source), progress=progress, cancel=cancel)
    return RebuildReport(anew.aside, anew.folders, report)
