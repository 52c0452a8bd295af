"""Recorded observations of `stalled-progress` beside busy processes, on two cores, judged again.

`recorded/` holds what real runs left (`observation.json`, compressed), both arms played as the file says.
"""

import gzip
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.headroom.shortage import UNMEASURED
from devkit.observe.arm_role import ROLES, ArmName
from devkit.play.recording import Recording
from devkit.report.result import ArmResult
from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from devkit.verdict.judgement import JudgedArm
from devkit.verdict.unmet_faults import not_started, unmet_faults
from devkit.verdict.verdict import Verdict, judge
from tests.unit.devkit.observed import observed_with

RECORDED = Path(__file__).parent / "recorded"
SCENARIO = load_scenario(Path(__file__).parents[4] / "scenarios" / "stalled-progress.yaml")
NO_ROOM = 1.2


def recorded(name: str, margin: float | None = None) -> dict[ArmName, Recording]:
    found: dict[ArmName, Recording] = {}
    for arm in ROLES:
        with gzip.open(RECORDED / f"{name}-{arm}.json.gz") as file:
            recording = Recording.read(file.read())
        headroom = recording.headroom if margin is None else replace(recording.headroom, margin=margin)
        found[arm] = replace(recording, headroom=headroom)
    return found


def judged(recordings: Mapping[ArmName, Recording], scenario: Scenario = SCENARIO) -> tuple[Verdict, list[ArmResult]]:
    played = {arm: JudgedArm.of(scenario, arm, one.observation, one.headroom) for arm, one in recordings.items()}
    observed = {arm: one.observation for arm, one in recordings.items()}
    verdict = judge(
        {arm: one.result for arm, one in played.items()},
        {arm: one.evidence for arm, one in played.items()},
        unproven_fix=unmet_faults(scenario, observed),
        not_started=not_started(scenario, observed),
    )
    return verdict, [played[arm].result for arm in ROLES]


def test_beside_four_busy_processes_what_the_file_leaves_is_enough() -> None:
    verdict, arms = judged(recorded("four-busy-processes"))
    assert (verdict.outcome, verdict.exit_code) == ("reproduced and fixed", 0)
    for arm in arms:
        assert arm.headroom is not None
        assert 1 < arm.headroom.worst_slowdown < 5
        assert (arm.headroom.others_cores or 0) > 1
        assert (arm.headroom.pressure or 0) > 0.8


def test_a_file_that_leaves_less_is_inconclusive_on_that_machine_though_both_arms_hold() -> None:
    verdict, (incident, fixed) = judged(recorded("four-busy-processes", NO_ROOM))
    assert (verdict.outcome, verdict.exit_code, verdict.short_of_time) == ("inconclusive", 3, True)
    assert [item.name for item in fixed.expectations if item.holds is True] == ["audit"]
    assert not [item.name for item in incident.expectations if item.holds is True]
    assert all("the machine was short of time" in reason for reason in verdict.reasons)
    assert all("other processes used" in reason and "waited for a core" in reason for reason in verdict.reasons)


@pytest.mark.parametrize("margin", [None, NO_ROOM])
def test_an_event_that_was_lost_there_is_excused_by_nothing(margin: float | None) -> None:
    recordings = recorded("four-busy-processes", margin)
    fixed = recordings["fixed"]
    audit = fixed.observation.audit
    lost = replace(fixed.observation, audit=audit.model_copy(update={"lost": 1, "outputs": audit.outputs - 1}))
    verdict, _ = judged(recordings | {"fixed": replace(fixed, observation=lost)})
    assert (verdict.outcome, verdict.exit_code) == ("fix does not hold", 1)


@pytest.mark.parametrize("margin", [None, NO_ROOM])
def test_a_fix_that_stalled_there_is_refuted_only_where_there_was_room(margin: float | None) -> None:
    recordings = recorded("four-busy-processes", margin)
    fixed = recordings["fixed"]
    stall = "no commit within 12 s: batch 1 is still at work"
    stalled = observed_with(fixed.observation, restarts=1, failures=(stall,), stalls=(stall,), drained=False)
    verdict, _ = judged(recordings | {"fixed": replace(fixed, observation=stalled)})
    assert verdict.exit_code == (1 if margin is None else 3)


def test_swapped_arms_are_refuted_there_as_elsewhere() -> None:
    recordings = recorded("four-busy-processes")
    verdict, _ = judged({"incident": recordings["fixed"], "fixed": recordings["incident"]})
    assert (verdict.outcome, verdict.exit_code) == ("not reproduced", 1)


def test_a_fix_that_looked_broken_on_a_machine_without_time_is_not_refuted() -> None:
    """Others used both cores: healthy records took longer than their inline allowance, and so long in the slow lane."""
    recordings = recorded("short-of-time")
    unwatched = {arm: replace(one, headroom=UNMEASURED) for arm, one in recordings.items()}
    assert judged(unwatched)[0].outcome == "fix does not hold"
    verdict, (_, fixed) = judged(recordings)
    assert (verdict.outcome, verdict.exit_code, verdict.short_of_time) == ("inconclusive", 3, True)
    (latency,) = [item for item in fixed.expectations if item.name == "latency"]
    assert latency.holds is None
    assert (latency.slowdown or 0) > 5
    assert latency.measured.startswith("28.9s over 549 events")
    assert [item.name for item in fixed.expectations if item.holds is True] == ["audit"]
