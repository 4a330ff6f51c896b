"""The real model: found on disk, run in this process and in a child process, refused in words where it is not there."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from pipeline.embed import worker
from pipeline.embed.folder import default_model_folder, locate
from pipeline.embed.graph_cache import CACHE_VARIABLE
from pipeline.embed.model import SentenceTransformerEncoder
from pipeline.embed.remote import RemoteEncoder
from pipeline.errors import ModelError
from pipeline.frames import write_frame

TEXTS = ["The boiler is checked every year.", "Rent is due on the first.", "wörter ☂ \x00 \ud7ff", ""]


@pytest.fixture(autouse=True)
def models_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shared by the tests of one run, so that the built-in model's graph is made once; never the user's own."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path_factory.getbasetemp() / "models cache"))


def test_the_built_in_model_is_found_without_loading_it() -> None:
    model = locate()
    assert model.name == "all-MiniLM-L6-v2"
    assert model.source is None
    assert len(model.fingerprint) == 32
    assert Path(model.tokenizer_file or "").is_file()
    assert locate("all-MiniLM-L6-v2") == model


def test_a_model_is_known_by_its_content_not_by_its_place(tmp_path: Path) -> None:
    copy = tmp_path / "my model"
    shutil.copytree(default_model_folder(), copy)
    assert locate(copy).fingerprint == locate().fingerprint
    assert (locate(copy).name, locate(copy).source) == ("my model", str(copy))
    other = tmp_path / "other"
    shutil.copytree(copy, other)
    weights = other / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    assert locate(other).fingerprint != locate().fingerprint


@pytest.mark.parametrize("content", [(), ("config.json",), ("readme.md",)])
def test_a_folder_without_a_model_is_refused_in_words(tmp_path: Path, content: tuple[str, ...]) -> None:
    for name in content:
        (tmp_path / name).write_text("{}")
    with pytest.raises(ModelError, match="holds no sentence-transformers model"):
        locate(tmp_path)


def test_a_name_that_is_nowhere_on_this_disk_is_refused_in_words() -> None:
    with pytest.raises(ModelError, match="neither a folder nor a hub name"):
        locate("nobody/no-such-model")


def test_a_broken_model_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    encoder = RemoteEncoder(tmp_path)
    try:
        with pytest.raises(ModelError, match="cannot be loaded"):
            encoder.encode(["text"])
    finally:
        encoder.close()


@pytest.mark.real_model
def test_the_child_process_gives_the_vectors_of_this_process() -> None:
    here = SentenceTransformerEncoder()
    ready = threading.Event()
    there = RemoteEncoder(on_ready=ready.set)
    try:
        there.start()
        assert not there.ready
        vectors = there.encode(TEXTS)
        assert ready.wait(60)
        assert there.ready
        assert vectors.shape == (len(TEXTS), here.dimension) == (4, there.dimension)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(vectors, here.encode(TEXTS), atol=1e-5)
        assert there.count_tokens(TEXTS) == here.count_tokens(TEXTS)
        assert there.token_limit == here.token_limit == 256
        assert there.count_tokens(["word " * 1000])[0] > 1000
        assert there.encode([]).shape == (0, 384)

        child = there._child
        assert child is not None
        child.kill()
        child.wait()
        deadline = time.monotonic() + 60
        while True:  # the next request starts it anew
            try:
                assert there.encode(TEXTS[:1]).shape == (1, 384)
                break
            except ModelError:
                assert time.monotonic() < deadline
    finally:
        there.close()
    with pytest.raises(ModelError, match="shut down"):
        there.encode(TEXTS)


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_several_texts_step_back_for_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, int] = {}

    class Noting:
        runtime = "noted"

        def __init__(self, model: str | None) -> None:
            pass

        def encode(self, texts: list[str]) -> np.ndarray:
            asked[len(texts)] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            return np.zeros((len(texts), 3), np.float32)

    monkeypatch.setattr(worker, "LocalEncoder", Noting)
    requests, replies = io.BytesIO(), io.BytesIO()
    for number in (1, 3):
        texts = ["text"] * number
        write_frame(requests, {"do": "encode", "id": number, "texts": number}, json.dumps(texts).encode())
    requests.seek(0)
    worker.serve(requests, replies, None)
    deadline = time.monotonic() + 10
    while len(asked) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert asked == {1: own, 3: min(19, own + 10)}


def test_closing_does_not_wait_for_the_model_to_load() -> None:
    encoder = RemoteEncoder()
    failures: list[str] = []

    def ask() -> None:
        try:
            encoder.encode(["x" * 1000] * 500)  # more than a pipe holds
        except ModelError as error:
            failures.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.3)
    began = time.monotonic()
    encoder.close()
    asking.join(5)
    assert not asking.is_alive()
    assert time.monotonic() - began < 2
    assert len(failures) == 1
