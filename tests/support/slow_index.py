"""An indexing run to be killed: `python -m tests.support.slow_index LIBRARY FOLDER DELAY`, with the small encoder, that
takes DELAY seconds a text. Says "begun" and "done" on standard output."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.embed.port import Vectors
from pipeline.index import index_library
from tests.support.encoder import WordEncoder


class SlowEncoder(WordEncoder):
    """As slow as a model, so that a run has a middle."""

    def __init__(self, delay: float) -> None:
        super().__init__(64)
        self._delay = delay

    def encode(self, texts: Sequence[str]) -> Vectors:
        time.sleep(self._delay * len(texts))
        return super().encode(texts)


if __name__ == "__main__":
    library, folder, delay = sys.argv[1:]
    print("begun", flush=True)
    index_library(Path(library), [Path(folder)], encoder=SlowEncoder(float(delay)))
    print("done", flush=True)
