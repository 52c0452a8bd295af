"""Effective settings, read back from what runs, not from what was configured."""

from collections.abc import Iterable

from located_config.redaction import redacted

_LONG = 200


def effective_spark(settings: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Spark's settings by key, long ones shortened and secrets removed."""
    shown = ((key, redacted(value, key)) for key, value in sorted(settings))
    return {key: value if len(value) <= _LONG else f"{value[:_LONG]}…" for key, value in shown}
