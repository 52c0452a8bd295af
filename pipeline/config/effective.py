"""Effective settings, read back from what runs, not from what was configured."""

import re
from collections.abc import Iterable

# As Spark's own `spark.redaction.regex`.
_SECRET = re.compile(r"(?i)secret|password|token|access[.]?key|credential(?!s\.provider)")
_LONG = 200


def effective_spark(settings: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Spark's settings by key, long ones shortened and secrets removed."""
    return {
        key: "(redacted)" if _SECRET.search(key) else value if len(value) <= _LONG else f"{value[:_LONG]}…"
        for key, value in sorted(settings)
    }
