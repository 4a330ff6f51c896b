"""A model as a graph: the reference's vectors without torch, made once, trusted only while it is what was checked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.embed import graph_cache, making
from pipeline.embed.cores import texts_for_all_cores
from pipeline.embed.folder import default_model_folder, locate
from pipeline.embed.graph import GraphEncoder, _batches
from pipeline.embed.graph_cache import CACHE_VARIABLE, GraphCache, KeptGraph, NoGraph
from pipeline.embed.local import LocalEncoder
from pipeline.embed.model import SentenceTransformerEncoder
from pipeline.embed.port import texts_at_once
from pipeline.embed.remote import RemoteEncoder

ODD = [
    "",
    "   ",
    "x",
    "The boiler is checked every year.",
    "契約は三か月前の通知により終了する。合同可提前三个月通知终止。",
    "☂ 👩‍👩‍👧‍👦 🇩🇰 ½ ™",
    "before \x00 after, \ud7ff and \U0010ffff",
    "[CLS] literally [SEP] [MASK] [PAD] [UNK] </s>",
    "İSTANBUL e\u0301 \u00a0\u200b\u202e\ufeff",
    "y" * 5000,
    " ".join(f"word{number}" for number in range(10_000)),
    *(f"Sentence number {count} " + "goes on and on " * count for count in range(0, 60, 7)),
]


@pytest.fixture(autouse=True)
def models_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Shared by the tests of one run, so that the built-in model's graph is made once; never the user's own."""
    folder = tmp_path_factory.getbasetemp() / "models cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    return folder


@pytest.fixture(scope="module")
def reference() -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder()


@pytest.fixture(scope="module")
def plain_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with random weights: transformer, mean, length 1."""
    return small_model(tmp_path_factory.mktemp("models") / "plain")


@pytest.fixture(scope="module")
def made_cache(plain_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with its graph."""
    folder = tmp_path_factory.mktemp("made")
    assert made(plain_model, folder).runtime == "onnxruntime"
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def small_model(folder: Path, *, pooling: Any = "mean", positions: int = 64, **options: Any) -> Path:
    """A sentence-transformers model with random weights and the built-in model's vocabulary."""
    import torch
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel

    torch.manual_seed(7)
    base = folder.with_name(folder.name + " base")
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    shape |= {"vocab_size": 30522, "pad_token_id": 0, "max_position_embeddings": positions}
    if options.pop("decoder", False):
        LlamaModel(LlamaConfig(**shape, initializer_range=0.4)).save_pretrained(base)
    else:
        BertModel(BertConfig(**shape, initializer_range=0.4)).save_pretrained(base)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(default_model_folder() / name, base)
    transformer = models.Transformer(str(base), max_seq_length=min(48, positions))
    transformer.max_seq_length = options.pop("limit", 48)
    modules: list[Any] = [transformer, models.Pooling(32, pooling, options.pop("include_prompt", True))]
    if (outputs := options.pop("dense", None)) is not None:
        modules.append(models.Dense(32, outputs))
    modules += [make() for make in options.pop("more", ())]
    if options.pop("normalize", True):
        modules.append(models.Normalize())
    SentenceTransformer(modules=modules, device="cpu", **options).save_pretrained(str(folder), create_model_card=False)
    return folder


def made(model: Path, cache: Path) -> LocalEncoder:
    """The encoder after its graph was made, or could not be."""
    encoder = LocalEncoder(model, cache=cache)
    encoder.encode(["first"])
    encoder.close()
    return encoder


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.einsum("ij,ij->i", found, expected).min() >= 0.9999


# --- the same vectors ---


