"""Use case: folders -> library. Brings a library up to date with its folders, embedding only texts that are new."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pipeline import roots
from pipeline.duplicates.deciding import see_files
from pipeline.embed.port import Encoder
from pipeline.errors import DecisionsError, LibraryError, ModelMismatch, RootError
from pipeline.ignoring import own_rules
from pipeline.index_run import How, Run
from pipeline.index_settings import IndexSettings, index_settings, library_layers
from pipeline.library import save_vectors
from pipeline.progress import CancelToken, ProgressListener, ProgressTeller
from pipeline.records import Root
from pipeline.store.catalog import Catalog
from pipeline.store.lock import writer_lock
from pipeline.store.schema import database_file, errors_in_words, open_for_writing
from pipeline.store.worklist import Worklist
from pipeline.store.writer import CatalogWriter

_MOST_PLACES = 100  # of one root brought up to date one by one; for more of them the whole root is looked at


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run did. `documents`, `chunks`, `texts` count the whole library afterwards; every file looked at is in
    one of added, changed, moved, unchanged, failed, unknown_kind; `embedded` counts texts that got a vector, `check`
    says whether files were compared by size, times and inode ("quick") or by their content ("full")."""

    documents: int
    added: int
    changed: int
    moved: int
    removed: int
    unchanged: int
    failed: int
    chunks: int
    texts: int
    embedded: int
    seconds: float
    unknown_kind: int = 0
    excluded: int = 0  # in the whole library; an excluded folder counts once
    check: str = "quick"
    wrote: bool = False  # whether the library is another than before


def index_library(
    library: Path,
    add: Sequence[Path] = (),
    *,
    encoder: Encoder,
    only: Sequence[Path] = (),
    exclude: Sequence[str] | None = None,
    gitignore: bool | None = None,
    full: bool = False,
    retry_failed: bool = False,
    settings: IndexSettings | None = None,
    progress: ProgressListener | None = None,
    cancel: CancelToken | None = None,
) -> IndexReport:
    """Bring these folders up to date, adding those that are new; without any, all folders of the library. `only` names
    files and folders below them, there or not, to be brought up to date by themselves.

    `exclude` replaces these folders' exclude patterns (gitignore style), and `gitignore` says whether their
    `.gitignore` files count; None leaves either as it is. `full` reads every file again instead of trusting size,
    times and inode. `retry_failed` reads files again that failed unchanged. `settings` are the library's own unless
    given.

    Raises `RootError` (a folder missing or unreadable: nothing of it is changed, the others are brought up to date
    first), `SettingError`, `LibraryLocked`, `LibraryDamaged`, `ModelMismatch`, `ModelError`, `Cancelled` (what was
    committed stays).
    """
    began = time.perf_counter()
    cancel = cancel or CancelToken()
    own_rules(exclude or ())
    folders = [roots.checked_folder(folder) for folder in add]
    settings = settings or index_settings(library_layers(library))
    if not add and not database_file(library).is_file():
        raise LibraryError(f"there is no library in {library}: name a folder to index")
    with _writing(library) as (catalog, writer, worklist):
        if _other_model(catalog, encoder):
            writer.drop_spares()
        chosen = _added(catalog, writer, folders)
        within = {} if not only else _within(only, catalog.roots())
        chosen += [root for root in catalog.roots() if root.id in within and root not in chosen]
        if not folders and not only:
            chosen = catalog.roots()
        chosen = _with_rules(catalog, writer, chosen, exclude, gitignore)
        how = How(full, retry_failed, {key: held for key, held in within.items() if len(held) <= _MOST_PLACES})
        teller = ProgressTeller(progress, began)
        run = Run(library, catalog, writer, worklist, encoder, teller, cancel, settings, how)
        run.all(chosen)
        facts, counts = catalog.facts(), run.counts
        with suppress(DecisionsError, LibraryError):  # a question tells of decisions that cannot be used
            see_files(library)
        return IndexReport(
            documents=facts.documents,
            added=counts["added"],
            changed=counts["changed"],
            moved=counts["moved"],
            removed=counts["removed"],
            unchanged=counts["unchanged"],
            failed=counts["failed"],
            chunks=facts.chunks,
            texts=facts.texts,
            embedded=teller.progress.embedded,
            seconds=round(time.perf_counter() - began, 3),
            unknown_kind=counts["unknown_kind"],
            excluded=sum(row.entries for row in catalog.passed_over() if row.what == "excluded"),
            check="full" if full else "quick",
            wrote=run.wrote,
        )


