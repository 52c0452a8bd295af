"""Whether faults were seen to act: the same for a cause that names them all as where no cause is named."""

from itertools import product
from pathlib import Path

from devkit.observe.arm_observation import AnyEvidence, TimelineEvidence
from devkit.observe.arm_role import TWO_ARMS, ArmName
from devkit.scenario.load import load_scenario
from devkit.scenario.resolve import resolve
from devkit.verdict.fault_proof import ByArm, arms_with, unproven
from devkit.verdict.shown_cause import shown_causes
from devkit.verdict.verdict import judge
from tests.unit.devkit.conftest import Edited
from tests.unit.devkit.observed import an_observation, some_evidence
from tests.unit.devkit.verdict.test_verdict import an_arm

NAME = some_evidence().fault
NO_REQUESTS = {"fired": False, "requests": 0, "completed": 0}
IDLE = {"acted": False, "inaction": "no answer was 504"}


def of_timeline(*, fired: bool = True, acted: bool = True) -> TimelineEvidence:
    return TimelineEvidence(fault=NAME, fired=fired, asked="pause: {part: kafka}, at 1s", acted=acted, did="so it was")


OF_MOCK: tuple[AnyEvidence, ...] = (
    some_evidence(),
    some_evidence(acted=True),
    some_evidence(**IDLE),
    some_evidence(**NO_REQUESTS),
    some_evidence(**NO_REQUESTS, by_client=True),
    some_evidence(**NO_REQUESTS, **IDLE),
)
OF_TIMELINE = (of_timeline(), of_timeline(acted=False), of_timeline(fired=False, acted=False))
EVIDENCE = [[(), *((one,) for one in kind)] for kind in (OF_MOCK, OF_TIMELINE)]
RUNS: list[ByArm] = [
    *({"incident": one, "fixed": other} for kind in EVIDENCE for one, other in product(kind, repeat=2)),
    *({arm: one} for kind in EVIDENCE for arm in TWO_ARMS for one in kind),
]


def test_a_cause_of_all_faults_means_what_no_cause_means(edited: Edited, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(edited(("arms:\n", f"cause: [{{ fault: {NAME} }}]\narms:\n")))
    scenario = load_scenario(file)
    outcomes = set()
    for played in RUNS:
        arms = {arm: an_arm(holds=True) for arm in played}
        named = shown_causes(resolve(scenario), {arm: an_observation(evidence=items) for arm, items in played.items()})
        by_cause, by_faults = judge(arms, played, cause=named).outcome, judge(arms, played).outcome
        assert by_cause == by_faults, played
        outcomes.add(by_cause)
    assert outcomes == {"inconclusive", "reproduced and fixed", "incident arm holds", "fixed arm holds"}


def test_one_that_acts_under_load_is_proven_by_the_arm_in_which_it_acted() -> None:
    played: dict[ArmName, list[AnyEvidence]] = {
        "incident": [some_evidence(**IDLE)],
        "fixed": [some_evidence(acted=True)],
    }
    assert unproven(NAME, played, TWO_ARMS) == []
    assert arms_with(NAME, played) == ("fixed",)


def test_of_a_rule_that_matched_nothing_its_window_is_told() -> None:
    windowed = some_evidence(**NO_REQUESTS, window=(2, 5), last_request_s=1.84)
    assert unproven(NAME, {"incident": (windowed,)}, TWO_ARMS) == [
        f"incident: fault {NAME!r} matched no request: its window was open from 2 s to 5 s after the first request, "
        "and requests came from 0 s to 1.8 s"
    ]
