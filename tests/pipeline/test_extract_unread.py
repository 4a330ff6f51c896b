"""What a file holds beside its text is told, since nobody has read it."""

from __future__ import annotations

import io
import zipfile

import pytest

from pipeline.extract.unread import unread_parts


def package(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for name in names:
            made.writestr(name, "x")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("kind", "data", "told"),
    [
        ("html", b"<p>text</p><IMG src=x>", "it holds pictures, which are not read"),
        ("html", b"<svg></svg><select></select>", "it holds pictures and fields of a form, which are not read"),
        ("html", b"<p>may <del>not</del>", "it holds struck-out words, which are not read"),
        ("html", b"<p>imgs, inputs and <strong>strong</strong> words", ""),
        ("pdf", b"%PDF-1.4 << /Type /XObject /Subtype /Image >>", "it holds pictures, which are not read"),
        ("pdf", b"%PDF-1.4 << /Subtype /ImageMask >>", ""),
        ("docx", package("word/document.xml", "word/media/image1.png"), "it holds pictures, which are not read"),
        ("odt", package("content.xml", "Thumbnails/thumbnail.png"), ""),
        ("docx", b"PK\x03\x04 cut off", ""),
        ("notebook", b'{"data": {"image/png": "..."}}', "it holds pictures, which are not read"),
        ("text", b"<img> is a word of this text", ""),
    ],
)
def test_what_is_told(kind: str, data: bytes, told: str) -> None:
    assert unread_parts(kind, data) == told
