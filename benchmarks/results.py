"""Keeps what a benchmark measured as JSON, with what it was measured on."""

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

RESULTS = Path(__file__).parent / "results"
_OF_THE_MOCK = ("fastapi", "uvicorn", "uvloop", "httptools")


def keep(name: str, figures: dict[str, object], *, packages: Sequence[str] = _OF_THE_MOCK) -> None:
    """`packages` are those whose versions matter."""
    versions = {package: version(package) for package in packages}
    measured = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine(), "versions": versions}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({**measured, **figures}, indent=2) + "\n")


def machine() -> dict[str, object]:
    """What the figures were measured on. The load is that of the last minutes, the benchmark itself included."""
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": platform.system(),
        "load_average": [round(load, 1) for load in os.getloadavg()],
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
