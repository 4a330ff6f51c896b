"""The child process that holds the model, so that its loading and running never hold up whoever asks.

Answers frames {"do": "describe" | "encode" | "count"} with the texts as a JSON list in the body, each as soon as it
can; several texts at once are run by threads that step back for a question. Every answer tells the runtime, which
changes when a graph takes over from torch, and how many texts it would be asked at once.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from pipeline.embed.local import LocalEncoder
from pipeline.errors import ModelError
from pipeline.frames import read_frame, write_frame
from pipeline.stepping_back import step_back_thread

_BATCHES_AT_ONCE = 2  # as many as an indexing run sends, so that the model never waits for the next one
_OTHERS_AT_ONCE = 2


def serve(requests: IO[bytes], replies: IO[bytes], model: str | None) -> None:
    """Until the requests end: the parent's end is this process's end."""
    desk = _Desk(replies, model)
    # The threads in which the encoder runs a batch are started by these, and step back with them.
    batches = ThreadPoolExecutor(_BATCHES_AT_ONCE, thread_name_prefix="batch", initializer=step_back_thread)
    others = ThreadPoolExecutor(_OTHERS_AT_ONCE, thread_name_prefix="request")
    while (frame := read_frame(requests)) is not None:
        is_batch = frame[0]["do"] == "encode" and frame[0].get("texts", 1) > 1
        (batches if is_batch else others).submit(desk.answer, *frame)


class _Desk:
    """Answers requests, several at once, each with one frame."""

    def __init__(self, replies: IO[bytes], model: str | None) -> None:
        self._replies, self._model = replies, model
        self._lock = threading.Lock()
        self._encoder: LocalEncoder | None = None

    def answer(self, header: dict[str, Any], body: bytes) -> None:
        try:
            encoder = self._found()
            reply, payload = _reply(encoder, header, body)
            reply |= {"runtime": encoder.runtime, "at_once": encoder.texts_at_once}
        except ModelError as error:
            reply, payload = {"error": str(error)}, b""
        except Exception as error:
            reply, payload = {"error": f"the model failed: {type(error).__name__}: {error}"}, b""
        with self._lock:
            write_frame(self._replies, {"id": header.get("id")} | reply, payload)

    def _found(self) -> LocalEncoder:
        with self._lock:
            self._encoder = self._encoder or LocalEncoder(self._model)
            return self._encoder


def _reply(encoder: LocalEncoder, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    if header["do"] == "describe":
        return {"dimension": encoder.dimension, "token_limit": encoder.token_limit}, b""
    texts = json.loads(body)
    if header["do"] == "count":
        return {"tokens": encoder.count_tokens(texts)}, b""
    vectors = encoder.encode(texts)
    return {"rows": len(vectors)}, vectors.astype("<f4").tobytes()


def main() -> None:
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not end up among the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, replies, sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else None)
    os._exit(0)  # nobody is left to wait for what is under way: an answer, a graph that is being made


if __name__ == "__main__":
    main()