@pytest.mark.real_model
def test_the_built_in_model_gives_the_same_vectors_as_a_graph(reference: SentenceTransformerEncoder) -> None:
    encoder = LocalEncoder()
    encoder.encode(["first"])
    encoder.close()
    assert encoder.runtime == "onnxruntime"
    assert (encoder.dimension, encoder.token_limit) == (reference.dimension, reference.token_limit) == (384, 256)
    expected = reference.encode(ODD)
    assert_same(encoder.encode(ODD), expected)
    assert_same(encoder.encode(ODD[::-1]), expected[::-1])
    for number in (0, 3, 10):  # alone, and among others
        assert_same(encoder.encode([ODD[number]]), expected[number : number + 1])
    assert encoder.encode([]).shape == (0, 384)
    assert encoder.count_tokens(ODD) == reference.count_tokens(ODD)
    assert encoder.count_tokens([]) == []


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="mean"),
        pytest.param({"pooling": "cls"}, id="cls"),
        pytest.param({"pooling": "max", "normalize": False}, id="max, not normalised"),
        pytest.param({"pooling": "lasttoken"}, id="last token"),
        pytest.param({"pooling": ("cls", "mean")}, id="two poolings"),
        pytest.param({"dense": 16}, id="dense"),
        pytest.param({"dense": 40, "truncate_dim": 24, "normalize": False}, id="dense, truncated"),
        pytest.param({"prompts": {"query": "ask me: "}, "default_prompt_name": "query"}, id="prompt"),
        pytest.param(
            {"prompts": {"q": "ask me: "}, "default_prompt_name": "q", "include_prompt": False}, id="prompt left out"
        ),
        pytest.param({"limit": 9}, id="short"),
    ],
)
def test_whatever_modules_a_model_has(tmp_path: Path, cache: Path, options: dict[str, Any]) -> None:
    model = small_model(tmp_path / "model", **options)
    encoder = made(model, cache)
    assert encoder.runtime == "onnxruntime"
    reference = SentenceTransformerEncoder(model)
    assert (encoder.dimension, encoder.token_limit) == (reference.dimension, reference.token_limit)
    assert_same(encoder.encode(ODD), reference.encode(ODD))
    assert encoder.count_tokens(ODD) == reference.count_tokens(ODD)
    again = LocalEncoder(model, cache=cache)
    assert again.runtime == "onnxruntime"
    assert_same(again.encode(ODD), reference.encode(ODD))
    assert again.fingerprint == encoder.fingerprint == reference.fingerprint
    assert again._maker is None


def test_truncation_on_the_left(tmp_path: Path, cache: Path) -> None:
    model = small_model(tmp_path / "model")
    set_sides(model, truncation_side="left")
    encoder = made(model, cache)
    assert encoder.runtime == "onnxruntime"
    assert_same(encoder.encode(ODD), SentenceTransformerEncoder(model).encode(ODD))
    assert encoder.encode(["first " + "word " * 100])[0] @ encoder.encode(["other " + "word " * 100])[0] > 0.9999


def test_a_decoder_that_is_padded_on_the_left(tmp_path: Path, cache: Path) -> None:
    model = small_model(tmp_path / "model", pooling="lasttoken", decoder=True)
    set_sides(model, padding_side="left")
    encoder = made(model, cache)
    assert encoder.runtime == "onnxruntime"
    found = GraphCache(encoder.fingerprint, cache).find()
    assert isinstance(found, KeptGraph)
    assert found.facts.pads_left
    assert_same(encoder.encode(ODD), SentenceTransformerEncoder(model).encode(ODD))


def set_sides(model: Path, **sides: str) -> None:
    config = model / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | sides))


def test_batches_hold_every_text_once_and_about_as_many_tokens() -> None:
    lengths = [3, 250, 17, 0, 90, 90, 256, 3, 40]
    batches = list(_batches(lengths))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    assert batches[0] == [6]
    assert all(len(batch) == 1 or len(batch) * max(lengths[n] for n in batch) <= 256 for batch in batches)
    assert list(_batches([])) == []
    assert list(_batches([0, 0])) == [[0, 1]]


# --- without torch ---

ALONE = """
import sys
from pipeline.embed.local import LocalEncoder
encoder = LocalEncoder(sys.argv[1] or None)
print(encoder.encode(["a question"]).shape[1], encoder.runtime)
heavy = {"torch", "transformers", "sentence_transformers", "onnx", "PySide6"} & set(sys.modules)
print(*heavy or ["nothing heavy"])
encoder.close()
print(encoder.runtime)
"""


