import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from devkit.play import run as run_module
from devkit.play.options import RunOptions
from devkit.programs.spark.program import SparkProgram
from devkit.scenario.model import Scenario
from tests.unit.devkit.cli.conftest import Devkit

_PAGE = (Path(__file__).parents[4] / "docs" / "soak.md").read_text()
_SHOWN = [
    line.removeprefix("$ ./justw ")
    for block in re.findall(r"```console\n(.*?)```", _PAGE, re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith("$ ./justw soak") and "--replay" not in line and "--extend" not in line
]


Asked = list[tuple[Scenario, RunOptions]]
"""Which runs were asked for."""


class _PlayedError(Exception):
    """In the place of a run."""


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What would have been played."""
    asked: Asked = []

    def run_scenario(scenario: Scenario, options: RunOptions, progress: Any, *, on_keep: object) -> None:
        asked.append((scenario, options))
        raise _PlayedError

    monkeypatch.setattr(run_module, "run_scenario", run_scenario)
    monkeypatch.setattr(SparkProgram, "after_verdict", lambda _program, _say: None)
    return asked


def test_what_is_drawn_is_played_and_kept(devkit: Devkit, here: Path, played: Asked) -> None:
    ended = devkit("soak", "--seed", "7", "--for", "1m")
    ((scenario, options),) = played
    assert (scenario.name, options.arms, options.stretch) == ("soak-7", ("fixed",), None)
    assert scenario.timeline
    assert (here / "runs" / "soak-7-1m.yaml").is_file()
    assert "`devkit soak --replay runs/soak-7-1m.yaml` plays them again" in ended.err


@pytest.mark.parametrize("command", _SHOWN)
def test_each_soak_that_the_page_shows_is_played_without_a_warning_of_its_own(
    devkit: Devkit, played: Asked, command: str
) -> None:
    ended = devkit(*shlex.split(command))
    assert len(played) == 1
    assert "until:" not in ended.err


def test_a_replay_plays_the_same(devkit: Devkit, played: Asked) -> None:
    devkit("soak", "--seed", "7", "--for", "1m")
    devkit("soak", "--replay", "runs/soak-7-1m.yaml")
    first, again = (scenario for scenario, _ in played)
    assert again == first


def test_a_soak_is_of_the_job_and_configuration_that_are_set(devkit: Devkit, here: Path, played: Asked) -> None:
    changes = ("--set", "pipeline.job=content-enrichment", "--set", "pipeline.kafka.compression=zstd")
    ended = devkit("soak", "--seed", "7", "--for", "1m", *changes)
    ((scenario, options),) = played
    assert [change.place for change in options.changes] == ["pipeline.job", "pipeline.kafka.compression"]
    assert scenario.pipeline == {
        "batch": {"max_offsets": 60},
        "job": "content-enrichment",
        "kafka": {"compression": "zstd"},
    }
    again = "devkit soak --replay runs/soak-7-1m.yaml " + " ".join(changes)
    assert f"`{again}` plays them again" in ended.err
    devkit("soak", "--replay", "runs/soak-7-1m.yaml", *changes)
    assert played[1][0] == scenario


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--set", "pipeline.batch.max_ofsets=1"), "did you mean 'max_offsets'?"),
        (("--replay", "soak.yaml", "--seed", "1"), "give one of both"),
        (("--for", "59s"), "--for: 59s is too short"),
        (("--for", "soon"), "--for: "),
        (("--seed", "5759", "--for", "1m"), "--seed: 5759 draws no fault for 1m"),
    ],
)
def test_what_cannot_be_played_is_refused(devkit: Devkit, here: Path, options: tuple[str, ...], message: str) -> None:
    (here / "soak.yaml").touch()
    ended = devkit("soak", *options)
    assert ended.code == 2
    assert message in ended.err


def test_windows_that_would_stay_open_are_warned_of(devkit: Devkit, played: Asked) -> None:
    assert "until: an arm that has drained is over" in devkit("soak", "--set", "pipeline.job=edit-counts").err
    assert played
