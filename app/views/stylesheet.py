"""The window's style sheet, made from a theme's tokens: one look for every control on top of Fusion."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.theme import Theme

ICONS = Path(__file__).resolve().parents[2] / "resources" / "icons"

# The chevrons are drawn in one grey that has 3:1 on light and dark alike: a style sheet cannot tint an image.
_SHEET = Template("""
QAbstractItemView, QTabBar, QPushButton, QToolButton { outline: none; }
QToolTip { background: $raised; color: $text; border: 1px solid $border_strong; padding: 5px 7px; }

QPushButton, QToolButton { background: $raised; color: $text; border: 1px solid $border; border-radius: 6px;
    padding: 4px 10px; min-height: 1.35em; }
QToolButton { padding: 4px 6px; }
QToolButton[autoRaise="true"] { background: transparent; border-color: transparent; }
QPushButton:hover, QToolButton:hover { background: $hover; border-color: $border_strong; }
QPushButton:pressed, QToolButton:pressed, QToolButton:checked, QPushButton:checked { background: $selected;
    border-color: $accent; }
QPushButton:focus, QToolButton:focus { border: 1px solid $accent; }
QPushButton:disabled, QToolButton:disabled { color: $text_dimmed; background: $window; border-color: $border; }
QPushButton:default, QPushButton[primary="true"] { background: $accent; color: $on_accent; border-color: $accent; }
QPushButton:default:hover, QPushButton[primary="true"]:hover { border-color: $text; }
QPushButton:default:focus, QPushButton[primary="true"]:focus { border: 1px solid $text; }
QPushButton:default:disabled, QPushButton[primary="true"]:disabled { background: $window; color: $text_dimmed;
    border-color: $border; }
QPushButton[flat="true"] { background: transparent; border-color: transparent; color: $link; padding: 4px 6px; }
QPushButton[flat="true"]:hover { background: $hover; }
QPushButton[flat="true"]:focus { border: 1px solid $accent; }
QToolButton::menu-indicator { image: none; }

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox { background: $surface; color: $text;
    border: 1px solid $border; border-radius: 6px; padding: 3px 7px; selection-background-color: $accent;
    selection-color: $on_accent; }
QLineEdit, QPlainTextEdit, QTextEdit { placeholder-text-color: $text_quiet; }
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox { min-height: 1.45em; }
QLineEdit:hover, QSpinBox:hover, QDoubleSpinBox:hover, QComboBox:hover { border-color: $border_strong; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
    border: 1px solid $accent; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled { color: $text_dimmed;
    background: $window; }
QSpinBox, QDoubleSpinBox { padding-right: 18px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right;
    width: 18px; border: none; margin: 1px 1px 0 0; border-top-right-radius: 5px; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-origin: border; subcontrol-position: bottom right;
    width: 18px; border: none; margin: 0 1px 1px 0; border-bottom-right-radius: 5px; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover, QDoubleSpinBox::up-button:hover,
QDoubleSpinBox::down-button:hover { background: $selected; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url("$icons/chevron-up.svg"); width: 9px; height: 9px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url("$icons/chevron-down.svg"); width: 9px; height: 9px; }
QComboBox { padding-right: 20px; }
QComboBox::drop-down { subcontrol-origin: border; subcontrol-position: center right; width: 20px; border: none; }
QComboBox::down-arrow { image: url("$icons/chevron-down.svg"); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: $raised; color: $text; border: 1px solid $border_strong;
    selection-background-color: $selected; selection-color: $text; }

QMenuBar { background: $window; color: $text; }
QMenuBar::item { padding: 4px 9px; background: transparent; border-radius: 5px; }
QMenuBar::item:selected { background: $selected; }
QMenu { background: $raised; color: $text; border: 1px solid $border_strong; padding: 5px; }
QMenu::item { padding: 5px 22px 5px 12px; border-radius: 5px; }
QMenu::item:selected { background: $selected; color: $text; }
QMenu::item:disabled { color: $text_dimmed; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: $border; margin: 5px 8px; }

QAbstractItemView { background: $surface; color: $text; border: none; selection-background-color: $selected;
    selection-color: $text; alternate-background-color: $sunken; }
QTreeView::item, QTableView::item { padding: 3px 5px; }
QTreeView::item:hover, QTableView::item:hover { background: $hover; }
QTreeView::item:selected, QTableView::item:selected { background: $selected; color: $text; }
QHeaderView { background: $sunken; }
QHeaderView::section { background: $sunken; color: $text_quiet; border: none; border-bottom: 1px solid $border;
    padding: 5px 7px; }

QSplitter::handle { background: $border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: $accent; }

QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $scroll; border-radius: 3px; margin: 3px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: $border_strong; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }

QTabBar::tab { background: transparent; color: $text_secondary; padding: 6px 11px; border: none;
    border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: $text; background: $hover; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:focus { color: $link; }
QTabWidget::pane { border: none; border-top: 1px solid $border; }

QProgressBar { background: $track; border: none; border-radius: 3px; min-height: 6px; max-height: 6px; color: $text; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QCheckBox, QRadioButton { color: $text; spacing: 7px; }
QCheckBox:disabled, QRadioButton:disabled { color: $text_dimmed; }
QCheckBox:focus, QRadioButton:focus { color: $link; }
QGroupBox { border: 1px solid $border; border-radius: 8px; margin-top: 1.1em; padding: 10px; }
QGroupBox::title { subcontrol-origin: margin; left: 10px; padding: 0 4px; color: $text_secondary; }
QStatusBar { background: $window; color: $text_secondary; }
QStatusBar::item { border: none; }
QLabel[quiet="true"] { color: $text_quiet; }
QLabel[warn="true"] { color: $warn; }
QLabel[error="true"] { color: $error; }
""")


def stylesheet(theme: Theme) -> str:
    """The sheet for one theme."""
    tokens = {
        name: getattr(theme, name)
        for name in (
            "window",
            "surface",
            "raised",
            "sunken",
            "hover",
            "selected",
            "border",
            "border_strong",
            "text",
            "text_secondary",
            "text_quiet",
            "text_dimmed",
            "accent",
            "on_accent",
            "link",
            "warn",
            "error",
        )
    }
    return _SHEET.substitute(
        tokens,
        icons=ICONS.as_posix(),
        scroll=theme.border_strong if "contrast" in theme.name else "#464D58" if theme.dark else "#C3C9D2",
        track="#2D323A" if theme.dark else "#DDE1E8",
    )
