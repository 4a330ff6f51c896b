"""One file -> its chunks, in this process."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

import pytest

from pipeline.extract import reader as reader_module
from pipeline.extract.reader import Reader, TokenCounter
from pipeline.extract.records import Extracted, ReadDocument, ReadFailure, ReadLimits, Source
from pipeline.extract.registry import Extractor, Registry
from pipeline.extract.wire import pack_path, pack_result, unpack_path, unpack_result
from pipeline.textkeys import fold_key, text_sha256
from tests.support.pdfs import drawn, scanned
from tests.support.tokenizers import word_tokenizer

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX files")


def read(path: Path, reader: Reader | None = None) -> ReadDocument | ReadFailure:
    return (reader or Reader()).read(str(path), path.name)


def document(path: Path, reader: Reader | None = None) -> ReadDocument:
    result = read(path, reader)
    assert isinstance(result, ReadDocument), result
    return result


def reason(path: Path, reader: Reader | None = None) -> str:
    result = read(path, reader)
    assert isinstance(result, ReadFailure)
    return result.reason


def test_a_document_holds_its_text_its_chunks_and_the_facts_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"First paragraph.\r\n\r\nSecond \xc3\xa9.\r\n")
    found, facts = document(path), path.stat()
    assert (found.rel_path, found.path, found.kind, found.warnings) == ("a.txt", str(path), "text", ())
    assert found.text == "First paragraph.\r\n\r\nSecond é.\r\n"
    assert found.content_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found.size, found.mtime_ns, found.ctime_ns) == (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
    assert (found.inode, found.device, found.link_count) == (facts.st_ino, facts.st_dev, 1)
    assert found.no_text_reason == ""
    assert found.chunks
    for chunk in found.chunks:
        text = found.text[chunk.start : chunk.end]
        assert (chunk.text_sha256, chunk.fold_key) == (text_sha256(text), fold_key(text))
        assert (chunk.page_first, chunk.page_last, chunk.tokens) == (None, None, None)
    assert "".join(found.text[c.start : c.end] for c in found.chunks).split() == found.text.split()


def test_the_splitter_is_told_what_is_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    def split(text: str, *, markup: str, token_counter: object, token_limit: object) -> list[tuple[int, int]]:
        told.append(markup)
        return [(0, len(text))]

    monkeypatch.setattr("pipeline.chunk.split", split)
    for name in ("a.md", "a.txt", "a.html"):
        (tmp_path / name).write_text("words")
        document(tmp_path / name)
    assert told == ["markdown", "plain", "plain"]


def test_chunks_know_their_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").write_bytes(drawn([["One."], ["Two."], [], ["Four."], ["Five."]]))
    spans = [(0, 4), (0, 5), (0, 7), (4, 6), (6, 10), (8, 18), (12, 24)]
    monkeypatch.setattr("pipeline.chunk.split", lambda text, **_: spans)
    found = document(tmp_path / "a.pdf")
    assert found.text == "One.\n\nTwo.\n\nFour.\n\nFive."
    pages = [(chunk.page_first, chunk.page_last) for chunk in found.chunks]
    assert pages == [(1, 1), (1, 1), (1, 2), (None, None), (2, 2), (2, 4), (4, 5)]


def test_tokens_are_counted_with_the_special_ones_and_never_cut(tmp_path: Path) -> None:
    counter = TokenCounter(word_tokenizer(tmp_path, truncate_at=8))
    assert counter(["one two", "", "x " * 50, "one two"]) == [4, 2, 52, 4]
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join(f"Paragraph {n} has a number of words in it, and ends." for n in range(60)))
    found = document(path, Reader(counter=counter, token_limit=20))
    assert len(found.chunks) > 30
    for chunk in found.chunks:
        assert chunk.tokens == counter([found.text[chunk.start : chunk.end]])[0]
        assert chunk.tokens <= 20


def test_a_missing_or_broken_tokenizer_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    for name in ("tokenizer.json", "missing.json"):
        with pytest.raises(ValueError, match=name):
            TokenCounter(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.txt", b"", "empty file"),
        ("a.pdf", b"", "empty file"),
        ("LICENSE", b"", "empty file"),
        ("a.txt", b" \r\n\t\xc2\xa0\n", "white space only"),
        ("a.html", b"<html><body><img src=x>", "no visible text"),
        ("a.pdf", scanned(2), "no text layer: scanned pages only"),
    ],
)
def test_a_document_without_text_says_why(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(data)
    found = document(tmp_path / name)
    assert (found.chunks, found.no_text_reason) == ((), why)


def test_failures_say_what_is_wrong_and_whose_bytes_were_seen(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\0b")
    failed = read(tmp_path / "a.txt")
    assert failed == ReadFailure(
        "a.txt",
        str(tmp_path / "a.txt"),
        "not text: it holds NUL bytes",
        hashlib.sha256(b"a\0b").hexdigest(),
        "not_text",
    )
    assert reason(tmp_path / "missing.txt") == "deleted or moved before it was read"
    assert "cannot be" in reason(tmp_path) or "regular" in reason(tmp_path)


def test_a_large_file_of_an_unknown_kind_is_not_read_to_its_end(tmp_path: Path) -> None:
    with open(tmp_path / "film.mkv", "wb") as file:
        file.write(b"\x1aE\xdf\xa3\0\0\0")
        file.truncate(50_000_000_000)  # sparse
    assert read(tmp_path / "film.mkv") == ReadFailure(
        "film.mkv", str(tmp_path / "film.mkv"), "unknown kind: .mkv", None, "unknown_kind"
    )


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "a.txt", "wb") as file:
        file.write(b"x\n" * 40_000)
        file.truncate(3 * 1024 * 1024)
    assert reason(tmp_path / "a.txt", Reader(limits=ReadLimits(max_bytes=1024 * 1024))) == (
        "too large: 3 MB, the limit is 1 MB"
    )


def test_a_fault_of_an_extractor_costs_that_file_only(tmp_path: Path) -> None:
    def fail(source: Source) -> Extracted:
        raise LookupError("no such thing")

    (tmp_path / "a.bad").write_text("x")
    reader = Reader(Registry([*Registry().extractors, Extractor("bad", frozenset({".bad"}), fail)]))
    assert reason(tmp_path / "a.bad", reader) == "the reader failed: LookupError: no such thing"


@posix
def test_what_took_a_files_place_since_the_scan_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    (tmp_path / "link.txt").symlink_to("a.txt")
    os.mkfifo(tmp_path / "fifo.txt")
    assert reason(tmp_path / "link.txt") == "a symbolic link took its place"
    began = time.monotonic()
    assert reason(tmp_path / "fifo.txt") == "not a regular file any more"
    assert time.monotonic() - began < 1


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("words")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(reader_module.os, "open", refuse)
    assert reason(tmp_path / "a.txt") == "no permission to read it"


def test_a_disk_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("words")

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(reader_module.os, "read", fail)
    assert reason(tmp_path / "a.txt") == "cannot be read: input/output error"


@pytest.mark.parametrize("changes", [1, 2])
def test_a_file_that_grows_while_being_read_is_read_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    path = tmp_path / "a.log"
    path.write_text("begin\n")
    real, left = os.read, [changes]

    def read_and_grow(handle: int, size: int) -> bytes:
        data = real(handle, size)
        if not data and left[0]:
            left[0] -= 1
            with open(path, "a") as log:
                log.write("more\n")
        return data

    monkeypatch.setattr(reader_module.os, "read", read_and_grow)
    monkeypatch.setattr(reader_module, "_SECOND_LOOK", 0.01)
    if changes == 1:
        assert document(path).text == "begin\nmore\n"
    else:
        assert reason(path) == "changed while being read"


@pytest.mark.skipif(sys.platform != "linux", reason="file names of arbitrary bytes")
def test_any_file_name_is_read(tmp_path: Path) -> None:
    for raw in (b"caf\xe9.txt", b"new\nline.txt", b"quo\"te's.txt", b"-rf.txt"):
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw))
        path.write_text("words")
        assert document(path).text == "words"
        assert os.fsencode(unpack_path(pack_path(str(path)))) == os.fsencode(str(path))


def test_results_survive_the_wire(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(drawn([["Über \u20ac 5."], ["Two."]]))
    (tmp_path / "bad.pdf").write_bytes(b"nonsense")
    for path in (tmp_path / "a.pdf", tmp_path / "bad.pdf"):
        result = read(path)
        assert unpack_result(*pack_result(result), str(path), path.name) == result
