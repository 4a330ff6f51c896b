"""Which texts are twins, and which are not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.textkeys import fold, fold_key, text_sha256


def test_white_space_and_composition_fold_and_nothing_else_does() -> None:
    base = "Straße café: pay 5 €\nby noon"
    for same in (
        "Straße café: pay 5 €\r\nby noon",
        "Straße\tcafé: pay 5 €\n\n  by noon  ",
        "Straße\N{NO-BREAK SPACE}café: pay 5\N{NARROW NO-BREAK SPACE}€\N{LINE SEPARATOR}by noon",
        "Straße cafe\N{COMBINING ACUTE ACCENT}: pay 5 € by noon",
    ):
        assert fold_key(same) == fold_key(base)
    for other in ("straße café: pay 5 €\nby noon", "Strasse café: pay 5 €\nby noon", "Straße café: pay 6 €\nby noon",
                  "Straße café pay 5 €\nby noon", "Straße café: pay 5€\nby noon"):  # fmt: skip
        assert fold_key(other) != fold_key(base)


@given(st.text(), st.sampled_from([" ", "\n", "\t ", "\N{IDEOGRAPHIC SPACE}"]))
def test_folding_is_stable_and_ignores_outer_and_inner_white_space(text: str, space: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(space + text + space) == fold(text)
    assert fold(space.join(text.split())) == fold(text)


def test_the_exact_key_sees_every_difference() -> None:
    assert text_sha256("a b") != text_sha256("a  b")
    assert len(text_sha256("\ud800")) == 64
