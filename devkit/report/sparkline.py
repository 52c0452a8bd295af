"""A series in one line of characters, and text that fits into a number of columns of a terminal."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*%#"


def sparkline(values: Sequence[float], width: int, levels: str = BLOCKS) -> str:
    """The last values, one a column, at most `width` of them, from zero to the highest of those shown.

    Zero and below is the lowest level; anything above zero is at least the one over it.
    """
    shown = values[-width:] if width > 0 else ()
    highest = max(shown, default=0)
    if highest <= 0:
        return levels[0] * len(shown)
    top = len(levels) - 1
    return "".join(levels[0 if value <= 0 else max(1, round(top * value / highest))] for value in shown)


def bar(share: float, width: int, full: str = "█", rest: str = "░") -> str:
    """`share` (0 to 1) of `width` columns; full only when all of it is reached."""
    filled = max(0, min(width, int(share * width)))
    return full * filled + rest * (width - filled)


def fitted(text: str, width: int) -> str:
    """One line of at most `width` columns; what no terminal should be sent becomes `?`."""
    clean = "".join(char if char.isprintable() else "?" for char in text)
    if cell_len(clean) <= width:
        return clean
    return set_cell_size(clean, width - 1) + "~" if width > 0 else ""
