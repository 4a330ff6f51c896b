"""From files to the model: at once, each text once, as many in a request as what runs the model wants."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline import index_intake
from pipeline.embed.cores import texts_for_all_cores
from pipeline.embed.port import Vectors
from tests.support.encoder import WordEncoder
from tests.support.folders import Folder, document, passage


class Asked(WordEncoder):
    """Notes how many texts each request held. The first request lasts until `go`."""

    def __init__(self, texts_at_once: int = 0) -> None:
        super().__init__(256)
        self.texts_at_once = texts_at_once
        self.sizes: list[int] = []
        self.go = threading.Event()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.sizes.append(len(texts))
        if len(self.sizes) == 1:
            self.go.wait(10)
        return super().encode(texts)


def filled(place: Path, encoder: WordEncoder, files: int) -> Folder:
    folder = Folder(place, encoder)
    folder.write({f"{n:03}.md": document(passage(f"topic{n}"), passage(f"other{n}")) for n in range(files)})
    return folder


def test_the_model_gets_a_text_before_a_batch_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Asked()
    seen: list[int] = []
    whole = index_intake.Intake.flush

    def flush(intake: index_intake.Intake) -> None:
        seen.append(len(encoder.sizes))  # everything is read, and no batch was full
        encoder.go.set()
        whole(intake)

    monkeypatch.setattr(index_intake.Intake, "flush", flush)
    report = filled(tmp_path, encoder, 6).index()
    assert seen[0] >= 1
    assert report.embedded == report.texts == len(encoder.encoded) == 12


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_a_text_of_several_batches_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(index_intake, "_BATCH_TEXTS", batch)
    encoder = Asked()
    encoder.go.set()
    folder = Folder(tmp_path, encoder)
    folder.write({f"{n:02}.md": document(passage("the same"), passage(f"topic{n // 2}")) for n in range(12)})
    report = folder.index()
    assert (report.chunks, report.texts, report.embedded) == (24, 7, 7)
    assert len(encoder.encoded) == len(set(encoder.encoded)) == 7
    folder.remove("00.md", "01.md")  # topic0 is gone
    folder.index()
    folder.write({f"again {n}.md": document(passage("topic0"), passage(f"new{n}")) for n in range(2)})
    again = folder.index()
    assert (again.texts, again.embedded) == (9, 2)  # topic0's vector was kept


@pytest.mark.parametrize("wanted", [0, 16])
def test_requests_are_as_large_as_what_runs_the_model_wants(tmp_path: Path, wanted: int) -> None:
    encoder = Asked(wanted)
    most = wanted or texts_for_all_cores()
    threading.Timer(1.5, encoder.go.set).start()  # what is read meanwhile waits for the model
    filled(tmp_path, encoder, 40).index()
    assert len(encoder.encoded) == 80
    assert max(encoder.sizes) <= most
    assert encoder.sizes.count(most) >= 2
