"""One text in every format, and one sample of every kind, for tests."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from email.message import EmailMessage
from html import escape

from reportlab import rl_config

from tests.support.office import (
    docx,
    epub,
    odf,
    odf_p,
    odf_xml,
    page,
    pptx,
    rtf,
    rtf_p,
    shape,
    w_p,
    w_r,
    w_table,
    x_rows,
    xlsx,
)
from tests.support.pdfs import typeset

_PROSE = (
    "travel expenses are paid back after the head of the department has signed the form and the receipts stand in "
    "order of date until the quarter ends whoever drives a car of their own may not claim more than one night in a "
    "hotel unless finance agrees to it in writing before"
)


def paragraphs(count: int, seed: int = 7) -> list[str]:
    """Prose of 2 to 7 sentences each; every tenth is a heading."""
    rng = random.Random(seed)
    words = _PROSE.split()

    def sentence() -> str:
        return " ".join(rng.choice(words) for _ in range(rng.randint(8, 22))).capitalize() + "."

    return [
        f"Section {n // 10 + 1} of the travel rules"
        if n % 10 == 0
        else " ".join(sentence() for _ in range(rng.randint(2, 7)))
        for n in range(count)
    ]


def _is_heading(text: str) -> bool:
    return not text.endswith(".")


def _typeset(texts: Sequence[str]) -> bytes:
    before, rl_config.invariant = rl_config.invariant, 1  # no time of day in it
    try:
        return typeset(texts)
    finally:
        rl_config.invariant = before


def renderings(texts: Sequence[str]) -> dict[str, bytes]:
    """The same paragraphs and headings in each format that holds running text, by suffix."""
    html = "".join(f"<h1>{escape(t)}</h1>\n" if _is_heading(t) else f"<p>{escape(t)}</p>\n" for t in texts)
    word = "".join(
        w_p(t, '<w:outlineLvl w:val="0"/>') if _is_heading(t) else w_p(w_r(t[:40]) + w_r(t[40:], "<w:b/>"))
        for t in texts
    )
    open_document = "".join(odf_p(t).replace("text:p", "text:h") if _is_heading(t) else odf_p(t) for t in texts)
    third = len(texts) // 3
    chapters = {f"c{n}.xhtml": page(texts[n * third : (n + 1) * third or None]) for n in range(3)}
    cells = [{"cell_type": "markdown", "source": f"# {t}" if _is_heading(t) else t} for t in texts]
    mail = EmailMessage()
    mail["Subject"] = "The rules"
    mail.set_content("\n\n".join(texts))
    return {
        ".txt": "\n\n".join(texts).encode(),
        ".md": "\n\n".join(f"# {t}" if _is_heading(t) else t for t in texts).encode(),
        ".html": f"<!doctype html><title>T</title><body>{html}".encode(),
        ".pdf": _typeset([f"# {t}" if _is_heading(t) else t for t in texts]),
        ".docx": docx(word),
        ".odt": odf("text", open_document),
        ".fodt": odf_xml("text", open_document).encode(),
        ".rtf": rtf("".join(map(rtf_p, texts))),
        ".epub": epub(chapters),
        ".ipynb": json.dumps({"cells": cells}).encode(),
        ".eml": mail.as_bytes(),
        ".xml": f"<doc>{''.join(f'<para>{escape(t)}</para>' for t in texts)}</doc>".encode(),
        ".json": json.dumps([{"text": t} for t in texts]).encode(),
        ".txt.gz": gzip.compress("\n\n".join(texts).encode(), mtime=0),
    }


def samples() -> dict[str, bytes]:
    """One file of each kind, by name, with the things in it that are easy to get wrong."""
    texts = paragraphs(12)
    prose = "".join(map(w_p, texts))
    related = {"n": ("footnotes", "footnotes.xml"), "h": ("header", "header1.xml")}
    parts = {
        "footnotes.xml": f'<w:footnotes><w:footnote w:id="1">{w_p("A note.")}</w:footnote></w:footnotes>',
        "header1.xml": f"<w:hdr>{w_p('Rules of the house')}</w:hdr>",
    }
    table = w_table([["Place", "Limit"], ["Bern", "120"]])
    rows = x_rows([[f"name {n}", str(n), texts[n % 12][:30]] for n in range(60)])
    odf_rows = "".join(
        f"<table:table-row><table:table-cell>{odf_p(f'name {n}')}</table:table-cell></table:table-row>"
        for n in range(40)
    )
    odf_slide = f"<draw:page><draw:frame><draw:text-box>{odf_p('Title')}</draw:text-box></draw:frame></draw:page>"
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Réunion", "Ann <a@example.org>"
    mail.set_content("\n\n".join(texts[:4]))
    mail.add_alternative("<p>" + "<p>".join(texts[:4]), subtype="html")
    mail.add_attachment(b"data", maintype="application", subtype="pdf", filename="a.pdf")
    for number, part in enumerate(part for part in mail.walk() if part.is_multipart()):
        part.set_boundary(f"boundary{number}")  # else it is another one every time
    code = "def total(rows: list[int]) -> int:\n    # adds them up\n    return sum(rows)\n\n\n" * 20
    records = [{"id": n, "tags": ["a", "b"], "text": text, "at": {"x": n}} for n, text in enumerate(texts)]
    one = {f"sample{suffix}": data for suffix, data in renderings(texts).items()}
    return one | {
        "rich.docx": docx(prose + table + '<w:sectPr><w:headerReference r:id="h"/></w:sectPr>', related, parts),
        "deck.pptx": pptx([shape([t], "title") + shape(texts[1:4], "") for t in texts[:6]], {1: "Say hello."}),
        "book.xlsx": xlsx({"Rates": rows, "More": rows}, strings=texts, formats=["yyyy-mm-dd"]),
        "sheets.ods": odf("spreadsheet", f'<table:table table:name="S">{odf_rows}</table:table>' * 2),
        "deck.odp": odf("presentation", odf_slide * 4),
        "table.csv": "".join(f"{n},name {n},{texts[n % 12][:30]}\n" for n in range(80)).encode(),
        "lines.jsonl": "".join(json.dumps(record) + "\n" for record in records).encode(),
        "code.py": code.encode(),
        "notes.rst": ("Title\n=====\n\n" + "\n\n".join(texts[1:])).encode(),
        "mail.eml": mail.as_bytes(),
        "latin.txt": "\n\n".join(texts).replace("e", "é").encode("cp1252"),
        "wide.txt": "\n\n".join(texts).encode("utf-16"),
    }