def start(model: Path | str) -> subprocess.Popen[str]:
    source = Path(__file__).resolve().parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", ALONE, str(model)],
        cwd=source, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finished(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == ""
    return out.splitlines()


@pytest.mark.real_model
def test_a_process_that_has_the_graph_imports_no_torch() -> None:
    encoder = LocalEncoder()
    encoder.load()
    encoder.close()
    assert finished(start("")) == ["384 onnxruntime", "nothing heavy", "onnxruntime"]


@pytest.mark.real_model
def test_the_child_process_uses_the_graph_and_says_so(reference: SentenceTransformerEncoder) -> None:
    encoder = LocalEncoder()
    encoder.load()
    encoder.close()
    child = RemoteEncoder()
    try:
        assert child.runtime == ""
        assert_same(child.encode(ODD), reference.encode(ODD))
        assert child.runtime == "onnxruntime"
        assert child.count_tokens(ODD) == reference.count_tokens(ODD)
    finally:
        child.close()


@pytest.mark.real_model
def test_a_question_does_not_wait_for_a_folder_that_is_being_indexed() -> None:
    encoder = LocalEncoder()
    encoder.load()
    encoder.close()
    child = RemoteEncoder()
    try:
        child.encode(["warm"])
        with ThreadPoolExecutor(2) as indexing:
            long = [indexing.submit(child.encode, ["The boiler is checked every year. " * 30] * 40) for _ in range(2)]
            for _ in range(5):
                assert child.encode(["a question"]).shape == (1, 384)
            assert not any(request.done() for request in long)
            assert [request.result().shape for request in long] == [(40, 384)] * 2
    finally:
        child.close()


def test_two_processes_that_make_it_at_once_make_one(plain_model: Path, models_cache: Path) -> None:
    first, second = start(plain_model), start(plain_model)
    for process in (first, second):
        assert finished(process)[-1] == "onnxruntime"
    kept = models_cache / "models" / locate(plain_model).fingerprint
    assert len(list(kept.glob("graph-*"))) == 1
    assert finished(start(plain_model)) == ["32 onnxruntime", "nothing heavy", "onnxruntime"]


# --- what is kept ---


def spoil_weights(folder: Path) -> None:
    file = folder / "weights.bin"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_weights,
        lambda folder: (folder / "graph.onnx").write_bytes((folder / "graph.onnx").read_bytes()[:1000]),
        lambda folder: (folder / "tokenizer.json").unlink(),
        lambda folder: shutil.rmtree(folder),
        lambda folder: (folder.parent / "record.json").write_text("{"),
        lambda folder: (folder.parent / "record.json").write_text("[]"),
        lambda folder: rewrite(folder.parent, lambda record: record["made_with"].update(onnxruntime="1.0")),
        lambda folder: rewrite(folder.parent, lambda record: record["facts"].pop("prompt")),
        lambda folder: rewrite(folder.parent, lambda record: record.update(form=0)),
    ],
    ids=["weights", "graph", "tokenizer", "folder", "record", "list", "version", "facts", "form"],
)  # fmt: skip
def test_what_is_damaged_or_outdated_is_made_again(
    plain_model: Path, made_cache: Path, cache: Path, spoil: Callable[[Path], object]
) -> None:
    shutil.copytree(made_cache, cache)
    expected = LocalEncoder(plain_model, cache=cache).encode(ODD)
    place = GraphCache(locate(plain_model).fingerprint, cache)
    before = place.find()
    assert isinstance(before, KeptGraph)
    spoil(before.folder)
    encoder = LocalEncoder(plain_model, cache=cache)
    assert_same(encoder.encode(ODD), expected)
    encoder.close()
    assert encoder.runtime == "onnxruntime"
    after = place.find()
    assert isinstance(after, KeptGraph)
    assert after.is_sound()
    assert after.folder != before.folder
    assert [folder.name for folder in place.folder.glob("graph-*")] == [after.folder.name]
    assert_same(encoder.encode(ODD), expected)


