"""A text that is cut off where it is too long to be shown."""


def shorten(text: str, longest: int) -> str:
    """At most `longest` characters of it; where some are left out, the last one is a mark."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
