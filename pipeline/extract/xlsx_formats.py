"""Numbers in a sheet -> as its reader sees them: dates, percent, thousands, decimals. Pure: knows format codes only.

Names of months are English and the built-in date formats ISO, since a file does not say in which language it was seen.
What no rule here knows (fractions, conditions) is shown as a plain number.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

_BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "#,##0", 6: "#,##0", 7: "#,##0.00", 8: "#,##0.00",
    9: "0%", 10: "0.00%", 11: "0.00E+00", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
    37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
    41: "#,##0", 42: "#,##0", 43: "#,##0.00", 44: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    48: "##0.0E+0",
    **dict.fromkeys([*range(27, 32), 36, *range(50, 55), 57, 58], "yyyy-mm-dd"),
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<elapsed>[hH]+|[mM]+|[sS]+)\]'
    r"|\[(?P<condition>[<>=][^\]]*)\]|\[[^\]]*\]|(?P<general>[Gg]eneral)|(?P<half>AM/PM|am/pm|A/P|a/p)"
    r"|(?P<date>[yY]+|[mM]+|[dD]+|[hH]+|[sS]+(?:\.0+)?)|(?P<power>[eE][+-]0+)|(?P<digits>[0#?][0#?,.]*|\.[0#?]+)"
    r"|(?P<percent>%)|(?P<text>@)|(?P<other>.)",
    re.S,
)
_EPOCH = datetime(1899, 12, 30)  # so that serials from March 1900 on are days from here
_MISTAKEN_LEAP_DAY = 60  # the 29th of February 1900, which never was
_LAST_SERIAL = 2_958_466  # the end of the year 9999
_DAYS_TO_1904 = 1462
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EXACT = 15  # digits that a number in a sheet has


@dataclass(frozen=True, slots=True)
class NumberFormats:
    """What the styles of a workbook say: format codes by cell style, and from when days count."""

    codes: tuple[str, ...] = ()
    from_1904: bool = False

    @staticmethod
    def of(ids: list[int], own: dict[int, str], *, from_1904: bool) -> NumberFormats:
        return NumberFormats(tuple(own.get(i) or _BUILT_IN.get(i, "General") for i in ids), from_1904)

    def shown(self, raw: str, style: int) -> str:
        """`raw` is what the file holds. Anything that is no number is shown as it is."""
        code = self.codes[style] if 0 <= style < len(self.codes) else "General"
        if code in ("General", "@") and raw.lstrip("-").isdecimal():
            return raw  # also one of more digits than Excel would show: it names something
        try:
            number = float(raw)
        except ValueError:
            return raw
        return _shown(number, code, self.from_1904) if math.isfinite(number) else raw


def general(number: float) -> str:
    """A number as a cell without a format shows it, if it is wide enough."""
    text = f"{number:.{_EXACT}g}"
    if "e" in text and 1e-10 < abs(number) < 1e21:
        text = f"{Decimal(text):f}"
    return text.upper()


@lru_cache(maxsize=4096)  # days and rates come again and again
def _shown(number: float, code: str, from_1904: bool) -> str:
    sections = _sections(code)
    index = 0
    if len(sections) > 1 and number < 0:
        index = 1
    elif len(sections) > 2 and number == 0:
        index = 2
    tokens = sections[min(index, len(sections) - 1)]
    kinds = {kind for kind, _ in tokens}
    if "condition" in kinds or "general" in kinds or "text" in kinds:
        return general(number)
    if kinds & {"date", "elapsed", "half"}:
        return _date(number + (_DAYS_TO_1904 if from_1904 else 0), tokens)
    if "digits" not in kinds:
        return "".join(text for _, text in tokens).strip()
    sign = "-" if number < 0 and index == 0 else ""
    shown = _number(abs(number), tokens)
    if shown is None:
        return general(number)
    return sign + shown if any("1" <= char <= "9" for char in shown) else shown  # there is no -0


@lru_cache(maxsize=512)
def _sections(code: str) -> list[list[tuple[str, str]]]:
    """Tokens of each section: their kind, and their text or code."""
    sections: list[list[tuple[str, str]]] = [[]]
    for token in _TOKEN.finditer(code[:1000]):
        kind = token.lastgroup or ""
        text = token[kind] if kind else (" " if token[0][0] == "_" else "")
        if kind == "other" and text == ";":
            sections.append([])
        elif kind in ("quoted", "escaped", "currency", "other", ""):
            sections[-1].append(("literal", text))
        else:
            sections[-1].append((kind, text))
    return sections


# --- numbers ---


def _number(number: float, tokens: list[tuple[str, str]]) -> str | None:
    """None for a format that we do not know."""
    patterns = [text for kind, text in tokens if kind == "digits"]
    if any(kind == "literal" and "/" in text for kind, text in tokens) and len(patterns) > 1:
        return None  # a fraction
    power = next((text for kind, text in tokens if kind == "power"), "")
    digits = _scientific(number, patterns[0], power) if power else _fixed(number, "".join(patterns), tokens)
    parts: list[str] = []
    last = len(patterns)
    for kind, text in tokens:
        if kind == "digits":
            last -= 1
            width = sum(char in "0#?" for char in text) if last or len(patterns) > 1 else len(digits)
            if len(patterns) == 1 or power:
                parts.append(digits)
                digits = ""
            else:  # a pattern such as 000-000-0000: its first part takes what the others leave
                behind = sum(char in "0#?" for pattern in patterns[len(patterns) - last :] for char in pattern)
                take = max(width, len(digits) - behind)
                parts.append(digits[:take])
                digits = digits[take:]
        elif kind == "percent":
            parts.append("%")
        elif kind == "literal":
            parts.append(text)
    return "".join(parts).strip()


def _fixed(number: float, pattern: str, tokens: list[tuple[str, str]]) -> str:
    whole, _, decimals = pattern.partition(".")
    scaled = pattern.rstrip(",")
    value = Decimal(repr(number)).scaleb(2 * sum(kind == "percent" for kind, _ in tokens))
    value = value.scaleb(-3 * (len(pattern) - len(scaled)))
    places = sum(char in "0#?" for char in decimals)
    thousands = "," in whole.rstrip(",") if not decimals else "," in whole
    try:
        value = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    except ArithmeticError:  # more digits than a Decimal has
        return general(number)
    text = f"{value:,f}" if thousands else f"{value:f}"
    front, _, back = text.partition(".")
    needed = decimals.count("0")
    while len(back) > needed and back.endswith("0"):
        back = back[:-1]
    front = front.lstrip("0") if front.strip("0") == "" and "0" not in whole else front
    front = front.zfill(whole.count("0")) if "," not in front else front
    return f"{front}.{back}" if back or ("." in pattern and needed) else front


def _scientific(number: float, pattern: str, power: str) -> str:
    places = sum(char in "0#?" for char in pattern.partition(".")[2])
    mantissa, _, exponent = f"{number:.{places}E}".partition("E")
    sign = "-" if exponent.startswith("-") else ("+" if "+" in power else "")
    return f"{mantissa}E{sign}{exponent.lstrip('+-').lstrip('0').zfill(power.count('0'))}"


# --- dates and times ---


def _date(serial: float, tokens: list[tuple[str, str]]) -> str:
    if not 0 <= serial < _LAST_SERIAL:
        return general(serial)
    fine = any(kind == "date" and "." in text for kind, text in tokens)
    seconds = round(serial * 86_400, 3) if fine else round(serial * 86_400)
    days, rest = divmod(seconds, 86_400)
    moment = _EPOCH + timedelta(days=days + (days < _MISTAKEN_LEAP_DAY), seconds=rest)
    halves = any(kind == "half" for kind, _ in tokens)
    parts: list[str] = []
    for index, (kind, text) in enumerate(tokens):
        if kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[text[0].lower()]
            parts.append(str(int(seconds // unit)).zfill(len(text)))
        elif kind == "half":
            parts.append(("AM" if moment.hour < 12 else "PM")[: 1 if len(text) == 3 else 2])
        elif kind == "date":
            minutes = text[0] in "mM" and len(text) <= 2 and _beside_time(tokens, index)
            parts.append(_part_of(moment, "min" if minutes else text[0].lower(), text, halves))
        elif kind == "digits":  # 00 after ss. and the like
            parts.append("")
        elif kind == "literal":
            parts.append(text)
    return "".join(parts).strip()


def _beside_time(tokens: list[tuple[str, str]], index: int) -> bool:
    """Whether an m means minutes: the unit before it is an hour, or the one after it a second."""
    before = next((text for kind, text in reversed(tokens[:index]) if kind in ("date", "elapsed")), "")
    after = next((text for kind, text in tokens[index + 1 :] if kind in ("date", "elapsed")), "")
    return before[:1] in ("h", "H") or after[:1] in ("s", "S")


def _part_of(moment: datetime, unit: str, code: str, halves: bool) -> str:
    width = min(len(code), 2)
    if unit == "y":
        return f"{moment.year:04d}" if len(code) > 2 else f"{moment.year % 100:02d}"
    if unit == "m":
        name = _MONTHS[moment.month - 1]
        return {1: str(moment.month), 2: f"{moment.month:02d}", 3: name[:3], 5: name[0]}.get(len(code), name)
    if unit == "d":
        name = _DAYS[moment.weekday()]
        return {1: str(moment.day), 2: f"{moment.day:02d}", 3: name[:3]}.get(len(code), name)
    if unit == "h":
        return str((moment.hour % 12 or 12) if halves else moment.hour).zfill(width)
    if unit == "min":
        return str(moment.minute).zfill(width)
    whole, _, decimals = code.partition(".")
    seconds = str(moment.second).zfill(min(len(whole), 2))
    return f"{seconds}.{moment.microsecond:06d}"[: len(seconds) + 1 + len(decimals)] if decimals else seconds
