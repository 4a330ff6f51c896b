"""Documents that are zip archives: which kind one is, by its parts and not by its name."""

from __future__ import annotations

import re

from pipeline.extract import docx, epub, odf, opc, pptx, xlsx
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.package import Package
from pipeline.extract.records import Extracted, Source

MAGIC = (b"PK\3\4", b"PK\5\6")
# What the archives that we read begin with. Others (programs, other people's archives) are not even opened.
_BEGINS = re.compile(
    rb"PK\x03\x04.{26}(?:mimetype|META-INF/|\[Content_Types\]\.xml|_rels/|docProps/|customXml/|word/|ppt/|xl/"
    rb"|content\.xml|OEBPS/|OPS/|EPUB/)",
    re.S,
)
_OFFICE = {"docx": docx.read_docx, "pptx": pptx.read_pptx, "xlsx": xlsx.read_xlsx}


def may_be_document(head: bytes) -> bool:
    """Whether it begins as one of ours does."""
    return _BEGINS.match(head) is not None


def extract_packed(source: Source) -> Extracted:
    """Raises `ExtractionFailed` when it is damaged, encrypted, or holds no document."""
    what = source.name.rpartition(".")[2].upper()
    package = Package(source.data, what)
    if package.has(epub.CONTAINER):
        return epub.read_epub(package, source.max_chars)
    if package.has("content.xml"):
        return odf.read_odf(package, source.max_chars)
    read = _OFFICE.get(opc.office_kind(opc.main_part(package)))
    if read is None:
        raise ExtractionFailed(f"an archive of other files, and no {what}", "unknown_kind")
    return read(package, source.max_chars)
