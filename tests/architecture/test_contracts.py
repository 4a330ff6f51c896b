"""The import contracts of pyproject.toml hold, and each is named when an import breaks it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS: dict[str, str] = {
    contract["id"]: contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
}

# (contract, the module that gets the import, the import)
OFFENCES = (
    ("one-way", "pipeline/query.py", "import app.compose"),
    ("no-qt", "pipeline/progress.py", "from PySide6.QtCore import QObject"),
    ("no-qt", "pipeline/cli.py", "import shiboken6"),
    ("stages-independent", "pipeline/select/cap.py", "from pipeline.select.collapse import collapse"),
    ("stages-pure", "pipeline/select/collapse.py", "from pipeline.store.catalog import Catalog"),
    ("stages-pure", "pipeline/select/outcome.py", "from pipeline.search.port import Question"),
    ("stages-pure", "pipeline/select/near.py", "import pipeline.embed.port"),
    ("readers-alone", "pipeline/extract/plain.py", "from pipeline.store import catalog"),
    ("readers-alone", "pipeline/chunk.py", "from pipeline.embed.model import SentenceTransformerEncoder"),
    ("faiss", "pipeline/search/dense.py", "import faiss"),
    ("faiss", "app/shelf.py", "import faiss"),
    ("database", "pipeline/library.py", "import sqlite3"),
    ("database", "pipeline/index.py", "from sqlite_utils import Database"),
    ("model", "pipeline/embed/remote.py", "import sentence_transformers"),
    ("model", "pipeline/query.py", "import torch"),
    ("graph", "pipeline/embed/worker.py", "import onnxruntime"),
    ("graph", "pipeline/embed/making.py", "import onnx"),
    ("tokenizers", "pipeline/embed/remote.py", "from tokenizers import Tokenizer"),
    ("file-formats", "pipeline/extract/plain.py", "import pypdfium2"),
    ("file-formats", "pipeline/extract/pdf.py", "from selectolax.lexbor import LexborHTMLParser"),
    ("trash", "pipeline/duplicates/deciding.py", "from send2trash import send2trash"),
    ("views-and-jobs", "app/views/lanes.py", "from app.jobs.crew import Crew"),
    ("models-and-views", "app/models/rows.py", "from app.views import lanes"),
    ("jobs-and-window", "app/jobs/worker.py", "import app.session"),
    ("threads", "app/session.py", "import threading"),
    ("no-network", "pipeline/embed/folder.py", "import urllib.request"),
    ("no-pickle", "pipeline/frames.py", "import pickle"),
)


def check_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Lint the packages in `folder` as `make check` does."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages and their contracts, to be broken one at a time."""
    folder = tmp_path_factory.mktemp("contracts")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in ("app", "pipeline"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_contracts_hold() -> None:
    done = check_imports(ROOT)

    assert done.returncode == 0, done.stdout + done.stderr
    assert [name for name in CONTRACTS.values() if f"{name} KEPT" not in done.stdout] == []


@pytest.mark.parametrize(
    ("contract", "module", "line"), OFFENCES, ids=[f"{contract}: {module}" for contract, module, _ in OFFENCES]
)
def test_contract_fails_when_broken(copied: Path, contract: str, module: str, line: str) -> None:
    file = copied / module
    before = file.read_text("utf-8")
    file.write_text(f"{before}\n{line}  # the offence\n", "utf-8")
    try:
        done = check_imports(copied)
    finally:
        file.write_text(before, "utf-8")

    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{CONTRACTS[contract]} BROKEN" in done.stdout


def test_every_contract_is_broken_once() -> None:
    assert {contract for contract, _, _ in OFFENCES} == set(CONTRACTS)
