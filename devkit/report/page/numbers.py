"""How the page writes a number: short, with its unit, the same everywhere."""

from typing import Literal

Unit = Literal["events", "per second", "seconds", "percent", "requests", "entries", "cores", "MiB", "parses", "ratio"]

_SUFFIX: dict[Unit, str] = {"per second": "/s", "percent": " %", "MiB": " MiB"}


def figure(value: float, unit: Unit) -> str:
    """`340 ms`, `2.3 s`, `64 %` of 0.64, `1,024`."""
    if unit == "seconds":
        return duration(value)
    if unit == "percent":
        value *= 100
    return f"{number(value)}{_SUFFIX.get(unit, '')}"


def tick(value: float, unit: Unit) -> str:
    """For an axis whose title names the unit."""
    return figure(value, unit) if unit in ("seconds", "percent") else number(value)


def number(value: float) -> str:
    """Three significant figures below a thousand, whole above."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    text = f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def moment(seconds: float) -> str:
    """A time on a plot's axis, without its unit: it is read no finer than a tenth."""
    return f"{seconds:.1f}".removesuffix(".0")


def duration(seconds: float) -> str:
    """Milliseconds below a second, else seconds."""
    if seconds == 0:
        return "0 s"
    return f"{number(seconds * 1000)} ms" if abs(seconds) < 0.9995 else f"{number(seconds)} s"
