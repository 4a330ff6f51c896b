"""The exported page in a real browser: no script, no request, document text as text; whatever the documents hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.export.page import trace_page
from pipeline.query import QueryEngine
from pipeline.records import Trace
from pipeline.settings import Layer, resolve
from tests.support.browser import Browser, browser_program
from tests.support.encoder import WordEncoder
from tests.support.libraries import make_library

PROGRAM = browser_program()
pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="this computer has no Chromium: install the package chromium"),
    pytest.mark.skipif(os.name != "posix", reason="the browser is spoken to through file descriptors"),
]

NEAR = "http://127.0.0.1:9/"  # nobody listens there; a request for it is seen all the same
EVIL = (
    f"<script>document.title = 'taken over'</script><script src={NEAR}a.js></script><img src={NEAR}b.png "
    f"onerror=\"document.title='taken over'\"><link rel=stylesheet href={NEAR}c.css><iframe src={NEAR}d></iframe>"
    f"<style>@import url({NEAR}e.css); body {{ background: url({NEAR}f.png) }}</style>"
    "<svg onload=\"document.title='taken over'\">"
    f"<meta http-equiv=refresh content='0;url={NEAR}g'><base href={NEAR}><form action={NEAR}><video src={NEAR}h>"
    "</p></td></table></main></body></html>--><!-- ]]> \x00 \x1b[31m \N{RIGHT-TO-LEFT OVERRIDE}fdp.exe "
)
DOCUMENTS = {
    "policy.txt": f"late items {EVIL}",
    "copy of policy.txt": f"late items {EVIL}",
    f"<img src={NEAR.replace('/', '|')} onerror=alert(1)>.txt": "late items of another kind",
    "long.txt": "late items " + "x" * 100_000,
    "refund.txt": "Late items cost two pounds.",
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    with closing(Browser(PROGRAM, tmp_path_factory.mktemp("profile"))) as started:
        yield started


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    library = tmp_path_factory.mktemp("library")
    make_library(library, DOCUMENTS, WordEncoder())
    with closing(QueryEngine(library, WordEncoder())) as engine:
        found = engine.ask("late items", resolve([Layer({"return-n": 9, "max-total-chars": 200_000}, "flag")]))
    return replace(found, query=f"late items {EVIL}")


def page(folder: Path, content: str) -> str:
    file = folder / "answer.html"
    file.write_text(content, "utf-8")
    return file.as_uri()


def test_the_browser_sees_what_such_a_text_would_do(browser: Browser, tmp_path: Path) -> None:
    """Without this the other tests could find nothing because nothing is ever found."""
    there = EVIL.replace("http-equiv=refresh", "name=nothing")  # it would be gone before it can be looked at
    seen = browser.look(page(tmp_path, f"<!doctype html><title>as it was</title><body>{there}"))
    assert seen.title == "taken over"
    assert seen.scripts > 0
    assert {f"{NEAR}{name}" for name in ("a.js", "b.png", "c.css", "d")} <= set(seen.requests)


@pytest.mark.parametrize("with_texts", [True, False])
def test_the_page_runs_nothing_and_asks_for_nothing(
    browser: Browser, trace: Trace, tmp_path: Path, with_texts: bool
) -> None:
    seen = browser.look(page(tmp_path, trace_page(trace, with_texts=with_texts)))
    assert seen.scripts == 0
    assert seen.requests == ()
    assert seen.errors == ()  # not even something that its own policy had to stop
    assert seen.title.startswith("Twinspect: late items <script>")
    assert not {"\x00", "\x1b", "\N{RIGHT-TO-LEFT OVERRIDE}"} & set(seen.text)
    assert "‹NUL› ‹ESC›[31m ‹RLO›fdp.exe" in seen.text
    assert ("late items <script>document.title" in seen.text.split("RAW CANDIDATES")[-1]) or not with_texts
    assert ("two pounds" in seen.text) is with_texts
    assert "onerror=alert(1)>.txt" in seen.text  # the name of a file, as a name


def test_the_page_alone_needs_no_policy_to_be_harmless(browser: Browser, trace: Trace, tmp_path: Path) -> None:
    """Mail programs may take the policy out."""
    content = trace_page(trace)
    start = content.index('<meta http-equiv="Content-Security-Policy"')
    bare = content[:start] + content[content.index(">", start) + 1 :]
    seen = browser.look(page(tmp_path, bare))
    assert (seen.scripts, seen.requests, seen.errors) == (0, (), ())
    assert seen.title.startswith("Twinspect: ")
