"""Rules of the house that no other tool keeps: sizes, names, paths, and what is told in more than one place."""

from __future__ import annotations

import ast
import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    "app", "pipeline", "resources", "tests", "packaging", ".ci",
    "pyproject.toml", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE", "Makefile",
}  # fmt: skip
TEXT_SUFFIXES = {".py", ".md", ".toml", ".txt", ".cfg", ".html", ".svg", ".qss", ".json", ".yml", ""}
LEFT_BY_TOOLS = {"__pycache__", "build", "dist", "shots", "twinspect.egg-info"}

ABOUT_400_LINES = range(400, 450)
LONGER_FOR_A_REASON = {  # path -> why it reads better in one piece
    "pipeline/chunk.py": "one algorithm, from lines to chunks",
}

# Written in parts, so that this file does not name them.
MACHINE_PATHS = re.compile(r"(?<![\w./-])/(?:ro" + "ot|wo" + r"rk|opt/wh" + r"eels|opt/py" + r"pi)/|\.py" + "env")
REGISTRY_HOSTS = re.compile(
    "|".join(["py" + r"pi\.org", "python" + "hosted", "registry" + r"\.npm", "deb" + r"\.debian"])
)


def own_files(*folders: str) -> Iterator[Path]:
    """The project's own files below these folders; without any, everywhere."""
    places = [ROOT / folder for folder in folders] or [ROOT / name for name in sorted(TOP_LEVEL)]
    for place in places:
        for file in [place] if place.is_file() else sorted(place.rglob("*")):
            if file.is_file() and not LEFT_BY_TOOLS & set(file.relative_to(ROOT).parts):
                yield file


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def preflight() -> dict[str, Any]:
    """The names of packaging/preflight.py, which is a script and no module of a package."""
    return runpy.run_path(str(ROOT / "packaging" / "preflight.py"), run_name="preflight")


def test_top_level_holds_what_was_agreed() -> None:
    found = {path.name for path in ROOT.iterdir() if path.name not in LEFT_BY_TOOLS}

    assert {name for name in found if not name.startswith(".")} - TOP_LEVEL == set()


def test_no_module_grows_without_a_reason() -> None:
    lengths = {
        name_of(file): len(file.read_text("utf-8").splitlines())
        for file in own_files("app", "pipeline")
        if file.suffix == ".py"
    }
    long = {name for name, lines in lengths.items() if lines > ABOUT_400_LINES.stop}
    short = {name for name in LONGER_FOR_A_REASON if lengths.get(name, 0) <= ABOUT_400_LINES.start}

    assert long - set(LONGER_FOR_A_REASON) == set(), "split them, or say in LONGER_FOR_A_REASON why not"
    assert short == set(), "these need no reason any more"


def test_names_say_what_a_thing_does() -> None:
    vague = re.compile(r"(Manager|Helper|Helpers|Utils|Util)$|^(utils?|helpers?|manager|misc|common)$")
    found = []
    for file in own_files("app", "pipeline"):
        if file.suffix == ".py":
            names = [
                file.stem,
                *(node.name for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.ClassDef)),
            ]
            found += [f"{name_of(file)}: {name}" for name in names if vague.search(name)]

    assert found == []


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, REGISTRY_HOSTS], ids=["paths of one machine", "registries"])
def test_no_file_names_the_machine_that_it_was_made_on(pattern: re.Pattern[str]) -> None:
    found = [
        f"{name_of(file)}: {match.group()}"
        for file in own_files()
        if file.suffix in TEXT_SUFFIXES and (match := pattern.search(file.read_text("utf-8", "replace")))
    ]

    assert found == []


def test_preflight_parses_on_an_old_python() -> None:
    ast.parse((ROOT / "packaging" / "preflight.py").read_text("utf-8"), feature_version=(3, 6))


def test_readme_names_the_packages_that_qt_wants() -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").replace("\\\n", " ").split())
    packages = preflight()["packages"]

    assert " ".join(packages("debian")) in readme
    assert " ".join(packages("fedora")) in readme


def test_preflight_and_window_name_the_same_packages() -> None:
    from app.qt_check import _PACKAGES

    names = preflight()
    told = {library: (debian, fedora) for library, debian, fedora in names["ALWAYS"] + names["X11"] + names["WAYLAND"]}

    assert {library: _PACKAGES.get(library) for library in told} == told


def test_constraints_pin_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [Requirement(line) for line in project["dependencies"] + project["optional-dependencies"]["dev"]]
    lines = (ROOT / "packaging" / "constraints.txt").read_text("utf-8").splitlines()
    pins = {
        canonicalize_name(pin.name): next(iter(pin.specifier)).version
        for pin in (Requirement(line) for line in lines if line and not line.startswith("#"))
    }

    missing = [str(r) for r in wanted if canonicalize_name(r.name) not in pins]
    refused = [
        str(r) for r in wanted if r.name not in missing and pins.get(canonicalize_name(r.name), "") not in r.specifier
    ]
    assert missing == []
    assert refused == []


@pytest.mark.parametrize("document", ["README.md", "ARCHITECTURE.md"])
def test_files_that_the_documents_name_are_there(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    named = re.findall(r"`([\w./-]+\.(?:py|toml|txt|md))`", text)
    files = [f"/{name_of(file)}" for file in own_files()]
    of_a_library = {"settings.toml"}

    assert [name for name in named if name not in of_a_library and not any(f.endswith(f"/{name}") for f in files)] == []
