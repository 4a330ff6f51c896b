"""What a file is, whatever it is called; and files that are sealed, old, damaged or made to hurt."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest

from pipeline.extract import package
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.reader import Reader
from pipeline.extract.records import Extracted, ReadDocument, Source
from pipeline.extract.registry import Registry
from tests.support.office import docx, epub, odf, odf_p, page, pptx, rtf, shape, w_p, x_rows, xlsx, zipped
from tests.support.pdfs import drawn
from tests.support.renderings import samples

DOCX, PDF, RTF = docx(w_p("words")), drawn([["words"]]), rtf("words")
XLSX, PPTX = xlsx({"S": x_rows([["words"]])}), pptx([shape(["words"])])
ODT, EPUB = odf("text", odf_p("words")), epub({"a.xhtml": page(["words"])})
HTML = b"<!DOCTYPE html><html><body><p>words</p></body></html>"
MAIL = b"Received: by x\nMessage-ID: <1@x>\nSubject: Hi\n\nwords\n"


def read(data: bytes, name: str) -> Extracted:
    return Registry().extract(Source(name, data))[1]


def reason(data: bytes, name: str) -> str:
    with pytest.raises(ExtractionFailed) as caught:
        read(data, name)
    return caught.value.reason


@pytest.mark.parametrize(
    ("name", "data", "kind", "said"),
    [
        ("a.txt", DOCX, "docx", "DOCX"), ("a.pdf", DOCX, "docx", "DOCX"), ("a.xlsx", DOCX, "docx", "DOCX"),
        ("a.docx", PDF, "pdf", "PDF"), ("a.txt", PDF, "pdf", "PDF"), ("a.doc", HTML, "html", "a web page"),
        ("a.docx", XLSX, "xlsx", "XLSX"), ("a.odt", PPTX, "pptx", "PPTX"), ("a.docx", ODT, "odt", "ODT"),
        ("a.pdf", b"just words", "text", "plain text"), ("a.docx", b"just words", "text", "plain text"),
        ("a.pdf", HTML, "html", "a web page"), ("a.xls", HTML, "html", "a web page"), ("a.doc", RTF, "rtf", "RTF"),
        ("a.xls", b"a\tb\n1\t2\n", "text", "plain text"), ("a.doc", DOCX, "docx", "DOCX"), ("a.md", RTF, "rtf", "RTF"),
        ("a.doc", MAIL, "email", "a mail"), ("a.rtf", b"words", "text", "plain text"),
        ("a.epub", HTML, "html", "a web page"),
        ("a.docx", b"<?xml version='1.0'?><a>words</a>", "xml", "XML"), ("a.csv", XLSX, "xlsx", "XLSX"),
        ("a.xml", HTML, "html", "a web page"),
    ],
)  # fmt: skip
def test_a_wrong_suffix_is_seen_and_told(name: str, data: bytes, kind: str, said: str) -> None:
    extracted = read(data, name)
    assert extracted.kind == kind
    assert "words" in extracted.text or kind == "text"
    assert extracted.warnings == (f"named {name[1:]}, but read as {said}",)
    Registry().extractor_for(name, data[:65_536])  # its beginning alone is not refused


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("report", DOCX, "docx"), ("report.bak", DOCX, "docx"), ("book.zip", EPUB, "epub"), ("x.tmp", RTF, "rtf"),
        ("mail", MAIL, "email"), ("1234.cur", MAIL, "email"),
        ("setup.plist", b"<?xml version='1.0'?><a>words</a>", "xml"),
        ("letter", b"Subject: none\n\nwords", "text"), ("a.odt", DOCX, "docx"), ("a.DOCM", DOCX, "docx"),
    ],
)  # fmt: skip
def test_a_suffix_that_says_nothing_leaves_it_to_the_content(name: str, data: bytes, kind: str) -> None:
    assert read(data, name).kind == kind


def test_text_formats_may_hold_any_text() -> None:
    for data in (HTML, MAIL, b"%!PS", b'{"a": 1}', b"about %PDF- files", b"PK is a mark"):
        extracted = read(data, "a.txt")
        assert (extracted.kind, extracted.text, extracted.warnings) == ("text", data.decode(), ())


@pytest.mark.parametrize("name", sorted(samples()))
def test_samples_are_read_and_each_empty_one_says_so(name: str, tmp_path: object) -> None:
    path = f"{tmp_path}/{name}"
    for data in (samples()[name], b""):
        with open(path, "wb") as file:
            file.write(data)
        found = Reader().read(path, name)
        assert isinstance(found, ReadDocument), found
        assert found.warnings == ()
        assert bool(found.chunks) == bool(data)
        assert found.no_text_reason == ("" if data else "empty file")


# --- encrypted, old ---


def ole(*streams: str) -> bytes:
    """As much of a compound file as tells what it is."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + b"".join(name.encode("utf-16-le") for name in streams)


