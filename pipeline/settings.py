"""Every setting once: key, type, default, range, description; and where each value in force came from.

Highest first: flag, `[rag]` of a TOML file given with `--config`, the library's own `settings.toml`, default.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.errors import SettingError
from pipeline.records import SettingInForce

Value = int | float | str | bool | None
POLICIES = ("plain", "source", "evidence")
Policy = Literal["plain", "source", "evidence"]


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting. `low`/`high` bound numbers (inclusive); `choices` bounds words; `default` None means that it
    follows `follows` unless given."""

    key: str
    kind: type[int] | type[float] | type[str] | type[bool]
    default: Value
    description: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    follows: str | None = None

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.choices:
            return " or ".join(self.choices)
        if self.kind is bool:
            return "true or false"
        noun = "a whole number" if self.kind is int else "a number"
        return (
            f"{noun} from {_figure(self.low)} to {_figure(self.high)}"
            if self.high is not None
            else f"{noun} of at least {self.low:g}"
        )

    def check(self, value: object, source: str = "") -> Value:
        """The value as this setting's type. Raises `SettingError` when it is impossible."""
        if self.kind is bool:
            if isinstance(value, bool):
                return value
            raise SettingError(self.key, value, self.allowed, source)
        if self.kind is str:
            if isinstance(value, str) and value in self.choices:
                return value
            raise SettingError(self.key, value, self.allowed, source)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SettingError(self.key, value, self.allowed, source)
        if self.kind is int and not isinstance(value, int):
            raise SettingError(self.key, value, self.allowed, source)
        if (
            value != value
            or (self.low is not None and value < self.low)
            or (self.high is not None and value > self.high)
        ):
            raise SettingError(self.key, value, self.allowed, source)
        return self.kind(value)

    def parse(self, text: str, source: str = "") -> Value:
        """The value that a flag's text stands for. Raises `SettingError`."""
        if self.kind is bool:
            words: dict[str, Value] = {"true": True, "false": False}
            return self.check(words.get(text.strip().lower(), text), source)
        if self.kind is str:
            return self.check(text, source)
        try:
            number: object = int(text) if self.kind is int else float(text)
        except ValueError:
            number = text
        return self.check(number, source)


SPECS: tuple[SettingSpec, ...] = (
    SettingSpec("retrieve-k", int, 20, "How many different texts are recalled before anything is selected.", 1, 10_000),
    SettingSpec("return-n", int, 5, "The most evidence blocks after selection.", 1, 10_000),
    SettingSpec(
        "top-k",
        int,
        None,
        "Legacy: stands in for retrieve-k and return-n where they are not given.",
        1,
        10_000,
    ),
    SettingSpec(
        "max-chunks-per-document",
        int,
        2,
        "The most evidence blocks of one document; 0 means no cap.",
        0,
        10_000,
    ),
    SettingSpec(
        "policy",
        str,
        "evidence",
        "plain: top raw hits. source: one block a file (legacy). evidence: the full rules.",
        choices=POLICIES,
    ),
    SettingSpec("max-items", int, None, "The most blocks the agent receives.", 1, 10_000, follows="return-n"),
    SettingSpec("max-chars-per-item", int, 1_500, "The most characters of one block for the agent.", 1, 10_000_000),
    SettingSpec("max-total-chars", int, 6_000, "The most characters the agent receives in all.", 1, 100_000_000),
    SettingSpec("serve-stale", bool, False, "Serve the last good text of files that could not be re-indexed."),
    SettingSpec("near-threshold", float, 0.5, "Share of 3-word shingles from which texts are near twins.", 0.1, 1.0),
    SettingSpec("fold-near", bool, False, "Also fold near twins into one block (evidence policy)."),
)
BY_KEY: Mapping[str, SettingSpec] = {spec.key: spec for spec in SPECS}


@dataclass(frozen=True, slots=True)
class Layer:
    """Values of one origin, lowest layers first in `resolve`. `file` names the file they were read from."""

    values: Mapping[str, object]
    origin: Literal["file", "flag"]
    file: str | None = None

    @property
    def source(self) -> str:
        return f"in {self.file}" if self.file else "given as a flag"


