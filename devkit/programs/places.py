"""Where the parts of a stack are for one program, and how settings lie on top of each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devkit.stack.parts.triple_store import StoreLogin


@dataclass(frozen=True)
class StorePlace:
    """URLs of a triple store for SPARQL 1.1 queries and updates, with the login that it asks for."""

    query: str
    update: str
    login: StoreLogin | None = None


@dataclass(frozen=True)
class Places:
    """Addresses and names that a stack gives to a program's configuration; `wikis` are the mock's hosts by wiki.

    `triple_store` is None where the stack has none.
    """

    bootstrap: str
    mock_endpoint: str
    s3_endpoint: str
    checkpoint: str
    claim_bucket: str
    claim_prefix: str | None = None
    wikis: Mapping[str, str] = field(default_factory=dict)
    triple_store: StorePlace | None = None


CONFIG_FILE = "pipeline.yaml"
"""The file name of a program's configuration."""
_NO_URL = "http://127.0.0.1:1"
NOWHERE = Places(
    "127.0.0.1:1", _NO_URL, _NO_URL, "s3a://nowhere/here", "nowhere", triple_store=StorePlace(_NO_URL, _NO_URL)
)
"""A placeholder where only a scenario's own keys matter."""


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """`overlay` on top of `base`, mapping by mapping."""
    merged = dict(base)
    for key, value in overlay.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged
