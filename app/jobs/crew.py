"""All jobs of one window, and their orderly end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.jobs.backend import Backend, Engine, Pictures, Thoroughness
from app.jobs.doorway import Doorway
from app.jobs.ends import End, run_to_end
from app.jobs.sharing import Lease
from app.jobs.watching import Watching
from app.jobs.worker import LatestWins
from app.jobs.writing import Writing
from pipeline.errors import LibraryError, ModelError
from pipeline.progress import CancelToken, Progress

if TYPE_CHECKING:
    from pipeline.extract.records import PagePicture, PageWanted
    from pipeline.records import Trace
    from pipeline.settings import Settings

Ended = Callable[[End[Any]], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one library."""

    library: Path
    text: str
    settings: Settings
    left_out: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    only_document: str | None = None


@dataclass(frozen=True, slots=True)
class ReadText:
    """The text of one document of one library."""

    library: Path
    doc_id: str


@dataclass(frozen=True, slots=True)
class LoadModel:
    """The model that this library was made with; `anew` replaces one that is running already."""

    library: Path | None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of the model once it is loaded."""

    name: str
    fingerprint: str
    dimension: int
    token_limit: int


class Crew:
    """The threads behind one window: questions, documents' texts and pages, the library's status, the one writer, the
    model.

    All `ended` functions are called in the thread that made the crew.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._doorway = Doorway()
        self._encoder: Any = None
        self._source: str | None = None  # of the encoder
        self._encoder_lock = threading.Lock()
        self._closed = False
        self._engine: tuple[Path, Any, Engine] | None = None
        self._questions: LatestWins[Ask, Trace] = LatestWins(
            "answering a question", self._doorway, self._answer, self._drop_engine
        )
        self._texts: LatestWins[ReadText, Any] = LatestWins("reading a document", self._doorway, self._read_text)
        self._artist: Pictures | None = None
        self._pages: LatestWins[PageWanted, PagePicture] = LatestWins(
            "drawing a page", self._doorway, self._draw_page, self._leave_artist
        )
        self._statuses: LatestWins[Path, Any] = LatestWins("reading the library", self._doorway, self._read_status)
        self._starts: LatestWins[LoadModel, ModelFacts] = LatestWins(
            "loading the model", self._doorway, self._load_model
        )
        self._writing = Writing(self._doorway)
        self.watching = Watching(self._doorway)
        self._list_token = CancelToken()  # of the list of questions under way
        self._lanes: dict[str, LatestWins[Callable[[], Any], Any]] = {}
        self._study: tuple[Path, Any, Engine] | None = None
        self._studies: LatestWins[tuple[Path, Callable[[Engine], Any]], Any] = LatestWins(
            "looking into an answer", self._doorway, self._look_into, self._drop_study
        )

    # --- reading ------------------------------------------------------------------------------------------------

    def ask(self, request: Ask, ended: Ended) -> None:
        """Answer the question; one that still waits ends as cancelled."""
        self._questions.submit(request, ended)

    def read_text(self, request: ReadText, ended: Ended) -> None:
        """Read a document's text; a request that still waits ends as cancelled."""
        self._texts.submit(request, ended)

    def draw_page(self, wanted: PageWanted, ended: Ended) -> None:
        """Draw a page of a PDF; a request that still waits ends as cancelled."""
        self._pages.submit(wanted, ended)

    def read_status(self, library: Path, ended: Ended) -> None:
        """Read what the library holds; a request that still waits ends as cancelled."""
        self._statuses.submit(library, ended)

    def look(self, lane: str, work: Callable[[], Any], ended: Ended) -> None:
        """Do this reading work in the thread of this lane; what still waits there ends as cancelled. `lane` is what
        is being done, in words ("scanning for duplicates")."""
        if lane not in self._lanes:
            self._lanes[lane] = LatestWins(lane, self._doorway, lambda work: work())
        self._lanes[lane].submit(work, ended)

    def study(self, library: Path, work: Callable[[Engine], Any], ended: Ended) -> None:
        """Do this with a query engine of its own, beside the questions; what still waits ends as cancelled."""
        self._studies.submit((library, work), ended)

    def ask_list(self, library: Path, work: Callable[[Engine, CancelToken], Any], ended: Ended) -> CancelToken:
        """Do this long work with a query engine made for it, beside the questions; the token stops it."""
        token = self._list_token = CancelToken()

        def ask() -> Any:
            with closing(self.backend.open_engine(library, self._ready_encoder())) as engine:
                return work(engine, token)

        self.look("asking a list of questions", ask, ended)
        return token

    # --- the model ----------------------------------------------------------------------------------------------

    def load_model(self, request: LoadModel, ended: Ended) -> None:
        """Start the model in its own process and wait, in a thread, until it is loaded."""
        self._starts.submit(request, ended)

    # --- writing ------------------------------------------------------------------------------------------------

    @property
    def writing(self) -> bool:
        """Whether something is being written to a library."""
        return self._writing.running

    @property
    def progress(self) -> Progress:
        """Where the writing is."""
        return self._writing.progress

    def index(self, library: Path, folders: tuple[Path, ...], how: Thoroughness, ended: Ended) -> bool:
        """Bring these folders up to date, new ones added, or all if none is named; False while other writing is
        under way."""

        def work(listen: Callable[[Progress], None], token: Any) -> Any:
            return self.backend.index(library, folders, how, self._ready_encoder(), listen, token)

        return self._writing.start("indexing", work, ended)

    def forget(self, library: Path, folder: str, ended: Ended) -> bool:
        """Take a root out of the library; False while other writing is under way."""
        return self._writing.start(
            "forgetting a folder", lambda listen, token: self.backend.forget(library, folder), ended
        )

    def write(self, doing: str, work: Callable[[Callable[[Progress], None], CancelToken], Any], ended: Ended) -> bool:
        """Do this writing work, with progress and a cancel; False while other writing is under way."""
        return self._writing.start(doing, work, ended)

    def cancel_writing(self) -> None:
        self._writing.cancel()

    # --- the end ------------------------------------------------------------------------------------------------

    def close(self, seconds: float = 2.0) -> bool:
        """Cancel everything, end the model's process, wait for the threads; False when one outlived `seconds`."""
        self._closed = True
        self._doorway.close()
        self._writing.cancel()
        self.watching.stop()
        self._list_token.cancel()
        workers = (
            self._questions, self._texts, self._pages, self._statuses, self._starts, self._studies,
            *self._lanes.values(),
        )  # fmt: skip
        for worker in workers:
            worker.close()
        if self._artist is not None:
            self._artist.close()  # a page under way is not waited for
        # A question or a batch under way waits for the model's process: ending that process frees its thread.
        with self._encoder_lock:
            encoder, self._encoder = self._encoder, None
        if encoder is not None:
            run_to_end("ending the model's process", encoder.close)
        deadline = time.monotonic() + seconds
        ended = [job.join(max(0.0, deadline - time.monotonic())) for job in (*workers, self._writing, self.watching)]
        return all(ended)

    # --- in the worker threads ----------------------------------------------------------------------------------

    def _ready_encoder(self) -> Any:
        with self._encoder_lock:
            encoder = self._encoder
        if encoder is None:
            raise ModelError("the model is not loaded")
        return encoder

    def _load_model(self, request: LoadModel) -> ModelFacts:
        source = self._source_for(request.library)
        with self._encoder_lock:
            running = self._encoder if source == self._source else None
            if request.anew and not isinstance(running, Lease):
                running = None
            old = None if running is not None else self._encoder
            self._encoder = running
        if old is not None:
            old.close()
        if running is not None and request.anew:
            running.renew()
            running.start()
        encoder = running if running is not None else self._start_encoder(source)
        self.backend.prepare()  # while the model loads
        # The facts are known when the model is loaded: reading them waits for it.
        return ModelFacts(encoder.name, encoder.fingerprint, encoder.dimension, encoder.token_limit)

    def _source_for(self, library: Path | None) -> str | None:
        if library is None:
            return None
        try:
            return self.backend.model_source(library)
        except LibraryError:
            return None  # whoever opens it says what is wrong with it

    def _start_encoder(self, source: str | None) -> Any:
        encoder = self.backend.make_encoder(source)
        with self._encoder_lock:
            if self._closed:
                raise ModelError("the window was closed")
            self._encoder, self._source = encoder, source
        encoder.start()
        return encoder

    def _answer(self, request: Ask) -> Trace:
        encoder = self._ready_encoder()
        if self._engine is not None and self._engine[:2] != (request.library, encoder):
            self._drop_engine()
        if self._engine is None:
            self._engine = (request.library, encoder, self.backend.open_engine(request.library, encoder))
        return self._engine[2].ask(
            request.text,
            request.settings,
            left_out=request.left_out,
            preferred=request.preferred,
            only_document=request.only_document,
        )

    def _drop_engine(self) -> None:
        held, self._engine = self._engine, None
        if held is not None:
            held[2].close()

    def _look_into(self, request: tuple[Path, Callable[[Engine], Any]]) -> Any:
        library, work = request
        encoder = self._ready_encoder()
        if self._study is not None and self._study[:2] != (library, encoder):
            self._drop_study()
        if self._study is None:
            self._study = (library, encoder, self.backend.open_engine(library, encoder))
        return work(self._study[2])

    def _drop_study(self) -> None:
        held, self._study = self._study, None
        if held is not None:
            held[2].close()

    def _read_text(self, request: ReadText) -> Any:
        with closing(self.backend.open_reader(request.library)) as reader:
            return reader.document_text(request.doc_id)

    def _draw_page(self, wanted: PageWanted) -> PagePicture:
        if self._artist is None:
            self._artist = self.backend.page_pictures()
        return self._artist.draw(wanted)

    def _leave_artist(self) -> None:
        if self._artist is not None:
            self._artist.leave()

    def _read_status(self, library: Path) -> Any:
        with closing(self.backend.open_reader(library)) as reader:
            return reader.status()
