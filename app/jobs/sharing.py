"""One model's process for all windows: each window holds a lease, and the last one to give it back ends the process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from pipeline.errors import ModelError


class SharedEncoders:
    """Makes encoders and lends them. `lease` stands in for the backend's `make_encoder`."""

    def __init__(self, make: Callable[[str | None], Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._held: dict[str | None, Any] = {}
        self._leases: dict[str | None, int] = {}

    def lease(self, source: str | None) -> Lease:
        """This model, made now if no window has it."""
        with self._lock:
            if source not in self._held:
                self._held[source] = self._make(source)
            self._leases[source] = self._leases.get(source, 0) + 1
        return Lease(self, source)

    def current(self, source: str | None) -> Any:
        """The encoder behind the leases of this model."""
        with self._lock:
            return self._held[source]

    def renew(self, source: str | None) -> None:
        """Another process in place of this one, for every window."""
        fresh = self._make(source)
        with self._lock:
            old, self._held[source] = self._held[source], fresh
        old.close()

    def give_back(self, source: str | None) -> None:
        """One lease less."""
        with self._lock:
            self._leases[source] -= 1
            last = self._held.pop(source) if not self._leases[source] else None
        if last is not None:
            last.close()


class Lease:
    """An encoder of one window. Closing it leaves the other windows theirs."""

    def __init__(self, shared: SharedEncoders, source: str | None) -> None:
        self._shared, self._of = shared, source
        self._lock = threading.Lock()
        self._closed = False

    def __getattr__(self, name: str) -> Any:
        # The facts and the work of the encoder, whichever process it is by now.
        return getattr(self._encoder(), name)

    def encode(self, texts: Sequence[str]) -> Any:
        return self._encoder().encode(texts)

    def start(self) -> None:
        self._encoder().start()

    def renew(self) -> None:
        """End the process and begin another one."""
        self._encoder()
        self._shared.renew(self._of)

    def close(self) -> None:
        with self._lock:
            closed, self._closed = self._closed, True
        if not closed:
            self._shared.give_back(self._of)

    def _encoder(self) -> Any:
        if self._closed:
            raise ModelError("the model was shut down")
        return self._shared.current(self._of)
