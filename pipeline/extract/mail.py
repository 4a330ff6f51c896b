"""E-mail (EML, and web pages saved as MHTML): subject, sender, recipients and date as lines, then what the mail says.

Of alternatives the plain text, else the HTML as a reader sees it. Attachments are named and not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipeline.extract.decode import decode_as, decode_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.html import visible_text
from pipeline.extract.plain import check_length, clean
from pipeline.extract.records import Extracted, Source

if TYPE_CHECKING:
    from email.message import Message

_SHOWN = ("Subject", "From", "To", "Cc", "Date")
_READ = ("text/plain", "text/html", "text/markdown", "text/enriched")  # style sheets and calendars are text too
_FOLDS = re.compile(r"\s*[\r\n]+\s*")
_MAX_HEADER = 20_000  # characters of one line; mailing lists have thousands of recipients
_MAX_PARTS = 20_000
_TOO_DEEP = "nested too deeply"
_SEALED = ("application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted")


def extract_mail(source: Source) -> Extracted:
    """Raises `ExtractionFailed` when it is no mail."""
    from email import message_from_bytes

    if source.data.count(b"\n--") > _MAX_PARTS and b"multipart/" in source.data[:65_536].lower():
        raise ExtractionFailed(f"too many parts: more than {_MAX_PARTS:,}", "too_large")
    try:
        message = message_from_bytes(source.data)
        body = _Body(source.max_chars)
        body.read(message)
    except RecursionError as error:
        raise ExtractionFailed(_TOO_DEEP, "too_large") from error
    headers = [f"{name}: {text}" for name in _SHOWN if (text := _header(message, name))]
    if not headers and not body.texts:
        raise ExtractionFailed("not a mail: it has neither a header nor a text")
    attachments = [f"Attachment: {name}" for name in body.attachments]
    text = clean("\n\n".join(filter(None, ["\n".join(headers), *body.texts, "\n".join(attachments)])))
    check_length(len(text), source.max_chars)
    return Extracted("email", text, warnings=("its text is encrypted",) if body.sealed else ())


@dataclass(slots=True)
class _Body:
    """What a message says, and what is attached to it."""

    max_chars: int
    texts: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    sealed: bool = False

    def read(self, message: Message) -> None:
        for part in _leaves(message):
            kind = part.get_content_type()
            name = _file_name(part)
            if kind in _SEALED:
                self.sealed = True
            elif kind == "message/rfc822":
                self.attachments.append(name or _inner_subject(part))
            elif name or part.get_content_disposition() == "attachment" or part.get_content_maintype() != "text":
                if name:
                    self.attachments.append(name)
            elif kind in _READ and (text := _text_of(part, self.max_chars)):
                self.texts.append(text)


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that say something, in order, one of each group of alternatives."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if not part.is_multipart() or part.get_content_type() == "message/rfc822":
            yield part
            continue
        if part.get_content_type() == "multipart/encrypted":
            yield part
            continue
        inner = [child for child in part.get_payload() if not isinstance(child, str)]
        if part.get_content_subtype() == "alternative":
            inner = [_preferred(inner)] if inner else []
        waiting += reversed(inner)


def _preferred(alternatives: list[Message]) -> Message:
    """Plain text where it says something, else the last one, which is the richest."""
    for part in alternatives:
        if part.get_content_type() == "text/plain" and _payload(part).strip():
            return part
    for part in reversed(alternatives):
        if part.get_content_type() == "text/html" or part.is_multipart():
            return part
    return alternatives[-1]


def _text_of(part: Message, max_chars: int) -> str:
    data = _payload(part)
    try:
        text = decode_as(data, part.get_content_charset("")).text
    except ExtractionFailed:
        text = data.decode("latin-1")
    if part.get_content_type() == "text/html":
        return visible_text(text, max_chars)
    return text.replace("\r\n", "\n").strip("\n")


def _payload(part: Message) -> bytes:
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):  # a transfer encoding that is none
        return b""
    return data if isinstance(data, bytes) else b""


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename("")
    except (ValueError, LookupError, TypeError, AttributeError):
        return "unnamed"
    return _decoded(name)


def _inner_subject(part: Message) -> str:
    inner = part.get_payload()
    subject = (
        _header(inner[0], "Subject") if isinstance(inner, list) and inner and not isinstance(inner[0], str) else ""
    )
    return subject or "a message"


def _header(message: Message, name: str) -> str:
    """The first header of this name, readable: one line, its encoded words decoded."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return _decoded(str(raw))


def _decoded(raw: str) -> str:
    from email.errors import HeaderParseError
    from email.header import decode_header

    raw = _FOLDS.sub(" ", raw[:_MAX_HEADER]).strip()
    if not raw.isascii():  # bytes that are there against the rules
        try:
            return decode_text(raw.encode("utf-8", "surrogateescape")).text
        except (ExtractionFailed, UnicodeEncodeError):
            return raw
    try:
        words = decode_header(raw)
    except (HeaderParseError, ValueError):
        return raw
    return "".join(_word(word, charset) for word, charset in words)


def _word(word: str | bytes, charset: str | None) -> str:
    if isinstance(word, str):
        return word
    try:
        return decode_as(word, charset or "").text
    except ExtractionFailed:
        return word.decode("latin-1")
