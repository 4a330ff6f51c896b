"""JSON read in steps is the JSON that the standard library reads."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.export.stepwise import loads, text_of
from pipeline.export.trace_file import read_trace, write_trace
from tests.support.traces import Row, make_trace

_PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
_JSON = st.recursive(
    _PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=16,
)


def outcome(read: Any, text: str) -> tuple[str, Any]:
    try:
        return "read", read(text)
    except ValueError:
        return "refused", None


@given(_JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_what_is_written_is_read(value: Any, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert loads(text) == value == json.loads(text)


@given(_JSON, st.data())
def test_what_is_broken_is_refused_where_the_standard_library_refuses_it(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 1])))
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(st.sampled_from(["", ",", ":", "{", "}", "[", "]", '"', " ", "\\", "1", "x", "\x00"]))
    cut = data.draw(st.integers(0, 2))
    broken = text[:at] + put + text[at + cut :]
    assert outcome(loads, broken) == outcome(json.loads, broken)


@pytest.mark.parametrize(
    "text", ["", " ", "{}", "[]", " { } ", "[ ]", '{"a":1,"a":2}', "[1,]", '{"a":1,}', "{}x", "NaN"]
)
def test_the_edges(text: str) -> None:
    ours, theirs = outcome(loads, text), outcome(json.loads, text)
    assert repr(ours) == repr(theirs)


def test_nesting_without_end_is_refused() -> None:
    for opening in ("[", '{"a":'):
        with pytest.raises((RecursionError, ValueError)):
            loads(opening * 200_000)


def test_a_file_is_read_with_or_without_its_mark(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    text = "Ä" * 600_000 + "\U0001f600"  # a sign stands across the pieces
    for encoding in ("utf-8", "utf-8-sig"):
        file.write_text(text, encoding)
        assert text_of(file) == text
    file.write_bytes(b'"\xff"')
    with pytest.raises(UnicodeDecodeError):
        text_of(file)
    file.write_bytes("Ä".encode()[:1])
    with pytest.raises(UnicodeDecodeError):
        text_of(file)


def turns_of_another_thread(text: str) -> int:
    """How often this thread had its turn while another one read the text."""
    alone = time.perf_counter()
    json.loads(text)
    alone = time.perf_counter() - alone
    read = threading.Thread(target=lambda: loads(text))
    turns = 0
    read.start()
    while read.is_alive():
        time.sleep(alone / 20)
        turns += 1
    return turns


def test_other_threads_run_meanwhile() -> None:
    text = json.dumps({"rows": [{"number": number, "words": ["a", "b", "c"] * 8} for number in range(60_000)]})
    # The best of some: where other programs take the processors, this thread misses turns that it was offered.
    assert max(turns_of_another_thread(text) for _ in range(4)) >= 6, "one call that lets nobody in would leave two"


def test_a_saved_trace_is_read_in_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = make_trace([Row("hb/policy.txt", "A damaged item goes back to the desk.", 0.9)])
    write_trace(tmp_path / "trace.json", trace)

    def in_one_go(*ignored: object) -> None:
        raise AssertionError("the whole file was read in one go")

    monkeypatch.setattr(json, "loads", in_one_go)
    assert read_trace(tmp_path / "trace.json") == trace
