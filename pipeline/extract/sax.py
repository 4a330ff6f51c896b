"""XML, event by event, through expat: no tree, no recursion, nothing from outside.

Element names come with a short prefix of our own (`w:p`), whatever prefix the file uses. External entities and DTDs
are never looked up; entities that would grow beyond a bound are refused before anything grows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pipeline.extract.errors import ExtractionFailed

Attributes = dict[str, str]
Start = Callable[[Attributes], object]
End = Callable[[], object]

_MAX_ENTITY_CHARS = 1_000_000
_MAX_ENTITY_DEPTH = 32
_MAX_ENTITIES = 20_000
_BOMB = "an XML bomb: its entities grow without bound"
_REFERENCE = re.compile(r"&([\w:.-]+);")
_OOXML = "schemas.openxmlformats.org"
_STRICT = "purl.oclc.org/ooxml"
_ODF = "urn:oasis:names:tc:opendocument:xmlns:"

_PREFIXES = {
    **{f"http://{_OOXML}/{place}/2006/main": prefix for place, prefix in (
        ("wordprocessingml", "w"), ("presentationml", "p"), ("spreadsheetml", "x"), ("drawingml", "a"))},
    **{f"http://{_STRICT}/{place}/main": prefix for place, prefix in (
        ("wordprocessingml", "w"), ("presentationml", "p"), ("spreadsheetml", "x"), ("drawingml", "a"))},
    f"http://{_OOXML}/package/2006/relationships": "rel",
    f"http://{_OOXML}/markup-compatibility/2006": "mc",
    f"http://{_OOXML}/officeDocument/2006/math": "m",
    f"http://{_STRICT}/officeDocument/math": "m",
    f"http://{_OOXML}/drawingml/2006/diagram": "dgm",
    f"http://{_STRICT}/drawingml/diagram": "dgm",
    **{f"{_ODF}{name}:1.0": prefix for name, prefix in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("drawing", "draw"), ("style", "style"),
        ("presentation", "presentation"), ("svg-compatible", "svg"), ("manifest", "manifest"), ("form", "form"))},
    "urn:oasis:names:tc:opendocument:xmlns:container": "container",
    "http://www.idpf.org/2007/opf": "opf",
    "http://openebook.org/namespaces/oeb-package/1.0/": "opf",
    "http://www.w3.org/2001/04/xmlenc#": "enc",
}  # fmt: skip


class NotWellFormed(ExtractionFailed):
    """`reason` says where."""


class EntityBomb(ExtractionFailed):
    """Entities that would grow without bound."""


@dataclass(slots=True)
class Rules:
    """What to do at which element. A start that returns True leaves out the element, all that is in it, and its end."""

    starts: Mapping[str, Start] = field(default_factory=dict)
    ends: Mapping[str, End] = field(default_factory=dict)
    text: Callable[[str], object] | None = None


def walk(data: bytes, rules: Rules) -> None:
    """Tell `rules` what is in an XML document that states its own encoding. Raises `NotWellFormed`, `EntityBomb`."""
    names, starts, ends, tell = _Names(), rules.starts, rules.ends, rules.text
    skipped = 0  # open elements below and with the one that was left out

    def start(full: str, attributes: Attributes) -> None:
        nonlocal skipped
        if skipped:
            skipped += 1
        elif (begin := starts.get(names[full])) is not None and begin(attributes) is True:
            skipped = 1

    def end(full: str) -> None:
        nonlocal skipped
        if skipped:
            skipped -= 1
        elif (finish := ends.get(names[full])) is not None:
            finish()

    def text(data: str) -> None:
        if not skipped and tell is not None:
            tell(data)

    parse(data, start, end, None if tell is None else text)


def parse(
    data: bytes,
    start: Callable[[str, Attributes], object],
    end: Callable[[str], object],
    text: Callable[[str], object] | None,
    *,
    encoding: str | None = None,
) -> None:
    """All events, with expanded names (`namespace}local`). `encoding` overrides what the document says of itself.
    Raises `NotWellFormed`, `EntityBomb`."""
    from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

    parser = ParserCreate(encoding, "}")
    parser.buffer_text = True
    entities = _Entities()
    parser.EntityDeclHandler, parser.EndDoctypeDeclHandler = entities.declare, entities.check
    parser.StartElementHandler, parser.EndElementHandler = start, end
    if text is not None:
        parser.CharacterDataHandler = text

        def left_over(data: str) -> None:
            # An entity that only the external DTD knows; everything else that comes here is no text.
            if data[0] == "&" and data[-1] == ";":
                from html.entities import html5

                text(html5.get(data[1:], ""))

        parser.DefaultHandlerExpand = left_over
    try:
        parser.Parse(data, True)
    except ExpatError as error:
        problem = ErrorString(error.code) or "no XML"
        if "amplification" in problem:
            raise EntityBomb(_BOMB) from error
        raise NotWellFormed(f"not well-formed XML in line {error.lineno:,}: {problem}") from error
    except LookupError as error:
        raise NotWellFormed("not well-formed XML: it names an encoding that there is not") from error
    except ValueError as error:
        if "encoding" not in str(error):
            raise
        raise NotWellFormed("not well-formed XML: it names an encoding that expat does not read") from error


def value(attributes: Attributes, name: str) -> str:
    """The attribute of this local name, whatever its namespace; empty when there is none."""
    if name in attributes:
        return attributes[name]
    ending = "}" + name
    for full in attributes:  # a loop, for it is called for every cell of a sheet
        if full.endswith(ending):
            return attributes[full]
    return ""


class _Names(dict[str, str]):
    """Expanded name -> ours, computed once."""

    def __missing__(self, full: str) -> str:
        namespace, _, local = full.rpartition("}")
        name = self[full] = f"{_PREFIXES.get(namespace, '')}:{local}" if namespace else local
        return name


class _Entities:
    """What a document declares. One may refer to others, also to later ones: each size is a sum of sizes."""

    def __init__(self) -> None:
        self._contents: dict[str, tuple[int, list[str]]] = {}

    def declare(
        self, name: str, is_parameter: bool, content: str | None, base: str | None, system: str | None,
        public: str | None, notation: str | None,
    ) -> None:  # fmt: skip
        if len(self._contents) > _MAX_ENTITIES:
            raise EntityBomb(_BOMB)
        self._contents.setdefault(name, (len(content or ""), _REFERENCE.findall(content or "")))

    def check(self) -> None:
        """Raise `EntityBomb` when one would grow beyond the bound, or is nested without end."""
        sizes: dict[str, int] = {}
        for _ in range(_MAX_ENTITY_DEPTH):
            grown = {
                name: length + sum(sizes.get(reference, 0) for reference in references)
                for name, (length, references) in self._contents.items()
            }
            if grown == sizes:
                return
            if max(grown.values()) > _MAX_ENTITY_CHARS:
                break
            sizes = grown
        raise EntityBomb(_BOMB)
