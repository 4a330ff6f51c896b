"""A real browser without a window, spoken to through a pipe: what a page asks for, runs and shows."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # it would not start as root; the page comes from the test
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
# The browser reads commands from file 3 and answers on file 4. Both numbers may be in use here: out of the way first.
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_PATIENCE_SECONDS = 60.0
_QUIET_SECONDS = 0.4  # after the page is loaded nothing more is asked for this long


def browser_program() -> str | None:
    """The browser of this computer, None when it has none that can be spoken to."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass(frozen=True, slots=True)
class Seen:
    """A page after it was loaded. `requests` holds every address that it asked for beside its own, `scripts` how many
    script elements it has, `text` what stands on it; `errors` what its console and its security policy said."""

    title: str
    text: str
    scripts: int
    requests: tuple[str, ...]
    errors: tuple[str, ...]


class Browser:
    """Ends with its `close`."""

    def __init__(self, program: str, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        command = (program, *_FLAGS, f"--user-data-dir={profile}", "about:blank")
        self._child = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = ours_in, ours_out
        self._held = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []

    def look(self, address: str) -> Seen:
        """Load this page in a tab of its own and wait until it asks for nothing more."""
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._call(f"{domain}.enable", session=session)
        self._events.clear()
        self._call("Page.navigate", {"url": address}, session)
        self._wait_for("Page.loadEventFired")
        quiet_from = time.monotonic()
        while time.monotonic() - quiet_from < _QUIET_SECONDS:
            if self._read(0.05):
                quiet_from = time.monotonic()
        found = {
            name: self._call("Runtime.evaluate", {"expression": expression, "returnByValue": True}, session)["result"]
            for name, expression in (
                ("title", "document.title"),
                ("text", "document.body.innerText"),
                ("scripts", "document.scripts.length"),
            )
        }
        requests = [each["params"]["request"]["url"] for each in self._of("Network.requestWillBeSent")]
        errors = [str(each["params"]["entry"]["text"]) for each in self._of("Log.entryAdded")]
        self._call("Target.closeTarget", {"targetId": target})
        return Seen(
            found["title"]["value"],
            found["text"]["value"],
            found["scripts"]["value"],
            tuple(url for url in requests if url != address),
            tuple(errors),
        )

    def close(self) -> None:
        os.close(self._out)
        self._child.terminate()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        os.close(self._in)

    def _of(self, method: str) -> list[dict[str, Any]]:
        return [event for event in self._events if event.get("method") == method]

    def _call(self, method: str, given: Mapping[str, Any] | None = None, session: str | None = None) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": dict(given or {})}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            for event in [event for event in self._events if event.get("id") == self._number]:
                self._events.remove(event)
                if "error" in event:
                    raise RuntimeError(f"{method}: {event['error']}")
                return dict(event["result"])
            self._read_before(deadline, method)

    def _wait_for(self, method: str) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._of(method):
            self._read_before(deadline, method)

    def _read_before(self, deadline: float, what: str) -> None:
        if not self._read(0.5) and (time.monotonic() > deadline or self._child.poll() is not None):
            raise RuntimeError(f"the browser did not answer: {what}")

    def _read(self, seconds: float) -> bool:
        """Take in what comes within this time; whether anything did."""
        if not select.select([self._in], [], [], seconds)[0]:
            return False
        self._held += os.read(self._in, 1 << 20)
        *whole, self._held = self._held.split(b"\0")
        self._events += [json.loads(message) for message in whole]
        return bool(whole)
