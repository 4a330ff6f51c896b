"""The real model as the product has it and as the plain pipeline has it."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

if TYPE_CHECKING:
    from pipeline.embed.port import Encoder


def settle() -> None:
    """No network; and one cache for all processes, also for those that are given another home. Before any import of
    the model's libraries."""
    os.environ.setdefault("TWINSPECT_CACHE", str(user_cache_path("twinspect", appauthor=False)))
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class Models:
    """The real model, loaded once for the product and once for the plain pipeline."""

    @cached_property
    def encoder(self) -> Encoder:
        """As the command line has it; with its graph made, where it runs one."""
        try:
            from pipeline.embed.local import LocalEncoder
        except ImportError:
            from pipeline.embed.model import SentenceTransformerEncoder

            return SentenceTransformerEncoder()
        encoder = LocalEncoder()
        encoder.encode(["Which depot keeps the records?"])
        encoder.close()
        return encoder

    @cached_property
    def plain(self) -> Any:
        from transformers.utils import logging

        from tests.bench.plain import load_model

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # the library has no types here
        return load_model()
