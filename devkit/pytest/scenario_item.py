"""Scenario files as tests: playing is the set-up of the item, judging is the test.

So what keeps the scenario from being played, or leaves nothing known of it, is an error in pytest's words, and only a
refuted scenario is a failure.
"""

import io
from collections.abc import Iterable
from pathlib import Path

import pytest
from typing_extensions import override

from devkit.errors import INCONCLUSIVE, DevkitError
from devkit.pytest.plugin_options import is_scenario
from devkit.pytest.quiet import quiet_libraries
from devkit.pytest.scenario_play import PlayedScenario, play_scenario


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ScenarioFile | None":
    """Collects scenario files, and leaves all others to the other plugins."""
    return ScenarioFile.from_parent(parent, path=file_path) if is_scenario(parent.config, file_path) else None


class ScenarioFile(pytest.File):
    """One file, one item."""

    @override
    def collect(self) -> "Iterable[ScenarioItem]":
        try:
            with quiet_libraries():
                from devkit.scenario.load import load_scenario

                scenario = load_scenario(self.path)
        except DevkitError as error:
            raise self.CollectError(error.render()) from error
        yield ScenarioItem.from_parent(self, name=scenario.name)


class ScenarioItem(pytest.Item):
    """The arms of a scenario, and the verdict."""

    played: "PlayedScenario | None" = None

    def setup(self) -> None:
        """Play. Fails, which pytest calls an error here, when the harness does, or when nothing is known afterwards."""
        from devkit.scenario.load import load_scenario

        lines = io.StringIO()
        try:
            self.played = play_scenario(self.config, load_scenario(self.path), self.nodeid, lines)
        except DevkitError as error:
            # Without a traceback: a person can mend it.
            pytest.fail(error.render(), pytrace=False)
        finally:
            self.add_report_section("setup", "scenario", lines.getvalue())
        if self.played.exit_code == INCONCLUSIVE:
            pytest.fail(self.played.verdict, pytrace=False)

    def runtest(self) -> None:
        """Fails, with the verdict, when it is against the scenario."""
        assert self.played is not None
        if self.played.exit_code != 0:
            pytest.fail(self.played.verdict, pytrace=False)

    @override
    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"scenario {self.name}"
