"""The old binary formats of Office, and what else comes in their container. None is read; each says what would help."""

from __future__ import annotations

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.package import ENCRYPTED
from pipeline.extract.records import Extracted, Source

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# What the container is called in its own directory, and the reason that follows.
_STREAMS = (
    ("EncryptedPackage", ENCRYPTED),
    ("WordDocument", "an old binary Word document: save it as DOCX"),
    ("PowerPoint Document", "an old binary PowerPoint file: save it as PPTX"),
    ("Workbook", "an old binary Excel workbook: save it as XLSX"),
    ("Book", "an old binary Excel workbook: save it as XLSX"),
    ("__nameid_version1.0", "an Outlook message: save it as EML"),
)


class NoOfficeFile(ExtractionFailed):
    """Something else in the same container: an installer, a thumbnail cache."""


def refuse(source: Source) -> Extracted:
    """Always raises `ExtractionFailed`."""
    if not source.data.startswith(MAGIC):
        raise ExtractionFailed(f"a damaged {source.name.rpartition('.')[2].upper()}: it cannot be opened")
    for name, reason in _STREAMS:
        if name.encode("utf-16-le") in source.data:
            raise ExtractionFailed(reason, "encrypted" if reason is ENCRYPTED else "old_format")
    raise NoOfficeFile("a container without a document", "unknown_kind")