@dataclass(frozen=True, slots=True)
class Settings:
    """All values in force, each with its origin. Build with `resolve`."""

    in_force: Mapping[str, SettingInForce]

    def _int(self, key: str) -> int:
        value = self.in_force[key].value
        assert isinstance(value, int)
        return value

    @property
    def retrieve_k(self) -> int:
        return self._int("retrieve-k")

    @property
    def return_n(self) -> int:
        return self._int("return-n")

    @property
    def max_chunks_per_document(self) -> int:
        return self._int("max-chunks-per-document")

    @property
    def policy(self) -> str:
        return str(self.in_force["policy"].value)

    @property
    def max_items(self) -> int:
        return self._int("max-items")

    @property
    def max_chars_per_item(self) -> int:
        return self._int("max-chars-per-item")

    @property
    def max_total_chars(self) -> int:
        return self._int("max-total-chars")

    @property
    def serve_stale(self) -> bool:
        return bool(self.in_force["serve-stale"].value)

    @property
    def near_threshold(self) -> float:
        value = self.in_force["near-threshold"].value
        assert isinstance(value, (int, float))
        return float(value)

    @property
    def fold_near(self) -> bool:
        return bool(self.in_force["fold-near"].value)

    def with_flags(self, values: Mapping[str, object]) -> Settings:
        """These settings with some values changed as by flags. A key set to None goes back to its default."""
        layers: list[Layer] = []
        by_file: dict[str | None, dict[str, object]] = {}
        flags: dict[str, object] = {}
        for key, entry in self.in_force.items():
            if entry.via is not None or entry.origin == "default":
                continue
            (flags if entry.origin == "flag" else by_file.setdefault(entry.file, {}))[key] = entry.value
        layers.extend(Layer(held, "file", file) for file, held in by_file.items())
        for key, value in values.items():
            if value is None:
                flags.pop(key, None)
            else:
                flags[key] = value
        layers.append(Layer(flags, "flag"))
        return resolve(layers)


def _figure(value: float | None) -> str:
    return f"{value:,.15g}" if value is not None else "any"


def resolve(layers: Iterable[Layer] = ()) -> Settings:
    """Lay the layers over the defaults, later over earlier. Raises `SettingError` on unknown keys or bad values."""
    given: dict[str, SettingInForce] = {}
    for layer in layers:
        for key, value in layer.values.items():
            spec = BY_KEY.get(key)
            if spec is None:
                raise SettingError(key, value, "one of " + ", ".join(BY_KEY), layer.source)
            given[key] = SettingInForce(spec.check(value, layer.source), layer.origin, layer.file)

    in_force: dict[str, SettingInForce] = {}
    legacy = given.get("top-k")
    for spec in SPECS:
        if spec.key in given:
            in_force[spec.key] = given[spec.key]
        elif spec.key in ("retrieve-k", "return-n") and legacy is not None:
            in_force[spec.key] = SettingInForce(legacy.value, legacy.origin, legacy.file, via="top-k")
        elif spec.follows is not None:
            followed = in_force[spec.follows]
            in_force[spec.key] = SettingInForce(followed.value, followed.origin, followed.file, via=spec.follows)
        else:
            in_force[spec.key] = SettingInForce(spec.default, "default")
    return Settings(in_force)


def read_layer(file: Path, *, section: str | None) -> Layer:
    """The settings that a TOML file holds: those under `[section]`, or the whole file when `section` is None.

    Raises `SettingError` when the file is not readable TOML or the section is not a table.
    """
    try:
        with file.open("rb") as stream:
            content: object = tomllib.load(stream)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError("config", str(file), f"a readable TOML file ({error})") from error
    assert isinstance(content, dict)
    if section is None:
        content = {key: value for key, value in content.items() if key != "index"}  # see `index_settings.py`
    else:
        content = content.get(section, {})
    if not isinstance(content, dict):
        raise SettingError(section or "config", content, "a table of settings", str(file))
    return Layer(content, "file", str(file))
