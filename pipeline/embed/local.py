"""The model in this process, run by the fastest way that gives the reference's vectors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pipeline.embed.folder import KnownByFolder, locate
from pipeline.embed.graph_cache import GraphCache, KeptGraph, NoGraph
from pipeline.embed.port import Vectors

if TYPE_CHECKING:
    from pipeline.embed.model import SentenceTransformerEncoder

_CANNOT_IMPORT = "onnxruntime cannot be imported: {}"
_PATIENCE = 2.0  # seconds that making a graph waits for the first answer


class _Route(Protocol):
    """One way of running the model."""

    @property
    def runtime(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def token_limit(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Vectors: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...


class LocalEncoder(KnownByFolder):
    """`Encoder` over a local model folder or a hub name that is on this disk; None is the built-in model.

    The folder is found at once (raising `ModelError`), the model is loaded at first use. Nothing is downloaded.

    Where the model's graph is in the cache (`cache`, by default the user's), onnxruntime runs it and torch is never
    imported. Otherwise torch answers, and once the first answer is given the graph is made in a thread of its own and
    takes over. What has no graph, and every computer with an accelerator that torch can use, stays with torch.
    """

    def __init__(self, model: str | Path | None = None, *, cache: Path | None = None) -> None:
        super().__init__(locate(model))
        self._cache = GraphCache(self._folder.fingerprint, cache)
        self._loading = threading.Lock()
        self._running: tuple[_Route, str] | None = None
        self._answered = threading.Event()
        self._maker: threading.Thread | None = None

    @property
    def dimension(self) -> int:
        return self._loaded().dimension

    @property
    def token_limit(self) -> int:
        return self._loaded().token_limit

    @property
    def runtime(self) -> str:
        """What runs the model, for people: `onnxruntime`, `torch on cuda`, `torch: why`. Before it is loaded, what the
        cache promises."""
        if self._running is None:
            found = self._cache.find()
            return "onnxruntime" if isinstance(found, KeptGraph) else f"torch: {found or 'no graph has been made yet'}"
        route, why = self._running
        return f"{route.runtime}: {why}" if why else route.runtime

    @property
    def texts_at_once(self) -> int:
        """See `port.texts_at_once`; 0 before it is loaded."""
        return int(getattr(self._running[0], "texts_at_once", 0)) if self._running is not None else 0

    def load(self) -> None:
        """Load now instead of at first use. Raises `ModelError`."""
        self._loaded()

    def encode(self, texts: Sequence[str]) -> Vectors:
        route = self._loaded()
        if not texts:
            return np.empty((0, route.dimension), np.float32)
        vectors = route.encode(texts)
        self._answered.set()
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._loaded().count_tokens(texts) if texts else []

    def close(self) -> None:
        """Wait until a graph that is being made is done, so that the next start has it."""
        self._answered.set()
        if self._maker is not None:
            self._maker.join()

    def _loaded(self) -> _Route:
        with self._loading:
            if self._running is None:
                self._running = self._load()
            return self._running[0]

    def _load(self) -> tuple[_Route, str]:
        """The route to take, and why it is not the fast one."""
        found = self._cache.find()
        why = str(found) if isinstance(found, NoGraph) else ""
        if isinstance(found, KeptGraph):
            try:
                if (graph := _opened(found)) is not None:
                    return graph, ""
            except ImportError as error:
                why = _CANNOT_IMPORT.format(error)
        from pipeline.embed.model import SentenceTransformerEncoder

        reference = SentenceTransformerEncoder(self._folder)
        reference.load()
        if reference.device != "cpu":
            return reference, ""
        if not why:
            why = "its graph for onnxruntime is being made"
            # Ends with the process: what it leaves unfinished is cleared away by the next one.
            self._maker = threading.Thread(target=self._make, args=(reference,), name="graph maker", daemon=True)
            self._maker.start()
        return reference, why

    def _make(self, reference: SentenceTransformerEncoder) -> None:
        self._answered.wait(_PATIENCE)
        try:
            from pipeline.embed.making import make_graph

            self._running = make_graph(reference, self._cache), ""
            return
        except ImportError as error:
            why = _CANNOT_IMPORT.format(error)
        except NoGraph as reason:
            why = str(reason)
        except OSError as error:
            why = f"its graph cannot be kept: {error}"
        except MemoryError as error:
            why = f"its graph cannot be made now: {error}"
        except Exception as error:  # no failure here may cost an answer
            why = f"its graph could not be made: {type(error).__name__}: {error}"
        self._running = reference, why


def _opened(kept: KeptGraph) -> _Route | None:
    """This graph, None when it is damaged. Raises `ImportError`."""
    with ThreadPoolExecutor(1, thread_name_prefix="digest") as pool:
        sound = pool.submit(kept.is_sound)
        from pipeline.embed.graph import GraphEncoder  # takes as long as the digests

        return GraphEncoder(kept.folder, kept.facts) if sound.result() else None
