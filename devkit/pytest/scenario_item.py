"""Scenario files as tests: playing is the set-up of the item, judging is the test.

So what keeps the scenario from being played, or leaves nothing known of it, is an error in pytest's words, and only a
refuted scenario is a failure.
"""

import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from typing_extensions import override

from devkit.errors import INCONCLUSIVE, DevkitError, StackError
from devkit.pytest.plugin_options import backend, is_scenario, runs_directory, stack_request, stretch

if TYPE_CHECKING:
    from devkit.guardian import Guardian
    from devkit.play.run import FinishedRun
    from devkit.stack.stack import Stack


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ScenarioFile | None":
    """Collects scenario files, and leaves all others to the other plugins."""
    return ScenarioFile.from_parent(parent, path=file_path) if is_scenario(parent.config, file_path) else None


class ScenarioFile(pytest.File):
    """One file, one item."""

    @override
    def collect(self) -> "Iterable[ScenarioItem]":
        from devkit.scenario.load import load_scenario

        try:
            scenario = load_scenario(self.path)
        except DevkitError as error:
            raise self.CollectError(error.render()) from error
        yield ScenarioItem.from_parent(self, name=scenario.name)


class ScenarioItem(pytest.Item):
    """The arms of a scenario, and the verdict."""

    finished: "FinishedRun | None" = None

    def setup(self) -> None:
        """Play. Fails, which pytest calls an error here, when the harness does, or when nothing is known afterwards."""
        from devkit.play.options import RunOptions
        from devkit.play.run import run_scenario
        from devkit.report.progress import Progress
        from devkit.scenario.load import load_scenario

        lines, by = io.StringIO(), stretch(self.config)
        scenario = load_scenario(self.path)
        options = RunOptions(
            tuple(scenario.roles),
            runs_directory(self.config),
            keep=False,
            repeat=f"pytest -p devkit.pytest {self.nodeid}" + ("" if by is None else f" --devkit-stretch {by}"),
            stack=backend(self.config),
            request=stack_request(self.config),
            stretch=by,
        )
        # What the user has set up for AWS must not reach the run's store.
        ours = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        try:
            with mock.patch.dict(os.environ, ours, clear=True):
                self.finished = run_scenario(scenario, options, Progress(lines), on_keep=_keep)
        except DevkitError as error:
            # Without a traceback: a person can mend it.
            pytest.fail(error.render(), pytrace=False)
        finally:
            self.add_report_section("setup", "scenario", lines.getvalue())
        if self.finished.result.exit_code == INCONCLUSIVE:
            pytest.fail(_verdict(self.finished), pytrace=False)

    def runtest(self) -> None:
        """Fails, with the verdict, when it is against the scenario."""
        assert self.finished is not None
        if self.finished.result.exit_code != 0:
            pytest.fail(_verdict(self.finished), pytrace=False)

    @override
    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"scenario {self.name}"


def _verdict(finished: "FinishedRun") -> str:
    from devkit.report.verdict_lines import verdict_lines

    return "\n".join(verdict_lines(finished.result, finished.directory))


def _keep(_stack: "Stack", _guardian: "Guardian", _logs: Path) -> None:
    raise StackError("no test keeps its stack")
