"""What a file holds that is no text and is therefore not read: pictures, fields of forms, struck-out words.

It matters when somebody wants to let one of two files go that read the same: what was not read may differ.
"""

from __future__ import annotations

import io
import re
import zipfile

_PICTURES = "pictures"
_FIELDS = "fields of a form"
_STRUCK = "struck-out words"

_PDF_PICTURE = re.compile(rb"/Subtype\s*/Image\b")
_HTML_PICTURE = re.compile(rb"<(?:img|picture|object|embed|svg|video|audio|canvas|iframe)\b", re.IGNORECASE)
_HTML_FORM = re.compile(rb"<(?:input|textarea|select)\b", re.IGNORECASE)
_HTML_STRUCK = re.compile(rb"<(?:del|s|strike)\b", re.IGNORECASE)
_RTF_PICTURE = re.compile(rb"\\pict\b")
_RTF_STRUCK = re.compile(rb"\\strike(?!0)")
_MAIL_PICTURE = re.compile(rb"^content-type:\s*image/", re.IGNORECASE | re.MULTILINE)
_NOTEBOOK_PICTURE = re.compile(rb'"image/[a-z+]+"')
_PICTURE_NAME = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|emf|wmf|mp3|mp4|m4[av]|wav|webm)$", re.IGNORECASE)

# Kind of the file -> what to look for in its bytes, and what that is.
_SIGNS: dict[str, tuple[tuple[re.Pattern[bytes], str], ...]] = {
    "pdf": ((_PDF_PICTURE, _PICTURES),),  # its form is told by its reader, who sees into compressed parts
    "html": ((_HTML_PICTURE, _PICTURES), (_HTML_FORM, _FIELDS), (_HTML_STRUCK, _STRUCK)),
    "rtf": ((_RTF_PICTURE, _PICTURES), (_RTF_STRUCK, _STRUCK)),
    "email": ((_MAIL_PICTURE, _PICTURES),),
    "notebook": ((_NOTEBOOK_PICTURE, _PICTURES),),
}


def unread_parts(kind: str, data: bytes) -> str:
    """In words, what a file of this kind holds beside its text; "" where nothing of the kind was found. It looks for
    signs and opens nothing: what is hidden in compressed parts of a PDF may escape it."""
    found = [what for sign, what in _SIGNS.get(kind, ()) if sign.search(data)]
    if data.startswith(b"PK"):
        found += _in_package(data)
    return f"it holds {' and '.join(found)}, which are not read" if found else ""


def _in_package(data: bytes) -> list[str]:
    """Office files, OpenDocument files and e-books are packages of named parts."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = package.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return []  # whoever reads it says what is wrong with it
    # A thumbnail is made from the document itself.
    return [_PICTURES] if any(_PICTURE_NAME.search(n) and "thumbnail" not in n.lower() for n in names) else []
