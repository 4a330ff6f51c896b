"""The style of the window's own frame, the last part of the application's sheet: rail, question, chips, notices,
doors."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from app.views.stylesheet import ICONS

if TYPE_CHECKING:
    from app.theme import Theme

_SHEET = Template("""
#rail { background: $window; border: none; border-right: 1px solid $border; }
#rail QToolButton { border: none; border-left: 3px solid transparent; border-radius: 0; background: transparent;
    color: $text_secondary; padding: 8px 4px; }
#rail QToolButton:hover { background: $hover; color: $text; }
#rail QToolButton:checked { background: $selected; color: $text; border-left-color: $accent; }
#rail QToolButton:focus { border: 1px solid $accent; border-left: 3px solid $accent; }

#queryField QToolButton, QLineEdit > QToolButton, QLineEdit > QToolButton:hover, QLineEdit > QToolButton:pressed {
    padding: 0; min-height: 0; border: none; background: transparent; }
QCheckBox::indicator { width: 17px; height: 17px; border: 1px solid $border_strong; border-radius: 4px;
    background: $surface; }
QCheckBox::indicator:hover { border-color: $accent; }
QCheckBox::indicator:focus { border: 2px solid $accent; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url("$icons/check.svg"); }
#queryField { padding: 5px 8px; border: 1px solid $border_strong; border-radius: 8px; }
#queryField:focus { border: 2px solid $accent; padding: 4px 7px; }
#queryField:read-only { background: $window; border: 1px dashed $border_strong; padding: 5px 8px; }
#lookAt QScrollArea, #lookAt QScrollArea > QWidget > QWidget { background: transparent; }
#lookAt { background: $lit; color: $text; border-left: 3px solid $accent; padding: 6px 10px; }
#chip { background: $sunken; border: 1px solid $border; border-radius: 11px; }
#chip QToolButton { padding: 0 5px; min-height: 1em; border-radius: 9px; }
*[changed="true"], *[changed="true"]:hover, *[changed="true"]:focus { border: 1px solid $accent;
    background: $selected; }

#workBar { background: $raised; border: none; border-top: 1px solid $border; border-radius: 0; }
#notice { background: $raised; border: none; border-left: 4px solid $warn; border-bottom: 1px solid $border; }
#roots { background: $surface; border: 1px solid $border; border-radius: 8px; }
#roots > QWidget > QWidget { background: transparent; }
#line { background: $border; border: none; }
#statusBar { background: $window; border-top: 1px solid $border; }
#statusBar QPushButton[flat="true"] { padding: 1px 6px; min-height: 1.2em; }

#door { background: $surface; border: 1px solid $border_strong; border-radius: 14px; }
#door:hover { background: $hover; border-color: $accent; }
#door:focus { border: 2px solid $accent; }
QPushButton[card="true"] { text-align: left; padding: 9px 14px; background: $surface; border: 1px solid $border;
    border-radius: 8px; }
QPushButton[card="true"]:hover { background: $hover; border-color: $accent; }
QPushButton[card="true"]:focus { border: 1px solid $accent; }

#palette { background: $raised; border: 1px solid $border_strong; }
#paletteField { padding: 6px 9px; }
#palette QTreeView { background: transparent; }
#palette QTreeView::item { padding: 6px 8px; }
#dropHint { background: $lit; border: 3px dashed $accent; border-radius: 14px; color: $text; }
""")


def shell_sheet(theme: Theme) -> str:
    """The sheet for one theme."""
    return _SHEET.substitute(
        {"icons": ICONS.as_posix()}
        | {
            name: getattr(theme, name)
            for name in (
                "window",
                "surface",
                "raised",
                "sunken",
                "hover",
                "lit",
                "selected",
                "border",
                "border_strong",
                "text",
                "text_secondary",
                "accent",
                "warn",
            )
        }
    )
