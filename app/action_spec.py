"""What a command of the window is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One command. `menu` "" means that no menu shows it; `palette` says whether the command palette finds it;
    `group` makes it one of several of which exactly one is checked."""

    id: str
    text: str
    menu: str = ""
    shortcuts: tuple[str, ...] = ()
    icon: str = ""
    tip: str = ""
    group: str = ""
    checkable: bool = False
    palette: bool = True
    separated: bool = False  # a line stands before it in its menu
