"""Extraction of each kind of file beside the barest way to have its text: megabytes of extracted text a second.

The bare side unpacks and parses with the standard library and joins what it finds, without order, pages, styles or
limits.
"""

from __future__ import annotations

import csv
import email
import email.policy
import gzip
import io
import json
import time
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Sequence
from functools import partial

from pipeline.extract.records import Source
from pipeline.extract.registry import Registry
from tests.bench.corpus import paragraph
from tests.bench.figures import Row, alternating
from tests.support import office

Bare = Callable[[bytes], object]


def kinds(*, paragraphs: int, runs: int) -> list[Row]:
    """One file of each kind with the same paragraphs."""
    import random

    chance = random.Random(7)
    texts = [paragraph(chance, 400) for _ in range(paragraphs)]
    registry, rows = Registry(), []
    for name, data, bare, against in _samples(texts):
        _, extracted = registry.extract(Source(name, data))
        size = len(extracted.text.encode()) / 1e6
        if texts[-1][:60] not in " ".join(extracted.text.split()):
            raise AssertionError(f"{name}: the last paragraph was not read")
        ours, theirs = alternating(
            runs, _speed(size, partial(_extract, registry, name), data), _speed(size, bare, data)
        )
        what = f"extracting {name.partition('.')[2].upper()}"
        rows.append(Row("kinds", what, ours, "MB/s", theirs, against))
    return rows


def _samples(texts: Sequence[str]) -> list[tuple[str, bytes, Bare, str]]:
    joined = "\n\n".join(texts)
    table = [[str(number), text] for number, text in enumerate(texts)]
    rows = io.StringIO()
    csv.writer(rows).writerows(table)
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": [text]} for text in texts],
    }
    mail = email.message.EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Report", "a@example.org", "b@example.org"
    mail.set_content(joined)
    xml = "".join(f"<p>{text}</p>" for text in texts)
    zipped = "zipfile and ElementTree"
    slides = [office.shape(texts[start : start + 10]) for start in range(0, len(texts), 10)]
    return [
        ("a.docx", office.docx("".join(office.w_p(text) for text in texts)), _zip_texts, zipped),
        ("a.pptx", office.pptx(slides), _zip_texts, zipped),
        ("a.xlsx", office.xlsx({"Sheet": office.x_rows(table)}), _zip_texts, zipped),
        ("a.odt", office.odf("text", "".join(office.odf_p(text) for text in texts)), _zip_texts, zipped),
        ("a.epub", office.epub({"one.xhtml": office.page(texts)}), _zip_texts, zipped),
        ("a.rtf", office.rtf("".join(office.rtf_p(text) for text in texts)), bytes.decode, "bytes.decode"),
        ("a.csv", rows.getvalue().encode(), _csv, "csv"),
        ("a.json", json.dumps([{"text": text} for text in texts]).encode(), json.loads, "json"),
        ("a.ipynb", json.dumps(notebook).encode(), json.loads, "json"),
        ("a.xml", f"<?xml version='1.0'?><doc>{xml}</doc>".encode(), ElementTree.fromstring, "ElementTree"),
        ("a.eml", mail.as_bytes(), _mail, "email"),
        ("a.txt.gz", gzip.compress(joined.encode()), _gz, "gzip and bytes.decode"),
    ]


def _extract(registry: Registry, name: str, data: bytes) -> object:
    return registry.extract(Source(name, data))


def _speed(size: float, work: Bare, data: bytes) -> Callable[[int], float]:
    def run(_: int) -> float:
        began = time.perf_counter()
        work(data)
        return size / (time.perf_counter() - began)

    return run


def _zip_texts(data: bytes) -> object:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [name for name in archive.namelist() if name.endswith((".xml", ".xhtml"))]
        return ["".join(ElementTree.fromstring(archive.read(name)).itertext()) for name in parts]


def _csv(data: bytes) -> object:
    return list(csv.reader(io.StringIO(data.decode())))


def _mail(data: bytes) -> object:
    return email.message_from_bytes(data, policy=email.policy.default).get_content()  # type: ignore[attr-defined]


def _gz(data: bytes) -> object:
    return gzip.decompress(data).decode()
