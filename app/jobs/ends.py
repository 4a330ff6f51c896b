"""How a job ends: done with a value, failed with an error, or cancelled; exactly one of them."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pipeline.errors import Cancelled, TwinspectError

T = TypeVar("T")
log = logging.getLogger("twinspect")


@dataclass(frozen=True, slots=True)
class End(Generic[T]):
    """`value` is there when done, `error` when failed; `details` is the error's traceback where it was unexpected."""

    how: Literal["done", "failed", "cancelled"]
    value: T | None = None
    error: BaseException | None = None
    details: str = ""


def cancelled() -> End[T]:
    return End("cancelled")


def run_to_end(doing: str, work: Callable[[], T]) -> End[T]:
    """Do the work in this thread and say how it ended. Never raises; the unexpected is logged with its traceback."""
    try:
        return End("done", work())
    except Cancelled:
        return End("cancelled")
    except TwinspectError as error:
        return End("failed", error=error)
    except BaseException as error:  # a worker thread must live on, whatever a document or a library throws at it
        log.exception("unexpected failure while %s", doing)
        return End("failed", error=error, details=traceback.format_exc())
