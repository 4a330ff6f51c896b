"""The look of the window: frozen tokens for light, dark and high contrast, and their application to Qt.

Colours are "#rrggbb" strings; `qcolor` turns them into colours to paint with. Every pair of text and ground that the
window uses is listed by `Theme.text_pairs`, so that a test can hold all of them to WCAG's 4.5:1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont, QFontDatabase, QFontInfo, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.views.shell_sheet import shell_sheet
from app.views.stylesheet import stylesheet

FontRole = Literal["tiny", "small", "body", "heading", "title", "mono", "mono_small"]
_FONT_SCALE: dict[str, float] = {
    "tiny": 0.80,
    "small": 0.90,
    "body": 1.0,
    "heading": 1.12,
    "title": 1.5,
    "mono": 0.94,
    "mono_small": 0.84,
}


def luminance(colour: str) -> float:
    """WCAG relative luminance of "#rrggbb"."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two colours, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def blend(top: str, ground: str, share: float) -> str:
    """`share` of `top` laid over `ground`."""
    pairs = [(int(top[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


@lru_cache(maxsize=512)
def qcolor(colour: str, alpha: float = 1.0) -> QColor:
    """A colour to paint with. Cached: take it, do not change it."""
    made = QColor(colour)
    made.setAlphaF(alpha)
    return made


@lru_cache(maxsize=64)
def _font(family: str, points: float, bold: bool) -> QFont:
    font = QFont(family)
    font.setPointSizeF(points)
    if bold:
        font.setWeight(QFont.Weight.DemiBold)
    return font


@dataclass(frozen=True, slots=True)
class Theme:
    """Tokens. `window` is behind everything, `surface` under lists and text, `raised` under controls, `sunken` under
    headers and quoted content, `lit` under what the focus lights up, `selected` under the current row."""

    name: str
    dark: bool
    window: str
    surface: str
    raised: str
    sunken: str
    hover: str
    lit: str
    selected: str
    border: str
    border_strong: str
    text: str
    text_secondary: str
    text_quiet: str
    text_dimmed: str
    accent: str
    on_accent: str
    link: str
    warn: str
    error: str
    ok: str
    added_ground: str
    removed_ground: str
    twin_colours: tuple[str, ...]
    family: str = "sans-serif"
    mono_family: str = "monospace"
    points: float = 10.0
    space: int = 8  # the step of all spacing: half of it inside, twice of it between groups

    def font(self, role: FontRole = "body", *, bold: bool = False) -> QFont:
        """The font of a role. Cached: copy it before changing it."""
        family = self.mono_family if role.startswith("mono") else self.family
        return _font(family, round(self.points * _FONT_SCALE[role], 1), bold)

    def twin(self, letter: str | None) -> str | None:
        """The colour of a twin group (A, B, ... Z, AA ...), None where there is none. Colours come round again
        after the last; the letter always says which group is meant."""
        if not letter:
            return None
        number = 0
        for sign in letter:
            number = number * 26 + (ord(sign.upper()) - 64)
        return self.twin_colours[(number - 1) % len(self.twin_colours)]

    def on(self, colour: str) -> str:
        """Black or white, whichever reads better on `colour`."""
        return max("#FFFFFF", "#101214", key=lambda ink: contrast(ink, colour))

    def text_pairs(self) -> Iterator[tuple[str, str, str]]:
        """(what, text colour, ground) of every pairing in use."""
        grounds = {
            "window": self.window,
            "surface": self.surface,
            "raised": self.raised,
            "sunken": self.sunken,
            "hover": self.hover,
            "lit": self.lit,
            "selected": self.selected,
        }
        for level in ("text", "text_secondary", "text_quiet", "link", "warn", "error", "ok"):
            for ground, colour in grounds.items():
                yield f"{level} on {ground}", getattr(self, level), colour
        for ground in ("window", "surface", "raised", "sunken", "hover"):
            yield f"text_dimmed on {ground}", self.text_dimmed, grounds[ground]
        yield "on_accent on accent", self.on_accent, self.accent
        yield "text on added_ground", self.text, self.added_ground
        yield "text on removed_ground", self.text, self.removed_ground
        for index, colour in enumerate(self.twin_colours):
            yield f"letter on twin {index}", self.on(colour), colour

    def graphic_pairs(self) -> Iterator[tuple[str, str, str]]:
        """(what, colour, ground) of every mark that carries meaning by itself: at least 3:1."""
        for ground in ("window", "surface", "sunken", "lit"):
            for index, colour in enumerate(self.twin_colours):
                yield f"twin {index} on {ground}", colour, getattr(self, ground)
        for ground in ("window", "surface", "raised"):
            yield f"border_strong on {ground}", self.border_strong, getattr(self, ground)
            yield f"accent on {ground}", self.accent, getattr(self, ground)


LIGHT = Theme(
    name="light",
    dark=False,
    window="#F4F5F8",
    surface="#FFFFFF",
    raised="#FFFFFF",
    sunken="#F4F5F8",
    hover="#F3F5FA",
    lit="#EFF2FC",
    selected="#E6EAFB",
    border="#DDE1E8",
    border_strong="#848D9A",
    text="#171A1F",
    text_secondary="#414955",
    text_quiet="#565F6C",
    text_dimmed="#68717E",
    accent="#4854C8",
    on_accent="#FFFFFF",
    link="#3F4BC2",
    warn="#8A5200",
    error="#B3261E",
    ok="#1B6B3A",
    added_ground="#D6F0DC",
    removed_ground="#FBDDDB",
    twin_colours=("#0B4AA8", "#BD7400", "#14704A", "#DB4478", "#2A86DD", "#A8260C", "#6A4C8A", "#463710"),
)
DARK = Theme(
    name="dark",
    dark=True,
    window="#131519",
    surface="#191C21",
    raised="#22262D",
    sunken="#15181C",
    hover="#20242B",
    lit="#232839",
    selected="#2B3150",
    border="#2D323A",
    border_strong="#78818F",
    text="#E9EBEE",
    text_secondary="#C0C6CF",
    text_quiet="#A3ABB7",
    text_dimmed="#8A93A0",
    accent="#8C97F5",
    on_accent="#101214",
    link="#A9B2FF",
    warn="#F0B14A",
    error="#FF8A80",
    ok="#6FD19A",
    added_ground="#1D4430",
    removed_ground="#552726",
    twin_colours=("#7FA8F5", "#F2B61C", "#25D3A0", "#D9629F", "#BFEFFF", "#FF6A55", "#9A78F5", "#E2EE9C"),
)
LIGHT_CONTRAST = replace(
    LIGHT,
    name="light, high contrast",
    window="#FFFFFF",
    sunken="#FFFFFF",
    hover="#F0F0F0",
    lit="#EEF1FF",
    selected="#DCE2FF",
    border="#5A5F66",
    border_strong="#30343A",
    text="#000000",
    text_secondary="#16191D",
    text_quiet="#24282E",
    text_dimmed="#4A5058",
    accent="#2430A0",
    link="#1A2690",
    warn="#5E3800",
    error="#8A1010",
    ok="#0B4A24",
)
DARK_CONTRAST = replace(
    DARK,
    name="dark, high contrast",
    window="#000000",
    surface="#000000",
    raised="#0C0D0F",
    sunken="#000000",
    hover="#16181C",
    lit="#1A2040",
    selected="#232C60",
    border="#8A9099",
    border_strong="#C8CDD4",
    text="#FFFFFF",
    text_secondary="#F0F2F4",
    text_quiet="#DCE0E5",
    text_dimmed="#AEB5BF",
    accent="#B4BCFF",
    link="#C8CEFF",
)
THEMES: tuple[Theme, ...] = (LIGHT, DARK, LIGHT_CONTRAST, DARK_CONTRAST)


def theme_for(scheme: Qt.ColorScheme | None = None, *, scale: float = 1.0, high_contrast: bool = False) -> Theme:
    """The theme for a colour scheme (None or Unknown: the platform's), on the system font, `scale` times as large; in
    high contrast where that is asked for, here or by the platform."""
    hints = QGuiApplication.styleHints()
    if scheme is None or scheme == Qt.ColorScheme.Unknown:
        scheme = hints.colorScheme()
    platform = hints.accessibility().contrastPreference()
    wants_contrast = high_contrast or platform == Qt.ContrastPreference.HighContrast
    if scheme == Qt.ColorScheme.Dark:
        base = DARK_CONTRAST if wants_contrast else DARK
    else:
        base = LIGHT_CONTRAST if wants_contrast else LIGHT
    # The system's font, never the application's: applying twice must not enlarge twice.
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    fixed = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)).family()
    points = QFontInfo(system).pointSizeF()
    return replace(base, family=system.family(), mono_family=fixed, points=max(7.0, points) * scale)


def palette_of(theme: Theme) -> QPalette:
    """The palette that Fusion draws with."""
    palette = QPalette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    for which, colour in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.surface),
        (role.AlternateBase, theme.sunken),
        (role.Text, theme.text),
        (role.PlaceholderText, theme.text_quiet),
        (role.Button, theme.raised),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.error),
        (role.ToolTipBase, theme.raised),
        (role.ToolTipText, theme.text),
        (role.Highlight, theme.accent),
        (role.HighlightedText, theme.on_accent),
        (role.Link, theme.link),
        (role.LinkVisited, theme.link),
        (role.Accent, theme.accent),
        (role.Light, blend(theme.text, theme.raised, 0.04)),
        (role.Midlight, theme.border),
        (role.Mid, theme.border),
        (role.Dark, theme.border_strong),
        (role.Shadow, "#000000"),
    ):
        # A brush, which `setColor` would make as well: Python's side of brushes and gradients is made with the first of
        # them, and that takes longer than all else in painting an answer.
        palette.setBrush(which, QBrush(qcolor(colour)))
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(group.Disabled, which, qcolor(theme.text_dimmed))
    palette.setColor(group.Disabled, role.Highlight, qcolor(theme.border))
    return palette


