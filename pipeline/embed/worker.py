"""The child process that holds the model, so that its loading and running never hold up whoever asks.

Answers frames in order: {"do": "describe" | "encode" | "count"} with the texts as a JSON list in the body.
"""

from __future__ import annotations

import json
import os
import sys
from typing import IO, Any

from pipeline.embed.model import SentenceTransformerEncoder
from pipeline.errors import ModelError
from pipeline.frames import read_frame, write_frame


def serve(requests: IO[bytes], replies: IO[bytes], model: str | None) -> None:
    """Until the requests end: the parent's end is this process's end."""
    encoder: SentenceTransformerEncoder | None = None
    while (frame := read_frame(requests)) is not None:
        header, body = frame
        try:
            encoder = encoder or SentenceTransformerEncoder(model)
            reply, payload = _reply(encoder, header, body)
        except ModelError as error:
            reply, payload = {"error": str(error)}, b""
        except Exception as error:
            reply, payload = {"error": f"the model failed: {type(error).__name__}: {error}"}, b""
        write_frame(replies, {"id": header.get("id")} | reply, payload)


def _reply(encoder: SentenceTransformerEncoder, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
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


if __name__ == "__main__":
    main()