def forget_root(library: Path, folder: Path | str) -> Root:
    """Take a folder (by path or label) out of the library; its files are not touched. Raises `RootError`."""
    if not database_file(library).is_file():
        raise LibraryError(f"there is no library in {library}")
    settings = index_settings(library_layers(library))
    with _writing(library) as (catalog, writer, _):
        root = roots.match(folder, catalog.roots())
        if root is None:
            known = ", ".join(root.path for root in catalog.roots()) or "none"
            raise RootError(f"{folder} is not in the library; its folders: {known}")
        with writer.change():
            writer.remove_root(root.id)
            writer.remove_unheld_texts(
                keep=settings.spare_vectors, keep_days=settings.spare_days, all_texts=writer.unfinished()
            )
        save_vectors(library, catalog)
        return root


@contextmanager
def _writing(library: Path) -> Iterator[tuple[Catalog, CatalogWriter, Worklist]]:
    """The library's catalog while nobody else writes; failures of its database come in words."""
    with writer_lock(library):
        db = open_for_writing(library)
        try:
            with errors_in_words(library):
                yield Catalog(db, library), CatalogWriter(db), Worklist(db)
        finally:
            db.close()


def _other_model(catalog: Catalog, encoder: Encoder) -> bool:
    """Whether the library's vectors were of another model. Raises `ModelMismatch` while it holds any."""
    state = catalog.state()
    other = bool(state.fingerprint) and state.fingerprint != encoder.fingerprint
    if other and catalog.facts().texts:
        raise ModelMismatch(
            f"this library was made with the model {state.model}, not with {encoder.name}: choose that model, or "
            "index the folders into a new library"
        )
    return other


def _added(catalog: Catalog, writer: CatalogWriter, folders: Sequence[Path]) -> list[Root]:
    """The roots that these folders are, new ones added."""
    chosen: list[Root] = []
    for folder in folders:
        known = catalog.roots()
        root = roots.match(folder, known)
        if root is None:
            roots.refuse_overlap(folder, known)
            label = roots.unique_label(folder, {other.label for other in known})
            with writer.change():
                root = Root(writer.add_root(label, str(folder)), label, str(folder))
        if root not in chosen:
            chosen.append(root)
    return chosen


def _with_rules(
    catalog: Catalog,
    writer: CatalogWriter,
    chosen: Sequence[Root],
    exclude: Sequence[str] | None,
    gitignore: bool | None,
) -> list[Root]:
    """These roots with the rules that hold from now on."""
    for root in chosen:
        if exclude is not None and tuple(exclude) != root.exclude:
            writer.set_exclude(root.id, exclude)
        if gitignore is not None and gitignore != root.gitignore:
            writer.set_gitignore(root.id, gitignore)
    ids = {root.id: root for root in catalog.roots()}
    return [ids[root.id] for root in chosen]


def _within(places: Sequence[Path], known: Sequence[Root]) -> Mapping[int, list[str]]:
    """These files and folders as paths below their roots, by root. Raises `RootError` for one that lies in none."""
    found: dict[int, list[str]] = {}
    for place in places:
        inside = roots.holding(place, known)
        root = inside[0] if inside is not None else roots.match(place, known)
        if root is None:
            raise RootError(f"{place} lies in no folder of the library")
        rel = inside[1] if inside is not None else ""
        held = found.setdefault(root.id, [])
        if rel not in held:
            held.append(rel)
    for root_id, held in found.items():
        # What lies in another place that is named is looked at with it.
        found[root_id] = sorted(rel for rel in held if not any(rel != other and _holds(other, rel) for other in held))
    return found


def _holds(outer: str, inner: str) -> bool:
    return not outer or inner.startswith(f"{outer}/")