def _tell_platform(app: QApplication, scheme: Qt.ColorScheme | None) -> None:
    """Title bars and native dialogs follow a scheme that the user chose."""
    if scheme is None or scheme == Qt.ColorScheme.Unknown:
        app.styleHints().unsetColorScheme()
    else:
        app.styleHints().setColorScheme(scheme)


_STYLED = "twinspect_style"


def apply_theme(
    app: QApplication,
    scheme: Qt.ColorScheme | None = None,
    *,
    scale: float = 1.0,
    high_contrast: bool = False,
    sheet: bool = True,
) -> Theme:
    """Style the whole application, all but its style sheet where that is not wanted yet, and return the theme that is
    now in force."""
    _tell_platform(app, scheme)
    theme = theme_for(scheme, scale=scale, high_contrast=high_contrast)
    # A style sheet hides the name of the style under it, and setting a style anew costs a second: note that it is set.
    if app.property(_STYLED) is None:
        app.setStyle("Fusion")
        app.setProperty(_STYLED, True)
    app.setFont(theme.font("body"))
    app.setPalette(palette_of(theme))
    if sheet:
        _set_sheet(app, theme)
    return theme


def _set_sheet(app: QApplication, theme: Theme) -> None:
    app.setStyleSheet(stylesheet(theme) + shell_sheet(theme))


