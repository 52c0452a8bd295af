"""The least configuration that a job can have, and files with it."""

from pathlib import Path
from typing import Any

import orjson


def least_config(**sections: Any) -> dict[str, Any]:
    """The least there can be; keywords are sections that replace it or add to it."""
    least: dict[str, Any] = {
        "source": {"bootstrap_servers": "127.0.0.1:1"},
        "sink": {"bootstrap_servers": "127.0.0.1:1"},
        "mediawiki": {"endpoint": "http://127.0.0.1:1"},
        "checkpoint": "unused",
    }
    for name, section in sections.items():
        least[name] = {**least.get(name, {}), **section} if isinstance(section, dict) else section
    return least


def write_config(directory: Path, **sections: Any) -> Path:
    """A file with it in the directory."""
    file = directory / "pipeline.yaml"
    file.write_bytes(orjson.dumps(least_config(**sections)))
    return file
