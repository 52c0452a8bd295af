"""Keeps what a benchmark measured as JSON, with what it was measured on."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def keep(name: str, figures: dict[str, object]) -> None:
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "system": platform.system()}
    versions = {package: version(package) for package in ("fastapi", "uvicorn", "uvloop", "httptools")}
    measured = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine, "versions": versions}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({**measured, **figures}, indent=2) + "\n")