def rewrite(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    file = place / "record.json"
    record = json.loads(file.read_text())
    change(record)
    file.write_text(json.dumps(record))


def test_torch_answers_until_the_graph_is_there(plain_model: Path, cache: Path) -> None:
    encoder = LocalEncoder(plain_model, cache=cache)
    assert encoder.runtime == "torch: no graph has been made yet"
    encoder.load()
    assert encoder.runtime == "torch: its graph for onnxruntime is being made"
    expected = encoder.encode(ODD)
    encoder.close()
    assert encoder.runtime == "onnxruntime"
    assert_same(encoder.encode(ODD), expected)


def test_a_computer_with_an_accelerator_stays_with_torch(
    plain_model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SentenceTransformerEncoder, "device", "cuda")
    encoder = made(plain_model, cache)
    assert encoder.runtime == "torch on cuda"
    assert not cache.exists()


def test_an_accelerator_is_given_many_texts_at_once(
    plain_model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import SentenceTransformer

    sizes: list[int] = []
    whole = SentenceTransformer.encode

    def encode(model: Any, texts: Any, **options: Any) -> Any:
        sizes.append(options["batch_size"])
        return whole(model, texts, **options)

    monkeypatch.setattr(SentenceTransformer, "encode", encode)
    on_a_processor = made(plain_model, cache)
    assert (on_a_processor.texts_at_once, texts_at_once(on_a_processor), sizes[0]) == (0, texts_for_all_cores(), 8)
    monkeypatch.setattr(SentenceTransformerEncoder, "device", "cuda")
    accelerated = made(plain_model, cache.with_name("another"))
    assert accelerated.texts_at_once == texts_at_once(accelerated) == sizes[-1] == 64


# --- what stays with torch, and why ---


def refused(model: Path, cache: Path) -> str:
    """Why it stays with torch; that the reason is remembered and nothing is left behind."""
    encoder = made(model, cache)
    assert_same(encoder.encode(ODD[:4]), SentenceTransformerEncoder(model).encode(ODD[:4]))
    place = GraphCache(encoder.fingerprint, cache)
    found = place.find()
    assert isinstance(found, NoGraph)
    assert encoder.runtime == f"torch: {found}"
    assert not list(place.folder.glob("graph-*"))
    again = LocalEncoder(model, cache=cache)
    assert again.runtime == encoder.runtime
    again.load()
    assert again._maker is None
    return str(found)


def test_a_module_that_is_not_known(tmp_path: Path, cache: Path) -> None:
    from sentence_transformers import models

    model = small_model(tmp_path / "model", more=[lambda: models.CNN(32, out_channels=8)], normalize=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "LOWEST_COSINE", 0.0)
        assert refused(model, cache) == "its module CNN is not known"


def test_a_model_that_reads_more_than_is_tried(tmp_path: Path, cache: Path) -> None:
    model = small_model(tmp_path / "model", positions=4096, limit=4096)
    assert refused(model, cache) == "it reads 4,096 tokens, more than 2,048"


def test_a_model_whose_vectors_depend_on_the_batch(tmp_path: Path, cache: Path) -> None:
    """Padding on the left moves the words of a model with absolute positions: no two ways of batching agree."""
    model = small_model(tmp_path / "model", pooling="lasttoken")
    set_sides(model, padding_side="left")
    assert refused(model, cache).startswith("its vectors come out differently in onnxruntime (cosine 0.")


def test_vectors_that_differ(plain_model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encode = GraphEncoder.encode
    monkeypatch.setattr(GraphEncoder, "encode", lambda self, texts: encode(self, [*texts[:-1], "something else"]))
    assert refused(plain_model, cache).startswith("its vectors come out differently in onnxruntime (cosine 0.")


def test_vectors_that_are_no_numbers(plain_model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GraphEncoder, "encode", lambda self, texts: np.full((len(texts), 32), np.nan, np.float32))
    assert "cosine nan" in refused(plain_model, cache)


def test_tokens_that_differ(plain_model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GraphEncoder, "token_ids", lambda self, texts: [[1]] * len(texts))
    assert refused(plain_model, cache) == "its tokens come out differently without transformers"


def test_an_architecture_that_does_not_export(plain_model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("aten::something is not supported\nmore lines")

    monkeypatch.setattr("torch.onnx.export", fail)
    assert refused(plain_model, cache) == "it does not export: RuntimeError: aten::something is not supported"


def test_a_graph_that_onnxruntime_does_not_take(
    plain_model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = "torch.onnx.export"
    monkeypatch.setattr(export, lambda model, inputs, file, **_: Path(file).write_bytes(b"no graph"))
    assert refused(plain_model, cache).startswith("onnxruntime does not run it: ")


def test_a_cache_that_cannot_be_written(plain_model: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    encoder = made(plain_model, blocked)
    assert encoder.runtime.startswith("torch: its graph cannot be kept: ")
    assert encoder.encode(ODD[:3]).shape == (3, 32)


def test_a_computer_with_too_little_memory_is_tried_again(plain_model: Path, cache: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "_COPIES", 10**9)
        assert made(plain_model, cache).runtime.startswith("torch: its graph cannot be made now: it takes ")
    assert made(plain_model, cache).runtime == "onnxruntime"


def test_a_disk_that_is_full_is_tried_again(plain_model: Path, cache: Path) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.onnx.export", fail)
        assert made(plain_model, cache).runtime == "torch: its graph cannot be kept: [Errno 28] No space left on device"
    assert made(plain_model, cache).runtime == "onnxruntime"


def test_without_onnxruntime(plain_model: Path, made_cache: Path, cache: Path) -> None:
    for other in (made_cache, cache):  # with a graph that is there, and without one
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "onnxruntime", None)
            for module in ("graph", "making"):
                patch.delitem(sys.modules, f"pipeline.embed.{module}", raising=False)
            encoder = made(plain_model, other)
            assert encoder.runtime.startswith("torch: onnxruntime cannot be imported: ")
            assert encoder.encode(ODD[:3]).shape == (3, 32)
    assert LocalEncoder(plain_model, cache=made_cache).runtime == "onnxruntime"


def test_what_ends_the_process_again_and_again_is_not_tried_for_ever(plain_model: Path, cache: Path) -> None:
    place = GraphCache(locate(plain_model).fingerprint, cache)
    for _ in range(5):
        assert place.find() is None
        with place.locked(), place.new_folder():
            pass  # and nothing kept
    encoder = made(plain_model, cache)
    assert encoder.runtime.startswith("torch: making its graph was cut off 5 times; remove ")
    shutil.rmtree(place.folder)
    assert made(plain_model, cache).runtime == "onnxruntime"


def test_an_interrupted_making_leaves_nothing_that_is_used(plain_model: Path, cache: Path) -> None:
    place = GraphCache(locate(plain_model).fingerprint, cache)
    leftover = place.folder / "graph-leftover"
    leftover.mkdir(parents=True)
    (leftover / "weights.bin").write_bytes(b"half")
    assert place.find() is None
    assert made(plain_model, cache).runtime == "onnxruntime"
    assert not leftover.exists()


def test_where_graphs_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "named"))
    assert graph_cache.cache_folder() == tmp_path / "named"
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setattr(graph_cache, "user_cache_path", lambda *_, **__: tmp_path / "user")
    assert GraphCache("f").folder == tmp_path / "user" / "models" / "f"


def test_the_runtime_gathers_and_sends_nothing(tmp_path: Path) -> None:
    """The library would leave a queue of events in the user's cache, and look up a host to send them to."""
    cache = tmp_path / "cache"
    code = "import pipeline.embed.graph, time; time.sleep(1)"
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd=Path(__file__).parents[2])
    assert not list(tmp_path.rglob("*onnxruntime*"))
