"""The model in a child process: the caller imports neither torch nor onnxruntime and never waits for them
unless it asks for a vector."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.folder import KnownByFolder, locate
from pipeline.embed.port import Vectors
from pipeline.errors import ModelError
from pipeline.frames import module_command, read_frame, start_child, write_frame

Reply = tuple[dict[str, Any], bytes]
WORKER = "pipeline.embed.worker"


class RemoteEncoder(KnownByFolder):
    """`Encoder` whose model lives in a child process. It serves several requests at once, so that a question does not
    wait for a folder that is being indexed; torch, where it has to be used, serves them one after the other.

    What it is asked of several texts steps back for questions (`steps_back`), see `worker`.

    `on_ready` is called from another thread once the model is loaded, `on_failed` with the reason when it cannot be.
    """

    steps_back = True

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        on_ready: Callable[[], None] | None = None,
        on_failed: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(locate(model))
        self._on_ready, self._on_failed = on_ready, on_failed
        self._lock = threading.Lock()  # held for moments only
        # Writing blocks while the child is busy loading and the pipe is full; closing must not wait for that.
        self._writing = threading.Lock()
        self._pending: dict[int, Future[Reply]] = {}
        self._next = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._receiver: threading.Thread | None = None
        self._description: Future[Reply] | None = None
        self._closed = False
        self._runtime, self._texts_at_once = "", 0

    @property
    def dimension(self) -> int:
        return int(self._describe()["dimension"])

    @property
    def token_limit(self) -> int:
        return int(self._describe()["token_limit"])

    @property
    def runtime(self) -> str:
        """What ran the model at the last answer (see `LocalEncoder.runtime`); "" before it is loaded. Never waits."""
        return self._runtime

    @property
    def texts_at_once(self) -> int:
        """See `port.texts_at_once`, as the model's process said last. Never waits."""
        return self._texts_at_once

    @property
    def ready(self) -> bool:
        """True once the model is loaded."""
        description = self._description
        return description is not None and description.done() and description.exception() is None

    def start(self) -> None:
        """Start the child process and the loading of the model, and return at once. Harmless when it runs already."""
        with self._lock:
            if self._closed:
                raise ModelError("the model was shut down")
            if self._child is not None and self._child.poll() is None:
                return
            child = start_child(module_command(WORKER, str(self._folder.path)))
            self._child = child
            number, self._description = self._expect_locked()
            self._receiver = threading.Thread(target=self._receive, args=(child,), name="model replies", daemon=True)
            self._receiver.start()
        self._description.add_done_callback(self._announce)
        self._send(child, number, {"do": "describe"})

    def encode(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        header, body = self._ask({"do": "encode"}, texts)
        return np.frombuffer(body, dtype="<f4").reshape(header["rows"], -1).astype(np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return list(self._ask({"do": "count"}, texts)[0]["tokens"]) if texts else []

    def close(self) -> None:
        """End the child process; whoever waits gets a `ModelError`."""
        with self._lock:
            self._closed = True
            child, self._child = self._child, None
            receiver = self._receiver
        if child is not None and receiver is not None:
            # It may be in the middle of loading, deaf to its input for seconds: there is nothing in it to save.
            child.kill()
            receiver.join()
        self._fail_all("the model was shut down")

    def _describe(self) -> dict[str, Any]:
        self.start()
        assert self._description is not None
        return self._description.result()[0]

    def _ask(self, header: dict[str, Any], texts: Sequence[str]) -> Reply:
        self.start()
        with self._lock:
            child = self._child
            if child is None:
                raise ModelError("the model was shut down")
            number, future = self._expect_locked()
        self._send(child, number, header | {"texts": len(texts)}, json.dumps(list(texts)).encode())
        return future.result()

    def _expect_locked(self) -> tuple[int, Future[Reply]]:
        self._next += 1
        future: Future[Reply] = Future()
        self._pending[self._next] = future
        return self._next, future

    def _send(self, child: subprocess.Popen[bytes], number: int, header: dict[str, Any], body: bytes = b"") -> None:
        assert child.stdin is not None
        try:
            with self._writing:
                write_frame(child.stdin, header | {"id": number}, body)
        except (OSError, ValueError):
            with self._lock:
                future = self._pending.pop(number, None)
            if future is not None:
                future.set_exception(ModelError("the model's process has ended; ask again to start it anew"))

    def _receive(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        with suppress(OSError, ValueError):
            while (frame := read_frame(child.stdout)) is not None:
                header, body = frame
                with self._lock:
                    future = self._pending.pop(header.get("id", -1), None)
                if future is None:
                    continue
                self._runtime = header.get("runtime", self._runtime)
                self._texts_at_once = int(header.get("at_once", self._texts_at_once))
                if "error" in header:
                    future.set_exception(ModelError(header["error"]))
                else:
                    future.set_result((header, body))
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if not self._closed:
            self._fail_all(f"the model's process ended unexpectedly (exit code {child.returncode})")

    def _fail_all(self, reason: str) -> None:
        with self._lock:
            waiting, self._pending = list(self._pending.values()), {}
        for future in waiting:
            with suppress(InvalidStateError):
                future.set_exception(ModelError(reason))

    def _announce(self, description: Future[Reply]) -> None:
        error = description.exception()
        if error is None and self._on_ready is not None:
            self._on_ready()
        elif error is not None and self._on_failed is not None and not self._closed:
            self._on_failed(str(error))
