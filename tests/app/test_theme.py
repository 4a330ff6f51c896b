"""The theme: readable everywhere, told apart by everybody, and applied without adding up."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage
from PySide6.QtWidgets import QApplication

from app.icons import icon, icon_names
from app.theme import DARK, LIGHT, THEMES, Theme, ThemeWatch, apply_theme, contrast, luminance, theme_for
from app.views.stylesheet import stylesheet

# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
SIGHTS = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


@pytest.fixture
def plain_app(qapp: QApplication):
    """The application, given back as it was."""
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # a new style visits every widget that is still there
    style, sheet, palette, font = qapp.style().objectName(), qapp.styleSheet(), qapp.palette(), qapp.font()
    yield qapp
    qapp.styleHints().unsetColorScheme()
    qapp.setStyleSheet(sheet)
    qapp.setStyle(style)
    qapp.setPalette(palette)
    qapp.setFont(font)


def seen_as(colour: str, sight: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """CIE Lab of a colour as an eye of this sight sees it."""
    linear = []
    for at in (1, 3, 5):
        channel = int(colour[at : at + 2], 16) / 255
        linear.append(channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4)
    red, green, blue = (min(1, max(0, sum(a * b for a, b in zip(row, linear, strict=True)))) for row in sight)
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    )
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_contrast_is_wcags() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert luminance("#FFFFFF") == pytest.approx(1)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_text_reads_on_every_ground_it_stands_on(theme: Theme) -> None:
    poor = {
        what: round(contrast(ink, ground), 2) for what, ink, ground in theme.text_pairs() if contrast(ink, ground) < 4.5
    }
    assert not poor


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_mark_stands_out(theme: Theme) -> None:
    poor = {
        what: round(contrast(ink, ground), 2)
        for what, ink, ground in theme.graphic_pairs()
        if contrast(ink, ground) < 3
    }
    assert not poor


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_twin_colours_are_told_apart_by_every_eye(theme: Theme, sight: str) -> None:
    for one, other in itertools.combinations(theme.twin_colours, 2):
        distance = math.dist(seen_as(one, SIGHTS[sight]), seen_as(other, SIGHTS[sight]))
        assert distance > 11, f"{one} and {other} look alike: {distance:.1f}"


def test_letters_choose_colours_and_come_round() -> None:
    cycle = LIGHT.twin_colours
    assert LIGHT.twin("A") == cycle[0]
    assert LIGHT.twin("C") == cycle[2]
    assert LIGHT.twin(chr(65 + len(cycle))) == cycle[0]
    assert LIGHT.twin("AA") == cycle[26 % len(cycle)]
    assert LIGHT.twin(None) is None
    assert len(set(cycle)) == len(cycle) == 8


def test_applying_twice_does_not_enlarge_twice(plain_app: QApplication) -> None:
    first = apply_theme(plain_app, Qt.ColorScheme.Light, scale=1.5)
    size = plain_app.font().pointSizeF()
    again = apply_theme(plain_app, Qt.ColorScheme.Light, scale=1.5)
    assert again == first
    assert plain_app.font().pointSizeF() == size
    assert theme_for(Qt.ColorScheme.Light).points == pytest.approx(size / 1.5)


def test_the_palette_follows_the_scheme(plain_app: QApplication) -> None:
    light = apply_theme(plain_app, Qt.ColorScheme.Light)
    assert plain_app.palette().window().color().name().upper() == light.window
    dark = apply_theme(plain_app, Qt.ColorScheme.Dark)
    assert dark.dark
    assert plain_app.palette().window().color().name().upper() == dark.window
    assert plain_app.style().name().lower() in ("fusion", "")  # a style sheet's wrapper has no name


def test_a_watch_without_its_sheet_puts_it_in_force_once(plain_app: QApplication) -> None:
    watch = ThemeWatch(plain_app, Qt.ColorScheme.Light)
    whole = plain_app.styleSheet()
    plain_app.setStyleSheet("")
    watch = ThemeWatch(plain_app, Qt.ColorScheme.Light, sheet=False)
    watch.set_scale(1.2)
    assert plain_app.styleSheet() == ""  # the window is not put together yet
    watch.dress()
    assert plain_app.styleSheet() == whole
    assert "#rail" in whole
    watch.set_scheme(Qt.ColorScheme.Dark)
    assert plain_app.styleSheet() not in ("", whole)


def test_the_watch_tells_once_of_every_change(plain_app: QApplication) -> None:
    watch = ThemeWatch(plain_app, Qt.ColorScheme.Light)
    told: list[Theme] = []
    watch.changed.connect(told.append)
    watch.set_scheme(Qt.ColorScheme.Dark)
    watch.set_scheme(Qt.ColorScheme.Dark)
    watch.set_scale(1.4)
    assert [theme.dark for theme in told] == [True, True]
    assert watch.theme is told[-1]
    assert watch.theme.points == pytest.approx(told[0].points * 1.4)


def test_the_sheet_names_only_pictures_that_are_there() -> None:
    for theme in THEMES:
        sheet = stylesheet(theme)
        pictures = [part.split('"')[0] for part in sheet.split('url("')[1:]]
        assert pictures
        assert all(Path(picture).is_file() for picture in pictures)
        assert "$" not in sheet


NEEDED = (
    "inspector", "library", "duplicates", "settings", "add folder", "search", "cancel", "open", "reveal", "copy",
    "left out", "only this file", "pin", "warning", "menu",
)  # fmt: skip


@pytest.mark.parametrize("name", NEEDED)
def test_icons_are_there_and_tinted(qapp: QApplication, name: str) -> None:
    for theme in (LIGHT, DARK):
        image = icon(name, theme).pixmap(QSize(48, 48)).toImage().convertToFormat(QImage.Format.Format_ARGB32)
        solid = {
            image.pixelColor(x, y).getRgb()[:3]
            for x in range(image.width())
            for y in range(image.height())
            if image.pixelColor(x, y).alpha() == 255
        }
        tint = QColor(theme.text_secondary)
        assert solid
        for colour in solid:  # where strokes meet, drawing rounds
            assert max(abs(a - b) for a, b in zip(colour, tint.getRgb()[:3], strict=True)) <= 2


def test_icons_are_drawn_for_the_screen_they_are_on(qapp: QApplication) -> None:
    made = icon("search", LIGHT).pixmap(QSize(20, 20), 2.0, QIcon.Mode.Normal, QIcon.State.Off)
    assert made.size() == QSize(40, 40)
    assert made.devicePixelRatio() == 2.0


def test_an_icon_nobody_drew_is_refused_by_name(qapp: QApplication) -> None:
    with pytest.raises(KeyError, match="sarch"):
        icon("sarch", LIGHT)


def test_icons_are_one_set() -> None:
    folder = Path(__file__).parents[2] / "resources" / "icons"
    for name in icon_names():
        drawing = (folder / f"{name}.svg").read_text(encoding="utf-8")
        assert 'viewBox="0 0 24 24"' in drawing
        assert 'stroke="#000000"' in drawing
        assert 'fill="none"' in drawing
