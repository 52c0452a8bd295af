"""An expectation of one of several programs is judged by what was observed of that one."""

from typing import Any

import pytest

from devkit.expectations import Expectation, Finding
from devkit.observe.logs.logs import LoggedException
from devkit.observe.observable import OBSERVABLES
from tests.unit.devkit.observed import a_program, an_observation

AT_MOST_TWO = {"event": "waiting", "at_most": 2}
FULL = LoggedException(1, "Full", "no space")
SEVERAL = an_observation(
    restarts=2,
    failures=("too large", "too large"),
    programs=(
        a_program("html", restarts=2, failures=("too large", "too large")),
        a_program("content", restarts=1, failures=("disk full",), exceptions=(FULL,), log={"waiting": 3}),
        a_program("reader", log={}, not_observable=OBSERVABLES),
        a_program("late", started=False),
    ),
)


def judge(name: str, argument: object) -> Finding:
    return Expectation.model_validate({name: argument}).judge(SEVERAL)


@pytest.mark.parametrize(
    ("name", "argument", "expected", "measured", "holds"),
    [
        ("restarts", 2, "2", "2", True),
        ("restarts", {"program": "html", "at_most": 0}, "at most 0 (program html)", "2", False),
        ("restarts", {"program": "content", "at_most": 1}, "at most 1 (program content)", "1", True),
        ("restarts", {"program": "reader", "at_most": 0}, "at most 0 (program reader)", "0", True),
        ("failure", {"program": "content", "message": "full"}, "…full… (program content)", "disk full", True),
        ("failure", {"program": "html", "message": "full"}, "…full… (program html)", "too large", False),
        ("exception", {"program": "content", "class": "Full"}, "Full (program content)", "Full: no space", True),
        ("exception", {"program": "reader", "class": "Full"}, "Full (program reader)", "no exception", False),
        ("log", {"program": "content", **AT_MOST_TWO}, "at most 2 of waiting (program content)", "3", False),
    ],
)
def test_each_is_judged_by_its_own(name: str, argument: object, expected: str, measured: str, holds: bool) -> None:
    found = judge(name, argument)
    assert (found.expected, found.measured, found.holds) == (expected, measured, holds)


@pytest.mark.parametrize(
    ("name", "argument", "measured"),
    [
        ("failure", {"message": "x"}, "not observable in program reader (it writes neither a started nor a failed"),
        ("replays", {"at_most": 0}, "not observable in program reader (it writes no batch_started"),
        ("log", {"event": "failed", "at_most": 0}, "not observable: it wrote no event on standard output"),
    ],
)
def test_what_the_program_does_not_show_nobody_can_judge(name: str, argument: dict[str, object], measured: str) -> None:
    found = judge(name, {"program": "reader", **argument})
    assert found.holds is None
    assert measured in found.measured


@pytest.mark.parametrize(("name", "argument"), [("restarts", {"at_most": 0}), ("exception", {"class": "X"})])
def test_of_one_that_was_never_started_nothing_is_known(name: str, argument: dict[str, object]) -> None:
    found = judge(name, {"program": "late", **argument})
    assert found.holds is None
    assert "program late was never started" in found.measured


@pytest.mark.parametrize(
    ("bound", "ended", "holds"),
    [
        ({"at_most": 0}, {"is_over": True, "exit_codes": (1,)}, None),
        ({"at_least": 0, "at_most": 2}, {"is_over": True, "exit_codes": (0, 1)}, None),
        ({"at_least": 0}, {"is_over": True, "exit_codes": (1,)}, True),
        ({"at_least": 1, "at_most": 2}, {"is_over": True, "exit_codes": (1,)}, False),
        ({"at_most": 0}, {"is_over": True, "exit_codes": (1, 0)}, True),
        ({"at_most": 0}, {"exit_codes": (1,)}, True),
    ],
)
def test_of_one_that_crashed_for_good_nobody_knows_that_it_had_no_more_to_write(
    bound: dict[str, int], ended: dict[str, Any], holds: bool | None
) -> None:
    observed = an_observation(programs=(a_program("html"), a_program("checker", **ended)))
    found = Expectation.model_validate({"log": {"program": "checker", "event": "failed", **bound}}).judge(observed)
    assert found.holds is holds
    assert (found.measured == "0 until it ended with exit code 1 and was not started again") is (holds is None)


def test_the_first_ones_exit_code_is_the_arms_own() -> None:
    found = Expectation.model_validate({"log": {"event": "failed", "at_most": 0}})
    assert found.judge(an_observation(log={"started": 1}, ended_with=1)).holds is None


@pytest.mark.parametrize(
    ("master", "event", "holds"),
    [
        ("local[4]", "claim_checks_not_removed", True),
        ("local-cluster[2,2,512]", "claim_checks_not_removed", None),
        ("spark://10.0.0.1:7077", "claim_store_down", None),
        ("local-cluster[2,2,512]", "gave_up", True),
    ],
)
def test_of_what_workers_of_executors_write_nobody_knows(master: str, event: str, holds: bool | None) -> None:
    found = Expectation.model_validate({"log": {"event": event, "at_most": 0}})
    assert found.judge(an_observation(log={"started": 1}, spark={"spark.master": master})).holds is holds


def test_whether_time_decides_is_the_programs_own_as_well() -> None:
    def window(program: str) -> object:
        return Expectation.model_validate({"restarts": {"program": program, "at_most": 0}}).depends_on_time(SEVERAL)

    assert (window("html"), window("content"), window("reader")) == (None, None, "commit")


def test_the_only_one_may_be_named() -> None:
    found = Expectation.model_validate({"restarts": {"program": "html", "at_most": 0}}).judge(an_observation())
    assert (found.expected, found.holds) == ("at most 0 (program html)", True)