class ThemeWatch(QObject):
    """Keeps the application in its theme: the user's choice, or the platform's scheme as that changes."""

    changed = Signal(object)  # Theme

    def __init__(
        self,
        app: QApplication,
        scheme: Qt.ColorScheme | None = None,
        scale: float = 1.0,
        high_contrast: bool = False,
        *,
        sheet: bool = True,
    ) -> None:
        """Without `sheet` the application gets its style sheet by `dress`, once its first window is put together: with
        one in force, Qt styles every part anew at each step of that."""
        super().__init__(app)
        self._app, self._scheme, self._scale, self._high_contrast = app, scheme, scale, high_contrast
        self._applying, self._dressed = False, sheet
        self._theme = apply_theme(app, scheme, scale=scale, high_contrast=high_contrast, sheet=sheet)
        self._hints = app.styleHints()
        self._access = self._hints.accessibility()  # held: the wrapper dies with its last reference
        self._hints.colorSchemeChanged.connect(self._refresh)
        self._access.contrastPreferenceChanged.connect(self._refresh)

    @property
    def theme(self) -> Theme:
        return self._theme

    def dress(self) -> None:
        """Put the style sheet in force, if it is not yet."""
        if not self._dressed:
            self._dressed = True
            _set_sheet(self._app, self._theme)

    def set_scheme(self, scheme: Qt.ColorScheme | None, high_contrast: bool = False) -> None:
        """Light, dark, or (None) whatever the platform says."""
        self._scheme, self._high_contrast = scheme, high_contrast
        self._refresh()

    def set_scale(self, scale: float) -> None:
        """Type `scale` times as large as the system's: present mode."""
        self._scale = scale
        self._refresh()

    def _refresh(self) -> None:
        if self._applying:  # applying tells the platform, which answers with its own signal
            return
        self._applying = True
        try:
            before = self._theme
            self._theme = apply_theme(
                self._app, self._scheme, scale=self._scale, high_contrast=self._high_contrast, sheet=self._dressed
            )
        finally:
            self._applying = False
        if self._theme != before:
            self.changed.emit(self._theme)
