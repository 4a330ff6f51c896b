"""Whether the system has what Qt needs, said in one line before Qt itself would end the process. Imports no Qt."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from pipeline.errors import TwinspectError

_PACKAGES: Mapping[str, tuple[str, str]] = {  # library -> package on Debian, package on Fedora
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libOpenGL.so.0": ("libopengl0", "libglvnd-opengl"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libX11.so.6": ("libx11-6", "libX11"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
    "libSM.so.6": ("libsm6", "libSM"),
    "libICE.so.6": ("libice6", "libICE"),
    "libxcb.so.1": ("libxcb1", "libxcb"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-glx.so.0": ("libxcb-glx0", "libxcb"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
    "libwayland-egl.so.1": ("libwayland-egl1", "libwayland-egl"),
}
_MISSING = re.compile(r"(lib[\w.+-]+\.so[\w.]*)\s*: cannot open shared object")


def missing_sentence(error: str) -> str:
    """One line about a library that the loader did not find, from what the loader said."""
    found = _MISSING.search(error)
    if found is None:
        return f"the window cannot be opened: {' '.join(error.split())}"
    library = found.group(1)
    if library not in _PACKAGES:
        return f"the window needs the system library {library}, which is not installed"
    debian, fedora = _PACKAGES[library]
    return (
        f"the window needs the system library {library}; get it with `apt install {debian}` (Debian, Ubuntu) or "
        f"`dnf install {fedora}` (Fedora)"
    )


def platform_wanted(environment: Mapping[str, str]) -> str | None:
    """The Qt platform that will be used on Linux; None when there is no display at all."""
    named = environment.get("QT_QPA_PLATFORM", "").split(";")[0].split(":")[0]
    if named:
        return named
    if environment.get("WAYLAND_DISPLAY"):
        return "wayland"
    return "xcb" if environment.get("DISPLAY") else None


def check_qt(environment: Mapping[str, str] = os.environ) -> None:
    """Raise `TwinspectError` with one line when the window cannot be opened on this system."""
    if importlib.util.find_spec("PySide6") is None:
        raise TwinspectError("the window needs PySide6: pip install PySide6-Essentials")
    try:
        import PySide6.QtWidgets  # the import is the check
    except ImportError as error:
        raise TwinspectError(missing_sentence(str(error))) from error
    if not sys.platform.startswith("linux"):
        return
    platform = platform_wanted(environment)
    if platform is None:
        raise TwinspectError(
            "there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set); without one, "
            "`twinspect query TEXT --screenshot FILE.png` saves a picture of the window"
        )
    plugin = Path(PySide6.QtWidgets.__file__).parent / "Qt" / "plugins" / "platforms" / f"libq{platform}.so"
    if not plugin.is_file():
        return  # a name that Qt knows and we do not, or a build of another layout: Qt will say it
    try:
        # Qt would abort the process when its platform's libraries are missing; the loader tells us which one it is.
        ctypes.CDLL(str(plugin))
    except OSError as error:
        raise TwinspectError(missing_sentence(str(error))) from error
