"""What the window remembers between two starts: a small JSON file in the user's configuration folder.

Qt-free. A damaged or foreign file never stops the program: every value that cannot be used is its default, and a
file that is no JSON at all is put aside under another name before the next save, so that nothing of it is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

MOST_RECENT = 8
SCHEMES = ("system", "light", "dark", "contrast-light", "contrast-dark")
ZOOMS = (80, 90, 100, 110, 125, 150, 175, 200)


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything remembered. `geometry` and `splitters` hold Qt's own byte strings as base 64 text; `preferred`
    and `left_out` map a library's folder to the doc_ids that the user marked there; `settings` to the retrieval
    settings that were changed in the window. `watched` are the libraries that are kept up to date while open."""

    last_library: str | None = None
    recent: tuple[str, ...] = ()
    geometry: str = ""
    splitters: Mapping[str, str] = field(default_factory=dict)
    scheme: str = "system"
    zoom: int = 100
    keep_history: bool = True
    watched: tuple[str, ...] = ()
    preferred: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def default_file() -> Path:
    """Where the user's preferences are kept."""
    from platformdirs import user_config_path  # not before the first paint needs it

    return user_config_path("twinspect", appauthor=False) / "preferences.json"


class Preferences:
    """The choices and the file that keeps them."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._damaged = False
        self.choices = self._read()

    def change(self, **values: Any) -> None:
        """Take over the values and write them. A file that cannot be written costs the memory, not the run."""
        changed = replace(self.choices, **values)
        if changed == self.choices:
            return
        self.choices = changed
        self._write()

    def opened(self, library: Path) -> None:
        """Remember that this library was opened last."""
        name = str(library)
        recent = (name, *(other for other in self.choices.recent if other != name))[:MOST_RECENT]
        self.change(last_library=name, recent=recent)

    def watch(self, library: Path, wanted: bool) -> None:
        """Remember whether this library is kept up to date while it is open."""
        name = str(library)
        others = tuple(other for other in self.choices.watched if other != name)
        self.change(watched=(*others, name) if wanted else others)

    def watches(self, library: Path) -> bool:
        return str(library) in self.choices.watched

    def forget_recent(self) -> None:
        self.change(recent=())

    def marks(self, library: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The doc_ids left out of searches, and those preferred, in this library."""
        name = str(library)
        return self.choices.left_out.get(name, ()), self.choices.preferred.get(name, ())

    def mark(self, library: Path, left_out: tuple[str, ...], preferred: tuple[str, ...]) -> None:
        """Remember both for this library."""
        name = str(library)
        self.change(
            left_out=_with_entry(self.choices.left_out, name, left_out),
            preferred=_with_entry(self.choices.preferred, name, preferred),
        )

    def _read(self) -> Choices:
        try:
            content = json.loads(self._file.read_text("utf-8"))
        except FileNotFoundError:
            return Choices()
        except (OSError, ValueError, RecursionError):
            self._damaged = True
            return Choices()
        if not isinstance(content, dict):
            self._damaged = True
            return Choices()
        usable: dict[str, Any] = {entry.name: _usable(entry.name, content.get(entry.name)) for entry in fields(Choices)}
        return Choices(**{name: value for name, value in usable.items() if value is not None})

    def _write(self) -> None:
        beside = self._file.with_name(self._file.name + f".{os.getpid()}.new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            if self._damaged:
                os.replace(self._file, self._file.with_name(self._file.name + ".damaged"))
                self._damaged = False
            beside.write_text(json.dumps(asdict(self.choices), indent=1, ensure_ascii=False), "utf-8")
            os.replace(beside, self._file)
        except OSError:
            with suppress(OSError):
                beside.unlink()


def _with_entry(
    held: Mapping[str, tuple[str, ...]], name: str, value: tuple[str, ...]
) -> Mapping[str, tuple[str, ...]]:
    others = {key: kept for key, kept in held.items() if key != name}
    return {**others, name: value} if value else others


def _texts(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def _usable(name: str, value: object) -> Any:
    """The value as the field's type, None when it cannot be used."""
    if name == "zoom":
        return value if value in ZOOMS and isinstance(value, int) else None
    if name == "scheme":
        return value if value in SCHEMES else None
    if name == "keep_history":
        return value if isinstance(value, bool) else None
    if name in ("last_library", "geometry"):
        return value if isinstance(value, str) else None
    if name == "recent":
        texts = _texts(value)
        return None if texts is None else texts[:MOST_RECENT]
    if name == "watched":
        return _texts(value)
    if not isinstance(value, dict):
        return None
    if name == "splitters":
        return {str(key): text for key, text in value.items() if isinstance(text, str)}
    marks = {str(key): _texts(texts) for key, texts in value.items()}
    return {key: texts for key, texts in marks.items() if texts}
