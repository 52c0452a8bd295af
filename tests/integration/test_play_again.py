"""A run that was short of time is played once more on real parts, both arms, slower, before it is inconclusive.

Set-up: a scenario that leaves any machine room, whose program is `own_pipeline.py` as a kind of the test's own that can
be stretched; no Spark. Steps: once the traffic of the first arm has begun, the probe of the machine's speed is stopped
(SIGSTOP), so that how fast the machine was is not known for the rest of the run's first play. Checked: the exit code of
the second play, the stretch of its rates and durations, the result, the evidence of the first, what the terminal says.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.integration.cli_run import CliRun

ROOMS = ("devkit/headroom", "devkit/play")
HERE = Path(__file__).parent
KIND = f"""
from dataclasses import dataclass

from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.programs.registry import register


@dataclass(frozen=True)
class ScriptKind:
    name: str = "timeless"
    example: str = "timeless own_pipeline.py"

    def program(self, words):
        line = CommandLine.parse(f"{sys.executable} -u {HERE}/{{words}}", "run: timeless")
        return CommandProgram(line, unstretchable="")


register(ScriptKind())
"""
SCENARIO = """
name: again
title: A slow page, on a machine of which nobody knows the speed at first
incident: { reference: none }
extend: [./timeless.py]
margin: 1000
traffic: { seed: 3, rate: 10/s, for: 8s, pages: { Slow: { at: [0.5] } } }
mock: { rules: [{ name: slow page, when: { page: Slow }, do: { latency: 200ms } }] }
programs: { mine: { run: timeless own_pipeline.py } }
until: { any: [{ drained: true }], deadline: 120s }
arms:
  incident: { mock: { rules: [{ name: slow page, when: { page: Slow }, do: { status: 404 } }] } }
  fixed: {}
expect:
  incident: [{ drained: true }, { success_rate: { at_most: 99% } }]
  fixed: [{ drained: true }, { restarts: 0 }, { success_rate: { at_least: 100% } }]
"""
UNKNOWN = "the probe of its speed showed nothing"


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    (tmp_path / "timeless.py").write_text(KIND)
    file = tmp_path / "again.yaml"
    file.write_text(SCENARIO)
    return str(file)


def probe_of(run: CliRun) -> psutil.Process:
    (probe,) = (process for process in run.processes() if "devkit.headroom.probe" in process.cmdline())
    return probe


@pytest.mark.slow
def test_it_is_played_again_slower_and_then_judged(devkit_cli: Callable[..., CliRun], scenario: str) -> None:
    run = devkit_cli("scenario", "run", scenario, "--plain")
    run.await_event("traffic_begins", 180, arm="incident")
    probe_of(run).suspend()
    assert run.process.wait(500) == 0, run.output()

    directory = run.out / "latest"
    aside = directory / "first-play"
    result, first = (json.loads((each / "result.json").read_text()) for each in (directory, aside))
    assert (result["outcome"], first["outcome"]) == ("reproduced and fixed", "inconclusive")
    assert (first["headroom"]["stretch"], first["headroom"]["stretch_by"]) == (1, "calibration")
    headroom = result["headroom"]
    assert (headroom["stretch"], headroom["stretch_by"]) == (2, "repeat")
    assert (headroom["first_play"]["directory"], headroom["first_play"]["stretch"]) == ("first-play", 1)
    assert any(UNKNOWN in reason for reason in headroom["first_play"]["reasons"])
    assert headroom["first_play"]["reasons"] == first["reasons"]
    assert list(result["arms"]) == list(first["arms"]) == ["incident", "fixed"], "both arms are played again"
    for arm in ("incident", "fixed"):
        assert result["arms"][arm]["audit"]["inputs"] == first["arms"][arm]["audit"]["inputs"] > 70, "the same traffic"
        assert result["arms"][arm]["duration_s"] > 15, "8 s of traffic, 2 times slower"
        assert (aside / arm / "logs" / "mine-1.out").exists()
        assert (directory / arm / "logs" / "mine-1.out").exists()

    output = " ".join(run.output().split())
    assert UNKNOWN in output
    assert "both arms are played again, 2 times slower; the first play is in" in output
    assert "all times are 2 times the file's, as it was short of time before" in output
    assert "first play: was short of time; its evidence is in first-play/" in output
    assert "Traceback" not in output
