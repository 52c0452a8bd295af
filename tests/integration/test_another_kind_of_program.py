"""A kind of program from another package, in one file: a scenario is played with it on real parts.

Set-up: a package in a temporary directory that registers the kind, whose program is `own_pipeline.py`; no Spark.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.play.options import RunOptions
from devkit.play.run import run_scenario
from devkit.programs import registry
from devkit.report.progress import Progress
from devkit.scenario.load import load_scenario

ROOMS = ("devkit/programs",)
HERE = Path(__file__).parent
PACKAGE = f"""
import sys
from dataclasses import dataclass, replace

from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram, ConfiguredCommand
from devkit.programs.registry import register


class Configured(ConfiguredCommand):
    def launch(self, context):
        launch = super().launch(context)
        return replace(launch, environment={{**launch.environment, "PYTHONUNBUFFERED": "1"}})


class Script(CommandProgram):
    def configure(self, places, settings):
        configured = super().configure(places, settings)
        return Configured(config=configured.config, line=configured.line)


@dataclass(frozen=True)
class ScriptKind:
    name: str = "script"
    example: str = "script own_pipeline.py"

    def program(self, words):
        return Script(CommandLine.parse(f"{{sys.executable}} {HERE}/{{words}}", "run: script"))


register(ScriptKind())
"""


@pytest.fixture(autouse=True)
def _script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is there; what it registered is gone after the test."""
    monkeypatch.setattr(registry.KINDS, "_by_name", dict(registry.KINDS))
    (tmp_path / "script_programs.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    __import__("script_programs")
    yield
    del sys.modules["script_programs"]


@pytest.mark.slow
def test_a_scenario_is_played_with_it(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    text = (HERE / "scenarios" / "own.yaml").read_text()
    file.write_text(text.replace("until:", "programs: { mine: { run: script own_pipeline.py } }\nuntil:"))
    options = RunOptions(("incident",), tmp_path / "runs", keep=False, repeat="", stretch=1)
    with Progress(io.StringIO(), clock=lambda: 0.0) as progress:
        finished = run_scenario(load_scenario(file), options, progress, on_keep=lambda *_: None)
    incident = finished.result.arms["incident"]
    assert (incident.holds, incident.ended_by, incident.audit.lost) == (True, "drained", 0)
    assert finished.result.pipeline.endswith("own_pipeline.py")
    assert (finished.directory / "incident" / "logs" / "mine-1.out").exists()
