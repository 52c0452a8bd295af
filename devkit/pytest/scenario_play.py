"""Plays a scenario for the suite, with the options of the plugin."""

import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from devkit.errors import StackError
from devkit.pytest.plugin_options import backend, runs_directory, stack_request, stretch
from devkit.pytest.quiet import quiet_libraries

if TYPE_CHECKING:
    from devkit.guardian import Guardian
    from devkit.report.result import Result
    from devkit.scenario.model import Scenario
    from devkit.stack.stack import Stack


@dataclass(frozen=True)
class PlayedScenario:
    """A scenario that was played: `exit_code` as that of `devkit scenario run`, the `verdict` in lines of text, and the
    `directory` with the evidence. `result` is what `result.json` there has.
    """

    exit_code: int
    verdict: str
    directory: Path
    result: "Result" = field(repr=False)


def play_scenario(
    config: pytest.Config, scenario: "Scenario", node_id: str, progress_lines: io.StringIO
) -> PlayedScenario:
    """Play both arms and judge them. Raises DevkitError when the harness fails."""
    with quiet_libraries():
        from devkit.play.options import RunOptions
        from devkit.play.run import run_scenario
        from devkit.report.progress import Progress
        from devkit.report.verdict_lines import verdict_lines

        by = stretch(config)
        options = RunOptions(
            tuple(scenario.roles),
            runs_directory(config),
            keep=False,
            repeat=f"pytest -p devkit.pytest {node_id}" + ("" if by is None else f" --devkit-stretch {by}"),
            stack=backend(config),
            request=stack_request(config),
            stretch=by,
        )
        # What the user has set up for AWS must not reach the run's store.
        ours = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        with mock.patch.dict(os.environ, ours, clear=True):
            finished = run_scenario(scenario, options, Progress(progress_lines), on_keep=_keep)
        result = finished.result
        verdict = "\n".join(verdict_lines(result, finished.directory))
    return PlayedScenario(result.exit_code, verdict, finished.directory, result)


def _keep(_stack: "Stack", _guardian: "Guardian", _logs: Path) -> None:
    raise StackError("no test keeps its stack")