@pytest.mark.parametrize(
    ("name", "streams", "told"),
    [
        ("a.docx", ("EncryptionInfo", "EncryptedPackage"), "encrypted: it needs a password"),
        ("a.xlsx", ("EncryptedPackage",), "encrypted: it needs a password"),
        ("a.doc", ("WordDocument", "1Table"), "an old binary Word document: save it as DOCX"),
        ("a.xls", ("Workbook",), "an old binary Excel workbook: save it as XLSX"),
        ("a.ppt", ("PowerPoint Document",), "an old binary PowerPoint file: save it as PPTX"),
        ("a.docx", ("WordDocument",), "an old binary Word document: save it as DOCX"),
        ("a.msg", ("__nameid_version1.0",), "an Outlook message: save it as EML"),
        ("setup.msi", ("Property",), "unknown kind: .msi"),
        ("a.doc", ("other",), "a container without a document"),
    ],
)
def test_sealed_and_old_office_files_say_what_would_help(name: str, streams: tuple[str, ...], told: str) -> None:
    assert reason(ole(*streams), name) == told


def test_an_encrypted_archive_says_so() -> None:
    data = bytearray(DOCX)
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = 0
        while (start := data.find(mark, start)) >= 0:
            data[start + at] |= 1
            start += 4
    assert reason(bytes(data), "a.docx") == "encrypted: it needs a password"


# --- damaged ---


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.docx", DOCX[: len(DOCX) // 2], "a damaged DOCX: its end is missing"),
        ("a.docx", b"\0\1\2 nonsense" * 9, "a damaged DOCX: it cannot be opened"),
        ("a.doc", b"\0\1\2 nonsense" * 9, "a damaged DOC: it cannot be opened"),
        ("a.rtf", b"\0\1\2 nonsense" * 9, "not RTF: the file is damaged"),
        ("a.docx", zipped({"a.txt": "x"}), "an archive of other files, and no DOCX"),
        ("a.zip", zipped({"a.txt": "x"}), "unknown kind: .zip"),
        ("a.txt", zipped({"a.txt": "x"}), "not text: it holds NUL bytes"),
        ("a.vsdx", zipped({"[Content_Types].xml": "<x/>", "visio/document.xml": "<x/>"}), "unknown kind: .vsdx"),
        ("a.docx", zipped({"[Content_Types].xml": "<x/>"}), "an archive of other files, and no DOCX"),
        ("a.epub", zipped({"mimetype": "x", "META-INF/container.xml": "<x/>"}), "a damaged EPUB:  is missing"),
    ],
)
def test_damaged_files_say_so(name: str, data: bytes, told: str) -> None:
    assert reason(data, name) == told


def test_a_part_whose_bytes_are_wrong_says_so() -> None:
    data = bytearray(zipped({"[Content_Types].xml": "<x/>", "word/document.xml": "<x>" + "y" * 999}))
    at = data.find(b"word/document.xml") + len("word/document.xml")
    data[at : at + 4] = b"\xff\xff\xff\xff"
    assert reason(bytes(data), "a.docx") == "a damaged DOCX: word/document.xml cannot be unpacked"


# --- made to hurt ---


def bomb(name: str, size: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
        with archive.open(name, "w", force_zip64=True) as part:
            for _ in range(size // 1_000_000):
                part.write(b"a" * 1_000_000)
    return out.getvalue()


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    told = reason(bomb("word/document.xml", 50_000_000), "a.docx")
    assert told.startswith("a zip bomb: 47.7 MB packed in ")


def test_a_bomb_of_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_UNPACKED", 100_000)
    sheets = {f"S{n}": x_rows([[f"{n} {n * n}" * 40]] * 500) for n in range(5)}
    assert reason(xlsx(sheets), "a.xlsx") == "too large: it unpacks to more than 97.7 KB"
    monkeypatch.setattr(package, "MAX_MEMBERS", 3)
    assert reason(XLSX, "a.xlsx") == "too many parts: 7, the limit is 3"


def test_a_part_that_lies_about_its_size_is_not_unpacked_further() -> None:
    body = b"<w:document>" + b"x" * 5_000_000
    data = bytearray(zipped({"[Content_Types].xml": "<x/>", "word/document.xml": body}))
    for mark, at in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        start = data.rfind(mark)
        data[start + at : start + at + 4] = struct.pack("<I", 100)
    assert reason(bytes(data), "a.docx") == "a damaged DOCX: word/document.xml cannot be unpacked"


def test_an_archive_inside_is_never_opened() -> None:
    inner = zlib.compress(DOCX)
    data = zipped({"[Content_Types].xml": "<x/>", "word/document.xml": w_p("x"), "word/embeddings/a.docx": inner})
    assert "words" not in (reason(data, "a.docx"))


@pytest.mark.parametrize("depth", [50_000])
def test_documents_may_nest_as_deep_as_they_like(depth: int) -> None:
    for data, name in (
        (docx("<w:sdt>" * depth + w_p("deep") + "</w:sdt>" * depth), "a.docx"),
        (odf("text", "<text:section>" * depth + odf_p("deep") + "</text:section>" * depth), "a.odt"),
        (epub({"a.xhtml": "<div>" * 5000 + "deep"}), "a.epub"),
        (pptx(["<p:grpSp>" * depth + shape(["deep"]) + "</p:grpSp>" * depth]), "a.pptx"),
    ):
        assert read(data, name).text == "deep"
