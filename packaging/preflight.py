"""What has to be there before Twinspect can be installed and its window opened, told in one line when it is not.

Old Pythons must be able to run this file, from 3.6 on, because it is what tells that a Python is too old. So it holds
no newer syntax, and nothing but the standard library.

    preflight.py environment VENV [--asked]   the Python, and the virtual environment that it can make
    preflight.py libraries [--window]         the system libraries that Qt wants, looked for by name (before installing)
    preflight.py qt [--window]                Qt itself, started by the Python that runs this file (after installing)
    preflight.py packages debian|fedora       the packages that hold those libraries
"""

import os
import re
import shutil
import subprocess
import sys

OLDEST = (3, 11)
BETTER = (13, 12, 11, *range(14, 21))  # minor versions to look for where Python is too old, the tested ones first

# What Qt's own files ask of the system: library, package of Debian and Ubuntu, package of Fedora. As `objdump -p` says
# of PySide6/Qt/lib and PySide6/Qt/plugins; what every such system has anyhow (zlib, zstd) is not listed.
ALWAYS = (
    ("libEGL.so.1", "libegl1", "libglvnd-egl"),
    ("libGL.so.1", "libgl1", "libglvnd-glx"),
    ("libX11.so.6", "libx11-6", "libX11"),
    ("libdbus-1.so.3", "libdbus-1-3", "dbus-libs"),
    ("libfontconfig.so.1", "libfontconfig1", "fontconfig"),
    ("libfreetype.so.6", "libfreetype6", "freetype"),
    ("libglib-2.0.so.0", "libglib2.0-0", "glib2"),
    ("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon"),
)
X11 = (
    ("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb"),
    ("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor"),
    ("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm"),
    ("libxcb-image.so.0", "libxcb-image0", "xcb-util-image"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms"),
    ("libxcb-randr.so.0", "libxcb-randr0", "libxcb"),
    ("libxcb-render-util.so.0", "libxcb-render-util0", "xcb-util-renderutil"),
    ("libxcb-shape.so.0", "libxcb-shape0", "libxcb"),
    ("libxcb-util.so.1", "libxcb-util1", "xcb-util"),
    ("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11"),
)
WAYLAND = (
    ("libwayland-client.so.0", "libwayland-client0", "libwayland-client"),
    ("libwayland-cursor.so.0", "libwayland-cursor0", "libwayland-cursor"),
    ("libwayland-egl.so.1", "libwayland-egl1", "libwayland-egl"),
)
FONTS = ("", "fonts-dejavu-core", "dejavu-sans-fonts")  # no library: without any font a window shows no word

START_QT = (
    "from PySide6 import QtGui, QtSvg, QtWidgets\n"
    "application = QtWidgets.QApplication(['preflight'])\n"
    "print(application.platformName())\n"
)


class Missing(Exception):
    """Something is not there; the message says what, and what to do about it."""


# --- Python -------------------------------------------------------------------------------------------------------


def check_environment(folder, asked):
    """The virtual environment in `folder`, or the Python that is going to make it.

    `asked`: the user named the Python, so an environment of another version is taken away and made anew. Writes
    `folder`/.python when it has a different Python from last time.
    """
    version = environment_version(folder)
    if version is not None and version >= OLDEST and (not asked or version == sys.version_info[:2]):
        note_python(folder, version)
        return
    check_python()
    if os.path.exists(os.path.join(folder, "pyvenv.cfg")):
        print(f"{folder} is of another Python: it is made anew")
        shutil.rmtree(folder)
    note_python(folder, sys.version_info[:2])


def environment_version(folder):
    """(major, minor) of the environment's Python, None when there is none that runs."""
    for name in ("bin/python", "Scripts/python.exe"):
        program = os.path.join(folder, *name.split("/"))
        if os.path.exists(program):
            return version_of(program)
    return None


def version_of(program):
    code, output, _ = run([program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    found = re.match(r"(\d+)\.(\d+)\s*$", output)
    return (int(found.group(1)), int(found.group(2))) if code == 0 and found else None


def check_python():
    if sys.version_info[:2] < OLDEST:
        here, needed, newer = dotted(sys.version_info[:3]), dotted(OLDEST), newer_python()
        advice = f"this machine has {newer} too: add PYTHON={newer} to the command"
        if newer is None:
            advice = "install one, and name it as in: make test PYTHON=python3.12"
        raise Missing(f"Python {here} is too old: Twinspect needs {needed} or newer; {advice}")
    version = dotted(sys.version_info[:2])
    for module in ("ensurepip", "venv"):
        if not importable(module):
            raise Missing(
                f"Python {version} lacks its module {module}, so it can make no environment; on Debian and Ubuntu: "
                f"sudo apt-get install python{version}-venv"
            )
    for module in ("ctypes", "sqlite3", "ssl"):
        if not importable(module):
            raise Missing(
                f"this Python ({sys.executable}) was built without its module {module}: use another one, as in: "
                "make test PYTHON=python3.12"
            )


def newer_python():
    """The name of a newer Python that this machine has and that runs, None when there is none."""
    for name in [f"python3.{minor}" for minor in BETTER]:
        if shutil.which(name) and (version_of(name) or (0, 0)) >= OLDEST:
            return name
    return None


def dotted(version):
    return ".".join(str(part) for part in version)


def importable(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def note_python(folder, version):
    text = dotted(version) + "\n"
    file = os.path.join(folder, ".python")
    if os.path.exists(file):
        with open(file) as stream:
            if stream.read() == text:
                return
    if not os.path.isdir(folder):
        os.makedirs(folder)
    with open(file, "w") as stream:
        stream.write(text)


# --- system libraries -----------------------------------------------------------------------------------------------


def check_libraries(window):
    """The libraries by name. Only Linux leaves them to the system."""
    if not sys.platform.startswith("linux"):
        return
    missing = absent(ALWAYS)
    if window:
        check_display()
        missing += absent_of_display()
    if missing:
        raise Missing(lacking(missing))


def check_display():
    if not display_named():
        raise Missing(
            "there is no display, so no window can open: start this in a desktop session; without one, "
            "twinspect query TEXT --screenshot FILE.png draws the window into a picture"
        )


def display_named():
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)


def absent_of_display():
    """What the window lacks: nothing as soon as one kind of display can be reached with what is there."""
    if os.environ.get("QT_QPA_PLATFORM"):
        return []
    if os.environ.get("WAYLAND_DISPLAY") and not absent(WAYLAND):
        return []
    return absent(X11) if os.environ.get("DISPLAY") else absent(WAYLAND)


def absent(libraries):
    return [library for library in libraries if not loadable(library[0])]


def loadable(name):
    import ctypes  # a Python may have been built without it: check_python tells that

    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def lacking(libraries):
    """One line: which libraries, and the command that installs them."""
    names = ", ".join(library[0] for library in libraries)
    debian = "sudo apt-get install " + " ".join(unique(library[1] for library in libraries))
    fedora = "sudo dnf install " + " ".join(unique(library[2] for library in libraries))
    if shutil.which("apt-get"):
        how = debian
    elif shutil.which("dnf"):
        how = fedora
    else:
        how = "the packages that Debian calls " + " ".join(unique(library[1] for library in libraries))
    return f"Qt needs system libraries that are not here ({names}): {how}"


def unique(names):
    found = []
    for name in names:
        if name not in found:
            found.append(name)
    return found


def packages(system):
    column = {"debian": 1, "fedora": 2}[system]
    return unique(library[column] for library in ALWAYS + X11 + WAYLAND + (FONTS,))


# --- Qt itself ------------------------------------------------------------------------------------------------------


def check_qt(window):
    """Start Qt in a child process: where a library is absent Qt may end its process without a word to Python."""
    if window:
        check_display()
    environment = dict(os.environ)
    if not window:
        environment["QT_QPA_PLATFORM"] = "offscreen"
    code, _, errors = run([sys.executable, "-c", START_QT], environment)
    if code == 0:
        return
    known = {library[0]: library for library in ALWAYS + X11 + WAYLAND}
    named = unique(re.findall(r"(lib[\w.+-]+\.so(?:\.\d+)*): cannot open", errors))
    missing = absent(ALWAYS) + (absent_of_display() if window else [])
    missing += [known[name] for name in named if name in known and known[name] not in missing]
    if missing:
        raise Missing(lacking(missing))
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    told = [line for line in lines if "could not connect" in line or "cannot open" in line] or lines[-1:]
    raise Missing("Qt does not start: " + (told[0] if told else f"its process ended with code {code}"))


def run(command, environment=None):
    """(exit code, standard output, standard error) of a command that has a minute."""
    try:
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            universal_newlines=True,  # Python 3.6 has no `text`
        )
    except OSError as error:
        return 1, "", str(error)
    try:
        output, errors = child.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return 1, "", "no answer within a minute"
    return child.returncode, output, errors


def main(arguments):
    window = "--window" in arguments
    words = [word for word in arguments if not word.startswith("--")]
    try:
        if words[:1] == ["environment"] and len(words) == 2:
            check_environment(words[1], "--asked" in arguments)
        elif words == ["libraries"]:
            check_libraries(window)
        elif words == ["qt"]:
            check_qt(window)
        elif words in (["packages", "debian"], ["packages", "fedora"]):
            print(" ".join(packages(words[1])))
        else:
            print(__doc__.strip(), file=sys.stderr)
            return 2
    except Missing as missing:
        print(f"twinspect: {missing}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
