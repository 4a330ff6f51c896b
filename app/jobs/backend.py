"""What the jobs call in the pipeline, as one record of functions, so that tests can lay others in.

Every import of the pipeline's heavy parts stands inside a function: it happens in a worker's thread, after the first
paint.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pipeline.embed.port import Encoder
    from pipeline.extract.records import PagePicture, PageWanted
    from pipeline.progress import CancelToken, ProgressListener
    from pipeline.records import Trace
    from pipeline.settings import Settings


class StartableEncoder(Protocol):
    """An encoder that lives somewhere else and has to be started. `start` may return before the model is loaded;
    `name` and the other facts wait for it and raise `ModelError` when it cannot be loaded."""

    def start(self) -> None: ...

    def close(self) -> None: ...


class Engine(Protocol):
    """`pipeline.query.QueryEngine`, as far as the window uses it."""

    def ask(
        self,
        text: str,
        settings: Settings,
        *,
        left_out: Collection[str] = (),
        preferred: Collection[str] = (),
        only_document: str | None = None,
    ) -> Trace: ...

    def close(self) -> None: ...


class Reader(Protocol):
    """`pipeline.library.LibraryReader`, as far as the window uses it."""

    passages: Any  # pipeline.store.passages.Passages

    def status(self) -> Any: ...

    def document_text(self, doc_id: str) -> Any: ...

    def close(self) -> None: ...


class Pictures(Protocol):
    """`pipeline.extract.page_pictures.PagePictures`, as far as the window uses it."""

    def draw(self, wanted: PageWanted) -> PagePicture: ...

    def close(self) -> None: ...

    def leave(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Thoroughness:
    """How an indexing run looks at files: `full` reads every one again, `retry_failed` those that failed before.
    `only` narrows it to these files and folders below the library's roots. `exclude` and `gitignore` are the rules of
    the folders named from now on; None leaves either as it is."""

    full: bool = False
    retry_failed: bool = False
    only: tuple[Path, ...] = ()
    exclude: tuple[str, ...] | None = None
    gitignore: bool | None = None


@dataclass(frozen=True, slots=True)
class Backend:
    """The pipeline's use cases. `model_source` names the model that a library was made with, None for the one that
    comes with the program; `make_encoder` takes that name."""

    model_source: Callable[[Path], str | None]
    make_encoder: Callable[[str | None], Any]
    open_reader: Callable[[Path], Reader]
    open_engine: Callable[[Path, Any], Engine]
    index: Callable[[Path, Sequence[Path], Thoroughness, Any, ProgressListener, CancelToken], Any]
    forget: Callable[[Path, str], None]
    exists: Callable[[Path], bool]
    page_pictures: Callable[[], Pictures]
    prepare: Callable[[], None] = lambda: None  # import what the first question needs


def real_backend() -> Backend:
    """The pipeline itself."""

    def model_source(folder: Path) -> str | None:
        from pipeline.library import model_source

        return model_source(folder)

    def make_encoder(source: str | None) -> Any:
        from pipeline.embed.remote import RemoteEncoder

        return RemoteEncoder(source)

    def open_reader(folder: Path) -> Reader:
        from pipeline.library import LibraryReader

        return LibraryReader(folder)

    def open_engine(folder: Path, encoder: Encoder) -> Engine:
        from pipeline.query import QueryEngine

        return QueryEngine(folder, encoder)

    def index(
        library: Path,
        add: Sequence[Path],
        how: Thoroughness,
        encoder: Encoder,
        progress: ProgressListener,
        cancel: CancelToken,
    ) -> Any:
        from pipeline.index import index_library

        return index_library(
            library,
            add,
            encoder=encoder,
            only=how.only,
            exclude=how.exclude,
            gitignore=how.gitignore,
            full=how.full,
            retry_failed=how.retry_failed,
            progress=progress,
            cancel=cancel,
        )

    def forget(library: Path, folder: str) -> None:
        from pipeline.index import forget_root

        forget_root(library, folder)

    def exists(folder: Path) -> bool:
        # The pipeline's own answer costs the import of its store; the window asks this before its first paint.
        return (folder / "library.sqlite3").is_file()

    def page_pictures() -> Pictures:
        from pipeline.extract.page_pictures import PagePictures

        return PagePictures()

    def prepare() -> None:
        import pipeline.query  # noqa: F401  # for its import alone, which the first question need not wait for

    return Backend(model_source, make_encoder, open_reader, open_engine, index, forget, exists, page_pictures, prepare)
