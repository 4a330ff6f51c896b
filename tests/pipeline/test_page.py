"""The HTML page: whole, escaped, without a script or a request, whatever the documents hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from pipeline.export.page import trace_page
from tests.support.folders import Folder, document, passage

EVIL = (
    "refund <script>alert(1)</script> <img src=x onerror=alert(2)> <b>bold</b> &amp; \x00 \x1b[31m "
    "\N{RIGHT-TO-LEFT OVERRIDE}evil </p></article> javascript:alert(3) "
)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    text = document(passage("refund within days"))
    made.write({"a.md": text, "copy of a.md": text, "<b>evil</b> & co.md": EVIL * 4, "long.txt": "x" * 100_000})
    made.index()
    return made


def test_the_page_shows_what_the_trace_says(folder: Folder) -> None:
    trace = folder.ask("refund within days", return_n=9)
    page = LexborHTMLParser(trace_page(trace))
    assert page.css_first("h1").text() == "refund within days"
    assert len(page.css("table tr")) == len(trace.candidates)
    sections = page.css("main > section")
    assert len(sections[1].css("article")) == len(trace.evidence)
    assert len(sections[2].css("article")) == len(trace.projected)
    cited = [item.text().split(" characters")[0].strip() for item in sections[1].css("article")[0].css("li")]
    assert cited == list(trace.evidence[0].source_paths)
    assert "identical to 1, which cites it" in page.css_first("table").text()


def test_documents_stay_text_and_nothing_is_fetched(folder: Folder) -> None:
    content = trace_page(folder.ask("refund evil alert bold", return_n=9))
    page = LexborHTMLParser(content)
    assert not page.css("script, img, link, iframe, object, embed, form, a, base, video, audio, svg")
    assert not [node for node in page.css("*") if any(name.startswith("on") for name in node.attributes)]
    assert "url(" not in content
    assert "@import" not in content
    assert "<script>alert(1)</script>" in page.body.text()
    assert not {"\x00", "\x1b", "\N{RIGHT-TO-LEFT OVERRIDE}"} & set(content)
    assert len(content) < 200_000


def test_a_page_without_texts_holds_none_of_them(folder: Folder) -> None:
    trace = folder.ask("refund within days")
    assert "near the" in trace_page(trace)
    assert "near the" not in trace_page(trace, with_texts=False)
