"""The settings of an indexing run: what one file may cost, and what is kept of texts that are gone.

They stand under `[index]` in the library's own `settings.toml` and in a file given with `--config`; a flag outranks
both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.errors import SettingError
from pipeline.extract.records import MEGABYTE, ReadLimits
from pipeline.settings import Layer, SettingSpec, Value, read_layer

SECTION = "index"
SPECS: tuple[SettingSpec, ...] = (
    SettingSpec("max-seconds", float, 30.0, "How long the reading of one file may take, in seconds.", 0.1, 86_400),
    SettingSpec("max-memory-mb", int, 2_048, "How much memory the reading of one file may take.", 64, 1_048_576),
    SettingSpec("max-file-mb", int, 200, "Files larger than this are not read.", 1, 1_048_576),
    SettingSpec("max-characters", int, 20_000_000, "The most text of one file.", 1_000, 1_000_000_000),
    SettingSpec(
        "spare-vectors",
        int,
        20_000,
        "How many vectors of texts that are gone are kept, should they come back; 0 keeps none.",
        0,
        10_000_000,
    ),
    SettingSpec("spare-days", float, 30.0, "For how many days they are kept.", 0, 36_500),
)
BY_KEY: Mapping[str, SettingSpec] = {spec.key: spec for spec in SPECS}


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """The values in force. Build with `index_settings`."""

    limits: ReadLimits = field(default_factory=ReadLimits)
    spare_vectors: int = 20_000
    spare_days: float = 30.0


def index_settings(layers: Iterable[Layer] = ()) -> IndexSettings:
    """Lay the layers over the defaults, later over earlier. Raises `SettingError` on unknown keys or bad values."""
    values: dict[str, Value] = {spec.key: spec.default for spec in SPECS}
    for layer in layers:
        for key, value in layer.values.items():
            if key not in BY_KEY:
                raise SettingError(key, value, "one of " + ", ".join(BY_KEY), layer.source)
            values[key] = BY_KEY[key].check(value, layer.source)

    def number(key: str) -> float:
        value = values[key]
        assert isinstance(value, (int, float))
        return value

    limits = ReadLimits(
        seconds=float(number("max-seconds")),
        memory_bytes=int(number("max-memory-mb")) * MEGABYTE,
        max_bytes=int(number("max-file-mb")) * MEGABYTE,
        max_chars=int(number("max-characters")),
    )
    return IndexSettings(limits, int(number("spare-vectors")), float(number("spare-days")))


def library_layers(library: Path) -> list[Layer]:
    """What the library's own `settings.toml` says about indexing. Raises `SettingError`."""
    own = library / "settings.toml"
    return [read_layer(own, section=SECTION)] if own.is_file() else []
