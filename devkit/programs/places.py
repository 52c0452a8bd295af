"""Where the parts of a stack are for one program, and how settings lie on top of each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Places:
    """What a stack gives to a program's configuration; `wikis` are the hosts by wiki that the mock answers for."""

    bootstrap: str
    mock_endpoint: str
    s3_endpoint: str
    checkpoint: str
    claim_bucket: str
    claim_prefix: str | None = None
    wikis: Mapping[str, str] = field(default_factory=dict)


CONFIG_FILE = "pipeline.yaml"
"""What a program's configuration is called on disk."""
NOWHERE = Places("127.0.0.1:1", "http://127.0.0.1:1", "http://127.0.0.1:1", "s3a://nowhere/here", "nowhere")
"""Stands in where only a scenario's own keys matter."""


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """`overlay` on top of `base`, mapping by mapping."""
    merged = dict(base)
    for key, value in overlay.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged
