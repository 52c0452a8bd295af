"""The pipeline shows everything of itself."""

from types import SimpleNamespace
from typing import cast

import pytest

from devkit.observe.kafka.deferrals import Deferrals
from devkit.programs.program_state import ProgramState
from devkit.programs.spark.view import SparkView


def test_it_shows_everything() -> None:
    view = SparkView(ProgramState(committed={("t", 0): 2}))
    deferrals = cast(Deferrals, SimpleNamespace(entries=SimpleNamespace(ever=())))
    assert (view.not_observable(deferrals), view.committed()) == (frozenset(), {("t", 0): 2})
    assert view.says_when_it_runs
    assert not view.shows_life()


def test_it_has_done_nothing_before_it_commits() -> None:
    assert SparkView(ProgramState(drained=True, source_ends={("t", 0): 3})).committed() == {}


@pytest.mark.parametrize(("exit_code", "refused"), [(0, False), (1, False), (2, True), (3, False), (-9, False)])
def test_it_refuses_with_one_exit_code(exit_code: int, refused: bool) -> None:
    assert SparkView(ProgramState()).refused(exit_code) is refused
