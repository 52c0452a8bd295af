"""The runtimes: Python, Java, the class cache with which Spark's JVM starts faster, and the triple store."""

import platform
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from devkit.doctor.finding import MachineFinding
from devkit.errors import SetupError
from devkit.jvm.runtime import java_home
from devkit.stack.parts.triple_store import oxigraph_binary

_OLDEST_PYTHON = (3, 11)
_DEADLINE = timedelta(seconds=30)
_REINSTALL = "install it again: remove .venv and run ./justw --setup scenario"
_CLASS_CACHE = "class cache"
_TRIPLE_STORE = "triple store"
_TRAIN = "devkit doctor --train"


def check_python(version: tuple[int, int] = sys.version_info[:2], largest_int: int = sys.maxsize) -> MachineFinding:
    """``version`` is major and minor; ``largest_int`` that of a machine word."""
    build = f"{'.'.join(map(str, version))} on {platform.system()} {platform.machine()}"
    if version < _OLDEST_PYTHON:
        return MachineFinding(
            "python", "fail", f"{build}: too old", "install Python 3.11 or newer; JUSTW_PYTHON names it"
        )
    if largest_int < 2**63 - 1:
        return MachineFinding("python", "fail", f"{build}: 32 bits", "install a 64-bit Python; JUSTW_PYTHON names it")
    return MachineFinding("python", "ok", build)


def check_java(home: Callable[[], Path] = java_home) -> MachineFinding:
    """Runs ``bin/java -version`` of ``home()``."""
    java = home() / "bin" / "java"
    try:
        run = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=_DEADLINE.total_seconds(), check=False
        )
    except subprocess.TimeoutExpired:
        return MachineFinding(
            "java", "fail", f"{java} -version did not end within {_DEADLINE.total_seconds():g} s", _REINSTALL
        )
    lines = (run.stderr or run.stdout).strip().splitlines()
    if run.returncode != 0 or not lines:
        return MachineFinding(
            "java",
            "fail",
            f"{java} -version ended with {run.returncode}: {lines[0] if lines else 'no output'}",
            _REINSTALL,
        )
    return MachineFinding("java", "ok", lines[0])


def check_triple_store(binary: Callable[[], Path] = oxigraph_binary) -> MachineFinding:
    """Runs ``binary() --version``. Without it only those scenarios cannot be run that need a triple store."""
    try:
        command = binary()
        run = subprocess.run(
            [str(command), "--version"],
            capture_output=True,
            text=True,
            timeout=_DEADLINE.total_seconds(),
            check=False,
        )
    except SetupError as error:
        return MachineFinding(_TRIPLE_STORE, "warn", str(error), error.hint)
    except (OSError, subprocess.TimeoutExpired) as error:
        return MachineFinding(_TRIPLE_STORE, "warn", f"cannot be run: {error}", _REINSTALL)
    lines = (run.stdout or run.stderr).strip().splitlines()
    if run.returncode != 0 or not lines:
        detail = f"{command} --version ended with {run.returncode}: {lines[0] if lines else 'no output'}"
        return MachineFinding(_TRIPLE_STORE, "warn", detail, _REINSTALL)
    return MachineFinding(_TRIPLE_STORE, "ok", lines[0])


def check_class_cache() -> MachineFinding:
    """Hashes it. None is no fault: Spark starts slower then."""
    # Its name needs Spark's version, and Spark is slow to import.
    from devkit.programs.spark.place import class_cache, require_spark

    try:
        require_spark()
    except SetupError as error:
        return MachineFinding(_CLASS_CACHE, "warn", str(error), error.hint)
    cache = class_cache()
    if cache.exists:
        return MachineFinding(_CLASS_CACHE, "ok", "Spark's JVM starts with it")
    if (failure := cache.failure) is not None:
        first, *_ = failure.splitlines()
        return MachineFinding(
            _CLASS_CACHE,
            "warn",
            f"there is none, as its training failed: {first}",
            f"Spark starts slower, and no run tries again; `{_TRAIN}` does, its logs are in {cache.logs}",
        )
    return MachineFinding(
        _CLASS_CACHE, "ok", f"there is none yet; the next run makes it after its verdict, `{_TRAIN}` at once"
    )
