"""How long a person waits: set-up from nothing, and a whole scenario once everything is there.

Each figure is printed beside its reference. Nothing here fails on a time; machines differ. `just bench` runs it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

REPOSITORY = Path(__file__).parents[1]
WARM_REFERENCE_S = 75
FIRST_REFERENCE_S = 110
COLD_REFERENCE_S = 300
_PASSED_ON = ("PATH", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "PIP_INDEX_URL", "UV_DEFAULT_INDEX")


def report(what: str, measured_s: float, reference_s: float) -> None:
    sys.stdout.write(f"\n{what}: {measured_s:.1f} s (reference: at most {reference_s} s)\n")


def report_phases(run: Path) -> None:
    """Where the time of a run went, from its `result.json`."""
    for phase in json.loads((run / "result.json").read_text())["phases"]:
        sys.stdout.write(f"  {phase['seconds']:6.1f} s  {phase['arm'] or '':<8}  {phase['phase']}\n")


def test_both_arms_warm(benchmark: BenchmarkFixture, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> None:
        command = [sys.executable, "-m", "devkit.cli.main", "scenario", "run", "oversized-message"]
        subprocess.run([*command, "--out", str(tmp_path)], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    with capsys.disabled():
        report("oversized-message, both arms, warm, median of 3", benchmark.stats["median"], WARM_REFERENCE_S)
        report_phases(tmp_path / "latest")


def test_first_verdict(benchmark: BenchmarkFixture, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With an empty cache, jars downloaded, until the verdict; what follows it is interrupted."""
    command = [sys.executable, "-m", "devkit.cli.main", "scenario", "run", "oversized-message", "--out", str(tmp_path)]
    environment = os.environ | {"DEVKIT_CACHE": str(tmp_path / "cache")}

    def run() -> None:
        with subprocess.Popen(command, cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert any("the next run starts faster" in line for line in process.stderr)
            ends.append(process)
            process.send_signal(signal.SIGINT)

    ends: list[subprocess.Popen[str]] = []
    benchmark.pedantic(run, rounds=1)
    assert ends[0].returncode == 0
    with capsys.disabled():
        report("oversized-message, empty cache, until the verdict", benchmark.stats["median"], FIRST_REFERENCE_S)
        report_phases(tmp_path / "latest")


def test_set_up_cold(benchmark: BenchmarkFixture, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fresh clone and an empty home: environment, jars, and the first scenario's start."""
    clone, home = tmp_path / "clone", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(clone)], check=True)
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"HOME": str(home)}

    def set_up() -> None:
        subprocess.run(["./justw", "--setup"], cwd=clone, env=environment, check=True, capture_output=True)
        ensure = "from devkit.jvm import jars; [jars.ensure(name) for name in jars.JAR_SETS]"
        subprocess.run([".venv/bin/python", "-c", ensure], cwd=clone, env=environment, check=True, capture_output=True)

    benchmark.pedantic(set_up, rounds=1)
    with capsys.disabled():
        report("set-up from nothing: environment and jars", benchmark.stats["median"], COLD_REFERENCE_S)
    shutil.rmtree(clone)
