"""Where the parts of a stack are for one program, and how settings lie on top of each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Places:
    """Addresses and names that a stack gives to a program's configuration; `wikis` are the mock's hosts by wiki."""

    bootstrap: str
    mock_endpoint: str
    s3_endpoint: str
    checkpoint: str
    claim_bucket: str
    claim_prefix: str | None = None
    wikis: Mapping[str, str] = field(default_factory=dict)


CONFIG_FILE = "pipeline.yaml"
"""The file name of a program's configuration."""
NOWHERE = Places("127.0.0.1:1", "http://127.0.0.1:1", "http://127.0.0.1:1", "s3a://nowhere/here", "nowhere")
"""A placeholder where only a scenario's own keys matter."""


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """`overlay` on top of `base`, mapping by mapping."""
    merged = dict(base)
    for key, value in overlay.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged
