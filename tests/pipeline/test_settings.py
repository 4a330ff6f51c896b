"""Settings: layers, origins, the legacy fallback, and refusals that name the key, the value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import SettingError
from pipeline.settings import BY_KEY, SPECS, Layer, read_layer, resolve


def test_defaults_stand_where_nothing_is_given() -> None:
    settings = resolve()
    assert (settings.retrieve_k, settings.return_n, settings.max_chunks_per_document) == (20, 5, 2)
    assert (settings.max_items, settings.max_chars_per_item, settings.max_total_chars) == (5, 1500, 6000)
    assert settings.policy == "evidence"
    assert all(entry.origin == "default" for entry in settings.in_force.values())


def test_a_flag_beats_a_file_beats_the_default_and_each_says_where_it_came_from() -> None:
    library = Layer({"retrieve-k": 30, "return-n": 7, "policy": "source"}, "file", "settings.toml")
    config = Layer({"return-n": 8}, "file", "rag.toml")
    flags = Layer({"policy": "plain"}, "flag")
    in_force = resolve([library, config, flags]).in_force
    assert (in_force["retrieve-k"].value, in_force["retrieve-k"].file) == (30, "settings.toml")
    assert (in_force["return-n"].value, in_force["return-n"].file) == (8, "rag.toml")
    assert (in_force["policy"].value, in_force["policy"].origin) == ("plain", "flag")
    assert in_force["max-total-chars"].origin == "default"


def test_top_k_stands_in_for_either_width_that_is_absent() -> None:
    both = resolve([Layer({"top-k": 7}, "flag")])
    assert (both.retrieve_k, both.return_n, both.max_items) == (7, 7, 7)
    assert both.in_force["retrieve-k"].via == "top-k"
    one = resolve([Layer({"top-k": 7, "retrieve-k": 40}, "flag")])
    assert (one.retrieve_k, one.return_n) == (40, 7)
    below = resolve([Layer({"return-n": 3}, "file", "f"), Layer({"top-k": 9}, "flag")])
    assert (below.retrieve_k, below.return_n) == (9, 3)


def test_max_items_follows_return_n_until_it_is_given() -> None:
    assert resolve([Layer({"return-n": 9}, "flag")]).max_items == 9
    assert resolve([Layer({"return-n": 9, "max-items": 2}, "flag")]).max_items == 2


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("retrieve-k", 0),
        ("retrieve-k", "20"),
        ("retrieve-k", 2.5),
        ("retrieve-k", True),
        ("return-n", -1),
        ("max-chunks-per-document", -1),
        ("policy", "best"),
        ("near-threshold", 1.5),
        ("near-threshold", float("nan")),
        ("fold-near", 1),
        ("max-total-chars", 0),
    ],
)
def test_impossible_values_are_refused_by_key_value_and_what_is_allowed(key: str, value: object) -> None:
    with pytest.raises(SettingError) as refused:
        resolve([Layer({key: value}, "file", "rag.toml")])
    words = str(refused.value)
    assert key in words
    assert repr(value) in words
    assert BY_KEY[key].allowed in words
    assert "rag.toml" in words


def test_unknown_keys_are_refused_and_the_known_ones_named() -> None:
    with pytest.raises(SettingError, match=r"retrieve_k.*retrieve-k"):
        resolve([Layer({"retrieve_k": 3}, "flag")])


def test_changing_one_value_keeps_the_others_and_their_origins() -> None:
    settings = resolve([Layer({"retrieve-k": 30, "top-k": 4}, "file", "f.toml")]).with_flags({"policy": "plain"})
    assert settings.in_force["retrieve-k"].file == "f.toml"
    assert settings.return_n == 4
    assert settings.in_force["return-n"].via == "top-k"
    back = settings.with_flags({"policy": None})
    assert back.policy == "evidence"


def test_a_toml_file_gives_its_section(tmp_path: Path) -> None:
    file = tmp_path / "tool.toml"
    file.write_text("[rag]\nretrieve-k = 11\n[other]\nx = 1\n")
    assert read_layer(file, section="rag").values == {"retrieve-k": 11}
    file.write_text("[other]\nx = 1\n")
    assert read_layer(file, section="rag").values == {}


@pytest.mark.parametrize("content", ["not toml [", "rag = 3\n", None])
def test_a_settings_file_that_cannot_be_used_is_refused_in_words(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "tool.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingError, match=r"rag|tool\.toml"):
        read_layer(file, section="rag")


def test_every_setting_describes_itself() -> None:
    for spec in SPECS:
        assert spec.description.endswith(".")
        assert spec.allowed
        if spec.default is not None:
            assert spec.check(spec.default) == spec.default
            assert spec.parse(str(spec.default).lower() if isinstance(spec.default, bool) else str(spec.default)) == (
                spec.default
            )
