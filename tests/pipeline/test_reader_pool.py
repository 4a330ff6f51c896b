"""Reading processes: what hostile files do to them, and that it costs those files only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pipeline.errors import Cancelled
from pipeline.extract import child as child_module
from pipeline.extract import pool as pool_module
from pipeline.extract.child import Child
from pipeline.extract.errors import ReaderUnavailable
from pipeline.extract.pool import ReaderPool, default_workers
from pipeline.extract.reader import Reader, TokenCounter
from pipeline.extract.records import MEGABYTE, ReadDocument, ReadFailure, ReadLimits
from pipeline.frames import module_command
from pipeline.progress import CancelToken
from pipeline.scan import FileEntry, scan
from tests.support.pdfs import drawn
from tests.support.tokenizers import word_tokenizer

HOSTILE = module_command("tests.support.hostile_worker")
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")


def fill(folder: Path, *names: str, content: str = "0") -> list[FileEntry]:
    for name in names:
        (folder / name).write_text(content)
    by_name = {entry.rel_path: entry for entry in scan(folder)}
    return [by_name[name] for name in names]


def read_all(pool: ReaderPool, entries: list[FileEntry]) -> dict[str, ReadDocument | ReadFailure]:
    results = list(pool.read(entries))
    assert sorted(entry.rel_path for entry, _ in results) == sorted(entry.rel_path for entry in entries)
    return {entry.rel_path: result for entry, result in results}


def eventually(condition: Callable[[], bool], seconds: float = 3.0) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def children() -> set[int]:
    """Reading processes of this one that are alive."""
    alive = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if process.status() != psutil.STATUS_ZOMBIE and any(
                part.endswith("_worker") or part == "pipeline.extract.worker" for part in process.cmdline()
            ):
                alive.add(process.pid)
        except psutil.Error:
            continue
    return alive


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    yield
    assert children() == set()
    assert eventually(lambda: not [t for t in threading.enumerate() if t.name.startswith("reader")])


def test_a_pool_gives_what_reading_here_gives(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number}.txt").write_text(f"Text number {number}.\n\nIt has two paragraphs, of which é is one.\n")
    (tmp_path / "a.pdf").write_bytes(drawn([["One."], ["Two \u20ac."]]))
    (tmp_path / "a.md").write_text("# Heading\r\n\r\nText.\r\n")
    (tmp_path / "a.html").write_text("<p>x<p>y")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "bad.exe").write_bytes(b"MZ\0")
    tokenizer = word_tokenizer(tmp_path)
    here = Reader(counter=TokenCounter(tokenizer), token_limit=50)
    entries = list(scan(tmp_path))
    with ReaderPool(2, tokenizer_file=tokenizer, token_limit=50) as pool:
        assert read_all(pool, entries) == {e.rel_path: here.read(e.path, e.rel_path) for e in entries}


def test_no_files_start_no_process(tmp_path: Path) -> None:
    with ReaderPool(2) as pool:
        assert list(pool.read([])) == []
        assert children() == set()


def test_no_more_processes_start_than_files_need_and_they_stay_for_the_next(tmp_path: Path) -> None:
    entries = fill(tmp_path, "a.pid", "b.txt")
    with ReaderPool(2, command=HOSTILE) as pool:
        first = read_all(pool, entries[:1])["a.pid"]
        assert len(children()) == 1
        assert read_all(pool, entries[:1])["a.pid"] == first
        assert isinstance(first, ReadDocument)
        assert children() == {int(first.text)}


def test_another_process_starts_where_there_is_as_much_to_read_or_the_first_gets_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "_WHILE_SECONDS", 60.0)
    entries = fill(tmp_path, *(f"{n}.txt" for n in range(40)))

    started: list[Child] = []
    start = ReaderPool.new_child
    monkeypatch.setattr(ReaderPool, "new_child", lambda pool: started.append(child := start(pool)) or child)

    def processes(entries: list[FileEntry]) -> int:
        started.clear()
        with ReaderPool(2, command=HOSTILE) as pool:
            assert len(read_all(pool, entries)) == 40
        return len(started)

    assert processes(entries) == 1
    assert processes([replace(entry, size=100_000) for entry in entries]) == 2
    monkeypatch.setattr(pool_module, "_WHILE_SECONDS", 0.0)
    assert processes(entries) == 2


def test_what_hangs_is_ended_and_the_others_go_on(tmp_path: Path) -> None:
    entries = fill(tmp_path, "1.hang", *(f"{n}.txt" for n in range(40)))
    seen = []
    with ReaderPool(2, limits=ReadLimits(seconds=1), command=HOSTILE) as pool:
        for entry, result in pool.read(entries):
            seen.append(entry.rel_path)
            if entry.rel_path == "1.hang":
                assert result == ReadFailure("1.hang", entry.path, "took longer than 1 s", why="too_slow")
            else:
                assert isinstance(result, ReadDocument)
    assert seen[-1] == "1.hang"  # nobody waited for it


@pytest.mark.parametrize("workers", [1, 2])
def test_what_crashes_costs_itself_only(tmp_path: Path, workers: int) -> None:
    names = [f"{n}.{kind}" for n in range(2) for kind in ("leave", "txt", "fault", "abort", "fail", "txt2")]
    entries = fill(tmp_path, *names)
    with ReaderPool(workers, command=HOSTILE) as pool:
        results = read_all(pool, entries)
    for name, result in results.items():
        if ".txt" in name:
            assert isinstance(result, ReadDocument), result
        else:
            assert isinstance(result, ReadFailure)
            assert result.reason.startswith("the reader failed" if ".fail" in name else "the reader crashed")
    if os.name == "posix":
        assert results["0.fault"].reason == "the reader crashed (SIGSEGV)"  # type: ignore[union-attr]


@pytest.mark.parametrize("polled", [False, True])
def test_what_eats_memory_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, polled: bool) -> None:
    if polled:
        monkeypatch.setattr(child_module, "KERNEL_LIMITS_MEMORY", False)
    elif not child_module.KERNEL_LIMITS_MEMORY:
        pytest.skip("this system keeps no memory limit")
    entries = fill(tmp_path, "0.txt", "1.eat", "2.txt")
    with ReaderPool(1, limits=ReadLimits(memory_bytes=300 * MEGABYTE), command=HOSTILE) as pool:
        results = read_all(pool, entries)
    assert results["1.eat"] == ReadFailure(
        "1.eat", entries[1].path, "needed more than 300 MB of memory", why="too_much_memory"
    )
    assert isinstance(results["0.txt"], ReadDocument)
    assert isinstance(results["2.txt"], ReadDocument)


def test_a_file_does_not_pay_for_what_an_earlier_one_left_behind(tmp_path: Path) -> None:
    entries = fill(tmp_path, "1.poison", "2.victim", "3.txt")
    with ReaderPool(1, command=HOSTILE) as pool:
        results = read_all(pool, entries)
    assert all(isinstance(result, ReadDocument) for result in results.values()), results


@pytest.mark.skipif(os.name != "posix", reason="peak memory is known on POSIX only")
def test_a_process_that_has_grown_large_is_replaced(tmp_path: Path) -> None:
    entries = fill(tmp_path, "1.pid", "2.swell", "3.pid")
    with ReaderPool(1, limits=ReadLimits(memory_bytes=600 * MEGABYTE), command=HOSTILE) as pool:
        results = read_all(pool, entries)
    pids = [result.text for result in results.values() if isinstance(result, ReadDocument)]
    assert pids[0] == pids[1] != pids[2]


def test_what_libraries_print_does_not_end_up_among_the_answers(tmp_path: Path) -> None:
    entries = fill(tmp_path, "1.chatty", "2.txt", "3.chatty")
    with ReaderPool(1, command=HOSTILE) as pool:
        assert all(isinstance(result, ReadDocument) for result in read_all(pool, entries).values())


def test_cancelling_is_prompt_and_ends_the_processes(tmp_path: Path) -> None:
    entries = fill(tmp_path, "1.hang", "2.hang", "3.hang")
    cancel = CancelToken()
    with ReaderPool(2, command=HOSTILE, cancel=cancel) as pool:
        reading = pool.read(entries)
        timer = threading.Timer(0.5, cancel.cancel)
        timer.start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            next(reading)
        assert time.monotonic() - began < 1.5
        assert children() == set()
        with pytest.raises(Cancelled):
            list(pool.read(entries))


def test_cancelling_ends_the_processes_while_nobody_waits_for_results(tmp_path: Path) -> None:
    entries = fill(tmp_path, "1.txt", "2.hang", "3.hang")
    cancel = CancelToken()
    with ReaderPool(2, command=HOSTILE, cancel=cancel) as pool:
        reading = pool.read(entries)
        assert next(reading)[0].rel_path == "1.txt"
        assert eventually(lambda: len(children()) == 2)
        cancel.cancel()
        assert eventually(lambda: children() == set(), 1.0)
        with pytest.raises(Cancelled):
            next(reading)


def test_a_reading_that_is_given_up_leaves_the_pool_usable(tmp_path: Path) -> None:
    entries = fill(tmp_path, "1.txt", "2.hang", *(f"{n}.txt" for n in range(3, 9)))
    with ReaderPool(2, command=HOSTILE) as pool:
        reading = pool.read(entries)
        next(reading)
        with pytest.raises(RuntimeError, match="already"):
            next(pool.read(entries))
        reading.close()  # type: ignore[attr-defined]
        assert len(read_all(pool, [e for e in entries if e.rel_path != "2.hang"])) == 7


def test_an_error_of_whoever_lists_the_files_ends_the_reading(tmp_path: Path) -> None:
    entries = fill(tmp_path, "1.txt", "2.hang")

    def failing() -> Iterator[FileEntry]:
        yield from entries
        raise LookupError("the list broke off")

    with ReaderPool(2, command=HOSTILE) as pool:
        with pytest.raises(LookupError, match="broke off"):
            list(pool.read(failing()))
        assert len(read_all(pool, entries[:1])) == 1


def test_files_are_not_listed_far_ahead(tmp_path: Path) -> None:
    (entry,) = fill(tmp_path, "1.txt")
    listed = 0

    def endless() -> Iterator[FileEntry]:
        nonlocal listed
        while True:
            listed += 1
            yield entry

    with ReaderPool(1) as pool:
        reading = pool.read(endless())
        for taken in range(1, 200):
            next(reading)
            assert listed <= taken + pool_module._AHEAD


def test_texts_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_AHEAD_CHARS", 150_000)
    entries = fill(tmp_path, *(f"{n}.txt" for n in range(20)), content="words in it\n\n" * 4000)
    with ReaderPool(2) as pool:
        for _ in pool.read(entries):
            time.sleep(0.02)
            run = pool._run
            assert run is not None
            assert run._done_chars <= 150_000


def test_results_come_as_they_are_ready(tmp_path: Path) -> None:
    (tmp_path / "1.slow").write_text("2")
    (tmp_path / "2.txt").write_text("quick")
    with ReaderPool(2, command=HOSTILE) as pool:
        assert [entry.rel_path for entry, _ in pool.read(scan(tmp_path))] == ["2.txt", "1.slow"]


@posix
def test_reading_steps_back_for_whoever_waits(tmp_path: Path) -> None:
    with ReaderPool(1, command=HOSTILE) as pool:
        ((_, started),) = pool.read(fill(tmp_path, "0.pid"))
        assert isinstance(started, ReadDocument)
        assert os.getpriority(os.PRIO_PROCESS, int(started.text)) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)


@posix
def test_an_interrupt_from_the_terminal_is_left_to_the_program(tmp_path: Path) -> None:
    pid, slow = fill(tmp_path, "0.pid", "1.slow", content="0.4")
    with ReaderPool(1, command=HOSTILE) as pool:
        ((_, started),) = pool.read([pid])
        assert isinstance(started, ReadDocument)
        assert os.getpgid(int(started.text)) != os.getpgid(0)  # the terminal does not even reach it
        timer = threading.Timer(0.2, os.kill, (int(started.text), signal.SIGINT))
        timer.start()
        ((_, result),) = pool.read([slow])
        timer.join()
        assert isinstance(result, ReadDocument)


@posix
def test_the_processes_end_with_the_program_even_in_the_middle_of_a_file(tmp_path: Path) -> None:
    fill(tmp_path, "1.hang", "2.hang")
    program = (
        "import sys; from pathlib import Path\n"
        "from pipeline.scan import scan; from pipeline.extract.pool import ReaderPool\n"
        f"list(ReaderPool(2, command={HOSTILE!r}).read(scan(Path(sys.argv[1]))))"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], cwd=Path(__file__).parents[2]) as process:
        assert eventually(lambda: len(children()) == 2, 10)
        pids = children()
        time.sleep(0.5)  # until they are in the middle of it
        process.kill()
    assert eventually(lambda: not any(psutil.pid_exists(pid) for pid in pids), 5)


def test_it_works_from_any_folder_and_imports_nothing_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = fill(tmp_path, "a.txt")
    for name in ("json.py", "pipeline.py", "charset_normalizer.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    with ReaderPool(1) as pool:
        assert isinstance(read_all(pool, entries)["a.txt"], ReadDocument)


@pytest.mark.skipif(sys.platform != "linux", reason="file names of arbitrary bytes")
def test_any_file_name_goes_through(tmp_path: Path) -> None:
    for raw in (b"caf\xe9.txt", b"new\nline.txt", b"quo\"te's.txt"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw)).write_text("words")
    with ReaderPool(1) as pool:
        results = read_all(pool, list(scan(tmp_path)))
    assert len(results) == 3
    assert all(isinstance(result, ReadDocument) and result.text == "words" for result in results.values())


def test_processes_that_do_not_start_are_an_error_in_words(tmp_path: Path) -> None:
    entries = fill(tmp_path, "a.txt")
    (tmp_path / "broken.json").write_text("{")
    with (
        ReaderPool(1, tokenizer_file=str(tmp_path / "broken.json")) as pool,
        pytest.raises(ReaderUnavailable) as caught,
    ):
        list(pool.read(entries))
    assert "broken.json cannot be read" in str(caught.value)
    for command, words in (
        ([str(tmp_path / "nothing")], "cannot be started"),
        ([sys.executable, "-c", "raise ImportError('no module')"], "does not start: ImportError: no module"),
        ([sys.executable, "-c", "print('hello, this is no frame')"], "does not start"),
    ):
        with ReaderPool(1, command=command) as pool, pytest.raises(ReaderUnavailable, match=words):
            list(pool.read(entries))


def test_a_pool_needs_a_worker() -> None:
    assert default_workers() >= 1
    with pytest.raises(ValueError, match="at least one"):
        ReaderPool(0)


def test_a_reading_process_imports_nothing_heavy() -> None:
    heavy = {"numpy", "torch", "PySide6", "sentence_transformers", "faiss", "pypdfium2", "selectolax", "psutil"}
    code = f"import sys, pipeline.extract.worker; sys.exit(' '.join({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.stderr.strip() == ""
