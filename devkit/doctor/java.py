"""Java: the runtime that the kit brings along is there and starts."""

import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from devkit.doctor.finding import MachineFinding
from devkit.jvm.runtime import java_home

_DEADLINE = timedelta(seconds=30)
_AGAIN = "install it again: remove .venv and run ./justw --setup"


def check_java(home: Callable[[], Path] = java_home) -> MachineFinding:
    """Runs ``bin/java -version`` of ``home()``."""
    java = home() / "bin" / "java"
    try:
        run = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=_DEADLINE.total_seconds(), check=False
        )
    except subprocess.TimeoutExpired:
        return MachineFinding(
            "java", "fail", f"{java} -version did not end within {_DEADLINE.total_seconds():g} s", _AGAIN
        )
    lines = (run.stderr or run.stdout).strip().splitlines()
    if run.returncode != 0 or not lines:
        return MachineFinding(
            "java", "fail", f"{java} -version ended with {run.returncode}: {lines[0] if lines else 'no output'}", _AGAIN
        )
    return MachineFinding("java", "ok", lines[0])
