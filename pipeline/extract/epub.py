"""EPUB: the chapters in the order of the book, each as a web page. It has no pages: they depend on the screen."""

from __future__ import annotations

from pipeline.extract.decode import decode_page
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.html import visible_text
from pipeline.extract.package import ENCRYPTED, DamagedPart, Package, beside, walk_part, walked, without_escapes
from pipeline.extract.pages import some_numbers
from pipeline.extract.plain import check_length, clean
from pipeline.extract.records import Extracted
from pipeline.extract.sax import Attributes, Rules, value

CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"


def read_epub(package: Package, max_chars: int) -> Extracted:
    """Chapters that cannot be read are named in `warnings`. Raises `ExtractionFailed` where none can."""
    book = _Book(package)
    texts: list[str] = []
    unread: list[int] = []
    chars = 0
    for number, chapter in enumerate(book.chapters, 1):
        if chapter in book.encrypted:
            raise ExtractionFailed(ENCRYPTED, "encrypted")
        try:
            page = decode_page(package.read(chapter)).text
        except DamagedPart:
            unread.append(number)
            continue
        except ExtractionFailed as error:
            if not error.reason.startswith("not text"):
                raise
            unread.append(number)
            continue
        text = visible_text(page, max_chars - chars, is_xhtml=True)
        chars += len(text)
        texts.append(text)
    if book.chapters and len(unread) == len(book.chapters):
        raise ExtractionFailed("a damaged EPUB: none of its chapters can be read")
    text = clean("\n\n".join(filter(None, texts)))
    check_length(len(text), max_chars)
    named = "chapter" if len(unread) == 1 else "chapters"
    return Extracted("epub", text, warnings=(f"{named} {some_numbers(unread)} could not be read",) if unread else ())


class _Book:
    """Which parts are its chapters, and which parts are encrypted (fonts often are, and do no harm)."""

    def __init__(self, package: Package) -> None:
        self.encrypted: set[str] = set()
        self._opf = ""
        self._items: dict[str, str] = {}
        self._spine: list[str] = []
        self._contents: set[str] = set()  # ids of tables of contents, which only repeat the headings
        walk_part(package, CONTAINER, Rules({"container:rootfile": self._root}))
        walk_part(package, self._opf, Rules({"opf:item": self._item, "opf:itemref": self._reference}))
        if package.has(_ENCRYPTION):
            walked(package, _ENCRYPTION, Rules({"enc:CipherReference": self._encrypted}))

    @property
    def chapters(self) -> list[str]:
        return [self._items[i] for i in self._spine if i in self._items and i not in self._contents]

    def _root(self, attributes: Attributes) -> None:
        self._opf = self._opf or without_escapes(value(attributes, "full-path"))

    def _item(self, attributes: Attributes) -> None:
        item = value(attributes, "id")
        self._items[item] = beside(self._opf, without_escapes(value(attributes, "href")))
        if "nav" in value(attributes, "properties").split():
            self._contents.add(item)

    def _reference(self, attributes: Attributes) -> None:
        self._spine.append(value(attributes, "idref"))

    def _encrypted(self, attributes: Attributes) -> None:
        self.encrypted.add(without_escapes(value(attributes, "URI")).lstrip("/"))
